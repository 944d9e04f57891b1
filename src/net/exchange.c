/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

#include "base/alloc.h"

struct http_exchange *exchange_create(void)
{
    /* Not MEM_NEW: the allocator has no fast path for memory that is zero. */
    struct http_exchange *x = mem_alloc(sizeof *x);
    *x = (struct http_exchange){
        .arena = ARENA_INIT(http_arena_budget(0)), .body = BUF_INIT(0), .refs = 1};
    return x;
}

void exchange_unref(struct http_exchange *x)
{
    assert(x->refs > 0);
    if (--x->refs > 0)
        return;
    ws_destroy(x->ws);
    arena_deinit(&x->arena);
    exchange_free_body(x);
    if (x->conn != NULL)
        conn_unref(x->conn);
    mem_free(x);
}

/* --- The memory of bodies ------------------------------------------------------------------- */

static bool charge_address(struct http_exchange *x, size_t bytes, struct http_refusal *out_refusal)
{
    struct share *address = x->conn->address;
    size_t max = x->conn->shard->server->config.collected_max_bytes / ADDRESS_DIVISOR;
    if (x->n_charges > 0 || address == NULL || share_add(&address->bytes, bytes, max))
        return true;
    *out_refusal = (struct http_refusal){429,
        "the bodies of requests from this address have reached their part of the memory: try "
        "again"};
    return false;
}

static bool charge_owners(struct http_exchange *x, size_t bytes, struct http_refusal *out_refusal)
{
    for (size_t i = 0; i < x->n_charges; i++) {
        if (share_add(&x->charges[i].share->bytes, bytes, x->charges[i].max_bytes))
            continue;
        *out_refusal = (struct http_refusal){429, x->charges[i].rule};
        while (i > 0)
            share_remove(&x->charges[--i].share->bytes, bytes);
        return false;
    }
    return true;
}

/* Removes the bytes from all counts but that of the server. */
static void discharge(struct http_exchange *x, size_t bytes)
{
    for (size_t i = 0; i < x->n_charges; i++)
        share_remove(&x->charges[i].share->bytes, bytes);
    if (x->n_charges == 0 && x->conn->address != NULL)
        share_remove(&x->conn->address->bytes, bytes);
}

bool exchange_collect(struct http_exchange *x, struct str run, struct http_refusal *out_refusal)
{
    struct http_server *s = x->conn->shard->server;
    if (!charge_address(x, run.len, out_refusal) || !charge_owners(x, run.len, out_refusal))
        return false;
    if (!share_add(&s->collected, run.len, s->config.collected_max_bytes)) {
        discharge(x, run.len);
        *out_refusal =
            (struct http_refusal){503, "the server is reading too many bodies: try again"};
        return false;
    }
    buf_append(&x->body, run);
    /* http_body enforces the limit, which is also that of the buffer. */
    assert(!x->body.failed);
    return true;
}

void exchange_free_body(struct http_exchange *x)
{
    if (x->body.len > 0) {
        share_remove(&x->conn->shard->server->collected, x->body.len);
        discharge(x, x->body.len);
    }
    for (; x->n_charges > 0; x->n_charges--)
        shares_release(&x->conn->shard->server->owners, x->charges[x->n_charges - 1].share);
    buf_deinit(&x->body);
}

void http_exchange_charge(struct http_exchange *x, const struct http_charge *charges, size_t n)
{
    struct http_server *s = x->conn->shard->server;
    assert(n <= HTTP_CHARGES_MAX && x->n_charges == 0 && x->body.len == 0);
    for (; x->n_charges < n; x->n_charges++) {
        const struct http_charge *from = &charges[x->n_charges];
        x->charges[x->n_charges].share = shares_take(&s->owners, from->owner);
        x->charges[x->n_charges].max_bytes = s->config.collected_max_bytes / from->divisor;
        x->charges[x->n_charges].rule = from->rule;
    }
}

/* --- Life ----------------------------------------------------------------------------------- */

void exchange_begin(struct http_exchange *x, struct conn *c)
{
    conn_ref(c);
    x->conn = c;
    x->keep_alive = x->request.keep_alive;
    x->is_head = str_eq(x->request.method, STR("HEAD"));
    c->exchange = x;
    c->state = CONN_EXCHANGE;
    c->body_mode = BODY_UNREAD;
    c->paused = false;
    http_body_init(&c->body, &x->request, UINT64_MAX);
    if (!x->request.chunked && x->request.content_length == 0)
        c->body_mode = BODY_DONE;
}

void exchange_end(struct http_exchange *x)
{
    x->ended = true;
    x->conn->exchange = NULL;
    x->conn->paused = false;
    if (x->on_end != NULL)
        x->on_end(x);
    exchange_unref(x);
}

void exchange_finish(struct http_exchange *x)
{
    struct conn *c = x->conn;
    conn_ref(c);
    bool keep = x->keep_alive && !c->shard->draining && c->body_mode != BODY_BROKEN;
    if (keep) {
        c->state = c->body_mode == BODY_DONE ? CONN_HEAD : CONN_DISCARD;
        c->since_ms = shard_now_ms(c->shard);
        c->idle = true;
        exchange_end(x);
        conn_pump(c);
    } else {
        /* Before closing: code that sees the end of the connection may rely on on_end having run.
         * */
        exchange_end(x);
        conn_finish(c);
    }
    conn_unref(c);
}

