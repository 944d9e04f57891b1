/* SPDX-License-Identifier: Apache-2.0 */
#include "api/execution/run_path.h"
#include "api/resources.h"
#include "model/agents/agents.h"
#include "model/execution/run_phases.h"
#include "model/execution/runs.h"

#define RUN_FIELD(member) offsetof(struct run, member)

#define USAGE_FIELD(member) offsetof(struct run_usage, member)
static const struct field usage_fields[] = {
    {.name = "llm_calls", .kind = FIELD_INT, .offset = USAGE_FIELD(llm_calls)},
    {.name = "input_tokens",
        .kind = FIELD_INT,
        .offset = USAGE_FIELD(input_tokens),
        .summary = "neither written to a cache nor read from one"},
    {.name = "output_tokens", .kind = FIELD_INT, .offset = USAGE_FIELD(output_tokens)},
    {.name = "cache_creation_input_tokens",
        .kind = FIELD_INT,
        .offset = USAGE_FIELD(cache_creation_input_tokens)},
    {.name = "cache_read_input_tokens",
        .kind = FIELD_INT,
        .offset = USAGE_FIELD(cache_read_input_tokens)},
    {.name = "cost_usd",
        .kind = FIELD_MONEY,
        .flags = FIELD_NULLABLE,
        .offset = USAGE_FIELD(cost_pico),
        .has_offset = USAGE_FIELD(has_cost),
        .summary = "of the calls that have a price; null when none of them has one"},
    {.name = "unpriced_calls",
        .kind = FIELD_INT,
        .offset = USAGE_FIELD(unpriced_calls),
        .summary = "calls of models without a price: their cost is in no sum"},
};
const struct schema schema_run_usage = {
    "RunUsage", usage_fields, COUNT_OF(usage_fields), sizeof(struct run_usage), 0};

/* Parts of one table: Run is without the first row, which is the id by another platform's name, and
 * RunBody is what an engine may change, which follows the id. */
enum { RUN_BODY_FIELDS = 12 };

/* A child of a run, to who reads the run: what the member of a team answered. */
struct member_response {
    struct uuid run_id;
    bool has_agent_id;
    struct uuid agent_id;
    struct str agent;
    enum run_status status;
    struct str content;
    struct str content_type;
    int64_t created_at;
};
#define MEMBER_FIELD(member) offsetof(struct member_response, member)
static const struct field member_fields[] = {
    {.name = "run_id", .kind = FIELD_UUID, .offset = MEMBER_FIELD(run_id)},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = MEMBER_FIELD(agent_id),
        .has_offset = MEMBER_FIELD(has_agent_id)},
    {.name = "agent", .kind = FIELD_STRING, .flags = FIELD_NULLABLE, .offset = MEMBER_FIELD(agent)},
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = MEMBER_FIELD(status),
        .choices = run_statuses,
        .stores_enum = true},
    {.name = "content",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = MEMBER_FIELD(content)},
    {.name = "content_type",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = MEMBER_FIELD(content_type)},
    {.name = "created_at", .kind = FIELD_TIME, .offset = MEMBER_FIELD(created_at)},
};
static const struct schema schema_member_response = {
    "MemberResponse", member_fields, COUNT_OF(member_fields), sizeof(struct member_response), 0};

/* A run with what its children answered. */
struct run_read {
    struct run run;
    struct nested_list members;
    bool has_more_members;
    bool more_members;
};
enum { MEMBERS_MAX = 200 };

