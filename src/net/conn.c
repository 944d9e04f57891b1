/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/alloc.h"

void conn_ref(struct conn *c)
{
    c->refs++;
}

void conn_unref(struct conn *c)
{
    assert(c->refs > 0);
    if (--c->refs > 0)
        return;
    assert(c->state == CONN_CLOSED && c->exchange == NULL && c->out.bytes == 0);
    if (c->data != NULL)
        c->destroy_data(c->data);
    shares_release(&c->shard->server->addresses, c->address);
    mem_free(c);
}

/* --- Waiting -------------------------------------------------------------------------------- */

static void handshake(struct conn *c)
{
    int done = tls_handshake(c);
    if (done == IO_BROKEN)
        conn_close(c);
    else if (done == 1)
        c->state = CONN_HEAD;
    conn_update(c);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct conn *c = CONTAINER_OF(poll, struct conn, poll);
    conn_ref(c);
    bool readable = (events & UV_READABLE) != 0, writable = (events & UV_WRITABLE) != 0;
    if (status < 0) {
        conn_close(c);
    } else if (c->state == CONN_HANDSHAKE) {
        handshake(c);
    } else {
        if (writable || (readable && c->write_wants_read)) {
            c->blocked = false;
            conn_flush(c);
        }
        if (readable || (writable && c->read_wants_write))
            conn_read(c);
    }
    conn_unref(c);
}

static int wanted_events(const struct conn *c)
{
    bool handshaking = c->state == CONN_HANDSHAKE;
    bool read = handshaking ? !c->read_wants_write : conn_wants_read(c) || c->write_wants_read;
    bool write = c->blocked || c->read_wants_write;
    return (read ? UV_READABLE : 0) | (write ? UV_WRITABLE : 0);
}

void conn_update(struct conn *c)
{
    if (c->state == CONN_CLOSED)
        return;
    int events = wanted_events(c);
    if (events != c->events) {
        c->events = (uint8_t)events;
        if (events == 0)
            uv_poll_stop(&c->poll);
        else
            uv_poll_start(&c->poll, events, on_poll);
    }
    shard_set_deadline(c->shard, &c->deadline, conn_next_deadline(c));
}

/* --- Opening -------------------------------------------------------------------------------- */

static void link_to_shard(struct conn *c)
{
    struct shard *shard = c->shard;
    c->next = shard->conns;
    if (c->next != NULL)
        c->next->prev = c;
    shard->conns = c;
}

static void unlink_from_shard(struct conn *c)
{
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        c->shard->conns = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
}

