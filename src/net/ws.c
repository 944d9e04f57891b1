/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/hash.h"
#include "net/conn.h"

/*
 * An exchange that has become a WebSocket. Closing involves both sides: the side that sends the
 * first close frame waits for the other's, then the server closes the connection. After our close
 * frame nothing is sent; after the peer's nothing is read.
 */
struct ws {
    struct ws_input input;
    void (*on_message)(struct http_exchange *x, struct str message, bool text);
    uint64_t ping_ms; /* when the last ping was sent */
    uint64_t pong_ms; /* when the last pong arrived */
    bool close_sent;
};

enum { KEY_LEN = 24, ACCEPT_DIGEST_LEN = 20 };

/* --- Handshake ------------------------------------------------------------------------------ */

/* Sixteen bytes in base64: 22 digits, the last with four unused bits, and two pads. */
static bool is_key(struct str key)
{
    if (key.len != KEY_LEN || key.ptr[22] != '=' || key.ptr[23] != '=')
        return false;
    for (size_t i = 0; i < 22; i++) {
        char k = key.ptr[i];
        bool digit = is_digit(k) || is_letter(k) || k == '+' || k == '/';
        if (!digit)
            return false;
    }
    return true;
}

bool ws_is_handshake(const struct http_exchange *x, const char **out_rule)
{
    const struct http_request *r = &x->request;
    const char *rule = NULL;
    if (!str_eq(r->method, STR("GET")) || r->minor != 1)
        rule = "a WebSocket must begin with GET in HTTP/1.1";
    else if (!http_header_lists(r, STR("upgrade"), STR("websocket")) ||
             !http_header_lists(r, STR("connection"), STR("upgrade")))
        rule = "a WebSocket requires Upgrade: websocket and Connection: Upgrade";
    else if (http_header_count(r, STR("sec-websocket-version")) != 1 ||
             !str_eq(http_header(r, STR("sec-websocket-version")), STR("13")))
        rule = "the WebSocket version must be 13";
    else if (http_header_count(r, STR("sec-websocket-key")) != 1 ||
             !is_key(http_header(r, STR("sec-websocket-key"))))
        rule = "Sec-WebSocket-Key must be sixteen bytes in base64";
    else if (r->chunked || r->content_length > 0)
        rule = "the request of a WebSocket must not have a body";
    if (rule != NULL)
        *out_rule = rule;
    return rule == NULL;
}