static const struct field run_fields[] = {
    {.name = "run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(id),
        .summary = "the same as id"},
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = RUN_FIELD(id)},
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = RUN_FIELD(status),
        .choices = run_statuses,
        .stores_enum = true},
    {.name = "state",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(state),
        .max = RUN_DOCUMENT_MAX_BYTES,
        .summary = "the engine's checkpoint: phase, pending_input …"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = RUN_FIELD(metadata),
        .max = THREAD_METADATA_MAX_BYTES},
    {.name = "final_output",
        .kind = FIELD_JSON,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(final_output),
        .max = RUN_DOCUMENT_MAX_BYTES},
    {.name = "error",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = RUN_FIELD(error),
        .max = THREAD_METADATA_MAX_BYTES},
    {.name = "model",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = RUN_FIELD(model),
        .min = 1,
        .max = RUN_MODEL_MAX_BYTES},
    {.name = "provider",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = RUN_FIELD(provider),
        .min = 1,
        .max = RUN_PROVIDER_MAX_BYTES},
    {.name = "stop_reason",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = RUN_FIELD(stop_reason),
        .min = 1,
        .max = RUN_STOP_REASON_MAX_BYTES,
        .summary = "why the model stopped: end_turn, max_tokens …"},
    {.name = "content",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(content),
        .max = RUN_DOCUMENT_MAX_BYTES,
        .summary = "what the run answered, for people"},
    {.name = "content_type",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(content_type),
        .min = 1,
        .max = RUN_CONTENT_TYPE_MAX_BYTES},
    {.name = "citations",
        .kind = FIELD_DOCUMENT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(citations),
        .max = RUN_EXTRA_MAX_BYTES},
    {.name = "metrics",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(metrics),
        .max = RUN_EXTRA_MAX_BYTES,
        .summary = "what the engine measured"},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(thread_id)},
    {.name = "parent_run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(parent_run_id),
        .has_offset = RUN_FIELD(has_parent_run_id)},
    {.name = "dispatch",
        .kind = FIELD_ENUM,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(dispatch),
        .choices = run_dispatches,
        .stores_enum = true},
    {.name = "agent",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(agent),
        .summary = "the name to claim it by"},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(agent_id),
        .has_offset = RUN_FIELD(has_agent_id)},
    {.name = "agent_version",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(agent_version),
        .summary = "of the agent's definition"},
    {.name = "phase",
        .kind = FIELD_ENUM,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(phase),
        .choices = run_phases,
        .stores_enum = true,
        .summary = "where it is in the life of an agent's instance"},
    {.name = "forked_from_run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(forked_from_run_id),
        .has_offset = RUN_FIELD(has_forked_from_run_id)},
    {.name = "forked_from_checkpoint_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(forked_from_checkpoint_id),
        .has_offset = RUN_FIELD(has_forked_from_checkpoint_id)},
    {.name = "turn_count",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(turn_count)},
    {.name = "step_count",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(step_count)},
    {.name = "usage",
        .kind = FIELD_NESTED,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(usage),
        .nested = &schema_run_usage,
        .summary = "of the run itself"},
    {.name = "total_usage",
        .kind = FIELD_NESTED,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(total_usage),
        .nested = &schema_run_usage,
        .summary = "of the run and its descendants"},
    {.name = "request",
        .kind = FIELD_OBJECT,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(request),
        .summary = "what asked for the run, whole"},
    {.name = "user_input",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(user_input)},
    {.name = "ask_clarifications",
        .kind = FIELD_BOOL,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(ask_clarifications)},
    {.name = "input",
        .kind = FIELD_JSON,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = RUN_FIELD(input),
        .summary = "the newest answer to a question of the run"},
    {.name = "worker",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(worker),
        .summary = "who holds the lease"},
    {.name = "lease_ms",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(lease_ms),
        .has_offset = RUN_FIELD(has_lease_ms)},
    {.name = "fence",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(fence),
        .summary = "the fencing token of the newest claim"},
    {.name = "started_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(started_at),
        .has_offset = RUN_FIELD(has_started_at)},
    {.name = "finished_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = RUN_FIELD(finished_at),
        .has_offset = RUN_FIELD(has_finished_at)},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = RUN_FIELD(updated_at)},
    {.name = "version", .kind = FIELD_INT, .flags = FIELD_READ_ONLY, .offset = RUN_FIELD(version)},
    {.name = "member_responses",
        .kind = FIELD_NESTED_LIST,
        .flags = FIELD_READ_ONLY | FIELD_HIDE_NONE,
        .offset = offsetof(struct run_read, members),
        .nested = &schema_member_response,
        .summary = "what its children answered, oldest first"},
    {.name = "more_members",
        .kind = FIELD_BOOL,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = offsetof(struct run_read, more_members),
        .has_offset = offsetof(struct run_read, has_more_members),
        .summary = "older ones are left out: GET /v1/runs?parent_run_id= has them all"},
};
/* What one run is read with stands at the end. */
enum { RUN_READ_FIELDS = 2 };
const struct schema schema_agent_run = {
    "AgentRun", run_fields, COUNT_OF(run_fields) - RUN_READ_FIELDS, sizeof(struct run), 0};
