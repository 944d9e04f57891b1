/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/awaited_tools.h"

#include "base/json/json_write.h"
#include "model/execution/awaited_tools.sql.h"
#include "model/execution/resumptions.h"
#include "model/execution/run_phases.h"
#include "model/execution/run_rows.h"
#include "model/threads/events.h"

ENUM_DEFINE(tool_sides, TOOL_SIDES);

static enum error find(
    struct context *c, struct uuid run_id, struct str id, bool *out_found, struct awaited_tool *out)
{
    struct query q;
    context_query(c, &q, &SQL_AWAITED_TOOL_GET);
    query_uuid(&q, run_id, run_id);
    query_text(&q, tool_use_id, id);
    return awaited_tool_read_one(&q, out_found, out);
}

static enum error number_of_pause(struct context *c, const struct sql_statement *statement,
    struct uuid run_id, int64_t pause, int64_t *out_number)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, run_id, run_id);
    if (statement_takes(statement, pause))
        query_i64(&q, pause, pause);
    return context_number(&q, out_number);
}

/* --- The pause ------------------------------------------------------------------------------ */

/* Ids and names appear in events and logs, so they must not contain invisible characters. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~' || text.ptr[i] == '"' || text.ptr[i] == '\\')
            return false;
    return text.len <= TOOL_NAME_MAX_BYTES;
}

#define PLAIN_RULE \
    "must have 1 to %d visible ASCII characters other than \" and \\", TOOL_NAME_MAX_BYTES

static enum error check_tool(struct context *c, struct uuid run_id, const struct awaited_tool *tool,
    struct str at, bool needs_name)
{
    struct awaited_tool unused;
    bool found;
    struct str id_at = arena_printf(c->arena, "%.*s/tool_use_id", STR_ARG(at));
    if (tool->tool_use_id.len == 0 || !is_plain(tool->tool_use_id))
        return problem_fault(c->problem, id_at, PLAIN_RULE);
    if ((needs_name && tool->name.len == 0) || !is_plain(tool->name))
        return problem_fault(
            c->problem, arena_printf(c->arena, "%.*s/name", STR_ARG(at)), PLAIN_RULE);
    TRY(find(c, run_id, tool->tool_use_id, &found, &unused));
    if (found)
        return problem_fault(
            c->problem, id_at, "must differ from the ids that the run named before");
    return OK;
}

static enum error check_unique(
    struct context *c, const struct awaited_tool *const *tools, const struct str *places, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(tools[i]->tool_use_id, tools[k]->tool_use_id))
                return problem_fault(c->problem,
                    arena_printf(c->arena, "%.*s/tool_use_id", STR_ARG(places[i])),
                    "must differ from that of %.*s", STR_ARG(places[k]));
    return OK;
}

static enum error check_sizes(
    struct context *c, const struct awaited_tool *const *tools, const struct str *places, size_t n)
{
    size_t inputs = 0, results = 0;
    for (size_t i = 0; i < n; i++) {
        inputs += tools[i]->input.len;
        results += tools[i]->content.len;
        if (inputs > TOOL_INPUTS_MAX_BYTES)
            return problem_fault(c->problem,
                arena_printf(c->arena, "%.*s/input", STR_ARG(places[i])),
                "must keep the inputs of all tools within %d bytes", TOOL_INPUTS_MAX_BYTES);
        if (results > TOOL_RESULTS_MAX_BYTES)
            return problem_fault(c->problem,
                arena_printf(c->arena, "%.*s/content", STR_ARG(places[i])),
                "must keep the results of all tools within %d bytes", TOOL_RESULTS_MAX_BYTES);
    }
    return OK;
}

static enum error check_tools(
    struct context *c, const struct run *run, const struct tool_pause *pause)
{
    size_t n = pause->n_tools + pause->n_results;
    const struct awaited_tool **tools = ARENA_ARRAY(c->arena, const struct awaited_tool *, n);
    struct str *places = ARENA_ARRAY(c->arena, struct str, n);
    if (n > TOOLS_MAX)
        return problem_fault(c->problem, STR("/backend_results"),
            "must keep the number of tools within %d, including the pending tools", TOOLS_MAX);
    for (size_t i = 0; i < n; i++) {
        bool is_result = i >= pause->n_tools;
        size_t place = is_result ? i - pause->n_tools : i;
        tools[i] = is_result ? &pause->results[place] : &pause->tools[place];
        places[i] =
            arena_printf(c->arena, "/%s/%zu", is_result ? "backend_results" : "tools", place);
        TRY(check_tool(c, run->id, tools[i], places[i], !is_result));
    }
    TRY(check_unique(c, tools, places, n));
    return check_sizes(c, tools, places, n);
}

static enum error insert(
    struct context *c, struct uuid run_id, const struct awaited_tool *tool, bool is_result)
{
    struct query q;
    context_query(c, &q, &SQL_AWAITED_TOOL_INSERT);
    query_uuid(&q, run_id, run_id);
    query_text(&q, tool_use_id, tool->tool_use_id);
    query_i64(&q, pause, tool->pause);
    query_i64(&q, position, tool->position);
    query_text(&q, side, tool_side_word(tool->side));
    query_text(&q, name, str_is_none(tool->name) ? STR("") : tool->name);
    query_text(&q, input, str_is_none(tool->input) ? STR("{}") : tool->input);
    if (is_result) {
        query_text(&q, result, tool->content);
        query_bool(&q, is_error, tool->is_error);
        query_text(&q, result_by, c->principal);
    }
    query_i64_if(&q, result_at, is_result, c->now_us);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error tell_awaited(
    struct context *c, const struct run *run, const struct tool_pause *pause)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    json_write_name(&payload.w, "tools");
    json_write_array(&payload.w);
    for (size_t i = 0; i < pause->n_tools; i++) {
        json_write_object(&payload.w);
        json_write_text_member(&payload.w, "tool_use_id", pause->tools[i].tool_use_id);
        json_write_text_member(&payload.w, "name", pause->tools[i].name);
        json_write_text_member(&payload.w, "side", tool_side_word(pause->tools[i].side));
        json_write_end(&payload.w);
    }
    json_write_end(&payload.w);
    json_write_end(&payload.w);
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = event_kind_word(EVENT_TOOL_AWAITED),
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, run->thread_id, &event);
}

static enum error check_may_wait(struct context *c, const struct run *run)
{
    if (run->status == RUN_WAITING)
        return problem_set(c->problem, ERR_CONFLICT,
            "the run is already waiting: name more tools after the run continues");
    return OK;
}

enum error awaited_tools_add(struct context *c, struct run *run, const struct tool_pause *pause)
{
    int64_t last = 0, position = 0;
    TRY(run_check_fence(c, run));
    TRY(check_may_wait(c, run));
    TRY(check_tools(c, run, pause));
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_LAST_PAUSE, run->id, 0, &last));
    TRY(resumption_set_place(
        c, run->thread_id, pause->messages, pause->has_current_step, pause->current_step));
    for (size_t i = 0; i < pause->n_tools + pause->n_results; i++) {
        bool is_result = i >= pause->n_tools;
        struct awaited_tool *tool =
            is_result ? &pause->results[i - pause->n_tools] : &pause->tools[i];
        tool->pause = last + 1;
        tool->position = position++;
        tool->side = is_result ? TOOL_BACKEND : tool->side;
        TRY(insert(c, run->id, tool, is_result));
    }
    TRY(tell_awaited(c, run, pause));
    /* The event of the change contains the run's state. */
    TRY(run_get(c, run->id, run));
    TRY(run_await_tools(c, run));
    return run_get_head(c, run->id, run);
}

