/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands on resources: a row names its route and the columns of a list. The rest is derived
 * (cli/derive.h) unless the row overrides it. Options are {"name", "member of the route"}.
 */
#include "cli/resources.h"

/* A part that a row does not have is derived. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* clang-format off */

#define AGENT "/v1/agents/{agent_id}"
#define THREAD "/v1/threads/{thread_id}"
#define RUN "/v1/runs/{run_id}"
#define CHECKPOINT THREAD "/checkpoints/{checkpoint_id}"
#define MESSAGE THREAD "/messages/{message_id}"
#define FILE_OF_THREAD THREAD "/files/{name}"
#define PARTICIPANT THREAD "/participants/{participant_id}"
#define STATE THREAD "/agents/{agent_id}/states"

/* A text that can be read from a file. */
#define TEXT_OR_FILE(...) {__VA_ARGS__, .argument = "TEXT", .kind = OPTION_TEXT_OR_FILE}

/* A list whose items the schema leaves open. */
#define FILENAMES {"file", "filenames", "NAME", .kind = OPTION_TEXT, .repeats = true}

#define AGE_OPTION {"event-max-age", "event_max_age_s"}

#define RESUMPTION_OPTIONS \
    OPTIONS(TEXT_OR_FILE("system-prompt"), {"tools", "tool_schemas"}, {"files", "file_registry"}, \
        {"container", "container_id"})

#define TURN_OPTIONS OPTIONS({"latency", "latency_ms"}, {"checkpoint", "checkpoint_id"})

/* The parts of an agent's definition. */
#define DEFINITION_OPTIONS \
    TEXT_OR_FILE("instructions", "system_prompt", .help = "the system prompt as text; or else " \
        "--system-prompt"), \
    {"system-prompt"}, {"graph", "workflow_graph"}, {"memory", "memory_config"}, \
    {"guardrails", "guardrail_config"}, {"llm", "llm_config"}, {"execution", "execution_config"}

/* The owner of a state document: a thread, an agent, or an agent in a thread. */
#define OWNER_OPTIONS \
    {"thread", "thread_id", .place = PLACE_PATH, .help = "the thread that has the document"}, \
    {"agent", "agent_id", .place = PLACE_PATH, \
        .help = "the agent that has the document, in the thread if both are given"}

#define EVAL_OPTIONS \
    OPTIONS({"type", "eval_type"}, {"agent", "agent_id"}, {"run", "run_id"}, \
        {"input", "eval_input"}, {"data", "eval_data"})

#define EVENT_COLUMNS "seq id AT=created_at kind text payload thread_id"
#define FOLLOW_DETAILS \
    "The command resumes after a lost connection, including a restart of the server, and prints " \
    "every event once. At the end it prints the cursor to stderr; --after CURSOR continues from " \
    "there."

