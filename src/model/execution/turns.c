/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/turns.h"

#include "base/json/json_write.h"
#include "model/execution/run_rows.h"
#include "model/execution/turn_tools.h"
#include "model/execution/turns.sql.h"
#include "model/threads/events.h"

ENUM_DEFINE(turn_statuses, TURN_STATUSES);

unsigned turn_transitions(enum turn_status from)
{
#define NEXT(status, word, next) [status] = next,
    static const unsigned allowed[] = {TURN_STATUSES(NEXT)};
#undef NEXT
    return allowed[from];
}

static bool is_finished(enum turn_status status)
{
    return turn_transitions(status) == 0;
}

static enum error check_transition(struct context *c, enum turn_status from, enum turn_status to)
{
    return from == to
               ? OK
               : transition_check(c, "turn", turn_statuses, turn_transitions(from), from, to);
}

/* --- Queries -------------------------------------------------------------------------------- */

static void read_row(struct query *q, struct turn *out)
{
    turn_read(q, out);
    out->usage.has_cost =
        out->usage.unpriced_calls == 0 || out->usage.llm_calls > out->usage.unpriced_calls;
}

enum error turn_get(struct context *c, struct uuid run_id, struct uuid id, struct turn *out_turn)
{
    struct query q;
    context_query(c, &q, &SQL_TURN_GET);
    query_uuid(&q, run_id, run_id);
    query_uuid(&q, id, id);
    bool found = query_next(&q);
    if (found)
        read_row(&q, out_turn);
    TRY(query_end(&q));
    return !found ? context_not_found(c, "turn", id) : OK;
}

enum error turn_list(struct context *c, struct uuid run_id, int64_t after, bool with_documents,
    struct page *page, struct turn *out_turns)
{
    struct query q;
    page_begin(c, &q, with_documents ? &SQL_TURN_LIST_WHOLE : &SQL_TURN_LIST, page);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, after, after);
    while (page_next(&q, page))
        read_row(&q, &out_turns[page->count++]);
    return query_end(&q);
}

/* Reads the newest turn of the run, without its documents; out_found is false if there is none. */
static enum error get_newest(
    struct context *c, const struct run *run, struct turn *out_turn, bool *out_found)
{
    struct query q;
    *out_found = false;
    if (run->turn_count == 0)
        return OK;
    context_query(c, &q, &SQL_TURN_BY_NUMBER);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, run->turn_count);
    *out_found = query_next(&q);
    if (*out_found)
        read_row(&q, out_turn);
    return query_end(&q);
}

/* --- Checks of a turn ----------------------------------------------------------------------- */

static void check_result(struct context *c, struct json result, size_t index)
{
    struct str pointer = arena_printf(c->arena, "/input/tool_results/%zu", index);
    struct json id;
    if (json_type(result) != JSON_OBJECT) {
        problem_fault(c->problem, pointer, "must be an object");
        return;
    }
    pointer = arena_printf(c->arena, "%.*s/tool_use_id", STR_ARG(pointer));
    if (!json_get(result, STR("tool_use_id"), &id) || json_type(id) != JSON_STRING) {
        problem_fault(c->problem, pointer, "must be given, as a string");
        return;
    }
    size_t bytes = json_string(c->arena, id).len;
    if (bytes == 0 || bytes > TURN_TOOL_ID_MAX_BYTES)
        problem_fault(c->problem, pointer, "must have 1 to %d bytes", TURN_TOOL_ID_MAX_BYTES);
}