/* --- Results -------------------------------------------------------------------------------- */

static enum error tell_result(
    struct context *c, const struct run *run, struct str id, int64_t remaining)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    json_write_text_member(&payload.w, "tool_use_id", id);
    json_write_name(&payload.w, "remaining");
    json_write_i64(&payload.w, remaining);
    json_write_end(&payload.w);
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = event_kind_word(EVENT_TOOL_RESULT),
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, run->thread_id, &event);
}

static bool has_id(const struct str *ids, size_t n, struct str id)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(ids[i], id))
            return true;
    return false;
}

/* Separates new results from duplicates. An unknown id rejects the whole request. */
static enum error sort_out(struct context *c, const struct run *run,
    const struct tool_result *results, size_t n, bool *is_new, struct tool_outcome *out)
{
    struct awaited_tool tool = {0};
    size_t unknown = 0;
    for (size_t i = 0; i < n; i++) {
        bool found;
        struct str id = results[i].tool_use_id;
        TRY(find(c, run->id, id, &found, &tool));
        if (!found) {
            unknown++;
            problem_fault(c->problem, arena_printf(c->arena, "/results/%zu/tool_use_id", i),
                "must be the id of a tool that the run waits for");
            continue;
        }
        is_new[i] = !tool.has_result_at && !has_id(out->accepted, out->n_accepted, id);
        if (is_new[i])
            out->accepted[out->n_accepted++] = id;
        else
            out->duplicates[out->n_duplicates++] = id;
    }
    return unknown > 0 ? ERR_INVALID : OK;
}

static enum error check_room(struct context *c, const struct run *run, int64_t pause,
    const struct tool_result *results, const bool *is_new, size_t n)
{
    int64_t bytes = 0;
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_RESULT_BYTES, run->id, pause, &bytes));
    for (size_t i = 0; i < n; i++) {
        bytes += is_new[i] ? (int64_t)results[i].content.len : 0;
        if (bytes > TOOL_RESULTS_MAX_BYTES)
            return problem_fault(c->problem, arena_printf(c->arena, "/results/%zu/content", i),
                "must keep the results of all tools within %d bytes", TOOL_RESULTS_MAX_BYTES);
    }
    return OK;
}