const struct schema schema_run = {
    "Run", &run_fields[1], COUNT_OF(run_fields) - 1 - RUN_READ_FIELDS, sizeof(struct run), 0};
const struct schema schema_run_read = {
    "RunWithMembers", &run_fields[1], COUNT_OF(run_fields) - 1, sizeof(struct run_read), 0};
const struct schema schema_run_body = {
    "RunBody", &run_fields[2], RUN_BODY_FIELDS, sizeof(struct run), 0};

struct run_create {
    bool has_parent_run_id;
    struct uuid parent_run_id;
    enum run_policy policy;
    enum run_dispatch dispatch;
    struct str agent;
    bool has_agent_id;
    struct uuid agent_id;
    struct str agent_version;
    struct str model;
    struct str provider;
    struct str request;
    struct str user_input;
    bool has_ask_clarifications;
    bool ask_clarifications;
    struct str state;
    struct str metadata;
};
#define CREATE_FIELD(member) offsetof(struct run_create, member)
static const struct field run_create_fields[] = {
    {.name = "user_input",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(user_input),
        .max = RUN_INPUT_MAX_BYTES,
        .summary = "the message that triggers the run"},
    {.name = "ask_clarifications",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = CREATE_FIELD(ask_clarifications),
        .has_offset = CREATE_FIELD(has_ask_clarifications)},
    {.name = "policy",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(policy),
        .choices = thread_run_policies,
        .stores_enum = true,
        .summary = "instead of the thread's run_policy"},
    {.name = "dispatch",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = CREATE_FIELD(dispatch),
        .choices = run_dispatches,
        .stores_enum = true,
        .summary = "queue (a worker claims it; the default) or direct (the caller works on it)"},
    {.name = "parent_run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(parent_run_id),
        .has_offset = CREATE_FIELD(has_parent_run_id)},
    {.name = "agent",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(agent),
        .min = 1,
        .max = THREAD_AGENT_MAX_BYTES,
        .summary = "the name to claim it by; when absent the agent's or the thread's"},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(agent_id),
        .has_offset = CREATE_FIELD(has_agent_id),
        .summary = "the agent that the run is of"},
    {.name = "agent_version",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(agent_version),
        .min = 1,
        .max = RUN_AGENT_VERSION_MAX_BYTES,
        .summary = "with agent_id: the active one when absent"},
    {.name = "model",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(model),
        .min = 1,
        .max = RUN_MODEL_MAX_BYTES},
    {.name = "provider",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(provider),
        .min = 1,
        .max = RUN_PROVIDER_MAX_BYTES},
    {.name = "request",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = CREATE_FIELD(request),
        .max = RUN_EXTRA_MAX_BYTES,
        .summary = "what asks for the run, whole: a message with attachments …"},
    {.name = "state",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = CREATE_FIELD(state),
        .max = RUN_DOCUMENT_MAX_BYTES},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = CREATE_FIELD(metadata),
        .max = THREAD_METADATA_MAX_BYTES},
};
const struct schema schema_run_create = {
    "RunCreate", run_create_fields, COUNT_OF(run_create_fields), sizeof(struct run_create), 0};

