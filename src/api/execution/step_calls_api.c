/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of models and of tools, as they are told by the steps that ended them. */
#include "api/execution/steps_api.h"
#include "api/resources.h"

struct called {
    struct step step;
    struct str messages;
    struct str input;
    struct str output;
    struct str stop_reason;
    bool has_latency_ms;
    int64_t latency_ms;
};
#define CALLED(member) offsetof(struct called, member)

/* Whose both are. */
#define CALL_FIELDS                                                          \
    {.name = "id",                                                           \
        .kind = FIELD_INT,                                                   \
        .offset = CALLED(step.log_id),                                       \
        .summary = "the log_id of the step that ended it"},                  \
        {.name = "number",                                                   \
            .kind = FIELD_INT,                                               \
            .offset = CALLED(step.number),                                   \
            .summary = "of that step in the run"},                           \
        {.name = "turn_id",                                                  \
            .kind = FIELD_UUID,                                              \
            .flags = FIELD_NULLABLE,                                         \
            .offset = CALLED(step.turn_id),                                  \
            .has_offset = CALLED(step.has_turn_id)},                         \
        {.name = "step_number",                                              \
            .kind = FIELD_INT,                                               \
            .flags = FIELD_NULLABLE,                                         \
            .offset = CALLED(step.step_number),                              \
            .has_offset = CALLED(step.has_step_number)},                     \
        {.name = "status",                                                   \
            .kind = FIELD_ENUM,                                              \
            .flags = FIELD_NULLABLE,                                         \
            .offset = CALLED(step.outcome),                                  \
            .choices = step_outcomes},                                       \
        {.name = "latency_ms",                                               \
            .kind = FIELD_INT,                                               \
            .flags = FIELD_NULLABLE,                                         \
            .offset = CALLED(latency_ms),                                    \
            .has_offset = CALLED(has_latency_ms)},                           \
    {                                                                        \
        .name = "created_at", .kind = FIELD_TIME, .offset = CALLED(step.at), \
        .summary = "when it ended"                                           \
    }

static const struct field llm_fields[] = {
    CALL_FIELDS,
    {.name = "model", .kind = FIELD_STRING, .flags = FIELD_NULLABLE, .offset = CALLED(step.model)},
    {.name = "provider",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.provider)},
    {.name = "messages",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = CALLED(messages),
        .summary = "what was sent, when it was logged and is asked for"},
    {.name = "response",
        .kind = FIELD_OBJECT,
        .offset = CALLED(step.action_data),
        .summary = "the action_data of the step"},
    {.name = "stop_reason",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(stop_reason)},
    {.name = "tokens_in",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.usage.input_tokens),
        .has_offset = CALLED(step.usage.has_input_tokens)},
    {.name = "tokens_out",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.usage.output_tokens),
        .has_offset = CALLED(step.usage.has_output_tokens)},
    {.name = "cache_creation_input_tokens",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.usage.cache_creation_input_tokens),
        .has_offset = CALLED(step.usage.has_cache_creation_input_tokens)},
    {.name = "cache_read_input_tokens",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.usage.cache_read_input_tokens),
        .has_offset = CALLED(step.usage.has_cache_read_input_tokens)},
    {.name = "cost_usd",
        .kind = FIELD_MONEY,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.cost_pico),
        .has_offset = CALLED(step.has_cost)},
    {.name = "price_version",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.price_version),
        .has_offset = CALLED(step.has_price_version)},
};
const struct schema schema_llm_call = {
    "LlmCall", llm_fields, COUNT_OF(llm_fields), sizeof(struct called), 0};

static const struct field tool_fields[] = {
    CALL_FIELDS,
    {.name = "tool_name",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.tool_name)},
    {.name = "tool_use_id",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(step.tool_use_id)},
    {.name = "input", .kind = FIELD_JSON, .flags = FIELD_NULLABLE, .offset = CALLED(input)},
    {.name = "output",
        .kind = FIELD_JSON,
        .flags = FIELD_NULLABLE,
        .offset = CALLED(output),
        .summary = "result, output or error of the step's action_data, the first of them"},
};
const struct schema schema_tool_call = {
    "ToolCall", tool_fields, COUNT_OF(tool_fields), sizeof(struct called), 0};

/* The first of these members that the data have. */
static struct str take_first(struct arena *arena, struct json data, const char *const *names)
{
    struct json value;
    for (; *names != NULL; names++)
        if (json_get(data, str_of(*names), &value) && json_type(value) != JSON_NULL)
            return json_compact(arena, value);
    return STR_NONE;
}

static enum error tell_of(struct call *call, const struct step *step, struct called *out)
{
    static const char *const inputs[] = {"input", NULL};
    static const char *const outputs[] = {"result", "output", "error", NULL};
    struct json_doc doc;
    struct json_error unused;
    struct json value;
    *out = (struct called){
        .step = *step, .has_latency_ms = step->has_duration_ms, .latency_ms = step->duration_ms};
    if (!json_parse(call->arena, step->action_data, &doc, &unused))
        return problem_set(&call->problem, ERR_TOO_LARGE, "the page needs too much memory");
    struct json data = json_root(&doc);
    out->input = take_first(call->arena, data, inputs);
    out->output = take_first(call->arena, data, outputs);
    if (json_get(data, STR("stop_reason"), &value) && json_type(value) == JSON_STRING)
        out->stop_reason = json_string(call->arena, value);
    if (!out->has_latency_ms && json_get(data, STR("execution_time_ms"), &value) &&
        json_type(value) == JSON_NUMBER)
        out->has_latency_ms = json_to_i64(value, &out->latency_ms);
    return OK;
}

