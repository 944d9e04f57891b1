/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/archive_tables.h"

#include "base/semver.h"
#include "model/agents/agent_links.h"
#include "model/agents/agent_versions.h"
#include "model/agents/states.h"
#include "model/agents/storage.h"
#include "model/checkpoints/checkpoints.h"
#include "model/checkpoints/snapshot_store.h"
#include "model/execution/awaited_tools.h"
#include "model/execution/history.h"
#include "model/execution/resumptions.h"
#include "model/execution/run_phases.h"
#include "model/execution/runs.h"
#include "model/execution/steps.h"
#include "model/execution/turns.h"
#include "model/files/files.h"
#include "model/threads/events.h"
#include "model/threads/messages.h"
#include "model/threads/participants.h"
#include "model/upkeep/archive.sql.h"
#include "model/upkeep/archive_agents.sql.h"
#include "model/upkeep/archive_fields.h"
#include "model/upkeep/archive_memory.sql.h"
#include "model/upkeep/archive_money.sql.h"

const char *const archive_sort_names[SORT_COUNT] = {"", "agent", "thread", "participant", "run",
    "message", "file", "state document", "turn", "snapshot", "history entry", "eval", "notebook"};

static const char *const sender_roles[] = {"user", "assistant", "service", NULL};
static const char *const state_kinds[] = {"state", "config", NULL};
static const char *const paused_froms[] = {"queued", "running", "waiting_for_input", NULL};

static const struct archive_field agents[] = {
    OWN_ID(SORT_AGENT),
    {.name = "name", .kind = KIND_TEXT, .min = 1, .max = AGENT_NAME_MAX_BYTES},
    {.name = "kind", .kind = KIND_TEXT, .flags = MAYBE, .choices = agent_kinds},
    {.name = "is_active", .kind = KIND_BOOL, .flags = MAYBE},
    {.name = "description", .kind = KIND_TEXT, .flags = MAYBE, .max = AGENT_DESCRIPTION_MAX_BYTES},
    METADATA(AGENT_METADATA_MAX_BYTES),
    CREATED,
    UPDATED,
    VERSION,
};

static const struct archive_field agent_storage[] = {
    {.name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = KEY | ORDERED | OWNER},
    {.name = "key",
        .kind = KIND_TEXT,
        .flags = KEY | ORDERED,
        .min = 1,
        .max = STORAGE_KEY_MAX_BYTES},
    {.name = "content_type", .kind = KIND_TEXT, .min = 1, .max = STORAGE_TYPE_MAX_BYTES},
    {.name = "value", .kind = KIND_JSON, .flags = MAYBE, .max = STORAGE_VALUE_MAX_BYTES},
    {.name = "bytes", .kind = KIND_BYTES, .flags = MAYBE, .max = STORAGE_VALUE_MAX_BYTES},
    {.name = "size_bytes", .kind = KIND_INT, .max = STORAGE_VALUE_MAX_BYTES},
    CREATED,
    UPDATED,
    VERSION,
};

static const struct archive_field agent_versions[] = {
    {.name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = KEY | ORDERED | OWNER},
    {.name = "number", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = VERSION_MAX},
    {.name = "version", .kind = KIND_TEXT, .min = 1, .max = SEMVER_MAX_BYTES},
    {.name = "system_prompt", .kind = KIND_OBJECT, .max = AGENT_PART_MAX_BYTES},
    {.name = "workflow_graph", .kind = KIND_OBJECT, .flags = MAYBE, .max = AGENT_PART_MAX_BYTES},
    {.name = "memory_config", .kind = KIND_OBJECT, .max = AGENT_PART_MAX_BYTES},
    {.name = "guardrail_config", .kind = KIND_OBJECT, .max = AGENT_PART_MAX_BYTES},
    {.name = "llm_config", .kind = KIND_OBJECT, .max = AGENT_PART_MAX_BYTES},
    {.name = "execution_config", .kind = KIND_OBJECT, .max = AGENT_PART_MAX_BYTES},
    {.name = "tools", .kind = KIND_ARRAY, .max = AGENT_PART_MAX_BYTES},
    {.name = "description", .kind = KIND_TEXT, .flags = MAYBE, .max = AGENT_DESCRIPTION_MAX_BYTES},
    BY,
    CREATED,
    UPDATED,
    {.name = "used_at", .kind = KIND_TIME, .flags = MAYBE},
    {.name = "revision", .kind = KIND_INT, .min = 1, .max = VERSION_MAX},
};

static const struct archive_field agent_activations[] = {
    {.name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = KEY | ORDERED | OWNER},
    {.name = "number", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = VERSION_MAX},
    {.name = "version", .kind = KIND_TEXT, .min = 1, .max = SEMVER_MAX_BYTES},
    {.name = "activated_by", .kind = KIND_PRINCIPAL, .flags = MAYBE, .max = PRINCIPAL_MAX_BYTES},
    {.name = "activated_at", .kind = KIND_TIME},
};

