#include "api/resources.h"
#include "api/route.h"
#include "model/storage.h"

/* clang-format off */

/* What a write of a document must say it has seen. */
enum { GUARDED = ROUTE_ETAG | ROUTE_CONDITIONAL | ROUTE_MUST_MATCH };

/* State documents have three sorts of owners, and the same routes for each. */
#define STATE_ROUTES(owner, whose, flags_of_write)                                                 \
    {"GET", owner "/states", SCOPE_STATES_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,       \
        .query = &query_states, .answer = &schema_state, .handle = handle_state_list,              \
        .summary = "List the state documents of " whose " by name"},                               \
    {"GET", owner "/states/{name}", SCOPE_STATES_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,     \
        200, .answer = &schema_state, .handle = handle_state_get,                                  \
        .summary = "Read a state document of " whose},                                             \
    {"PUT", owner "/states/{name}", SCOPE_STATES_WRITE, ROUTE_WRITE,                               \
        GUARDED | ROUTE_MAY_CREATE | (flags_of_write), 200,                                        \
        .body = &schema_state_body, .answer = &schema_state, .handle = handle_state_put,           \
        .summary = "Write a state document of " whose ", whole"},                                  \
    {"PATCH", owner "/states/{name}", SCOPE_STATES_WRITE, ROUTE_WRITE,                             \
        ROUTE_PATCH | GUARDED | (flags_of_write), 200,                                             \
        .body = &schema_state_patch, .answer = &schema_state, .handle = handle_state_patch,        \
        .summary = "Change a state document of " whose},                                           \
    {"DELETE", owner "/states/{name}", SCOPE_STATES_WRITE, ROUTE_WRITE,                            \
        GUARDED | (flags_of_write), 204, .handle = handle_state_delete,                            \
        .on_full = STORE_ON_FULL_FREES,                                                            \
        .summary = "Delete a state document of " whose " and its versions"},                       \
    {"POST", owner "/states/{name}/focus", SCOPE_STATES_WRITE, ROUTE_WRITE, (flags_of_write), 204, \
        .handle = handle_state_focus,                                                              \
        .summary = "Ask who watches to show a state document of " whose},                          \
    {"GET", owner "/states/{name}/versions", SCOPE_STATES_READ, ROUTE_READ,                        \
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_states, .answer = &schema_state_version,  \
        .handle = handle_state_version_list,                                                       \
        .summary = "List the versions of a state document of " whose},                             \
    {"GET", owner "/states/{name}/versions/{version}", SCOPE_STATES_READ, ROUTE_READ,              \
        ROUTE_MAY_LAG, 200, .answer = &schema_state_version, .handle = handle_state_version_get,   \
        .summary = "Read one version of a state document of " whose}