enum error turn_check_input(struct context *c, struct str message, struct str results)
{
    const struct str pointer = STR("/input");
    struct json_doc doc;
    struct json_error bad;
    struct json_iter it;
    struct json result;
    if (str_is_none(message) && str_is_none(results))
        return problem_fault(c->problem, pointer, "must have a message or tool_results");
    if (str_is_none(results))
        return OK;
    if (!json_parse(c->arena, results, &doc, &bad))
        return problem_set(c->problem, ERR_INTERNAL, "the results cannot be read");
    size_t count = json_count(json_root(&doc)), index = 0;
    if (count == 0 || count > TURN_TOOL_RESULTS_MAX)
        return problem_fault(c->problem, STR("/input/tool_results"), "must have 1 to %d items",
            TURN_TOOL_RESULTS_MAX);
    it = json_iter(json_root(&doc));
    while (json_next(&it, NULL, &result))
        check_result(c, result, index++);
    return c->problem->n_faults > 0 ? ERR_INVALID : OK;
}

/* Sets an absent status of the turn to the "status" of its output, or else to `usual`. */
static enum error take_status(struct context *c, struct turn *turn, enum turn_status usual)
{
    struct json_doc doc;
    struct json_error bad;
    struct json member;
    if (!json_parse(c->arena, turn->output, &doc, &bad))
        return problem_set(c->problem, ERR_INTERNAL, "the output cannot be read");
    bool tells =
        json_get(json_root(&doc), STR("status"), &member) && json_type(member) == JSON_STRING;
    enum turn_status told =
        tells ? turn_status_parse(json_string(c->arena, member)) : TURN_STATUS_NONE;
    if (tells && (told == TURN_STATUS_NONE || told == TURN_RUNNING))
        return problem_fault(c->problem, STR("/output/status"),
            "must be complete, awaiting_tool, awaiting_human, failed or cancelled");
    if (turn->status == TURN_STATUS_NONE)
        turn->status = tells ? told : usual;
    struct str status = turn_status_word(turn->status);
    if (tells && told != turn->status)
        return problem_fault(c->problem, STR("/output/status"),
            "must be equal to the status of the turn, %.*s", STR_ARG(status));
    return OK;
}

static enum error check_checkpoint(
    struct context *c, const struct run *run, const struct turn *turn)
{
    struct query q;
    int64_t count = 0;
    if (!turn->has_checkpoint_id)
        return OK;
    context_query(c, &q, &SQL_TURN_FIND_CHECKPOINT);
    query_uuid(&q, thread_id, run->thread_id);
    query_uuid(&q, checkpoint_id, turn->checkpoint_id);
    TRY(context_number(&q, &count));
    if (count == 0)
        return problem_fault(
            c->problem, STR("/checkpoint_id"), "must be a checkpoint of the run's thread");
    return OK;
}

/* --- Changes -------------------------------------------------------------------------------- */

static enum error tell(
    struct context *c, const struct run *run, const struct turn *turn, enum event_kind kind)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    json_write_name(&payload.w, "turn_id");
    json_write_uuid(&payload.w, turn->id);
    json_write_name(&payload.w, "number");
    json_write_i64(&payload.w, turn->number);
    json_write_text_member(&payload.w, "status", turn_status_word(turn->status));
    json_write_end(&payload.w);
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = event_kind_word(kind),
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, run->thread_id, &event);
}

static enum error insert(struct context *c, const struct run *run, const struct turn *turn)
{
    struct query q;
    context_query(c, &q, &SQL_TURN_INSERT);
    turn_bind(&q, turn);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, turn->number);
    query_text(&q, input, turn->input);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    context_query(c, &q, &SQL_TURN_COUNT);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, turn->number);
    return query_run(&q);
}

static void take_end(struct context *c, struct turn *turn)
{
    if (turn->has_finished_at || !is_finished(turn->status))
        return;
    turn->has_finished_at = true;
    turn->finished_at = c->now_us;
}

static enum error end(
    struct context *c, const struct run *run, struct turn *turn, enum turn_status status)
{
    struct query q;
    turn->status = status;
    context_query(c, &q, &SQL_TURN_END);
    query_uuid(&q, id, turn->id);
    query_text(&q, status, turn_status_word(status));
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return tell(c, run, turn, EVENT_TURN_UPDATED);
}

