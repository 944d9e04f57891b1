/* SPDX-License-Identifier: Apache-2.0 */
#include "api/execution/run_fields.h"
#include "api/execution/run_path.h"
#include "api/handlers.h"
#include "model/agents/agents.h"
#include "model/execution/attempts.h"
#include "model/execution/run_phases.h"
#include "model/execution/runs.h"
#include "model/threads/participants.h"

#define OF struct run_usage
static const struct field usage_fields[] = {
    FIELD(INT, llm_calls, IN_READ),
    FIELD(INT, input_tokens, IN_READ, "input tokens neither written to a cache nor read from one"),
    FIELD(INT, output_tokens, IN_READ),
    FIELD(INT, cache_creation_input_tokens, IN_READ),
    FIELD(INT, cache_read_input_tokens, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cost_usd", cost_pico, has_cost, IN_READ,
        "cost of the calls that have a price; null if no call has a price"),
    FIELD(INT, unpriced_calls, IN_READ,
        "number of calls of models without a price; sums do not include their cost"),
};
#undef OF
const struct schema schema_run_usage = SCHEMA("RunUsage", struct run_usage, usage_fields, IN_READ);

/* The answer of a child of a run, such as the member of a team. */
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
#define OF struct member_response
static const struct field member_fields[] = {
    FIELD(UUID, run_id, IN_READ),
    FIELD(UUID_OR_NULL, agent_id, IN_READ),
    FIELD(STRING_OR_NULL, agent, IN_READ),
    FIELD(ENUM, status, IN_READ, .choices = run_statuses),
    FIELD(STRING_OR_NULL, content, IN_READ),
    FIELD(STRING_OR_NULL, content_type, IN_READ),
    FIELD(TIME, created_at, IN_READ),
};
#undef OF
static const struct schema schema_member_response =
    SCHEMA("MemberResponse", struct member_response, member_fields, IN_READ);

/* A run with the answers of its children. */
struct run_read {
    struct run run;
    struct nested_list members;
    bool has_more_members;
    bool more_members;
};
enum { MEMBERS_MAX = 200 };