const struct route routes[] = {
    /* About Cairn itself. */
    {"GET", "/healthz", SCOPE_NONE, ROUTE_STATIC, 0, 200, .answer = &schema_health,
        .handle = handle_health, .summary = "Whether the process answers"},
    {"GET", "/readyz", SCOPE_NONE, ROUTE_READ, ROUTE_PUBLIC | ROUTE_PROBE, 200,
        .answer = &schema_health, .handle = handle_ready,
        .summary = "Whether the store answers too"},
    {"GET", "/metrics", SCOPE_NONE, ROUTE_STATIC, 0, 200,
        .handle = handle_metrics, .summary = "Figures in Prometheus' text format"},
    {"GET", "/openapi.json", SCOPE_NONE, ROUTE_STATIC, 0, 200,
        .handle = handle_openapi, .summary = "This API as an OpenAPI 3.1 document"},
    {"GET", "/v1/whoami", SCOPE_NONE, ROUTE_READ, 0, 200, .answer = &schema_whoami,
        .handle = handle_whoami, .access = ACCESS_OWN,
        .summary = "The tenant and the scopes of the key"},

    /* Tenants. */
    {"POST", "/v1/tenants", SCOPE_OPERATOR, ROUTE_WRITE, 0, 201, .body = &schema_tenant_create,
        .answer = &schema_tenant_created, .handle = handle_tenant_create,
        .summary = "Create a tenant and its first key"},
    {"GET", "/v1/tenants", SCOPE_OPERATOR, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_tenants, .answer = &schema_tenant, .handle = handle_tenant_list,
        .summary = "List the tenants"},
    {"GET", "/v1/tenants/{tenant_id}", SCOPE_OPERATOR, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,
        200, .answer = &schema_tenant, .handle = handle_tenant_get, .summary = "Read a tenant"},
    {"PATCH", "/v1/tenants/{tenant_id}", SCOPE_OPERATOR, ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG, 200,
        .body = &schema_tenant_patch, .answer = &schema_tenant, .handle = handle_tenant_patch,
        .summary = "Rename a tenant"},
    {"DELETE", "/v1/tenants/{tenant_id}", SCOPE_OPERATOR, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_tenant_delete,
        .on_full = STORE_ON_FULL_FREES, .summary = "Delete a tenant and all that it owns"},

    {"POST", "/v1/tenants/{tenant_id}/keys", SCOPE_OPERATOR, ROUTE_WRITE, 0, 201,
        .body = &schema_key_create, .answer = &schema_key_created,
        .handle = handle_tenant_key_create,
        .summary = "Create a key for a tenant, such as one that lost its own"},

    /* Keys. */
    {"POST", "/v1/keys", SCOPE_ADMIN, ROUTE_WRITE, 0, 201, .body = &schema_key_create,
        .answer = &schema_key_created, .handle = handle_key_create,
        .summary = "Create an API key; its secret is shown once"},
    {"GET", "/v1/keys", SCOPE_ADMIN, ROUTE_READ, ROUTE_LIST, 200, .query = &query_keys,
        .answer = &schema_key, .handle = handle_key_list, .summary = "List the keys"},
    {"GET", "/v1/keys/{key_id}", SCOPE_ADMIN, ROUTE_READ, 0, 200, .answer = &schema_key,
        .handle = handle_key_get, .summary = "Read a key"},
    {"DELETE", "/v1/keys/{key_id}", SCOPE_ADMIN, ROUTE_WRITE, 0, 200, .answer = &schema_key,
        .handle = handle_key_revoke,
        .on_full = STORE_ON_FULL_FREES, .summary = "Revoke a key; its streams end"},

    /* Audit. */
    {"GET", "/v1/audit", SCOPE_ADMIN, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_audit, .answer = &schema_audit_record, .handle = handle_audit_list,
        .summary = "List the audit log, newest first"},
    {"GET", "/v1/audit/verify", SCOPE_ADMIN, ROUTE_READ, ROUTE_MAY_LAG, 200,
        .answer = &schema_audit_verdict, .handle = handle_audit_verify,
        .summary = "Check the audit log's hash chain"},

    /* Agents. */
    {"POST", "/v1/agents", SCOPE_AGENTS_WRITE, ROUTE_WRITE, 0, 201, .body = &schema_agent_body,
        .answer = &schema_agent, .handle = handle_agent_create, .summary = "Create an agent"},
    {"GET", "/v1/agents", SCOPE_AGENTS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_agents, .answer = &schema_agent, .handle = handle_agent_list,
        .summary = "List agents, newest first"},
    {"GET", "/v1/agents/{agent_id}", SCOPE_AGENTS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,
        200, .answer = &schema_agent, .handle = handle_agent_get, .summary = "Read an agent"},
    {"PATCH", "/v1/agents/{agent_id}", SCOPE_AGENTS_WRITE, ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG,
        200, .body = &schema_agent_patch, .answer = &schema_agent, .handle = handle_agent_patch,
        .summary = "Change an agent"},
    {"DELETE", "/v1/agents/{agent_id}", SCOPE_AGENTS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_agent_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete an agent, its states, configuration and storage"},
    {"GET", "/v1/agents/{agent_id}/config", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .answer = &schema_state, .handle = handle_state_get,
        .summary = "Read the configuration of an agent"},
    {"PUT", "/v1/agents/{agent_id}/config", SCOPE_AGENTS_WRITE, ROUTE_WRITE,
        GUARDED | ROUTE_MAY_CREATE, 200, .body = &schema_state_body,
        .answer = &schema_state, .handle = handle_state_put,
        .summary = "Write the configuration of an agent, whole"},
    {"PATCH", "/v1/agents/{agent_id}/config", SCOPE_AGENTS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | GUARDED, 200, .body = &schema_state_patch,
        .answer = &schema_state, .handle = handle_state_patch,
        .summary = "Change the configuration of an agent"},
    {"GET", "/v1/agents/{agent_id}/config/versions", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_states, .answer = &schema_state_version,
        .handle = handle_state_version_list,
        .summary = "List the versions of an agent's configuration"},
    {"GET", "/v1/agents/{agent_id}/config/versions/{version}", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_MAY_LAG, 200, .answer = &schema_state_version, .handle = handle_state_version_get,
        .summary = "Read one version of an agent's configuration"},

    {"GET", "/v1/agents/{agent_id}/storage", SCOPE_STORAGE_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_storage, .answer = &schema_storage_item,
        .handle = handle_storage_list, .summary = "List what an agent has stored, by key"},
    {"GET", "/v1/agents/{agent_id}/storage/{key}", SCOPE_STORAGE_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG | ROUTE_RAW_BODY, 200, .handle = handle_storage_get,
        .summary = "Read what an agent has stored under a key, as it was written"},
    {"PUT", "/v1/agents/{agent_id}/storage/{key}", SCOPE_STORAGE_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_CONDITIONAL | ROUTE_MAY_CREATE | ROUTE_RAW_BODY, 200,
        .body_limit = STORAGE_VALUE_MAX_BYTES, .answer = &schema_storage_item,
        .handle = handle_storage_put,
        .summary = "Store JSON, or bytes of any type, under a key of an agent"},
    {"DELETE", "/v1/agents/{agent_id}/storage/{key}", SCOPE_STORAGE_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 204, .handle = handle_storage_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete what an agent has stored under a key"},

    /* State documents. */
    STATE_ROUTES("/v1/agents/{agent_id}", "an agent", 0),
    STATE_ROUTES("/v1/threads/{thread_id}", "a thread", ROUTE_FENCED),
    STATE_ROUTES("/v1/threads/{thread_id}/agents/{agent_id}", "an agent in a thread", ROUTE_FENCED),

    /* Threads. */
    {"POST", "/v1/threads", SCOPE_THREADS_WRITE, ROUTE_WRITE, ROUTE_BODY_OPTIONAL, 201,
        .body = &schema_thread_body, .answer = &schema_thread, .handle = handle_thread_create,
        .access = ACCESS_OWN,
        .summary = "Create a thread"},
    {"GET", "/v1/threads", SCOPE_THREADS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_METADATA_FILTER | ROUTE_MAY_LAG, 200,
        .query = &query_threads, .answer = &schema_thread, .handle = handle_thread_list,
        .access = ACCESS_OWN,
        .summary = "List threads, newest first"},
    {"GET", "/v1/threads/{thread_id}", SCOPE_THREADS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,
        200, .answer = &schema_thread, .handle = handle_thread_get, .summary = "Read a thread"},
    {"PATCH", "/v1/threads/{thread_id}", SCOPE_THREADS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG | ROUTE_FENCED, 200, .body = &schema_thread_body,
        .answer = &schema_thread, .handle = handle_thread_patch, .summary = "Change a thread"},
    {"DELETE", "/v1/threads/{thread_id}", SCOPE_THREADS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_thread_delete,
        .on_full = STORE_ON_FULL_FREES, .summary = "Delete a thread, its runs and its events"},
    {"POST", "/v1/threads/{thread_id}/pause", SCOPE_THREADS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 200,
        .answer = &schema_thread, .handle = handle_thread_pause,
        .summary = "Pause a thread and its active runs"},
    {"POST", "/v1/threads/{thread_id}/resume", SCOPE_THREADS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 200,
        .answer = &schema_thread, .handle = handle_thread_resume,
        .summary = "Make a thread active again and resume its paused runs"},
    {"POST", "/v1/threads/{thread_id}/cancel", SCOPE_THREADS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_BODY_OPTIONAL, 200, .body = &schema_reason, .answer = &schema_thread,
        .handle = handle_thread_cancel,
        .on_full = STORE_ON_FULL_FREES, .summary = "Cancel a thread and its active runs"},

    /* Runs. */
    {"POST", "/v1/threads/{thread_id}/runs", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_BODY_OPTIONAL,
        201, .body = &schema_run_create, .answer = &schema_run, .handle = handle_run_start,
        .summary = "Start a run"},
    {"GET", "/v1/threads/{thread_id}/runs", SCOPE_RUNS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_thread_runs, .answer = &schema_run,
        .handle = handle_thread_run_list,
        .summary = "List the runs of a thread, newest first"},
    {"GET", "/v1/runs", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_runs, .answer = &schema_run, .handle = handle_run_list,
        .summary = "List runs of all threads, newest first"},
    {"POST", "/v1/runs/claim", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_MAYBE_NOTHING, 200,
        .query = &query_claim, .body = &schema_run_claim, .answer = &schema_run,
        .handle = handle_run_claim,
        .summary = "Claim the next queued run under a lease; 204 when there is none"},
    {"GET", "/v1/runs/{run_id}", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG, 200,
        .answer = &schema_run, .handle = handle_run_get, .summary = "Read a run"},
    {"PATCH", "/v1/runs/{run_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG | ROUTE_FENCED, 200, .body = &schema_run_body,
        .answer = &schema_run, .handle = handle_run_patch,
        .summary = "Change a run's status, state, output, error or metadata"},
    {"POST", "/v1/runs/{run_id}/input", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 200,
        .body = &schema_run_input, .answer = &schema_run, .handle = handle_run_input,
        .summary = "Answer a run that waits for input"},
    {"POST", "/v1/runs/{run_id}/pause", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 200,
        .answer = &schema_run, .handle = handle_run_pause, .summary = "Pause a run"},
    {"POST", "/v1/runs/{run_id}/resume", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 200,
        .answer = &schema_run, .handle = handle_run_resume, .summary = "Resume a paused run"},
    {"POST", "/v1/runs/{run_id}/cancel", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_BODY_OPTIONAL, 200, .body = &schema_reason, .answer = &schema_run,
        .handle = handle_run_cancel,
        .on_full = STORE_ON_FULL_FREES, .summary = "Cancel a run and its children"},
    {"POST", "/v1/runs/{run_id}/heartbeat", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_FENCED | ROUTE_BODY_OPTIONAL, 200, .body = &schema_run_heartbeat,
        .answer = &schema_run, .handle = handle_run_heartbeat,
        .on_full = STORE_ON_FULL_KEEPS, .summary = "Keep a run's lease"},
    {"POST", "/v1/runs/{run_id}/release", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_FENCED, 200,
        .answer = &schema_run, .handle = handle_run_release, .on_full = STORE_ON_FULL_KEEPS,
        .summary = "Give a claimed run back to the queue"},

    /* Events. */
    {"POST", "/v1/threads/{thread_id}/events", SCOPE_EVENTS_WRITE, ROUTE_WRITE, ROUTE_FENCED, 201,
        .body = &schema_event_append, .answer = &schema_event,
        .answer_to_many = &schema_events_appended, .handle = handle_event_append,
        .summary = "Append one event, or many at once"},
    {"GET", "/v1/threads/{thread_id}/events", SCOPE_EVENTS_READ, ROUTE_READ, ROUTE_LIST, 200,
        .query = &query_events, .answer = &schema_event, .handle = handle_event_list,
        .summary = "Read events after a cursor; ?wait= is a long poll"},
    {"GET", "/v1/threads/{thread_id}/events/stream", SCOPE_EVENTS_READ, ROUTE_SSE, 0, 200,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .summary = "Events after a cursor, then live, as Server-Sent Events"},
    {"GET", "/v1/threads/{thread_id}/events/ws", SCOPE_EVENTS_READ, ROUTE_WEBSOCKET, 0, 101,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .summary = "Events after a cursor, then live, over WebSocket"},
    {"POST", "/v1/threads/{thread_id}/events/prune", SCOPE_EVENTS_WRITE, ROUTE_WRITE, 0, 200,
        .body = &schema_event_prune, .answer = &schema_event_pruned, .handle = handle_event_prune,
        .on_full = STORE_ON_FULL_FREES,
        .summary = "Remove the oldest events of a thread"},
    {"GET", "/v1/events", SCOPE_EVENTS_READ, ROUTE_READ, ROUTE_LIST, 200, .query = &query_events,
        .answer = &schema_event, .handle = handle_event_list,
        .access = ACCESS_OWN,
        .summary = "Read the events of all threads after a cursor"},
    {"GET", "/v1/events/stream", SCOPE_EVENTS_READ, ROUTE_SSE, 0, 200,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .access = ACCESS_OWN,
        .summary = "The events of all threads as Server-Sent Events"},
    {"GET", "/v1/events/ws", SCOPE_EVENTS_READ, ROUTE_WEBSOCKET, 0, 101,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .access = ACCESS_OWN,
        .summary = "The events of all threads over WebSocket"},

    /* Participants. */
    {"POST", "/v1/threads/{thread_id}/participants", SCOPE_PARTICIPANTS_WRITE, ROUTE_WRITE, 0, 201,
        .body = &schema_participant_join, .answer = &schema_participant,
        .handle = handle_participant_join,
        .summary = "Add a participant, or let one who has left take part again"},
    {"GET", "/v1/threads/{thread_id}/participants", SCOPE_PARTICIPANTS_READ, ROUTE_READ,
        ROUTE_LIST, 200, .query = &query_participants, .answer = &schema_participant,
        .handle = handle_participant_list,
        .summary = "List the participants of a thread, newest first"},
    {"GET", "/v1/threads/{thread_id}/participants/me", SCOPE_PARTICIPANTS_READ, ROUTE_READ,
        ROUTE_ETAG, 200, .answer = &schema_participant, .handle = handle_participant_get,
        .summary = "Read your own participant"},
    {"PATCH", "/v1/threads/{thread_id}/participants/me", SCOPE_PARTICIPANTS_WRITE,
        ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG, 200, .body = &schema_participant_patch,
        .answer = &schema_participant, .handle = handle_participant_patch,
        .access = ACCESS_READER,
        .summary = "Change your own participant"},
    {"DELETE", "/v1/threads/{thread_id}/participants/me", SCOPE_PARTICIPANTS_WRITE,
        ROUTE_WRITE, ROUTE_ETAG, 200, .answer = &schema_participant,
        .handle = handle_participant_leave, .access = ACCESS_READER,
        .on_full = STORE_ON_FULL_KEEPS, .summary = "Leave a thread"},
    {"POST", "/v1/threads/{thread_id}/participants/me/heartbeat", SCOPE_PARTICIPANTS_WRITE,
        ROUTE_WRITE, ROUTE_BODY_OPTIONAL, 200, .body = &schema_participant_heartbeat,
        .answer = &schema_participant, .handle = handle_participant_heartbeat,
        .access = ACCESS_READER,
        .summary = "Say that you are online"},
    {"GET", "/v1/threads/{thread_id}/participants/{participant_id}", SCOPE_PARTICIPANTS_READ,
        ROUTE_READ, ROUTE_ETAG, 200, .answer = &schema_participant,
        .handle = handle_participant_get, .summary = "Read a participant"},
    {"PATCH", "/v1/threads/{thread_id}/participants/{participant_id}", SCOPE_PARTICIPANTS_WRITE,
        ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG, 200, .body = &schema_participant_patch,
        .answer = &schema_participant, .handle = handle_participant_patch,
        .access = ACCESS_READER, .summary = "Change a participant"},
    {"DELETE", "/v1/threads/{thread_id}/participants/{participant_id}", SCOPE_PARTICIPANTS_WRITE,
        ROUTE_WRITE, ROUTE_ETAG, 200, .answer = &schema_participant,
        .handle = handle_participant_leave, .access = ACCESS_READER,
        .on_full = STORE_ON_FULL_KEEPS,
        .summary = "End the access of a participant, who stays a sender of messages"},
    {"POST", "/v1/threads/{thread_id}/participants/{participant_id}/heartbeat",
        SCOPE_PARTICIPANTS_WRITE, ROUTE_WRITE, ROUTE_BODY_OPTIONAL, 200,
        .body = &schema_participant_heartbeat, .answer = &schema_participant,
        .handle = handle_participant_heartbeat, .access = ACCESS_READER,
        .summary = "Say that a participant is online"},

    /* Messages. */
    {"POST", "/v1/threads/{thread_id}/messages", SCOPE_MESSAGES_WRITE, ROUTE_WRITE, ROUTE_FENCED,
        201, .body = &schema_message_create, .answer = &schema_message,
        .answer_to_many = &schema_messages_created, .handle = handle_message_create,
        .summary = "Send one message, or many at once"},
    {"GET", "/v1/threads/{thread_id}/messages", SCOPE_MESSAGES_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_TWO_WAYS | ROUTE_MAY_LAG, 200, .query = &query_messages,
        .answer = &schema_message, .handle = handle_message_list,
        .summary = "Read messages before or after a cursor"},
    {"GET", "/v1/messages/search", SCOPE_MESSAGES_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG,
        200, .query = &query_message_search, .answer = &schema_message,
        .handle = handle_message_search, .access = ACCESS_OWN,
        .summary = "Find messages of all threads by their words, newest first"},
    {"GET", "/v1/threads/{thread_id}/messages/search", SCOPE_MESSAGES_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_message_search,
        .answer = &schema_message, .handle = handle_thread_message_search,
        .summary = "Find messages of a thread by their words, newest first"},
    {"GET", "/v1/threads/{thread_id}/messages/{message_id}", SCOPE_MESSAGES_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .query = &query_message, .answer = &schema_message,
        .handle = handle_message_get, .summary = "Read a message"},
    {"PATCH", "/v1/threads/{thread_id}/messages/{message_id}", SCOPE_MESSAGES_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG, 200, .body = &schema_message_body, .answer = &schema_message,
        .handle = handle_message_patch,
        .summary = "Edit a message; its version before is kept"},
    {"DELETE", "/v1/threads/{thread_id}/messages/{message_id}", SCOPE_MESSAGES_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 204, .handle = handle_message_delete,
        .summary = "Delete a message: a tombstone stays, and its history"},
    {"GET", "/v1/threads/{thread_id}/messages/{message_id}/debug", SCOPE_MESSAGES_READ,
        ROUTE_READ, ROUTE_MAY_LAG, 200, .answer = &schema_message_debug,
        .handle = handle_message_debug, .summary = "Read the debug data of a message"},
    {"GET", "/v1/threads/{thread_id}/messages/{message_id}/versions", SCOPE_MESSAGES_READ,
        ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_message_versions,
        .answer = &schema_message_version, .handle = handle_message_versions,
        .summary = "List what a message was before, newest first"},

    /* The Memoria façade. */
    {"POST", "/workflow/start", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 201,
        .body = &schema_workflow_start, .answer = &schema_workflow,
        .handle = handle_workflow_start, .access = ACCESS_OWN,
        .summary = "Start a run on a new or known workflow"},
    {"POST", "/workflow/input/{workflow_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 200,
        .body = &schema_workflow_input, .answer = &schema_workflow,
        .handle = handle_workflow_input, .summary = "Answer the workflow's pending question"},
    {"POST", "/workflow/pause/{workflow_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 200,
        .answer = &schema_workflow, .handle = handle_workflow_pause,
        .summary = "Pause a workflow and its run"},
    {"POST", "/workflow/resume/{workflow_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 200,
        .answer = &schema_workflow, .handle = handle_workflow_resume,
        .summary = "Resume a workflow and its run"},
    {"POST", "/workflow/cancel/{workflow_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 200,
        .answer = &schema_workflow, .handle = handle_workflow_cancel,
        .on_full = STORE_ON_FULL_FREES,
        .summary = "Cancel a workflow and its run"},
    {"GET", "/workflow/ws/{workflow_id}", SCOPE_EVENTS_READ, ROUTE_WEBSOCKET, 0, 101,
        .query = &query_workflow_stream, .answer = &schema_workflow,
        .handle = handle_workflow_stream,
        .summary = "The workflow's events after a cursor, then live, over WebSocket"},
};
/* clang-format on */

const size_t route_count = COUNT_OF(routes);
