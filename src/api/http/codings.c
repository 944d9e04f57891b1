/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/codings.h"

/* --- Bodies --------------------------------------------------------------------------------- */

static const struct str CONTENT_ENCODING = {"Content-Encoding", 16};

bool codings_has_body(const struct http_request *request)
{
    struct str name = http_header(request, CONTENT_ENCODING);
    return !str_is_none(name) && !str_eq_nocase(name, STR("identity"));
}

/* Returns false for a coding that is unknown, or for more than one. */
static bool read_coding(const struct call *call, enum coding *out)
{
    const struct http_request *r = call->request.http;
    *out = CODING_NONE;
    if (!codings_has_body(r))
        return true;
    if (http_header_count(r, CONTENT_ENCODING) > 1 || (call->route->flags & ROUTE_UPLOAD))
        return false;
    *out = coding_parse(http_header(r, CONTENT_ENCODING));
    return *out != CODING_NONE;
}

struct str codings_accepted(const struct call *call)
{
    enum coding unused;
    if (call->route == NULL || read_coding(call, &unused))
        return STR_NONE;
    return call->route->flags & ROUTE_UPLOAD ? STR("identity") : STR("gzip, zstd");
}

static enum error refuse_coding(struct call *call)
{
    return problem_set(&call->problem, ERR_MEDIA_TYPE,
        call->route->flags & ROUTE_UPLOAD
            ? "Content-Encoding is not allowed here: the bytes are stored as they are sent"
            : "Content-Encoding must be gzip or zstd");
}

enum error codings_decode_body(struct call *call)
{
    enum coding coding;
    size_t limit =
        call->route->body_limit > 0 ? call->route->body_limit : (size_t)ROUTE_BODY_DEFAULT;
    if (!read_coding(call, &coding))
        return refuse_coding(call);
    if (coding == CODING_NONE || call->request.body.len == 0)
        return OK;
    switch (coding_decode(call->arena, coding, call->request.body, limit, &call->request.body)) {
    case CODING_DONE:
        return OK;
    case CODING_TOO_LARGE:
        return problem_set(
            &call->problem, ERR_TOO_LARGE, "the decoded body must have at most %zu bytes", limit);
    case CODING_MALFORMED:
        break;
    }
    return problem_set(&call->problem, ERR_BAD_REQUEST, "the body must be valid %.*s data%s",
        STR_ARG(coding_name(coding)),
        coding == CODING_ZSTD ? " with a window of at most 8 MiB" : "");
}

/* --- Answers -------------------------------------------------------------------------------- */

enum { ENCODED_MIN_BYTES = 1024 + 1 };

static bool is_text(struct str content_type)
{
    struct str type = str_trim_blanks(str_slice(content_type, 0, str_find(content_type, ';')));
    const struct str json = STR("json");
    return str_eq_nocase(str_slice(type, 0, 5), STR("text/")) ||
           (type.len > json.len &&
               str_eq_nocase(str_slice(type, type.len - json.len, type.len), json));
}

/* The length of an encoded answer depends on what is repeated in it, so a secret must not be near
 * text that others may have chosen (BREACH). Only the answer that creates a secret has a body for
 * replays. */
static bool may_be_encoded(const struct call *call)
{
    const struct answer *a = &call->answer;
    return a->body.len >= ENCODED_MIN_BYTES && !a->is_bytes && is_text(a->content_type) &&
           a->replay.len == 0;
}

enum coding codings_of_answer(const struct call *call)
{
    const struct http_request *r = call->request.http;
    struct coding_weights weights;
    if (!may_be_encoded(call))
        return CODING_NONE;
    coding_weights_init(&weights);
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq_nocase(r->headers[i].name, STR("Accept-Encoding")))
            coding_weights_add(&weights, r->headers[i].value);
    return coding_weights_best(&weights);
}

struct str codings_tag(struct arena *arena, struct str tag, enum coding coding)
{
    if (coding == CODING_NONE)
        return tag;
    return arena_printf(arena, "%.*s-%.*s\"", STR_ARG(str_slice(tag, 0, tag.len - 1)),
        STR_ARG(coding_name(coding)));
}

struct str codings_bare_tag(struct str opaque)
{
    size_t at = str_find(opaque, '-');
    struct str name = str_slice(opaque, at + 1, opaque.len);
    for (enum coding c = CODING_GZIP; c < CODING_COUNT; c++)
        if (at > 0 && str_eq(name, coding_name(c)))
            return str_slice(opaque, 0, at);
    return opaque;
}

void codings_mark(struct call *call, enum coding coding)
{
    struct answer *a = &call->answer;
    a->coding = coding;
    for (size_t i = 0; i < a->n_headers; i++)
        if (str_eq(a->headers[i].name, STR("ETag")))
            a->headers[i].value = codings_tag(call->arena, a->headers[i].value, coding);
}

void codings_add_headers(struct answer_head *head, const struct call *call)
{
    const struct answer *a = &call->answer;
    answer_head_add(head, STR("Content-Encoding"), coding_name(a->coding));
    if (a->coding != CODING_NONE || may_be_encoded(call) || (a->status == 304 && !a->is_bytes))
        answer_head_add(head, STR("Vary"), STR("Accept-Encoding"));
}
