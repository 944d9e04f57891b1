/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "api/http/route.h"
#include "model/agents/agent_links.h"
#include "model/agents/storage.h"
#include "model/execution/usage.h"

/* clang-format off */

/* A write of a document must name the version it replaces. */
enum { GUARDED = ROUTE_ETAG | ROUTE_CONDITIONAL | ROUTE_MUST_MATCH };

/* A batch of memory operations includes their values. */
enum { MEMORY_BATCH_BODY_LIMIT = 16 * 1024 * 1024 };

/* Of a batch of steps with their lists of messages. */
enum { STEPS_BODY_LIMIT = 16 * 1024 * 1024, RESULT_BODY_LIMIT = 12 * 1024 * 1024 };

/* State documents have three sorts of owners, and the same routes for each. */
#define STATE_ROUTES(owner, whose, flags_of_write)                                                 \
    {"GET", owner "/states", SCOPE_STATES_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,       \
        .query = &query_states, .answer = &schema_state, .handle = handle_state_list,              \
        .summary = "List the state documents of " whose " by name"},                               \
    {"GET", owner "/states/{name}", SCOPE_STATES_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,     \
        200, .answer = &schema_state, .handle = handle_state_get,                                  \
        .summary = "Read a state document of " whose},                                             \
    {"PUT", owner "/states/{name}", SCOPE_STATES_WRITE, ROUTE_WRITE,                               \
        GUARDED | ROUTE_MAY_CREATE | ROUTE_SHOWS_NEW | (flags_of_write), 200,                      \
        .body = &schema_state_body, .answer = &schema_state, .handle = handle_state_put,           \
        .summary = "Write a state document of " whose "; omitted members stay unchanged"},         \
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
        .summary = "Ask the viewers to show a state document of " whose},                          \
    {"GET", owner "/states/{name}/versions", SCOPE_STATES_READ, ROUTE_READ,                        \
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_states, .answer = &schema_state_version,  \
        .handle = handle_state_version_list,                                                       \
        .summary = "List the versions of a state document of " whose},                             \
    {"GET", owner "/states/{name}/versions/{version}", SCOPE_STATES_READ, ROUTE_READ,              \
        ROUTE_MAY_LAG, 200, .answer = &schema_state_version, .handle = handle_state_version_get,   \
        .summary = "Read one version of a state document of " whose}

/* The parts of a run are served under the run and under its agent: a macro of the path up to the
 * run makes the rows for both, and their handlers begin with run_path_get. */
#define RUN "/v1/runs/{run_id}"
#define AGENT_RUN "/v1/agents/{agent_id}/runs/{run_id}"

