/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/call.h"

#include "api/http/codings.h"
#include "api/http/echo.h"
#include "api/http/params.h"

/* --- Headers -------------------------------------------------------------------------------- */

bool request_is_plain_id(struct str id, size_t max_bytes)
{
    for (size_t i = 0; i < id.len; i++)
        if (id.ptr[i] <= ' ' || id.ptr[i] > '~' || id.ptr[i] == '"' || id.ptr[i] == '\\')
            return false;
    return id.len > 0 && id.len <= max_bytes;
}

struct str request_read_id(struct arena *arena, const struct http_request *http)
{
    struct str given = http_header(http, STR("X-Request-Id"));
    if (request_is_plain_id(given, CALL_REQUEST_ID_MAX_BYTES))
        return given;
    char *text = arena_alloc(arena, UUID_TEXT_LEN);
    uuid_format(uuid_v7(), text);
    return (struct str){text, UUID_TEXT_LEN};
}

/* A browser cannot set headers on a WebSocket, so a page may offer the key as a subprotocol. */
static struct str secret_from_protocols(const struct http_request *http)
{
    const struct str prefix = STR("bearer.");
    struct str rest = http_header(http, STR("Sec-WebSocket-Protocol")), part;
    while (str_next_part(&rest, ',', &part)) {
        part = str_trim_blanks(part);
        if (str_starts_with(part, prefix))
            return str_slice(part, prefix.len, part.len);
    }
    return STR_NONE;
}

struct str request_read_secret(const struct http_request *http)
{
    struct str value = http_header(http, STR("Authorization"));
    if (str_is_none(value))
        return secret_from_protocols(http);
    size_t blank = str_find(value, ' ');
    bool once = http_header_count(http, STR("Authorization")) == 1;
    if (!once || !str_eq_nocase(str_slice(value, 0, blank), STR("Bearer")))
        return STR(""); /* refused as a wrong key, never treated as "no key" */
    return str_trim_blanks(str_slice(value, blank, value.len));
}

/* --- Life ----------------------------------------------------------------------------------- */

void call_rewind(struct call *call)
{
    struct answer *a = &call->answer;
    problem_init(&call->problem, call->arena);
    a->n_headers = 0;
    a->content_type = STR("application/json");
    a->may_wait = false;
    a->wake_in_us = 0;
    a->coding = CODING_NONE;
    a->is_bytes = false;
    a->closes = false;
    a->stream = NULL;
    download_drop(&a->download);
    buf_reset(&a->body);
    buf_reset(&a->replay);
}

void call_init(
    struct call *call, struct api *api, struct arena *arena, const struct http_request *request)
{
    *call = (struct call){.api = api, .arena = arena, .request = {.http = request}};
    download_init(&call->answer.download);
    buf_init(&call->answer.body, CALL_ANSWER_MAX_BYTES);
    buf_init(&call->answer.replay, CALL_ANSWER_MAX_BYTES);
    call_rewind(call);
    call->request.id = request_read_id(arena, request);
    call->request.secret = request_read_secret(request);
}

void call_deinit(struct call *call)
{
    download_drop(&call->answer.download);
    buf_deinit(&call->answer.body);
    buf_deinit(&call->answer.replay);
    rehearsal_deinit(&call->rehearsal);
}

/* --- Routing -------------------------------------------------------------------------------- */

bool call_find_param(const struct call *call, const char *name, size_t *out_index)
{
    struct str found;
    for (size_t i = 0; !str_is_none(found = route_param_name(call->route, i)); i++)
        if (str_eq(found, str_of(name))) {
            *out_index = i;
            return true;
        }
    return false;
}

size_t call_param(const struct call *call, const char *name)
{
    size_t index;
    if (!call_find_param(call, name, &index))
        abort(); /* the row of the route table is wrong */
    return index;
}

bool call_find_thread_param(const struct call *call, size_t *out_index)
{
    return call_find_param(call, "thread_id", out_index) ||
           call_find_param(call, "workflow_id", out_index);
}

