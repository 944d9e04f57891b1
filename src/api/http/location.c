/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/location.h"

#include "api/http/access.h"

static const struct str LOCATION = {"Location", 8};

static bool is_set(const struct call *call)
{
    for (size_t i = 0; i < call->answer.n_headers; i++)
        if (str_eq(call->answer.headers[i].name, LOCATION))
            return true;
    return false;
}

static struct str write_uuid(struct call *call, struct uuid id)
{
    char *text = arena_alloc(call->arena, UUID_TEXT_LEN);
    uuid_format(id, text);
    return (struct str){text, UUID_TEXT_LEN};
}

static struct str write_member(struct call *call, const struct field *f, const void *object)
{
    const void *place = (const char *)object + f->offset;
    switch (f->kind) {
    case FIELD_UUID:
        return write_uuid(call, *(const struct uuid *)place);
    case FIELD_INT:
        return arena_printf(call->arena, "%lld", (long long)*(const int64_t *)place);
    case FIELD_STRING:
        return access_shows_all(call) ? http_encode_percent(call->arena, *(const struct str *)place)
                                      : STR_NONE;
    default:
        abort(); /* a member that route->location names has a kind that no path contains */
    }
}

static struct str write_parameter(struct call *call, struct str name)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", STR_ARG(name));
    size_t i = call_param(call, text);
    return route_param_kind(name) == ROUTE_PARAM_TEXT
               ? http_encode_percent(call->arena, call->request.texts[i])
               : write_uuid(call, call->request.params[i]);
}

/* A member of the answer, or else a parameter of the path. */
static struct str write_name(
    struct call *call, struct str name, const struct schema *schema, const void *object)
{
    const struct field *f = schema_find(schema, name);
    return f != NULL ? write_member(call, f, object) : write_parameter(call, name);
}

/* Returns STR_NONE if the path contains a text that the key may not read. */
static struct str write_location(struct call *call, const struct schema *schema, const void *object)
{
    struct str rest = str_of(call->route->location);
    struct str path = STR("");
    while (rest.len > 0) {
        size_t open = str_find(rest, '{');
        struct str before = str_slice(rest, 0, open);
        rest = str_slice(rest, open + 1, rest.len);
        size_t close = str_find(rest, '}');
        struct str value = STR("");
        if (rest.len > 0)
            value = write_name(call, str_slice(rest, 0, close), schema, object);
        if (str_is_none(value))
            return STR_NONE;
        rest = str_slice(rest, close + 1, rest.len);
        path = arena_printf(
            call->arena, "%.*s%.*s%.*s", STR_ARG(path), STR_ARG(before), STR_ARG(value));
    }
    return path;
}

void location_add(struct call *call, const struct schema *schema, const void *object)
{
    if (is_set(call))
        return;
    bool is_one = call->route->location != NULL && schema == call->route->answer;
    struct str path = is_one ? write_location(call, schema, object) : call->request.http->path;
    if (!str_is_none(path))
        call_add_header(call, LOCATION, path);
}
