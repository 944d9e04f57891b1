/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/access.h"

#include "model/execution/runs.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tickets.h"
#include "model/threads/participants.h"

/* --- Authentication ------------------------------------------------------------------------- */

/* Counts the connection for the tenant of the request. */
static enum error limit_connections(struct call *call, struct context *c)
{
    const struct quota_limits *q = &c->quotas;
    int64_t max = q->has_max_connections ? q->max_connections : INT64_MAX;
    if (call->connection == NULL)
        return OK;
    if (c->may_exceed_quotas) {
        connection_enter_above(call->connection, c->tenant_id, max);
        return OK;
    }
    if (connection_enter(call->connection, c->tenant_id, max))
        return OK;
    call->answer.closes = true;
    return quota_refuse(
        c, ERR_QUOTA, "connections", max, holdings_count(call->api->connections, c->tenant_id));
}

/* Takes the tokens of the key and of its tenant, once for all runs of the job. */
static void count_request(struct call *call, const struct api_key *key, const struct context *c)
{
    struct rate_limiter *limiter = call->api->rate_limiter;
    if (call->is_counted)
        return;
    call->is_counted = true;
    if (key->has_rate_limit)
        call->rate = rate_limiter_take(
            limiter, key->id, rate_per_minute(key->rate_limit_per_minute), c->now_us);
    if (c->quotas.has_max_requests_per_second && (!key->has_rate_limit || call->rate.allowed))
        call->tenant_rate = rate_limiter_take(
            limiter, c->tenant_id, rate_per_second(c->quotas.max_requests_per_second), c->now_us);
}

static enum error limit_tenant(struct call *call, struct context *c)
{
    int64_t limit = c->quotas.max_requests_per_second;
    if (!c->quotas.has_max_requests_per_second || call->tenant_rate.allowed)
        return OK;
    enum error e = quota_refuse(c, ERR_QUOTA, "requests_per_second", limit, limit);
    call->problem.retry_after_s = (uint32_t)call->tenant_rate.reset_s;
    return e;
}

static enum error limit_rate(struct call *call, const struct api_key *key, struct context *c)
{
    count_request(call, key, c);
    if (!key->has_rate_limit)
        return limit_tenant(call, c);
    const struct rate_verdict v = call->rate;
    call_add_header(call, STR("RateLimit-Policy"),
        arena_printf(call->arena, "\"key\";q=%lld;w=60", (long long)v.limit));
    call_add_header(call, STR("RateLimit"),
        arena_printf(
            call->arena, "\"key\";r=%lld;t=%lld", (long long)v.remaining, (long long)v.reset_s));
    if (v.allowed)
        return limit_tenant(call, c);
    enum error e = problem_set(&call->problem, ERR_RATE_LIMITED,
        "the key allows %lld requests per minute", (long long)v.limit);
    call->problem.retry_after_s = (uint32_t)v.reset_s;
    return e;
}

/* A proxy on this machine, or a page of another site in a local browser, is not a local client. */
static enum error check_local(struct call *call)
{
    static const char *const FORWARDED[] = {"X-Forwarded-For", "Forwarded", "Via"};
    for (size_t i = 0; i < COUNT_OF(FORWARDED); i++)
        if (!str_is_none(http_header(call->request.http, str_of(FORWARDED[i]))))
            return problem_set(&call->problem, ERR_UNAUTHENTICATED,
                "the request was forwarded (%s), but only local clients need no key: create one "
                "with cairn key create",
                FORWARDED[i]);
    if (str_eq_nocase(http_header(call->request.http, STR("Sec-Fetch-Site")), STR("cross-site")))
        return problem_set(&call->problem, ERR_UNAUTHENTICATED,
            "the request is from a page of another site: create a key with cairn key create");
    return OK;
}

