/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/echo.h"

#include "api/http/access.h"
#include "api/http/conditions.h"
#include "base/json/json_patch.h"

/* --- Taking members out of the body ----------------------------------------------------------- */

/* The GET route of the same path, if it answers an object. */
static const struct route *reader_of(const struct route *route)
{
    bool replaces = strcmp(route->method, "PUT") == 0 || (route->flags & ROUTE_PATCH);
    for (size_t i = 0; replaces && i < route_count; i++)
        if (strcmp(routes[i].method, "GET") == 0 && strcmp(routes[i].path, route->path) == 0)
            return routes[i].answer != NULL ? &routes[i] : NULL;
    return NULL;
}

/* The answer that shows the members which only Cairn sets. The object that a ROUTE_MERGE copies is
 * of the kind that it creates. */
static const struct schema *shown_by(const struct route *route)
{
    const struct route *reader = reader_of(route);
    return route->flags & ROUTE_MERGE ? route->answer : reader != NULL ? reader->answer : NULL;
}

/* A body may have another object under the name, as the usage of a turn is that of one call in a
 * body, and of all calls in an answer. Members of that object show which of them was sent. */
static bool is_shown_object(
    struct call *call, const struct field *sent, const struct field *shown, struct json value)
{
    if (sent->kind != FIELD_NESTED || shown->kind != FIELD_NESTED ||
        json_type(value) != JSON_OBJECT)
        return false;
    struct json_iter it = json_iter(value);
    struct json key, unused;
    while (json_next(&it, &key, &unused)) {
        struct str name = json_string(call->arena, key);
        if (schema_find(sent->nested, name) == NULL && schema_find(shown->nested, name) != NULL)
            return true;
    }
    return false;
}

static bool is_echo(
    struct call *call, const struct schema *answer, struct json key, struct json value)
{
    struct str name = json_string(call->arena, key);
    const struct field *sent = schema_find(call->route->body, name);
    const struct field *shown = schema_find(answer, name);
    if (shown == NULL)
        return false;
    return sent == NULL || sent->refused || is_shown_object(call, sent, shown, value);
}

static size_t count_echoes(struct call *call, const struct schema *answer)
{
    struct json_iter it = json_iter(json_root(&call->request.doc));
    struct json key, value;
    size_t count = 0;
    while (json_next(&it, &key, &value))
        count += is_echo(call, answer, key, value);
    return count;
}

/* The members of the body that are read-only, or the others. */
static struct json_doc part_of_body(struct call *call, const struct schema *answer, bool echoes)
{
    struct json_iter it = json_iter(json_root(&call->request.doc));
    struct json key, value;
    struct json_doc part;
    struct json_error unused;
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    json_write_object(&text.w);
    while (json_next(&it, &key, &value))
        if (is_echo(call, answer, key, value) == echoes) {
            json_write_key_value(&text.w, key);
            json_write_value(&text.w, value);
        }
    json_write_end(&text.w);
    if (!json_parse(call->arena, json_text_take(&text, call->arena), &part, &unused))
        return call->request.doc; /* the arena is over its budget: its members are faults */
    return part;
}

void echo_take(struct call *call)
{
    struct request *r = &call->request;
    const struct schema *answer = shown_by(call->route);
    if (answer == NULL || r->is_json_patch || json_type(json_root(&r->doc)) != JSON_OBJECT ||
        count_echoes(call, answer) == 0)
        return;
    r->echo = part_of_body(call, answer, true);
    r->whole = r->doc;
    r->doc = part_of_body(call, answer, false);
    r->has_echo = true;
}

/* --- Comparing them --------------------------------------------------------------------------- */

/* The text of a query parameter; the labels of a list are separated by ".". */
static struct str query_text_of(struct call *call, struct json value)
{
    struct json_iter it = json_iter(value);
    struct json label;
    struct str text = STR_NONE;
    if (json_type(value) == JSON_STRING)
        return json_string(call->arena, value);
    while (json_type(value) == JSON_ARRAY && json_next(&it, NULL, &label))
        text = json_type(label) != JSON_STRING ? text
               : str_is_none(text)             ? json_string(call->arena, label)
                                   : arena_printf(call->arena, "%.*s.%.*s", STR_ARG(text),
                                         STR_ARG(json_string(call->arena, label)));
    return text;
}

/* The query of the GET: the parameters that it requires are members of the body. */
static enum error make_query(struct call *call, const struct route *reader, void **out_query)
{
    struct json root = json_root(&call->request.whole), value;
    struct json_doc doc;
    struct json_error unused;
    struct json_text text;
    *out_query = NULL;
    if (reader->query == NULL)
        return OK;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    json_write_object(&text.w);
    for (const struct field *f = NULL; (f = schema_next(reader->query, f)) != NULL;)
        if (schema_requires(reader->query, f) && json_get(root, str_of(f->name), &value))
            json_write_text_member(&text.w, f->name, query_text_of(call, value));
    json_write_end(&text.w);
    *out_query = arena_zalloc(call->arena, reader->query->struct_bytes);
    if (!json_parse(call->arena, json_text_take(&text, call->arena), &doc, &unused))
        return problem_set(&call->problem, ERR_TOO_LARGE, "the body is too large to compare");
    return schema_decode(call->arena, reader->query, json_root(&doc), *out_query, &call->problem);
}

/* Calls the handler of the GET. It rejects a stale If-Match as the write would. */
static enum error read_again(struct call *call, struct context *c, const struct route *reader)
{
    const struct route *route = call->route;
    void *query = call->request.query;
    TRY(make_query(call, reader, &call->request.query));
    call->route = reader;
    enum error e = reader->handle(call, c);
    call->route = route;
    call->request.query = query;
    return e;
}

/* Reports the members that differ from the text of the object; STR_NONE if there is none. */
static enum error compare(struct call *call, struct str object)
{
    struct json_iter it = json_iter(json_root(&call->request.echo));
    struct json_doc now;
    struct json_error unused;
    struct json key, sent, value;
    bool exists = !str_is_none(object);
    if (exists && !json_parse(call->arena, object, &now, &unused))
        return problem_set(&call->problem, ERR_TOO_LARGE, "the object is too large to compare");
    while (json_next(&it, &key, &sent)) {
        struct str name = json_string(call->arena, key);
        if (!exists || !json_get(json_root(&now), name, &value) || !json_equal(sent, value))
            problem_fault(&call->problem, json_pointer_join(call->arena, STR(""), name),
                "is set by Cairn: leave it out, or send it as it was read");
    }
    return call->problem.n_faults > 0 ? ERR_INVALID : OK;
}

enum error echo_compare(struct call *call, struct context *c)
{
    TRY(access_require_scope(call, scope_to_read(call->route->scope)));
    TRY(conditions_read(call, c));
    enum error e = read_again(call, c, reader_of(call->route));
    call->request.echo_of_nothing = e == ERR_NOT_FOUND;
    if (e == ERR_NOT_FOUND)
        problem_init(&call->problem, call->arena);
    if (e != OK)
        return e == ERR_NOT_FOUND ? OK : e;
    return compare(call, buf_str(&call->answer.body));
}

enum error echo_compare_with(struct call *call, const struct schema *schema, const void *object)
{
    struct json_text text;
    TRY(access_require_scope(call, scope_to_read(call->route->scope)));
    if (object == NULL)
        return compare(call, STR_NONE);
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    schema_encode(&text.w, schema, object);
    return compare(call, json_text_take(&text, call->arena));
}

enum error echo_check_after(struct call *call)
{
    return call->request.echo_of_nothing ? compare(call, STR_NONE) : OK;
}
