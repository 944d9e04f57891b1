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
#include "api/http/echo.h"
#include "api/http/metrics.h"
#include "api/http/replay.h"
#include "base/hash.h"
#include "model/checkpoints/snapshot_plan.h"
#include "model/tenancy/tickets.h"

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
    if (e == OK)
        e = echo_check_after(call);
    return e == OK ? OK : replay_recheck(call, c, e);
}

static enum error carry_out(struct call *call, struct context *c)
{
    c->request_id = call->request.id;
    c->may_exceed_quotas = call->route->on_full != STORE_ON_FULL_REFUSED;
    TRY(access_authenticate(call, c));
    TRY(access_check_scope(call, c));
    /* Only an authenticated client receives the faults of its request. */
    if (call->request.is_bad) {
        call->problem = *call->request.problem;
        return call->problem.code;
    }
    if (call->checks_head)
        return OK;
    /* Of what a call continues, its own earlier job may have deleted the path. */
    if (!call->has_continued)
        TRY(access_check_path(call, c));
    if (call->is_comparing)
        return echo_compare(call, c);
    if (call->rehearsal.stage == REHEARSAL_STORING)
        return snapshot_plan_store_some(c, call->rehearsal.plan);
    TRY(handle(call, c));
    return call->uses_ticket ? ticket_use(c, call->caller.ticket_id) : OK;
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
    call->continues = false;
    if (call->rehearsal.stage == REHEARSAL_WANTED)
        call->rehearsal.stage = REHEARSAL_NONE;
}

/* Only the writer of a SQLite store must not be occupied for long. A handler that has committed a
 * part of its work continues it. */
static void allow_rehearsal(struct call *call, struct tx *tx)
{
    bool is_running = call->rehearsal.stage == REHEARSAL_RUNNING;
    if (is_running)
        tx_rehearse(tx);
    if (is_running || (call->job.mode == STORE_WRITE && !tx_is_shared(tx) && !call->has_continued))
        call->context->rehearsal = &call->rehearsal;
    call->rehearsal.body = call->request.body;
    call->rehearsal.plan_is_used = false;
}

static enum error run(struct store_job *job, struct tx *tx)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    start_over(call);
    call->context = ARENA_NEW(call->arena, struct context);
    context_init(call->context, call->arena, &call->problem, tx);
    allow_rehearsal(call, tx);
    TRY(carry_out(call, call->context));
    bool is_whole = call->later == NULL && !call->continues;
    return is_whole && call->rehearsal.stage == REHEARSAL_NONE ? complete(call) : OK;
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

static void learn_key(const struct call *call)
{
    if (!call->key_is_known && call->caller.has_key && !str_is_none(call->request.secret))
        known_keys_learn(call->api->known_keys, call->request.secret, call->caller.tenant_id);
}

