/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

bool conn_wants_read(const struct conn *c)
{
    if (c->eof || c->paused)
        return false;
    switch (c->state) {
    case CONN_EXCHANGE:
        if (c->exchange->ws != NULL)
            return c->out.bytes <= c->shard->server->config.stream_max_bytes;
        if (c->body_mode == BODY_UNREAD || c->body_mode == BODY_BROKEN || c->body_mode == BODY_DONE)
            return c->in.len < READ_AHEAD_BYTES;
        return true;
    case CONN_HEAD:
    case CONN_DISCARD:
    case CONN_LINGER:
        return true;
    default:
        return false;
    }
}

/* --- Steps: each returns whether it got anywhere -------------------------------------------- */

static void consume(struct conn *c, size_t size)
{
    /* After conn_close the input is empty, whatever this step has processed. */
    c->input = str_slice(c->input, size, c->input.len);
}

/* More input is needed. */
static bool starve(struct conn *c)
{
    if (c->eof)
        conn_close(c);
    return false;
}

static bool step_head(struct conn *c)
{
    struct shard *shard = c->shard;
    if (c->input.len == 0)
        return starve(c);
    if (c->idle) {
        c->idle = false;
        c->since_ms = shard_now_ms(shard);
    }
    if (shard->spare == NULL)
        shard->spare = exchange_create();
    struct http_exchange *x = shard->spare;
    struct http_refusal refusal;
    size_t used;
    switch (http_head_parse(
        &x->arena, c->input, &shard->server->config.limits, &x->request, &used, &refusal)) {
    case HTTP_MORE:
        return starve(c);
    case HTTP_REFUSED:
        arena_clear(&x->arena);
        conn_refuse(c, refusal);
        return false;
    case HTTP_DONE:
        break;
    }
    shard->spare = NULL;
    consume(c, used);
    count_up(&shard->counters.requests, 1);
    exchange_begin(x, c);
    shard->server->app.on_request(x, shard->server->app.data);
    return true;
}

static void deliver(struct http_exchange *x, struct str run, bool last)
{
    struct conn *c = x->conn;
    struct http_refusal refusal;
    if (x->on_run == NULL && !exchange_collect(x, run, &refusal)) {
        conn_refuse(c, refusal);
        return;
    }
    if (last)
        c->body_mode = BODY_DONE;
    if (x->on_run != NULL) {
        if (run.len > 0 || last)
            x->on_run(x, run, last);
        return;
    }
    if (last)
        x->on_body(x, buf_str(&x->body));
}

/* Discards an unwanted body. */
static bool step_discard(struct conn *c)
{
    struct str run;
    size_t used;
    struct http_refusal refusal;
    enum http_parsed parsed = http_body_feed(&c->body, c->input, &run, &used, &refusal);
    if (parsed == HTTP_REFUSED) {
        c->body_mode = BODY_BROKEN;
        if (c->state == CONN_DISCARD)
            conn_finish(c);
        return false;
    }
    consume(c, used);
    if (parsed == HTTP_DONE) {
        c->body_mode = BODY_DONE;
        if (c->state == CONN_DISCARD)
            c->state = CONN_HEAD;
        return true;
    }
    return used > 0 || (c->state == CONN_DISCARD && starve(c));
}

static bool step_body(struct conn *c)
{
    struct http_exchange *x = c->exchange;
    if (c->paused || (c->body_mode != BODY_COLLECT && c->body_mode != BODY_RUNS))
        return c->body_mode == BODY_DISCARD && step_discard(c);
    struct str run;
    size_t used;
    struct http_refusal refusal;
    enum http_parsed parsed = http_body_feed(&c->body, c->input, &run, &used, &refusal);
    if (parsed == HTTP_REFUSED) {
        conn_refuse(c, refusal);
        return false;
    }
    if (parsed == HTTP_MORE && used == 0)
        return starve(c);
    consume(c, used);
    deliver(x, run, parsed == HTTP_DONE);
    return true;
}

static bool step(struct conn *c)
{
    switch (c->state) {
    case CONN_HEAD:
        return step_head(c);
    case CONN_EXCHANGE:
        return c->exchange->ws != NULL ? ws_step(c->exchange) : step_body(c);
    case CONN_DISCARD:
        return step_discard(c);
    default:
        return false;
    }
}

/* Copies the unprocessed input, because the next connection uses the shard's read buffer. */
static void keep_input(struct conn *c)
{
    bool kept = c->in.len > 0;
    if (kept)
        buf_consume(&c->in, c->in.len - c->input.len);
    else
        buf_append(&c->in, c->input);
    assert(!c->in.failed);
    if (c->in.len == 0)
        buf_deinit(&c->in);
    c->input = buf_str(&c->in);
}

void conn_pump(struct conn *c)
{
    if (c->pumping) {
        c->pump_again = true;
        return;
    }
    conn_ref(c);
    c->pumping = true;
    do {
        c->pump_again = false;
        while (step(c))
            ;
    } while (c->pump_again);
    c->pumping = false;
    if (c->state != CONN_CLOSED) {
        keep_input(c);
        conn_update(c);
    }
    conn_unref(c);
}

/* --- The socket ----------------------------------------------------------------------------- */

/* A subscriber that closes its sending side has left; a client that waits for an answer may do so.
 * */
static void on_eof(struct conn *c)
{
    c->eof = true;
    struct http_exchange *x = c->exchange;
    bool streams = x != NULL && x->answer == ANSWER_STREAM && !x->is_sized;
    bool gone = streams || (x != NULL && x->ends_on_eof);
    if (c->state == CONN_LINGER || gone)
        conn_close(c);
    else
        conn_pump(c);
}

static void take_input(struct conn *c, struct str bytes)
{
    c->received_ms = shard_now_ms(c->shard);
    count_up(&c->shard->counters.bytes_in, bytes.len);
    if (c->state == CONN_LINGER)
        return;
    if (c->in.len > 0) {
        buf_append(&c->in, bytes);
        assert(!c->in.failed);
        c->input = buf_str(&c->in);
    } else {
        c->input = bytes;
    }
    conn_pump(c);
}

void conn_read(struct conn *c)
{
    if (!conn_wants_read(c))
        return;
    bool body = c->body_mode == BODY_COLLECT || c->body_mode == BODY_RUNS;
    size_t room = body ? READ_BYTES : READ_HEAD_BYTES;
    ssize_t got = conn_receive(c, c->shard->read_buffer, room);
    if (got > 0)
        take_input(c, (struct str){c->shard->read_buffer, (size_t)got});
    else if (got == 0)
        on_eof(c);
    else if (got == IO_BROKEN)
        conn_close(c);
    else
        conn_update(c);
}
