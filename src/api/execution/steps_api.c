/* SPDX-License-Identifier: Apache-2.0 */
#include "api/execution/steps_api.h"

#include "api/execution/run_path.h"
#include "api/handlers.h"
#include "model/checkpoints/snapshots.h"
#include "model/threads/events.h"

#define OF struct step_usage
static const struct field usage_fields[] = {
    FIELD(INT_OR_NULL, input_tokens, IN_BODY, .max = STEP_COUNT_MAX, .hide_none = true),
    FIELD(INT_OR_NULL, output_tokens, IN_BODY, .max = STEP_COUNT_MAX, .hide_none = true),
    FIELD(INT_OR_NULL, cache_creation_input_tokens, IN_BODY, .max = STEP_COUNT_MAX,
        .hide_none = true),
    FIELD(INT_OR_NULL, cache_read_input_tokens, IN_BODY, .max = STEP_COUNT_MAX, .hide_none = true),
};
#undef OF
static const struct schema schema_step_usage =
    SCHEMA("StepUsage", struct step_usage, usage_fields, IN_BODY);

/* A line of a log may name its run, which must be this one. Its id in the log is not stored. */
struct step_input {
    struct step step; /* the first member: rows of a step and of the input share a table */
    bool has_log_id;
    int64_t log_id;
    bool has_run_id;
    struct uuid run_id;
    bool has_agent_uuid;
    struct uuid agent_uuid;
    struct nested_list steps; /* of the batch form only */
};

static const struct schema schema_step_input;
#define OF struct step_input
static const struct field step_fields[] = {
    FIELD(LIST_OR_NONE, steps, IN_BATCH,
        "list of steps instead of one step; either all steps are appended or none", .min = 1,
        .max = STEP_BATCH_MAX, .nested = &schema_step_input),
    FIELD(INT_OR_NULL, log_id, IN_BODY,
        "id in an existing log; ignored, since Cairn assigns a new id"),
    FIELD(UUID_OR_NULL, run_id, IN_BODY, "run id in an existing log; must be this run"),
    FIELD(UUID_OR_NULL, agent_uuid, IN_BODY,
        "agent_uuid in an existing log; must be the thread or the agent of the run"),
#undef OF
#define OF struct step
    FIELD(STRING_OR_NONE, action_type, IN_BODY | IN_READ,
        "run_started, tool_execution …, or an application type that contains a dot", .min = 1,
        .max = EVENT_KIND_MAX_BYTES),
    FIELD_AS(TIME_OR_NULL, "timestamp", at, IN_BODY | IN_READ, "time of the step; default: now"),
    FIELD(INT_OR_NULL, step_number, IN_BODY | IN_READ,
        "0 before the loop, then the number of the iteration", .max = STEP_NUMBER_MAX),
    FIELD(OBJECT_OR_NONE, action_data, IN_BODY | IN_READ, .max = STEP_DATA_MAX_BYTES),
    FIELD(ARRAY_OR_NULL, messages_snapshot, IN_BODY | IN_READ,
        "messages at this point; only new messages are stored", .max = SNAPSHOT_MAX_BYTES - 64,
        .items = "object", .hide_none = true),
    FIELD(INT_OR_NULL, messages_count, IN_BODY | IN_READ,
        "default: the number of messages in messages_snapshot", .max = STEP_COUNT_MAX),
    FIELD(INT_OR_NULL, estimated_tokens, IN_BODY | IN_READ, .max = STEP_COUNT_MAX),
    FIELD(INT_OR_NULL, duration_ms, IN_BODY | IN_READ, .max = STEP_DURATION_MAX_MS),
    FIELD(UUID_OR_NULL, turn_id, IN_BODY | IN_READ, "turn of this run to which the step belongs"),
    FIELD(STRING_OR_NULL, tool_name, IN_BODY | IN_READ,
        "tool_execution and tool_error may also give the name in action_data", .min = 1,
        .max = STEP_NAME_MAX_BYTES),
    FIELD(STRING_OR_NULL, tool_use_id, IN_BODY | IN_READ, .min = 1, .max = STEP_NAME_MAX_BYTES),
    FIELD(ENUM_OR_NULL, outcome, IN_BODY | IN_READ,
        "default: derived from the type and action_data, for types with an outcome",
        .choices = step_outcomes),
    FIELD(STRING_OR_NULL, model, IN_BODY | IN_READ,
        "called model; may also be given in action_data", .min = 1, .max = STEP_NAME_MAX_BYTES),
    FIELD(STRING_OR_NULL, provider, IN_BODY | IN_READ, .min = 1, .max = STEP_NAME_MAX_BYTES),
    FIELD(NESTED_OR_NULL, usage, IN_BODY | IN_READ,
        "tokens of the call, added to the usage of the run; may also be given in action_data",
        .nested = &schema_step_usage, .hide_none = true),
    FIELD(INT, log_id, IN_READ, "unique; increases, with gaps"),
    FIELD(UUID, run_id, IN_READ),
    FIELD(INT, number, IN_READ, "1, 2, 3 within the run, without gaps"),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(UUID_OR_NULL, agent_id, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cost_usd", cost_pico, has_cost, IN_READ,
        "cost of the call; null if the model has no price"),
    FIELD(INT_OR_NULL, price_version, IN_READ),
    FIELD(BOOL, lifecycle, IN_READ,
        "true for the steps that Cairn writes about a run's start and end"),
    FIELD(TIME, created_at, IN_READ),
};
#undef OF
const struct schema schema_step = SCHEMA("Step", struct step, step_fields, IN_READ);
static const struct schema schema_step_input =
    SCHEMA("StepInput", struct step_input, step_fields, IN_BODY);
