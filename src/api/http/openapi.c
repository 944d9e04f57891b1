/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/openapi.h"

#include "api/http/call.h"
#include "api/http/openapi_notes.h"
#include "api/http/openapi_schemas.h"
#include "api/http/openapi_words.h"
#include "base/json/json_patch.h"

static void write_parameter(struct json_writer *w, struct str name, const char *in, bool required)
{
    json_write_key(w, STR("name"));
    json_write_string(w, name);
    openapi_member(w, "in", in);
    json_write_key(w, STR("required"));
    json_write_bool(w, required);
}

static void write_header_parameter(struct json_writer *w, const char *name, const char *summary)
{
    json_write_object(w);
    write_parameter(w, str_of(name), "header", false);
    openapi_member(w, "description", summary);
    openapi_open(w, "schema");
    openapi_member(w, "type", "string");
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
            w, "If-Match", "ETags of the object, separated by commas; one must match, else 412");
    if ((r->flags & ROUTE_ETAG) && r->mode == ROUTE_READ)
        write_header_parameter(w, "If-None-Match", "ETag of the object that the client has");
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
    openapi_member(w, "type", kind == ROUTE_PARAM_NUMBER ? "integer" : "string");
    if (kind == ROUTE_PARAM_UUID)
        openapi_member(w, "format", "uuid");
    if (kind == ROUTE_PARAM_EITHER)
        openapi_member(w, "description", "the id, or the number within the tenant");
    if (kind == ROUTE_PARAM_NUMBER) {
        json_write_key(w, STR("minimum"));
        json_write_i64(w, 1);
    }
    if (kind == ROUTE_PARAM_TEXT) {
        openapi_limit(w, "maxLength", ROUTE_TEXT_MAX_BYTES);
        char text[40];
        snprintf(text, sizeof text, "at most %d bytes, decoded", ROUTE_TEXT_MAX_BYTES);
        openapi_member(w, "description", text);
    }
}

static void write_parameters(struct json_writer *w, const struct route *r)
{
    json_write_key(w, STR("parameters"));
    json_write_array(w);
    for (size_t i = 0; !str_is_none(route_param_name(r, i)); i++) {
        json_write_object(w);
        write_parameter(w, route_param_name(r, i), "path", true);
        openapi_open(w, "schema");
        write_path_schema(w, route_param_kind(route_param_name(r, i)));
        json_write_end(w);
        json_write_end(w);
    }
    for (const struct field *f = NULL; (f = schema_next(r->query, f)) != NULL;) {
        json_write_object(w);
        write_parameter(w, str_of(f->name), "query", schema_requires(r->query, f));
        openapi_open(w, "schema");
        openapi_write_field(w, r->query, f);
        json_write_end(w);
        json_write_end(w);
    }
    if (r->flags & ROUTE_METADATA_FILTER) {
        json_write_object(w);
        write_parameter(w, STR("metadata.KEY"), "query", false);
        openapi_member(w, "description",
            "only objects whose metadata has a member KEY with this value; at most 4 such filters");
        openapi_open(w, "schema");
        openapi_member(w, "type", "string");
        json_write_end(w);
        json_write_end(w);
    }
    write_header_parameters(w, r);
    json_write_end(w);
}

static void write_any(struct json_writer *w, const char *media_type)
{
    openapi_open(w, media_type);
    openapi_open(w, "schema");
    json_write_end(w);
    json_write_end(w);
}

static void write_bytes_content(struct json_writer *w, const struct route *r)
{
    write_any(w, r->media_type != NULL ? r->media_type : "application/octet-stream");
}

static void write_upload(struct json_writer *w, const struct route *r)
{
    openapi_open(w, "requestBody");
    json_write_key(w, STR("required"));
    json_write_bool(w, true);
    if (r->media_type == NULL)
        openapi_member(w, "description", "bytes of any media type; the media type is stored");
    openapi_open(w, "content");
    write_bytes_content(w, r);
    json_write_end(w);
    json_write_end(w);
}

static void write_body(struct json_writer *w, const struct route *r)
{
    if ((r->flags & ROUTE_UPLOAD) || (r->flags & ROUTE_RAW_BODY && r->mode == ROUTE_WRITE)) {
        write_upload(w, r);
        return;
    }
    if (r->body == NULL)
        return;
    openapi_open(w, "requestBody");
    json_write_key(w, STR("required"));
    json_write_bool(w, !(r->flags & ROUTE_BODY_OPTIONAL));
    openapi_open(w, "content");
    if (r->flags & ROUTE_PATCH) {
        openapi_content(w, "application/merge-patch+json", r->body->name);
        openapi_open(w, "application/json-patch+json");
        openapi_open(w, "schema");
        openapi_member(w, "type", "array");
        openapi_open(w, "items");
        openapi_reference(w, OPENAPI_PATCH_OPERATION);
        json_write_end(w);
        openapi_limit(w, "maxItems", JSON_PATCH_OPERATIONS_MAX);
        json_write_end(w);
        json_write_end(w);
    }
    openapi_content(w, "application/json", r->body->name);
    json_write_end(w);
    json_write_end(w);
}

