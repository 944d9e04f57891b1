/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/attempts.h"
#include "model/execution/run_rows.h"
#include "model/execution/runs.sql.h"
#include "model/threads/events.h"

/* How often a claim retries after another node has taken the run. */
enum { CLAIM_ATTEMPTS = 4 };

static bool lease_is_held(const struct context *c, const struct run *run)
{
    return run->has_lease && run->lease_expires_at > c->lease_now_us;
}

enum error run_check_fence(struct context *c, const struct run *run)
{
    struct str status = run_status_word(run->status);
    bool held = lease_is_held(c, run);
    if (!c->has_fence && !held)
        return OK;
    if (!c->has_fence)
        return problem_set(c->problem, ERR_LEASE_NEEDED,
            "the run is leased to %.*s: send its Cairn-Fencing-Token", STR_ARG(run->worker));
    if (held && run->fence == c->fence)
        return OK;
    return problem_set(c->problem, ERR_LEASE_LOST,
        "fencing token %lld does not hold the lease of the run, which is %.*s", (long long)c->fence,
        STR_ARG(status));
}

enum error run_check_thread_fence(struct context *c, struct uuid thread_id)
{
    if (!c->has_fence)
        return OK;
    struct thread thread;
    struct run run;
    struct query q;
    TRY(thread_get_head(c, thread_id, &thread));
    context_query(c, &q, &SQL_RUN_BY_FENCE);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, fence, c->fence);
    bool found = query_next(&q);
    if (found)
        run_read_row(&q, &run);
    enum error e = query_end(&q);
    if (e != OK || found)
        return e == OK ? run_check_fence(c, &run) : e;
    return problem_set(c->problem, ERR_LEASE_LOST,
        "fencing token %lld does not hold the lease of a run of the thread", (long long)c->fence);
}

enum error run_get_in_thread(struct context *c, struct uuid thread_id, struct uuid run_id,
    struct str pointer, struct run *out_head)
{
    struct run run;
    enum error e = run_get_head(c, run_id, &run);
    if (e == OK && uuid_eq(run.thread_id, thread_id)) {
        *out_head = run;
        return OK;
    }
    if (e != OK && e != ERR_NOT_FOUND)
        return e;
    c->problem->detail = STR_NONE;
    return problem_fault(c->problem, pointer, "must be a run of this thread");
}

enum error run_check_in_thread(
    struct context *c, struct uuid thread_id, struct uuid run_id, struct str pointer)
{
    struct run run;
    TRY(run_get_in_thread(c, thread_id, run_id, pointer, &run));
    return run_check_fence(c, &run);
}

static void hold(struct context *c, struct run *run, int64_t lease_ms)
{
    run->has_lease = true;
    run->has_lease_ms = true;
    run->lease_ms = lease_ms;
    run->lease_expires_at = c->lease_now_us + lease_ms * 1000;
}

static void begin_next(struct context *c, struct query *q, const struct run_claim *claim,
    const struct sql_statement *statement)
{
    context_query(c, q, statement);
    query_text(q, agent, claim->agent);
    query_uuid_if(q, agent_id, claim->has_agent_id, claim->agent_id);
    query_uuid_if(q, thread_id, claim->has_thread_id, claim->thread_id);
    query_i64(q, due_now, context_due_now_us(c));
}

static enum error next_queued(
    struct context *c, const struct run_claim *claim, struct run *out_run, bool *out_found)
{
    struct query q;
    begin_next(c, &q, claim, &SQL_RUN_NEXT_QUEUED);
    *out_found = query_next(&q);
    if (*out_found)
        run_read_row(&q, out_run);
    return query_end(&q);
}

/* Finds and locks the thread of the next run, preferably one that no other job holds. Otherwise the
 * job waits for the lock, because no event will announce a run that is already queued. */
