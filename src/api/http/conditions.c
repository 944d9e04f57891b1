/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/conditions.h"

#include "api/http/codings.h"
#include "model/execution/runs.h"

/* A second value of these headers would make the request ambiguous. */
static enum error check_single(struct call *call)
{
    static const struct str names[] = {{"Cairn-Fencing-Token", 19}, {"Idempotency-Key", 15},
        {"Content-Type", 12}, {"Last-Event-ID", 13}, {"Cairn-Principal", 15}};
    enum error e = OK;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (http_header_count(call->request.http, names[i]) > 1)
            e = problem_fault(&call->problem, names[i], "must not be repeated");
    return e;
}

enum { MATCH_MAX_TAGS = 64 };

/* The version of a tag of this route: "7", "7-gzip", or "r7" for a revision. Other tags match
 * nothing. */
static int64_t version_of_tag(const struct call *call, struct str tag)
{
    const struct str start = call->route->flags & ROUTE_REVISION ? STR("\"r") : STR("\"");
    int64_t version = -1;
    bool quoted = str_starts_with(tag, start) && tag.len > start.len && tag.ptr[tag.len - 1] == '"';
    if (quoted && !str_to_i64(codings_bare_tag(str_slice(tag, start.len, tag.len - 1)), &version))
        version = -1;
    return version;
}

/* A list of tags. They contain no comma, so it can be split there. */
static enum error read_tags(struct call *call, struct context *c, struct str list, int64_t *place)
{
    struct str tag;
    while (str_next_part(&list, ',', &tag)) {
        tag = str_trim_blanks(tag);
        if (tag.len == 0)
            continue;
        if (c->match_any || (c->has_match && str_eq(tag, STR("*"))))
            return problem_fault(
                &call->problem, STR("If-Match"), "must be a list of ETags, or only *");
        if (c->n_match_versions == MATCH_MAX_TAGS)
            return problem_fault(
                &call->problem, STR("If-Match"), "must have at most %d ETags", MATCH_MAX_TAGS);
        c->match_any = str_eq(tag, STR("*"));
        c->has_match = !c->match_any;
        if (c->has_match)
            place[c->n_match_versions++] = version_of_tag(call, tag);
    }
    return OK;
}

static enum error read_match(struct call *call, struct context *c)
{
    const struct http_request *r = call->request.http;
    if (str_is_none(http_header(r, STR("If-Match"))))
        return OK;
    if (!(call->route->flags & ROUTE_ETAG))
        return problem_fault(
            &call->problem, STR("If-Match"), "is not allowed here: this route has no ETag");
    int64_t *versions = ARENA_ARRAY(call->arena, int64_t, MATCH_MAX_TAGS);
    c->match_versions = versions;
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq_nocase(r->headers[i].name, STR("If-Match")))
            TRY(read_tags(call, c, r->headers[i].value, versions));
    c->has_match = !c->match_any;
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
