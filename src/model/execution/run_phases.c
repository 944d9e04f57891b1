/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/run_phases.h"

#include "base/json/json_write.h"
#include "model/execution/run_phases.sql.h"
#include "model/execution/run_rows.h"
#include "model/threads/events.h"

ENUM_DEFINE(run_phases, RUN_PHASES);
ENUM_DEFINE(phase_triggers, PHASE_TRIGGERS);

#define RULE(trigger, word, from, to) {from, to, trigger},
const struct run_phase_rule run_phase_rules[] = {PHASE_TRIGGERS(RULE)};
#undef RULE
const size_t run_phase_rule_count = TRIGGER_ERROR - 1;

enum run_status run_phase_status(enum phase phase)
{
#define STATUS(phase, word, status) [phase] = status,
    static const enum run_status statuses[] = {RUN_PHASES(STATUS)};
#undef STATUS
    return statuses[phase];
}

bool run_phase_is_final(enum phase phase)
{
    return run_status_is_final(run_phase_status(phase));
}

enum phase run_phase_at_end(enum run_status status)
{
    if (!run_status_is_final(status))
        return PHASE_NONE;
    enum phase phase = PHASE_COMPLETED;
    while (run_phase_status(phase) != status)
        phase++;
    return phase;
}

static const struct run_phase_rule *find_rule(enum phase from, enum phase to)
{
    for (size_t i = 0; i < run_phase_rule_count; i++)
        if (from == run_phase_rules[i].from && to == run_phase_rules[i].to)
            return &run_phase_rules[i];
    return NULL;
}

const char *const *run_phase_next(struct arena *arena, enum phase from)
{
    const char **next = ARENA_ARRAY(arena, const char *, run_phase_rule_count + 2);
    size_t n = 0;
    for (size_t i = 0; i < run_phase_rule_count; i++)
        if (from == run_phase_rules[i].from && run_phase_rules[i].to != PHASE_FAILED)
            next[n++] = phase_word(run_phase_rules[i].to).ptr;
    if (!run_phase_is_final(from))
        next[n++] = phase_word(PHASE_FAILED).ptr;
    next[n] = NULL;
    return next;
}

/* `to` is a phase, or a status whose phase cannot follow. */
static enum error refuse(struct context *c, enum phase from, struct str to)
{
    return transition_refused(c, "run", phase_word(from), to, run_phase_next(c->arena, from));
}

/* --- The log -------------------------------------------------------------------------------- */

static enum error insert(
    struct context *c, const struct run *run, enum phase from, const struct phase_move *move)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_PHASE_INSERT);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, run->phase_changes);
    query_text(&q, from_phase, phase_word(from));
    query_text(&q, to_phase, phase_word(run->phase));
    query_text(&q, trigger, phase_trigger_word(move->trigger));
    query_text(&q, detail, move->detail);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error tell(
    struct context *c, const struct run *run, enum phase from, const struct phase_move *move)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    json_write_text_member(&payload.w, "from", phase_word(from));
    json_write_text_member(&payload.w, "to", phase_word(run->phase));
    json_write_text_member(&payload.w, "trigger", phase_trigger_word(move->trigger));
    json_write_end(&payload.w);
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = event_kind_word(EVENT_RUN_PHASE),
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, run->thread_id, &event);
}

enum error run_take_phase(struct context *c, struct run *run, const struct phase_move *move)
{
    enum phase from = run->phase;
    if (move->to == PHASE_NONE)
        return OK;
    run->phase = move->to;
    run->phase_changes++;
    if (run->phase != PHASE_AWAITING_TOOL)
        run->has_tool_deadline = false;
    TRY(insert(c, run, from, move));
    return tell(c, run, from, move);
}

enum error run_phase_list(struct context *c, struct uuid run_id, int64_t after, struct page *page,
    struct run_phase *out_phases)
{
    struct query q;
    page_begin(c, &q, &SQL_RUN_PHASE_LIST, page);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, after, after);
    while (page_next(&q, page)) {
        struct run_phase *phase = &out_phases[page->count++];
        phase->number = row_i64(&q);
        phase->from = row_enum(&q, run_phases);
        phase->to = row_enum(&q, run_phases);
        phase->trigger = row_text(&q);
        phase->detail = row_text(&q);
        phase->created_at = row_i64(&q);
    }
    return query_end(&q);
}

/* --- The phase for a change of status ------------------------------------------------------- */

/* Waiting for tools leads a run that does not use phases to awaiting_tool and executing. In these
 * phases the log shows whether the run uses phases. */
