/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/access.h"

#include "model/execution/runs.h"
#include "model/tenancy/keys.h"
#include "model/threads/participants.h"

/* --- Authentication ------------------------------------------------------------------------- */

static enum error limit_rate(struct call *call, const struct api_key *key, int64_t now_us)
{
    if (!key->has_rate_limit)
        return OK;
    if (!call->is_counted)
        call->rate =
            rate_limiter_take(call->api->rate_limiter, key->id, key->rate_limit_per_minute, now_us);
    call->is_counted = true;
    const struct rate_verdict v = call->rate;
    call_add_header(call, STR("RateLimit-Policy"),
        arena_printf(call->arena, "\"key\";q=%lld;w=60", (long long)v.limit));
    call_add_header(call, STR("RateLimit"),
        arena_printf(
            call->arena, "\"key\";r=%lld;t=%lld", (long long)v.remaining, (long long)v.reset_s));
    if (v.allowed)
        return OK;
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
    if (any)
        return problem_set(
            &call->problem, ERR_UNAUTHENTICATED, "send an API key: Authorization: Bearer cairn_…");
    TRY(check_local(call));
    context_enter(c, DEFAULT_TENANT_ID);
    c->actor = ACTOR_OPEN;
    c->scopes = scopes_effective(SCOPE_OPERATOR);
    return OK;
}

static enum error enter_with_key(struct call *call, struct context *c)
{
    struct api_key key;
    bool known;
    enum error e = key_authenticate(c, call->request.secret, &key, &known);
    if (e != OK) {
        if (known) {
            call->caller.denied = "key.refused";
            call->caller.key_id = c->key_id;
        }
        return e;
    }
    call->caller.has_key = true;
    call->caller.key_id = key.id;
    call->caller.has_expiry = key.has_expires_at;
    call->caller.expires_at = key.expires_at;
    return limit_rate(call, &key, c->now_us);
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
    enum error e =
        str_is_none(call->request.secret) ? enter_open(call, c) : enter_with_key(call, c);
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

static enum error check_thread(struct call *call, struct context *c, struct uuid thread_id)
{
    enum route_access access = call->route->access;
    bool writes = call->route->mode == ROUTE_WRITE && access != ACCESS_READER;
    return participant_check_access(c, thread_id, writes || access == ACCESS_WRITER);
}

/* The run of a thread in which the principal takes no part is reported as not found. */
static enum error check_run(struct call *call, struct context *c, struct uuid run_id)
{
    struct run run;
    enum error e = run_get_head(c, run_id, &run);
    if (e == OK)
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
    if (str_is_none(c->principal))
        return OK;
    call->must_be_fresh = true;
    if (call->job.mode == STORE_READ_STALE)
        return ERR_UNAVAILABLE; /* the job runs again on the primary: see job_done */
    if (call->route->access == ACCESS_OWN)
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