#define RUN_ROUTES(run, whose)                                                                     \
    {"GET", run, SCOPE_RUNS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG, 200,                     \
        .query = &query_run_read, .answer = &schema_run_read, .handle = handle_run_get,            \
        .summary = "Read " whose},                                                                 \
    {"GET", run "/tree", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_MAY_LAG, 200,                          \
        .answer = &schema_run_tree, .handle = handle_run_tree,                                     \
        .summary = "Read " whose " with its descendants, nested"},                                 \
    {"POST", run "/phase", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_ETAG | ROUTE_FENCED, 200,          \
        .body = &schema_run_phase_body, .answer = &schema_run, .handle = handle_run_phase_move,    \
        .summary = "Move " whose " to another phase and update its status"},                       \
    {"GET", run "/phases", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,           \
        .query = &query_page_only, .answer = &schema_run_phase, .handle = handle_run_phase_list,   \
        .summary = "List the changes of phase of " whose ", oldest first"},                        \
    {"GET", run "/attempts", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,         \
        .query = &query_page_only, .answer = &schema_run_attempt,                                  \
        .handle = handle_run_attempt_list,                                                         \
        .summary = "List the attempts of workers at " whose ", oldest first"},                     \
    {"POST", run "/turns", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_FENCED | ROUTE_SHOWS_NEW, 201,     \
        .body = &schema_turn_create, .answer = &schema_turn, .handle = handle_turn_create,         \
        .location = run "/turns/{turn_id}",                                                        \
        .summary = "Start a turn of " whose ", or record a complete turn"},                        \
    {"GET", run "/turns", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,            \
        .query = &query_turns, .answer = &schema_turn, .handle = handle_turn_list,                 \
        .summary = "List the turns of " whose ", oldest first"},                                   \
    {"GET", run "/turns/{turn_id}", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG, 200,  \
        .answer = &schema_turn, .handle = handle_turn_get,                                         \
        .summary = "Read a turn of " whose},                                                       \
    {"PATCH", run "/turns/{turn_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE,                               \
        ROUTE_PATCH | ROUTE_ETAG | ROUTE_FENCED, 200, .body = &schema_turn_patch,                  \
        .answer = &schema_turn, .handle = handle_turn_patch,                                       \
        .summary = "Complete or change a turn of " whose}

#define RUN_CHECKPOINT_ROUTES(run, whose)                                                          \
    {"GET", run "/checkpoints", SCOPE_CHECKPOINTS_READ, ROUTE_READ,                                \
        ROUTE_LIST | ROUTE_METADATA_FILTER | ROUTE_MAY_LAG, 200, .query = &query_run_checkpoints,  \
        .answer = &schema_run_checkpoint, .handle = handle_run_checkpoints,                        \
        .summary = "List the checkpoints of " whose ", newest first"},                             \
    {"GET", run "/checkpoints/{checkpoint_id}", SCOPE_CHECKPOINTS_READ, ROUTE_READ, ROUTE_MAY_LAG, \
        200, .query = &query_checkpoint, .answer = &schema_run_checkpoint,                         \
        .handle = handle_run_checkpoint,                                                           \
        .summary = "Read a checkpoint of " whose ", with its state"},                              \
    {"GET", run "/recovery", SCOPE_CHECKPOINTS_READ, ROUTE_READ, 0, 200,                           \
        .query = &query_recovery, .answer = &schema_recovery, .handle = handle_run_recovery,       \
        .summary = "Read the newest intact state of " whose " and the work to repeat"},            \
    {"POST", run "/replay", SCOPE_CHECKPOINTS_WRITE, ROUTE_WRITE, 0, 201,                          \
        .body_limit = 12 * 1024 * 1024, .body = &schema_replay, .answer = &schema_replayed,        \
        .handle = handle_run_replay,                                                               \
        .location = "/v1/runs/{new_run_id}",                                                       \
        .summary = "Continue from a checkpoint of " whose " in a new run"}

/* The tools that a run waits for. */
#define TOOL_ROUTES(run, whose)                                                                    \
    {"POST", run "/tools", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_FENCED, 200,                       \
        .body = &schema_tools_await, .answer = &schema_tools_pause, .handle = handle_tools_await,  \
        .summary = "Pause " whose " until the results of tools arrive"},                           \
    {"GET", run "/tools", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,            \
        .query = &query_tools, .answer = &schema_awaited_tool, .handle = handle_tool_list,         \
        .summary = "List the tools that " whose " waited for"},                                    \
    {"POST", run "/tool-results", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 200,                           \
        .body = &schema_tool_results, .answer = &schema_tools_settled,                             \
        .handle = handle_tool_results,                                                             \
        .summary = "Send results of tools; after the last one " whose " continues"}

/* The model usage of a run. */
#define USAGE_ROUTES(run, whose)                                                                   \
    {"POST", run "/usage", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_FENCED, 201,                       \
        .body = &schema_usage_body, .answer = &cost_document_schema,                               \
        .handle = handle_run_usage_add,                                                            \
        .summary = "Report a model call of " whose " and return its cost"},                        \
    {"GET", run "/usage", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_MAY_LAG, 200,                         \
        .answer = &schema_run_cost, .handle = handle_run_usage_get,                                \
        .summary = "Read the usage and cost of " whose " and its descendants"}

const struct route routes[] = {
    /* About Cairn itself. */
    {"GET", "/healthz", SCOPE_NONE, ROUTE_STATIC, ROUTE_ANY_HOST, 200, .answer = &schema_health,
        .handle = handle_health, .summary = "Report whether the process responds"},
    {"GET", "/readyz", SCOPE_NONE, ROUTE_READ, ROUTE_PUBLIC | ROUTE_PROBE | ROUTE_ANY_HOST, 200,
        .answer = &schema_health, .handle = handle_ready,
        .summary = "Report whether the process and its database respond"},
    {"GET", "/metrics", SCOPE_NONE, ROUTE_STATIC, 0, 200, .media_type = "text/plain",
        .handle = handle_metrics, .summary = "Return metrics in the Prometheus text format"},
    {"GET", "/openapi.json", SCOPE_NONE, ROUTE_STATIC, 0, 200, .media_type = "application/json",
        .handle = handle_openapi, .summary = "Return this API as an OpenAPI 3.1 document"},
    {"GET", "/v1/whoami", SCOPE_NONE, ROUTE_READ, 0, 200, .answer = &schema_whoami,
        .handle = handle_whoami, .access = ACCESS_OWN,
        .summary = "Return the tenant and the scopes of the key"},

    /* Tenants. */
    {"GET", "/v1/tenant", SCOPE_NONE, ROUTE_READ, ROUTE_ETAG, 200, .answer = &schema_own_tenant,
        .handle = handle_own_tenant_get, .access = ACCESS_TENANT,
        .summary = "Read the tenant of the key, its quotas and their usage"},
    {"PATCH", "/v1/tenant", SCOPE_ADMIN, ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG, 200,
        .body = &schema_own_tenant_patch, .answer = &schema_own_tenant,
        .handle = handle_own_tenant_patch, .access = ACCESS_TENANT,
        .summary = "Change the settings of the tenant"},
    {"POST", "/v1/tenants", SCOPE_OPERATOR, ROUTE_WRITE, 0, 201, .body = &schema_tenant_create,
        .answer = &schema_tenant_created, .handle = handle_tenant_create,
        .summary = "Create a tenant and its first key"},
    {"GET", "/v1/tenants", SCOPE_OPERATOR, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_page_only, .answer = &schema_tenant, .handle = handle_tenant_list,
        .summary = "List the tenants"},
    {"GET", "/v1/tenants/{tenant_id}", SCOPE_OPERATOR, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,
        200, .answer = &schema_tenant, .handle = handle_tenant_get, .summary = "Read a tenant"},
    {"PATCH", "/v1/tenants/{tenant_id}", SCOPE_OPERATOR, ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG, 200,
        .body = &schema_tenant_patch, .answer = &schema_tenant, .handle = handle_tenant_patch,
        .summary = "Rename a tenant, set its plan and its quotas"},
    {"DELETE", "/v1/tenants/{tenant_id}", SCOPE_OPERATOR, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_tenant_delete,
        .on_full = STORE_ON_FULL_FREES, .summary = "Delete a tenant and all of its data"},

    {"POST", "/v1/tenants/{tenant_id}/keys", SCOPE_OPERATOR, ROUTE_WRITE, 0, 201,
        .body = &schema_key_create, .answer = &schema_key_created,
        .handle = handle_tenant_key_create,
        .location = "/v1/keys/{id}",
        .summary = "Create a key for another tenant, for example if its keys were lost"},

    /* Keys. */
    {"POST", "/v1/keys", SCOPE_ADMIN, ROUTE_WRITE, 0, 201, .body = &schema_key_create,
        .answer = &schema_key_created, .handle = handle_key_create,
        .location = "/v1/keys/{id}",
        .summary = "Create an API key; its secret is shown once"},
    {"GET", "/v1/keys", SCOPE_ADMIN, ROUTE_READ, ROUTE_LIST, 200, .query = &query_page_only,
        .answer = &schema_key, .handle = handle_key_list, .summary = "List the keys"},
    {"GET", "/v1/keys/{key_id}", SCOPE_ADMIN, ROUTE_READ, 0, 200, .answer = &schema_key,
        .handle = handle_key_get, .summary = "Read a key"},
    {"DELETE", "/v1/keys/{key_id}", SCOPE_ADMIN, ROUTE_WRITE, 0, 200, .answer = &schema_key,
        .handle = handle_key_revoke,
        .on_full = STORE_ON_FULL_FREES, .summary = "Revoke a key and close its streams"},

    /* Its scope is that of every stream. */
    {"POST", "/v1/tickets", SCOPE_EVENTS_READ, ROUTE_WRITE, ROUTE_ONE_LANE, 201,
        .body = &schema_ticket_create, .answer = &schema_ticket_created,
        .handle = handle_ticket_create, .access = ACCESS_OWN,
        .summary = "Create a ticket, with which a browser opens one stream or WebSocket, once"},

    /* Audit. */
    {"GET", "/v1/audit", SCOPE_ADMIN, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_audit, .answer = &schema_audit_record, .handle = handle_audit_list,
        .summary = "List the audit log, newest first"},
    {"GET", "/v1/audit/verify", SCOPE_ADMIN, ROUTE_READ, ROUTE_MAY_LAG, 200,
        .answer = &schema_audit_verdict, .handle = handle_audit_verify,
        .summary = "Check the audit log's hash chain"},

    /* Agents. */
    {"POST", "/v1/agents", SCOPE_AGENTS_WRITE, ROUTE_WRITE, ROUTE_SHOWS_NEW, 201,
        .body = &schema_agent_body, .answer = &schema_agent, .handle = handle_agent_create,
        .location = "/v1/agents/{id}",
        .summary = "Create an agent"},
    {"GET", "/v1/agents", SCOPE_AGENTS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_agents, .answer = &schema_agent, .handle = handle_agent_list,
        .summary = "List agents, newest first"},
    /* Before the routes inside an agent, as "by-name" is no id. */
    {"GET", "/v1/agents/by-name/{name}", SCOPE_AGENTS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,
        200, .query = &query_agent, .answer = &schema_agent_whole,
        .handle = handle_agent_get_by_name, .access = ACCESS_OWN,
        .summary = "Read the agent with this name"},
    {"GET", "/v1/agents/{agent_id}", SCOPE_AGENTS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,
        200, .query = &query_agent, .answer = &schema_agent_whole, .handle = handle_agent_get,
        .summary = "Read an agent"},
    {"PATCH", "/v1/agents/{agent_id}", SCOPE_AGENTS_WRITE, ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG,
        200, .body = &schema_agent_patch, .answer = &schema_agent, .handle = handle_agent_patch,
        .summary = "Change an agent"},
    {"DELETE", "/v1/agents/{agent_id}", SCOPE_AGENTS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_agent_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete an agent, its versions, links, states, configuration and storage"},
    {"POST", "/v1/agents/{agent_id}/versions", SCOPE_AGENTS_WRITE, ROUTE_WRITE, ROUTE_MERGE, 201,
        .body = &schema_agent_version_create, .answer = &schema_agent_version,
        .handle = handle_agent_version_create,
        .location = "/v1/agents/{agent_id}/versions/{version}",
        .summary = "Create a version of an agent by merging changes into the newest version"},
    {"GET", "/v1/agents/{agent_id}/versions", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_page_only,
        .answer = &schema_agent_version_head, .handle = handle_agent_version_list,
        .summary = "List the versions of an agent, newest first"},
    {"GET", "/v1/agents/{agent_id}/versions/{semver}", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .answer = &schema_agent_version,
        .handle = handle_agent_version_get,
        .summary = "Read a version of an agent, by its number, \"active\" or \"latest\""},
    {"PATCH", "/v1/agents/{agent_id}/versions/{semver}", SCOPE_AGENTS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG, 200, .body = &schema_agent_version_patch,
        .answer = &schema_agent_version, .handle = handle_agent_version_patch,
        .summary = "Change a version of an agent that no run has used"},
    {"POST", "/v1/agents/{agent_id}/versions/{semver}/activate", SCOPE_AGENTS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 200, .answer = &schema_agent, .handle = handle_agent_version_activate,
        .summary = "Activate a version of an agent for new runs"},
    {"GET", "/v1/agents/{agent_id}/versions/{semver}/diff/{other}", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_MAY_LAG, 200, .answer = &schema_agent_diff, .handle = handle_agent_version_diff,
        .summary = "Compare two versions of an agent"},
    {"POST", "/v1/agents/{agent_id}/rollback", SCOPE_AGENTS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 200,
        .answer = &schema_agent, .handle = handle_agent_rollback,
        .summary = "Reactivate the version that was active before the last activation"},
    {"GET", "/v1/agents/{agent_id}/links", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_page_only,
        .answer = &schema_agent_link, .handle = handle_agent_link_list,
        .summary = "List the children of a team or a workflow by position"},
    {"GET", "/v1/agents/{agent_id}/links/{child_id}", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .answer = &schema_agent_link,
        .handle = handle_agent_link_get, .summary = "Read the link to a child"},
    {"PUT", "/v1/agents/{agent_id}/links/{child_id}", SCOPE_AGENTS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_MAY_CREATE | ROUTE_BODY_OPTIONAL, 200, .body = &schema_agent_link_body,
        .answer = &schema_agent_link, .handle = handle_agent_link_put,
        .summary = "Make an agent a child of a team or a workflow, or change its link"},
    {"DELETE", "/v1/agents/{agent_id}/links/{child_id}", SCOPE_AGENTS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 204, .handle = handle_agent_link_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Remove a child from a team or a workflow"},
    {"GET", "/v1/agents/{agent_id}/tree", SCOPE_AGENTS_READ, ROUTE_READ, ROUTE_MAY_LAG, 200,
        .answer = &schema_agent_tree, .handle = handle_agent_tree,
        .summary = "Read an agent with its descendants as a tree"},
    {"GET", "/v1/agents/{agent_id}/config", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .answer = &schema_state, .handle = handle_state_get,
        .summary = "Read the configuration of an agent"},
    {"PUT", "/v1/agents/{agent_id}/config", SCOPE_AGENTS_WRITE, ROUTE_WRITE,
        GUARDED | ROUTE_MAY_CREATE | ROUTE_SHOWS_NEW, 200, .body = &schema_state_body,
        .answer = &schema_state, .handle = handle_state_put,
        .summary = "Write the configuration of an agent; omitted members stay unchanged"},
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
        .handle = handle_storage_list, .summary = "List the stored values of an agent by key"},
    {"GET", "/v1/agents/{agent_id}/storage/{key}", SCOPE_STORAGE_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG | ROUTE_RAW_BODY, 200, .handle = handle_storage_get,
        .summary = "Read the stored value of an agent's key in its original form"},
    {"PUT", "/v1/agents/{agent_id}/storage/{key}", SCOPE_STORAGE_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_CONDITIONAL | ROUTE_MAY_CREATE | ROUTE_RAW_BODY | ROUTE_SHOWS_NEW, 200,
        .body_limit = STORAGE_VALUE_MAX_BYTES, .answer = &schema_storage_item,
        .handle = handle_storage_put,
        .summary = "Store JSON or bytes of any type under a key of an agent"},
    {"DELETE", "/v1/agents/{agent_id}/storage/{key}", SCOPE_STORAGE_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 204, .handle = handle_storage_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete the stored value of an agent's key"},

    /* Threads by their clients' keys; before the routes inside a thread, as "by-key" is no id. */
    {"PUT", "/v1/threads/by-key/{key}", SCOPE_THREADS_WRITE, ROUTE_WRITE,
        ROUTE_BODY_OPTIONAL | ROUTE_MAY_CREATE | ROUTE_SHOWS_NEW, 200,
        .body = &schema_keyed_thread_body, .answer = &schema_thread,
        .handle = handle_thread_ensure, .access = ACCESS_OWN,
        .summary = "Create the thread with this key, or return the existing thread"},
    {"GET", "/v1/threads/by-key/{key}", SCOPE_THREADS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG,
        200, .answer = &schema_thread, .handle = handle_thread_get_by_key, .access = ACCESS_OWN,
        .summary = "Read the thread with this key"},

    /* State documents. */
    STATE_ROUTES("/v1/agents/{agent_id}", "an agent", 0),
    STATE_ROUTES("/v1/threads/{thread_id}", "a thread", ROUTE_FENCED),
    STATE_ROUTES("/v1/threads/{thread_id}/agents/{agent_id}", "an agent in a thread", ROUTE_FENCED),

    /* Threads. */
    {"POST", "/v1/threads", SCOPE_THREADS_WRITE, ROUTE_WRITE,
        ROUTE_BODY_OPTIONAL | ROUTE_SHOWS_NEW, 201, .body = &schema_thread_body,
        .answer = &schema_thread, .handle = handle_thread_create,
        .location = "/v1/threads/{id}",
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
        .summary = "Reactivate a thread and resume its paused runs"},
    {"POST", "/v1/threads/{thread_id}/cancel", SCOPE_THREADS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_BODY_OPTIONAL, 200, .body = &schema_reason, .answer = &schema_thread,
        .handle = handle_thread_cancel,
        .on_full = STORE_ON_FULL_FREES, .summary = "Cancel a thread and its active runs"},

    /* Archives. */
    {"GET", "/v1/threads/{thread_id}/export", SCOPE_THREADS_READ, ROUTE_READ,
        ROUTE_BYTES | ROUTE_LONG, 200, .admit = admit_export, .handle = handle_export,
        .release = release_export,
        .media_type = "application/x-tar", .access = ACCESS_TENANT,
        .summary = "Export a thread with all of its data as a tar file"},
    {"GET", "/v1/agents/{agent_id}/export", SCOPE_AGENTS_READ, ROUTE_READ,
        ROUTE_BYTES | ROUTE_LONG, 200, .admit = admit_export, .handle = handle_export,
        .release = release_export,
        .media_type = "application/x-tar", .access = ACCESS_TENANT,
        .summary = "Export an agent with its configuration, states and storage as a tar file"},
    {"GET", "/v1/export", SCOPE_ADMIN, ROUTE_READ, ROUTE_BYTES | ROUTE_LONG, 200,
        .admit = admit_export, .handle = handle_export, .release = release_export,
        .media_type = "application/x-tar",
        .summary = "Export all threads and agents of the tenant as a tar file"},
    {"POST", "/v1/imports", SCOPE_ADMIN, ROUTE_WRITE, ROUTE_UPLOAD, 201,
        .body_limit = (size_t)1 << 40, .query = &query_import, .answer = &schema_import,
        .handle = handle_import, .prepare = prepare_import, .media_type = "application/x-tar",
        .release = release_import,
        .summary = "Import an archive, completely or not at all"},

    /* The data from which an engine resumes a thread, and the history of its runs. */
    TOOL_ROUTES(RUN, "a run"),
    TOOL_ROUTES(AGENT_RUN, "a run of an agent"),
    {"GET", "/v1/threads/{thread_id}/resumption", SCOPE_RUNS_READ, ROUTE_READ,
        ROUTE_ETAG, 200, .answer = &schema_resumption, .handle = handle_resumption_get,
        .summary = "Read the data needed to resume a thread"},
    {"PUT", "/v1/threads/{thread_id}/resumption", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        GUARDED | ROUTE_MAY_CREATE | ROUTE_FENCED, 200, .body = &schema_resumption_body,
        .answer = &schema_resumption, .handle = handle_resumption_put,
        .summary = "Write the resumption of a thread; omitted members get their defaults"},
    {"PATCH", "/v1/threads/{thread_id}/resumption", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | GUARDED | ROUTE_FENCED, 200, .body = &schema_resumption_patch,
        .answer = &schema_resumption, .handle = handle_resumption_patch,
        .summary = "Change the resumption of a thread"},
    {"POST", "/v1/threads/{thread_id}/resumption/messages", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_FENCED, 200, .body = &schema_resumption_append,
        .answer = &schema_resumption, .handle = handle_resumption_append,
        .summary = "Append to the messages of a resumption"},
    {"GET", "/v1/threads/{thread_id}/history", SCOPE_RUNS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_history, .answer = &schema_history_entry,
        .handle = handle_history_list,
        .summary = "List the finished runs of a thread as a conversation, newest first"},
    {"GET", "/v1/threads/{thread_id}/history/{sequence}", SCOPE_RUNS_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .answer = &schema_history_entry,
        .handle = handle_history_get, .summary = "Read one complete entry of the history"},
    {"PATCH", "/v1/threads/{thread_id}/history/{sequence}", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG | ROUTE_FENCED, 200, .body = &schema_history_patch,
        .answer = &schema_history_entry, .handle = handle_history_patch,
        .summary = "Set the messages, files and extras of a history entry"},
    {"GET", "/v1/threads/{thread_id}/context", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_MAY_LAG, 200,
        .query = &query_context, .answer = &schema_history_context,
        .handle = handle_thread_context,
        .summary = "Read the messages of the last runs, within a budget of tokens"},

    /* Runs. */
    {"POST", "/v1/threads/{thread_id}/runs", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_BODY_OPTIONAL,
        201, .body_limit = RESULT_BODY_LIMIT, .body = &schema_run_create, .answer = &schema_run,
        .handle = handle_run_start, .location = "/v1/runs/{id}",
        .summary = "Start a run, or record a finished one"},
    {"GET", "/v1/threads/{thread_id}/runs", SCOPE_RUNS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_thread_runs, .answer = &schema_run,
        .handle = handle_thread_run_list,
        .summary = "List the runs of a thread, newest first"},
    {"GET", "/v1/runs", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_runs, .answer = &schema_run, .handle = handle_run_list,
        .access = ACCESS_AGENT,
        .summary = "List runs of all threads, newest first"},
    {"POST", "/v1/runs/claim", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_MAYBE_NOTHING | ROUTE_HANDS_OUT, 200, .query = &query_claim,
        .body = &schema_run_claim, .answer = &schema_run,
        .handle = handle_run_claim, .waits = WAITS_FOR_RUN, .access = ACCESS_AGENT,
        .summary = "Claim the next queued run with a lease; 204 if no run is queued"},
    {"POST", "/v1/agents/{agent_id}/runs", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 201,
        .body_limit = RESULT_BODY_LIMIT, .body = &schema_agent_run_create,
        .answer = &schema_agent_run, .handle = handle_agent_run_start, .access = ACCESS_OWN,
        .summary = "Start a run of an agent on an existing or a new thread"},
    {"GET", "/v1/agents/{agent_id}/runs", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG,
        200, .query = &query_agent_runs, .answer = &schema_run, .handle = handle_agent_run_list,
        .summary = "List the runs of an agent, newest first"},
    RUN_ROUTES(RUN, "a run"),
    RUN_ROUTES(AGENT_RUN, "a run of an agent"),
    USAGE_ROUTES(RUN, "a run"),
    USAGE_ROUTES(AGENT_RUN, "a run of an agent"),

    /* Prices, usage, evals, notebooks. */
    {"GET", "/v1/prices", SCOPE_USAGE_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_page_only, .answer = &schema_price, .handle = handle_price_list,
        .summary = "List the newest price of each model by name"},
    {"GET", "/v1/prices/{model}", SCOPE_USAGE_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG, 200,
        .answer = &schema_price, .handle = handle_price_get,
        .summary = "Read the price of a model"},
    {"PUT", "/v1/prices/{model}", SCOPE_USAGE_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_MAY_CREATE | ROUTE_SHOWS_NEW, 200, .body = &schema_price_body,
        .answer = &schema_price, .handle = handle_price_put,
        .summary = "Set the price of a model as a new version"},
    {"DELETE", "/v1/prices/{model}", SCOPE_USAGE_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_price_delete,
        .summary = "Remove the price of a model; its versions are kept"},
    {"GET", "/v1/prices/{model}/versions", SCOPE_USAGE_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_page_only, .answer = &schema_price,
        .handle = handle_price_version_list,
        .summary = "List the versions of a model's price, newest first"},
    {"POST", "/v1/costs", SCOPE_USAGE_READ, ROUTE_READ, 0, 200, .body = &schema_cost_body,
        .answer = &cost_document_schema, .handle = handle_cost,
        .summary = "Compute the cost of a model call without storing anything"},
    {"GET", "/v1/usage", SCOPE_USAGE_READ, ROUTE_READ, ROUTE_MAY_LAG, 200,
        .query = &query_usage, .answer = &schema_usage, .handle = handle_usage,
        .summary = "Report runs, tokens and cost by day, model, provider and agent"},
    {"GET", "/v1/usage/averages", SCOPE_USAGE_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_usage_averages, .answer = &schema_usage_average,
        .handle = handle_usage_averages,
        .summary = "Report the average tokens of recent runs by thread or agent"},
    {"POST", "/v1/evals", SCOPE_EVALS_WRITE, ROUTE_WRITE, ROUTE_SHOWS_NEW, 201,
        .body = &schema_eval_body, .answer = &schema_eval, .handle = handle_eval_create,
        .location = "/v1/evals/{id}",
        .summary = "Record an eval run"},
    {"GET", "/v1/evals", SCOPE_EVALS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_evals, .answer = &schema_eval, .handle = handle_eval_list,
        .summary = "List eval runs, newest first"},
    {"GET", "/v1/evals/{eval_id}", SCOPE_EVALS_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG, 200,
        .answer = &schema_eval, .handle = handle_eval_get, .summary = "Read an eval run"},
    {"PATCH", "/v1/evals/{eval_id}", SCOPE_EVALS_WRITE, ROUTE_WRITE, ROUTE_PATCH | ROUTE_ETAG,
        200, .body = &schema_eval_patch, .answer = &schema_eval, .handle = handle_eval_patch,
        .summary = "Change an eval run"},
    {"DELETE", "/v1/evals/{eval_id}", SCOPE_EVALS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_eval_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete an eval run"},
    {"POST", "/v1/notebooks", SCOPE_NOTEBOOKS_WRITE, ROUTE_WRITE, ROUTE_SHOWS_NEW, 201,
        .body = &schema_notebook_body, .answer = &schema_notebook,
        .handle = handle_notebook_create,
        .location = "/v1/notebooks/{id}",
        .summary = "Create a notebook"},
    {"GET", "/v1/notebooks", SCOPE_NOTEBOOKS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_page_only, .answer = &schema_notebook, .handle = handle_notebook_list,
        .summary = "List notebooks, newest first"},
    {"GET", "/v1/notebooks/{notebook_id}", SCOPE_NOTEBOOKS_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .answer = &schema_notebook,
        .handle = handle_notebook_get, .summary = "Read a notebook"},
    {"PATCH", "/v1/notebooks/{notebook_id}", SCOPE_NOTEBOOKS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG, 200, .body = &schema_notebook_patch,
        .answer = &schema_notebook, .handle = handle_notebook_patch,
        .summary = "Change a notebook"},
    {"DELETE", "/v1/notebooks/{notebook_id}", SCOPE_NOTEBOOKS_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,
        .handle = handle_notebook_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete a notebook; its threads are kept"},
    {"POST", "/v1/notebooks/{notebook_id}/sessions", SCOPE_NOTEBOOKS_WRITE, ROUTE_WRITE,
        ROUTE_BODY_OPTIONAL, 201, .body = &schema_notebook_session_body,
        .answer = &schema_notebook_session, .handle = handle_notebook_session_add,
        .location = "/v1/threads/{thread_id}",
        .summary = "Add an existing or a new thread to a notebook"},
    {"GET", "/v1/notebooks/{notebook_id}/sessions", SCOPE_NOTEBOOKS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_page_only,
        .answer = &schema_notebook_session, .handle = handle_notebook_session_list,
        .summary = "List the threads of a notebook, newest first"},
    {"DELETE", "/v1/notebooks/{notebook_id}/sessions/{thread_id}", SCOPE_NOTEBOOKS_WRITE,
        ROUTE_WRITE, 0, 204, .handle = handle_notebook_session_remove,
        .access = ACCESS_TENANT, .on_full = STORE_ON_FULL_FREES,
        .summary = "Remove a thread from a notebook; the thread is kept"},
    {"GET", "/v1/threads/{thread_id}/notebook", SCOPE_NOTEBOOKS_READ, ROUTE_READ, ROUTE_MAY_LAG,
        200, .answer = &schema_notebook, .handle = handle_thread_notebook,
        .summary = "Read the notebook of a thread"},
    {"PATCH", "/v1/runs/{run_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG | ROUTE_FENCED, 200, .body_limit = RESULT_BODY_LIMIT,
        .body = &schema_run_body, .answer = &schema_run, .handle = handle_run_patch,
        .summary = "Change a run, or end it and report its result in the same call"},
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
        .on_full = STORE_ON_FULL_KEEPS, .summary = "Extend the lease of a run"},
    {"POST", "/v1/runs/{run_id}/release", SCOPE_RUNS_WRITE, ROUTE_WRITE,
        ROUTE_FENCED | ROUTE_BODY_OPTIONAL, 200, .body = &schema_run_release,
        .answer = &schema_run, .handle = handle_run_release, .on_full = STORE_ON_FULL_KEEPS,
        .summary = "Return a claimed run to the queue"},
    {"POST", "/v1/runs/{run_id}/retry", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_BODY_OPTIONAL, 201,
        .body = &schema_run_retry, .answer = &schema_run, .handle = handle_run_retry,
        .location = "/v1/runs/{id}",
        .summary = "Start a failed or cancelled run again, as a new run"},

    /* Steps. */
    {"POST", "/v1/runs/{run_id}/steps", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_FENCED, 201,
        .body_limit = STEPS_BODY_LIMIT, .body = &schema_step_append, .answer = &schema_step_ref,
        .answer_to_many = &schema_steps_appended, .handle = handle_step_append,
        .location = "/v1/runs/{run_id}/steps/{number}",
        .summary = "Append one or more steps to the log of a run"},
    {"GET", "/v1/runs/{run_id}/steps", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG,
        200, .query = &query_run_steps, .answer = &schema_step, .handle = handle_run_step_list,
        .summary = "List the steps of a run, oldest first"},
    {"GET", "/v1/runs/{run_id}/steps/{number}", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_MAY_LAG, 200,
        .answer = &schema_step, .handle = handle_step_get,
        .summary = "Read a step with its messages"},
    {"GET", "/v1/runs/{run_id}/llm-calls", SCOPE_RUNS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_run_calls, .answer = &schema_llm_call,
        .handle = handle_llm_call_list, .summary = "List the model calls of a run, oldest first"},
    {"GET", "/v1/runs/{run_id}/tool-calls", SCOPE_RUNS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_run_calls, .answer = &schema_tool_call,
        .handle = handle_tool_call_list, .summary = "List the tool calls of a run, oldest first"},
    {"GET", "/v1/steps", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200,
        .query = &query_steps, .answer = &schema_step, .handle = handle_step_list,
        .summary = "List steps of all runs, newest first"},
    {"GET", "/v1/steps/summary", SCOPE_RUNS_READ, ROUTE_READ, ROUTE_MAY_LAG, 200,
        .query = &query_step_summary, .answer = &schema_step_summary,
        .handle = handle_step_summary,
        .summary = "Report the number and the duration of steps by type in a run or a thread"},

    /* Events. */
    {"POST", "/v1/threads/{thread_id}/events", SCOPE_EVENTS_WRITE, ROUTE_WRITE,
        ROUTE_FENCED | ROUTE_SHOWS_NEW, 201, .body = &schema_event_append, .answer = &schema_event,
        .answer_to_many = &schema_events_appended, .handle = handle_event_append,
        .summary = "Append one or more events"},
    {"GET", "/v1/threads/{thread_id}/events", SCOPE_EVENTS_READ, ROUTE_READ, ROUTE_LIST, 200,
        .query = &query_events, .answer = &schema_event, .handle = handle_event_list,
        .waits = WAITS_FOR_EVENT,
        .summary = "Read events after a cursor; ?wait= enables long polling"},
    {"GET", "/v1/threads/{thread_id}/events/stream", SCOPE_EVENTS_READ, ROUTE_SSE, 0, 200,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .summary = "Stream past and new events after a cursor as Server-Sent Events"},
    {"GET", "/v1/threads/{thread_id}/events/ws", SCOPE_EVENTS_READ, ROUTE_WEBSOCKET, 0, 101,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .summary = "Stream past and new events after a cursor over WebSocket"},
    {"POST", "/v1/threads/{thread_id}/events/prune", SCOPE_EVENTS_WRITE, ROUTE_WRITE, 0, 200,
        .body = &schema_event_prune, .answer = &schema_event_pruned, .handle = handle_event_prune,
        .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete the oldest events of a thread"},
    {"GET", "/v1/events", SCOPE_EVENTS_READ, ROUTE_READ, ROUTE_LIST, 200, .query = &query_events,
        .answer = &schema_event, .handle = handle_event_list,
        .access = ACCESS_OWN, .waits = WAITS_FOR_EVENT,
        .summary = "Read the events of all threads after a cursor"},
    {"GET", "/v1/events/stream", SCOPE_EVENTS_READ, ROUTE_SSE, 0, 200,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .access = ACCESS_OWN,
        .summary = "Stream the events of all threads as Server-Sent Events"},
    {"GET", "/v1/events/ws", SCOPE_EVENTS_READ, ROUTE_WEBSOCKET, 0, 101,
        .query = &query_event_stream, .answer = &schema_event, .handle = handle_event_stream,
        .access = ACCESS_OWN,
        .summary = "Stream the events of all threads over WebSocket"},

    /* Participants. */
    {"POST", "/v1/threads/{thread_id}/participants", SCOPE_PARTICIPANTS_WRITE, ROUTE_WRITE, 0, 201,
        .body = &schema_participant_join, .answer = &schema_participant,
        .handle = handle_participant_join,
        .location = "/v1/threads/{thread_id}/participants/{id}",
        .summary = "Add a participant, or readmit a participant that has left"},
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
        .summary = "Report that your own participant is online"},
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
        .summary = "End the access of a participant; its messages are kept"},
    {"POST", "/v1/threads/{thread_id}/participants/{participant_id}/heartbeat",
        SCOPE_PARTICIPANTS_WRITE, ROUTE_WRITE, ROUTE_BODY_OPTIONAL, 200,
        .body = &schema_participant_heartbeat, .answer = &schema_participant,
        .handle = handle_participant_heartbeat, .access = ACCESS_READER,
        .summary = "Report that a participant is online"},

    /* Messages. */
    {"POST", "/v1/threads/{thread_id}/messages", SCOPE_MESSAGES_WRITE, ROUTE_WRITE,
        ROUTE_FENCED | ROUTE_SHOWS_NEW, 201, .body = &schema_message_create,
        .answer = &schema_message,
        .answer_to_many = &schema_messages_created, .handle = handle_message_create,
        .location = "/v1/threads/{thread_id}/messages/{id}",
        .summary = "Send one or more messages"},
    {"GET", "/v1/threads/{thread_id}/messages", SCOPE_MESSAGES_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_TWO_WAYS | ROUTE_MAY_LAG, 200, .query = &query_messages,
        .answer = &schema_message, .handle = handle_message_list,
        .summary = "Read messages before or after a cursor"},
    {"GET", "/v1/messages/search", SCOPE_MESSAGES_READ, ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG,
        200, .query = &query_message_search, .answer = &schema_message,
        .handle = handle_message_search, .access = ACCESS_OWN,
        .summary = "Search the messages of all threads by words, newest first"},
    {"GET", "/v1/threads/{thread_id}/messages/search", SCOPE_MESSAGES_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_message_search,
        .answer = &schema_message, .handle = handle_thread_message_search,
        .summary = "Search the messages of a thread by words, newest first"},
    {"GET", "/v1/threads/{thread_id}/messages/{message_id}", SCOPE_MESSAGES_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_MAY_LAG, 200, .query = &query_message, .answer = &schema_message,
        .handle = handle_message_get, .summary = "Read a message"},
    {"PATCH", "/v1/threads/{thread_id}/messages/{message_id}", SCOPE_MESSAGES_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG, 200, .body = &schema_message_body, .answer = &schema_message,
        .handle = handle_message_patch,
        .summary = "Edit a message; the previous version is kept"},
    {"DELETE", "/v1/threads/{thread_id}/messages/{message_id}", SCOPE_MESSAGES_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 204, .handle = handle_message_delete,
        .summary = "Delete a message; a tombstone and the history are kept"},
    {"GET", "/v1/threads/{thread_id}/messages/{message_id}/debug", SCOPE_MESSAGES_READ,
        ROUTE_READ, ROUTE_MAY_LAG, 200, .answer = &schema_message_debug,
        .handle = handle_message_debug, .summary = "Read the debug data of a message"},
    {"GET", "/v1/threads/{thread_id}/messages/{message_id}/versions", SCOPE_MESSAGES_READ,
        ROUTE_READ, ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_message_versions,
        .answer = &schema_message_version, .handle = handle_message_versions,
        .summary = "List the previous versions of a message, newest first"},

    /* Checkpoints. */
    {"PUT", "/v1/store/items", SCOPE_STORE_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_CONDITIONAL | ROUTE_MAY_CREATE | ROUTE_SHOWS_NEW, 200,
        .body = &schema_memory_put, .answer = &schema_memory_item, .handle = handle_memory_put,
        .access = ACCESS_TENANT,
        .summary = "Put an item into the store, replacing an item with the same key"},
    {"GET", "/v1/store/items", SCOPE_STORE_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG, 200,
        .query = &query_memory_item, .answer = &schema_memory_item, .handle = handle_memory_get,
        .access = ACCESS_TENANT, .summary = "Read an item of the store"},
    {"DELETE", "/v1/store/items", SCOPE_STORE_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,
        .query = &query_memory_item, .handle = handle_memory_delete, .access = ACCESS_TENANT,
        .on_full = STORE_ON_FULL_FREES, .summary = "Delete an item of the store"},
    {"POST", "/v1/store/search", SCOPE_STORE_READ, ROUTE_READ, 0, 200,
        .body = &schema_memory_search, .answer = &schema_memory_found,
        .handle = handle_memory_search, .access = ACCESS_TENANT,
        .summary = "Search items under a prefix, newest first or ranked by words or a vector"},
    {"POST", "/v1/store/namespaces", SCOPE_STORE_READ, ROUTE_READ, 0, 200,
        .body = &schema_memory_namespaces, .answer = &schema_memory_found_namespaces,
        .handle = handle_memory_namespaces, .access = ACCESS_TENANT,
        .summary = "List the namespaces that contain items, sorted"},
    {"POST", "/v1/store/batch", SCOPE_STORE_WRITE, ROUTE_WRITE, ROUTE_ONE_LANE, 200,
        .body_limit = MEMORY_BATCH_BODY_LIMIT, .body = &schema_memory_batch,
        .answer = &schema_memory_batch_answer, .handle = handle_memory_batch,
        .only_reads = memory_batch_only_reads, .access = ACCESS_TENANT,
        .summary = "Execute up to 100 operations of the store in order, all or none"},

    {"POST", "/v1/threads/{thread_id}/checkpoints", SCOPE_CHECKPOINTS_WRITE, ROUTE_WRITE,
        ROUTE_FENCED | ROUTE_MAY_CREATE | ROUTE_REHEARSED, 200, .body_limit = 12 * 1024 * 1024,
        .body = &schema_checkpoint_put, .answer = &schema_checkpoint,
        .handle = handle_checkpoint_put,
        .location = "/v1/threads/{thread_id}/checkpoints/{id}?namespace={namespace}",
        .summary = "Put a checkpoint, complete or as changes to its parent"},
    {"GET", "/v1/threads/{thread_id}/checkpoints", SCOPE_CHECKPOINTS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_METADATA_FILTER | ROUTE_MAY_LAG, 200, .query = &query_checkpoints,
        .answer = &schema_checkpoint, .handle = handle_checkpoint_list,
        .summary = "List the checkpoints of a thread, newest first"},
    {"GET", "/v1/threads/{thread_id}/checkpoints/latest", SCOPE_CHECKPOINTS_READ, ROUTE_READ,
        0, 200, .query = &query_checkpoint, .answer = &schema_checkpoint,
        .handle = handle_checkpoint_latest,
        .summary = "Read the latest checkpoint of a namespace, with values and pending writes"},
    {"GET", "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}", SCOPE_CHECKPOINTS_READ,
        ROUTE_READ, ROUTE_MAY_LAG, 200, .query = &query_checkpoint,
        .answer = &schema_checkpoint, .handle = handle_checkpoint_get,
        .summary = "Read a checkpoint with its values and pending writes"},
    {"PUT", "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes", SCOPE_CHECKPOINTS_WRITE,
        ROUTE_WRITE, ROUTE_FENCED, 200, .body_limit = 12 * 1024 * 1024,
        .query = &query_checkpoint, .body = &schema_checkpoint_writes_put,
        .answer = &schema_checkpoint_written, .handle = handle_checkpoint_writes_put,
        .summary = "Record writes of a task for the next checkpoint; existing writes are kept"},
    {"GET", "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes", SCOPE_CHECKPOINTS_READ,
        ROUTE_READ, ROUTE_MAY_LAG, 200, .query = &query_checkpoint,
        .answer = &schema_checkpoint_writes, .handle = handle_checkpoint_writes_get,
        .summary = "Read the pending writes of a checkpoint"},
    {"GET", "/v1/checkpoints", SCOPE_CHECKPOINTS_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_METADATA_FILTER | ROUTE_MAY_LAG, 200, .query = &query_all_checkpoints,
        .answer = &schema_checkpoint, .handle = handle_all_checkpoints, .access = ACCESS_TENANT,
        .summary = "List the checkpoints of all threads, newest first"},
    {"POST", "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/deltas", SCOPE_CHECKPOINTS_READ,
        ROUTE_READ, 0, 200, .body = &schema_deltas_body, .answer = &schema_checkpoint_deltas,
        .handle = handle_checkpoint_deltas,
        .summary = "Read the writes to channels since their last values, along the parents"},
    {"DELETE", "/v1/threads/{thread_id}/checkpoints", SCOPE_CHECKPOINTS_WRITE, ROUTE_WRITE, 0, 200,
        .query = &query_checkpoint_delete, .answer = &schema_checkpoint_pruned,
        .handle = handle_checkpoint_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete the checkpoints of a thread or of one namespace"},
    {"POST", "/v1/threads/{thread_id}/checkpoints/prune", SCOPE_CHECKPOINTS_WRITE, ROUTE_WRITE, 0,
        200, .body = &schema_checkpoint_prune, .answer = &schema_checkpoint_pruned,
        .handle = handle_checkpoint_prune, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete the oldest checkpoints by number or age"},
    {"POST", "/v1/threads/{thread_id}/checkpoints/copy", SCOPE_CHECKPOINTS_WRITE, ROUTE_WRITE, 0,
        200, .body = &schema_checkpoint_copy, .answer = &schema_checkpoint_copied,
        .handle = handle_checkpoint_copy, .access = ACCESS_READER,
        .summary = "Copy the checkpoints of a thread to another thread"},
    {"GET", "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/diff/{other_id}",
        SCOPE_CHECKPOINTS_READ, ROUTE_READ, ROUTE_MAY_LAG, 200, .query = &query_checkpoint,
        .answer = &schema_checkpoint_diff, .handle = handle_checkpoint_diff,
        .summary = "Compare two checkpoints, channel by channel"},
    {"GET", "/v1/threads/{thread_id}/recovery", SCOPE_CHECKPOINTS_READ, ROUTE_READ, 0, 200,
        .query = &query_recovery, .answer = &schema_recovery, .handle = handle_thread_recovery,
        .summary = "Read the newest intact state of a thread and the work to repeat"},
    RUN_CHECKPOINT_ROUTES(RUN, "a run"),
    RUN_CHECKPOINT_ROUTES(AGENT_RUN, "a run of an agent"),

    /* Shares. */
    {"POST", "/v1/threads/{thread_id}/shares", SCOPE_PARTICIPANTS_WRITE, ROUTE_WRITE,
        ROUTE_SHOWS_NEW, 201, .body = &schema_share_create, .answer = &schema_share_created,
        .handle = handle_share_create,
        .location = "/v1/threads/{thread_id}/shares/{id}",
        .summary = "Create a share of a thread; its token is shown once"},
    {"GET", "/v1/threads/{thread_id}/shares", SCOPE_PARTICIPANTS_READ, ROUTE_READ, ROUTE_LIST, 200,
        .query = &query_page_only, .answer = &schema_share, .handle = handle_share_list,
        .access = ACCESS_WRITER, .summary = "List the shares of a thread, newest first"},
    {"GET", "/v1/threads/{thread_id}/shares/{share_id}", SCOPE_PARTICIPANTS_READ, ROUTE_READ,
        ROUTE_ETAG, 200, .answer = &schema_share, .handle = handle_share_get,
        .access = ACCESS_WRITER, .summary = "Read a share"},
    {"DELETE", "/v1/threads/{thread_id}/shares/{share_id}", SCOPE_PARTICIPANTS_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 200, .answer = &schema_share, .handle = handle_share_revoke,
        .on_full = STORE_ON_FULL_KEEPS,
        .summary = "Revoke a share, end the access that it gave and close the streams"},
    {"GET", "/v1/threads/{thread_id}/shares/{share_id}/redemptions", SCOPE_PARTICIPANTS_READ,
        ROUTE_READ, ROUTE_LIST, 200, .query = &query_page_only, .answer = &schema_redemption,
        .handle = handle_share_redemptions, .access = ACCESS_WRITER,
        .summary = "List the redemptions of a share, newest first"},
    {"POST", "/v1/shares/redeem", SCOPE_PARTICIPANTS_WRITE, ROUTE_WRITE, ROUTE_HANDS_OUT, 200,
        .body = &schema_share_redeem, .answer = &schema_share_redeemed,
        .handle = handle_share_redeem, .access = ACCESS_OWN,
        .summary = "Redeem a share for the principal of the request"},

    /* Files. */
    {"GET", "/v1/threads/{thread_id}/files", SCOPE_FILES_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_files, .answer = &schema_file,
        .handle = handle_file_list, .summary = "List the files of a thread by name"},
    {"PUT", "/v1/threads/{thread_id}/files/{name}", SCOPE_FILES_WRITE, ROUTE_WRITE,
        ROUTE_UPLOAD | ROUTE_ETAG | ROUTE_MAY_CREATE | ROUTE_SHOWS_NEW, 200, .answer = &schema_file,
        .admit = admit_file_put, .handle = handle_file_put,
        .summary = "Upload a new file or a new version of a file"},
    {"GET", "/v1/threads/{thread_id}/files/{name}", SCOPE_FILES_READ, ROUTE_READ,
        ROUTE_BYTES | ROUTE_ETAG, 200, .query = &query_file_get, .handle = handle_file_get,
        .summary = "Read the bytes of a file; default: of the newest version"},
    {"DELETE", "/v1/threads/{thread_id}/files/{name}", SCOPE_FILES_WRITE, ROUTE_WRITE, ROUTE_ETAG,
        204, .handle = handle_file_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete a file and all of its versions"},
    {"GET", "/v1/threads/{thread_id}/files/{name}/info", SCOPE_FILES_READ, ROUTE_READ,
        ROUTE_ETAG | ROUTE_REVISION | ROUTE_MAY_LAG, 200, .answer = &schema_file,
        .handle = handle_file_info,
        .summary = "Read the description of a file"},
    {"PATCH", "/v1/threads/{thread_id}/files/{name}/info", SCOPE_FILES_WRITE, ROUTE_WRITE,
        ROUTE_PATCH | ROUTE_ETAG | ROUTE_REVISION, 200, .body = &schema_file_patch,
        .answer = &schema_file, .handle = handle_file_patch, .summary = "Change a file's metadata"},
    {"GET", "/v1/threads/{thread_id}/files/{name}/versions", SCOPE_FILES_READ, ROUTE_READ,
        ROUTE_LIST | ROUTE_MAY_LAG, 200, .query = &query_page_only,
        .answer = &schema_file_version, .handle = handle_file_versions,
        .summary = "List the versions of a file, newest first"},
    {"GET", "/v1/threads/{thread_id}/files/{name}/versions/{version}", SCOPE_FILES_READ,
        ROUTE_READ, ROUTE_BYTES | ROUTE_ETAG, 200, .handle = handle_file_version_get,
        .summary = "Read the bytes of a version"},
    {"GET", "/v1/threads/{thread_id}/files/{name}/diff", SCOPE_FILES_READ, ROUTE_READ, 0, 200,
        .query = &query_file_diff, .answer = &schema_file_diff, .handle = handle_file_diff,
        .summary = "Compare two versions of a text, line by line"},
    {"DELETE", "/v1/threads/{thread_id}/files/{name}/versions/{version}", SCOPE_FILES_WRITE,
        ROUTE_WRITE, ROUTE_ETAG, 204, .handle = handle_file_version_delete,
        .on_full = STORE_ON_FULL_FREES,
        .summary = "Delete a version; deleting the last one deletes the file"},
    {"POST", "/v1/threads/{thread_id}/files/{name}/restore", SCOPE_FILES_WRITE, ROUTE_WRITE,
        ROUTE_ETAG, 200, .body = &schema_file_restore, .answer = &schema_file,
        .handle = handle_file_restore, .summary = "Restore an old version as a new version"},
    {"POST", "/v1/threads/{thread_id}/files/{name}/copy", SCOPE_FILES_WRITE, ROUTE_WRITE,
        ROUTE_ETAG | ROUTE_MAY_CREATE, 200, .body = &schema_file_copy, .answer = &schema_file,
        .handle = handle_file_copy,
        .location = "/v1/threads/{thread_id}/files/{name}",
        .access = ACCESS_READER,
        .summary = "Copy a file to another thread or name"},
    {"POST", "/v1/threads/{thread_id}/uploads", SCOPE_FILES_WRITE, ROUTE_WRITE, ROUTE_SHOWS_NEW,
        201, .body = &schema_upload_create, .answer = &schema_upload,
        .handle = handle_upload_create,
        .location = "/v1/threads/{thread_id}/uploads/{id}",
        .summary = "Start a resumable upload"},
    {"GET", "/v1/threads/{thread_id}/uploads", SCOPE_FILES_READ, ROUTE_READ, ROUTE_LIST, 200,
        .query = &query_page_only, .answer = &schema_upload, .handle = handle_upload_list,
        .summary = "List the unfinished uploads, newest first"},
    {"GET", "/v1/threads/{thread_id}/uploads/{upload_id}", SCOPE_FILES_READ, ROUTE_READ, 0, 200,
        .answer = &schema_upload, .handle = handle_upload_get,
        .summary = "Read the progress of an upload"},
    {"PATCH", "/v1/threads/{thread_id}/uploads/{upload_id}", SCOPE_FILES_WRITE, ROUTE_WRITE,
        ROUTE_UPLOAD, 200, .query = &query_upload_append, .answer = &schema_upload,
        .admit = admit_upload_append, .handle = handle_upload_append,
        .summary = "Append bytes to an upload at Upload-Offset"},
    {"DELETE", "/v1/threads/{thread_id}/uploads/{upload_id}", SCOPE_FILES_WRITE, ROUTE_WRITE, 0,
        204, .handle = handle_upload_delete, .on_full = STORE_ON_FULL_FREES,
        .summary = "Cancel an upload"},
    {"POST", "/v1/threads/{thread_id}/uploads/{upload_id}/complete", SCOPE_FILES_WRITE,
        ROUTE_WRITE, ROUTE_MAY_CREATE, 200, .answer = &schema_file,
        .handle = handle_upload_complete,
        .location = "/v1/threads/{thread_id}/files/{name}",
        .summary = "Complete an upload and create the version of the file"},

    /* The Memoria façade. */
    {"POST", "/workflow/start", SCOPE_RUNS_WRITE, ROUTE_WRITE, ROUTE_SHOWS_NEW, 201,
        .body = &schema_workflow_start, .answer = &schema_workflow,
        .handle = handle_workflow_start,
        .location = "/v1/runs/{run_id}",
        .access = ACCESS_OWN,
        .summary = "Start a run of a new or an existing workflow"},
    {"POST", "/workflow/input/{workflow_id}", SCOPE_RUNS_WRITE, ROUTE_WRITE, 0, 200,
        .body = &schema_workflow_input, .answer = &schema_workflow,
        .handle = handle_workflow_input, .summary = "Answer the pending question of a workflow"},
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
    {"GET", "/workflow/{workflow_id}", SCOPE_RUNS_READ, ROUTE_READ, 0, 200,
        .answer = &schema_workflow, .handle = handle_workflow_get,
        .summary = "Read a workflow and its current run"},
    {"GET", "/workflow/ws/{workflow_id}", SCOPE_EVENTS_READ, ROUTE_WEBSOCKET, 0, 101,
        .query = &query_workflow_stream, .answer = &schema_workflow,
        .handle = handle_workflow_stream,
        .summary = "Stream past and new events of a workflow after a cursor over WebSocket"},
};
/* clang-format on */

const size_t route_count = COUNT_OF(routes);