static struct str accept_value(struct arena *arena, struct str key)
{
    struct str text = arena_printf(arena, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", STR_ARG(key));
    uint8_t digest[ACCEPT_DIGEST_LEN];
    sha1_of(text, digest);
    return base64_encode(arena, (struct str){(const char *)digest, sizeof digest});
}

static void queue_switch(struct http_exchange *x, struct str protocol,
    const struct http_header *headers, size_t n_headers)
{
    struct conn *c = x->conn;
    struct str key = http_header(&x->request, STR("sec-websocket-key"));
    struct http_header *all = ARENA_ARRAY(&x->arena, struct http_header, n_headers + 2);
    size_t n = 0;
    all[n++] = (struct http_header){STR("Sec-WebSocket-Accept"), accept_value(&x->arena, key)};
    if (!str_is_none(protocol))
        all[n++] = (struct http_header){STR("Sec-WebSocket-Protocol"), protocol};
    for (size_t i = 0; i < n_headers; i++)
        all[n++] = headers[i];
    struct reply_head head = {
        .status = 101, .headers = all, .n_headers = n, .framing = FRAMED_BY_NOTHING, .minor = 1};
    outqueue_add_copy(conn_output(c), reply_head_text(c->shard, &head));
}

void ws_accept(struct http_exchange *x, struct str protocol, const struct http_header *headers,
    size_t n_headers, const struct ws_hooks *hooks)
{
    if (x->ended)
        return;
    assert(x->answer == ANSWER_NONE && x->conn->body_mode == BODY_DONE);
    struct shard *shard = x->conn->shard;
    queue_switch(x, protocol, headers, n_headers);
    struct ws *ws = MEM_NEW(struct ws);
    ws_input_init(&ws->input, shard->server->config.ws_message_bytes, &shard->spare_reader);
    ws->on_message = hooks->on_message;
    ws->ping_ms = ws->pong_ms = shard_now_ms(shard);
    x->ws = ws;
    x->keep_alive = false;
    stream_begin(x, &hooks->stream);
    conn_pump(x->conn);
}

void ws_destroy(struct ws *ws)
{
    if (ws == NULL)
        return;
    ws_input_deinit(&ws->input);
    mem_free(ws);
}

/* --- Sending -------------------------------------------------------------------------------- */

/* Control frames may exceed the limit of the queue: they are small, and nothing is read from a peer
 * whose queue is full, so it cannot cause more of them. */
static void send_control(struct http_exchange *x, uint8_t opcode, struct str payload)
{
    struct http_shared *s = shared_frame_create(opcode, payload);
    outqueue_add_shared(conn_output(x->conn), s, shared_framed(s));
    conn_mark_dirty(x->conn);
}

static void send_close(struct http_exchange *x, uint16_t code, struct str reason)
{
    struct ws *ws = x->ws;
    if (ws->close_sent)
        return;
    ws->close_sent = true;
    x->ending_ms = shard_now_ms(x->conn->shard);
    char payload[WS_CONTROL_BYTES_MAX] = {(char)(code >> 8), (char)(code & 0xff)};
    size_t len = reason.len < sizeof payload - 2 ? reason.len : sizeof payload - 2;
    /* The reason must not be cut inside a character. */
    while (len > 0 && !str_is_utf8(str_slice(reason, 0, len)))
        len--;
    if (len > 0)
        memcpy(payload + 2, reason.ptr, len);
    send_control(x, WS_CLOSE, (struct str){payload, code == WS_CODE_NONE ? 0 : len + 2});
    conn_update(x->conn);
}

void ws_close(struct http_exchange *x, uint16_t code, struct str reason)
{
    if (x->ended)
        return;
    assert(x->ws != NULL);
    send_close(x, code, reason);
}

/* Both sides are done, or the peer has failed: sends the queue, then closes. */
static void complete(struct http_exchange *x, uint16_t code)
{
    send_close(x, code, STR(""));
    x->answer = ANSWER_COMPLETE;
    x->ws->input.over = true;
    conn_mark_dirty(x->conn);
}

/* --- Receiving ------------------------------------------------------------------------------ */

static void on_event(struct http_exchange *x, const struct ws_event *event)
{
    struct ws *ws = x->ws;
    switch (event->kind) {
    case WS_EVENT_MESSAGE:
        if (!ws->close_sent && ws->on_message != NULL)
            ws->on_message(x, event->payload, event->text);
        break;
    case WS_EVENT_PING:
        if (!ws->close_sent)
            send_control(x, WS_PONG, event->payload);
        break;
    case WS_EVENT_PONG:
        ws->pong_ms = shard_now_ms(x->conn->shard);
        break;
    case WS_EVENT_BROKEN:
        /* The peer may be sending: the connection must linger. */
        x->conn->body_mode = BODY_BROKEN;
        complete(x, event->code);
        break;
    case WS_EVENT_CLOSE:
        complete(x, event->code);
        break;
    case WS_EVENT_MORE:
        break;
    }
}

bool ws_step(struct http_exchange *x)
{
    struct conn *c = x->conn;
    if (c->paused)
        return false;
    struct ws_event event = ws_input_next(&x->ws->input, &c->input);
    if (event.kind == WS_EVENT_MORE)
        return false;
    http_exchange_hold(x);
    on_event(x, &event);
    http_exchange_release(x);
    return true;
}

/* --- Deadlines ------------------------------------------------------------------------------ */

uint64_t ws_next_deadline(const struct http_exchange *x)
{
    const struct ws *ws = x->ws;
    uint64_t period_ms = x->conn->shard->server->config.ws_ping_ms;
    if (period_ms == 0 || ws->close_sent)
        return DEADLINE_NEVER;
    return ws->ping_ms + period_ms;
}

void ws_on_deadline(struct http_exchange *x)
{
    struct ws *ws = x->ws;
    uint64_t now_ms = shard_now_ms(x->conn->shard);
    uint64_t period_ms = x->conn->shard->server->config.ws_ping_ms;
    if (now_ms < ws_next_deadline(x))
        return;
    /* No pong can be read while the application has paused the connection. */
    if (x->conn->paused)
        ws->pong_ms = now_ms;
    if (now_ms - ws->pong_ms > 2 * period_ms) {
        conn_close(x->conn);
        return;
    }
    ws->ping_ms = now_ms;
    send_control(x, WS_PING, STR(""));
}

/* --- Messages ------------------------------------------------------------------------------- */

bool ws_send_shared(struct http_exchange *x, struct http_shared *framed)
{
    assert(framed->websocket);
    return stream_send(x, framed);
}

bool ws_send_text(struct http_exchange *x, struct str text)
{
    if (!stream_takes(x, text.len))
        return false;
    struct http_shared *s = http_shared_create_message(text);
    bool sent = ws_send_shared(x, s);
    http_shared_unref(s);
    return sent;
}