enum { IN_AGENT_RUN = IN_SHOWN(0), IN_MEMBERS = IN_SHOWN(1) };
#define OF struct run
static const struct field run_fields[] = {
    FIELD_AS(UUID, "run_id", id, IN_AGENT_RUN, "the same as id"),
    FIELD(UUID, id, IN_READ),
    FIELD(ENUM, status, IN_BODY | IN_READ, .choices = run_statuses),
    FIELD(OBJECT_OR_NONE, state, IN_BODY | IN_READ,
        "checkpoint of the engine: phase, pending_input …", .max = RUN_DOCUMENT_MAX_BYTES,
        .hide_none = true),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY | IN_READ, .max = THREAD_METADATA_MAX_BYTES),
    FIELD(JSON_OR_NULL, final_output, IN_BODY | IN_READ, .max = RUN_DOCUMENT_MAX_BYTES,
        .hide_none = true),
    FIELD(OBJECT_OR_NULL, error, IN_BODY | IN_READ, .max = THREAD_METADATA_MAX_BYTES),
    FIELD(STRING_OR_NULL, model, IN_BODY | IN_READ, .min = 1, .max = RUN_MODEL_MAX_BYTES),
    FIELD(STRING_OR_NULL, provider, IN_BODY | IN_READ, .min = 1, .max = RUN_PROVIDER_MAX_BYTES),
    FIELD(STRING_OR_NULL, stop_reason, IN_BODY | IN_READ,
        "why the model stopped: end_turn, max_tokens …", .min = 1,
        .max = RUN_STOP_REASON_MAX_BYTES),
    FIELD(STRING_OR_NULL, content, IN_BODY | IN_READ, "answer text for people",
        .max = RUN_DOCUMENT_MAX_BYTES, .hide_none = true),
    FIELD(STRING_OR_NULL, content_type, IN_BODY | IN_READ, .min = 1,
        .max = RUN_CONTENT_TYPE_MAX_BYTES, .hide_none = true),
    FIELD(DOCUMENT_OR_NULL, citations, IN_BODY | IN_READ, .max = RUN_EXTRA_MAX_BYTES,
        .hide_none = true),
    FIELD(OBJECT_OR_NULL, metrics, IN_BODY | IN_READ, "measurements of the engine",
        .max = RUN_EXTRA_MAX_BYTES, .hide_none = true),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(UUID_OR_NULL, parent_run_id, IN_READ),
    FIELD(ENUM, dispatch, IN_READ, .choices = run_dispatches),
    FIELD(STRING_OR_NULL, agent, IN_READ, "agent name by which a worker claims the run"),
    FIELD(UUID_OR_NULL, agent_id, IN_READ),
    FIELD(STRING_OR_NULL, agent_version, IN_READ, "version of the agent's definition"),
    FIELD(ENUM, phase, IN_READ, "phase in the life cycle of an agent instance",
        .choices = run_phases),
    FIELD(UUID_OR_NULL, forked_from_run_id, IN_READ),
    FIELD(UUID_OR_NULL, forked_from_checkpoint_id, IN_READ),
    FIELD(INT, turn_count, IN_READ),
    FIELD(INT, step_count, IN_READ),
    RUN_SCHEDULE_FIELDS(IN_READ),
    FIELD(INT, attempt_count, IN_READ, "claims of the run, with the current one"),
    FIELD(INT, failed_attempts, IN_READ,
        "attempts that lost their lease or ended with an error; at max_attempts the run fails"),
    FIELD(
        TIME_OR_NULL, tool_deadline, IN_READ, "first deadline of the tools that the run waits for"),
    FIELD(UUID_OR_NULL, retry_of_run_id, IN_READ, "run that this run repeats"),
    FIELD(NESTED, usage, IN_READ, "usage of the run without its descendants",
        .nested = &schema_run_usage),
    FIELD(NESTED, total_usage, IN_READ, "usage of the run and its descendants",
        .nested = &schema_run_usage),
    FIELD(OBJECT_OR_NULL, request, IN_READ, "complete request that started the run",
        .hide_none = true),
    FIELD(STRING_OR_NULL, user_input, IN_READ, .hide_none = true),
    FIELD(BOOL, ask_clarifications, IN_READ),
    FIELD(
        JSON_OR_NULL, input, IN_READ, "latest answer to a question of the run", .hide_none = true),
    FIELD(STRING_OR_NULL, worker, IN_READ, "name of the worker that holds the lease"),
    FIELD(INT_OR_NULL, lease_ms, IN_READ),
    FIELD(INT, fence, IN_READ, "fencing token of the newest claim"),
    FIELD(TIME_OR_NULL, started_at, IN_READ),
    FIELD(TIME_OR_NULL, finished_at, IN_READ),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ),
    RUN_RESULT_FIELDS(result, IN_BODY, IN_READ),
    FIELD_OF(result, INT_OR_NULL, history_sequence, IN_READ,
        "number of the run in the history of the thread; not in lists", .hide_none = true),
#undef OF
#define OF struct run_read
    FIELD_AS(LIST, "member_responses", members, IN_MEMBERS, "answers of the children, oldest first",
        .nested = &schema_member_response, .hide_none = true),
    FIELD(BOOL_OR_NULL, more_members, IN_MEMBERS,
        "true if older answers are omitted: GET /v1/runs?parent_run_id= lists all children",
        .hide_none = true),
};
#undef OF
const struct schema schema_agent_run =
    SCHEMA("AgentRun", struct run, run_fields, IN_READ | IN_AGENT_RUN);
const struct schema schema_run = SCHEMA("Run", struct run, run_fields, IN_READ);
const struct schema schema_run_read =
    SCHEMA("RunWithMembers", struct run_read, run_fields, IN_READ | IN_MEMBERS);