static const struct archive_field agent_links[] = {
    {.name = "parent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = KEY | ORDERED | OWNER},
    {.name = "child_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = KEY | ORDERED},
    {.name = "role", .kind = KIND_TEXT, .min = 1, .max = AGENT_ROLE_NAME_MAX_BYTES},
    {.name = "position", .kind = KIND_INT, .max = INT32_MAX},
    {.name = "child_version", .kind = KIND_TEXT, .flags = MAYBE, .max = SEMVER_MAX_BYTES},
    METADATA(AGENT_LINK_METADATA_MAX_BYTES),
    CREATED,
    UPDATED,
    VERSION,
};

static const struct archive_field threads[] = {
    OWN_ID(SORT_THREAD),
    {.name = "key", .kind = KIND_TEXT, .flags = MAYBE, .min = 1, .max = THREAD_KEY_MAX_BYTES},
    {.name = "status", .kind = KIND_TEXT, .choices = thread_statuses},
    {.name = "title", .kind = KIND_TEXT, .flags = MAYBE, .max = THREAD_TITLE_MAX_BYTES},
    {.name = "agent", .kind = KIND_TEXT, .flags = MAYBE, .min = 1, .max = THREAD_AGENT_MAX_BYTES},
    {.name = "metadata", .kind = KIND_OBJECT, .max = THREAD_METADATA_MAX_BYTES},
    {.name = "error", .kind = KIND_OBJECT, .flags = MAYBE, .max = THREAD_METADATA_MAX_BYTES},
    {.name = "most_recent_run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = MAYBE},
    {.name = "run_policy", .kind = KIND_TEXT, .choices = thread_run_policies},
    {.name = "prune_on_completion", .kind = KIND_BOOL},
    {.name = "event_max_age_s",
        .kind = KIND_INT,
        .flags = MAYBE,
        .min = 1,
        .max = THREAD_EVENT_AGE_MAX_S},
    {.name = "last_seq", .kind = KIND_INT, .max = SEQ_MAX},
    {.name = "pruned_seq", .kind = KIND_INT, .max = SEQ_MAX},
    CREATED,
    UPDATED,
    VERSION,
    {.name = "context", .kind = KIND_OBJECT, .max = THREAD_DOCUMENT_MAX_BYTES},
    {.name = "preferences", .kind = KIND_OBJECT, .max = THREAD_DOCUMENT_MAX_BYTES},
    {.name = "important_steps", .kind = KIND_DOCUMENT, .max = THREAD_DOCUMENT_MAX_BYTES},
};

static const struct archive_field participants[] = {
    OF_THREAD,
    OWN_ID(SORT_PARTICIPANT),
    {.name = "role", .kind = KIND_TEXT, .choices = participant_roles},
    {.name = "principal", .kind = KIND_PRINCIPAL, .min = 1, .max = PRINCIPAL_MAX_BYTES},
    {.name = "name", .kind = KIND_TEXT, .max = PARTICIPANT_NAME_MAX_BYTES},
    {.name = "image", .kind = KIND_TEXT, .flags = MAYBE, .max = PARTICIPANT_IMAGE_MAX_BYTES},
    {.name = "status", .kind = KIND_TEXT, .flags = MAYBE, .max = PARTICIPANT_STATUS_MAX_BYTES},
    {.name = "permission", .kind = KIND_TEXT, .choices = participant_permissions},
    {.name = "active", .kind = KIND_BOOL},
    {.name = "barred", .kind = KIND_BOOL},
    METADATA(PARTICIPANT_METADATA_MAX_BYTES),
    CREATED,
    UPDATED,
    VERSION,
};

/* A sum; older archives have none of them, which is as good as 0. */
#define COUNTED(field)                                                      \
    {                                                                       \
        .name = (field), .kind = KIND_INT, .flags = MAYBE, .max = INT64_MAX \
    }

static const struct archive_field runs[] = {
    OF_THREAD,
    OWN_ID(SORT_RUN),
    {.name = "parent_run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = MAYBE},
    {.name = "depth", .kind = KIND_INT, .max = RUN_DEPTH_MAX},
    {.name = "status", .kind = KIND_TEXT, .choices = run_statuses},
    {.name = "dispatch", .kind = KIND_TEXT, .choices = run_dispatches},
    {.name = "paused_from", .kind = KIND_TEXT, .flags = MAYBE, .choices = paused_froms},
    {.name = "agent", .kind = KIND_TEXT, .flags = MAYBE, .min = 1, .max = THREAD_AGENT_MAX_BYTES},
    {.name = "ask_clarifications", .kind = KIND_BOOL},
    {.name = "fence", .kind = KIND_INT, .max = SEQ_MAX},
    {.name = "started_at", .kind = KIND_TIME, .flags = MAYBE},
    {.name = "finished_at", .kind = KIND_TIME, .flags = MAYBE},
    CREATED,
    UPDATED,
    VERSION,
    METADATA(THREAD_METADATA_MAX_BYTES),
    {.name = "error", .kind = KIND_OBJECT, .flags = MAYBE, .max = THREAD_METADATA_MAX_BYTES},
    {.name = "user_input", .kind = KIND_TEXT, .flags = MAYBE, .max = RUN_INPUT_MAX_BYTES},
    {.name = "input", .kind = KIND_JSON, .flags = MAYBE, .max = RUN_DOCUMENT_MAX_BYTES},
    {.name = "state", .kind = KIND_OBJECT, .max = RUN_DOCUMENT_MAX_BYTES},
    {.name = "final_output", .kind = KIND_JSON, .flags = MAYBE, .max = RUN_DOCUMENT_MAX_BYTES},
    {.name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = MAYBE | LOOSE},
    {.name = "agent_version",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .min = 1,
        .max = RUN_AGENT_VERSION_MAX_BYTES},
    {.name = "phase", .kind = KIND_TEXT, .flags = MAYBE, .choices = run_phases},
    {.name = "model", .kind = KIND_TEXT, .flags = MAYBE, .min = 1, .max = RUN_MODEL_MAX_BYTES},
    {.name = "provider",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .min = 1,
        .max = RUN_PROVIDER_MAX_BYTES},
    {.name = "stop_reason",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .min = 1,
        .max = RUN_STOP_REASON_MAX_BYTES},
    {.name = "forked_from_run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = MAYBE | LOOSE},
    {.name = "forked_from_checkpoint_id", .kind = KIND_ID, .flags = MAYBE | LOOSE},
    COUNTED("llm_calls"),
    COUNTED("input_tokens"),
    COUNTED("output_tokens"),
    COUNTED("cache_creation_input_tokens"),
    COUNTED("cache_read_input_tokens"),
    COUNTED("cost_pico"),
    COUNTED("unpriced_calls"),
    COUNTED("total_llm_calls"),
    COUNTED("total_input_tokens"),
    COUNTED("total_output_tokens"),
    COUNTED("total_cache_creation_input_tokens"),
    COUNTED("total_cache_read_input_tokens"),
    COUNTED("total_cost_pico"),
    COUNTED("total_unpriced_calls"),
    {.name = "request", .kind = KIND_OBJECT, .flags = MAYBE, .max = RUN_EXTRA_MAX_BYTES},
    {.name = "content", .kind = KIND_TEXT, .flags = MAYBE, .max = RUN_DOCUMENT_MAX_BYTES},
    {.name = "content_type",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .min = 1,
        .max = RUN_CONTENT_TYPE_MAX_BYTES},
    {.name = "citations", .kind = KIND_DOCUMENT, .flags = MAYBE, .max = RUN_EXTRA_MAX_BYTES},
    {.name = "metrics", .kind = KIND_OBJECT, .flags = MAYBE, .max = RUN_EXTRA_MAX_BYTES},
};

static const struct archive_field run_undo[] = {
    HIDDEN_THREAD,
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = KEY | ORDERED | OWNER},
    {.name = "context", .kind = KIND_OBJECT, .max = THREAD_DOCUMENT_MAX_BYTES},
    {.name = "preferences", .kind = KIND_OBJECT, .max = THREAD_DOCUMENT_MAX_BYTES},
    {.name = "important_steps", .kind = KIND_DOCUMENT, .max = THREAD_DOCUMENT_MAX_BYTES},
    {.name = "metadata", .kind = KIND_OBJECT, .max = THREAD_METADATA_MAX_BYTES},
};

/* What is numbered within a run. */
#define OF_RUN                                                                                 \
    HIDDEN_THREAD,                                                                             \
        {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = KEY | ORDERED | OWNER}, \
    {                                                                                          \
        .name = "number", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX   \
    }

static const struct archive_field run_phase_rows[] = {
    OF_RUN,
    {.name = "from_phase", .kind = KIND_TEXT, .choices = run_phases},
    {.name = "to_phase", .kind = KIND_TEXT, .choices = run_phases},
    {.name = "trigger", .kind = KIND_TEXT, .min = 1, .max = RUN_TRIGGER_MAX_BYTES},
    {.name = "detail", .kind = KIND_OBJECT, .flags = MAYBE, .max = RUN_PHASE_DETAIL_MAX_BYTES},
    CREATED,
};

static const struct archive_field turns[] = {
    OF_RUN,
    {.name = "id", .kind = KIND_ID, .sort = SORT_TURN, .flags = OWN},
    {.name = "input", .kind = KIND_OBJECT, .max = TURN_INPUT_MAX_BYTES},
    {.name = "output", .kind = KIND_OBJECT, .flags = MAYBE, .max = TURN_OUTPUT_MAX_BYTES},
    {.name = "status", .kind = KIND_TEXT, .choices = turn_statuses},
    {.name = "llm_calls", .kind = KIND_INT, .max = INT64_MAX},
    {.name = "tokens_in", .kind = KIND_INT, .max = INT64_MAX},
    {.name = "tokens_out", .kind = KIND_INT, .max = INT64_MAX},
    {.name = "cost_pico", .kind = KIND_INT, .max = INT64_MAX},
    {.name = "unpriced_calls", .kind = KIND_INT, .max = INT64_MAX},
    {.name = "latency_ms", .kind = KIND_INT, .flags = MAYBE, .max = INT64_MAX},
    {.name = "checkpoint_id", .kind = KIND_ID, .flags = MAYBE | LOOSE},
    CREATED,
    {.name = "finished_at", .kind = KIND_TIME, .flags = MAYBE},
    VERSION,
};

static const struct archive_field events[] = {
    {.name = "position", .kind = KIND_INT, .flags = KEY | HIDDEN},
    {.name = "thread_id", .kind = KIND_ID, .sort = SORT_THREAD, .flags = OWNER},
    {.name = "seq", .kind = KIND_INT, .min = 1, .max = SEQ_MAX},
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = MAYBE},
    {.name = "kind", .kind = KIND_TEXT, .min = 1, .max = EVENT_KIND_MAX_BYTES},
    {.name = "text", .kind = KIND_TEXT, .flags = MAYBE, .max = EVENT_TEXT_MAX_BYTES},
    {.name = "payload", .kind = KIND_JSON, .flags = MAYBE, .max = SMALL_JSON_MAX_BYTES},
    CREATED,
};

static const struct archive_field messages[] = {
    OF_THREAD,
    {.name = "seq", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX},
    {.name = "id", .kind = KIND_ID, .sort = SORT_MESSAGE, .flags = OWN},
    {.name = "sender_id", .kind = KIND_ID, .sort = SORT_PARTICIPANT, .flags = MAYBE},
    {.name = "sender_role", .kind = KIND_TEXT, .choices = sender_roles},
    {.name = "type", .kind = KIND_TEXT, .choices = message_types},
    {.name = "content", .kind = KIND_TEXT, .max = MESSAGE_CONTENT_MAX_BYTES},
    {.name = "content_type", .kind = KIND_TEXT, .min = 1, .max = MESSAGE_CONTENT_TYPE_MAX_BYTES},
    METADATA(MESSAGE_METADATA_MAX_BYTES),
    {.name = "filenames", .kind = KIND_ARRAY, .max = SMALL_JSON_MAX_BYTES},
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = MAYBE},
    {.name = "responds_to", .kind = KIND_ID, .sort = SORT_MESSAGE, .flags = MAYBE},
    {.name = "addressed_to", .kind = KIND_ID, .sort = SORT_PARTICIPANT, .flags = MAYBE},
    {.name = "command", .kind = KIND_OBJECT, .flags = MAYBE, .max = SMALL_JSON_MAX_BYTES},
    {.name = "has_debug", .kind = KIND_BOOL},
    {.name = "deleted_at", .kind = KIND_TIME, .flags = MAYBE},
    CREATED,
    UPDATED,
    VERSION,
};

#define OF_MESSAGE                                                                            \
    {                                                                                         \
        .name = "message_id", .kind = KIND_ID, .sort = SORT_MESSAGE, .flags = ORDERED | OWNER \
    }
#define HIDDEN_SEQ                                             \
    {                                                          \
        .name = "seq", .kind = KIND_INT, .flags = KEY | HIDDEN \
    }

static const struct archive_field message_debug[] = {
    HIDDEN_THREAD,
    HIDDEN_SEQ,
    OF_MESSAGE,
    {.name = "debug", .kind = KIND_OBJECT, .max = MESSAGE_DEBUG_MAX_BYTES},
};

static const struct archive_field message_versions[] = {
    HIDDEN_THREAD,
    HIDDEN_SEQ,
    OF_MESSAGE,
    {.name = "version", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = VERSION_MAX},
    {.name = "content", .kind = KIND_TEXT, .max = MESSAGE_CONTENT_MAX_BYTES},
    {.name = "content_type", .kind = KIND_TEXT, .min = 1, .max = MESSAGE_CONTENT_TYPE_MAX_BYTES},
    METADATA(MESSAGE_METADATA_MAX_BYTES),
    {.name = "filenames", .kind = KIND_ARRAY, .max = SMALL_JSON_MAX_BYTES},
    {.name = "debug", .kind = KIND_OBJECT, .flags = MAYBE, .max = MESSAGE_DEBUG_MAX_BYTES},
    CREATED,
};

static const struct archive_field files[] = {
    {.name = "thread_id", .kind = KIND_ID, .sort = SORT_THREAD, .flags = OWNER},
    OWN_ID(SORT_FILE),
    {.name = "name", .kind = KIND_TEXT, .min = 1, .max = FILE_NAME_MAX_BYTES},
    {.name = "last_version", .kind = KIND_INT, .min = 1, .max = VERSION_MAX},
    {.name = "current_version", .kind = KIND_INT, .min = 1, .max = VERSION_MAX},
    METADATA(FILE_METADATA_MAX_BYTES),
    {.name = "revision", .kind = KIND_INT, .min = 1, .max = VERSION_MAX},
    CREATED,
    UPDATED,
};

static const struct archive_field file_ends[] = {
    OF_THREAD,
    {.name = "name",
        .kind = KIND_TEXT,
        .flags = KEY | ORDERED,
        .min = 1,
        .max = FILE_NAME_MAX_BYTES},
    {.name = "last_version", .kind = KIND_INT, .min = 1, .max = VERSION_MAX},
};

static const struct archive_field file_versions[] = {
    {.name = "file_id", .kind = KIND_ID, .sort = SORT_FILE, .flags = KEY | ORDERED | OWNER},
    {.name = "version", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = VERSION_MAX},
    {.name = "sha256", .kind = KIND_HASH},
    {.name = "size_bytes", .kind = KIND_INT, .max = SIZE_MAX_BYTES},
    {.name = "content_type", .kind = KIND_TEXT, .min = 1, .max = FILE_TYPE_MAX_BYTES},
    BY,
    CREATED,
    {.name = "source_thread_id", .kind = KIND_ID, .sort = SORT_THREAD, .flags = MAYBE | LOOSE},
    {.name = "source_name", .kind = KIND_TEXT, .flags = MAYBE, .max = FILE_NAME_MAX_BYTES},
    {.name = "source_version", .kind = KIND_INT, .flags = MAYBE, .min = 1, .max = VERSION_MAX},
    {.name = "restored_from", .kind = KIND_INT, .flags = MAYBE, .min = 1, .max = VERSION_MAX},
};

static const struct archive_field states[] = {
    OWN_ID(SORT_STATE),
    {.name = "kind", .kind = KIND_TEXT, .choices = state_kinds},
    {.name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = OR_NIL},
    {.name = "thread_id", .kind = KIND_ID, .sort = SORT_THREAD, .flags = OR_NIL},
    {.name = "name", .kind = KIND_TEXT, .min = 1, .max = STATE_NAME_MAX_BYTES},
    CREATED,
    UPDATED,
    {.name = "deleted_at", .kind = KIND_TIME, .flags = MAYBE},
    VERSION,
};

static const struct archive_field state_versions[] = {
    {.name = "state_id", .kind = KIND_ID, .sort = SORT_STATE, .flags = KEY | ORDERED | OWNER},
    {.name = "version", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = VERSION_MAX},
    {.name = "description", .kind = KIND_TEXT, .flags = MAYBE, .max = STATE_DESCRIPTION_MAX_BYTES},
    {.name = "data", .kind = KIND_DOCUMENT, .max = STATE_DATA_MAX_BYTES},
    {.name = "json_schema", .kind = KIND_OBJECT, .flags = MAYBE, .max = STATE_SCHEMA_MAX_BYTES},
    {.name = "ui_schema", .kind = KIND_OBJECT, .flags = MAYBE, .max = STATE_SCHEMA_MAX_BYTES},
    BY,
    CREATED,
};

static const struct archive_field steps[] = {
    HIDDEN_THREAD,
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = KEY | ORDERED | OWNER},
    {.name = "number", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX},
    {.name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = MAYBE | LOOSE},
    {.name = "at", .kind = KIND_TIME},
    {.name = "step_number", .kind = KIND_INT, .flags = MAYBE, .max = STEP_NUMBER_MAX},
    {.name = "action_type", .kind = KIND_TEXT, .min = 1, .max = EVENT_KIND_MAX_BYTES},
    {.name = "action_data", .kind = KIND_OBJECT, .max = STEP_DATA_MAX_BYTES},
    {.name = "messages_snapshot_id", .kind = KIND_ID, .sort = SORT_SNAPSHOT, .flags = MAYBE},
    {.name = "messages_count", .kind = KIND_INT, .flags = MAYBE, .max = STEP_COUNT_MAX},
    {.name = "estimated_tokens", .kind = KIND_INT, .flags = MAYBE, .max = STEP_COUNT_MAX},
    {.name = "duration_ms", .kind = KIND_INT, .flags = MAYBE, .max = STEP_DURATION_MAX_MS},
    {.name = "tool_name", .kind = KIND_TEXT, .flags = MAYBE, .min = 1, .max = STEP_NAME_MAX_BYTES},
    {.name = "tool_use_id",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .min = 1,
        .max = STEP_NAME_MAX_BYTES},
    {.name = "outcome", .kind = KIND_TEXT, .flags = MAYBE, .choices = step_outcomes},
    {.name = "model", .kind = KIND_TEXT, .flags = MAYBE, .min = 1, .max = STEP_NAME_MAX_BYTES},
    {.name = "provider", .kind = KIND_TEXT, .flags = MAYBE, .min = 1, .max = STEP_NAME_MAX_BYTES},
    {.name = "input_tokens", .kind = KIND_INT, .flags = MAYBE, .max = STEP_COUNT_MAX},
    {.name = "output_tokens", .kind = KIND_INT, .flags = MAYBE, .max = STEP_COUNT_MAX},
    {.name = "cache_creation_input_tokens",
        .kind = KIND_INT,
        .flags = MAYBE,
        .max = STEP_COUNT_MAX},
    {.name = "cache_read_input_tokens", .kind = KIND_INT, .flags = MAYBE, .max = STEP_COUNT_MAX},
    {.name = "cost_pico", .kind = KIND_INT, .flags = MAYBE, .max = INT64_MAX},
    {.name = "price_version", .kind = KIND_INT, .flags = MAYBE, .min = 1, .max = VERSION_MAX},
    CREATED,
    {.name = "turn_id", .kind = KIND_ID, .sort = SORT_TURN, .flags = MAYBE | LOOSE},
};

static const struct archive_field checkpoints[] = {
    OF_THREAD,
    {.name = "sequence_num", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX},
    {.name = "namespace", .kind = KIND_TEXT, .max = CHECKPOINT_NAMESPACE_MAX_BYTES},
    {.name = "id", .kind = KIND_ID, .flags = LOOSE},
    {.name = "parent_id", .kind = KIND_ID, .flags = MAYBE | LOOSE},
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = MAYBE},
    {.name = "node", .kind = KIND_TEXT, .flags = MAYBE, .max = CHECKPOINT_NODE_MAX_BYTES},
    METADATA(CHECKPOINT_METADATA_MAX_BYTES),
    CREATED,
    {.name = "channel_versions", .kind = KIND_OBJECT, .max = CHECKPOINT_VERSIONS_MAX_BYTES},
    {.name = "versions_seen", .kind = KIND_OBJECT, .max = CHECKPOINT_VERSIONS_MAX_BYTES},
    {.name = "pending_sends", .kind = KIND_ARRAY, .max = CHECKPOINT_SENDS_MAX_BYTES},
    {.name = "snapshot_id", .kind = KIND_ID, .sort = SORT_SNAPSHOT},
};

