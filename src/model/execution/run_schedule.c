/* SPDX-License-Identifier: Apache-2.0 */
/* When and how often a run is worked on: its schedule, failed attempts, deadlines, and retries. */
#include "base/json/json_write.h"
#include "model/execution/attempts.h"
#include "model/execution/run_rows.h"
#include "model/execution/runs.sql.h"

enum { BACKOFF_FACTOR_DEFAULT = 2, BACKOFF_MAX_DEFAULT_MS = 3600 * 1000 };

/* --- A new run ------------------------------------------------------------------------------ */

static enum error check_backoff(struct context *c, struct run_backoff *b)
{
    if (!b->has_factor)
        b->factor = BACKOFF_FACTOR_DEFAULT;
    if (!b->has_max_ms)
        b->max_ms = b->initial_ms > BACKOFF_MAX_DEFAULT_MS ? b->initial_ms : BACKOFF_MAX_DEFAULT_MS;
    b->has_initial_ms = b->has_factor = b->has_max_ms = true;
    return b->max_ms >= b->initial_ms ? OK
                                      : problem_fault(c->problem, STR("/backoff/max_ms"),
                                            "must not be less than initial_ms");
}

/* Only a claim observes these members. */
static enum error check_direct(struct context *c, const struct run_schedule *s)
{
    const char *member = s->has_priority       ? "/priority"
                         : s->has_max_attempts ? "/max_attempts"
                         : s->has_backoff      ? "/backoff"
                         : s->has_not_before   ? "/not_before"
                                               : NULL;
    if (member == NULL)
        return OK;
    return problem_fault(c->problem, str_of(member), "is allowed only with dispatch queue");
}

enum error run_check_schedule(struct context *c, struct run *run)
{
    struct run_schedule *s = &run->schedule;
    if (run->dispatch == RUN_DIRECT)
        TRY(check_direct(c, s));
    s->has_priority = true;
    if (s->has_backoff)
        TRY(check_backoff(c, &s->backoff));
    if (s->has_deadline && s->deadline <= context_due_now_us(c))
        return problem_fault(c->problem, STR("/deadline"), "must be in the future");
    if (s->has_deadline && s->has_not_before && s->deadline <= s->not_before)
        return problem_fault(c->problem, STR("/deadline"), "must be after not_before");
    return OK;
}

/* --- The end of an attempt ------------------------------------------------------------------ */

enum error run_fail(struct context *c, struct run *run, enum run_reason reason, struct str error,
    const struct phase_move *move)
{
    TRY(run_set_error(c, run, error));
    return run_change_with(c, run, RUN_FAILED, run_reason_word(reason), move);
}

static enum error fail(struct context *c, struct run *run, enum run_reason reason, struct str error)
{
    struct phase_move move = run_phase_implied(run, RUN_FAILED, STR_NONE);
    return run_fail(c, run, reason, error, &move);
}

/* Returns the error of a run that fails for this reason. `last`: the error of its last attempt. */
static struct str describe(
    struct context *c, enum run_reason reason, struct str message, struct str last)
{
    struct json_text text;
    json_text_init(&text, THREAD_METADATA_MAX_BYTES);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "code", run_reason_word(reason));
    json_write_text_member(&text.w, "message", message);
    if (!str_is_none(last)) {
        json_write_name(&text.w, "last_error");
        json_write_raw(&text.w, last);
    }
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

static int64_t pause_ms(const struct run_backoff *b, int64_t failed)
{
    int64_t ms = b->initial_ms;
    for (int64_t i = 1; i < failed && ms < b->max_ms && b->factor > 1; i++)
        ms *= b->factor;
    return ms < b->max_ms ? ms : b->max_ms;
}