/* Only the newest turn can be unfinished. */
enum error turn_find_open(
    struct context *c, const struct run *run, struct turn *out_turn, bool *out_found)
{
    TRY(get_newest(c, run, out_turn, out_found));
    *out_found = *out_found && !is_finished(out_turn->status);
    return OK;
}

static enum error check_begin(
    struct context *c, const struct run *run, struct turn *out_open, bool *out_is_open)
{
    struct str status = run_status_word(run->status);
    if (run_is_finished(run))
        return problem_set(
            c->problem, ERR_CONFLICT, "the run is %.*s: it cannot start a turn", STR_ARG(status));
    TRY(turn_find_open(c, run, out_open, out_is_open));
    if (*out_is_open && out_open->status == TURN_RUNNING)
        return problem_set(c->problem, ERR_CONFLICT,
            "turn %lld of the run is still running: complete it first",
            (long long)out_open->number);
    return OK;
}

static bool has_message(struct json input, struct json *out_message)
{
    return json_get(input, STR("message"), out_message) && json_type(*out_message) == JSON_STRING;
}

static enum error count_usage(
    struct context *c, const struct run *run, struct uuid turn_id, const struct usage *usage)
{
    struct cost cost;
    return usage == NULL ? OK : usage_add(c, run, turn_id, usage, &cost);
}

/* Makes the run wait for the tools of a turn that now awaits them, or for a person. */
static enum error await(
    struct context *c, struct run *run, enum turn_status status, const struct tool_pause *pause)
{
    if (status == TURN_AWAITING_HUMAN)
        return run_await_human(c, run);
    return pause->n_tools > 0 ? awaited_tools_add(c, run, pause) : OK;
}

/* Returns true if the run, which waits, waits again at the end of this turn. Its client then works
 * on it in between: a run with dispatch queue must not return to the queue. */
static enum error waits_again(
    struct context *c, const struct run *run, const struct turn *turn, bool *out_waits)
{
    *out_waits = turn->status == TURN_AWAITING_TOOL && turn_tools_named(c->arena, turn->output);
    return turn->status == TURN_AWAITING_HUMAN ? run_may_ask(c, run, out_waits) : OK;
}

static bool waits_for_person(const struct run *run)
{
    return run_waits(run) && run->phase != PHASE_AWAITING_TOOL;
}

/* The message of the next turn is the answer of the person for whom the run waits. */
static enum error take_answer(struct context *c, struct run *run, bool works_on,
    const struct turn *open, const struct turn *next)
{
    struct json_doc doc;
    struct json_error unused;
    struct json message;
    if (open->status != TURN_AWAITING_HUMAN || !waits_for_person(run) ||
        !json_parse(c->arena, next->input, &doc, &unused) ||
        !has_message(json_root(&doc), &message))
        return OK;
    TRY(run_get(c, run->id, run));
    TRY(run_answer(
        c, run, json_compact(c->arena, message), works_on ? RUN_RUNNING : run_ready_status(run)));
    return run_get(c, run->id, run);
}

enum error turn_begin(
    struct context *c, const struct run *of, struct turn *turn, const struct usage *usage)
{
    struct run run = *of;
    struct turn open = {0};
    struct tool_pause pause = {0};
    bool is_open = false, works_on = false;
    TRY(run_check_fence(c, &run));
    TRY(check_begin(c, &run, &open, &is_open));
    if (!str_is_none(turn->output))
        TRY(take_status(c, turn, TURN_COMPLETE));
    TRY(check_checkpoint(c, &run, turn));
    TRY(waits_again(c, &run, turn, &works_on));
    if (is_open)
        TRY(take_answer(c, &run, works_on, &open, turn));
    TRY(turn_tools_settle(c, &run, works_on, turn->tool_results));
    if (turn->status == TURN_AWAITING_TOOL)
        TRY(turn_tools_read(c, &run, turn->output, &pause));
    if (turn->status == TURN_STATUS_NONE)
        turn->status = TURN_RUNNING;
    turn->id = uuid_v7();
    turn->number = run.turn_count + 1;
    take_end(c, turn);
    /* The last result may have completed the turn that waited, and otherwise this turn does. */
    TRY(turn_find_open(c, &run, &open, &is_open));
    if (is_open)
        TRY(end(c, &run, &open, TURN_COMPLETE));
    TRY(insert(c, &run, turn));
    TRY(count_usage(c, &run, turn->id, usage));
    TRY(tell(c, &run, turn, EVENT_TURN_CREATED));
    TRY(await(c, &run, turn->status, &pause));
    return turn_get(c, run.id, turn->id, turn);
}

