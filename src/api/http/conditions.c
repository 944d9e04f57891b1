/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/conditions.h"

#include "model/execution/runs.h"

/* A second value of these headers would make the request ambiguous. */
static enum error check_single(struct call *call)
{
    static const struct str names[] = {{"If-Match", 8}, {"Cairn-Fencing-Token", 19},
        {"Idempotency-Key", 15}, {"Content-Type", 12}, {"Last-Event-ID", 13},
        {"Cairn-Principal", 15}};
    enum error e = OK;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (http_header_count(call->request.http, names[i]) > 1)
            e = problem_fault(&call->problem, names[i], "must not be repeated");
    return e;
}

static enum error read_match(struct call *call, struct context *c)
{
    struct str match = http_header(call->request.http, STR("If-Match"));
    if (str_is_none(match))
        return OK;
    bool versioned = (call->route->flags & ROUTE_ETAG) != 0;
    if (call->route->mode == ROUTE_WRITE && !versioned)
        return problem_fault(
            &call->problem, STR("If-Match"), "is not allowed here: this route has no ETag");
    if (str_has_byte(match, ','))
        return problem_fault(&call->problem, STR("If-Match"), "must be one ETag, or *");
    c->match_any = str_eq(match, STR("*"));
    if (c->match_any)
        return OK;
    c->has_match = true;
    c->match_version = -1;
    const struct str start = call->route->flags & ROUTE_REVISION ? STR("\"r") : STR("\"");
    bool quoted =
        str_starts_with(match, start) && match.len > start.len && match.ptr[match.len - 1] == '"';
    if (quoted && !str_to_i64(str_slice(match, start.len, match.len - 1), &c->match_version))
        c->match_version = -1;
    return OK;
}

/* If-None-Match: * on a write: the object must not exist yet. */
static enum error read_none_match(struct call *call, struct context *c)
{
    const struct str name = STR("If-None-Match");
    struct str match = http_header(call->request.http, name);
    if (str_is_none(match) || !(call->route->flags & ROUTE_CONDITIONAL))
        return OK;
    if (!str_eq(match, STR("*")) || http_header_count(call->request.http, name) > 1)
        return problem_fault(&call->problem, name, "must be * in a write");
    if (c->has_match || c->match_any)
        return problem_fault(&call->problem, name, "is not allowed together with If-Match");
    c->match_none = true;
    return OK;
}

static enum error read_fence(struct call *call, struct context *c)
{
    struct str fence = http_header(call->request.http, STR("Cairn-Fencing-Token"));
    if (str_is_none(fence))
        return OK;
    c->has_fence = true;
    if (!str_to_i64(fence, &c->fence) || c->fence <= 0)
        return problem_fault(&call->problem, STR("Cairn-Fencing-Token"),
            "must be the fencing token of a claimed run");
    return OK;
}

enum error conditions_read(struct call *call, struct context *c)
{
    TRY(check_single(call));
    TRY(read_match(call, c));
    TRY(read_none_match(call, c));
    return read_fence(call, c);
}

enum error conditions_check_fence(struct call *call, struct context *c)
{
    size_t at;
    struct run run;
    if (!c->has_fence || call->route->mode != ROUTE_WRITE)
        return OK;
    if (call_find_thread_param(call, &at))
        return run_check_thread_fence(c, call->request.params[at]);
    if (!call_find_param(call, "run_id", &at))
        return problem_fault(&call->problem, STR("Cairn-Fencing-Token"),
            "is not allowed here: this route does not concern one thread or run");
    TRY(run_get_head(c, call->request.params[at], &run));
    return run_check_fence(c, &run);
}
