/* SPDX-License-Identifier: Apache-2.0 */
#include "api/execution/steps_api.h"

#include "api/execution/run_path.h"
#include "api/resources.h"
#include "model/checkpoints/snapshots.h"
#include "model/threads/events.h"

#define STEP_FIELD(member) offsetof(struct step, member)
#define USAGE_FIELD(member) offsetof(struct step_usage, member)

#define TOKENS(member)                                                                             \
    {                                                                                              \
        .name = #member, .kind = FIELD_INT,                                                        \
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE, .offset = USAGE_FIELD(member), \
        .has_offset = USAGE_FIELD(has_##member), .max = STEP_COUNT_MAX                             \
    }
static const struct field usage_fields[] = {
    TOKENS(input_tokens),
    TOKENS(output_tokens),
    TOKENS(cache_creation_input_tokens),
    TOKENS(cache_read_input_tokens),
};
static const struct schema schema_step_usage = {
    "StepUsage", usage_fields, COUNT_OF(usage_fields), sizeof(struct step_usage), 0};

/* A line of a log may say whose it is: it must be this run. The id that it had elsewhere is not
 * kept. */
struct step_input {
    struct step step; /* the first: a step and what becomes one have the same rows */
    bool has_log_id;
    int64_t log_id;
    bool has_run_id;
    struct uuid run_id;
    bool has_agent_uuid;
    struct uuid agent_uuid;
    struct nested_list steps; /* of the batch form only */
};
#define INPUT_FIELD(member) offsetof(struct step_input, member)

/* StepAppend is the table up to what Cairn says of a step, StepInput that without its first row,
 * and Step what comes after the rows of a log. */
enum { STEP_INPUT_AT = 1, STEP_AT = 4, STEP_ANSWER_AT = 19 };

#define GIVEN (FIELD_OPTIONAL | FIELD_NULLABLE)

static const struct schema schema_step_input;
static const struct field step_fields[] = {
    {.name = "steps",
        .kind = FIELD_NESTED_LIST,
        .flags = FIELD_OPTIONAL,
        .offset = INPUT_FIELD(steps),
        .min = 1,
        .max = STEP_BATCH_MAX,
        .nested = &schema_step_input,
        .summary = "many steps instead of one; all are appended or none"},
    {.name = "log_id",
        .kind = FIELD_INT,
        .flags = GIVEN,
        .offset = INPUT_FIELD(log_id),
        .has_offset = INPUT_FIELD(has_log_id),
        .summary = "of a line of a log; not kept, the step gets its own"},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .flags = GIVEN,
        .offset = INPUT_FIELD(run_id),
        .has_offset = INPUT_FIELD(has_run_id),
        .summary = "of a line of a log; must be this run"},
    {.name = "agent_uuid",
        .kind = FIELD_UUID,
        .flags = GIVEN,
        .offset = INPUT_FIELD(agent_uuid),
        .has_offset = INPUT_FIELD(has_agent_uuid),
        .summary = "of a line of a log; must be the run's thread or agent"},
    {.name = "action_type",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = STEP_FIELD(action_type),
        .min = 1,
        .max = EVENT_KIND_MAX_BYTES,
        .summary = "run_started, tool_execution …, or an application's own with a dot"},
    {.name = "timestamp",
        .kind = FIELD_TIME,
        .flags = GIVEN,
        .offset = STEP_FIELD(at),
        .has_offset = STEP_FIELD(has_at),
        .summary = "when it happened; now unless told"},
    {.name = "step_number",
        .kind = FIELD_INT,
        .flags = GIVEN,
        .offset = STEP_FIELD(step_number),
        .has_offset = STEP_FIELD(has_step_number),
        .max = STEP_NUMBER_MAX,
        .summary = "0 before the loop, then the iteration"},
    {.name = "action_data",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = STEP_FIELD(action_data),
        .max = STEP_DATA_MAX_BYTES},
    {.name = "messages_snapshot",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = GIVEN | FIELD_HIDE_NONE,
        .offset = STEP_FIELD(messages_snapshot),
        .max = SNAPSHOT_MAX_BYTES - 64,
        .summary = "the messages at this point; kept for what is new in them"},
    {.name = "messages_count",
        .kind = FIELD_INT,
        .flags = GIVEN,
        .offset = STEP_FIELD(messages_count),
        .has_offset = STEP_FIELD(has_messages_count),
        .max = STEP_COUNT_MAX,
        .summary = "how many messages_snapshot has, unless told"},
    {.name = "estimated_tokens",
        .kind = FIELD_INT,
        .flags = GIVEN,
        .offset = STEP_FIELD(estimated_tokens),
        .has_offset = STEP_FIELD(has_estimated_tokens),
        .max = STEP_COUNT_MAX},
    {.name = "duration_ms",
        .kind = FIELD_INT,
        .flags = GIVEN,
        .offset = STEP_FIELD(duration_ms),
        .has_offset = STEP_FIELD(has_duration_ms),
        .max = STEP_DURATION_MAX_MS},
    {.name = "turn_id",
        .kind = FIELD_UUID,
        .flags = GIVEN,
        .offset = STEP_FIELD(turn_id),
        .has_offset = STEP_FIELD(has_turn_id),
        .summary = "the turn of this run that it belongs to"},
    {.name = "tool_name",
        .kind = FIELD_STRING,
        .flags = GIVEN,
        .offset = STEP_FIELD(tool_name),
        .min = 1,
        .max = STEP_NAME_MAX_BYTES,
        .summary = "of tool_execution and tool_error also in action_data"},
    {.name = "tool_use_id",
        .kind = FIELD_STRING,
        .flags = GIVEN,
        .offset = STEP_FIELD(tool_use_id),
        .min = 1,
        .max = STEP_NAME_MAX_BYTES},
    {.name = "outcome",
        .kind = FIELD_ENUM,
        .flags = GIVEN,
        .offset = STEP_FIELD(outcome),
        .choices = step_outcomes,
        .summary = "of types that have one, what the type and action_data say unless told"},
    {.name = "model",
        .kind = FIELD_STRING,
        .flags = GIVEN,
        .offset = STEP_FIELD(model),
        .min = 1,
        .max = STEP_NAME_MAX_BYTES,
        .summary = "that was called; of steps of a call also in action_data"},
    {.name = "provider",
        .kind = FIELD_STRING,
        .flags = GIVEN,
        .offset = STEP_FIELD(provider),
        .min = 1,
        .max = STEP_NAME_MAX_BYTES},
    {.name = "usage",
        .kind = FIELD_NESTED,
        .flags = GIVEN | FIELD_HIDE_NONE,
        .offset = STEP_FIELD(usage),
        .has_offset = STEP_FIELD(has_usage),
        .nested = &schema_step_usage,
        .summary = "the tokens of the call, which count for the run; also in action_data"},
    {.name = "log_id",
        .kind = FIELD_INT,
        .offset = STEP_FIELD(log_id),
        .summary = "rises, with gaps, and is never given twice"},
    {.name = "run_id", .kind = FIELD_UUID, .offset = STEP_FIELD(run_id)},
    {.name = "number",
        .kind = FIELD_INT,
        .offset = STEP_FIELD(number),
        .summary = "1, 2, 3 within the run, without gaps"},
    {.name = "thread_id", .kind = FIELD_UUID, .offset = STEP_FIELD(thread_id)},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = STEP_FIELD(agent_id),
        .has_offset = STEP_FIELD(has_agent_id)},
    {.name = "cost_usd",
        .kind = FIELD_MONEY,
        .flags = FIELD_NULLABLE,
        .offset = STEP_FIELD(cost_pico),
        .has_offset = STEP_FIELD(has_cost),
        .summary = "of the call; null when the model has no price"},
    {.name = "price_version",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = STEP_FIELD(price_version),
        .has_offset = STEP_FIELD(has_price_version)},
    {.name = "created_at", .kind = FIELD_TIME, .offset = STEP_FIELD(created_at)},
};
const struct schema schema_step = {
    "Step", &step_fields[STEP_AT], COUNT_OF(step_fields) - STEP_AT, sizeof(struct step), 0};