static enum error lock_next(
    struct context *c, const struct run_claim *claim, struct uuid *out_thread, bool *out_found)
{
    struct query q;
    begin_next(c, &q, claim, &SQL_RUN_NEXT_QUEUED_THREAD);
    *out_found = query_next(&q);
    if (*out_found)
        c->locked_thread = *out_thread = row_uuid(&q);
    TRY(query_end(&q));
    if (*out_found)
        return OK;
    struct run run;
    TRY(next_queued(c, claim, &run, out_found));
    if (!*out_found)
        return OK;
    /* A job that waits for a second thread could deadlock. */
    if (!uuid_is_nil(c->locked_thread))
        return tx_run_again(c->tx);
    *out_thread = run.thread_id;
    return context_lock_thread(c, run.thread_id);
}

/* Another job may have taken the run before the lock was acquired, so the run is searched again. */
static enum error next_locked(
    struct context *c, const struct run_claim *claim, struct run *out_run, bool *out_found)
{
    struct run_claim within = *claim;
    bool any = true;
    *out_found = false;
    for (int i = 0; any && !*out_found && i < CLAIM_ATTEMPTS; i++) {
        TRY(lock_next(c, claim, &within.thread_id, &any));
        within.has_thread_id = true;
        if (any)
            TRY(next_queued(c, &within, out_run, out_found));
    }
    return any && !*out_found ? tx_run_again(c->tx) : OK;
}

enum error run_claim(
    struct context *c, const struct run_claim *claim, struct run *out_run, bool *out_found)
{
    TRY(tx_is_shared(c->tx) ? next_locked(c, claim, out_run, out_found)
                            : next_queued(c, claim, out_run, out_found));
    if (*out_found)
        TRY(quota_has_room_for_run(c, out_found));
    if (!*out_found)
        return OK;
    out_run->worker = claim->worker;
    /* The seq of the event that will report this claim, which is unique in the thread. */
    TRY(event_next_seq(c, out_run->thread_id, &out_run->fence));
    hold(c, out_run, claim->lease_ms);
    TRY(attempt_begin(c, out_run));
    TRY(run_change(c, out_run, RUN_RUNNING, run_reason_word(REASON_CLAIMED)));
    return run_get(c, out_run->id, out_run);
}

static enum error need_fence(struct context *c, const struct run *run)
{
    if (!c->has_fence)
        return problem_fault(c->problem, STR("Cairn-Fencing-Token"), "is required by this route");
    return run_check_fence(c, run);
}

enum error run_heartbeat(struct context *c, struct run *run, int64_t lease_ms)
{
    TRY(need_fence(c, run));
    hold(c, run, lease_ms > 0 ? lease_ms : run->lease_ms);
    struct query q;
    context_query(c, &q, &SQL_RUN_HOLD);
    query_uuid(&q, id, run->id);
    query_i64(&q, lease_expires_at, run->lease_expires_at);
    query_i64(&q, lease_ms, run->lease_ms);
    return query_run(&q);
}

enum error run_release(struct context *c, struct run *run, struct str error)
{
    TRY(need_fence(c, run));
    TRY(str_is_none(error) ? run_change(c, run, RUN_QUEUED, run_reason_word(REASON_RELEASED))
                           : run_fail_attempt(c, run, REASON_ATTEMPT_FAILED, error));
    return run_get(c, run->id, run);
}

/* --- The sweep ------------------------------------------------------------------------------ */

enum error run_list_expired(
    struct context *c, size_t limit, struct owned_id *out_leases, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_RUN_LEASE_EXPIRED, c->arena);
    query_i64(&q, lease_now, c->lease_now_us);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_leases, out_count);
}

enum error run_end_lease(struct context *c, struct uuid run_id)
{
    struct run run;
    enum error e = run_get_head(c, run_id, &run);
    if (e == ERR_NOT_FOUND)
        return OK;
    if (e != OK || !run.has_lease || lease_is_held(c, &run))
        return e;
    return run_fail_attempt(c, &run, REASON_LEASE_EXPIRED, STR_NONE);
}

enum error run_renew_leases(struct context *c)
{
    struct query q;
    if (tx_is_shared(c->tx))
        return OK;
    query_begin(&q, c->tx, &SQL_RUN_LEASE_RENEW_ALL, c->arena);
    query_i64(&q, lease_now, c->lease_now_us);
    return query_run(&q);
}