enum error run_fail_attempt(
    struct context *c, struct run *run, enum run_reason reason, struct str error)
{
    struct run_schedule *s = &run->schedule;
    bool expired = reason == REASON_LEASE_EXPIRED;
    TRY(attempt_end(c, run, expired ? ATTEMPT_LEASE_EXPIRED : ATTEMPT_FAILED, error));
    if (s->has_max_attempts && run->failed_attempts >= s->max_attempts) {
        struct str message = arena_printf(c->arena, "%lld of %lld attempts failed; the last one %s",
            (long long)run->failed_attempts, (long long)s->max_attempts,
            expired ? "lost its lease" : "reported an error");
        return fail(c, run, REASON_ATTEMPTS_EXHAUSTED,
            describe(c, REASON_ATTEMPTS_EXHAUSTED, message, error));
    }
    if (s->has_backoff) {
        s->has_not_before = true;
        s->not_before = context_due_now_us(c) + pause_ms(&s->backoff, run->failed_attempts) * 1000;
    }
    return run_change(c, run, RUN_QUEUED, run_reason_word(reason));
}

/* --- Times ---------------------------------------------------------------------------------- */

enum error run_next_due(struct context *c, int64_t *out_wait_us)
{
    struct query q;
    int64_t now_us = context_due_now_us(c), due_us = 0;
    context_query(c, &q, &SQL_RUN_NEXT_DUE);
    query_i64(&q, due_now, now_us);
    TRY(context_number(&q, &due_us));
    *out_wait_us = due_us > now_us ? due_us - now_us : 0;
    return OK;
}

enum error run_list_overdue(
    struct context *c, size_t limit, struct owned_id *out_runs, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_RUN_OVERDUE, c->arena);
    query_i64(&q, due_now, context_cautious_now_us(c));
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_runs, out_count);
}

enum error run_end_overdue(struct context *c, struct uuid run_id)
{
    struct run run;
    enum error e = run_get_head(c, run_id, &run);
    if (e == ERR_NOT_FOUND)
        return OK;
    bool is_late = run.schedule.has_deadline && run.schedule.deadline <= context_cautious_now_us(c);
    if (e != OK || !is_late || run_is_finished(&run))
        return e;
    struct str message =
        arena_printf(c->arena, "the run was %s at its deadline", run_status_word(run.status).ptr);
    return fail(c, &run, REASON_DEADLINE, describe(c, REASON_DEADLINE, message, STR_NONE));
}

/* --- Retry ---------------------------------------------------------------------------------- */

/* Returns the schedule of the retry. The times of the old run have passed, or are its backoff. */
static struct run_schedule merge(const struct run *run, const struct run_schedule *again)
{
    struct run_schedule s = run->schedule;
    s.has_priority = run->dispatch == RUN_QUEUE || again->has_priority;
    if (again->has_priority)
        s.priority = again->priority;
    if (again->has_max_attempts || again->drops_max_attempts) {
        s.has_max_attempts = again->has_max_attempts;
        s.max_attempts = again->max_attempts;
    }
    if (again->has_backoff || again->drops_backoff) {
        s.has_backoff = again->has_backoff;
        s.backoff = again->backoff;
    }
    s.has_deadline = again->has_deadline;
    s.deadline = again->deadline;
    s.has_not_before = again->has_not_before;
    s.not_before = again->not_before;
    return s;
}

enum error run_retry(struct context *c, const struct run *run, const struct run_schedule *again,
    enum run_policy policy, struct str state, struct run *out_run)
{
    struct str status = run_status_word(run->status);
    if (run->status != RUN_FAILED && run->status != RUN_CANCELLED)
        return problem_set(c->problem, ERR_CONFLICT,
            "the run is %.*s: only a failed or cancelled run can be retried", STR_ARG(status));
    *out_run = (struct run){.has_parent_run_id = run->has_parent_run_id,
        .parent_run_id = run->parent_run_id,
        .dispatch = run->dispatch,
        .agent = run->agent,
        .has_agent_id = run->has_agent_id,
        .agent_id = run->agent_id,
        .agent_version = run->agent_version,
        .model = run->model,
        .provider = run->provider,
        .request = run->request,
        .user_input = run->user_input,
        .ask_clarifications = run->ask_clarifications,
        .state = state,
        .metadata = run->metadata,
        .schedule = merge(run, again),
        .has_retry_of_run_id = true,
        .retry_of_run_id = run->id};
    return run_start(c, run->thread_id, policy, out_run);
}
