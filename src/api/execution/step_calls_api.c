/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of models and of tools, taken from the steps that ended them, and from awaited tools. */
#include "api/execution/run_path.h"
#include "api/execution/steps_api.h"
#include "api/handlers.h"
#include "model/execution/awaited_tools.h"

struct called {
    struct step step;
    bool has_step; /* false: an awaited tool */
    bool awaited;
    enum tool_call_status status;
    enum tool_side side;
    bool has_deadline;
    int64_t deadline;
    struct str messages;
    struct str input;
    struct str output;
    struct str stop_reason;
    bool has_latency_ms;
    int64_t latency_ms;
};

enum { IN_LLM = IN_SHOWN(0), IN_TOOL = IN_SHOWN(1) };
#define OF struct called
static const struct field call_fields[] = {
    FIELD_AS(INT, "id", step.log_id, IN_LLM, "log_id of the step that ended the call"),
    FIELD_OF(step, INT, number, IN_LLM, "number of that step in the run"),
    FIELD_HAS(INT_OR_NULL, "id", step.log_id, has_step, IN_TOOL,
        "log_id of the step that ended the call; null for an awaited tool"),
    FIELD_HAS(INT_OR_NULL, "number", step.number, has_step, IN_TOOL,
        "number of that step in the run; null for an awaited tool"),
    FIELD_OF(step, UUID_OR_NULL, turn_id, IN_READ),
    FIELD_OF(step, INT_OR_NULL, step_number, IN_READ),
    FIELD_AS(ENUM_OR_NULL, "status", step.outcome, IN_LLM, .choices = step_outcomes),
    FIELD(ENUM_OR_NULL, status, IN_TOOL,
        "of an awaited tool without a result: pending, and after the end of the run timeout, error "
        "or cancelled",
        .choices = tool_call_statuses),
    FIELD(INT_OR_NULL, latency_ms, IN_READ),
    FIELD_AS(TIME, "created_at", step.at, IN_READ,
        "end of the call; of an awaited tool without a result, its beginning"),
    FIELD_OF(step, STRING_OR_NULL, model, IN_LLM),
    FIELD_OF(step, STRING_OR_NULL, provider, IN_LLM),
    FIELD(ARRAY_OR_NULL, messages, IN_LLM,
        "messages sent to the model, if they were logged and are requested", .items = "object",
        .hide_none = true),
    FIELD_AS(OBJECT, "response", step.action_data, IN_LLM, "action_data of the step"),
    FIELD(STRING_OR_NULL, stop_reason, IN_LLM),
    FIELD_HAS(
        INT_OR_NULL, "tokens_in", step.usage.input_tokens, step.usage.has_input_tokens, IN_LLM),
    FIELD_HAS(
        INT_OR_NULL, "tokens_out", step.usage.output_tokens, step.usage.has_output_tokens, IN_LLM),
    FIELD_OF(step.usage, INT_OR_NULL, cache_creation_input_tokens, IN_LLM),
    FIELD_OF(step.usage, INT_OR_NULL, cache_read_input_tokens, IN_LLM),
    FIELD_HAS(MONEY_OR_NULL, "cost_usd", step.cost_pico, step.has_cost, IN_LLM),
    FIELD_OF(step, INT_OR_NULL, price_version, IN_LLM),
    FIELD_OF(step, STRING_OR_NULL, tool_name, IN_TOOL),
    FIELD_OF(step, STRING_OR_NULL, tool_use_id, IN_TOOL),
    FIELD(JSON_OR_NULL, input, IN_TOOL),
    FIELD(JSON_OR_NULL, output, IN_TOOL,
        "the first of result, output and error in the action_data of the step; the result of an "
        "awaited tool"),
    FIELD(BOOL, awaited, IN_TOOL, "true for a tool that the run waited for"),
    FIELD(ENUM_OR_NULL, side, IN_TOOL, "of an awaited tool", .choices = tool_sides),
    FIELD(TIME_OR_NULL, deadline, IN_TOOL, "of an awaited tool"),
};
#undef OF
const struct schema schema_llm_call =
    SCHEMA("LlmCall", struct called, call_fields, IN_READ | IN_LLM);

const struct schema schema_tool_call =
    SCHEMA("ToolCall", struct called, call_fields, IN_READ | IN_TOOL);