static void set_socket_options(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef SO_NOSIGPIPE
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

/* The connection no longer counts. */
static void leave_open(struct conn *c)
{
    server_remove_open(c->shard->server);
    if (c->address != NULL)
        share_remove(&c->address->connections, 1);
}

void conn_open(struct shard *shard, int fd, struct share *address, const char *excess)
{
    struct conn *c = MEM_NEW(struct conn);
    c->shard = shard;
    c->fd = fd;
    c->address = address;
    c->refs = 1;
    c->since_ms = shard_now_ms(shard);
    c->state = CONN_HEAD;
    c->body_mode = BODY_DONE;
    c->input = STR("");
    buf_init(&c->in, shard->server->config.limits.head_bytes + READ_AHEAD_BYTES + READ_BYTES);
    set_socket_options(fd);
    if (uv_poll_init(loop_uv(shard->loop), &c->poll, fd) != 0) {
        close(fd);
        leave_open(c);
        c->state = CONN_CLOSED;
        conn_unref(c);
        return;
    }
    link_to_shard(c);
    count_up(&shard->counters.connections, 1);
    if (shard->server->tls != NULL) {
        c->tls = tls_accept(shard->server->tls, fd);
        c->state = CONN_HANDSHAKE;
    }
    if (excess != NULL && c->tls != NULL)
        conn_close(c);
    else if (excess != NULL)
        conn_refuse(c, (struct http_refusal){503, excess});
    else
        conn_update(c);
}

/* --- Closing -------------------------------------------------------------------------------- */

static void on_poll_closed(uv_handle_t *poll)
{
    conn_unref(CONTAINER_OF(poll, struct conn, poll));
}

void conn_close(struct conn *c)
{
    if (c->state == CONN_CLOSED)
        return;
    conn_ref(c);
    tls_say_goodbye(c);
    SSL_free(c->tls);
    c->tls = NULL;
    c->state = CONN_CLOSED;
    unlink_from_shard(c);
    deadline_clear(&c->shard->deadlines, &c->deadline);
    uv_close((uv_handle_t *)&c->poll, on_poll_closed);
    close(c->fd);
    outqueue_clear(&c->out);
    if (c->exchange != NULL)
        exchange_end(c->exchange);
    /* `input` may be a slice of `in`; an outer conn_pump then finds no more input. */
    c->input = STR("");
    buf_deinit(&c->in);
    leave_open(c);
    conn_unref(c);
}

/* The answer is sent. Further input is read and dropped for a while: closing a socket with unread
 * input would reset the connection, and a reset can destroy the answer in transit. */
static void start_lingering(struct conn *c)
{
    if (c->said_goodbye)
        return;
    c->said_goodbye = true;
    c->since_ms = shard_now_ms(c->shard);
    tls_say_goodbye(c);
    shutdown(c->fd, SHUT_WR);
}

void conn_finish(struct conn *c)
{
    if (c->state == CONN_CLOSED)
        return;
    /* A peer that requested the end, or received a close frame, sends no more. */
    bool expected = c->state == CONN_EXCHANGE && c->body_mode == BODY_DONE && c->input.len == 0 &&
                    !c->shard->draining;
    if (c->out.bytes == 0 && (c->eof || expected)) {
        conn_close(c);
        return;
    }
    c->state = CONN_LINGER;
    c->paused = false;
    c->input = STR("");
    buf_deinit(&c->in);
    if (c->out.bytes == 0)
        start_lingering(c);
    conn_update(c);
}

static struct http_answer word_refusal(
    const struct conn *c, struct arena *arena, const struct http_refusal *refusal)
{
    static const struct http_header plain = {{"Content-Type", 12}, {"text/plain", 10}};
    const struct http_server *server = c->shard->server;
    struct http_request salvaged;
    if (server->app.word_refusal == NULL)
        return (struct http_answer){
            .headers = &plain, .n_headers = 1, .body = str_of(refusal->rule)};
    if (c->exchange != NULL)
        return server->app.word_refusal(arena, refusal, &c->exchange->request, server->app.data);
    http_head_salvage(arena, c->input, &server->config.limits, &salvaged);
    return server->app.word_refusal(arena, refusal, &salvaged, server->app.data);
}

static void queue_refusal(struct conn *c, struct http_refusal refusal, bool head_only)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(READ_BYTES);
    struct http_answer answer = word_refusal(c, &arena, &refusal);
    struct reply_head head = {.status = refusal.status,
        .headers = answer.headers,
        .n_headers = answer.n_headers,
        .framing = FRAMED_BY_LENGTH,
        .length = answer.body.len,
        .minor = 1,
        .may_retry = refusal.status == 429 || refusal.status == 503};
    outqueue_add_copy(conn_output(c), reply_head_text(c->shard, &head));
    if (!head_only)
        outqueue_add_copy(conn_output(c), answer.body);
}

void conn_refuse(struct conn *c, struct http_refusal refusal)
{
    if (c->state == CONN_CLOSED)
        return;
    conn_ref(c);
    count_up(&c->shard->counters.refused, 1);
    struct http_exchange *x = c->exchange;
    bool answered = x != NULL && x->answer != ANSWER_NONE;
    bool head_only = x != NULL && x->is_head;
    if (answered) {
        conn_close(c);
    } else {
        c->body_mode = BODY_BROKEN;
        queue_refusal(c, refusal, head_only);
        if (x != NULL)
            exchange_end(x);
        conn_finish(c);
        conn_flush(c);
    }
    conn_unref(c);
}

/* --- All at once ---------------------------------------------------------------------------- */

void conn_each(struct shard *shard, void (*act)(struct conn *c))
{
    size_t n = 0;
    for (struct conn *c = shard->conns; c != NULL; c = c->next)
        n++;
    struct conn **all CLEANUP(mem_freep) = mem_alloc(n * sizeof(struct conn *));
    size_t at = 0;
    for (struct conn *c = shard->conns; c != NULL; c = c->next) {
        conn_ref(c);
        all[at++] = c;
    }
    for (size_t i = 0; i < n; i++) {
        act(all[i]);
        conn_unref(all[i]);
    }
}

void conn_drain(struct conn *c)
{
    if ((c->state == CONN_HEAD && c->in.len == 0) || c->state == CONN_HANDSHAKE)
        conn_close(c);
    else if (c->exchange != NULL && c->exchange->answer == ANSWER_STREAM)
        stream_drain(c->exchange);
}