/* The output of a finished turn cannot change; latency and checkpoint may be reported later. */
static enum error check_change(struct context *c, const struct turn *before,
    const struct turn *after, const struct usage *usage)
{
    struct str status = turn_status_word(before->status);
    TRY(check_transition(c, before->status, after->status));
    if (usage != NULL && before->usage.llm_calls > 0)
        return problem_set(c->problem, ERR_CONFLICT,
            "the turn already has reported model calls: report further calls separately");
    if (is_finished(before->status) && str_differs(before->output, after->output))
        return problem_set(c->problem, ERR_CONFLICT,
            "the turn is %.*s: its output cannot be changed", STR_ARG(status));
    return OK;
}

enum error turn_update(struct context *c, const struct run *of, const struct turn *before,
    struct turn *after, const struct usage *usage)
{
    struct run run = *of;
    struct turn turn = *before;
    struct tool_pause pause = {0};
    struct query q;
    bool has_new_output = str_differs(before->output, after->output);
    TRY(context_check_match(c, before->version));
    TRY(run_check_fence(c, &run));
    turn.output = after->output;
    turn.status = after->status;
    turn.has_latency_ms = after->has_latency_ms;
    turn.latency_ms = after->latency_ms;
    turn.has_checkpoint_id = after->has_checkpoint_id;
    turn.checkpoint_id = after->checkpoint_id;
    if (has_new_output && !str_is_none(turn.output))
        TRY(take_status(c, &turn, before->status == TURN_RUNNING ? TURN_COMPLETE : before->status));
    if (turn.status == TURN_STATUS_NONE)
        turn.status = before->status;
    TRY(check_change(c, before, &turn, usage));
    TRY(check_checkpoint(c, &run, &turn));
    if (turn.status == TURN_AWAITING_TOOL && before->status != TURN_AWAITING_TOOL)
        TRY(turn_tools_read(c, &run, turn.output, &pause));
    take_end(c, &turn);
    context_query(c, &q, &SQL_TURN_UPDATE);
    turn_bind(&q, &turn);
    TRY(query_run(&q));
    TRY(count_usage(c, &run, turn.id, usage));
    TRY(tell(c, &run, &turn, EVENT_TURN_UPDATED));
    if (turn.status != before->status)
        TRY(await(c, &run, turn.status, &pause));
    return turn_get(c, run.id, turn.id, after);
}

enum error turn_end_wait(struct context *c, const struct run *run, enum turn_status awaited)
{
    struct turn turn;
    bool found;
    TRY(turn_find_open(c, run, &turn, &found));
    found = found && turn.status == awaited;
    return found ? end(c, run, &turn, TURN_COMPLETE) : OK;
}

static enum turn_status status_at_end(enum run_status status)
{
    return status == RUN_COMPLETED ? TURN_COMPLETE
           : status == RUN_FAILED  ? TURN_FAILED
                                   : TURN_CANCELLED;
}

enum error turn_end_open(struct context *c, const struct run *run)
{
    struct turn turn;
    bool found;
    TRY(turn_find_open(c, run, &turn, &found));
    return found ? end(c, run, &turn, status_at_end(run->status)) : OK;
}
