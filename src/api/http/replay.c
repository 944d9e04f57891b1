/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/replay.h"

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
    out->key = http_header(r, STR("Idempotency-Key"));
    if (str_is_none(out->key) || call->route->mode != ROUTE_WRITE || call->is_admitting ||
        !str_eq(r->method, STR("POST")))
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

static void write_answer(struct call *call, const struct stored_answer *stored)
{
    struct json_doc doc;
    struct json_error unused;
    call->answer.status = (int)stored->status;
    buf_append(&call->answer.body, stored->body);
    call_add_header(call, STR("Idempotency-Replayed"), STR("true"));
    if (!json_parse(call->arena, stored->headers, &doc, &unused))
        return;
    struct json_iter it = json_iter(json_root(&doc));
    struct json name, value;
    while (json_next(&it, &name, &value) && call->answer.n_headers < CALL_MAX_HEADERS - 2)
        call_add_header(call, json_string(call->arena, name), json_string(call->arena, value));
}

enum error replay_find(struct call *call, struct context *c, bool *out_found)
{
    struct replay *r = call->replay = ARENA_NEW(call->arena, struct replay);
    struct stored_answer stored;
    bool found = false;
    TRY(read_key(call, r));
    if (r->is_wanted)
        TRY(idempotency_find(c, r->route, r->key, r->request_hash, &stored, &found));
    if (found) {
        r->is_wanted = false;
        write_answer(call, &stored);
    }
    *out_found = found;
    return OK;
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