/* Returns the first of these members that the data has. */
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
    *out = (struct called){.step = *step,
        .status = step->outcome == STEP_SUCCESS ? TOOL_CALL_SUCCESS
                  : step->outcome == STEP_ERROR ? TOOL_CALL_ERROR
                                                : TOOL_CALL_STATUS_NONE,
        .has_step = true,
        .has_latency_ms = step->has_duration_ms,
        .latency_ms = step->duration_ms};
    if (!json_parse(call->arena, step->action_data, &doc, &unused))
        return problem_set(&call->problem, ERR_TOO_LARGE,
            "the page exceeds the memory limit of a request: use a smaller limit");
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

/* A page ends with the call whose messages exceed PAGE_MAX_BYTES. */
enum error handle_llm_call_list(struct call *call, struct context *c)
{
    const struct run_steps_query *q = call->request.query;
    struct step_page page;
    struct run run;
    int64_t after;
    size_t n = 0, bytes = 0;
    TRY(run_path_get(call, c, &run));
    TRY(cursor_to_number(call, q->page.cursor, &after));
    TRY(steps_of_run(call, c, &run, after, STEP_CALLS_LLM, &page));
    struct called *called = ARENA_ARRAY(call->arena, struct called, page.page.count);
    for (; n < page.page.count && bytes <= PAGE_MAX_BYTES; n++) {
        TRY(tell_of(call, &page.steps[n], &called[n]));
        if (steps_wants_messages(call))
            TRY(step_messages_of_call(c, &page.steps[n], &called[n].messages));
        bytes += called[n].messages.len;
    }
    if (n < page.page.count) {
        page.page.count = n;
        page.page.more = true;
        page.next_number = page.steps[n - 1].number;
    }
    return call_answer_list(call, &schema_llm_call, called, &page.page, steps_cursor(call, &page));
}

/* --- Calls of tools ------------------------------------------------------------------------ */

/* The position in both lists: of steps, and of awaited tools. */
struct tool_place {
    int64_t number;
    int64_t pause;
    int64_t position;
};

static struct str place_cursor(struct arena *arena, const struct tool_place *place)
{
    return cursor_from_text(arena, arena_printf(arena, "%lld.%lld.%lld", (long long)place->number,
                                       (long long)place->pause, (long long)place->position));
}

static enum error read_place(struct call *call, struct str cursor, struct tool_place *out)
{
    struct str text, number, pause, position;
    *out = (struct tool_place){0};
    TRY(cursor_to_text(call, cursor, &text));
    if (str_is_none(text))
        return OK;
    bool good = str_next_part(&text, '.', &number) && str_next_part(&text, '.', &pause) &&
                str_next_part(&text, '.', &position) && str_is_none(text) &&
                str_to_i64(number, &out->number) && str_to_i64(pause, &out->pause) &&
                str_to_i64(position, &out->position);
    return good ? OK : cursor_refused(call);
}

static struct called called_of_awaited(
    struct arena *arena, const struct run *run, const struct awaited_tool *tool)
{
    bool done = tool->has_result_at;
    return (struct called){.awaited = true,
        .status = awaited_tool_status(arena, run, tool),
        .side = tool->side,
        .has_deadline = tool->has_deadline,
        .deadline = tool->deadline,
        .input = tool->input,
        .output = tool->content,
        .has_latency_ms = done,
        .latency_ms = (tool->result_at - tool->created_at) / 1000,
        .step = {.has_turn_id = tool->has_turn_id,
            .turn_id = tool->turn_id,
            .tool_name = tool->name,
            .tool_use_id = tool->tool_use_id,
            .has_at = true,
            .at = done ? tool->result_at : tool->created_at}};
}

/* Pages of both lists from a place on. */
struct tool_lists {
    struct step_page steps;
    struct page awaited_page;
    struct awaited_tool *awaited;
};

/* Merges the lists by the times at which steps ended and awaited tools began: each list keeps its
 * order, and neither gets earlier entries later. The page ends where one list has to be read
 * further. Moves `place` behind the page. */
static enum error merge(struct call *call, const struct run *run, struct tool_lists *lists,
    struct tool_place *place, struct called *out_called, struct page *page)
{
    const struct page *s = &lists->steps.page, *a = &lists->awaited_page;
    size_t i = 0, k = 0, bytes = 0;
    while (page->count < page->limit && bytes <= PAGE_MAX_BYTES) {
        bool no_step = i == s->count, no_awaited = k == a->count;
        if ((no_step && s->more) || (no_awaited && a->more) || (no_step && no_awaited))
            break;
        struct called *called = &out_called[page->count++];
        const struct step *step = no_step ? NULL : &lists->steps.steps[i];
        const struct awaited_tool *tool = no_awaited ? NULL : &lists->awaited[k];
        if (tool == NULL || (step != NULL && step->at <= tool->created_at)) {
            TRY(tell_of(call, step, called));
            place->number = step->number;
            bytes += step->action_data.len;
            i++;
        } else {
            *called = called_of_awaited(call->arena, run, tool);
            place->pause = tool->pause;
            place->position = tool->position;
            bytes += tool->input.len + tool->content.len;
            k++;
        }
    }
    page->more = i < s->count || k < a->count || s->more || a->more;
    if (i == s->count && s->more)
        place->number = lists->steps.next_number;
    return OK;
}