const struct command resource_commands[] = {
    /* Threads. */
    {"thread", "list", "GET /v1/threads", "id status title agent EVENTS=last_seq updated_at"},
    {"thread", "get", "GET " THREAD},
    {"thread", "find", "GET /v1/threads/by-key/{key}"},
    {"thread", "create", "POST /v1/threads", OPTIONS({"key"}, {"title"}, {"agent"}, AGE_OPTION)},
    {"thread", "ensure", "PUT /v1/threads/by-key/{key}", OPTIONS({"title"}, {"agent"}, AGE_OPTION)},
    {"thread", "update", "PATCH " THREAD, OPTIONS({"key"}, {"title"}, {"agent"}, AGE_OPTION)},
    {"thread", "delete", "DELETE " THREAD},
    {"thread", "pause", "POST " THREAD "/pause"},
    {"thread", "resume", "POST " THREAD "/resume"},
    {"thread", "cancel", "POST " THREAD "/cancel", .flags = COMMAND_DESTROYS},
    {"thread", "context", "GET " THREAD "/context",
        OPTIONS({"runs", "history_runs"}, {"max-tokens"}, {"system", "include_system"})},
    {"thread", "notebook", "GET " THREAD "/notebook"},

    {"history", "list", "GET " THREAD "/history",
        "NUMBER=sequence_number run_id status completed_at STEPS=total_steps ASKED=user_message "
        "ANSWERED=final_response"},
    {"history", "get", "GET " THREAD "/history/{sequence}", .arguments = "THREAD NUMBER"},
    {"history", "update", "PATCH " THREAD "/history/{sequence}", .arguments = "THREAD NUMBER"},

    {"resumption", "get", "GET " THREAD "/resumption"},
    {"resumption", "put", "PUT " THREAD "/resumption", RESUMPTION_OPTIONS},
    {"resumption", "patch", "PATCH " THREAD "/resumption", RESUMPTION_OPTIONS},
    {"resumption", "append", "POST " THREAD "/resumption/messages"},

    /* Runs. */
    {"tool", "list", "GET " RUN "/tools",
        "tool_use_id name side ASKED=created_at RESULT=result_at input content"},
    {"tool", "await", "POST " RUN "/tools"},
    {"tool", "results", "POST " RUN "/tool-results"},

    {"run", "list", "GET /v1/runs", "id status agent worker thread_id updated_at",
        .summary = "list runs, newest first",
        OPTIONS({"thread", "thread_id"}, {"parent", "parent_run_id"})},
    {"run", "get", "GET " RUN},
    {"run", "start", "POST " THREAD "/runs",
        OPTIONS({"input", "user_input"}, {"agent"}, {"parent", "parent_run_id"})},
    {"run", "update", "PATCH " RUN},
    {"run", "input", "POST " RUN "/input",
        OPTIONS({"text", "input", "TEXT", "the answer as a text; or else --value",
                .kind = OPTION_TEXT},
            {"value", "input"})},
    {"run", "pause", "POST " RUN "/pause"},
    {"run", "resume", "POST " RUN "/resume"},
    {"run", "cancel", "POST " RUN "/cancel", .flags = COMMAND_DESTROYS},
    {"run", "tail", "GET " THREAD "/events/stream", EVENT_COLUMNS, .arguments = "RUN=",
        .summary = "print the events of a run, and follow them until it ends",
        .details = FOLLOW_DETAILS, .omits = "run_id",
        OPTIONS({.name = "follow", .letter = 'f', .help = "continue until the run ends"}),
        .run = command_run_tail},
    {"run", "wait", "GET " RUN, .summary = "wait until a run ends, and show it", .omits = "include",
        .details = "Exits with 0 if the run was completed, with 5 if it failed or was cancelled. "
            "The command also waits for a server that restarts.",
        OPTIONS({.name = "timeout", .argument = "SECONDS",
            .help = "give up after this time, and exit with 1"}),
        .run = command_run_wait},
    {"run", "claim", "POST /v1/runs/claim",
        .details = "Prints the run, with the fencing token that every write of the worker must "
            "carry. Exits with 1 if there is no run to claim.",
        OPTIONS({"worker"}, {"lease", "lease_ms"}, {"agent"}, {"thread", "thread_id"}),
        .nothing = "there is no run to claim"},
    {"run", "heartbeat", "POST " RUN "/heartbeat", OPTIONS({"lease", "lease_ms"})},
    {"run", "release", "POST " RUN "/release"},
    {"run", "retry", "POST " RUN "/retry"},
    {"run", "attempts", "GET " RUN "/attempts",
        "number worker STARTED=started_at ENDED=ended_at outcome error"},
    {"run", "phase", "POST " RUN "/phase"},
    {"run", "phases", "GET " RUN "/phases", "number from to trigger AT=created_at detail"},
    {"run", "tree", "GET " RUN "/tree",
        "RUNS=run_count CUT=is_cut RUN=root/run_id STATUS=root/status AGENT=root/agent "
        "COST_(USD)=root/total_usage/cost_usd CHILDREN=root/children:json"},
    {"run", "llm-calls", "GET " RUN "/llm-calls",
        "number AT=created_at model provider status tokens_in tokens_out COST_(USD)=cost_usd "
        "MS=latency_ms"},
    {"run", "tool-calls", "GET " RUN "/tool-calls",
        "number AT=created_at TOOL=tool_name status MS=latency_ms"},
    {"run", "checkpoints", "GET " RUN "/checkpoints", "id NUMBER=sequence_num node created_at"},
    {"run", "checkpoint", "GET " RUN "/checkpoints/{checkpoint_id}"},
    {"run", "recover", "GET " RUN "/recovery"},

    {"turn", "list", "GET " RUN "/turns",
        "number ID=turn_id status TOKENS_IN=usage/tokens_in TOKENS_OUT=usage/tokens_out "
        "COST_(USD)=usage/cost_usd MS=latency_ms created_at"},
    {"turn", "get", "GET " RUN "/turns/{turn_id}"},
    {"turn", "create", "POST " RUN "/turns", TURN_OPTIONS},
    {"turn", "update", "PATCH " RUN "/turns/{turn_id}", TURN_OPTIONS},

    /* Events and steps. */
    {"event", "list", "GET " THREAD "/events", EVENT_COLUMNS,
        .arguments = "[THREAD]",
        .summary = "list events of a thread or of all threads, oldest first",
        OPTIONS({"after"}, {"kind"}, {"run", "run_id"})},
    {"event", "append", "POST " THREAD "/events",
        OPTIONS({"kind"}, {"text"}, {"payload"}, {"run", "run_id"})},
    {"event", "tail", "GET " THREAD "/events/stream", EVENT_COLUMNS, .arguments = "[THREAD]",
        .summary = "print events of a thread or of all threads, and follow them",
        .details = FOLLOW_DETAILS,
        OPTIONS({.name = "follow", .letter = 'f', .help = "continue with new events, until Ctrl-C"},
            {"after"}, {"kind"}, {"run", "run_id"}),
        .run = command_event_tail},
    {"event", "prune", "POST " THREAD "/events/prune", .flags = COMMAND_DESTROYS},

    {"step", "list", "GET " RUN "/steps",
        "run_id number AT=timestamp STEP=step_number ACTION=action_type outcome MS=duration_ms "
        "DATA=action_data",
        .arguments = "[RUN]",
        .summary = "list the steps of a run, oldest first, or of all runs, newest first",
        OPTIONS({"type", "action_type"}, {"step", "step_number"}, {"from"}, {"to"}, {"outcome"},
            {"tool", "tool_name"}, {"model"}, {"agent", "agent_id"}, {"thread", "thread_id"})},
    {"step", "get", "GET " RUN "/steps/{number}"},
    {"step", "append", "POST " RUN "/steps", .arguments = "RUN [FILE]",
        .details = "With FILE (- is stdin), each line of it is a step, a JSON object. The lines "
            "are sent in batches; each batch is appended as a whole or not at all.",
        .omits = "steps log_id run_id agent_uuid",
        OPTIONS({"type", "action_type"}, {"data", "action_data"}, {"step", "step_number"},
            {"messages", "messages_snapshot"}),
        .run = command_step_append},
    {"step", "summary", "GET /v1/steps/summary",
        OPTIONS({"run", "run_id"}, {"thread", "thread_id"})},

    /* Checkpoints. */
    {"checkpoint", "list", "GET " THREAD "/checkpoints",
        "id NUMBER=sequence_num namespace node parent_id BYTES=size_bytes created_at thread_id",
        .arguments = "[THREAD]",
        .summary = "list checkpoints of a thread or of all threads, newest first",
        OPTIONS({"namespace"}, {"run", "run_id"})},
    {"checkpoint", "get", "GET " CHECKPOINT},
    {"checkpoint", "latest", "GET " THREAD "/checkpoints/latest"},
    {"checkpoint", "put", "POST " THREAD "/checkpoints",
        OPTIONS({"values", "channel_values"}, {"changes"}, {"versions", "channel_versions"},
            {"parent", "parent_id"}, {"run", "run_id"})},
    {"checkpoint", "diff", "GET " CHECKPOINT "/diff/{other_id}", .arguments = "THREAD FROM TO"},
    {"checkpoint", "prune", "POST " THREAD "/checkpoints/prune", .flags = COMMAND_DESTROYS,
        .details = "The latest checkpoint of each namespace always stays. One call removes at most "
            "500; MORE states whether there are others.",
        OPTIONS({"keep", "keep_latest"}, {"older-than", "older_than_s"},
            {"put-before", "older_than"})},
    {"checkpoint", "replay", "POST " RUN "/replay",
        OPTIONS({"checkpoint", "checkpoint_id"}, {"state", "modified_state"})},
    {"checkpoint", "recover", "GET " THREAD "/recovery",
        OPTIONS({"checkpoint", "checkpoint_id"})},
    {"checkpoint", "writes", "GET " CHECKPOINT "/writes"},
    {"checkpoint", "write", "PUT " CHECKPOINT "/writes"},
    {"checkpoint", "deltas", "POST " CHECKPOINT "/deltas", OPTIONS({"channel", "channels"})},
    {"checkpoint", "delete", "DELETE " THREAD "/checkpoints"},
    {"checkpoint", "copy", "POST " THREAD "/checkpoints/copy", OPTIONS({"to", "to_thread_id"})},

    /* Messages, files, participants. */
    {"message", "list", "GET " THREAD "/messages",
        "seq id AT=created_at FROM=sender_role type content",
        .summary = "list the messages of a thread, newest first",
        OPTIONS({"before"}, {"after"}, {"type"}, {"sender", "sender_id"}, {"run", "run_id"})},
    {"message", "get", "GET " MESSAGE},
    {"message", "send", "POST " THREAD "/messages",
        OPTIONS(TEXT_OR_FILE("content"), {"type"}, FILENAMES, {"sender", "sender_id"},
            {"run", "run_id"}, {"to", "addressed_to"})},
    {"message", "edit", "PATCH " MESSAGE, OPTIONS(TEXT_OR_FILE("content"), FILENAMES)},
    {"message", "delete", "DELETE " MESSAGE},
    {"message", "history", "GET " MESSAGE "/versions", "version AT=created_at content metadata"},
    {"message", "search", "GET " THREAD "/messages/search",
        "thread_id seq id AT=created_at FOUND=snippet", .arguments = "[THREAD] [WORD…]",
        .summary = "find messages of a thread or of all threads by their words, newest first",
        .details = "A message must contain all words: word, a \"phrase\", begin*, and -not after "
            "--. The first argument is the thread if it is an id.",
        OPTIONS({"words", "q", "WORDS", .letter = 'q',
            .help = "the words in one argument, such as 'word \"a phrase\" begin* -not'"}),
        .words = "q"},
    {"message", "debug", "GET " MESSAGE "/debug"},

    {"file", "list", "GET " THREAD "/files",
        "name version SIZE=size_bytes TYPE=content_type BY=created_by updated_at"},
    {"file", "info", "GET " FILE_OF_THREAD "/info"},
    {"file", "update", "PATCH " FILE_OF_THREAD "/info"},
    {"file", "put", "PUT " FILE_OF_THREAD, .arguments = "THREAD FILE= [NAME]", .omits = "if-match",
        .details = "FILE can be - for stdin; NAME is required then. A file of any size is sent "
            "with little memory.",
        OPTIONS({.name = "type", .argument = "TYPE", .help = "the media type",
                .fallback = "guessed from the name and the first bytes"},
            {.name = "if-version", .argument = "N",
                .help = "only if this is the version of the file"},
            {.name = "new", .help = "only if there is no such file"}),
        .run = command_file_put},
    {"file", "get", "GET " FILE_OF_THREAD, .arguments = "THREAD NAME [FILE]",
        .summary = "download a file",
        .details = "Without FILE, or with -, the bytes are written to stdout. FILE gets its name "
            "after all bytes were received and have the expected SHA-256.",
        OPTIONS({"version"}, {.name = "yes", .letter = 'y', .help = "replace FILE if it exists"}),
        .run = command_file_get},
    {"file", "versions", "GET " FILE_OF_THREAD "/versions",
        "version SIZE=size_bytes TYPE=content_type BY=created_by restored_from "
        "COPIED_FROM=source_name created_at SHA-256=sha256"},
    {"file", "diff", "GET " FILE_OF_THREAD "/diff", .omits = "format", .run = command_file_diff},
    {"file", "restore", "POST " FILE_OF_THREAD "/restore"},
    {"file", "copy", "POST " FILE_OF_THREAD "/copy", OPTIONS({"to", "thread_id"})},
    {"file", "delete", "DELETE " FILE_OF_THREAD, .looks_at = FILE_OF_THREAD "/info"},
    {"file", "delete-version", "DELETE " FILE_OF_THREAD "/versions/{version}",
        .done = "The version is deleted.", .looks_at = FILE_OF_THREAD "/info"},

    {"upload", "list", "GET " THREAD "/uploads",
        "id name SIZE=size_bytes RECEIVED=offset_bytes created_at expires_at"},
    {"upload", "get", "GET " THREAD "/uploads/{upload_id}"},
    {"upload", "create", "POST " THREAD "/uploads"},
    {"upload", "complete", "POST " THREAD "/uploads/{upload_id}/complete"},
    {"upload", "delete", "DELETE " THREAD "/uploads/{upload_id}"},

    {"participant", "list", "GET " THREAD "/participants",
        "id principal name role permission active online"},
    {"participant", "get", "GET " PARTICIPANT,
        .details = "PARTICIPANT is an id, or me for the principal of the key or of --as."},
    {"participant", "add", "POST " THREAD "/participants",
        .details = "A participant who left takes part again, with the same id."},
    {"participant", "update", "PATCH " PARTICIPANT,
        .details = "PARTICIPANT is an id, or me for the principal of the key or of --as."},
    {"participant", "remove", "DELETE " PARTICIPANT,
        .summary = "end the access of a participant; its streams end",
        .details = "The participant stays the sender of its messages, and can be added again.",
        .question = "End the access of the participant?"},
    {"participant", "heartbeat", "POST " PARTICIPANT "/heartbeat", OPTIONS({"ttl", "ttl_s"})},

    {"share", "create", "POST " THREAD "/shares"},
    {"share", "list", "GET " THREAD "/shares",
        "id kind permission label REDEEMED=redemptions AT_MOST=max_redemptions expires_at "
        "revoked_at created_at"},
    {"share", "get", "GET " THREAD "/shares/{share_id}"},
    {"share", "revoke", "DELETE " THREAD "/shares/{share_id}",
        .question = "Revoke the share? Everybody who redeemed it loses that access at once."},
    {"share", "redeem", "POST /v1/shares/redeem",
        OPTIONS({"token-file", "token", .kind = OPTION_SECRET_FILE,
                .help = "a file with the token that share create printed; - is stdin"},
            {"token", "token",
                .help = "the token itself; other users can see it while the command runs"})},
    {"share", "redemptions", "GET " THREAD "/shares/{share_id}/redemptions",
        "id principal participant_id previous_permission COPY=copied_thread_id active created_at"},

    /* Agents. */
    {"agent", "list", "GET /v1/agents", "id name kind version status description updated_at"},
    {"agent", "get", "GET " AGENT},
    {"agent", "find", "GET /v1/agents/by-name/{name}"},
    {"agent", "create", "POST /v1/agents",
        .summary = "create an agent, with version 1.0.0 of its definition",
        OPTIONS({"name"}, {"kind"}, {"active", "is_active"}, DEFINITION_OPTIONS)},
    {"agent", "update", "PATCH " AGENT, OPTIONS({"name"}, {"active", "is_active"})},
    {"agent", "delete", "DELETE " AGENT},
    {"agent", "config", "GET " AGENT "/config"},
    {"agent", "configure", "PUT " AGENT "/config", OPTIONS({"data"}, {"schema", "json_schema"})},
    {"agent", "update-config", "PATCH " AGENT "/config",
        OPTIONS({"data"}, {"schema", "json_schema"})},
    {"agent", "config-versions", "GET " AGENT "/config/versions",
        "version BY=created_by AT=created_at description data"},
    {"agent", "config-version", "GET " AGENT "/config/versions/{version}"},
    {"agent", "versions", "GET " AGENT "/versions",
        "version ACTIVE=is_active description created_at used_at"},
    {"agent", "version", "GET " AGENT "/versions/{semver}", .arguments = "AGENT VERSION"},
    {"agent", "create-version", "POST " AGENT "/versions",
        OPTIONS({"version"}, {"bump"}, {"description"}, {"activate"}, DEFINITION_OPTIONS)},
    {"agent", "update-version", "PATCH " AGENT "/versions/{semver}", .arguments = "AGENT VERSION",
        OPTIONS({"description"}, DEFINITION_OPTIONS)},
    {"agent", "activate", "POST " AGENT "/versions/{semver}/activate",
        .arguments = "AGENT VERSION"},
    {"agent", "rollback", "POST " AGENT "/rollback"},
    {"agent", "diff", "GET " AGENT "/versions/{semver}/diff/{other}",
        .arguments = "AGENT VERSION OTHER"},
    {"agent", "links", "GET " AGENT "/links",
        "CHILD=child_id NAME=child_name KIND=child_kind role position VERSION=child_version"},
    {"agent", "get-link", "GET " AGENT "/links/{child_id}"},
    {"agent", "link", "PUT " AGENT "/links/{child_id}"},
    {"agent", "unlink", "DELETE " AGENT "/links/{child_id}", .done = "The link is deleted."},
    {"agent", "tree", "GET " AGENT "/tree"},
    {"agent", "run", "POST " AGENT "/runs",
        OPTIONS({"input"}, {"run-config", "config"}, {"thread", "thread_id"},
            {"key", "thread_key"}, {"parent", "parent_run_id"})},
    {"agent", "runs", "GET " AGENT "/runs", "id status agent worker thread_id updated_at",
        OPTIONS({"parent", "parent_run_id"})},

    {"state", "list", "GET " STATE, "name version description updated_by updated_at",
        .summary = "list the state documents of a thread or an agent", OPTIONS(OWNER_OPTIONS)},
    {"state", "get", "GET " STATE "/{name}", .summary = "show a state document",
        OPTIONS(OWNER_OPTIONS)},
    {"state", "set", "PUT " STATE "/{name}", .summary = "write a state document",
        .details = "The server rejects the write if the document was changed since the version of "
            "--if-match; the error states the current version.",
        OPTIONS(OWNER_OPTIONS, {"data"}, {"schema", "json_schema"})},
    {"state", "update", "PATCH " STATE "/{name}", .summary = "change a state document",
        OPTIONS(OWNER_OPTIONS, {"data"}, {"schema", "json_schema"})},
    {"state", "history", "GET " STATE "/{name}/versions",
        "version BY=created_by AT=created_at description data",
        .summary = "list the versions of a state document, newest first", OPTIONS(OWNER_OPTIONS)},
    {"state", "version", "GET " STATE "/{name}/versions/{version}",
        .summary = "show a version of a state document", OPTIONS(OWNER_OPTIONS)},
    {"state", "focus", "POST " STATE "/{name}/focus", OPTIONS(OWNER_OPTIONS),
        .summary = "ask the watchers of a state document to show it"},
    {"state", "delete", "DELETE " STATE "/{name}", OPTIONS(OWNER_OPTIONS),
        .summary = "delete a state document and its versions",
        .question = "Delete the document and all its versions?",
        .done = "The document is deleted."},

    {"storage", "list", "GET " AGENT "/storage",
        "key TYPE=content_type SIZE=size_bytes version updated_at"},
    {"storage", "get", "GET " AGENT "/storage/{key}", .run = command_storage_get},
    {"storage", "set", "PUT " AGENT "/storage/{key}",
        .summary = "store JSON, or the bytes of a file, under a key of an agent",
        OPTIONS({.name = "value", .argument = "JSON", .kind = OPTION_JSON,
                .help = "the JSON value to store"},
            {.name = "file", .argument = "FILE",
                .help = "a file to store instead; - is stdin"},
            {.name = "type", .argument = "TYPE", .help = "the content type of the file",
                .fallback = "application/octet-stream"}),
        .run = command_storage_set},
    {"storage", "delete", "DELETE " AGENT "/storage/{key}", .done = "The value is deleted."},

    /* The store. */
    {"store", "list", "POST /v1/store/search",
        "namespace:json key version updated_at expires_at value",
        .arguments = "[NAMESPACE=namespace_prefix]", .flags = COMMAND_PAGED,
        .summary = "list items of the store, newest first", .omits = "query vector offset"},
    {"store", "get", "GET /v1/store/items", .arguments = "NAMESPACE=namespace KEY=key"},
    {"store", "put", "PUT /v1/store/items", .arguments = "NAMESPACE=namespace KEY=key",
        .details = "A namespace is a list of labels with a \".\" between them: users.42",
        OPTIONS({"value"}, {"vectors"}, {"ttl", "ttl_s"})},
    {"store", "delete", "DELETE /v1/store/items", .arguments = "NAMESPACE=namespace KEY=key",
        .done = "The item is deleted."},
    {"store", "search", "POST /v1/store/search", "score namespace:json key updated_at value",
        .arguments = "[NAMESPACE=namespace_prefix]", .flags = COMMAND_PAGED,
        .summary = "find items of the store by words or by a vector, best first",
        .omits = "offset", OPTIONS({"query", .argument = "WORDS", .letter = 'q'}, {"vector"})},
    {"store", "namespaces", "POST /v1/store/namespaces", "NAMESPACE=",
        .arguments = "[PREFIX=prefix]", .flags = COMMAND_PAGED, .omits = "offset",
        OPTIONS({"suffix", .argument = "LABELS", .kind = OPTION_LABELS})},
    {"store", "batch", "POST /v1/store/batch"},

    /* Usage. */
    {"price", "list", "GET /v1/prices",
        "model input output cache_write cache_read currency provider"},
    {"price", "get", "GET /v1/prices/{model}"},
    {"price", "set", "PUT /v1/prices/{model}"},
    {"price", "history", "GET /v1/prices/{model}/versions",
        "input output cache_write cache_read currency provider long_context deleted version "
        "created_at"},
    {"price", "delete", "DELETE /v1/prices/{model}",
        .question = "Delete the price of the model? Its versions stay.",
        .done = "The model has no price from now on."},
    {"price", "cost", "POST /v1/costs"},

    {"usage", "list", "GET /v1/usage",
        "day model provider agent_id STARTED=runs_started FAILED=runs_failed CALLS=llm_calls "
        "INPUT=input_tokens OUTPUT=output_tokens COST=cost_usd UNPRICED=unpriced_calls",
        .flags = COMMAND_PAGED, .summary = "list runs, tokens and cost by day, model, provider and "
            "agent",
        OPTIONS({"from"}, {"to"}, {"group-by"}, {"agent", "agent_id"})},
    {"usage", "get", "GET " RUN "/usage",
        "COST=total/total_cost total/currency CALLS=total/llm_calls UNPRICED=total/unpriced_calls "
        "INPUT=total/total_input_tokens OUTPUT=total/total_output_tokens models:json"},
    {"usage", "add", "POST " RUN "/usage",
        OPTIONS({"model"}, {"provider"}, {"input-tokens"}, {"output-tokens"},
            {"cache-write-tokens", "cache_creation_input_tokens"},
            {"cache-read-tokens", "cache_read_input_tokens"})},
    {"usage", "averages", "GET /v1/usage/averages",
        "thread_id agent_id runs INPUT=input_tokens OUTPUT=output_tokens AVERAGE=avg_tokens"},

    {"eval", "list", "GET /v1/evals", "id name TYPE=eval_type score passed created_at",
        OPTIONS({"type", "eval_type"}, {"agent", "agent_id"}, {"run", "run_id"})},
    {"eval", "get", "GET /v1/evals/{eval_id}"},
    {"eval", "create", "POST /v1/evals", EVAL_OPTIONS},
    {"eval", "update", "PATCH /v1/evals/{eval_id}", EVAL_OPTIONS},
    {"eval", "delete", "DELETE /v1/evals/{eval_id}", .done = "The eval run is deleted."},

    {"notebook", "list", "GET /v1/notebooks", "id number title sessions updated_at"},
    {"notebook", "get", "GET /v1/notebooks/{notebook_id}"},
    {"notebook", "create", "POST /v1/notebooks",
        OPTIONS({"title"}, {"description"}, TEXT_OR_FILE("instructions"))},
    {"notebook", "update", "PATCH /v1/notebooks/{notebook_id}",
        OPTIONS({"title"}, {"description"}, TEXT_OR_FILE("instructions"))},
    {"notebook", "delete", "DELETE /v1/notebooks/{notebook_id}"},
    {"notebook", "sessions", "GET /v1/notebooks/{notebook_id}/sessions",
        "thread_id number title status ADDED=created_at"},
    {"notebook", "add", "POST /v1/notebooks/{notebook_id}/sessions",
        OPTIONS({"thread", "thread_id"})},
    {"notebook", "remove", "DELETE /v1/notebooks/{notebook_id}/sessions/{thread_id}",
        .looks_at = THREAD, .done = "The thread is no longer in the notebook."},

    /* Keys and tenants. */
    {"key", "create", "POST /v1/keys",
        .details = "The secret is printed once, and never again. The first key ends the open state "
            "of the server; it must have the scope operator or admin.",
        OPTIONS({"name"}, {"scope", "scopes", "SCOPE"}, {"principal"},
            {"rate-limit", "rate_limit_per_minute"})},
    {"key", "list", "GET /v1/keys", "id name scopes created_at expires_at revoked_at"},
    {"key", "get", "GET /v1/keys/{key_id}"},
    {"key", "revoke", "DELETE /v1/keys/{key_id}",
        .question = "Revoke the key? Its clients lose access at once."},
    {"key", "whoami", "GET /v1/whoami"},

    {"ticket", "create", "POST /v1/tickets"},

    {"tenant", "create", "POST /v1/tenants",
        "ID=tenant/id NAME=tenant/name CREATED=tenant/created_at KEY=key/id SCOPES=key/scopes "
        "SECRET=key/secret",
        .details = "The secret of the key is printed once, and never again."},
    {"tenant", "list", "GET /v1/tenants", "id name plan_tier created_at"},
    {"tenant", "get", "GET /v1/tenants/{tenant_id}"},
    {"tenant", "update", "PATCH /v1/tenants/{tenant_id}"},
    {"tenant", "show", "GET /v1/tenant"},
    {"tenant", "set", "PATCH /v1/tenant"},
    {"tenant", "delete", "DELETE /v1/tenants/{tenant_id}"},
    {"tenant", "create-key", "POST /v1/tenants/{tenant_id}/keys",
        OPTIONS({"name"}, {"scope", "scopes", "SCOPE"}, {"principal"},
            {"rate-limit", "rate_limit_per_minute"})},

    {"audit", "list", "GET /v1/audit",
        "seq at action TYPE=object_type OBJECT=object_id actor detail",
        OPTIONS({"action"}, {"object", "object_id"})},
    {"audit", "verify", "GET /v1/audit/verify",
        .details = "Exits with 1 if a record was changed or is missing. Keep the head elsewhere: a "
            "log that was cut short is intact, but has another head.",
        .verdict = "/intact"},
};
/* clang-format on */

const size_t resource_command_count = COUNT_OF(resource_commands);