static const struct archive_field checkpoint_writes[] = {
    OF_THREAD,
    {.name = "sequence_num", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX},
    {.name = "task_id",
        .kind = KIND_TEXT,
        .flags = KEY | ORDERED,
        .min = 1,
        .max = CHECKPOINT_TASK_ID_MAX_BYTES},
    {.name = "position",
        .kind = KIND_INT,
        .flags = KEY | ORDERED,
        .min = CHECKPOINT_INDEX_MIN,
        .max = CHECKPOINT_INDEX_MAX},
    {.name = "task_path", .kind = KIND_TEXT, .max = CHECKPOINT_TASK_PATH_MAX_BYTES},
    {.name = "channel", .kind = KIND_TEXT, .max = CHECKPOINT_CHANNEL_MAX_BYTES},
    {.name = "value", .kind = KIND_JSON, .max = CHECKPOINT_WRITES_MAX_BYTES},
    CREATED,
};

/* The value is what `bytes` stands for, which may be packed; see archive_export.c. */
static const struct archive_field items[] = {
    {.name = "sha256", .kind = KIND_HASH, .flags = KEY | ORDERED},
    {.name = "value", .kind = KIND_JSON, .min = PIECE_INLINE_BYTES, .max = SNAPSHOT_MAX_BYTES},
    CREATED,
    {.name = "size_bytes", .kind = KIND_INT, .flags = HIDDEN},
    {.name = "dictionary", .kind = KIND_INT, .flags = HIDDEN},
    {.name = "bytes", .kind = KIND_BYTES, .flags = HIDDEN},
};