static const struct schema schema_step_input = {"StepInput", &step_fields[STEP_INPUT_AT],
    STEP_ANSWER_AT - STEP_INPUT_AT, sizeof(struct step_input), 0};
const struct schema schema_step_append = {
    "StepAppend", step_fields, STEP_ANSWER_AT, sizeof(struct step_input), 0};

/* --- Append --------------------------------------------------------------------------------- */

static const struct field ref_fields[] = {
    {.name = "number", .kind = FIELD_INT, .offset = STEP_FIELD(number)},
    {.name = "log_id", .kind = FIELD_INT, .offset = STEP_FIELD(log_id)},
    {.name = "cost_usd",
        .kind = FIELD_MONEY,
        .flags = FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = STEP_FIELD(cost_pico),
        .has_offset = STEP_FIELD(has_cost),
        .summary = "of the call of a model that has a price"},
    {.name = "price_version",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = STEP_FIELD(price_version),
        .has_offset = STEP_FIELD(has_price_version)},
};
const struct schema schema_step_ref = {
    "StepRef", ref_fields, COUNT_OF(ref_fields), sizeof(struct step), 0};

struct appended {
    int64_t count;
    int64_t first;
    int64_t last;
    struct nested_list steps;
};
static const struct field appended_fields[] = {
    {.name = "count", .kind = FIELD_INT, .offset = offsetof(struct appended, count)},
    {.name = "first",
        .kind = FIELD_INT,
        .offset = offsetof(struct appended, first),
        .summary = "the number of the first"},
    {.name = "last", .kind = FIELD_INT, .offset = offsetof(struct appended, last)},
    {.name = "steps",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct appended, steps),
        .nested = &schema_step_ref},
};
const struct schema schema_steps_appended = {
    "StepsAppended", appended_fields, COUNT_OF(appended_fields), sizeof(struct appended), 0};