const struct schema schema_step_append =
    SCHEMA("StepAppend", struct step_input, step_fields, IN_BODY | IN_BATCH);

/* --- Append -------------------------------------------------------------------------------- */

#define OF struct step
static const struct field ref_fields[] = {
    FIELD(INT, number, IN_READ),
    FIELD(INT, log_id, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cost_usd", cost_pico, has_cost, IN_READ,
        "cost of the call, if the model has a price", .hide_none = true),
    FIELD(INT_OR_NULL, price_version, IN_READ, .hide_none = true),
};
#undef OF
const struct schema schema_step_ref = SCHEMA("StepRef", struct step, ref_fields, IN_READ);

struct appended {
    int64_t count;
    int64_t first;
    int64_t last;
    struct nested_list steps;
};
#define OF struct appended
static const struct field appended_fields[] = {
    FIELD(INT, count, IN_READ),
    FIELD(INT, first, IN_READ, "number of the first step"),
    FIELD(INT, last, IN_READ),
    FIELD(LIST, steps, IN_READ, .nested = &schema_step_ref),
};
#undef OF
const struct schema schema_steps_appended =
    SCHEMA("StepsAppended", struct appended, appended_fields, IN_READ);

/* A body with a list has no other members. */
static enum error check_form(struct call *call, const struct step_input *body)
{
    if (body->steps.count == 0 || !call_gives_others(call, "steps"))
        return OK;
    return problem_fault(
        &call->problem, STR("/steps"), "must be the only member: send one step or a list of steps");
}

static enum error check_place(
    struct call *call, const struct step_input *input, const struct run *run, struct str at)
{
    if (input->has_run_id && !uuid_eq(input->run_id, run->id))
        return problem_fault(&call->problem, arena_printf(call->arena, "%.*s/run_id", STR_ARG(at)),
            "must be the run in the path");
    if (!input->has_agent_uuid || uuid_eq(input->agent_uuid, run->thread_id))
        return OK;
    if (run->has_agent_id && uuid_eq(input->agent_uuid, run->agent_id))
        return OK;
    return problem_fault(&call->problem, arena_printf(call->arena, "%.*s/agent_uuid", STR_ARG(at)),
        "must be the thread or the agent of the run");
}

