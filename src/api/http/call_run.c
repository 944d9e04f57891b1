/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a call as a job of the store. In the job's transaction, in this order: authentication
 * and rate limit, scope, the permissions of a principal, conditions, an answer that is kept for
 * the Idempotency-Key, the fencing token, the handler; then the answer is kept and checked for its
 * size, before the commit.
 */
#include "api/http/access.h"
#include "api/http/conditions.h"
#include "api/http/denials.h"
#include "api/http/metrics.h"
#include "api/http/replay.h"
#include "base/hash.h"

/* --- In the transaction --------------------------------------------------------------------- */

/* A call whose work was done under a lease is answered again after the lease has ended, so the
 * replay comes before the fence. An upload is identified by its bytes too: until they have arrived,
 * an upload with an Idempotency-Key may turn out to be a repeated one. */
static enum error check_fence(struct call *call, struct context *c)
{
    bool may_be_repeated =
        call->is_admitting && !str_is_none(http_header(call->request.http, STR("Idempotency-Key")));
    return may_be_repeated ? OK : conditions_check_fence(call, c);
}

static enum error handle(struct call *call, struct context *c)
{
    bool is_replayed = false;
    enum error e = conditions_read(call, c);
    if (e == OK)
        e = replay_find(call, c, &is_replayed);
    if (e != OK || is_replayed)
        return e;
    e = check_fence(call, c);
    if (e == OK && call->is_admitting)
        return call->route->admit != NULL ? call->route->admit(call, c) : OK;
    if (e == OK)
        e = call->route->handle(call, c);
    return e == OK ? OK : replay_recheck(call, c, e);
}

static enum error carry_out(struct call *call, struct context *c)
{
    c->request_id = call->request.id;
    TRY(access_authenticate(call, c));
    TRY(access_check_scope(call, c));
    /* Only an authenticated client receives the faults of its request. */
    if (call->request.is_bad) {
        call->problem = *call->request.problem;
        return call->problem.code;
    }
    if (call->checks_head)
        return OK;
    TRY(access_check_path(call, c));
    return handle(call, c);
}

/* An answer that cannot be sent fails the job, so that nothing of it is committed. */
static enum error complete(struct call *call)
{
    TRY(replay_keep(call, call->context));
    if (call->answer.body.failed || arena_is_over(call->arena))
        return problem_set(&call->problem, ERR_ANSWER_LARGE,
            "the answer would have more than %d bytes: request less, if the route allows it",
            CALL_ANSWER_MAX_BYTES);
    return OK;
}

/* Removes everything that an earlier run of the job has left. */
static void start_over(struct call *call)
{
    arena_rewind(call->arena, call->mark);
    call_rewind(call);
    call->answer.status = call->route->status;
    call->caller = (struct caller){.principal = STR_NONE};
    call->later = NULL;
    call->replay = NULL;
}

static enum error run(struct store_job *job, struct tx *tx)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    start_over(call);
    call->context = ARENA_NEW(call->arena, struct context);
    context_init(call->context, call->arena, &call->problem, tx);
    TRY(carry_out(call, call->context));
    return call->later == NULL ? complete(call) : OK;
}

/* The second half of a job whose handler has set `later`. */
static enum error run_later(struct store_job *job, struct tx *tx)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    if (call->later == NULL)
        return OK;
    context_enter(call->context, call->context->tenant_id);
    TRY(call->later(call, call->context));
    return complete(call);
}

/* --- After the transaction ------------------------------------------------------------------ */

static void finish(struct call *call, enum error result)
{
    if (call->is_admitting && result == OK) {
        call->is_admitted = true;
        call->done(call);
        return;
    }
    if (result != OK)
        call_refuse(call, result);
    if (call->caller.denied != NULL)
        denial_note(call, call->caller.denied);
    metrics_count(call->api->metrics, call->route, call->answer.status);
    call->done(call);
}

static void submit(struct call *call, enum store_mode mode);

static void job_done(struct store_job *job, enum error result)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    /* A replica may not have the key yet. */
    if (job->mode == STORE_READ_STALE && (result == ERR_UNAUTHENTICATED || call->must_be_fresh)) {
        submit(call, STORE_READ);
        return;
    }
    finish(call, result);
}

/* --- Submitting ----------------------------------------------------------------------------- */

/* Jobs about the same rows are sent to the same writer, where they do not wait for locks. */
static uint64_t affinity_of(const struct call *call)
{
    const struct request *r = &call->request;
    struct str key = http_header(r->http, STR("Idempotency-Key"));
    if (call->route->flags & ROUTE_ONE_LANE)
        return str_is_none(r->secret) ? 1 : hash_bytes(r->secret.ptr, r->secret.len) | 1;
    if (str_is_none(route_param_name(call->route, 0)))
        return str_is_none(key) ? 0 : hash_bytes(key.ptr, key.len) | 1;
    return hash_bytes(r->params[0].bytes, sizeof r->params[0].bytes) | 1;
}

static void submit(struct call *call, enum store_mode mode)
{
    call->job = (struct store_job){.mode = mode,
        .on_full = call->route->on_full,
        .affinity = affinity_of(call),
        .run = run,
        .finish = run_later,
        .done = job_done};
    store_submit(call->api->store, &call->job);
}

static enum store_mode store_mode(const struct call *call)
{
    if (call->route->mode == ROUTE_WRITE && !call->request.is_bad && !call->is_admitting)
        return STORE_WRITE;
    return call->request.may_lag ? STORE_READ_STALE : STORE_READ;
}

/* Each run of the job starts with an empty problem, so the problem of the request is kept apart. */
static void keep_problem(struct call *call)
{
    call->request.problem = NULL;
    if (!call->request.is_bad)
        return;
    call->request.problem = ARENA_NEW(call->arena, struct problem);
    *call->request.problem = call->problem;
}

static void run_static(struct call *call)
{
    struct context none;
    context_init(&none, call->arena, &call->problem, NULL);
    call->answer.status = call->route->status;
    finish(call, call->request.is_bad ? call->problem.code : call->route->handle(call, &none));
}

void call_submit(struct call *call)
{
    const struct route *route = call->route;
    if (route->mode == ROUTE_STATIC) {
        run_static(call);
        return;
    }
    keep_problem(call);
    call->mark = arena_mark(call->arena);
    /* A probe of a shared database is answered at once, from the state of the connection. */
    if ((route->flags & ROUTE_PROBE) && store_is_shared(call->api->store)) {
        if (store_stats(call->api->store).connected)
            run_static(call);
        else
            finish(call, ERR_UNAVAILABLE);
        return;
    }
    submit(call, store_mode(call));
}

void call_admit(struct call *call)
{
    call->is_admitting = true;
    call_submit(call);
}

void call_check_head(struct call *call)
{
    call->is_admitting = true;
    call->checks_head = true;
    keep_problem(call);
    call->mark = arena_mark(call->arena);
    submit(call, STORE_READ);
}

int64_t call_wait_s(const struct call *call)
{
    return call->answer.may_wait && call->answer.status < 300 ? call->request.wait_s : 0;
}