/* A list stands alone. */
static enum error check_form(struct call *call, const struct step_input *body)
{
    const struct step *s = &body->step;
    bool one = !str_is_none(s->action_type) || !str_is_none(s->action_data) || s->has_at ||
               s->has_step_number || !str_is_none(s->messages_snapshot) || s->has_messages_count ||
               s->has_estimated_tokens || s->has_duration_ms || s->has_turn_id || s->has_usage ||
               !str_is_none(s->tool_name) || !str_is_none(s->tool_use_id) ||
               !str_is_none(s->outcome) || !str_is_none(s->model) || !str_is_none(s->provider) ||
               body->has_log_id || body->has_run_id || body->has_agent_uuid;
    if (body->steps.count == 0 || !one)
        return OK;
    return problem_fault(
        &call->problem, STR("/steps"), "stands alone: give one step or a list of them");
}

static enum error check_place(
    struct call *call, const struct step_input *input, const struct run *run, struct str at)
{
    if (input->has_run_id && !uuid_eq(input->run_id, run->id))
        return problem_fault(&call->problem, arena_printf(call->arena, "%.*s/run_id", STR_ARG(at)),
            "must be the run of the path");
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
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = run_check_fence(c, &run);
    if (e == OK)
        e = check_form(call, body);
    for (size_t i = 0; e == OK && i < n; i++) {
        e = check_place(
            call, &inputs[i], &run, batch ? arena_printf(call->arena, "/steps/%zu", i) : STR(""));
        steps[i] = inputs[i].step;
    }
    if (e == OK)
        e = step_append(c, &run, steps, n, batch ? STR("/steps") : STR_NONE);
    if (e != OK)
        return e;
    struct appended appended = {
        (int64_t)n, steps[0].number, steps[n - 1].number, {.items = steps, .count = n}};
    if (batch)
        call_answer(call, &schema_steps_appended, &appended, 0);
    else
        call_answer(call, &schema_step_ref, &steps[0], 0);
    return OK;
}