struct run_input_body {
    struct str input;
};
static const struct field run_input_fields[] = {
    {.name = "input",
        .kind = FIELD_JSON,
        .offset = offsetof(struct run_input_body, input),
        .max = RUN_INPUT_MAX_BYTES,
        .summary = "any JSON value: the answer to the question"},
};
const struct schema schema_run_input = {
    "RunInput", run_input_fields, 1, sizeof(struct run_input_body), 0};

struct claim_body {
    struct str worker;
    bool has_lease_ms;
    int64_t lease_ms;
    struct str agent;
    bool has_thread_id;
    struct uuid thread_id;
};
static const struct field claim_fields[] = {
    {.name = "worker",
        .kind = FIELD_STRING,
        .offset = offsetof(struct claim_body, worker),
        .min = 1,
        .max = RUN_WORKER_MAX_BYTES,
        .summary = "a name for people to read"},
    {.name = "lease_ms",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct claim_body, lease_ms),
        .has_offset = offsetof(struct claim_body, has_lease_ms),
        .min = RUN_LEASE_MIN_MS,
        .max = RUN_LEASE_MAX_MS,
        .summary = "30000 unless told"},
    {.name = "agent",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct claim_body, agent),
        .min = 1,
        .max = THREAD_AGENT_MAX_BYTES,
        .summary = "only runs of this agent"},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct claim_body, thread_id),
        .has_offset = offsetof(struct claim_body, has_thread_id),
        .summary = "only runs of this thread"},
};
const struct schema schema_run_claim = {
    "RunClaim", claim_fields, COUNT_OF(claim_fields), sizeof(struct claim_body), 0};
/* A heartbeat names the new length alone. */
const struct schema schema_run_heartbeat = {
    "RunHeartbeat", &claim_fields[1], 1, sizeof(struct claim_body), 0};

static const struct field claim_query_fields[] = {
    {.name = "wait",
        .kind = FIELD_INT,
        .offset = offsetof(struct claim_query, wait),
        .has_offset = offsetof(struct claim_query, has_wait),
        .min = 0,
        .max = CALL_MAX_WAIT_S,
        .summary = "seconds to wait for a run when there is none"},
};
const struct schema query_claim = {
    "ClaimQuery", claim_query_fields, 1, sizeof(struct claim_query), 0};

static const char *const includes[] = {"documents", NULL};

struct runs_query {
    struct page_query page;
    enum run_status status;
    struct str agent;
    struct str include;
    bool has_parent_run_id;
    struct uuid parent_run_id;
    bool has_agent_id;
    struct uuid agent_id;
    bool has_thread_id;
    struct uuid thread_id;
};
#define QUERY_FIELD(member) offsetof(struct runs_query, member)
static const struct field runs_query_fields[] = {
    PAGE_FIELDS(struct runs_query),
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(status),
        .choices = run_statuses,
        .stores_enum = true},
    {.name = "agent",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(agent),
        .min = 1,
        .max = THREAD_AGENT_MAX_BYTES},
    {.name = "parent_run_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(parent_run_id),
        .has_offset = QUERY_FIELD(has_parent_run_id),
        .summary = "the children of this run"},
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(include),
        .choices = includes,
        .summary = "documents: user_input, request, state, input, content, final_output … too"},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(agent_id),
        .has_offset = QUERY_FIELD(has_agent_id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(thread_id),
        .has_offset = QUERY_FIELD(has_thread_id)},
};
const struct schema query_runs = {
    "RunsQuery", runs_query_fields, COUNT_OF(runs_query_fields), sizeof(struct runs_query), 0};
/* The thread is in the path. */
const struct schema query_thread_runs = {"ThreadRunsQuery", runs_query_fields,
    COUNT_OF(runs_query_fields) - 1, sizeof(struct runs_query), 0};