static const struct archive_field snapshots[] = {
    OF_THREAD,
    OWN_ID(SORT_SNAPSHOT),
    {.name = "base_id", .kind = KIND_ID, .sort = SORT_SNAPSHOT, .flags = MAYBE},
    {.name = "depth", .kind = KIND_INT, .max = SNAPSHOT_DEPTH_MAX - 1},
    {.name = "manifest", .kind = KIND_BYTES, .min = 2, .max = MANIFEST_MAX_BYTES},
    {.name = "sha256", .kind = KIND_HASH},
    {.name = "size_bytes", .kind = KIND_INT, .min = 1, .max = SNAPSHOT_MAX_BYTES},
    CREATED,
    {.name = "dropped_at", .kind = KIND_TIME, .flags = MAYBE},
    {.name = "rebase_at", .kind = KIND_TIME, .flags = MAYBE},
};

#define NAME_OF(field)                                              \
    {                                                               \
        .name = field, .kind = KIND_TEXT, .flags = MAYBE, .min = 1, \
        .max = RESUMPTION_NAME_MAX_BYTES                            \
    }
#define SNAPSHOT_OF(field)                                                    \
    {                                                                         \
        .name = field, .kind = KIND_ID, .sort = SORT_SNAPSHOT, .flags = MAYBE \
    }