const struct schema schema_run_body = SCHEMA("RunBody", struct run, run_fields, IN_BODY);

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
    bool has_message;
    bool message;
    struct run end;
    struct run_schedule schedule;
};
#define OF struct run_create
static const struct field run_create_fields[] = {
    FIELD(STRING_OR_NULL, user_input, IN_BODY, "message that triggers the run",
        .max = RUN_INPUT_MAX_BYTES),
    FIELD(BOOL_OR_NONE, ask_clarifications, IN_BODY),
    FIELD(ENUM_OR_NULL, policy, IN_BODY, "overrides the run_policy of the thread",
        .choices = thread_run_policies),
    FIELD(ENUM_OR_NONE, dispatch, IN_BODY,
        "queue (default: a worker claims the run) or direct (the caller executes the run)",
        .choices = run_dispatches),
    FIELD(UUID_OR_NULL, parent_run_id, IN_BODY),
    FIELD(STRING_OR_NULL, agent, IN_BODY,
        "agent name by which a worker claims the run; default: the name from agent_id or the "
        "thread",
        .min = 1, .max = THREAD_AGENT_MAX_BYTES),
    FIELD(UUID_OR_NULL, agent_id, IN_BODY, "agent that the run executes"),
    FIELD(STRING_OR_NULL, agent_version, IN_BODY, "only with agent_id; default: the active version",
        .min = 1, .max = RUN_AGENT_VERSION_MAX_BYTES),
    FIELD(STRING_OR_NULL, model, IN_BODY, .min = 1, .max = RUN_MODEL_MAX_BYTES),
    FIELD(STRING_OR_NULL, provider, IN_BODY, .min = 1, .max = RUN_PROVIDER_MAX_BYTES),
    FIELD(OBJECT_OR_NULL, request, IN_BODY,
        "complete request for the run: a message with attachments …", .max = RUN_EXTRA_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, state, IN_BODY, .max = RUN_DOCUMENT_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY, .max = THREAD_METADATA_MAX_BYTES),
    RUN_MESSAGE_FIELD(IN_BODY),
    RUN_END_FIELDS(end, IN_BODY),
    RUN_SCHEDULE_FIELDS(IN_BODY),
};
#undef OF
const struct schema schema_run_create =
    SCHEMA("RunCreate", struct run_create, run_create_fields, IN_BODY);

struct run_input_body {
    struct str input;
};
#define OF struct run_input_body
static const struct field run_input_fields[] = {
    FIELD(
        JSON, input, IN_BODY, "answer to the question, any JSON value", .max = RUN_INPUT_MAX_BYTES),
};
#undef OF
const struct schema schema_run_input =
    SCHEMA("RunInput", struct run_input_body, run_input_fields, IN_BODY);

struct claim_body {
    struct str worker;
    bool has_lease_ms;
    int64_t lease_ms;
    struct str agent;
    bool has_thread_id;
    struct uuid thread_id;
};
enum { IN_HEARTBEAT = IN_SENT(0) };
#define OF struct claim_body
static const struct field claim_fields[] = {
    FIELD(STRING, worker, IN_BODY, "display name of the worker", .min = 1,
        .max = RUN_WORKER_MAX_BYTES),
    FIELD(INT_OR_NONE, lease_ms, IN_BODY | IN_HEARTBEAT, "default: 30000", .min = RUN_LEASE_MIN_MS,
        .max = RUN_LEASE_MAX_MS),
    FIELD(STRING_OR_NULL, agent, IN_BODY, "only runs of this agent", .min = 1,
        .max = THREAD_AGENT_MAX_BYTES),
    FIELD(UUID_OR_NULL, thread_id, IN_BODY, "only runs of this thread"),
};
#undef OF
const struct schema schema_run_claim = SCHEMA("RunClaim", struct claim_body, claim_fields, IN_BODY);
const struct schema schema_run_heartbeat =
    SCHEMA("RunHeartbeat", struct claim_body, claim_fields, IN_HEARTBEAT);

struct release_body {
    struct str error;
};
#define OF struct release_body
static const struct field release_fields[] = {
    FIELD(OBJECT_OR_NULL, error, IN_BODY,
        "why the attempt failed: the run is queued again after its backoff, or fails if it has no "
        "further attempt; without an error the attempt does not count",
        .max = ATTEMPT_ERROR_MAX_BYTES),
};
#undef OF
const struct schema schema_run_release =
    SCHEMA("RunRelease", struct release_body, release_fields, IN_BODY);

struct claim_query {
    bool has_wait;
    int64_t wait;
};
#define OF struct claim_query
static const struct field claim_query_fields[] = {
    FIELD(
        INT_OR_NONE, wait, IN_QUERY, "seconds to wait if no run is queued", .max = CALL_MAX_WAIT_S),
};
#undef OF
const struct schema query_claim =
    SCHEMA("ClaimQuery", struct claim_query, claim_query_fields, IN_QUERY);

enum runs_include { INCLUDE_DOCUMENTS = INCLUDE_PART, INCLUDE_CONVERSATIONS };
static const char *const include_of_runs[] = {
    [INCLUDE_DOCUMENTS - 1] = "documents", [INCLUDE_CONVERSATIONS - 1] = "messages", NULL};