/* --- Of one run ----------------------------------------------------------------------------- */

static const char *const includes[] = {"messages", NULL};

struct run_steps_query {
    struct page_query page;
    struct str include;
    struct str action_type;
    bool has_step_number;
    int64_t step_number;
    bool has_from;
    int64_t from;
    bool has_to;
    int64_t to;
};
#define RUN_QUERY_FIELD(member) offsetof(struct run_steps_query, member)
enum { CALLS_QUERY_FIELDS = 3 };
static const struct field run_steps_query_fields[] = {
    PAGE_FIELDS(struct run_steps_query),
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = RUN_QUERY_FIELD(include),
        .choices = includes,
        .summary = "messages: the lists of messages, too"},
    {.name = "action_type",
        .kind = FIELD_STRING,
        .offset = RUN_QUERY_FIELD(action_type),
        .min = 1,
        .max = EVENT_KIND_MAX_BYTES},
    {.name = "step_number",
        .kind = FIELD_INT,
        .offset = RUN_QUERY_FIELD(step_number),
        .has_offset = RUN_QUERY_FIELD(has_step_number),
        .max = STEP_NUMBER_MAX,
        .summary = "of this iteration"},
    {.name = "from",
        .kind = FIELD_TIME,
        .offset = RUN_QUERY_FIELD(from),
        .has_offset = RUN_QUERY_FIELD(has_from),
        .summary = "at this time or later"},
    {.name = "to",
        .kind = FIELD_TIME,
        .offset = RUN_QUERY_FIELD(to),
        .has_offset = RUN_QUERY_FIELD(has_to),
        .summary = "before this time"},
};
const struct schema query_run_steps = {"RunStepsQuery", run_steps_query_fields,
    COUNT_OF(run_steps_query_fields), sizeof(struct run_steps_query), 0};
const struct schema query_run_calls = {
    "RunCallsQuery", run_steps_query_fields, CALLS_QUERY_FIELDS, sizeof(struct run_steps_query), 0};

static enum error check_type(struct call *call, struct str type)
{
    if (str_is_none(type) || step_type_is_known(type))
        return OK;
    return problem_fault(&call->problem, STR("action_type"),
        "must be one of the types of actions, or an application's own with a dot");
}

bool steps_wants_messages(const struct call *call)
{
    return !str_is_none(((const struct run_steps_query *)call->request.query)->include);
}

/* The cursor of a run's list is a number. */
enum error steps_of_run(
    struct call *call, struct context *c, enum step_calls calls, struct step_page *page)
{
    const struct run_steps_query *q = call->request.query;
    size_t limit = page_limit(&q->page);
    struct run run;
    struct step_run_filter filter = {.action_type = q->action_type,
        .has_step_number = q->has_step_number,
        .step_number = q->step_number,
        .from = q->has_from ? q->from : INT64_MIN,
        .before = q->has_to ? q->to : INT64_MAX,
        .calls = calls,
        .with_messages = calls == STEP_CALLS_NONE && steps_wants_messages(call)};
    *page = (struct step_page){.steps = ARENA_ARRAY(call->arena, struct step, limit)};
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = check_type(call, q->action_type);
    if (e != OK)
        return e;
    if (!str_is_none(q->page.cursor) &&
        (!str_to_i64(q->page.cursor, &filter.after) || filter.after < 0))
        return cursor_refused(call);
    filter.run_id = run.id;
    return step_list_run(c, &filter, limit, page);
}