#define TOKENS(field)                                   \
    {                                                   \
        .name = field, .kind = KIND_INT, .max = SEQ_MAX \
    }
#define AGENT_IF_ANY                                                                    \
    {                                                                                   \
        .name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = MAYBE | LOOSE \
    }

static const struct archive_field resumptions[] = {
    OF_THREAD,
    AGENT_IF_ANY,
    {.name = "system_prompt", .kind = KIND_TEXT, .max = RESUMPTION_PROMPT_MAX_BYTES},
    {.name = "model", .kind = KIND_TEXT, .min = 1, .max = RESUMPTION_NAME_MAX_BYTES},
    {.name = "max_steps", .kind = KIND_INT, .min = 1, .max = RESUMPTION_STEPS_MAX},
    {.name = "thinking_tokens", .kind = KIND_INT, .max = RESUMPTION_TOKENS_MAX},
    {.name = "max_tokens", .kind = KIND_INT, .min = 1, .max = RESUMPTION_TOKENS_MAX},
    NAME_OF("container_id"),
    SNAPSHOT_OF("messages_snapshot_id"),
    {.name = "tool_schemas", .kind = KIND_ARRAY, .max = RESUMPTION_TOOLS_MAX_BYTES},
    {.name = "server_tools", .kind = KIND_ARRAY, .max = RESUMPTION_SMALL_MAX_BYTES},
    {.name = "beta_headers", .kind = KIND_ARRAY, .max = RESUMPTION_SMALL_MAX_BYTES},
    {.name = "api_kwargs", .kind = KIND_OBJECT, .max = RESUMPTION_SMALL_MAX_BYTES},
    NAME_OF("formatter"),
    {.name = "stream_meta_history_and_tool_results", .kind = KIND_BOOL},
    NAME_OF("compactor_type"),
    NAME_OF("memory_store_type"),
    {.name = "file_registry", .kind = KIND_OBJECT, .max = RESUMPTION_FILES_MAX_BYTES},
    {.name = "extras", .kind = KIND_OBJECT, .max = RESUMPTION_SMALL_MAX_BYTES},
    {.name = "max_retries", .kind = KIND_INT, .max = RESUMPTION_RETRIES_MAX},
    {.name = "base_delay_ms", .kind = KIND_INT, .max = RESUMPTION_DELAY_MAX_MS},
    TOKENS("last_known_input_tokens"),
    TOKENS("last_known_output_tokens"),
    {.name = "current_step", .kind = KIND_INT, .max = RESUMPTION_STEPS_MAX},
    SNAPSHOT_OF("history_snapshot_id"),
    CREATED,
    UPDATED,
    VERSION,
};

static const struct archive_field awaited_tools[] = {
    HIDDEN_THREAD,
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = KEY | ORDERED | OWNER},
    {.name = "pause", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = VERSION_MAX},
    {.name = "position", .kind = KIND_INT, .flags = KEY | ORDERED, .max = TOOLS_MAX},
    {.name = "tool_use_id", .kind = KIND_TEXT, .min = 1, .max = TOOL_NAME_MAX_BYTES},
    {.name = "side", .kind = KIND_TEXT, .choices = tool_sides},
    {.name = "name", .kind = KIND_TEXT, .max = TOOL_NAME_MAX_BYTES},
    {.name = "input", .kind = KIND_OBJECT, .max = TOOL_INPUT_MAX_BYTES},
    {.name = "result", .kind = KIND_JSON, .flags = MAYBE, .max = TOOL_RESULTS_MAX_BYTES},
    {.name = "is_error", .kind = KIND_BOOL},
    CREATED,
    {.name = "result_at", .kind = KIND_TIME, .flags = MAYBE},
    {.name = "result_by", .kind = KIND_PRINCIPAL, .flags = MAYBE, .max = PRINCIPAL_MAX_BYTES},
};