struct runs_query {
    struct page_query page;
    enum run_status status;
    enum phase phase;
    struct str agent;
    enum runs_include include;
    bool has_parent_run_id;
    struct uuid parent_run_id;
    bool has_agent_id;
    struct uuid agent_id;
    bool has_thread_id;
    struct uuid thread_id;
};
/* A list of one agent or one thread does not take it as a filter. */
enum { IN_BY_AGENT = IN_SENT(0), IN_BY_THREAD = IN_SENT(1) };
#define OF struct runs_query
static const struct field runs_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(ENUM_OR_NONE, status, IN_QUERY, .choices = run_statuses),
    FIELD(ENUM_OR_NONE, phase, IN_QUERY, .choices = run_phases),
    FIELD(STRING_OR_NONE, agent, IN_QUERY, .min = 1, .max = THREAD_AGENT_MAX_BYTES),
    FIELD(UUID_OR_NONE, parent_run_id, IN_QUERY, "only children of this run"),
    FIELD(ENUM_OR_NONE, include, IN_QUERY,
        "documents: include user_input, request, state, input, content, final_output …; messages: "
        "also include the stored conversation, files and extras of each run",
        .choices = include_of_runs),
    FIELD(UUID_OR_NONE, agent_id, IN_BY_AGENT),
    FIELD(UUID_OR_NONE, thread_id, IN_BY_THREAD),
};
#undef OF
const struct schema query_runs = SCHEMA(
    "RunsQuery", struct runs_query, runs_query_fields, IN_QUERY | IN_BY_AGENT | IN_BY_THREAD);
const struct schema query_thread_runs =
    SCHEMA("ThreadRunsQuery", struct runs_query, runs_query_fields, IN_QUERY | IN_BY_AGENT);
const struct schema query_agent_runs =
    SCHEMA("AgentRunsQuery", struct runs_query, runs_query_fields, IN_QUERY);

enum run_include { INCLUDE_MEMBERS = INCLUDE_PART, INCLUDE_MESSAGES };
static const char *const include_of_run[] = {
    [INCLUDE_MEMBERS - 1] = "member_responses", [INCLUDE_MESSAGES - 1] = "messages", NULL};

struct run_query {
    enum run_include include;
};
#define OF struct run_query
static const struct field run_query_fields[] = {
    FIELD(ENUM_OR_NONE, include, IN_QUERY,
        "member_responses: include the answers of the children; messages: include the stored "
        "conversation of the run",
        .choices = include_of_run),
};
#undef OF
const struct schema query_run_read =
    SCHEMA("RunQuery", struct run_query, run_query_fields, IN_QUERY);

static enum error answer(struct call *call, const struct run *run)
{
    return call_answer(call, &schema_run, run, run->version);
}

/* Answers a run that may have ended, with its result except the messages. */
static enum error answer_result(struct call *call, struct context *c, struct run *run)
{
    if (run_is_finished(run))
        TRY(run_result_read(c, run, false));
    return answer(call, run);
}

/* The body has another member that only a finished run can have. */
static bool has_end(const struct run *end)
{
    const struct str given[] = {end->final_output, end->error, end->stop_reason, end->content,
        end->content_type, end->citations, end->metrics};
    for (size_t i = 0; i < COUNT_OF(given); i++)
        if (!str_is_none(given[i]))
            return true;
    return end->status != RUN_STATUS_NONE || run_result_is_given(&end->result);
}

enum error run_start_or_record(struct context *c, struct uuid thread_id, enum run_policy policy,
    struct run *run, const struct run *end)
{
    run->result.has_lifecycle_steps = end->result.has_lifecycle_steps;
    run->result.lifecycle_steps = end->result.lifecycle_steps;
    if (!has_end(end))
        return run_start(c, thread_id, policy, run);
    TRY(run_record(c, thread_id, policy, run, end));
    return run_result_read(c, run, false);
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
        .metadata = body->metadata,
        .schedule = body->schedule,
        .adds_message = body->has_message ? body->message : !body->has_parent_run_id};
    TRY(run_start_or_record(c, call->request.params[0], body->policy, &run, &body->end));
    return answer(call, &run);
}

