/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/awaited_tools.h"

#include "base/json/json_write.h"
#include "model/execution/awaited_tools.sql.h"
#include "model/execution/resumptions.h"
#include "model/execution/run_phases.h"
#include "model/execution/run_rows.h"
#include "model/execution/runs.sql.h"
#include "model/execution/turns.h"
#include "model/threads/events.h"

ENUM_DEFINE(tool_sides, TOOL_SIDES);
ENUM_DEFINE(tool_call_statuses, TOOL_CALL_STATUSES);

enum error awaited_tool_find(struct context *c, struct uuid run_id, struct str id, bool *out_found,
    struct awaited_tool *out_tool)
{
    struct query q;
    context_query(c, &q, &SQL_AWAITED_TOOL_GET);
    query_uuid(&q, run_id, run_id);
    query_text(&q, tool_use_id, id);
    return awaited_tool_read_one(&q, out_found, out_tool);
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

/* Where a tool is in the body. */
struct place {
    struct str at;
    const char *id_member;
};

static struct str inside(struct context *c, const struct place *place, const char *member)
{
    return arena_printf(c->arena, "%.*s/%s", STR_ARG(place->at), member);
}

static enum error check_tool(struct context *c, struct uuid run_id, const struct awaited_tool *tool,
    const struct place *place, bool needs_name)
{
    struct awaited_tool unused;
    bool found;
    struct str id_at = inside(c, place, place->id_member);
    if (tool->tool_use_id.len == 0 || !is_plain(tool->tool_use_id))
        return problem_fault(c->problem, id_at, PLAIN_RULE);
    if ((needs_name && tool->name.len == 0) || !is_plain(tool->name))
        return problem_fault(c->problem, inside(c, place, "name"), PLAIN_RULE);
    if (tool->has_deadline && tool->deadline <= context_due_now_us(c))
        return problem_fault(c->problem, inside(c, place, "deadline"), "must be in the future");
    TRY(awaited_tool_find(c, run_id, tool->tool_use_id, &found, &unused));
    if (found)
        return problem_fault(
            c->problem, id_at, "must differ from the ids that the run named before");
    return OK;
}

static enum error check_unique(struct context *c, const struct awaited_tool *const *tools,
    const struct place *places, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(tools[i]->tool_use_id, tools[k]->tool_use_id))
                return problem_fault(c->problem, inside(c, &places[i], places[i].id_member),
                    "must differ from that of %.*s", STR_ARG(places[k].at));
    return OK;
}

static enum error check_sizes(struct context *c, const struct awaited_tool *const *tools,
    const struct place *places, size_t n)
{
    size_t inputs = 0, results = 0;
    for (size_t i = 0; i < n; i++) {
        inputs += tools[i]->input.len;
        results += tools[i]->content.len;
        if (inputs > TOOL_INPUTS_MAX_BYTES)
            return problem_fault(c->problem, inside(c, &places[i], "input"),
                "must keep the inputs of all tools within %d bytes", TOOL_INPUTS_MAX_BYTES);
        if (results > TOOL_RESULTS_MAX_BYTES)
            return problem_fault(c->problem, inside(c, &places[i], "content"),
                "must keep the results of all tools within %d bytes", TOOL_RESULTS_MAX_BYTES);
    }
    return OK;
}

static enum error check_tools(
    struct context *c, const struct run *run, const struct tool_pause *pause)
{
    size_t n = pause->n_tools + pause->n_results;
    const struct awaited_tool **tools = ARENA_ARRAY(c->arena, const struct awaited_tool *, n);
    struct place *places = ARENA_ARRAY(c->arena, struct place, n);
    if (n > TOOLS_MAX)
        return problem_fault(c->problem,
            pause->n_results > 0 ? STR("/backend_results") : pause->tools_at,
            "must keep the number of tools within %d, including the pending tools", TOOLS_MAX);
    for (size_t i = 0; i < n; i++) {
        bool is_result = i >= pause->n_tools;
        size_t index = is_result ? i - pause->n_tools : i;
        struct str list = is_result ? STR("/backend_results") : pause->tools_at;
        tools[i] = is_result ? &pause->results[index] : &pause->tools[index];
        places[i].at = arena_printf(c->arena, "%.*s/%zu", STR_ARG(list), index);
        places[i].id_member = is_result ? "tool_use_id" : pause->id_member;
        TRY(check_tool(c, run->id, tools[i], &places[i], !is_result));
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
    query_i64_if(&q, deadline, tool->has_deadline, tool->deadline);
    query_uuid_if(&q, turn_id, tool->has_turn_id, tool->turn_id);
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

/* The engine may have changed the phase before it names the tools. */
static enum error check_may_wait(struct context *c, const struct run *run)
{
    int64_t pause = 0, open = 0;
    if (!run_waits(run))
        return OK;
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_LAST_PAUSE, run->id, 0, &pause));
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_COUNT_OPEN, run->id, pause, &open));
    if (run->phase != PHASE_AWAITING_TOOL || open > 0)
        return problem_set(c->problem, ERR_CONFLICT,
            "the run is already waiting: name more tools after the run continues");
    return OK;
}

enum error awaited_tools_check(
    struct context *c, const struct run *run, const struct tool_pause *pause)
{
    TRY(run_check_fence(c, run));
    TRY(check_may_wait(c, run));
    return check_tools(c, run, pause);
}

static void take_deadline(struct run *run, const struct awaited_tool *tool)
{
    if (!tool->has_deadline || (run->has_tool_deadline && run->tool_deadline <= tool->deadline))
        return;
    run->has_tool_deadline = true;
    run->tool_deadline = tool->deadline;
}