static const struct archive_field history[] = {
    OF_THREAD,
    {.name = "sequence_number", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX},
    {.name = "id", .kind = KIND_ID, .sort = SORT_HISTORY, .flags = OWN},
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN},
    AGENT_IF_ANY,
    {.name = "started_at", .kind = KIND_TIME},
    {.name = "completed_at", .kind = KIND_TIME},
    {.name = "user_message", .kind = KIND_TEXT, .max = RUN_INPUT_MAX_BYTES},
    {.name = "final_response", .kind = KIND_TEXT, .flags = MAYBE, .max = SNAPSHOT_MAX_BYTES},
    SNAPSHOT_OF("messages_snapshot_id"),
    {.name = "stop_reason",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .min = 1,
        .max = HISTORY_REASON_MAX_BYTES},
    TOKENS("total_steps"),
    TOKENS("input_tokens"),
    TOKENS("output_tokens"),
    TOKENS("cache_creation_input_tokens"),
    TOKENS("cache_read_input_tokens"),
    {.name = "cost", .kind = KIND_OBJECT, .max = SMALL_JSON_MAX_BYTES},
    {.name = "generated_files", .kind = KIND_ARRAY, .max = HISTORY_FILES_MAX_BYTES},
    {.name = "extras", .kind = KIND_OBJECT, .max = HISTORY_EXTRAS_MAX_BYTES},
    CREATED,
    UPDATED,
    VERSION,
};

/* Rows with documents of megabytes come few at a time: PostgreSQL answers with all of a page. */
enum { VERY_FEW = 4, FEW = 16, MANY = 128 };

#define FIELDS(array) .fields = array, .n_fields = COUNT_OF(array)

