/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/run_phases.h"

#include "base/json/json_write.h"
#include "model/execution/run_phases.sql.h"
#include "model/execution/run_store.h"
#include "model/threads/events.h"

const struct run_phase_rule run_phase_rules[] = {
    {"created", "initializing", "start"},
    {"initializing", "planning", "init_complete"},
    {"initializing", "failed", "init_error"},
    {"planning", "executing", "plan_ready"},
    {"planning", "awaiting_human", "need_approval"},
    {"planning", "failed", "plan_error"},
    {"executing", "executing", "next_action"},
    {"executing", "awaiting_tool", "tool_call"},
    {"executing", "reflecting", "action_complete"},
    {"executing", "failed", "execution_error"},
    {"awaiting_tool", "executing", "tool_result"},
    {"awaiting_tool", "failed", "tool_timeout"},
    {"awaiting_human", "planning", "human_input"},
    {"awaiting_human", "cancelled", "human_cancel"},
    {"reflecting", "planning", "needs_replan"},
    {"reflecting", "completed", "task_done"},
    {"reflecting", "failed", "reflection_error"},
};
const size_t run_phase_rule_count = COUNT_OF(run_phase_rules);

/* Each phase, and the status that follows from it. */
static const struct {
    const char *phase;
    const char *status;
} STATUSES[] = {
    {"created", NULL},
    {"initializing", "running"},
    {"planning", "running"},
    {"executing", "running"},
    {"awaiting_tool", "waiting_for_input"},
    {"awaiting_human", "waiting_for_input"},
    {"reflecting", "running"},
    {"completed", "completed"},
    {"failed", "failed"},
    {"cancelled", "cancelled"},
};

const char *const run_phases[] = {"created", "initializing", "planning", "executing",
    "awaiting_tool", "awaiting_human", "reflecting", "completed", "failed", "cancelled", NULL};

/* What leads to `failed` from any phase. */
static const char ERROR_TRIGGER[] = "error";

static bool is(struct str text, const char *wanted)
{
    return str_eq(text, str_of(wanted));
}

const char *run_phase_status(struct str phase)
{
    for (size_t i = 0; i < COUNT_OF(STATUSES); i++)
        if (is(phase, STATUSES[i].phase))
            return STATUSES[i].status;
    return NULL;
}

static bool is_end(struct str phase)
{
    return is(phase, "completed") || is(phase, "failed") || is(phase, "cancelled");
}

static const struct run_phase_rule *find_rule(struct str from, struct str to)
{
    for (size_t i = 0; i < COUNT_OF(run_phase_rules); i++)
        if (is(from, run_phase_rules[i].from) && is(to, run_phase_rules[i].to))
            return &run_phase_rules[i];
    return NULL;
}

const char *const *run_phase_next(struct arena *arena, struct str from)
{
    const char **next = ARENA_ARRAY(arena, const char *, COUNT_OF(run_phase_rules) + 2);
    size_t n = 0;
    for (size_t i = 0; i < COUNT_OF(run_phase_rules); i++)
        if (is(from, run_phase_rules[i].from) && strcmp(run_phase_rules[i].to, "failed") != 0)
            next[n++] = run_phase_rules[i].to;
    if (!is_end(from))
        next[n++] = "failed";
    next[n] = NULL;
    return next;
}

static enum error refuse(struct context *c, struct str from, struct str to)
{
    return transition_refused(c, "run", from, to, run_phase_next(c->arena, from));
}

/* --- The log -------------------------------------------------------------------------------- */

static enum error insert(
    struct context *c, const struct run *run, struct str from, const struct phase_move *move)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_PHASE_INSERT);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, run->phase_changes);
    query_text(&q, from_phase, from);
    query_text(&q, to_phase, run->phase);
    query_text(&q, trigger, move->trigger);
    query_text(&q, detail, move->detail);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error tell(
    struct context *c, const struct run *run, struct str from, const struct phase_move *move)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    json_write_text_member(&payload.w, "from", from);
    json_write_text_member(&payload.w, "to", run->phase);
    json_write_text_member(&payload.w, "trigger", move->trigger);
    json_write_end(&payload.w);
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = STR("run.phase"),
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, run->thread_id, &event);
}