/* A name is data: any text but control characters. */
static enum error decode_text_param(
    struct call *call, struct str name, struct str encoded, size_t i)
{
    struct str *text = &call->request.texts[i];
    if (!http_decode_percent(call->arena, encoded, false, text))
        return problem_fault(&call->problem, name, "must be percent-encoded UTF-8 without U+0000");
    if (text->len > ROUTE_TEXT_MAX_BYTES)
        return problem_fault(
            &call->problem, name, "must have at most %d bytes", ROUTE_TEXT_MAX_BYTES);
    for (size_t k = 0; k < text->len; k++)
        if ((unsigned char)text->ptr[k] < ' ' || text->ptr[k] == 0x7f)
            return problem_fault(&call->problem, name, "must not contain control characters");
    return OK;
}

static enum error decode_path_param(struct call *call, struct str encoded, size_t i)
{
    struct str name = route_param_name(call->route, i);
    switch (route_param_kind(name)) {
    case ROUTE_PARAM_UUID:
        return uuid_parse(encoded, &call->request.params[i])
                   ? OK
                   : problem_fault(&call->problem, name, "must be a UUID");
    case ROUTE_PARAM_EITHER:
        return uuid_parse(encoded, &call->request.params[i]) ||
                       (str_to_i64(encoded, &call->request.numbers[i]) &&
                           call->request.numbers[i] > 0)
                   ? OK
                   : problem_fault(
                         &call->problem, name, "must be a UUID, or a number of at least 1");
    case ROUTE_PARAM_NUMBER:
        return str_to_i64(encoded, &call->request.numbers[i]) && call->request.numbers[i] > 0
                   ? OK
                   : problem_fault(&call->problem, name, "must be an integer of at least 1");
    case ROUTE_PARAM_TEXT:
        return decode_text_param(call, name, encoded, i);
    }
    return OK;
}

static bool decode_path_params(struct call *call, const struct str encoded[ROUTE_MAX_PARAMS])
{
    bool good = true;
    for (size_t i = 0; i < ROUTE_MAX_PARAMS && !str_is_none(encoded[i]); i++)
        good = decode_path_param(call, encoded[i], i) == OK && good;
    return good;
}

bool call_route(struct call *call)
{
    struct str params[ROUTE_MAX_PARAMS] = {{0}};
    struct str allow;
    const struct http_request *r = call->request.http;
    switch (route_find(call->arena, r->method, r->path, &call->route, params, &allow)) {
    case ROUTE_FOUND:
        call->request.is_bad = !decode_path_params(call, params);
        return true;
    case ROUTE_OTHER_METHOD:
        problem_set(&call->problem, ERR_METHOD, "%.*s supports only %.*s", STR_ARG(r->path),
            STR_ARG(allow));
        call_refuse(call, ERR_METHOD);
        call_add_header(call, STR("Allow"), allow);
        return false;
    case ROUTE_UNKNOWN:
        problem_set(
            &call->problem, ERR_NO_ROUTE, "the path %.*s matches no route", STR_ARG(r->path));
        call_refuse(call, ERR_NO_ROUTE);
        return false;
    }
    return false;
}

/* --- The body ------------------------------------------------------------------------------- */

/* The media type without its parameters. */
static struct str media_type(const struct call *call)
{
    struct str value = http_header(call->request.http, STR("Content-Type"));
    return str_is_none(value) ? value : str_trim_blanks(str_slice(value, 0, str_find(value, ';')));
}

static enum error check_media_type(struct call *call)
{
    struct str type = media_type(call);
    bool patch = (call->route->flags & ROUTE_PATCH) != 0;
    call->request.is_json_patch = patch && str_eq_nocase(type, STR("application/json-patch+json"));
    if (str_is_none(type) || str_eq_nocase(type, STR("application/json")) ||
        call->request.is_json_patch ||
        (patch && str_eq_nocase(type, STR("application/merge-patch+json"))))
        return OK;
    return problem_set(&call->problem, ERR_MEDIA_TYPE,
        patch ? "Content-Type must be application/json, application/merge-patch+json or "
                "application/json-patch+json"
              : "Content-Type must be application/json");
}

static enum error parse_body(struct call *call)
{
    struct json_error bad;
    if (json_parse(call->arena, call->request.body, &call->request.doc, &bad))
        return OK;
    if (arena_is_over(call->arena))
        return problem_set(
            &call->problem, ERR_TOO_LARGE, "the body needs more memory than a request may use");
    return problem_set(
        &call->problem, ERR_BAD_JSON, "byte %zu of the body: %s", bad.offset, bad.rule);
}

