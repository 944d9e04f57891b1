/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/openapi_schemas.h"

#include "api/http/examples.h"
#include "api/http/openapi_words.h"

#include <inttypes.h>

static void write_choices(struct json_writer *w, const char *const *choices, bool or_null)
{
    json_write_key(w, STR("enum"));
    json_write_array(w);
    for (; *choices != NULL; choices++)
        json_write_string(w, str_of(*choices));
    if (or_null)
        json_write_null(w);
    json_write_end(w);
}

static void write_limits(
    struct json_writer *w, const char *min_name, const char *max_name, const struct field *f)
{
    if (f->min != 0 || f->kind == FIELD_INT)
        openapi_limit(w, min_name, f->min);
    if (f->max != 0)
        openapi_limit(w, max_name, f->max);
}

static void write_money_limits(struct json_writer *w, const struct field *f)
{
    if (f->min >= 0) {
        json_write_key(w, STR("minimum"));
        json_write_money(w, f->min);
    }
    if (f->max != 0) {
        json_write_key(w, STR("maximum"));
        json_write_money(w, f->max);
    }
}

/* The unit of the limits of a field, if the keywords of JSON Schema do not imply it; or NULL. */
static const char *unit_of_limits(const struct field *f)
{
    switch (f->kind) {
    case FIELD_STRING:
        return "bytes";
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_ARRAY:
    case FIELD_DOCUMENT:
        return "bytes of JSON";
    default:
        return NULL;
    }
}

/* The summary of the field, and its limits: "shown in lists; at most 1000 bytes". */
static void write_description(struct json_writer *w, const struct field *f)
{
    const char *unit = unit_of_limits(f);
    char limits[80] = "";
    if (unit != NULL && f->max != 0 && f->min == f->max)
        snprintf(limits, sizeof limits, "%" PRId64 " %s", f->max, unit);
    else if (unit != NULL && f->max != 0 && f->min != 0)
        snprintf(limits, sizeof limits, "%" PRId64 " to %" PRId64 " %s", f->min, f->max, unit);
    else if (unit != NULL && f->max != 0)
        snprintf(limits, sizeof limits, "at most %" PRId64 " %s", f->max, unit);
    else if (f->places != 0)
        snprintf(limits, sizeof limits, "rounded to %d digits after the point", f->places);
    if (f->summary == NULL && limits[0] == '\0')
        return;
    struct buf text;
    buf_init(&text, 4096);
    buf_append(&text, str_of(f->summary != NULL ? f->summary : ""));
    buf_append(&text, f->summary != NULL && limits[0] != '\0' ? STR("; ") : STR(""));
    buf_append(&text, str_of(limits));
    json_write_key(w, STR("description"));
    json_write_string(w, buf_str(&text));
    buf_deinit(&text);
}

static void write_items(struct json_writer *w, const struct field *f)
{
    openapi_open(w, "items");
    if (f->nested != NULL) {
        openapi_reference(w, f->nested->name);
    } else if (f->kind == FIELD_ARRAY) {
        if (f->items != NULL)
            openapi_member(w, "type", f->items);
    } else {
        openapi_member(w, "type", "string");
        if (f->choices != NULL)
            write_choices(w, f->choices, false);
    }
    json_write_end(w);
    if (f->kind != FIELD_ARRAY) /* its limits are bytes */
        write_limits(w, "minItems", "maxItems", f);
}

static const char *type_name(enum field_kind kind)
{
    switch (kind) {
    case FIELD_STRING:
    case FIELD_ENUM:
    case FIELD_TIME:
    case FIELD_UUID:
        return "string";
    case FIELD_OBJECT:
        return "object";
    case FIELD_ARRAY:
    case FIELD_STRINGS:
    case FIELD_NESTED_LIST:
        return "array";
    case FIELD_BOOL:
        return "boolean";
    case FIELD_INT:
        return "integer";
    case FIELD_MONEY:
        return "number";
    case FIELD_JSON:
    case FIELD_DOCUMENT:
    case FIELD_NESTED:
        break;
    }
    return NULL;
}