const struct archive_member archive_members[MEMBER_COUNT] = {
    [MEMBER_AGENTS] = {"agents.jsonl", "agent", {"agents"}, FIELDS(agents), MANY,
        {&SQL_ARCHIVE_AGENTS_OF_THREAD, &SQL_ARCHIVE_AGENTS_OF_AGENT,
            &SQL_ARCHIVE_AGENTS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_AGENT}, &SQL_ARCHIVE_TAKEN_AGENT, .has_name = true},
    [MEMBER_AGENT_STORAGE] = {"agent_storage.jsonl", "storage entry", {"agent_storage"},
        FIELDS(agent_storage), FEW,
        {NULL, &SQL_ARCHIVE_STORAGE_OF_AGENT, &SQL_ARCHIVE_STORAGE_OF_TENANT},
        {&SQL_ARCHIVE_ADD_STORAGE}},
    [MEMBER_AGENT_VERSIONS] = {"agent_versions.jsonl", "version of an agent", {"agent_versions"},
        FIELDS(agent_versions), FEW,
        {NULL, &SQL_ARCHIVE_AGENT_VERSIONS_OF_AGENT, &SQL_ARCHIVE_AGENT_VERSIONS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_AGENT_VERSION}, .is_later = true},
    [MEMBER_AGENT_ACTIVATIONS] = {"agent_activations.jsonl", "activation of an agent",
        {"agent_activations"}, FIELDS(agent_activations), MANY,
        {NULL, &SQL_ARCHIVE_ACTIVATIONS_OF_AGENT, &SQL_ARCHIVE_ACTIVATIONS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_ACTIVATION, &SQL_ARCHIVE_ACTIVATE}, .is_later = true},
    [MEMBER_AGENT_LINKS] = {"agent_links.jsonl", "link of agents", {"agent_links"},
        FIELDS(agent_links), MANY, {NULL, NULL, &SQL_ARCHIVE_LINKS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_LINK}, .is_later = true},
    [MEMBER_THREADS] = {"threads.jsonl", "thread", {"threads", "thread_documents"}, FIELDS(threads),
        FEW, {&SQL_ARCHIVE_THREADS_OF_THREAD, NULL, &SQL_ARCHIVE_THREADS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_THREAD, &SQL_ARCHIVE_ADD_THREAD_DOCUMENTS}, &SQL_ARCHIVE_TAKEN_THREAD},
    [MEMBER_PARTICIPANTS] = {"participants.jsonl", "participant", {"participants"},
        FIELDS(participants), FEW,
        {&SQL_ARCHIVE_PARTICIPANTS_OF_THREAD, NULL, &SQL_ARCHIVE_PARTICIPANTS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_PARTICIPANT}, &SQL_ARCHIVE_TAKEN_PARTICIPANT, .has_name = true},
    [MEMBER_ITEMS] = {"items.jsonl", "item", {"items"}, FIELDS(items), FEW,
        {&SQL_ARCHIVE_ITEMS_OF_THREAD, NULL, &SQL_ARCHIVE_ITEMS_OF_TENANT}, {&SQL_ARCHIVE_ADD_ITEM},
        .is_later = true},
    [MEMBER_SNAPSHOTS] = {"snapshots.jsonl", "snapshot", {"snapshots"}, FIELDS(snapshots), FEW,
        {&SQL_ARCHIVE_SNAPSHOTS_OF_THREAD, NULL, &SQL_ARCHIVE_SNAPSHOTS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_SNAPSHOT}, &SQL_ARCHIVE_TAKEN_SNAPSHOT, .is_later = true},
    [MEMBER_RUNS] = {"runs.jsonl", "run", {"runs", "run_documents"}, FIELDS(runs), FEW,
        {&SQL_ARCHIVE_RUNS_OF_THREAD, NULL, &SQL_ARCHIVE_RUNS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_RUN, &SQL_ARCHIVE_ADD_RUN_DOCUMENTS}, &SQL_ARCHIVE_TAKEN_RUN},
    [MEMBER_RUN_UNDO] = {"run_undo.jsonl", "undo of a run", {"run_undo"}, FIELDS(run_undo), FEW,
        {&SQL_ARCHIVE_UNDO_OF_THREAD, NULL, &SQL_ARCHIVE_UNDO_OF_TENANT}, {&SQL_ARCHIVE_ADD_UNDO}},
    [MEMBER_RUN_PHASES] = {"run_phases.jsonl", "change of phase", {"run_phases"},
        FIELDS(run_phase_rows), FEW,
        {&SQL_ARCHIVE_RUN_PHASES_OF_THREAD, NULL, &SQL_ARCHIVE_RUN_PHASES_OF_TENANT},
        {&SQL_ARCHIVE_ADD_RUN_PHASE, &SQL_ARCHIVE_COUNT_RUN_PHASE}, .is_later = true},
    [MEMBER_TURNS] = {"turns.jsonl", "turn", {"turns"}, FIELDS(turns), FEW,
        {&SQL_ARCHIVE_TURNS_OF_THREAD, NULL, &SQL_ARCHIVE_TURNS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_TURN, &SQL_ARCHIVE_COUNT_TURN}, &SQL_ARCHIVE_TAKEN_TURN},
    [MEMBER_EVENTS] = {"events.jsonl", "event", {"events"}, FIELDS(events), MANY,
        {&SQL_ARCHIVE_EVENTS_OF_THREAD, NULL, &SQL_ARCHIVE_EVENTS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_EVENT}, .is_later = true},
    [MEMBER_MESSAGES] = {"messages.jsonl", "message", {"messages"}, FIELDS(messages), MANY,
        {&SQL_ARCHIVE_MESSAGES_OF_THREAD, NULL, &SQL_ARCHIVE_MESSAGES_OF_TENANT},
        {&SQL_ARCHIVE_ADD_MESSAGE}, &SQL_ARCHIVE_TAKEN_MESSAGE},
    [MEMBER_MESSAGE_DEBUG] = {"message_debug.jsonl", "debug of a message", {"message_debug"},
        FIELDS(message_debug), FEW,
        {&SQL_ARCHIVE_DEBUG_OF_THREAD, NULL, &SQL_ARCHIVE_DEBUG_OF_TENANT},
        {&SQL_ARCHIVE_ADD_DEBUG}},
    [MEMBER_MESSAGE_VERSIONS] = {"message_versions.jsonl", "version of a message",
        {"message_versions"}, FIELDS(message_versions), FEW,
        {&SQL_ARCHIVE_MESSAGE_VERSIONS_OF_THREAD, NULL, &SQL_ARCHIVE_MESSAGE_VERSIONS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_MESSAGE_VERSION}},
    [MEMBER_FILES] = {"files.jsonl", "file", {"files"}, FIELDS(files), FEW,
        {&SQL_ARCHIVE_FILES_OF_THREAD, NULL, &SQL_ARCHIVE_FILES_OF_TENANT}, {&SQL_ARCHIVE_ADD_FILE},
        &SQL_ARCHIVE_TAKEN_FILE, .has_name = true},
    [MEMBER_FILE_ENDS] = {"file_ends.jsonl", "end of a file", {"file_ends"}, FIELDS(file_ends),
        MANY, {&SQL_ARCHIVE_FILE_ENDS_OF_THREAD, NULL, &SQL_ARCHIVE_FILE_ENDS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_FILE_END}},
    [MEMBER_FILE_VERSIONS] = {"file_versions.jsonl", "version of a file", {"file_versions"},
        FIELDS(file_versions), MANY,
        {&SQL_ARCHIVE_FILE_VERSIONS_OF_THREAD, NULL, &SQL_ARCHIVE_FILE_VERSIONS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_FILE_VERSION}},
    [MEMBER_STATES] = {"states.jsonl", "state document", {"state_documents"}, FIELDS(states), FEW,
        {&SQL_ARCHIVE_STATES_OF_THREAD, &SQL_ARCHIVE_STATES_OF_AGENT,
            &SQL_ARCHIVE_STATES_OF_TENANT},
        {&SQL_ARCHIVE_ADD_STATE}, &SQL_ARCHIVE_TAKEN_STATE, .has_name = true},
    [MEMBER_STATE_VERSIONS] = {"state_versions.jsonl", "version of a state document",
        {"state_versions"}, FIELDS(state_versions), FEW,
        {&SQL_ARCHIVE_STATE_VERSIONS_OF_THREAD, &SQL_ARCHIVE_STATE_VERSIONS_OF_AGENT,
            &SQL_ARCHIVE_STATE_VERSIONS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_STATE_VERSION}},
    [MEMBER_STEPS] = {"steps.jsonl", "step", {"steps"}, FIELDS(steps), FEW,
        {&SQL_ARCHIVE_STEPS_OF_THREAD, NULL, &SQL_ARCHIVE_STEPS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_STEP, &SQL_ARCHIVE_COUNT_STEP}, .is_later = true},
    [MEMBER_CHECKPOINTS] = {"checkpoints.jsonl", "checkpoint", {"checkpoints"}, FIELDS(checkpoints),
        VERY_FEW, {&SQL_ARCHIVE_CHECKPOINTS_OF_THREAD, NULL, &SQL_ARCHIVE_CHECKPOINTS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_CHECKPOINT}, &SQL_ARCHIVE_TAKEN_CHECKPOINT, .has_name = true,
        .is_later = true},
    [MEMBER_CHECKPOINT_WRITES] = {"checkpoint_writes.jsonl", "write of a task",
        {"checkpoint_writes"}, FIELDS(checkpoint_writes), VERY_FEW,
        {&SQL_ARCHIVE_WRITES_OF_THREAD, NULL, &SQL_ARCHIVE_WRITES_OF_TENANT},
        {&SQL_ARCHIVE_ADD_WRITE}, .is_later = true},
    [MEMBER_RESUMPTIONS] = {"resumptions.jsonl", "resumption", {"resumptions"}, FIELDS(resumptions),
        FEW, {&SQL_ARCHIVE_RESUMPTIONS_OF_THREAD, NULL, &SQL_ARCHIVE_RESUMPTIONS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_RESUMPTION}, .is_later = true},
    [MEMBER_AWAITED_TOOLS] = {"awaited_tools.jsonl", "tool that a run waits for", {"awaited_tools"},
        FIELDS(awaited_tools), FEW,
        {&SQL_ARCHIVE_AWAITED_TOOLS_OF_THREAD, NULL, &SQL_ARCHIVE_AWAITED_TOOLS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_AWAITED_TOOL}, .is_later = true},
    [MEMBER_HISTORY] = {"history.jsonl", "history entry", {"history_entries"}, FIELDS(history), FEW,
        {&SQL_ARCHIVE_HISTORY_OF_THREAD, NULL, &SQL_ARCHIVE_HISTORY_OF_TENANT},
        {&SQL_ARCHIVE_ADD_HISTORY}, &SQL_ARCHIVE_TAKEN_HISTORY, .is_later = true},
    [MEMBER_RUN_USAGE] = {"run_usage.jsonl", "usage of a run", {"run_usage"},
        FIELDS(archive_run_usage), MANY,
        {&SQL_ARCHIVE_RUN_USAGE_OF_THREAD, NULL, &SQL_ARCHIVE_RUN_USAGE_OF_TENANT},
        {&SQL_ARCHIVE_ADD_RUN_USAGE}, .is_later = true},
    [MEMBER_PRICES] = {"prices.jsonl", "price", {"prices"}, FIELDS(archive_prices), MANY,
        {NULL, NULL, &SQL_ARCHIVE_PRICES_OF_TENANT}, {&SQL_ARCHIVE_ADD_PRICE},
        &SQL_ARCHIVE_TAKEN_PRICE, .has_name = true, .is_later = true},
    [MEMBER_EVALS] = {"evals.jsonl", "eval", {"eval_runs"}, FIELDS(archive_evals), FEW,
        {NULL, NULL, &SQL_ARCHIVE_EVALS_OF_TENANT}, {&SQL_ARCHIVE_ADD_EVAL},
        &SQL_ARCHIVE_TAKEN_EVAL, .is_later = true},
    [MEMBER_NOTEBOOKS] = {"notebooks.jsonl", "notebook", {"notebook_records"},
        FIELDS(archive_notebooks), FEW, {NULL, NULL, &SQL_ARCHIVE_NOTEBOOKS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_NOTEBOOK}, &SQL_ARCHIVE_TAKEN_NOTEBOOK, .is_later = true},
    [MEMBER_NOTEBOOK_THREADS] = {"notebook_threads.jsonl", "thread of a notebook",
        {"notebook_threads"}, FIELDS(archive_notebook_threads), MANY,
        {NULL, NULL, &SQL_ARCHIVE_NOTEBOOK_THREADS_OF_TENANT}, {&SQL_ARCHIVE_ADD_NOTEBOOK_THREAD},
        .is_later = true},
    [MEMBER_STORE_ITEMS] = {"store_items.jsonl", "item of the store", {"store_items"},
        FIELDS(archive_store_items), FEW, {NULL, NULL, &SQL_ARCHIVE_STORE_OF_TENANT},
        {&SQL_ARCHIVE_ADD_STORE_ITEM}, &SQL_ARCHIVE_TAKEN_STORE_ITEM, .has_name = true,
        .is_later = true},
    [MEMBER_STORE_VECTORS] = {"store_vectors.jsonl", "vector of the store", {"store_vectors"},
        FIELDS(archive_store_vectors), MANY, {NULL, NULL, &SQL_ARCHIVE_STORE_VECTORS_OF_TENANT},
        {&SQL_ARCHIVE_ADD_STORE_VECTOR}, &SQL_ARCHIVE_TAKEN_STORE_VECTOR, .has_name = true,
        .is_later = true},
};