enum error run_take_phase(struct context *c, struct run *run, const struct phase_move *move)
{
    struct str from = run->phase;
    if (move->to == NULL)
        return OK;
    run->phase = str_of(move->to);
    if (str_is_none(move->trigger))
        return OK;
    bool is_unheard = move->is_unheard && run->phase_changes == 0;
    run->phase_changes++;
    enum error e = insert(c, run, from, move);
    return e == OK && !is_unheard ? tell(c, run, from, move) : e;
}

enum error run_phase_list(struct context *c, struct uuid run_id, int64_t after, size_t limit,
    struct run_phase *out_phases, size_t *out_count, bool *out_more)
{
    struct query q;
    size_t count = 0, bytes = 0;
    context_query(c, &q, &SQL_RUN_PHASE_LIST);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, after, after);
    query_i64(&q, limit, (int64_t)limit + 1);
    *out_more = false;
    while (query_next(&q)) {
        *out_more = count == limit || bytes > PAGE_MAX_BYTES;
        if (*out_more)
            break;
        struct run_phase *phase = &out_phases[count++];
        phase->number = row_i64(&q);
        phase->from = row_text(&q);
        phase->to = row_text(&q);
        phase->trigger = row_text(&q);
        phase->detail = row_text(&q);
        phase->created_at = row_i64(&q);
        bytes += phase->detail.len;
    }
    *out_count = count;
    return query_end(&q);
}

/* --- Which phase goes with a change of status ----------------------------------------------- */

struct phase_move run_phase_implied(const struct run *run, struct str to, struct str reason)
{
    struct phase_move move = {.is_unheard = true};
    bool waits_for_tools = is(run->phase, "awaiting_tool");
    if (is_end(to)) {
        move.to = run_phase_status(to);
        move.trigger = is(to, "cancelled") ? STR("cancel") : STR("status");
    } else if (is(run->phase, "awaiting_human") && str_eq(reason, STR("input"))) {
        move.to = "planning";
        move.trigger = STR("human_input");
    } else if (run->phase_changes == 0 && waits_for_tools && is(to, "running")) {
        move.to = "executing";
    }
    return move;
}

/* Of a run that uses phases: the change that the table has for this status. */
static enum error find_move(
    struct context *c, const struct run *run, struct str to, struct phase_move *out_move)
{
    const char *status = run_phase_status(run->phase);
    if (status != NULL && is(to, status))
        return OK;
    if (is(to, "failed")) {
        *out_move = (struct phase_move){.to = "failed", .trigger = str_of(ERROR_TRIGGER)};
        return OK;
    }
    for (size_t i = 0; i < COUNT_OF(run_phase_rules); i++) {
        const struct run_phase_rule *rule = &run_phase_rules[i];
        const char *follows = run_phase_status(str_of(rule->to));
        if (is(run->phase, rule->from) && follows != NULL && is(to, follows)) {
            *out_move = (struct phase_move){.to = rule->to, .trigger = str_of(rule->trigger)};
            return OK;
        }
    }
    return refuse(c, run->phase, to);
}

enum error run_phase_of_patch(
    struct context *c, const struct run *run, struct str to, struct phase_move *out_move)
{
    bool resumes = is(run->status, "paused") && is(to, run_ready_status(run));
    *out_move = (struct phase_move){0};
    if (str_eq(run->status, to) || resumes || is(to, "paused") || is(to, "queued"))
        return OK;
    if (run->phase_changes > 0)
        return find_move(c, run, to, out_move);
    *out_move = run_phase_implied(run, to, STR_NONE);
    if (!str_is_none(out_move->trigger))
        out_move->trigger = STR("status");
    return OK;
}