/* A POST that needs no body still takes {}, which many clients always send. */
static enum error decode_no_body(struct call *call)
{
    static const struct schema nothing = {.name = "an empty body", .struct_bytes = 1};
    if (call->request.body.len == 0)
        return OK;
    if (!str_eq(call->request.http->method, STR("POST")))
        return problem_set(&call->problem, ERR_BAD_REQUEST, "this route does not accept a body");
    char none;
    TRY(check_media_type(call));
    TRY(parse_body(call));
    return schema_decode(
        call->arena, &nothing, json_root(&call->request.doc), &none, &call->problem);
}

/* A body of any media type is not decoded, except JSON, which must be valid. */
static enum error decode_raw_body(struct call *call)
{
    call->request.is_json = str_eq_nocase(media_type(call), STR("application/json"));
    return call->request.is_json ? parse_body(call) : OK;
}

static enum error decode_body(struct call *call)
{
    const struct route *route = call->route;
    TRY(codings_decode_body(call));
    if ((route->flags & ROUTE_RAW_BODY) && route->mode == ROUTE_WRITE)
        return decode_raw_body(call);
    if (route->body == NULL)
        return decode_no_body(call);
    call->request.input = arena_zalloc(call->arena, route->body->struct_bytes);
    if (call->request.body.len == 0 && (route->flags & ROUTE_BODY_OPTIONAL))
        call->request.body = STR("{}");
    TRY(check_media_type(call));
    TRY(parse_body(call));
    echo_take(call);
    if (!(route->flags & (ROUTE_PATCH | ROUTE_MERGE)))
        return schema_decode_presence(call->arena, route->body, json_root(&call->request.doc),
            call->request.input, &call->request.given, &call->problem);
    if (!call->request.is_json_patch)
        call->request.given = schema_presence(route->body, json_root(&call->request.doc));
    return OK;
}

/* A replica may lag behind. A client may accept that on routes that do not depend on the order of
 * writes. Without a key it may not, because creating the first key must end open access at once. */
static enum error read_consistency(struct call *call)
{
    const struct str name = STR("Cairn-Consistency");
    struct str wanted = http_header(call->request.http, name);
    if (str_is_none(wanted))
        return OK;
    if (http_header_count(call->request.http, name) > 1)
        return problem_fault(&call->problem, name, "must not be repeated");
    bool eventual = str_eq(wanted, STR("eventual"));
    if (!eventual && !str_eq(wanted, STR("strong")))
        return problem_fault(&call->problem, name, "must be strong or eventual");
    call->request.may_lag =
        eventual && (call->route->flags & ROUTE_MAY_LAG) && !str_is_none(call->request.secret);
    return OK;
}

static int64_t read_wait(const struct call *call)
{
    if (call->route->waits == WAITS_NEVER || call->request.is_bad)
        return 0;
    const struct field *wait = schema_find(call->route->query, STR("wait"));
    return *(const int64_t *)(const void *)((const char *)call->request.query + wait->offset);
}

/* A key in a header takes precedence. A ticket has no character that a query encodes. */
static struct str read_ticket(const struct call *call)
{
    const struct str name = STR("ticket=");
    struct str rest = call->request.http->query, part;
    if (!route_takes_ticket(call->route) || !str_is_none(call->request.secret))
        return STR_NONE;
    while (str_next_part(&rest, '&', &part))
        if (str_starts_with(part, name))
            return str_slice(part, name.len, part.len);
    return STR_NONE;
}

/* The bytes follow after the admission. */
static enum error decode_upload(struct call *call)
{
    TRY(codings_decode_body(call));
    return intake_read_digest(call);
}

void call_decode(struct call *call, struct str body)
{
    const struct route *route = call->route;
    call->request.body = body;
    call->request.ticket = read_ticket(call);
    if (route->query != NULL)
        call->request.query = arena_zalloc(call->arena, route->query->struct_bytes);
    if (params_decode(call, route->query, call->request.http->query, call->request.query,
            &call->problem) != OK)
        call->request.is_bad = true;
    if (read_consistency(call) != OK)
        call->request.is_bad = true;
    enum error e = route->flags & ROUTE_UPLOAD ? decode_upload(call) : decode_body(call);
    if (e != OK)
        call->request.is_bad = true;
    call->request.wait_s = read_wait(call);
}