/* While the database has no key, a client on the loopback address acts for the default tenant. */
static enum error enter_open(struct call *call, struct context *c)
{
    bool any = true;
    if (call->api->may_be_open)
        TRY(key_any(c, &any));
    atomic_store(&call->api->is_open, !any);
    if (any)
        return problem_set(
            &call->problem, ERR_UNAUTHENTICATED, "send an API key: Authorization: Bearer cairn_…");
    TRY(check_local(call));
    context_enter(c, DEFAULT_TENANT_ID);
    c->actor = ACTOR_OPEN;
    c->scopes = scopes_effective(SCOPE_OPERATOR);
    return limit_connections(call, c);
}

static enum error admit_key(struct call *call, const struct api_key *key, struct context *c)
{
    call->caller.has_key = true;
    call->caller.key_id = key->id;
    call->caller.has_expiry = key->has_expires_at;
    call->caller.expires_at = key->expires_at;
    call->caller.quotas = key->quotas;
    TRY(limit_connections(call, c));
    return limit_rate(call, key, c);
}

/* The header is not quoted: it may contain a key. */
static enum error refuse_authorization(struct call *call)
{
    const struct str name = STR("Authorization");
    struct str value = http_header(call->request.http, name);
    const char *detail =
        http_header_count(call->request.http, name) > 1 ? "send Authorization only once"
        : str_starts_with(value, STR("cairn_"))
            ? "the key must follow the word Bearer: send Authorization: Bearer cairn_…"
            : "Authorization must be the word Bearer and an API key: Bearer cairn_…";
    return problem_set(&call->problem, ERR_UNAUTHENTICATED, "%s", detail);
}

static enum error enter_with_key(struct call *call, struct context *c)
{
    struct api_key key;
    bool known;
    if (call->request.secret.len == 0)
        return refuse_authorization(call);
    enum error e = key_authenticate(c, call->request.secret, &key, &known);
    if (e != OK) {
        if (known) {
            call->caller.denied = "key.refused";
            call->caller.key_id = c->key_id;
        }
        return e;
    }
    return admit_key(call, &key, c);
}

static enum error enter_key_of_ticket(struct call *call, struct context *c, struct uuid key_id)
{
    struct api_key key;
    enum error e = key_enter(c, key_id, &key);
    if (e != OK) {
        call->caller.denied = "key.refused";
        call->caller.key_id = key_id;
        return e;
    }
    return admit_key(call, &key, c);
}

/* A ticket has the rights of the caller that created it, as far as that caller still has them. */
static enum error enter_with_ticket(struct call *call, struct context *c)
{
    struct ticket ticket;
    TRY(ticket_check(c, call->request.ticket, call->request.http->path, &ticket));
    TRY(uuid_is_nil(ticket.key_id) ? enter_open(call, c)
                                   : enter_key_of_ticket(call, c, ticket.key_id));
    c->principal = ticket.principal.len > 0 ? ticket.principal : STR_NONE;
    call->caller.ticket_id = ticket.id;
    return OK;
}

/* A key of the whole tenant may narrow itself to one principal for this request. */
static enum error take_principal(struct call *call, struct context *c)
{
    const struct str name = STR("Cairn-Principal");
    struct str wanted = http_header(call->request.http, name);
    if (str_is_none(wanted))
        return OK;
    if (!principal_is_valid(wanted))
        return problem_fault(&call->problem, name, "%s", PRINCIPAL_RULE);
    if (!str_is_none(c->principal) && !str_eq(c->principal, wanted)) {
        call->caller.denied = "principal.refused";
        return problem_set(&call->problem, ERR_FORBIDDEN,
            "the key acts for %.*s: Cairn-Principal cannot name another principal",
            STR_ARG(c->principal));
    }
    c->principal = wanted;
    return OK;
}

enum error access_authenticate(struct call *call, struct context *c)
{
    if (call->route->flags & ROUTE_PUBLIC)
        return OK;
    enum error e = !str_is_none(call->request.ticket)   ? enter_with_ticket(call, c)
                   : !str_is_none(call->request.secret) ? enter_with_key(call, c)
                                                        : enter_open(call, c);
    call->caller.tenant_id = c->tenant_id;
    if (e == OK)
        e = take_principal(call, c);
    call->caller.principal = c->principal;
    return e;
}