/* The agent is. */
const struct schema query_agent_runs = {"AgentRunsQuery", runs_query_fields,
    COUNT_OF(runs_query_fields) - 2, sizeof(struct runs_query), 0};

struct run_query {
    struct str include;
};
static const char *const run_includes[] = {"member_responses", NULL};
static const struct field run_query_fields[] = {
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct run_query, include),
        .choices = run_includes,
        .summary = "member_responses: what its children answered too"},
};
const struct schema query_run_read = {"RunQuery", run_query_fields, 1, sizeof(struct run_query), 0};

static void answer(struct call *call, const struct run *run)
{
    call_answer(call, &schema_run, run, run->version);
}

enum error handle_run_start(struct call *call, struct context *c)
{
    const struct run_create *body = call->request.input;
    struct run run = {.has_parent_run_id = body->has_parent_run_id,
        .parent_run_id = body->parent_run_id,
        .dispatch = body->dispatch,
        .agent = body->agent,
        .has_agent_id = body->has_agent_id,
        .agent_id = body->agent_id,
        .agent_version = body->agent_version,
        .model = body->model,
        .provider = body->provider,
        .request = body->request,
        .user_input = body->user_input,
        .ask_clarifications = body->ask_clarifications,
        .state = body->state,
        .metadata = body->metadata};
    enum error e = run_start(c, call->request.params[0], body->policy, &run);
    if (e == OK)
        answer(call, &run);
    return e;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct run *)item)->id);
}

static enum error answer_list(struct call *call, struct context *c, struct run_filter *filter)
{
    const struct runs_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct run *runs = ARENA_ARRAY(call->arena, struct run, limit);
    bool more;
    filter->status = q->status;
    filter->agent = q->agent;
    filter->has_parent_run_id = q->has_parent_run_id;
    filter->parent_run_id = q->parent_run_id;
    filter->with_documents = !str_is_none(q->include);
    enum error e = cursor_to_uuid(call, q->page.cursor, &filter->has_before, &filter->before);
    if (e == OK)
        e = run_list(c, filter, limit, runs, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_run, runs, count, more, cursor_of);
    return e;
}

enum error handle_run_list(struct call *call, struct context *c)
{
    const struct runs_query *q = call->request.query;
    struct run_filter filter = {.has_thread_id = q->has_thread_id,
        .thread_id = q->thread_id,
        .has_agent_id = q->has_agent_id,
        .agent_id = q->agent_id};
    return answer_list(call, c, &filter);
}

enum error handle_agent_run_list(struct call *call, struct context *c)
{
    struct agent agent;
    struct run_filter filter = {.has_agent_id = true, .agent_id = call->request.params[0]};
    enum error e = agent_get(c, call->request.params[0], &agent);
    return e == OK ? answer_list(call, c, &filter) : e;
}

enum error handle_thread_run_list(struct call *call, struct context *c)
{
    struct thread thread;
    const struct runs_query *q = call->request.query;
    struct run_filter filter = {.has_thread_id = true,
        .thread_id = call->request.params[0],
        .has_agent_id = q->has_agent_id,
        .agent_id = q->agent_id};
    enum error e = thread_get_head(c, call->request.params[0], &thread);
    return e == OK ? answer_list(call, c, &filter) : e;
}

/* Reads the run of the path, applies one verb to it, and answers it. */
static enum error with_run(struct call *call, struct context *c,
    enum error (*verb)(struct call *call, struct context *c, struct run *run))
{
    struct run run;
    enum error e = call_run_whole(call, c, &run);
    if (e == OK)
        e = verb(call, c, &run);
    if (e == OK)
        answer(call, &run);
    return e;
}

static enum error patch(struct call *call, struct context *c, struct run *run)
{
    struct run before = *run;
    enum error e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, run);
    if (e != OK)
        return e;
    if (str_is_none(run->state))
        run->state = STR("{}");
    if (str_is_none(run->metadata))
        run->metadata = STR("{}");
    return run_update(c, &before, run);
}