static void write_page_schema(struct json_writer *w, const struct route *r)
{
    static const char *const required[] = {"data", "has_more", "next_cursor", NULL};
    static const char *const cursor_types[] = {"string", "null", NULL};
    openapi_open(w, "application/json");
    openapi_open(w, "schema");
    openapi_member(w, "type", "object");
    openapi_open(w, "properties");
    openapi_open(w, "data");
    openapi_member(w, "type", "array");
    openapi_open(w, "items");
    openapi_reference(w, r->answer->name);
    json_write_end(w);
    json_write_end(w);
    openapi_typed(w, "has_more", "boolean");
    openapi_open(w, "next_cursor");
    openapi_names(w, "type", cursor_types);
    json_write_end(w);
    if (r->flags & ROUTE_TWO_WAYS) {
        openapi_typed(w, "before_cursor", "string");
        openapi_typed(w, "after_cursor", "string");
    }
    json_write_end(w);
    openapi_names(w, "required", required);
    json_write_end(w);
    json_write_end(w);
}

static void write_either(struct json_writer *w, const struct schema *one, const struct schema *many)
{
    openapi_open(w, "application/json");
    openapi_open(w, "schema");
    json_write_key(w, STR("oneOf"));
    json_write_array(w);
    for (size_t i = 0; i < 2; i++) {
        json_write_object(w);
        openapi_reference(w, i == 0 ? one->name : many->name);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

static void write_success(struct json_writer *w, const struct route *r)
{
    if ((r->flags & ROUTE_BYTES) || (r->media_type != NULL && r->answer == NULL)) {
        openapi_open(w, "content");
        write_bytes_content(w, r);
        json_write_end(w);
        return;
    }
    if (r->answer == NULL && (r->flags & ROUTE_RAW_BODY)) {
        openapi_open(w, "content");
        write_any(w, "application/json");
        write_any(w, "*/*");
        json_write_end(w);
    }
    if (r->answer == NULL || r->status == 101)
        return;
    openapi_open(w, "content");
    if (r->flags & ROUTE_LIST)
        write_page_schema(w, r);
    else if (r->answer_to_many != NULL)
        write_either(w, r->answer, r->answer_to_many);
    else
        openapi_content(
            w, r->mode == ROUTE_SSE ? "text/event-stream" : "application/json", r->answer->name);
    json_write_end(w);
}

static void write_empty_answer(struct json_writer *w, const char *status, const char *why)
{
    openapi_open(w, status);
    openapi_member(w, "description", why);
    json_write_end(w);
}

static void write_location(struct json_writer *w)
{
    openapi_open(w, "headers");
    openapi_open(w, "Location");
    openapi_member(w, "description", "path of the created object, or of the list of the objects");
    openapi_open(w, "schema");
    openapi_member(w, "type", "string");
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

static void write_answers(struct json_writer *w, const struct route *r)
{
    char status[16];
    snprintf(status, sizeof status, "%d", r->status);
    openapi_open(w, "responses");
    openapi_open(w, status);
    openapi_member(w, "description", "success");
    if (r->status == 201)
        write_location(w);
    write_success(w, r);
    json_write_end(w);
    if (r->flags & ROUTE_MAY_CREATE) {
        openapi_open(w, "201");
        openapi_member(w, "description", "success: the object was created");
        write_location(w);
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
    openapi_write_refusals(w, r);
    openapi_open(w, "default");
    openapi_member(w, "description", "refusal");
    openapi_open(w, "content");
    openapi_content(w, "application/problem+json", "Problem");
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
    json_write_key(w, STR("tags"));
    json_write_array(w);
    json_write_string(w, openapi_tag(r));
    json_write_end(w);
    openapi_member(w, "summary", r->summary);
    openapi_write_description(w, r);
    if (!route_is_public(r))
        openapi_member(w, "x-cairn-scope", scope_name(r->scope));
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
    openapi_open(w, "paths");
    for (size_t i = 0; i < route_count; i++) {
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told = told || strcmp(routes[k].path, routes[i].path) == 0;
        if (told)
            continue;
        openapi_open(w, routes[i].path);
        for (size_t k = i; k < route_count; k++)
            if (strcmp(routes[k].path, routes[i].path) == 0)
                write_operation(w, &routes[k]);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_components(struct json_writer *w)
{
    openapi_open(w, "components");
    openapi_write_schemas(w);
    openapi_write_refusal_components(w);
    openapi_open(w, "securitySchemes");
    openapi_open(w, "key");
    openapi_member(w, "type", "http");
    openapi_member(w, "scheme", "bearer");
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

void openapi_write(struct buf *out)
{
    struct json_writer w;
    json_writer_init(&w, out);
    json_write_object(&w);
    openapi_member(&w, "openapi", "3.1.0");
    openapi_open(&w, "info");
    openapi_member(&w, "title", "Cairn");
    openapi_member(&w, "version", CAIRN_VERSION);
    openapi_write_about(&w);
    openapi_open(&w, "license");
    openapi_member(&w, "name", "Apache License 2.0");
    openapi_member(&w, "identifier", "Apache-2.0");
    json_write_end(&w);
    json_write_end(&w);
    openapi_write_servers(&w);
    openapi_write_tags(&w);
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