void steps_answer(struct call *call, const struct schema *schema, const void *items, size_t count,
    struct str next_cursor)
{
    struct json_writer w;
    json_writer_init(&w, &call->answer.body);
    json_write_object(&w);
    json_write_name(&w, "data");
    json_write_array(&w);
    for (size_t i = 0; i < count; i++)
        schema_encode(&w, schema, (const char *)items + i * schema->struct_bytes);
    json_write_end(&w);
    json_write_name(&w, "has_more");
    json_write_bool(&w, !str_is_none(next_cursor));
    json_write_name(&w, "next_cursor");
    json_write_string(&w, next_cursor);
    json_write_end(&w);
}

struct str steps_cursor(struct call *call, const struct step_page *page)
{
    return page->more ? arena_printf(call->arena, "%lld", (long long)page->next_number) : STR_NONE;
}

enum error handle_run_step_list(struct call *call, struct context *c)
{
    struct step_page page;
    enum error e = steps_of_run(call, c, STEP_CALLS_NONE, &page);
    if (e == OK)
        steps_answer(call, &schema_step, page.steps, page.count, steps_cursor(call, &page));
    return e;
}

enum error handle_step_get(struct call *call, struct context *c)
{
    struct run run;
    struct step step;
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = step_get(c, run.id, call->request.numbers[call_param(call, "number")], &step);
    if (e == OK)
        call_answer(call, &schema_step, &step, 0);
    return e;
}

/* --- Across runs ---------------------------------------------------------------------------- */

struct steps_query {
    struct page_query page;
    struct step_filter filter;
    struct str include;
    bool has_from;
    bool has_to;
};
#define QUERY_FIELD(member) offsetof(struct steps_query, member)
static const struct field steps_query_fields[] = {
    PAGE_FIELDS(struct steps_query),
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(include),
        .choices = includes,
        .summary = "messages: the lists of messages, too"},
    {.name = "action_type",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(filter.action_type),
        .min = 1,
        .max = EVENT_KIND_MAX_BYTES},
    {.name = "outcome",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(filter.outcome),
        .choices = step_outcomes},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(filter.agent_id),
        .has_offset = QUERY_FIELD(filter.has_agent_id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(filter.thread_id),
        .has_offset = QUERY_FIELD(filter.has_thread_id)},
    {.name = "model",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(filter.model),
        .min = 1,
        .max = STEP_NAME_MAX_BYTES},
    {.name = "tool_name",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(filter.tool_name),
        .min = 1,
        .max = STEP_NAME_MAX_BYTES},
    {.name = "from",
        .kind = FIELD_TIME,
        .offset = QUERY_FIELD(filter.from),
        .has_offset = QUERY_FIELD(has_from),
        .summary = "at this time or later"},
    {.name = "to",
        .kind = FIELD_TIME,
        .offset = QUERY_FIELD(filter.before),
        .has_offset = QUERY_FIELD(has_to),
        .summary = "before this time"},
};
const struct schema query_steps = {
    "StepsQuery", steps_query_fields, COUNT_OF(steps_query_fields), sizeof(struct steps_query), 0};

/* The cursor is a place in the order by time and id: "AT~ID". */
static enum error read_cursor(struct call *call, struct str text, struct step_filter *filter)
{
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
    size_t limit = page_limit(&q->page);
    struct step_page page = {.steps = ARENA_ARRAY(call->arena, struct step, limit)};
    struct step_filter filter = q->filter;
    if (!q->has_from)
        filter.from = INT64_MIN;
    if (!q->has_to)
        filter.before = INT64_MAX;
    filter.with_messages = !str_is_none(q->include);
    enum error e = read_cursor(call, q->page.cursor, &filter);
    if (e == OK)
        e = check_type(call, filter.action_type);
    if (e == OK)
        e = step_list(c, &filter, limit, &page);
    if (e != OK)
        return e;
    struct str next = page.more ? arena_printf(call->arena, "%lld~%lld", (long long)page.next_at,
                                      (long long)page.next_id)
                                : STR_NONE;
    steps_answer(call, &schema_step, page.steps, page.count, next);
    return OK;
}
