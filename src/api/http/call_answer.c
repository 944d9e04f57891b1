/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a call: an object, a page, bytes, nothing, or the problem that refused it. */
#include "api/http/access.h"
#include "api/http/answer.h"
#include "api/http/codings.h"
#include "api/http/location.h"

void call_add_header(struct call *call, struct str name, struct str value)
{
    assert(call->answer.n_headers < CALL_MAX_HEADERS);
    call->answer.headers[call->answer.n_headers++] = (struct http_header){name, value};
}

static struct str word_full(const struct call *call)
{
    if (store_is_shared(call->api->store))
        return STR("the disk of the database is full and nothing was changed: send the request "
                   "again when there is space. Reads and streams continue");
    if (call->route->on_full != STORE_ON_FULL_REFUSED)
        return STR("the disk is full, and the reserve is too small for this request; nothing was "
                   "changed: free space on the disk, then send the request again");
    if (!str_is_none(http_header(call->request.http, STR("Idempotency-Key"))))
        return STR(
            "the disk is full, and this request was not processed: an earlier request with the "
            "same "
            "Idempotency-Key may have been carried out. Send it again with that key when there is "
            "space");
    return STR(
        "the disk is full and nothing was changed: send the request again when there is "
        "space. Reads and streams continue; cancelling, deleting, pruning and revoking still "
        "work, and leases can be renewed and released");
}

/* The store returns only the code of an error. */
static struct str word_refusal(const struct call *call, enum error e)
{
    switch (e) {
    case ERR_STORAGE_FULL:
        return word_full(call);
    case ERR_UNAVAILABLE:
        return STR(
            "the database is unreachable or busy; nothing was changed: send the request again");
    case ERR_OUTCOME_UNKNOWN:
        return STR("the connection to the database broke during the commit, so the request may "
                   "have been carried out or not: send it again with the same Idempotency-Key, or "
                   "read the current state");
    default:
        return STR_NONE;
    }
}

/* The store may fail (disk full) after the handler has written its answer. That answer and its
 * headers are removed, except those of the rate limit. */
static void forget_answer(struct call *call, enum error e)
{
    size_t kept = 0;
    for (size_t i = 0; i < call->answer.n_headers; i++)
        if (str_starts_with(call->answer.headers[i].name, STR("RateLimit")))
            call->answer.headers[kept++] = call->answer.headers[i];
    call->answer.n_headers = kept;
    call->problem =
        (struct problem){.arena = call->arena, .code = e, .detail = word_refusal(call, e)};
}

/* Returns true if sending the request twice carries it out once. */
static bool is_repeatable(const struct call *call)
{
    return str_eq(call->request.http->method, STR("POST")) &&
           !str_is_none(http_header(call->request.http, STR("Idempotency-Key")));
}

void call_refuse(struct call *call, enum error e)
{
    if (call->problem.code != e)
        forget_answer(call, e);
    call->problem.is_final = e == ERR_OUTCOME_UNKNOWN && !is_repeatable(call);
    call->answer.status = error_info(e)->status;
    call->answer.content_type = STR("application/problem+json");
    download_drop(&call->answer.download);
    buf_reset(&call->answer.body);
    buf_append(&call->answer.body,
        answer_problem(call->arena, &call->problem, call->request.id, call->answer.status));
    bool retryable = error_info(e)->retryable && !call->problem.is_final;
    if (call->problem.retry_after_s == 0 && retryable)
        call->problem.retry_after_s = 1;
    if (call->problem.retry_after_s > 0)
        call_add_header(
            call, STR("Retry-After"), arena_printf(call->arena, "%u", call->problem.retry_after_s));
    if (e == ERR_MEDIA_TYPE && !str_is_none(codings_accepted(call)))
        call_add_header(call, STR("Accept-Encoding"), codings_accepted(call));
    if (error_info(e)->status == 401)
        call_add_header(call, STR("WWW-Authenticate"), STR("Bearer realm=\"cairn\""));
}

/* A cache may have made the tag weak; for reading, a weak tag matches too. */
static bool lists_tag(const struct call *call, struct str tag)
{
    const struct str name = STR("If-None-Match");
    return http_header_lists(call->request.http, name, tag) ||
           http_header_lists(
               call->request.http, name, arena_printf(call->arena, "W/%.*s", STR_ARG(tag)));
}

/* Returns true if the client has the version, encoded or not; `tag` becomes the client's tag. */
static bool has_already(const struct call *call, struct str *tag)
{
    for (enum coding c = CODING_NONE; c < CODING_COUNT; c++) {
        struct str encoded = codings_tag(call->arena, *tag, c);
        if (lists_tag(call, encoded)) {
            *tag = encoded;
            return true;
        }
    }
    return http_header_lists(call->request.http, STR("If-None-Match"), STR("*"));
}

/* Adds the ETag. `out_has` is true if the client has this version already: the answer needs no
 * body. A read of another version than If-Match names is rejected, as a write is. */
static enum error answer_version(struct call *call, int64_t version, bool *out_has)
{
    bool is_revision = call->route->flags & ROUTE_REVISION;
    bool reads = call->route->mode == ROUTE_READ;
    *out_has = false;
    if (version <= 0)
        return OK;
    struct str tag =
        arena_printf(call->arena, "\"%s%lld\"", is_revision ? "r" : "", (long long)version);
    if (reads && !context_matches(call->context, version))
        return problem_set(
            &call->problem, ERR_STALE, "If-Match must be the object's ETag: %.*s", STR_ARG(tag));
    *out_has = reads && !call->is_comparing && has_already(call, &tag);
    call_add_header(call, STR("ETag"), tag);
    if (*out_has)
        call->answer.status = 304;
    return OK;
}

enum error call_answer(
    struct call *call, const struct schema *schema, const void *object, int64_t version)
{
    bool has;
    TRY(answer_version(call, version, &has));
    if (has)
        return OK;
    if (call->answer.status == 201)
        location_add(call, schema, object);
    struct json_writer w;
    json_writer_init(&w, &call->answer.body);
    if (!access_shows_all(call)) {
        schema_encode_receipt(&w, schema, object);
        return OK;
    }
    if (!schema_encode(&w, schema, object))
        return OK;
    json_writer_init(&w, &call->answer.replay);
    schema_encode_without_secrets(&w, schema, object);
    return OK;
}

enum error call_answer_raw(
    struct call *call, struct str content_type, struct str bytes, int64_t version)
{
    bool has;
    TRY(answer_version(call, version, &has));
    if (has)
        return OK;
    call->answer.content_type = content_type;
    buf_append(&call->answer.body, bytes);
    return OK;
}

enum error call_answer_nothing(struct call *call)
{
    call->answer.status = 204;
    return OK;
}

enum error call_continue(struct call *call)
{
    call->continues = true;
    return OK;
}

enum error call_answer_deletion(struct call *call, enum error e, bool more)
{
    if (e == ERR_NOT_FOUND && call->has_continued)
        return call_answer_nothing(call);
    TRY(e);
    return more ? call_continue(call) : call_answer_nothing(call);
}