static enum error uses_phases(struct context *c, const struct run *run, bool *out_uses)
{
    bool is_shared = run->phase == PHASE_EXECUTING || run->phase == PHASE_AWAITING_TOOL;
    struct query q;
    int64_t count = 0;
    *out_uses = run->phase != PHASE_CREATED;
    if (!is_shared)
        return OK;
    context_query(c, &q, &SQL_RUN_PHASE_FIND_MOVED);
    query_uuid(&q, run_id, run->id);
    TRY(context_number(&q, &count));
    *out_uses = count > 0;
    return OK;
}

struct phase_move run_phase_implied(const struct run *run, enum run_status to, struct str reason)
{
    struct phase_move move = {0};
    if (run_status_is_final(to)) {
        move.to = run_phase_at_end(to);
        move.trigger = to == RUN_CANCELLED ? TRIGGER_CANCEL : TRIGGER_STATUS;
    } else if (run->phase == PHASE_AWAITING_HUMAN && run_reason_parse(reason) == REASON_INPUT) {
        move.to = PHASE_PLANNING;
        move.trigger = TRIGGER_HUMAN_INPUT;
    } else if (run->phase == PHASE_AWAITING_TOOL && to == RUN_RUNNING) {
        move.to = PHASE_EXECUTING;
        move.trigger = TRIGGER_TOOL_RESULT;
    }
    return move;
}

/* Finds the change of phase that the table has for this status. The run uses phases. */
static enum error find_move(
    struct context *c, const struct run *run, enum run_status to, struct phase_move *out_move)
{
    *out_move = (struct phase_move){0};
    if (to == run_phase_status(run->phase))
        return OK;
    if (to == RUN_FAILED) {
        *out_move = (struct phase_move){.to = PHASE_FAILED, .trigger = TRIGGER_ERROR};
        return OK;
    }
    for (size_t i = 0; i < run_phase_rule_count; i++) {
        const struct run_phase_rule *rule = &run_phase_rules[i];
        if (run->phase == rule->from && to == run_phase_status(rule->to)) {
            *out_move = (struct phase_move){.to = rule->to, .trigger = rule->trigger};
            return OK;
        }
    }
    return refuse(c, run->phase, run_status_word(to));
}

enum error run_phase_of_patch(
    struct context *c, const struct run *run, enum run_status to, struct phase_move *out_move)
{
    bool resumes = run->status == RUN_PAUSED && to == run_ready_status(run), uses = false;
    *out_move = (struct phase_move){0};
    if (run->status == to || resumes || to == RUN_PAUSED || to == RUN_QUEUED)
        return OK;
    TRY(uses_phases(c, run, &uses));
    if (uses)
        return find_move(c, run, to, out_move);
    *out_move = run_phase_implied(run, to, STR_NONE);
    if (run_status_is_final(to))
        out_move->trigger = TRIGGER_STATUS;
    return OK;
}

/* --- Moves ---------------------------------------------------------------------------------- */

/* Returns the trigger of this change; a fault if the client sent another one (`told`). */
static enum error find_trigger(struct context *c, enum phase from, enum phase to, struct str told,
    enum phase_trigger *out_trigger)
{
    const struct run_phase_rule *rule = find_rule(from, to);
    bool fails = to == PHASE_FAILED;
    enum phase_trigger usual = fails || rule == NULL ? TRIGGER_ERROR : rule->trigger;
    enum phase_trigger given = str_is_none(told) ? usual : phase_trigger_parse(told);
    if (given == usual || (rule != NULL && given == rule->trigger)) {
        *out_trigger = given;
        return OK;
    }
    struct str first = phase_trigger_word(usual);
    struct str second = fails && rule != NULL ? phase_trigger_word(rule->trigger) : STR_NONE;
    return problem_fault(c->problem, STR("/trigger"), "must be %.*s%s%.*s for this transition",
        STR_ARG(first), str_is_none(second) ? "" : " or ", STR_ARG(second));
}

/* Returns the status of the run in this phase, which may be its current one. */
static enum run_status status_with(const struct run *run, enum phase phase)
{
    enum run_status status = run_phase_status(phase);
    bool waits = run->status == RUN_WAITING;
    return status == RUN_RUNNING && waits ? run_ready_status(run) : status;
}

static enum error check_move(struct context *c, const struct run *run, enum phase to)
{
    bool fails = to == PHASE_FAILED && !run_phase_is_final(run->phase);
    if (find_rule(run->phase, to) == NULL && !fails)
        return refuse(c, run->phase, phase_word(to));
    if (run->status == RUN_PAUSED && !fails)
        return problem_set(c->problem, ERR_CONFLICT, "the run is paused: resume it first");
    return run_check_status(c, run, status_with(run, to));
}

