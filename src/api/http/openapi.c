/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/openapi.h"

#include "api/http/call.h"
#include "api/http/examples.h"
#include "base/json/json_write.h"

/* --- Small words ---------------------------------------------------------------------------- */

static void member(struct json_writer *w, const char *name, const char *value)
{
    json_write_key(w, str_of(name));
    json_write_string(w, str_of(value));
}

static void open_member(struct json_writer *w, const char *name)
{
    json_write_key(w, str_of(name));
    json_write_object(w);
}

static void reference(struct json_writer *w, const char *schema)
{
    char path[128];
    int len = snprintf(path, sizeof path, "#/components/schemas/%s", schema);
    assert(len > 0 && (size_t)len < sizeof path);
    member(w, "$ref", path);
}

/* --- Schemas -------------------------------------------------------------------------------- */

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
    if (f->min != 0) {
        json_write_key(w, str_of(min_name));
        json_write_i64(w, f->min);
    }
    if (f->max != 0) {
        json_write_key(w, str_of(max_name));
        json_write_i64(w, f->max);
    }
}

static void write_items(struct json_writer *w, const struct field *f)
{
    open_member(w, "items");
    if (f->nested != NULL) {
        reference(w, f->nested->name);
    } else if (f->kind == FIELD_ARRAY) {
        member(w, "type", f->items);
    } else {
        member(w, "type", "string");
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
        reference(w, f->nested->name);
        return;
    }
    json_write_key(w, STR("oneOf"));
    json_write_array(w);
    json_write_object(w);
    reference(w, f->nested->name);
    json_write_end(w);
    json_write_object(w);
    member(w, "type", "null");
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

static void write_field(struct json_writer *w, const struct schema *s, const struct field *f)
{
    write_type(w, f);
    switch (f->kind) {
    case FIELD_STRING:
        write_limits(w, "minLength", "maxLength", f);
        break;
    case FIELD_INT:
        member(w, "format", "int64");
        write_limits(w, "minimum", "maximum", f);
        break;
    case FIELD_TIME:
        member(w, "format", "date-time");
        break;
    case FIELD_UUID:
        member(w, "format", "uuid");
        break;
    case FIELD_ENUM:
        write_choices(w, f->choices, (f->flags & FIELD_NULLABLE) != 0);
        break;
    case FIELD_STRINGS:
    case FIELD_NESTED_LIST:
        write_items(w, f);
        break;
    case FIELD_ARRAY:
        if (f->nested != NULL || f->items != NULL)
            write_items(w, f);
        break;
    default:
        break;
    }
    if (schema_is_read_only(s, f)) {
        json_write_key(w, STR("readOnly"));
        json_write_bool(w, true);
    }
    if (f->summary != NULL)
        member(w, "description", f->summary);
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

static void write_names(struct json_writer *w, const char *list, const char *const *names)
{
    json_write_key(w, str_of(list));
    json_write_array(w);
    for (; *names != NULL; names++)
        json_write_string(w, str_of(*names));
    json_write_end(w);
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
    open_member(w, s->name);
    member(w, "type", "object");
    open_member(w, "properties");
    for (const struct field *f = NULL; (f = schema_next(s, f)) != NULL;) {
        open_member(w, f->name);
        write_field(w, s, f);
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

static void typed_member(struct json_writer *w, const char *name, const char *type)
{
    open_member(w, name);
    member(w, "type", type);
    json_write_end(w);
}

static void write_fault_schema(struct json_writer *w)
{
    static const char *const required[] = {"pointer", "detail", NULL};
    open_member(w, "items");
    member(w, "type", "object");
    open_member(w, "properties");
    open_member(w, "pointer");
    member(w, "type", "string");
    member(w, "description", "JSON Pointer into the body, or the name of a parameter or header");
    json_write_end(w);
    typed_member(w, "detail", "string");
    json_write_end(w);
    write_names(w, "required", required);
    json_write_end(w);
}

/* RFC 9457; some problems have further members. */
static void write_problem_schema(struct json_writer *w)
{
    static const char *const required[] = {
        "type", "title", "status", "code", "detail", "request_id", "retryable", NULL};
    open_member(w, "Problem");
    member(w, "type", "object");
    open_member(w, "properties");
    typed_member(w, "type", "string");
    typed_member(w, "title", "string");
    typed_member(w, "status", "integer");
    typed_member(w, "code", "string");
    typed_member(w, "detail", "string");
    typed_member(w, "request_id", "string");
    typed_member(w, "retryable", "boolean");
    open_member(w, "errors");
    member(w, "type", "array");
    write_fault_schema(w);
    json_write_end(w);
    open_member(w, "errors_untold");
    member(w, "type", "integer");
    member(w, "description", "number of further faults");
    json_write_end(w);
    json_write_end(w);
    write_names(w, "required", required);
    json_write_end(w);
}

/* --- Routes --------------------------------------------------------------------------------- */

static void write_parameter(struct json_writer *w, struct str name, const char *in, bool required)
{
    json_write_key(w, STR("name"));
    json_write_string(w, name);
    member(w, "in", in);
    json_write_key(w, STR("required"));
    json_write_bool(w, required);
}

static void write_header_parameter(struct json_writer *w, const char *name, const char *summary)
{
    json_write_object(w);
    write_parameter(w, str_of(name), "header", false);
    member(w, "description", summary);
    open_member(w, "schema");
    member(w, "type", "string");
    json_write_end(w);
    json_write_end(w);
}

static void write_header_parameters(struct json_writer *w, const struct route *r)
{
    if (r->mode == ROUTE_WRITE && strcmp(r->method, "POST") == 0)
        write_header_parameter(
            w, "Idempotency-Key", "repeats the stored answer if this request was processed before");
    if (r->flags & ROUTE_ETAG)
        write_header_parameter(
            w, r->mode == ROUTE_READ ? "If-None-Match" : "If-Match", "ETag of the object");
    if (r->flags & ROUTE_CONDITIONAL)
        write_header_parameter(w, "If-None-Match",
            r->flags & ROUTE_MUST_MATCH ? "*: only if the object does not exist. If-None-Match or "
                                          "If-Match is required; If-Match: * overwrites any version"
                                        : "*: only if the object does not exist");
    if (r->flags & ROUTE_UPLOAD)
        write_header_parameter(w, "Content-Digest", "sha-256=:BASE64: of the body (RFC 9530)");
    if (r->flags & ROUTE_BYTES) {
        write_header_parameter(w, "Range", "a single range of bytes");
        write_header_parameter(
            w, "If-Range", "ETag that the object must have for the range to be returned");
    }
    if (!route_is_public(r))
        write_header_parameter(w, "Cairn-Principal",
            "user:NAME or agent:UUID: restricts the request to this principal");
    if (r->flags & ROUTE_FENCED)
        write_header_parameter(w, "Cairn-Fencing-Token", "fencing token of the claimed run");
    if (r->flags & ROUTE_MAY_LAG)
        write_header_parameter(w, "Cairn-Consistency",
            "strong (default), or eventual: a replica that lags slightly may answer");
    if (r->mode == ROUTE_SSE)
        write_header_parameter(w, "Last-Event-ID", "cursor, alternative to ?after=");
}

static void write_path_schema(struct json_writer *w, enum route_param kind)
{
    member(w, "type", kind == ROUTE_PARAM_NUMBER ? "integer" : "string");
    if (kind == ROUTE_PARAM_UUID)
        member(w, "format", "uuid");
    if (kind == ROUTE_PARAM_NUMBER) {
        json_write_key(w, STR("minimum"));
        json_write_i64(w, 1);
    }
    if (kind == ROUTE_PARAM_TEXT) {
        json_write_key(w, STR("maxLength"));
        json_write_i64(w, ROUTE_TEXT_MAX_BYTES);
    }
}

static void write_parameters(struct json_writer *w, const struct route *r)
{
    json_write_key(w, STR("parameters"));
    json_write_array(w);
    for (size_t i = 0; !str_is_none(route_param_name(r, i)); i++) {
        json_write_object(w);
        write_parameter(w, route_param_name(r, i), "path", true);
        open_member(w, "schema");
        write_path_schema(w, route_param_kind(route_param_name(r, i)));
        json_write_end(w);
        json_write_end(w);
    }
    for (const struct field *f = NULL; (f = schema_next(r->query, f)) != NULL;) {
        json_write_object(w);
        write_parameter(w, str_of(f->name), "query", false);
        open_member(w, "schema");
        write_field(w, r->query, f);
        json_write_end(w);
        json_write_end(w);
    }
    if (r->flags & ROUTE_METADATA_FILTER) {
        json_write_object(w);
        write_parameter(w, STR("metadata.KEY"), "query", false);
        member(w, "description",
            "only objects whose metadata has a member KEY with this value; at most 4 such filters");
        open_member(w, "schema");
        member(w, "type", "string");
        json_write_end(w);
        json_write_end(w);
    }
    write_header_parameters(w, r);
    json_write_end(w);
}

static void write_content(struct json_writer *w, const char *media_type, const char *schema)
{
    open_member(w, media_type);
    open_member(w, "schema");
    reference(w, schema);
    json_write_end(w);
    json_write_end(w);
}

static void write_any(struct json_writer *w, const char *media_type)
{
    open_member(w, media_type);
    open_member(w, "schema");
    json_write_end(w);
    json_write_end(w);
}

static void write_bytes_content(struct json_writer *w)
{
    write_any(w, "application/octet-stream");
}

static void write_upload(struct json_writer *w)
{
    open_member(w, "requestBody");
    json_write_key(w, STR("required"));
    json_write_bool(w, true);
    member(w, "description", "bytes of any media type; the media type is stored");
    open_member(w, "content");
    write_bytes_content(w);
    json_write_end(w);
    json_write_end(w);
}

static void write_body(struct json_writer *w, const struct route *r)
{
    if ((r->flags & ROUTE_UPLOAD) || (r->flags & ROUTE_RAW_BODY && r->mode == ROUTE_WRITE)) {
        write_upload(w);
        return;
    }
    if (r->body == NULL)
        return;
    open_member(w, "requestBody");
    json_write_key(w, STR("required"));
    json_write_bool(w, !(r->flags & ROUTE_BODY_OPTIONAL));
    open_member(w, "content");
    if (r->flags & ROUTE_PATCH) {
        write_content(w, "application/merge-patch+json", r->body->name);
        open_member(w, "application/json-patch+json");
        open_member(w, "schema");
        member(w, "type", "array");
        json_write_end(w);
        json_write_end(w);
    }
    write_content(w, "application/json", r->body->name);
    json_write_end(w);
    json_write_end(w);
}

static void write_page_schema(struct json_writer *w, const struct route *r)
{
    static const char *const required[] = {"data", "has_more", "next_cursor", NULL};
    static const char *const cursor_types[] = {"string", "null", NULL};
    open_member(w, "application/json");
    open_member(w, "schema");
    member(w, "type", "object");
    open_member(w, "properties");
    open_member(w, "data");
    member(w, "type", "array");
    open_member(w, "items");
    reference(w, r->answer->name);
    json_write_end(w);
    json_write_end(w);
    typed_member(w, "has_more", "boolean");
    open_member(w, "next_cursor");
    write_names(w, "type", cursor_types);
    json_write_end(w);
    if (r->flags & ROUTE_TWO_WAYS) {
        typed_member(w, "before_cursor", "string");
        typed_member(w, "after_cursor", "string");
    }
    json_write_end(w);
    write_names(w, "required", required);
    json_write_end(w);
    json_write_end(w);
}

static void write_either(struct json_writer *w, const struct schema *one, const struct schema *many)
{
    open_member(w, "application/json");
    open_member(w, "schema");
    json_write_key(w, STR("oneOf"));
    json_write_array(w);
    for (size_t i = 0; i < 2; i++) {
        json_write_object(w);
        reference(w, i == 0 ? one->name : many->name);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

static void write_success(struct json_writer *w, const struct route *r)
{
    if (r->flags & ROUTE_BYTES) {
        open_member(w, "content");
        write_bytes_content(w);
        json_write_end(w);
        return;
    }
    if (r->answer == NULL && (r->flags & ROUTE_RAW_BODY)) {
        open_member(w, "content");
        write_any(w, "application/json");
        write_any(w, "*/*");
        json_write_end(w);
    }
    if (r->answer == NULL || r->status == 101)
        return;
    open_member(w, "content");
    if (r->flags & ROUTE_LIST)
        write_page_schema(w, r);
    else if (r->answer_to_many != NULL)
        write_either(w, r->answer, r->answer_to_many);
    else
        write_content(
            w, r->mode == ROUTE_SSE ? "text/event-stream" : "application/json", r->answer->name);
    json_write_end(w);
}

static void write_empty_answer(struct json_writer *w, const char *status, const char *why)
{
    open_member(w, status);
    member(w, "description", why);
    json_write_end(w);
}

static void write_answers(struct json_writer *w, const struct route *r)
{
    char status[16];
    snprintf(status, sizeof status, "%d", r->status);
    open_member(w, "responses");
    open_member(w, status);
    member(w, "description", "success");
    write_success(w, r);
    json_write_end(w);
    if (r->flags & ROUTE_MAY_CREATE) {
        open_member(w, "201");
        member(w, "description", "success: the object was created");
        write_success(w, r);
        json_write_end(w);
    }
    if (r->flags & ROUTE_MAYBE_NOTHING)
        write_empty_answer(w, "204", "no content");
    if (r->flags & ROUTE_BYTES) {
        write_empty_answer(w, "206", "the requested range");
        write_empty_answer(w, "416", "the range is outside of the content");
    }
    if ((r->flags & ROUTE_ETAG) && r->mode == ROUTE_READ)
        write_empty_answer(w, "304", "the object has not changed: its ETag is in If-None-Match");
    open_member(w, "default");
    member(w, "description", "refusal");
    open_member(w, "content");
    write_content(w, "application/problem+json", "Problem");
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

/* "GET /v1/threads/{thread_id}" becomes get_v1_threads_thread_id. */
static void write_operation_id(struct json_writer *w, const struct route *r)
{
    char id[128];
    size_t len = 0;
    for (const char *p = r->method; *p != '\0'; p++)
        id[len++] = (char)(*p | 0x20);
    for (const char *p = r->path; *p != '\0' && len < sizeof id; p++)
        if (*p != '{' && *p != '}')
            id[len++] = (*p == '/' || *p == '.' || *p == '-') ? '_' : *p;
    json_write_key(w, STR("operationId"));
    json_write_string(w, (struct str){id, len});
}

static void write_operation(struct json_writer *w, const struct route *r)
{
    char method[8];
    size_t len = strlen(r->method);
    for (size_t i = 0; i < len; i++)
        method[i] = (char)(r->method[i] | 0x20);
    json_write_key(w, (struct str){method, len});
    json_write_object(w);
    write_operation_id(w, r);
    member(w, "summary", r->summary);
    if (!route_is_public(r))
        member(w, "x-cairn-scope", scope_name(r->scope));
    write_parameters(w, r);
    write_body(w, r);
    write_answers(w, r);
    if (route_is_public(r)) {
        json_write_key(w, STR("security"));
        json_write_array(w);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_paths(struct json_writer *w)
{
    open_member(w, "paths");
    for (size_t i = 0; i < route_count; i++) {
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told = told || strcmp(routes[k].path, routes[i].path) == 0;
        if (told)
            continue;
        open_member(w, routes[i].path);
        for (size_t k = i; k < route_count; k++)
            if (strcmp(routes[k].path, routes[i].path) == 0)
                write_operation(w, &routes[k]);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_components(struct json_writer *w)
{
    struct schema_set set = {0};
    open_member(w, "components");
    open_member(w, "schemas");
    for (size_t i = 0; i < route_count; i++) {
        enum role body = routes[i].flags & ROUTE_PATCH ? ROLE_PATCH : ROLE_BODY;
        write_schema_once(w, &set, routes[i].body, body);
        write_schema_once(w, &set, routes[i].answer, ROLE_ANSWER);
        write_schema_once(w, &set, routes[i].answer_to_many, ROLE_ANSWER);
    }
    write_problem_schema(w);
    json_write_end(w);
    open_member(w, "securitySchemes");
    open_member(w, "key");
    member(w, "type", "http");
    member(w, "scheme", "bearer");
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

void openapi_write(struct buf *out)
{
    struct json_writer w;
    json_writer_init(&w, out);
    json_write_object(&w);
    member(&w, "openapi", "3.1.0");
    open_member(&w, "info");
    member(&w, "title", "Cairn");
    member(&w, "version", CAIRN_VERSION);
    open_member(&w, "license");
    member(&w, "name", "Apache License 2.0");
    member(&w, "identifier", "Apache-2.0");
    json_write_end(&w);
    json_write_end(&w);
    json_write_key(&w, STR("security"));
    json_write_array(&w);
    json_write_object(&w);
    json_write_key(&w, STR("key"));
    json_write_array(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
    write_paths(&w);
    write_components(&w);
    json_write_end(&w);
}
