/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/replay.h"

#include "api/http/access.h"
#include "base/hash.h"
#include "model/tenancy/idempotency.h"

struct replay {
    bool is_wanted;
    struct str route;
    struct str key;
    struct sha256 request_hash;
};

static struct sha256 hash_request(const struct call *call)
{
    struct sha256_state *state = sha256_create();
    sha256_add(state, call->request.http->target);
    sha256_add(state, STR("\n"));
    sha256_add(state, call->request.body);
    if (call->route->flags & ROUTE_UPLOAD)
        sha256_add(state, (struct str){(const char *)call->upload.sha256.bytes, SHA256_LEN});
    return sha256_finish(state);
}

static enum error read_key(struct call *call, struct replay *out)
{
    const struct http_request *r = call->request.http;
    struct str principal = call->caller.principal;
    /* A request may be repeated while it is rehearsed. */
    bool may_write = call->job.mode == STORE_WRITE || call->rehearsal.stage == REHEARSAL_RUNNING;
    out->key = http_header(r, STR("Idempotency-Key"));
    if (str_is_none(out->key) || !may_write || !str_eq(r->method, STR("POST")))
        return OK;
    if (!request_is_plain_id(out->key, IDEMPOTENCY_KEY_MAX_BYTES))
        return problem_fault(&call->problem, STR("Idempotency-Key"),
            "must have 1 to %d printable ASCII characters without blanks and quotes",
            IDEMPOTENCY_KEY_MAX_BYTES);
    out->is_wanted = true;
    /* The principal is part of the key: it must not receive the answer of another one. */
    out->route = arena_printf(call->arena, "%s %s%s%.*s", call->route->method, call->route->path,
        str_is_none(principal) ? "" : " for ", STR_ARG(principal));
    out->request_hash = hash_request(call);
    return OK;
}

/*
 * Kept among the headers of an answer to a key that may read; the value is one more scope that the
 * answer shows, or empty. The answer may show what a key without these scopes must not see. The
 * Idempotency-Key is the same for all keys of the tenant, so that a client that continues with
 * another key does nothing twice.
 */
#define FOR_READERS STR(":for-readers")
/* Kept among the headers of an answer that a route has handed out (ROUTE_HANDS_OUT) to a key that
 * may not read; the value is the id of this key, which may repeat its request. */
#define FOR_KEY STR(":for-key")

static enum error check_reader(struct call *call, struct str also_shows)
{
    TRY(access_require_scope(call, scope_to_read(call->route->scope)));
    return also_shows.len > 0 ? access_require_scope(call, scope_parse(also_shows)) : OK;
}

static enum error check_key(struct call *call, struct str key_id)
{
    struct uuid id;
    if (call->caller.has_key && uuid_parse(key_id, &id) && uuid_eq(call->caller.key_id, id))
        return OK;
    return access_require_scope(call, scope_to_read(call->route->scope));
}

static enum error check_mark(struct call *call, struct str mark, struct str value)
{
    return str_eq(mark, FOR_READERS) ? check_reader(call, value) : check_key(call, value);
}

static enum error write_answer(struct call *call, const struct stored_answer *stored)
{
    struct json_doc doc;
    struct json_error unused;
    call->answer.status = (int)stored->status;
    buf_append(&call->answer.body, stored->body);
    call_add_header(call, STR("Idempotency-Replayed"), STR("true"));
    if (!json_parse(call->arena, stored->headers, &doc, &unused))
        return OK;
    struct json_iter it = json_iter(json_root(&doc));
    struct json name, value;
    while (json_next(&it, &name, &value) && call->answer.n_headers < CALL_MAX_HEADERS - 2) {
        struct str header = json_string(call->arena, name);
        struct str text = json_string(call->arena, value);
        if (str_starts_with(header, STR(":")))
            TRY(check_mark(call, header, text));
        else
            call_add_header(call, header, text);
    }
    return OK;
}

enum error replay_find(struct call *call, struct context *c, bool *out_found)
{
    struct replay *r = call->replay = ARENA_NEW(call->arena, struct replay);
    struct stored_answer stored;
    bool found = false;
    TRY(read_key(call, r));
    if (r->is_wanted)
        TRY(idempotency_find(c, r->route, r->key, r->request_hash, &stored, &found));
    *out_found = found;
    if (!found)
        return OK;
    r->is_wanted = false;
    return write_answer(call, &stored);
}

enum error replay_recheck(struct call *call, struct context *c, enum error refusal)
{
    const struct replay *r = call->replay;
    struct problem problem = call->problem;
    struct stored_answer unused;
    bool found = false;
    if (!r->is_wanted || !tx_is_shared(c->tx) || error_info(refusal)->status >= 500)
        return refusal;
    if (idempotency_find(c, r->route, r->key, r->request_hash, &unused, &found) == OK && found)
        return tx_run_again(c->tx);
    call->problem = problem;
    return refusal;
}

static struct str encode_headers(const struct call *call)
{
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    json_write_object(&text.w);
    for (size_t i = 0; i < call->answer.n_headers; i++)
        if (!str_starts_with(call->answer.headers[i].name, STR("RateLimit"))) {
            json_write_key(&text.w, call->answer.headers[i].name);
            json_write_string(&text.w, call->answer.headers[i].value);
        }
    enum scope also = call->answer.also_shows;
    bool shows_old = access_shows_all(call) && !access_shows_only_new(call);
    if (also != SCOPE_NONE || (shows_old && access_may_read(call))) {
        json_write_key(&text.w, FOR_READERS);
        json_write_string(&text.w, also == SCOPE_NONE ? STR("") : str_of(scope_name(also)));
    } else if (shows_old) {
        char key_id[UUID_TEXT_LEN];
        uuid_format(call->caller.key_id, key_id);
        json_write_key(&text.w, FOR_KEY);
        json_write_string(&text.w, (struct str){key_id, sizeof key_id});
    }
    json_write_end(&text.w);
    return json_text_take(&text, call->arena);
}

enum error replay_keep(struct call *call, struct context *c)
{
    const struct replay *r = call->replay;
    const struct buf *body =
        call->answer.replay.len > 0 ? &call->answer.replay : &call->answer.body;
    /* A long poll that found nothing either runs again or has changed nothing. */
    if (r == NULL || !r->is_wanted || call->answer.may_wait)
        return OK;
    struct stored_answer stored = {
        .status = call->answer.status, .headers = encode_headers(call), .body = buf_str(body)};
    return idempotency_store(c, r->route, r->key, r->request_hash, &stored);
}
