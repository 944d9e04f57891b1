/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/origins.h"

/* The name without the port; an IPv6 address keeps its brackets. */
static struct str host_name(struct str host)
{
    if (host.len > 0 && host.ptr[0] == '[')
        return str_slice(host, 0, str_find(host, ']') + 1);
    return str_slice(host, 0, str_find(host, ':'));
}

static bool is_listed(const struct str *list, size_t n, struct str value)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(list[i], value))
            return true;
    return false;
}

static bool host_is_allowed(const struct front_config *config, struct str host)
{
    return config->n_hosts == 0 || is_listed(config->hosts, config->n_hosts, host_name(host));
}

bool origins_is_allowed(const struct front_config *config, struct arena *arena, bool is_tls,
    struct str origin, struct str host)
{
    struct str own = arena_printf(arena, "%s://%.*s", is_tls ? "https" : "http", STR_ARG(host));
    return (str_eq_nocase(origin, own) && host_is_allowed(config, host)) ||
           is_listed(config->origins, config->n_origins, origin);
}

/* A load balancer probes with a name or an address of its own choice, or without any. */
static bool takes_any_host(const struct call *call)
{
    const struct http_request *r = call->request.http;
    const struct route *route;
    struct str params[ROUTE_MAX_PARAMS], unused;
    return route_find(call->arena, r->method, r->path, &route, params, &unused) == ROUTE_FOUND &&
           (route->flags & ROUTE_ANY_HOST);
}

static enum error check_host(const struct front_config *config, struct call *call)
{
    struct str host = call->request.http->host;
    if (host_is_allowed(config, host) || takes_any_host(call))
        return OK;
    if (str_is_none(host))
        return problem_set(&call->problem, ERR_HOST_REFUSED, "the request must have a Host");
    return problem_set(&call->problem, ERR_HOST_REFUSED,
        "the host \"%.*s\" is not allowed (--allow-host)", STR_ARG(host));
}

static enum error check_origin(
    const struct front_config *config, bool is_tls, struct call *call, struct str *out_origin)
{
    const struct http_request *r = call->request.http;
    struct str origin = http_header(r, STR("Origin"));
    if (!str_is_none(origin) && !origins_is_allowed(config, call->arena, is_tls, origin, r->host))
        return problem_set(&call->problem, ERR_HOST_REFUSED,
            "the origin \"%.*s\" is not allowed: add it with --allow-origin", STR_ARG(origin));
    *out_origin = origin;
    return OK;
}

enum error origins_check(
    const struct front_config *config, bool is_tls, struct call *call, struct str *out_origin)
{
    enum error of_origin = check_origin(config, is_tls, call, out_origin);
    enum error of_host = check_host(config, call);
    return of_host != OK ? of_host : of_origin;
}