static void finish(struct call *call, enum error result)
{
    if ((call->route->flags & ROUTE_LONG) && call->prepared != NULL)
        call->route->release(call);
    learn_key(call);
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

/* A READ job has admitted the request, so that no unknown ticket reaches the writer. HEAD opens no
 * stream. */
static bool must_use_ticket(const struct call *call)
{
    return !str_is_none(call->request.ticket) && !call->uses_ticket &&
           !str_eq(call->request.http->method, STR("HEAD"));
}

/* A server that stops leaves the rest to the sweep of the next start. */
static void continue_in_next_job(struct call *call)
{
    call->has_continued = true;
    learn_key(call);
    if (!atomic_load(&call->api->is_stopping)) {
        submit(call, STORE_WRITE);
        return;
    }
    problem_init(&call->problem, call->arena);
    finish(call, problem_set(&call->problem, ERR_UNAVAILABLE, "the server is stopping"));
}

/* A rehearsal has seen committed data, so its refusal is a valid answer. */
static bool is_refusal(enum error result)
{
    return result != OK && error_info(result)->status < 500;
}

/* Returns true if another job follows, of a rehearsal or after it. */
static bool follow_rehearsal(struct call *call, enum error result)
{
    struct rehearsal *r = &call->rehearsal;
    enum store_mode mode = STORE_WRITE;
    switch (r->stage) {
    case REHEARSAL_NONE:
        return false;
    case REHEARSAL_WANTED:
        /* The work may have been done all the same. */
        if (result != ERR_CANCELLED) {
            r->stage = REHEARSAL_NONE;
            return false;
        }
        rehearsal_begin(r);
        mode = STORE_READ;
        break;
    case REHEARSAL_RUNNING:
        rehearsal_end(r);
        if (is_refusal(result))
            return false;
        if (snapshot_plan_is_ahead(r->plan))
            r->stage = REHEARSAL_STORING;
        break;
    case REHEARSAL_STORING:
        if (!snapshot_plan_needs_more(r->plan, result))
            r->stage = REHEARSAL_NONE;
        break;
    }
    submit(call, mode);
    return true;
}

static void job_done(struct store_job *job, enum error result)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    if (follow_rehearsal(call, result))
        return;
    if (result == OK && call->is_comparing) {
        call->is_comparing = false;
        submit(call, STORE_WRITE);
        return;
    }
    /* A replica may not have the key yet. */
    if (job->mode == STORE_READ_STALE && (result == ERR_UNAUTHENTICATED || call->must_be_fresh)) {
        submit(call, STORE_READ);
        return;
    }
    if (result == OK && must_use_ticket(call)) {
        call->uses_ticket = true;
        submit(call, STORE_WRITE);
        return;
    }
    if (result == OK && call->continues) {
        continue_in_next_job(call);
        return;
    }
    if (result == OK && call->is_admitting && (call->route->flags & ROUTE_LONG)) {
        call->is_admitting = false;
        submit(call, STORE_READ_LONG);
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
    if (call->uses_ticket)
        return hash_bytes(r->ticket.ptr, r->ticket.len) | 1;
    if (call->route->flags & ROUTE_ONE_LANE)
        return str_is_none(r->secret) ? 1 : hash_bytes(r->secret.ptr, r->secret.len) | 1;
    if (str_is_none(route_param_name(call->route, 0)))
        return str_is_none(key) ? 0 : hash_bytes(key.ptr, key.len) | 1;
    return hash_bytes(r->params[0].bytes, sizeof r->params[0].bytes) | 1;
}

/* The first requests of all keys share a flow, as tickets and requests without a key do: they are
 * cheap to check, and a flood of them delays only such requests. It does not delay probes. */
enum { FLOW_OF_UNKNOWN_KEYS = 2, FLOW_OF_PROBES = 3 };

static uint64_t flow_of(struct call *call)
{
    const struct request *r = &call->request;
    struct api *api = call->api;
    struct uuid tenant_id = DEFAULT_TENANT_ID;
    if (call->route->flags & ROUTE_PUBLIC)
        return FLOW_OF_PROBES;
    call->key_is_known = str_is_none(r->secret)
                             ? str_is_none(r->ticket) && atomic_load(&api->is_open)
                             : known_keys_find(api->known_keys, r->secret, &tenant_id);
    return call->key_is_known ? tenant_flow(tenant_id) : FLOW_OF_UNKNOWN_KEYS;
}

static void submit(struct call *call, enum store_mode mode)
{
    call->job = (struct store_job){.mode = mode,
        .on_full = call->uses_ticket ? STORE_ON_FULL_FREES : call->route->on_full,
        .affinity = affinity_of(call),
        .flow = flow_of(call),
        .run = run,
        .finish = run_later,
        .done = job_done};
    store_submit(call->api->store, &call->job);
}

static bool writes(const struct call *call)
{
    const struct route *route = call->route;
    return route->mode == ROUTE_WRITE && !call->request.is_bad && !call->is_admitting &&
           (route->only_reads == NULL || !route->only_reads(call));
}

static enum store_mode store_mode(const struct call *call)
{
    if (writes(call))
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

/* A WRITE job would only find out that the work should be rehearsed. */
static bool begin_rehearsed(struct call *call)
{
    bool is_large = call->request.body.len >= REHEARSAL_FROM_BYTES;
    if (!(call->route->flags & ROUTE_REHEARSED) || !is_large || !writes(call) ||
        store_is_shared(call->api->store))
        return false;
    rehearsal_begin(&call->rehearsal);
    submit(call, STORE_READ);
    return true;
}

void call_submit(struct call *call)
{
    const struct route *route = call->route;
    if (route->mode == ROUTE_STATIC) {
        run_static(call);
        return;
    }
    if (!str_is_none(call->request.ticket) &&
        !ticket_is_well_formed(call->arena, call->request.ticket)) {
        problem_init(&call->problem, call->arena);
        finish(call, ticket_refuse(&call->problem));
        return;
    }
    call->is_admitting = call->is_admitting || (route->flags & ROUTE_LONG);
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
    call->is_comparing = call->request.has_echo && writes(call) && !(route->flags & ROUTE_MERGE);
    if (!call->is_comparing && begin_rehearsed(call))
        return;
    submit(call, call->is_comparing ? STORE_READ : store_mode(call));
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

enum error call_may_continue(void *data)
{
    const struct call *call = data;
    bool is_wanted = !atomic_load(&call->is_abandoned) && !atomic_load(&call->api->is_stopping);
    return is_wanted ? OK : ERR_CANCELLED;
}

uint64_t call_wake_ms(const struct call *call)
{
    return (uint64_t)(call->answer.wake_in_us + 999) / 1000;
}

int64_t call_wait_s(const struct call *call)
{
    return call->answer.may_wait && call->answer.status < 300 ? call->request.wait_s : 0;
}