static enum error input(struct call *call, struct context *c, struct run *run)
{
    const struct run_input_body *body = call->request.input;
    return run_input(c, run, body->input);
}

static enum error pause_run(struct call *call, struct context *c, struct run *run)
{
    return run_pause(c, run);
}

static enum error resume_run(struct call *call, struct context *c, struct run *run)
{
    return run_resume(c, run);
}

static enum error cancel_run(struct call *call, struct context *c, struct run *run)
{
    return run_cancel(c, run, *(const struct str *)call->request.input);
}

static int64_t lease_of(const struct claim_body *body)
{
    return body->has_lease_ms ? body->lease_ms : RUN_LEASE_DEFAULT_MS;
}

static enum error heartbeat(struct call *call, struct context *c, struct run *run)
{
    const struct claim_body *body = call->request.input;
    return run_heartbeat(c, run, body->has_lease_ms ? body->lease_ms : 0);
}

static enum error release(struct call *call, struct context *c, struct run *run)
{
    return run_release(c, run);
}

/* The newest children, as long as they are not too large together. */
static enum error read_members(struct call *call, struct context *c, struct run_read *read)
{
    struct run *runs = ARENA_ARRAY(call->arena, struct run, MEMBERS_MAX);
    const struct run_filter filter = {
        .has_parent_run_id = true, .parent_run_id = read->run.id, .with_documents = true};
    size_t count;
    enum error e = run_list(c, &filter, MEMBERS_MAX, runs, &count, &read->more_members);
    if (e != OK)
        return e;
    struct member_response *members = ARENA_ARRAY(call->arena, struct member_response, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &runs[count - 1 - i];
        members[i] = (struct member_response){.run_id = run->id,
            .has_agent_id = run->has_agent_id,
            .agent_id = run->agent_id,
            .agent = run->agent,
            .status = run->status,
            .content = run->content,
            .content_type = run->content_type,
            .created_at = run->created_at};
    }
    read->members = (struct nested_list){members, count};
    read->has_more_members = true;
    return OK;
}

enum error handle_run_get(struct call *call, struct context *c)
{
    const struct run_query *q = call->request.query;
    struct run_read read = {0};
    enum error e = call_run_whole(call, c, &read.run);
    if (e == OK && !str_is_none(q->include))
        e = read_members(call, c, &read);
    /* The version is the run's alone. */
    if (e == OK)
        call_answer(call, &schema_run_read, &read, read.has_more_members ? 0 : read.run.version);
    return e;
}

enum error handle_run_patch(struct call *call, struct context *c)
{
    return with_run(call, c, patch);
}

enum error handle_run_input(struct call *call, struct context *c)
{
    return with_run(call, c, input);
}

enum error handle_run_pause(struct call *call, struct context *c)
{
    return with_run(call, c, pause_run);
}

enum error handle_run_resume(struct call *call, struct context *c)
{
    return with_run(call, c, resume_run);
}

enum error handle_run_cancel(struct call *call, struct context *c)
{
    return with_run(call, c, cancel_run);
}

enum error handle_run_heartbeat(struct call *call, struct context *c)
{
    return with_run(call, c, heartbeat);
}

enum error handle_run_release(struct call *call, struct context *c)
{
    return with_run(call, c, release);
}

enum error handle_run_claim(struct call *call, struct context *c)
{
    const struct claim_body *body = call->request.input;
    struct run_claim claim = {.worker = body->worker,
        .lease_ms = lease_of(body),
        .agent = body->agent,
        .has_thread_id = body->has_thread_id,
        .thread_id = body->thread_id};
    struct run run;
    bool found;
    enum error e = run_claim(c, &claim, &run, &found);
    if (e == OK && found)
        answer(call, &run);
    if (e == OK && !found) {
        call->answer.may_wait = true;
        call_answer_nothing(call);
    }
    return e;
}
