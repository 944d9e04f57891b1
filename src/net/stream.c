/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

void stream_begin(struct http_exchange *x, const struct http_stream_hooks *hooks)
{
    struct conn *c = x->conn;
    x->answer = ANSWER_STREAM;
    x->unsent = true;
    if (hooks != NULL)
        x->hooks = *hooks;
    struct http_request kept = {
        .minor = x->request.minor, .expects_continue = x->request.expects_continue};
    x->request = kept;
    arena_clear(&x->arena);
    exchange_free_body(x);
    conn_mark_dirty(c);
}

static void complete_sized(struct http_exchange *x)
{
    x->answer = ANSWER_COMPLETE;
    exchange_drop_body(x);
    conn_mark_dirty(x->conn);
}

void http_stream_start_sized(struct http_exchange *x, int status, const struct http_header *headers,
    size_t n_headers, uint64_t length, const struct http_stream_hooks *hooks)
{
    if (x->ended)
        return;
    assert(x->answer == ANSWER_NONE && reply_has_body(status));
    struct conn *c = x->conn;
    x->is_sized = true;
    x->left = x->is_head ? 0 : length;
    struct reply_head head = {
        .status = status,
        .headers = headers,
        .n_headers = n_headers,
        .framing = FRAMED_BY_LENGTH,
        .length = length,
        .minor = x->request.minor,
        .keep_alive = x->keep_alive && !c->shard->draining,
    };
    outqueue_add_copy(conn_output(c), reply_head_text(c->shard, &head));
    stream_begin(x, hooks);
    if (x->left == 0)
        complete_sized(x);
}

void http_stream_start(struct http_exchange *x, int status, const struct http_header *headers,
    size_t n_headers, const struct http_stream_hooks *hooks)
{
    if (x->ended)
        return;
    assert(x->answer == ANSWER_NONE && status >= 200);
    struct conn *c = x->conn;
    bool has_body = reply_has_body(status);
    x->mute = x->is_head || !has_body;
    x->chunked = has_body && x->request.minor == 1;
    if (has_body && !x->chunked)
        x->keep_alive = false;
    struct reply_head head = {
        .status = status,
        .headers = headers,
        .n_headers = n_headers,
        .framing = !has_body    ? FRAMED_BY_NOTHING
                   : x->chunked ? FRAMED_BY_CHUNKS
                                : FRAMED_BY_CLOSE,
        .minor = x->request.minor,
        .keep_alive = x->keep_alive && !c->shard->draining,
    };
    outqueue_add_copy(conn_output(c), reply_head_text(c->shard, &head));
    stream_begin(x, hooks);
}

/* Takes over the reference. */
static void queue(struct http_exchange *x, struct http_shared *s, struct str wire)
{
    struct conn *c = x->conn;
    outqueue_add_shared(conn_output(c), s, wire);
    x->unsent = true;
    conn_mark_dirty(c);
}

static struct str wire_of(const struct http_exchange *x, const struct http_shared *s)
{
    return s->websocket || x->chunked ? shared_framed(s) : shared_payload(s);
}

bool stream_takes(const struct http_exchange *x, size_t size)
{
    if (x->ended || x->answer != ANSWER_STREAM || x->ending_ms > 0)
        return false;
    size_t max = x->conn->shard->server->config.stream_max_bytes;
    /* One piece at a time, of any size. */
    if (x->is_sized)
        return x->conn->out.bytes <= max;
    return x->conn->out.bytes <= max && size <= max - x->conn->out.bytes;
}

bool stream_send(struct http_exchange *x, struct http_shared *s)
{
    struct str wire = wire_of(x, s);
    if (!stream_takes(x, wire.len))
        return false;
    assert(!x->is_sized || wire.len <= x->left);
    queue(x, http_shared_ref(s), wire);
    if (x->is_sized && (x->left -= wire.len) == 0)
        complete_sized(x);
    return true;
}

bool http_stream_send(struct http_exchange *x, struct str bytes)
{
    assert(x->ws == NULL);
    if (!stream_takes(x, bytes.len))
        return false;
    /* An empty chunk would end the answer. */
    if (x->mute || bytes.len == 0)
        return true;
    struct http_shared *s = http_shared_create(bytes);
    bool sent = stream_send(x, s);
    http_shared_unref(s);
    return sent;
}

bool http_stream_send_shared(struct http_exchange *x, struct http_shared *s)
{
    assert(x->ws == NULL && !s->websocket);
    if (x->mute || s->len == 0)
        return stream_takes(x, 0);
    return stream_send(x, s);
}

size_t http_stream_queued(const struct http_exchange *x)
{
    return x->ended ? 0 : x->conn->out.bytes;
}

void http_stream_end(struct http_exchange *x, struct str last_words)
{
    assert(x->ws == NULL && !x->is_sized);
    if (x->ended || x->answer != ANSWER_STREAM)
        return;
    struct conn *c = x->conn;
    if (!x->mute && last_words.len > 0) {
        struct http_shared *s = http_shared_create(last_words);
        queue(x, s, wire_of(x, s));
    }
    if (!x->mute && x->chunked)
        outqueue_add_borrowed(conn_output(c), STR("0\r\n\r\n"));
    x->answer = ANSWER_COMPLETE;
    x->ending_ms = shard_now_ms(c->shard);
    exchange_drop_body(x);
    conn_mark_dirty(c);
    conn_update(c);
}

void stream_drain(struct http_exchange *x)
{
    if (x->is_sized)
        return; /* it ends by itself */
    if (x->hooks.on_drain_out != NULL)
        x->hooks.on_drain_out(x);
    else if (x->ws != NULL)
        ws_close(x, WS_CODE_GOING_AWAY, STR(""));
    else
        http_stream_end(x, STR(""));
}