/* The error of a run that failed without a detail. */
static struct str error_of(struct arena *arena, enum phase_trigger trigger)
{
    struct json_text text;
    json_text_init(&text, THREAD_METADATA_MAX_BYTES);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "code", phase_trigger_word(trigger));
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

/* The detail becomes the error of the run, which may have one already. */
static enum error take_error(struct context *c, struct run *run, const struct phase_move *move)
{
    if (!str_is_none(move->detail))
        return run_set_error(c, run, move->detail);
    return str_is_none(run->error) ? run_set_error(c, run, error_of(c->arena, move->trigger)) : OK;
}

static enum error apply(
    struct context *c, struct run *run, enum run_status status, const struct phase_move *move)
{
    if (run->status != status)
        return run_change_with(c, run, status, run_reason_word(REASON_PHASE), move);
    TRY(run_take_phase(c, run, move));
    return run_write(c, run);
}

enum error run_move_phase(
    struct context *c, struct run *run, enum phase to, struct str trigger, struct str detail)
{
    struct phase_move move = {.to = to, .detail = detail};
    TRY(context_check_match(c, run->version));
    TRY(run_check_fence(c, run));
    TRY(check_move(c, run, to));
    TRY(find_trigger(c, run->phase, to, trigger, &move.trigger));
    if (to == PHASE_FAILED)
        TRY(take_error(c, run, &move));
    TRY(apply(c, run, status_with(run, to), &move));
    return run_get(c, run->id, run);
}

/* A paused run stays paused, and waits when it is resumed. */
static enum error wait_after_pause(
    struct context *c, struct run *run, const struct phase_move *move)
{
    enum run_status from = run->paused_from;
    TRY(transition_check(c, "run", run_statuses, run_transitions(from), from, RUN_WAITING));
    run->paused_from = RUN_WAITING;
    TRY(run_take_phase(c, run, move));
    return run_write(c, run);
}

enum error run_await_tools(struct context *c, struct run *run)
{
    struct phase_move move = {.to = PHASE_AWAITING_TOOL, .trigger = TRIGGER_TOOL_CALL};
    if (run->phase == PHASE_AWAITING_TOOL && run_waits(run))
        return run_write(c, run);
    if (run->phase == PHASE_AWAITING_TOOL)
        move.to = PHASE_NONE;
    else if (run->phase != PHASE_CREATED && run->phase != PHASE_EXECUTING)
        return refuse(c, run->phase, phase_word(move.to));
    if (run->status == RUN_PAUSED)
        return wait_after_pause(c, run, &move);
    return run_change_with(c, run, RUN_WAITING, run_reason_word(REASON_TOOLS), &move);
}

/* The table has this wait only after planning. A run that does not use phases only waits. */
enum error run_await_human(struct context *c, struct run *run)
{
    struct phase_move move = {0};
    bool uses = false;
    bool is_paused = run->status == RUN_PAUSED && run->paused_from == RUN_RUNNING;
    if (run->status != RUN_RUNNING && !is_paused)
        return OK;
    TRY(uses_phases(c, run, &uses));
    if (uses && run->phase != PHASE_PLANNING)
        return OK;
    if (uses)
        move = (struct phase_move){.to = PHASE_AWAITING_HUMAN, .trigger = TRIGGER_NEED_APPROVAL};
    if (is_paused)
        return wait_after_pause(c, run, &move);
    TRY(run_get(c, run->id, run)); /* the event contains the run's state */
    return run_change_with(c, run, RUN_WAITING, run_reason_word(REASON_HUMAN), &move);
}

enum error run_may_ask(struct context *c, const struct run *run, bool *out_may)
{
    bool uses = false;
    TRY(uses_phases(c, run, &uses));
    *out_may = !uses || run->phase == PHASE_AWAITING_HUMAN; /* planning follows */
    return OK;
}

enum error run_tools_done(struct context *c, struct run *run, enum run_status to)
{
    struct phase_move move = {.to = PHASE_EXECUTING, .trigger = TRIGGER_TOOL_RESULT};
    if (run->phase != PHASE_AWAITING_TOOL || run_is_finished(run))
        return OK;
    if (run->status == RUN_WAITING)
        return run_change_with(c, run, to, run_reason_word(REASON_TOOLS), &move);
    /* A paused run has work to do once it is resumed. */
    if (run->paused_from == RUN_WAITING)
        run->paused_from = RUN_RUNNING;
    TRY(run_take_phase(c, run, &move));
    return run_write(c, run);
}