/* --- Moves ---------------------------------------------------------------------------------- */

/* The trigger of this change; a fault when another one was given. */
static enum error find_trigger(
    struct context *c, struct str from, struct str to, struct str *trigger)
{
    const struct run_phase_rule *rule = find_rule(from, to);
    bool fails = is(to, "failed");
    struct str usual = fails || rule == NULL ? str_of(ERROR_TRIGGER) : str_of(rule->trigger);
    if (str_is_none(*trigger))
        *trigger = usual;
    if (str_eq(*trigger, usual) || (rule != NULL && is(*trigger, rule->trigger)))
        return OK;
    bool has_two = fails && rule != NULL;
    return problem_fault(c->problem, STR("/trigger"), "must be %.*s%s%s: that is what leads there",
        STR_ARG(usual), has_two ? " or " : "", has_two ? rule->trigger : "");
}

/* The status that the run gets with a phase; it may be the one it has. */
static struct str status_with(const struct run *run, struct str phase)
{
    struct str status = str_of(run_phase_status(phase));
    bool waits = is(run->status, "waiting_for_input");
    return is(status, "running") && waits ? str_of(run_ready_status(run)) : status;
}

static enum error check_move(struct context *c, const struct run *run, struct str to)
{
    bool fails = is(to, "failed") && !is_end(run->phase);
    if (find_rule(run->phase, to) == NULL && !fails)
        return refuse(c, run->phase, to);
    if (is(run->status, "paused") && !fails)
        return problem_set(c->problem, ERR_CONFLICT, "the run is paused: resume it first");
    return run_check_status(c, run, status_with(run, to));
}

static enum error apply(
    struct context *c, struct run *run, struct str status, const struct phase_move *move)
{
    if (!str_eq(run->status, status))
        return run_change_with(c, run, arena_cstr(c->arena, status), STR("phase"), move);
    enum error e = run_take_phase(c, run, move);
    return e == OK ? run_write(c, run) : e;
}

enum error run_move_phase(
    struct context *c, struct run *run, struct str to, struct str trigger, struct str detail)
{
    enum error e = context_check_match(c, run->version);
    if (e == OK)
        e = run_check_fence(c, run);
    if (e == OK)
        e = check_move(c, run, to);
    if (e == OK)
        e = find_trigger(c, run->phase, to, &trigger);
    if (e != OK)
        return e;
    struct phase_move move = {.to = arena_cstr(c->arena, to), .trigger = trigger, .detail = detail};
    e = apply(c, run, status_with(run, to), &move);
    return e == OK ? run_get(c, run->id, run) : e;
}

enum error run_await_tools(struct context *c, struct run *run)
{
    bool uses = run->phase_changes > 0;
    struct phase_move move = {.to = "awaiting_tool", .trigger = uses ? STR("tool_call") : STR_NONE};
    if (is(run->phase, "awaiting_tool") && is(run->status, "waiting_for_input"))
        return OK;
    if (uses && !is(run->phase, "executing"))
        return refuse(c, run->phase, str_of(move.to));
    return run_change_with(c, run, "waiting_for_input", STR("tools"), &move);
}

enum error run_tools_done(struct context *c, struct run *run)
{
    bool uses = run->phase_changes > 0;
    struct phase_move move = {.to = "executing", .trigger = uses ? STR("tool_result") : STR_NONE};
    if (!is(run->phase, "awaiting_tool") || run_is_finished(run))
        return OK;
    if (is(run->status, "waiting_for_input"))
        return run_change_with(c, run, run_ready_status(run), STR("tools"), &move);
    /* A paused run has something to do once it is resumed. */
    if (is(run->paused_from, "waiting_for_input"))
        run->paused_from = STR("running");
    enum error e = run_take_phase(c, run, &move);
    return e == OK ? run_write(c, run) : e;
}
