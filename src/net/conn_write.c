/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

#include <errno.h>
#include <sys/socket.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE is used instead */
#endif

enum { PIECES_AT_ONCE = 64 };

ssize_t conn_receive(struct conn *c, char *place, size_t room)
{
    /* While lingering the input is dropped, so TLS need not decrypt it. */
    if (c->tls != NULL && c->state != CONN_LINGER)
        return tls_receive(c, place, room);
    for (;;) {
        ssize_t got = recv(c->fd, place, room, 0);
        if (got >= 0)
            return got;
        if (errno != EINTR)
            return errno == EAGAIN || errno == EWOULDBLOCK ? IO_AGAIN : IO_BROKEN;
    }
}

ssize_t conn_send(struct conn *c)
{
    struct iovec pieces[PIECES_AT_ONCE];
    size_t n = outqueue_gather(&c->out, pieces, PIECES_AT_ONCE);
    if (c->tls != NULL)
        return tls_send(c, pieces, n);
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = n};
    for (;;) {
        ssize_t sent = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (sent >= 0)
            return sent;
        if (errno != EINTR)
            return errno == EAGAIN || errno == EWOULDBLOCK ? IO_AGAIN : IO_BROKEN;
    }
}

struct outqueue *conn_output(struct conn *c)
{
    if (c->out.bytes == 0)
        c->sent_ms = c->queued_ms = shard_now_ms(c->shard);
    return &c->out;
}

/* The queue is empty: ends the exchange, or lets the stream continue. */
static void on_drained(struct conn *c)
{
    struct http_exchange *x = c->exchange;
    if (c->state == CONN_LINGER) {
        conn_finish(c);
    } else if (x != NULL && x->answer == ANSWER_COMPLETE) {
        exchange_finish(x);
    } else if (x != NULL && x->unsent) {
        x->unsent = false;
        if (x->hooks.on_writable != NULL)
            x->hooks.on_writable(x);
    }
}

void conn_flush(struct conn *c)
{
    conn_ref(c);
    while (c->state != CONN_CLOSED && c->out.bytes > 0 && !c->blocked) {
        ssize_t sent = conn_send(c);
        if (sent == IO_BROKEN) {
            conn_close(c);
        } else if (sent == IO_AGAIN) {
            c->blocked = true;
        } else {
            outqueue_sent(&c->out, (size_t)sent);
            count_up(&c->shard->counters.bytes_out, (uint64_t)sent);
            c->sent_ms = shard_now_ms(c->shard);
        }
    }
    if (c->state != CONN_CLOSED && c->out.bytes == 0)
        on_drained(c);
    conn_update(c);
    conn_unref(c);
}

void conn_mark_dirty(struct conn *c)
{
    if (c->dirty || c->blocked || c->state == CONN_CLOSED)
        return;
    conn_ref(c);
    c->dirty = true;
    c->next_dirty = c->shard->dirty;
    c->shard->dirty = c;
}