static void write_nested(struct json_writer *w, const struct field *f)
{
    if (!(f->flags & FIELD_NULLABLE)) {
        openapi_reference(w, f->nested->name);
        return;
    }
    json_write_key(w, STR("oneOf"));
    json_write_array(w);
    json_write_object(w);
    openapi_reference(w, f->nested->name);
    json_write_end(w);
    json_write_object(w);
    openapi_member(w, "type", "null");
    json_write_end(w);
    json_write_end(w);
}

static void write_type(struct json_writer *w, const struct field *f)
{
    const char *type = type_name(f->kind);
    if (f->kind == FIELD_NESTED)
        write_nested(w, f);
    if (type == NULL)
        return;
    json_write_key(w, STR("type"));
    if (!(f->flags & FIELD_NULLABLE)) {
        json_write_string(w, str_of(type));
        return;
    }
    json_write_array(w);
    json_write_string(w, str_of(type));
    json_write_string(w, STR("null"));
    json_write_end(w);
}

void openapi_write_field(struct json_writer *w, const struct schema *s, const struct field *f)
{
    write_type(w, f);
    switch (f->kind) {
    case FIELD_STRING:
        /* Bytes, as the description states: a character has 1 to 4, so that no text which is
         * accepted has more characters. Minimums of more than 1 are those of ASCII texts. */
        write_limits(w, "minLength", "maxLength", f);
        break;
    case FIELD_INT:
        openapi_member(w, "format", "int64");
        write_limits(w, "minimum", "maximum", f);
        break;
    case FIELD_MONEY:
        write_money_limits(w, f);
        break;
    case FIELD_TIME:
        openapi_member(w, "format", "date-time");
        break;
    case FIELD_UUID:
        openapi_member(w, "format", "uuid");
        break;
    case FIELD_ENUM:
        write_choices(w, f->choices, (f->flags & FIELD_NULLABLE) != 0);
        break;
    case FIELD_STRINGS:
    case FIELD_NESTED_LIST:
    case FIELD_ARRAY:
        write_items(w, f);
        break;
    default:
        break;
    }
    if (schema_is_read_only(s, f)) {
        json_write_key(w, STR("readOnly"));
        json_write_bool(w, true);
    }
    write_description(w, f);
}

/* The use of a schema, which decides which members are required. */
enum role { ROLE_BODY, ROLE_PATCH, ROLE_ANSWER };

static bool is_always_there(const struct schema *s, const struct field *f, enum role role)
{
    switch (role) {
    case ROLE_BODY:
        return schema_requires(s, f);
    case ROLE_PATCH:
        return false;
    case ROLE_ANSWER:
        return !f->hide_none;
    }
    return false;
}

static void write_example(struct json_writer *w, const struct schema *s, enum role role)
{
    const char *body = example_of_body(s);
    if (role != ROLE_ANSWER && body == NULL)
        return;
    json_write_key(w, STR("examples"));
    json_write_array(w);
    if (role == ROLE_ANSWER)
        example_write_answer(w, s);
    else
        json_write_raw(w, str_of(body));
    json_write_end(w);
}

static void write_schema(struct json_writer *w, const struct schema *s, enum role role)
{
    openapi_open(w, s->name);
    openapi_member(w, "type", "object");
    openapi_open(w, "properties");
    for (const struct field *f = NULL; (f = schema_next(s, f)) != NULL;) {
        openapi_open(w, f->name);
        openapi_write_field(w, s, f);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_key(w, STR("required"));
    json_write_array(w);
    for (const struct field *f = NULL; (f = schema_next(s, f)) != NULL;)
        if (is_always_there(s, f, role))
            json_write_string(w, str_of(f->name));
    json_write_end(w);
    /* An answer may gain members; a body with an unknown member is rejected. */
    if (role != ROLE_ANSWER) {
        json_write_key(w, STR("additionalProperties"));
        json_write_bool(w, false);
    }
    write_example(w, s, role);
    json_write_end(w);
}

/* Each schema once, in the order of the routes. */
struct schema_set {
    const struct schema *seen[256];
    size_t n_seen;
};

static void write_schema_once(
    struct json_writer *w, struct schema_set *set, const struct schema *s, enum role role)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < set->n_seen; i++)
        if (strcmp(set->seen[i]->name, s->name) == 0)
            return;
    assert(set->n_seen < COUNT_OF(set->seen));
    set->seen[set->n_seen++] = s;
    write_schema(w, s, role);
    for (const struct field *f = NULL; (f = schema_next(s, f)) != NULL;)
        write_schema_once(w, set, f->nested, role);
}