/* --- Permission ----------------------------------------------------------------------------- */

enum error access_check_scope(struct call *call, struct context *c)
{
    call->caller.scopes = c->scopes;
    return access_require_scope(call, call->route->scope);
}

enum error access_require_scope(struct call *call, enum scope scope)
{
    if ((call->caller.scopes & (unsigned)scope) == (unsigned)scope)
        return OK;
    call->caller.denied = "scope.refused";
    return problem_set(&call->problem, ERR_FORBIDDEN, "this %s requires the scope %s",
        scope == call->route->scope ? "route" : "request", scope_name(scope));
}

bool access_may_read(const struct call *call)
{
    unsigned read = (unsigned)scope_to_read(call->route->scope);
    return (call->caller.scopes & read) == read;
}

bool access_shows_only_new(const struct call *call)
{
    unsigned flags = call->route->flags;
    bool is_new = (flags & ROUTE_MAY_CREATE) == 0 || call->answer.status == 201;
    return (flags & ROUTE_SHOWS_NEW) != 0 && is_new;
}

/*
 * A write answers with the object. An answer with old content is only for a key that may read it:
 * an empty patch, a verb that changes nothing, or an object that is made from another one would
 * otherwise be a way to read. A fencing token does not prove who claimed the run: it is a small
 * number, which can be guessed.
 */
bool access_shows_all(const struct call *call)
{
    return call->route->mode != ROUTE_WRITE || (call->route->flags & ROUTE_HANDS_OUT) != 0 ||
           access_shows_only_new(call) || access_may_read(call);
}

static enum error check_thread(struct call *call, struct context *c, struct uuid thread_id)
{
    enum route_access access = call->route->access;
    bool writes = call->route->mode == ROUTE_WRITE && access != ACCESS_READER;
    return participant_check_access(c, thread_id, writes || access == ACCESS_WRITER);
}

/* The agent of a run reads it and works on it, also without taking part in its thread. What people
 * decide about a run needs no fencing token. */
static bool works_on(const struct call *call, const struct context *c, const struct run *run)
{
    const struct route *route = call->route;
    return run->has_agent_id && principal_is_agent(c->principal, run->agent_id) &&
           (route->mode == ROUTE_READ || (route->flags & ROUTE_FENCED) != 0);
}

/* The run of a thread in which the principal takes no part is reported as not found. */
static enum error check_run(struct call *call, struct context *c, struct uuid run_id)
{
    struct run run;
    enum error e = run_get_head(c, run_id, &run);
    if (e == OK && !works_on(call, c, &run))
        e = check_thread(call, c, run.thread_id);
    if (e != ERR_NOT_FOUND)
        return e;
    problem_init(&call->problem, call->arena);
    return context_not_found(c, "run", run_id);
}

static enum error check_agent(struct context *c, struct uuid agent_id)
{
    return principal_is_agent(c->principal, agent_id) ? OK
                                                      : context_not_found(c, "agent", agent_id);
}

enum error access_check_path(struct call *call, struct context *c)
{
    size_t at;
    struct uuid agent_id;
    if (str_is_none(c->principal))
        return OK;
    call->must_be_fresh = true;
    if (call->job.mode == STORE_READ_STALE)
        return ERR_UNAVAILABLE; /* the job runs again on the primary: see job_done */
    if (call->route->access == ACCESS_OWN)
        return OK;
    if (call->route->access == ACCESS_AGENT && principal_agent(c->principal, &agent_id))
        return OK;
    bool by_path = call->route->access != ACCESS_TENANT;
    if (by_path && call_find_thread_param(call, &at))
        return check_thread(call, c, call->request.params[at]);
    if (by_path && call_find_param(call, "run_id", &at))
        return check_run(call, c, call->request.params[at]);
    if (by_path && call_find_param(call, "agent_id", &at))
        return check_agent(c, call->request.params[at]);
    return problem_set(&call->problem, ERR_FORBIDDEN,
        "this route concerns the whole tenant, but the request acts only for %.*s",
        STR_ARG(c->principal));
}