enum error handle_step_append(struct call *call, struct context *c)
{
    const struct step_input *body = call->request.input;
    bool batch = body->steps.count > 0;
    const struct step_input *inputs = batch ? body->steps.items : body;
    size_t n = batch ? body->steps.count : 1;
    struct step *steps = ARENA_ARRAY(call->arena, struct step, n);
    struct run run;
    TRY(run_path_get(call, c, &run));
    TRY(run_check_fence(c, &run));
    TRY(check_form(call, body));
    for (size_t i = 0; i < n; i++) {
        TRY(check_place(
            call, &inputs[i], &run, batch ? arena_printf(call->arena, "/steps/%zu", i) : STR("")));
        steps[i] = inputs[i].step;
    }
    TRY(step_append(c, &run, steps, n, batch ? STR("/steps") : STR_NONE));
    struct appended appended = {
        (int64_t)n, steps[0].number, steps[n - 1].number, {.items = steps, .count = n}};
    return batch ? call_answer(call, &schema_steps_appended, &appended, 0)
                 : call_answer(call, &schema_step_ref, &steps[0], 0);
}

/* --- Steps of one run ---------------------------------------------------------------------- */

enum { IN_FILTER = IN_SENT(0), IN_CALLS = IN_SENT(1) };
#define OF struct run_steps_query
static const struct field run_steps_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "messages: include the lists of messages",
        .choices = include_messages),
    FIELD(UUID_OR_NONE, turn_id, IN_CALLS, "only calls in this turn"),
    FIELD(STRING_OR_NONE, action_type, IN_FILTER, .min = 1, .max = EVENT_KIND_MAX_BYTES),
    FIELD(INT_OR_NONE, step_number, IN_FILTER, "only steps of this iteration",
        .max = STEP_NUMBER_MAX),
    FIELD(TIME_OR_NONE, from, IN_FILTER, "only steps at or after this time"),
    FIELD(TIME_OR_NONE, to, IN_FILTER, "only steps before this time"),
};
#undef OF
const struct schema query_run_steps =
    SCHEMA("RunStepsQuery", struct run_steps_query, run_steps_query_fields, IN_QUERY | IN_FILTER);
const struct schema query_run_calls =
    SCHEMA("RunCallsQuery", struct run_steps_query, run_steps_query_fields, IN_QUERY | IN_CALLS);

static enum error check_type(struct call *call, struct str type)
{
    if (str_is_none(type) || step_type_is_known(type))
        return OK;
    return problem_fault(&call->problem, STR("action_type"),
        "must be a type of action, or an application type that contains a dot");
}

bool steps_wants_messages(const struct call *call)
{
    return ((const struct run_steps_query *)call->request.query)->include != INCLUDE_NONE;
}

enum error steps_of_run(struct call *call, struct context *c, const struct run *run, int64_t after,
    enum step_calls calls, struct step_page *page)
{
    const struct run_steps_query *q = call->request.query;
    struct step_run_filter filter = {.run_id = run->id,
        .after = after,
        .action_type = q->action_type,
        .has_step_number = q->has_step_number,
        .step_number = q->step_number,
        .from = q->has_from ? q->from : INT64_MIN,
        .before = q->has_to ? q->to : INT64_MAX,
        .has_turn_id = q->has_turn_id,
        .turn_id = q->turn_id,
        .calls = calls,
        .with_messages = calls == STEP_CALLS_NONE && steps_wants_messages(call)};
    *page = (struct step_page){.page = page_of(&q->page)};
    page->steps = ARENA_ARRAY(call->arena, struct step, page->page.limit);
    TRY(check_type(call, q->action_type));
    return step_list_run(c, &filter, page);
}