#define OF_THE_PLACE "it belongs to the place that the archive was made in"
#define WORDS "the index of words is made from the messages"
#define OF_WORDS "the index of words is made from the values"
#define LEASES "a lease is held with one database, by its clock"

const struct archive_omission archive_omissions[] = {
    {"api_keys", NULL, "keys are secrets"},
    {"audit_log", NULL, "its chain tells what happened in one tenant; an import is recorded there"},
    {"blob_chunks", NULL, "content is a member of its own, under its hash"},
    {"blob_doubts", NULL, "it tells the sweep where to look"},
    {"blob_garbage", NULL, "what is removed is not exported"},
    {"blobs", NULL, "content is a member of its own, under its hash"},
    {"cairn_transfer", NULL, OF_THE_PLACE},
    {"event_floor", NULL, "event ids are given anew"},
    {"event_garbage", NULL, "what is pruned is not exported"},
    {"events", "id", "event ids are given anew, in the same order"},
    {"events", "marks", "it tells other nodes what to do when the event happens"},
    {"idempotency_keys", NULL, "they answer requests that were made to one tenant"},
    {"message_words", NULL, WORDS},
    {"message_words_", NULL, WORDS},
    {"messages", "event_id", "event ids are given anew, in the same order"},
    {"messages", "is_searchable", WORDS},
    {"participants", "online_until", "who was online there is not online here"},
    {"runs", "lease_expires_at", LEASES},
    {"runs", "lease_ms", LEASES},
    {"runs", "worker", LEASES},
    {"schema_versions", NULL, OF_THE_PLACE},
    {"share_redemptions", NULL, "it goes with the shares"},
    {"shares", NULL, "their links are secrets"},
    {"tenants", NULL, "the tenant is that of the key which imports"},
    {"thread_metadata", NULL, "it is made from the metadata of threads"},
    {"threads", "pruned_event_id", "event ids are given anew"},
    {"uploads", NULL, "what has not arrived is no file"},
    {"agents", "active_version", "it is that of the last activation"},
    {"item_dictionaries", NULL, "items are told as they are, not packed"},
    {"items", "size_bytes", "it is the length of the value"},
    {"items", "dictionary", "items are told as they are, not packed"},
    {"items", "bytes", "they are told as the value that they are"},
    {"snapshot_items", NULL, "it is made from the manifests of snapshots"},
    {"snapshot_garbage", NULL, "the threads whose snapshots they are are gone"},
    {"item_doubts", NULL, "it is about items that nothing may refer to any more"},
    {"steps", "log_id", "log ids are given anew"},
    {"steps", "thread_id", "it is that of the run"},
    {"checkpoint_writes", "namespace", "a write is found by the number of its checkpoint"},
    {"checkpoint_writes", "checkpoint_id", "a write is found by the number of its checkpoint"},
    {"checkpoint_writes", "size_bytes", "it is the length of the value"},
    {"usage_days", NULL, "it tells what happened in one tenant; an import is no usage"},
    {"runs", "phase_changes", "it is counted with the changes of phase"},
    {"runs", "turn_count", "it is counted with the turns"},
    {"runs", "step_count", "it is counted when steps come in"},
    {"store_items", "number", "numbers are given anew"},
    {"store_items", "size_bytes", "it is the length of the value"},
    {"store_items", "is_searchable", OF_WORDS},
    {"store_vectors", "number", "it is that of the item"},
    {"store_vectors", "dimensions", "it is the number of bytes, divided by 4"},
    {"store_words", NULL, OF_WORDS},
    {"store_words_", NULL, OF_WORDS},
};
const size_t archive_omission_count = COUNT_OF(archive_omissions);

const struct archive_mention archive_mentions[] = {
    {"thread_id", SORT_THREAD},
    {"run_id", SORT_RUN},
    {"message_id", SORT_MESSAGE},
    {"responds_to", SORT_MESSAGE},
    {"sender_id", SORT_PARTICIPANT},
    {"addressed_to", SORT_PARTICIPANT},
    {"participant_id", SORT_PARTICIPANT},
    {"principal", SORT_AGENT},
    {"created_by", SORT_AGENT},
    {"agent_id", SORT_AGENT},
    {"file_id", SORT_FILE},
    {"state_id", SORT_STATE},
    {"turn_id", SORT_TURN},
};
const size_t archive_mention_count = COUNT_OF(archive_mentions);

size_t archive_field(const struct archive_member *m, const char *name)
{
    for (size_t i = 0; i < m->n_fields; i++)
        if (strcmp(m->fields[i].name, name) == 0)
            return i;
    abort(); /* the member has no such field: a wrong name in our own code */
}