enum error awaited_tools_add(struct context *c, struct run *run, const struct tool_pause *pause)
{
    int64_t last = 0, position = 0;
    struct turn turn = {0};
    bool in_turn = false;
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_LAST_PAUSE, run->id, 0, &last));
    TRY(resumption_set_place(
        c, run->thread_id, pause->messages, pause->has_current_step, pause->current_step));
    /* The event of the change contains the run's state. */
    TRY(run_get(c, run->id, run));
    TRY(turn_find_open(c, run, &turn, &in_turn));
    for (size_t i = 0; i < pause->n_tools + pause->n_results; i++) {
        bool is_result = i >= pause->n_tools;
        struct awaited_tool *tool =
            is_result ? &pause->results[i - pause->n_tools] : &pause->tools[i];
        tool->pause = last + 1;
        tool->position = position++;
        tool->side = is_result ? TOOL_BACKEND : tool->side;
        tool->has_turn_id = in_turn;
        tool->turn_id = turn.id;
        TRY(insert(c, run->id, tool, is_result));
        take_deadline(run, tool);
    }
    TRY(tell_awaited(c, run, pause));
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
        TRY(awaited_tool_find(c, run->id, id, &found, &tool));
        if (!found) {
            unknown++;
            problem_fault(c->problem,
                arena_printf(c->arena, "%.*s/tool_use_id", STR_ARG(results[i].at)),
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
            return problem_fault(c->problem,
                arena_printf(c->arena, "%.*s/content", STR_ARG(results[i].at)),
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

static enum error go_on(struct context *c, struct run *run, bool works_on, int64_t pause)
{
    TRY(run_get(c, run->id, run));
    TRY(write_input(c, run->id, pause, run));
    TRY(run_write_documents(c, run));
    TRY(turn_end_wait(c, run, TURN_AWAITING_TOOL));
    return run_tools_done(c, run, works_on ? RUN_RUNNING : run_ready_status(run));
}

static enum error update_deadline(struct context *c, struct uuid run_id, int64_t pause)
{
    struct query q;
    context_query(c, &q, &SQL_AWAITED_TOOL_UPDATE_DEADLINE);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, pause, pause);
    return query_run(&q);
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

enum error awaited_tools_settle(struct context *c, struct run *run, bool works_on,
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
        TRY(go_on(c, run, works_on, pause));
    else if (run->has_tool_deadline && outcome.n_accepted > 0)
        TRY(update_deadline(c, run->id, pause));
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
    query_uuid_if(&q, turn_id, filter->has_turn_id, filter->turn_id);
    return awaited_tool_read_page(&q, page, out_tools);
}

/* An engine may report a timeout of tools without a deadline, and then names no ids. */
static bool all_timed_out(struct arena *arena, const struct run *run)
{
    struct json_doc doc;
    struct json_error unused;
    struct json code, ids;
    return !str_is_none(run->error) && json_parse(arena, run->error, &doc, &unused) &&
           json_get(json_root(&doc), STR("code"), &code) && json_type(code) == JSON_STRING &&
           json_string_eq(code, run_reason_word(REASON_TOOL_TIMEOUT)) &&
           !json_get(json_root(&doc), STR("tool_use_ids"), &ids);
}

enum tool_call_status awaited_tool_status(
    struct arena *arena, const struct run *run, const struct awaited_tool *tool)
{
    if (tool->has_result_at)
        return tool->is_error ? TOOL_CALL_ERROR : TOOL_CALL_SUCCESS;
    if (!run_is_finished(run))
        return TOOL_CALL_PENDING;
    if (run->status != RUN_FAILED)
        return TOOL_CALL_CANCELLED;
    bool is_late = tool->has_deadline && tool->deadline <= run->finished_at;
    return is_late || all_timed_out(arena, run) ? TOOL_CALL_TIMEOUT : TOOL_CALL_ERROR;
}

/* --- Deadlines ------------------------------------------------------------------------------ */

enum error awaited_tools_list_overdue(
    struct context *c, size_t limit, struct owned_id *out_runs, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_RUN_TOOLS_OVERDUE, c->arena);
    query_i64(&q, due_now, context_cautious_now_us(c));
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_runs, out_count);
}

/* Writes the error of a run whose tools are late, with their ids. */
static enum error describe_late(struct context *c, const struct run *run, struct str *out_error)
{
    struct query q;
    struct json_text text;
    int64_t pause = 0;
    TRY(number_of_pause(c, &SQL_AWAITED_TOOL_LAST_PAUSE, run->id, 0, &pause));
    json_text_init(&text, THREAD_METADATA_MAX_BYTES);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "code", run_reason_word(REASON_TOOL_TIMEOUT));
    json_write_text_member(
        &text.w, "message", STR("awaited tools had no result at their deadline"));
    json_write_name(&text.w, "tool_use_ids");
    json_write_array(&text.w);
    context_query(c, &q, &SQL_AWAITED_TOOL_LIST_LATE);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, pause, pause);
    query_i64(&q, due_now, context_cautious_now_us(c));
    while (query_next(&q))
        json_write_string(&text.w, row_text(&q));
    json_write_end(&text.w);
    json_write_end(&text.w);
    *out_error = json_text_take(&text, c->arena);
    return query_end(&q);
}

enum error awaited_tools_end_overdue(struct context *c, struct uuid run_id)
{
    struct run run;
    struct phase_move move = {.to = PHASE_FAILED, .trigger = TRIGGER_TOOL_TIMEOUT};
    enum error e = run_get_head(c, run_id, &run);
    if (e == ERR_NOT_FOUND)
        return OK;
    bool is_late = run.has_tool_deadline && run.tool_deadline <= context_cautious_now_us(c);
    if (e != OK || !is_late)
        return e;
    TRY(describe_late(c, &run, &move.detail));
    return run_fail(c, &run, REASON_TOOL_TIMEOUT, move.detail, &move);
}