static enum error answer_list(struct call *call, struct context *c, struct run_filter *filter)
{
    const struct runs_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct run *runs = ARENA_ARRAY(call->arena, struct run, page.limit);
    filter->status = q->status;
    filter->phase = q->phase;
    filter->agent = q->agent;
    filter->has_parent_run_id = q->has_parent_run_id;
    filter->parent_run_id = q->parent_run_id;
    filter->with_documents = q->include != (enum runs_include)INCLUDE_NONE;
    TRY(cursor_to_uuid(call, q->page.cursor, &filter->has_before, &filter->before));
    TRY(run_list(c, filter, &page, runs));
    if (q->include == INCLUDE_CONVERSATIONS)
        TRY(run_result_read_page(c, &page, runs));
    return call_answer_page(call, &schema_run, runs, &page, CURSOR_BY(struct run, id));
}

/* An agent lists only its own runs. No run has an agent with the nil id. */
static void limit_to_own(const struct context *c, struct run_filter *filter)
{
    struct uuid own;
    if (!principal_agent(c->principal, &own))
        return;
    bool asks_others = filter->has_agent_id && !uuid_eq(filter->agent_id, own);
    filter->has_agent_id = true;
    filter->agent_id = asks_others ? UUID_NIL : own;
}

enum error handle_run_list(struct call *call, struct context *c)
{
    const struct runs_query *q = call->request.query;
    struct run_filter filter = {.has_thread_id = q->has_thread_id,
        .thread_id = q->thread_id,
        .has_agent_id = q->has_agent_id,
        .agent_id = q->agent_id};
    limit_to_own(c, &filter);
    return answer_list(call, c, &filter);
}

enum error handle_agent_run_list(struct call *call, struct context *c)
{
    struct agent agent;
    struct run_filter filter = {.has_agent_id = true, .agent_id = call->request.params[0]};
    TRY(agent_get(c, call->request.params[0], &agent));
    return answer_list(call, c, &filter);
}

enum error handle_thread_run_list(struct call *call, struct context *c)
{
    struct thread thread;
    const struct runs_query *q = call->request.query;
    struct run_filter filter = {.has_thread_id = true,
        .thread_id = call->request.params[0],
        .has_agent_id = q->has_agent_id,
        .agent_id = q->agent_id};
    TRY(thread_get_head(c, call->request.params[0], &thread));
    return answer_list(call, c, &filter);
}

/* Reads the run of the path, applies one verb to the run, and answers with it. */
static enum error with_run(struct call *call, struct context *c,
    enum error (*verb)(struct call *call, struct context *c, struct run *run))
{
    struct run run;
    TRY(run_path_get_whole(call, c, &run));
    TRY(verb(call, c, &run));
    return answer_result(call, c, &run);
}

static enum error patch(struct call *call, struct context *c, struct run *run)
{
    struct run before = *run;
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, run));
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
    const struct release_body *body = call->request.input;
    return run_release(c, run, body->error);
}

/* Reads the newest children, up to the maximum size of a page. */
static enum error read_members(struct call *call, struct context *c, struct run_read *read)
{
    struct run *runs = ARENA_ARRAY(call->arena, struct run, MEMBERS_MAX);
    const struct run_filter filter = {
        .has_parent_run_id = true, .parent_run_id = read->run.id, .with_documents = true};
    struct page page = {.limit = MEMBERS_MAX};
    TRY(run_list(c, &filter, &page, runs));
    size_t count = page.count;
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
    read->more_members = page.more;
    return OK;
}

enum error handle_run_get(struct call *call, struct context *c)
{
    const struct run_query *q = call->request.query;
    struct run_read read = {0};
    TRY(run_path_get_whole(call, c, &read.run));
    TRY(run_result_read(c, &read.run, q->include == INCLUDE_MESSAGES));
    if (q->include == INCLUDE_MEMBERS)
        TRY(read_members(call, c, &read));
    /* The version covers neither the answers of the children nor the messages. */
    bool is_covered = q->include == (enum run_include)INCLUDE_NONE;
    return call_answer(call, &schema_run_read, &read, is_covered ? read.run.version : 0);
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
    claim.has_agent_id = principal_agent(c->principal, &claim.agent_id);
    TRY(run_claim(c, &claim, &run, &found));
    if (found)
        answer(call, &run);
    if (!found) {
        call->answer.may_wait = true;
        TRY(run_next_due(c, &call->answer.wake_in_us));
        call_answer_nothing(call);
    }
    return OK;
}