static enum error settle_one(
    struct context *c, const struct run *run, const struct tool_result *result)
{
    struct query q;
    context_query(c, &q, &SQL_AWAITED_TOOL_SETTLE);
    query_uuid(&q, run_id, run->id);
    query_text(&q, tool_use_id, result->tool_use_id);
    query_text(&q, result, result->content);
    query_bool(&q, is_error, result->is_error);
    query_text(&q, result_by, c->principal);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

/* Writes {"tool_results":[…]}, in the order in which the engine named the tools. */
static enum error write_input(struct context *c, struct uuid run_id, int64_t pause, struct run *run)
{
    struct query q;
    struct json_text text;
    json_text_init(&text, RUN_DOCUMENT_MAX_BYTES);
    json_write_object(&text.w);
    json_write_name(&text.w, "tool_results");
    json_write_array(&text.w);
    context_query(c, &q, &SQL_AWAITED_TOOL_RESULTS);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, pause, pause);
    while (query_next(&q)) {
        struct str id = row_text(&q), content = row_text(&q);
        json_write_object(&text.w);
        json_write_text_member(&text.w, "type", STR("tool_result"));
        json_write_text_member(&text.w, "tool_use_id", id);
        json_write_name(&text.w, "content");
        json_write_raw(&text.w, content);
        json_write_name(&text.w, "is_error");
        json_write_bool(&text.w, row_bool(&q));
        json_write_end(&text.w);
    }
    json_write_end(&text.w);
    json_write_end(&text.w);
    run->input = json_text_take(&text, c->arena);
    return query_end(&q);
}

static bool waits_for_tools(const struct run *run)
{
    return run->phase == PHASE_AWAITING_TOOL &&
           (run->status == RUN_WAITING || run->status == RUN_PAUSED);
}

static enum error go_on(struct context *c, struct run *run, int64_t pause)
{
    TRY(run_get(c, run->id, run));
    TRY(write_input(c, run->id, pause, run));
    TRY(run_write_documents(c, run));
    return run_tools_done(c, run);
}

static enum error check_unfinished(
    struct context *c, const struct run *run, const struct tool_outcome *outcome)
{
    struct str status = run_status_word(run->status);
    if (outcome->n_accepted == 0 || !run_is_finished(run))
        return OK;
    return problem_set(
        c->problem, ERR_CONFLICT, "the run is %.*s and does not accept results", STR_ARG(status));
}

enum error awaited_tools_settle(struct context *c, struct run *run,
    const struct tool_result *results, size_t n, struct tool_outcome *out_outcome)
{
    bool *is_new = ARENA_ARRAY(c->arena, bool, n);
    struct tool_outcome outcome = {.accepted = ARENA_ARRAY(c->arena, struct str, n),
        .duplicates = ARENA_ARRAY(c->arena, struct str, n)};
    int64_t pause = 0, open = 0, before = 0;
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_LAST_PAUSE, run->id, 0, &pause));
    if (pause == 0)
        return problem_set(c->problem, ERR_CONFLICT, "the run has not named any tool to wait for");
    TRY(sort_out(c, run, results, n, is_new, &outcome));
    TRY(check_unfinished(c, run, &outcome));
    TRY(check_room(c, run, pause, results, is_new, n));
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_COUNT_OPEN, run->id, pause, &before));
    open = before;
    for (size_t i = 0; i < n; i++) {
        if (!is_new[i])
            continue;
        TRY(settle_one(c, run, &results[i]));
        TRY(number_of_pause(c, &SQL_AWAITED_TOOL_COUNT_OPEN, run->id, pause, &open));
        TRY(tell_result(c, run, results[i].tool_use_id, open));
    }
    outcome.remaining = open;
    outcome.resumed = before > 0 && open == 0 && waits_for_tools(run);
    if (outcome.resumed)
        TRY(go_on(c, run, pause));
    *out_outcome = outcome;
    return run_get_head(c, run->id, run);
}

/* --- Read ----------------------------------------------------------------------------------- */

enum error awaited_tool_list(struct context *c, struct uuid run_id,
    const struct awaited_tool_filter *filter, struct page *page, struct awaited_tool *out_tools)
{
    struct query q;
    page_begin(c, &q, &SQL_AWAITED_TOOL_LIST, page);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, after_pause, filter->after_pause);
    query_i64(&q, after_position, filter->after_position);
    query_bool(&q, open_only, filter->open_only);
    return awaited_tool_read_page(&q, page, out_tools);
}