void exchange_drop_body(struct http_exchange *x)
{
    struct conn *c = x->conn;
    if (c->body_mode == BODY_DONE || c->body_mode == BODY_DISCARD)
        return;
    c->paused = false;
    c->body_mode = BODY_DISCARD;
    c->body.limit = c->body.seen + DISCARD_BYTES;
    /* A client that waits for "100 Continue" may or may not send the body now. */
    if (x->request.expects_continue || (!c->body.chunked && c->body.left > DISCARD_BYTES)) {
        c->body_mode = BODY_BROKEN;
        x->keep_alive = false;
    }
}

/* --- Questions ------------------------------------------------------------------------------ */

const struct http_request *http_exchange_request(const struct http_exchange *x)
{
    return &x->request;
}

struct arena *http_exchange_arena(struct http_exchange *x)
{
    return &x->arena;
}

struct loop *http_exchange_loop(const struct http_exchange *x)
{
    return x->conn->shard->loop;
}

bool http_exchange_is_tls(const struct http_exchange *x)
{
    return x->conn->shard->server->tls != NULL;
}

void http_exchange_set_data(struct http_exchange *x, void *data)
{
    x->data = data;
}

void *http_exchange_data(const struct http_exchange *x)
{
    return x->data;
}

void http_exchange_on_end(struct http_exchange *x, void (*on_end)(struct http_exchange *x))
{
    x->on_end = on_end;
}

void http_exchange_set_connection_data(
    struct http_exchange *x, void *data, void (*destroy)(void *data))
{
    assert(x->conn->data == NULL && data != NULL);
    x->conn->data = data;
    x->conn->destroy_data = destroy;
}

void *http_exchange_connection_data(const struct http_exchange *x)
{
    return x->conn->data;
}

bool http_exchange_is_open(const struct http_exchange *x)
{
    return !x->ended;
}

void http_exchange_hold(struct http_exchange *x)
{
    x->refs++;
}

void http_exchange_release(struct http_exchange *x)
{
    exchange_unref(x);
}

/* --- The body ------------------------------------------------------------------------------- */

static void start_body(struct http_exchange *x, uint64_t limit_bytes, enum body_mode mode)
{
    struct conn *c = x->conn;
    bool has_body = c->body_mode == BODY_UNREAD;
    assert(has_body || c->body_mode == BODY_DONE);
    c->body.limit = limit_bytes;
    c->body_mode = (uint8_t)mode;
    c->body_ms = c->received_ms = shard_now_ms(c->shard);
    bool over_limit = c->body.left > limit_bytes;
    if (has_body && x->request.expects_continue && x->answer == ANSWER_NONE && !over_limit) {
        /* From here on the client sends the body in any case. */
        x->request.expects_continue = false;
        outqueue_add_copy(conn_output(c), STR("HTTP/1.1 100 Continue\r\n\r\n"));
        conn_flush(c);
    }
    conn_pump(c);
}

void http_exchange_read_body(struct http_exchange *x, size_t limit_bytes,
    void (*on_body)(struct http_exchange *x, struct str body))
{
    if (x->ended)
        return;
    x->on_body = on_body;
    buf_init(&x->body, limit_bytes);
    x->arena.budget_bytes = http_arena_budget(limit_bytes);
    start_body(x, limit_bytes, BODY_COLLECT);
}

void http_exchange_end_on_eof(struct http_exchange *x)
{
    if (x->ended)
        return;
    x->ends_on_eof = true;
    if (x->conn->eof)
        conn_close(x->conn);
}

void http_exchange_stream_body(struct http_exchange *x, uint64_t limit_bytes,
    void (*on_run)(struct http_exchange *x, struct str run, bool last))
{
    if (x->ended)
        return;
    x->on_run = on_run;
    start_body(x, limit_bytes, BODY_RUNS);
}

void http_exchange_pause_body(struct http_exchange *x)
{
    struct conn *c = x->conn;
    if (x->ended || c->paused)
        return;
    c->paused = true;
    c->paused_ms = shard_now_ms(c->shard);
    conn_update(c);
}

void http_exchange_resume_body(struct http_exchange *x)
{
    struct conn *c = x->conn;
    if (x->ended || !c->paused)
        return;
    uint64_t now_ms = shard_now_ms(c->shard);
    c->paused = false;
    c->body_ms += now_ms - c->paused_ms;
    c->received_ms = now_ms;
    conn_pump(c);
}

/* --- The whole answer ----------------------------------------------------------------------- */

void http_exchange_reply(struct http_exchange *x, const struct http_answer *answer)
{
    if (x->ended)
        return;
    assert(x->answer == ANSWER_NONE);
    struct conn *c = x->conn;
    x->answer = ANSWER_COMPLETE;
    x->keep_alive = x->keep_alive && !answer->closes;
    exchange_drop_body(x);
    bool has_body = reply_has_body(answer->status);
    /* A 304 without a body has no length; with one it has the length of the 200. */
    bool has_length = has_body || (answer->status == 304 && answer->body.len > 0);
    struct reply_head head = {
        .status = answer->status,
        .headers = answer->headers,
        .n_headers = answer->n_headers,
        .framing = has_length ? FRAMED_BY_LENGTH : FRAMED_BY_NOTHING,
        .length = answer->body.len,
        .minor = x->request.minor,
        .keep_alive = x->keep_alive && !c->shard->draining,
    };
    outqueue_add_copy(conn_output(c), reply_head_text(c->shard, &head));
    if (has_body && !x->is_head)
        outqueue_add_borrowed(conn_output(c), answer->body);
    conn_flush(c);
}

void http_exchange_abort(struct http_exchange *x)
{
    if (!x->ended)
        conn_close(x->conn);
}
