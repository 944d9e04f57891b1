/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/route.h"

#include <pthread.h>

#include "base/alloc.h"

/* The segments of a path; the first is the text before the first slash. */
struct segments {
    struct str items[ROUTE_MAX_SEGMENTS];
    size_t count;
};

/* The segments of all templates, split once: each request is compared with them. */
static struct segments *templates;

static bool is_param(struct str segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

/* Returns false if there are more segments than any route has. */
static bool split(struct str path, struct segments *out)
{
    out->count = 0;
    while (!str_is_none(path)) {
        if (out->count == ROUTE_MAX_SEGMENTS)
            return false;
        str_next_part(&path, '/', &out->items[out->count++]);
    }
    return true;
}

static void split_templates(void)
{
    templates = mem_alloc(route_count * sizeof *templates);
    for (size_t i = 0; i < route_count; i++)
        if (!split(str_of(routes[i].path), &templates[i]))
            abort(); /* ROUTE_MAX_SEGMENTS is too small for the table */
}

static const struct segments *all_templates(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, split_templates);
    return templates;
}

static bool matches(const struct segments *template, const struct segments *path,
    struct str out_params[ROUTE_MAX_PARAMS])
{
    size_t n = 0;
    if (template->count != path->count)
        return false;
    for (size_t i = 0; i < path->count; i++) {
        struct str expected = template->items[i], actual = path->items[i];
        if (is_param(expected)) {
            if (actual.len == 0)
                return false;
            assert(n < ROUTE_MAX_PARAMS);
            out_params[n++] = actual;
        } else if (!str_eq(expected, actual)) {
            return false;
        }
    }
    return true;
}

static struct str add_allowed(struct arena *arena, struct str allow, const char *method)
{
    const char *head = strcmp(method, "GET") == 0 ? ", HEAD" : "";
    return arena_printf(
        arena, "%.*s%s%s%s", STR_ARG(allow), allow.len > 0 ? ", " : "", method, head);
}

enum route_found route_find(struct arena *arena, struct str method, struct str path,
    const struct route **out_route, struct str out_params[ROUTE_MAX_PARAMS], struct str *out_allow)
{
    struct str wanted = str_eq(method, STR("HEAD")) ? STR("GET") : method;
    struct str allow = STR("");
    const struct segments *all = all_templates();
    struct segments segments;
    if (!split(path, &segments))
        return ROUTE_UNKNOWN;
    for (size_t i = 0; i < route_count; i++) {
        struct str params[ROUTE_MAX_PARAMS] = {{0}};
        if (!matches(&all[i], &segments, params))
            continue;
        if (str_eq(str_of(routes[i].method), wanted)) {
            *out_route = &routes[i];
            memcpy(out_params, params, sizeof params);
            return ROUTE_FOUND;
        }
        allow = add_allowed(arena, allow, routes[i].method);
    }
    *out_allow = allow;
    return allow.len > 0 ? ROUTE_OTHER_METHOD : ROUTE_UNKNOWN;
}

struct str route_param_name(const struct route *route, size_t index)
{
    const struct segments *template = &all_templates()[route - routes];
    for (size_t i = 0; i < template->count; i++) {
        struct str segment = template->items[i];
        if (is_param(segment) && index-- == 0)
            return str_slice(segment, 1, segment.len - 1);
    }
    return STR_NONE;
}

enum route_param route_param_kind(struct str name)
{
    static const struct str numbers[] = {
        {"version", 7}, {"from", 4}, {"to", 2}, {"number", 6}, {"sequence", 8}};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (str_eq(name, numbers[i]))
            return ROUTE_PARAM_NUMBER;
    if (str_eq(name, STR("notebook_id")))
        return ROUTE_PARAM_EITHER;
    return str_ends_with(name, STR("_id")) ? ROUTE_PARAM_UUID : ROUTE_PARAM_TEXT;
}

bool route_is_public(const struct route *route)
{
    return route->mode == ROUTE_STATIC || (route->flags & ROUTE_PUBLIC) != 0;
}

bool route_takes_ticket(const struct route *route)
{
    return route->mode == ROUTE_SSE || route->mode == ROUTE_WEBSOCKET;
}