/* A page ends with the call whose messages pass PAGE_MAX_BYTES. */
static enum error answer_calls(
    struct call *call, struct context *c, enum step_calls calls, const struct schema *schema)
{
    struct step_page page;
    size_t n = 0, bytes = 0;
    enum error e = steps_of_run(call, c, calls, &page);
    if (e != OK)
        return e;
    struct called *called = ARENA_ARRAY(call->arena, struct called, page.count);
    bool with_messages = calls == STEP_CALLS_LLM && steps_wants_messages(call);
    for (; e == OK && n < page.count && bytes <= PAGE_MAX_BYTES; n++) {
        e = tell_of(call, &page.steps[n], &called[n]);
        if (e == OK && with_messages)
            e = step_messages_of_call(c, &page.steps[n], &called[n].messages);
        bytes += called[n].messages.len;
    }
    if (e != OK)
        return e;
    if (n < page.count) {
        page.more = true;
        page.next_number = page.steps[n - 1].number;
    }
    steps_answer(call, schema, called, n, steps_cursor(call, &page));
    return OK;
}

enum error handle_llm_call_list(struct call *call, struct context *c)
{
    return answer_calls(call, c, STEP_CALLS_LLM, &schema_llm_call);
}

enum error handle_tool_call_list(struct call *call, struct context *c)
{
    return answer_calls(call, c, STEP_CALLS_TOOL, &schema_tool_call);
}

/* --- Sums ----------------------------------------------------------------------------------- */

struct summary_query {
    bool has_run_id;
    struct uuid run_id;
    bool has_thread_id;
    struct uuid thread_id;
};
static const struct field summary_query_fields[] = {
    {.name = "run_id",
        .kind = FIELD_UUID,
        .offset = offsetof(struct summary_query, run_id),
        .has_offset = offsetof(struct summary_query, has_run_id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .offset = offsetof(struct summary_query, thread_id),
        .has_offset = offsetof(struct summary_query, has_thread_id)},
};
const struct schema query_step_summary = {"StepSummaryQuery", summary_query_fields,
    COUNT_OF(summary_query_fields), sizeof(struct summary_query), 0};

#define SUMMARY_FIELD(member) offsetof(struct step_summary, member)
static const struct field type_fields[] = {
    {.name = "action_type", .kind = FIELD_STRING, .offset = SUMMARY_FIELD(action_type)},
    {.name = "count", .kind = FIELD_INT, .offset = SUMMARY_FIELD(count)},
    {.name = "errors", .kind = FIELD_INT, .offset = SUMMARY_FIELD(errors)},
    {.name = "duration_ms",
        .kind = FIELD_INT,
        .offset = SUMMARY_FIELD(duration_ms),
        .summary = "of all of them together"},
    {.name = "first_at", .kind = FIELD_TIME, .offset = SUMMARY_FIELD(first_at)},
    {.name = "last_at", .kind = FIELD_TIME, .offset = SUMMARY_FIELD(last_at)},
};
static const struct schema schema_step_type = {
    "StepTypeSummary", type_fields, COUNT_OF(type_fields), sizeof(struct step_summary), 0};

struct summary {
    struct step_summary total;
    struct nested_list types;
    bool more_types;
};
static const struct field summary_fields[] = {
    {.name = "count",
        .kind = FIELD_INT,
        .offset = offsetof(struct summary, total.count),
        .summary = "of all types, also those that are not listed"},
    {.name = "errors", .kind = FIELD_INT, .offset = offsetof(struct summary, total.errors)},
    {.name = "duration_ms",
        .kind = FIELD_INT,
        .offset = offsetof(struct summary, total.duration_ms)},
    {.name = "types",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct summary, types),
        .nested = &schema_step_type,
        .summary = "by their names, the first 1000"},
    {.name = "more_types",
        .kind = FIELD_BOOL,
        .offset = offsetof(struct summary, more_types),
        .summary = "whether there are more than those"},
};
const struct schema schema_step_summary = {
    "StepSummary", summary_fields, COUNT_OF(summary_fields), sizeof(struct summary), 0};

enum error handle_step_summary(struct call *call, struct context *c)
{
    const struct summary_query *q = call->request.query;
    struct step_summary *types = ARENA_ARRAY(call->arena, struct step_summary, STEP_SUMMARY_MAX);
    struct summary sum = {.types = {.items = types}};
    struct thread thread;
    struct run run;
    if (q->has_run_id == q->has_thread_id)
        return problem_fault(&call->problem, q->has_run_id ? STR("thread_id") : STR("run_id"),
            "give either run_id or thread_id");
    enum error e = q->has_run_id ? run_get_head(c, q->run_id, &run)
                                 : thread_get_head(c, q->thread_id, &thread);
    if (e == OK)
        e = step_summarize(c, q->has_thread_id, q->has_run_id ? q->run_id : q->thread_id, types,
            &sum.types.count, &sum.total, &sum.more_types);
    if (e == OK)
        call_answer(call, &schema_step_summary, &sum, 0);
    return e;
}
