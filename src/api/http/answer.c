/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/answer.h"

/* --- The head ------------------------------------------------------------------------------- */

void answer_head_add(struct answer_head *head, struct str name, struct str value)
{
    assert(head->count < ANSWER_MAX_HEADERS);
    if (!str_is_none(value))
        head->items[head->count++] = (struct http_header){name, value};
}

static void add_for_request(
    struct answer_head *head, const struct http_request *request, struct str request_id)
{
    answer_head_add(head, STR("Cairn-Version"), STR(CAIRN_VERSION));
    answer_head_add(head, STR("X-Request-Id"), request_id);
    answer_head_add(head, STR("traceparent"), http_header(request, STR("traceparent")));
    answer_head_add(head, STR("Cache-Control"), STR("no-store"));
    answer_head_add(head, STR("X-Content-Type-Options"), STR("nosniff"));
}

void answer_head_add_common(struct answer_head *head, const struct call *call)
{
    add_for_request(head, call->request.http, call->request.id);
}

void answer_head_add_origin(struct answer_head *head, struct str origin)
{
    if (str_is_none(origin))
        return;
    answer_head_add(head, STR("Access-Control-Allow-Origin"), origin);
    answer_head_add(head, STR("Vary"), STR("Origin"));
    answer_head_add(head, STR("Access-Control-Expose-Headers"),
        STR("Cairn-Version, ETag, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, "
            "Idempotency-Replayed, Location, Accept-Ranges, Content-Encoding, Content-Range, "
            "Content-Disposition, Repr-Digest, Cairn-File-Version, Upload-Offset, Upload-Length"));
}

void answer_head_add_preflight(struct answer_head *head)
{
    answer_head_add(
        head, STR("Access-Control-Allow-Methods"), STR("GET, POST, PATCH, PUT, DELETE"));
    answer_head_add(head, STR("Access-Control-Allow-Headers"),
        STR("Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, "
            "Cairn-Fencing-Token, Cairn-Consistency, Cairn-Principal, X-Request-Id, traceparent, "
            "Range, If-Range, If-Modified-Since, Content-Encoding, Content-Digest, Repr-Digest, "
            "Upload-Offset"));
    answer_head_add(head, STR("Access-Control-Max-Age"), STR("600"));
}

void answer_head_add_call(struct answer_head *head, const struct call *call)
{
    if (call->answer.body.len > 0 || call->answer.is_bytes)
        answer_head_add(head, STR("Content-Type"), call->answer.content_type);
    for (size_t i = 0; i < call->answer.n_headers; i++)
        answer_head_add(head, call->answer.headers[i].name, call->answer.headers[i].value);
}

/* --- Problems ------------------------------------------------------------------------------- */

static void write_extension(struct json_writer *w, struct arena *arena, struct str extension)
{
    struct json_doc doc;
    struct json_error unused;
    if (str_is_none(extension) || !json_parse(arena, extension, &doc, &unused))
        return;
    struct json_iter it = json_iter(json_root(&doc));
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        json_write_key(w, json_string(arena, key));
        json_write_value(w, value);
    }
}

static void write_faults(struct json_writer *w, const struct problem *problem)
{
    if (problem->n_faults == 0)
        return;
    json_write_key(w, STR("errors"));
    json_write_array(w);
    for (size_t i = 0; i < problem->n_faults; i++) {
        json_write_object(w);
        json_write_key(w, STR("pointer"));
        json_write_string(w, problem->faults[i].pointer);
        json_write_key(w, STR("detail"));
        json_write_string(w, problem->faults[i].detail);
        json_write_end(w);
    }
    json_write_end(w);
    if (problem->n_faults_untold == 0)
        return;
    json_write_key(w, STR("errors_untold"));
    json_write_i64(w, (int64_t)problem->n_faults_untold);
}

/* An empty pointer is the whole body. */
static struct str word_fault(struct arena *arena, const struct problem_fault *fault)
{
    struct str where = fault->pointer.len > 0 ? fault->pointer : STR("the body");
    return arena_printf(arena, "%.*s %.*s", STR_ARG(where), STR_ARG(fault->detail));
}

static void write_problem(struct json_writer *w, struct arena *arena, const struct problem *problem,
    struct str request_id, int status)
{
    const struct error_info *info = error_info(problem->code);
    struct str detail = problem->detail;
    if (str_is_none(detail) && problem->n_faults > 0)
        detail = word_fault(arena, &problem->faults[0]);
    json_write_object(w);
    json_write_key(w, STR("type"));
    json_write_string(w, arena_printf(arena, "urn:cairn:error:%.*s", STR_ARG(info->code)));
    json_write_key(w, STR("title"));
    json_write_string(w, info->title);
    json_write_key(w, STR("status"));
    json_write_i64(w, status);
    json_write_key(w, STR("code"));
    json_write_string(w, info->code);
    json_write_key(w, STR("detail"));
    json_write_string(w, str_is_none(detail) ? info->title : detail);
    json_write_key(w, STR("request_id"));
    json_write_string(w, request_id);
    json_write_key(w, STR("retryable"));
    json_write_bool(w, info->retryable && !problem->is_final);
    write_faults(w, problem);
    write_extension(w, arena, problem->extension);
    json_write_end(w);
}

struct str answer_problem(
    struct arena *arena, const struct problem *problem, struct str request_id, int status)
{
    struct json_text out;
    json_text_init(&out, CALL_ANSWER_MAX_BYTES);
    write_problem(&out.w, arena, problem, request_id, status);
    return json_text_take(&out, arena);
}

/* --- Malformed requests --------------------------------------------------------------------- */

static enum error refusal_code(int status)
{
    switch (status) {
    case 408:
        return ERR_TIMEOUT;
    case 413:
        return ERR_TOO_LARGE;
    case 429:
        return ERR_RATE_LIMITED;
    case 503:
        return ERR_UNAVAILABLE;
    default:
        return ERR_BAD_REQUEST;
    }
}

struct str answer_refusal(struct arena *arena, const struct http_refusal *refusal,
    const struct http_request *request, struct answer_head *head)
{
    struct problem problem;
    struct str id = request_read_id(arena, request);
    problem_init(&problem, arena);
    problem_set(&problem, refusal_code(refusal->status), "%s", refusal->rule);
    add_for_request(head, request, id);
    answer_head_add(head, STR("Content-Type"), STR("application/problem+json"));
    return answer_problem(arena, &problem, id, refusal->status);
}