struct str steps_cursor(struct call *call, const struct step_page *page)
{
    return cursor_from_number(call->arena, page->next_number);
}

enum error handle_run_step_list(struct call *call, struct context *c)
{
    const struct run_steps_query *q = call->request.query;
    struct step_page page;
    struct run run;
    int64_t after;
    TRY(run_path_get(call, c, &run));
    TRY(cursor_to_number(call, q->page.cursor, &after));
    TRY(steps_of_run(call, c, &run, after, STEP_CALLS_NONE, &page));
    return call_answer_list(call, &schema_step, page.steps, &page.page, steps_cursor(call, &page));
}

enum error handle_step_get(struct call *call, struct context *c)
{
    struct run run;
    struct step step;
    TRY(run_path_get(call, c, &run));
    TRY(step_get(c, run.id, call->request.numbers[call_param(call, "number")], &step));
    return call_answer(call, &schema_step, &step, 0);
}

/* --- Across runs --------------------------------------------------------------------------- */

struct steps_query {
    struct page_query page;
    struct step_filter filter;
    enum include include;
    bool has_from;
    bool has_to;
};
#define OF struct steps_query
static const struct field steps_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "messages: include the lists of messages",
        .choices = include_messages),
    FIELD_OF(filter, STRING_OR_NONE, action_type, IN_QUERY, .min = 1, .max = EVENT_KIND_MAX_BYTES),
    FIELD_OF(filter, ENUM_OR_NONE, outcome, IN_QUERY, .choices = step_outcomes),
    FIELD_OF(filter, UUID_OR_NONE, agent_id, IN_QUERY),
    FIELD_OF(filter, UUID_OR_NONE, thread_id, IN_QUERY),
    FIELD_OF(filter, STRING_OR_NONE, model, IN_QUERY, .min = 1, .max = STEP_NAME_MAX_BYTES),
    FIELD_OF(filter, STRING_OR_NONE, tool_name, IN_QUERY, .min = 1, .max = STEP_NAME_MAX_BYTES),
    FIELD_HAS(
        TIME_OR_NONE, "from", filter.from, has_from, IN_QUERY, "only steps at or after this time"),
    FIELD_HAS(TIME_OR_NONE, "to", filter.before, has_to, IN_QUERY, "only steps before this time"),
};
#undef OF
const struct schema query_steps =
    SCHEMA("StepsQuery", struct steps_query, steps_query_fields, IN_QUERY);

/* The cursor is a position in the order by time and id: "AT~ID". */
static enum error read_cursor(struct call *call, struct str cursor, struct step_filter *filter)
{
    struct str text;
    TRY(cursor_to_text(call, cursor, &text));
    size_t tilde = str_find(text, '~');
    if (str_is_none(text))
        return OK;
    filter->has_cursor = true;
    if (tilde < text.len && str_to_i64(str_slice(text, 0, tilde), &filter->cursor_at) &&
        str_to_i64(str_slice(text, tilde + 1, text.len), &filter->cursor_id))
        return OK;
    return cursor_refused(call);
}

enum error handle_step_list(struct call *call, struct context *c)
{
    const struct steps_query *q = call->request.query;
    struct step_page page = {.page = page_of(&q->page)};
    struct step_filter filter = q->filter;
    page.steps = ARENA_ARRAY(call->arena, struct step, page.page.limit);
    if (!q->has_from)
        filter.from = INT64_MIN;
    if (!q->has_to)
        filter.before = INT64_MAX;
    filter.with_messages = q->include != INCLUDE_NONE;
    TRY(read_cursor(call, q->page.cursor, &filter));
    TRY(check_type(call, filter.action_type));
    TRY(step_list(c, &filter, &page));
    struct str next =
        arena_printf(call->arena, "%lld~%lld", (long long)page.next_at, (long long)page.next_id);
    return call_answer_list(
        call, &schema_step, page.steps, &page.page, cursor_from_text(call->arena, next));
}