static void write_fault_schema(struct json_writer *w)
{
    static const char *const required[] = {"pointer", "detail", NULL};
    openapi_open(w, "items");
    openapi_member(w, "type", "object");
    openapi_open(w, "properties");
    openapi_open(w, "pointer");
    openapi_member(w, "type", "string");
    openapi_member(
        w, "description", "JSON Pointer into the body, or the name of a parameter or header");
    json_write_end(w);
    openapi_typed(w, "detail", "string");
    json_write_end(w);
    openapi_names(w, "required", required);
    json_write_end(w);
}

/* RFC 9457; some problems have further members. */
static void write_problem_schema(struct json_writer *w)
{
    static const char *const required[] = {
        "type", "title", "status", "code", "detail", "request_id", "retryable", NULL};
    openapi_open(w, "Problem");
    openapi_member(w, "type", "object");
    openapi_open(w, "properties");
    openapi_typed(w, "type", "string");
    openapi_typed(w, "title", "string");
    openapi_open(w, "status");
    openapi_member(w, "type", "integer");
    openapi_limit(w, "minimum", 0);
    json_write_end(w);
    openapi_typed(w, "code", "string");
    openapi_typed(w, "detail", "string");
    openapi_typed(w, "request_id", "string");
    openapi_typed(w, "retryable", "boolean");
    openapi_open(w, "errors");
    openapi_member(w, "type", "array");
    write_fault_schema(w);
    json_write_end(w);
    openapi_open(w, "errors_untold");
    openapi_member(w, "type", "integer");
    openapi_limit(w, "minimum", 0);
    openapi_member(w, "description", "number of further faults");
    json_write_end(w);
    json_write_end(w);
    openapi_names(w, "required", required);
    json_write_end(w);
}

/* RFC 6902. */
static void write_patch_schema(struct json_writer *w)
{
    static const char *const operations[] = {
        "add", "remove", "replace", "move", "copy", "test", NULL};
    static const char *const required[] = {"op", "path", NULL};
    openapi_open(w, OPENAPI_PATCH_OPERATION);
    openapi_member(w, "type", "object");
    openapi_open(w, "properties");
    openapi_open(w, "op");
    openapi_member(w, "type", "string");
    openapi_names(w, "enum", operations);
    json_write_end(w);
    openapi_typed(w, "path", "string");
    openapi_typed(w, "from", "string");
    openapi_open(w, "value");
    openapi_member(w, "description", "any JSON value");
    json_write_end(w);
    json_write_end(w);
    openapi_names(w, "required", required);
    json_write_key(w, STR("examples"));
    json_write_array(w);
    json_write_raw(w, STR("{\"op\":\"replace\",\"path\":\"/title\",\"value\":\"Q4 report\"}"));
    json_write_end(w);
    json_write_end(w);
}

void openapi_write_schemas(struct json_writer *w)
{
    struct schema_set set = {0};
    openapi_open(w, "schemas");
    for (size_t i = 0; i < route_count; i++) {
        enum role body = routes[i].flags & ROUTE_PATCH ? ROLE_PATCH : ROLE_BODY;
        write_schema_once(w, &set, routes[i].body, body);
        write_schema_once(w, &set, routes[i].answer, ROLE_ANSWER);
        write_schema_once(w, &set, routes[i].answer_to_many, ROLE_ANSWER);
    }
    write_problem_schema(w);
    write_patch_schema(w);
    json_write_end(w);
}