enum error handle_tool_call_list(struct call *call, struct context *c)
{
    const struct run_steps_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct called *called = ARENA_ARRAY(call->arena, struct called, page.limit);
    struct tool_lists lists = {.awaited_page = page_of(&q->page),
        .awaited = ARENA_ARRAY(call->arena, struct awaited_tool, page.limit)};
    struct tool_place place;
    struct run run;
    TRY(run_path_get(call, c, &run));
    TRY(read_place(call, q->page.cursor, &place));
    const struct awaited_tool_filter filter = {.after_pause = place.pause,
        .after_position = place.position,
        .has_turn_id = q->has_turn_id,
        .turn_id = q->turn_id};
    TRY(steps_of_run(call, c, &run, place.number, STEP_CALLS_TOOL, &lists.steps));
    TRY(awaited_tool_list(c, run.id, &filter, &lists.awaited_page, lists.awaited));
    TRY(merge(call, &run, &lists, &place, called, &page));
    return call_answer_list(
        call, &schema_tool_call, called, &page, place_cursor(call->arena, &place));
}

/* --- Sums ---------------------------------------------------------------------------------- */

struct summary_query {
    bool has_run_id;
    struct uuid run_id;
    bool has_thread_id;
    struct uuid thread_id;
};
#define OF struct summary_query
static const struct field summary_query_fields[] = {
    FIELD(UUID_OR_NONE, run_id, IN_QUERY),
    FIELD(UUID_OR_NONE, thread_id, IN_QUERY),
};
#undef OF
const struct schema query_step_summary =
    SCHEMA("StepSummaryQuery", struct summary_query, summary_query_fields, IN_QUERY);

#define OF struct step_summary
static const struct field type_fields[] = {
    FIELD(STRING, action_type, IN_READ),
    FIELD(INT, count, IN_READ),
    FIELD(INT, errors, IN_READ),
    FIELD(INT, duration_ms, IN_READ, "total duration"),
    FIELD(TIME, first_at, IN_READ),
    FIELD(TIME, last_at, IN_READ),
};
#undef OF
static const struct schema schema_step_type =
    SCHEMA("StepTypeSummary", struct step_summary, type_fields, IN_READ);

struct summary {
    struct step_summary total;
    struct nested_list types;
    bool more_types;
};
#define OF struct summary
static const struct field summary_fields[] = {
    FIELD_OF(total, INT, count, IN_READ,
        "number of steps of all types, including types that are not listed"),
    FIELD_OF(total, INT, errors, IN_READ),
    FIELD_OF(total, INT, duration_ms, IN_READ),
    FIELD(LIST, types, IN_READ, "the first 1000 types by name", .nested = &schema_step_type),
    FIELD(BOOL, more_types, IN_READ, "true if more types exist"),
};
#undef OF
const struct schema schema_step_summary =
    SCHEMA("StepSummary", struct summary, summary_fields, IN_READ);

enum error handle_step_summary(struct call *call, struct context *c)
{
    const struct summary_query *q = call->request.query;
    struct step_summary *types = ARENA_ARRAY(call->arena, struct step_summary, STEP_SUMMARY_MAX);
    struct summary sum = {.types = {.items = types}};
    struct thread thread;
    struct run run;
    if (q->has_run_id == q->has_thread_id)
        return problem_fault(&call->problem, q->has_run_id ? STR("thread_id") : STR("run_id"),
            "must be given alone: send exactly one of run_id and thread_id");
    TRY(q->has_run_id ? run_get_head(c, q->run_id, &run)
                      : thread_get_head(c, q->thread_id, &thread));
    TRY(step_summarize(c, q->has_thread_id, q->has_run_id ? q->run_id : q->thread_id, types,
        &sum.types.count, &sum.total, &sum.more_types));
    return call_answer(call, &schema_step_summary, &sum, 0);
}
