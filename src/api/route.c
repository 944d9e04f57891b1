#include "api/route.h"

static bool is_param(struct str segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

/* Walks template and path side by side, one segment at a time. */
static bool path_matches(
    struct str template, struct str path, struct str out_params[ROUTE_MAX_PARAMS])
{
    size_t n = 0;
    struct str expected, actual;
    while (str_next_part(&template, '/', &expected)) {
        if (!str_next_part(&path, '/', &actual))
            return false;
        if (is_param(expected)) {
            if (actual.len == 0)
                return false;
            assert(n < ROUTE_MAX_PARAMS);
            out_params[n++] = actual;
        } else if (!str_eq(expected, actual)) {
            return false;
        }
    }
    return str_is_none(path);
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
    for (size_t i = 0; i < route_count; i++) {
        struct str params[ROUTE_MAX_PARAMS] = {{0}};
        if (!path_matches(str_of(routes[i].path), path, params))
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
    struct str rest = str_of(route->path), segment;
    while (str_next_part(&rest, '/', &segment))
        if (is_param(segment) && index-- == 0)
            return str_slice(segment, 1, segment.len - 1);
    return STR_NONE;
}
