/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside net: one connection and the exchange that it is busy with. A connection's life:
 *
 *   HANDSHAKE ─► HEAD ─► EXCHANGE ─► HEAD …            keep-alive
 *                 │         ├─► DISCARD ─► HEAD        the body was not wanted
 *                 └─────────┴─► LINGER ─► CLOSED       refused, or not kept
 *
 * conn_pump moves it on as far as its input allows; conn_flush sends. Callbacks of the application
 * may re-enter both: conn_pump then only notes that it has to go round again. Memory is counted in
 * references: the poll handle, each exchange, the dirty list, and whoever calls out.
 */
#ifndef NET_CONN_H
#define NET_CONN_H

#include <netinet/in.h>
#include <openssl/ssl.h>

#include "net/outqueue.h"
#include "net/shard.h"

enum conn_state {
    CONN_HANDSHAKE,
    CONN_HEAD,
    CONN_EXCHANGE,
    CONN_DISCARD,
    CONN_LINGER,
    CONN_CLOSED
};

enum body_mode {
    BODY_UNREAD,  /* the application has not asked for it yet */
    BODY_COLLECT, /* http_exchange_read_body */
    BODY_RUNS,    /* http_exchange_stream_body */
    BODY_DISCARD, /* nobody wants it, but the next request is behind it */
    BODY_BROKEN,  /* its end will not be found: the connection cannot be kept */
    BODY_DONE
};

struct conn {
    uv_poll_t poll;
    struct shard *shard;
    struct conn *prev, *next; /* of the shard */
    struct conn *next_dirty;
    struct deadline deadline;
    struct http_exchange *exchange;
    SSL *tls;
    struct buf in;    /* input kept between reads */
    struct str input; /* what is still to be processed: in `in`, or in the shard's read buffer */
    struct outqueue out;
    struct http_body body;
    uint64_t since_ms;    /* start of the head, the idling, the discarding or the lingering */
    uint64_t body_ms;     /* start of the body, put off by pauses */
    uint64_t paused_ms;   /* start of the pause */
    uint64_t received_ms; /* last input */
    uint64_t sent_ms;     /* last output, or when the queue began to wait */
    uint64_t queued_ms;   /* when the queue began to wait */
    int fd;
    unsigned refs;
    uint8_t state;
    uint8_t body_mode;
    uint8_t events; /* what the poll handle waits for */
    bool idle;      /* HEAD, and no byte of it has come */
    bool eof;       /* the peer sends no more */
    bool paused;
    bool dirty;
    bool blocked;          /* the last send could not send everything */
    bool read_wants_write; /* TLS */
    bool write_wants_read;
    bool tls_broken; /* OpenSSL must not be asked for anything any more */
    bool pumping;
    bool pump_again;
    bool said_goodbye; /* LINGER: the answer is out, and the sending side shut */
    char peer[INET6_ADDRSTRLEN];
};

enum answer_state {
    ANSWER_NONE,
    ANSWER_STREAM,
    ANSWER_COMPLETE /* all of it is queued: the exchange ends when the queue is sent */
};

struct http_exchange {
    struct conn *conn; /* referenced, also after the end, when it is closed or busy elsewhere */
    struct http_request request;
    struct arena arena;
    struct buf body;
    void *data;
    void (*on_end)(struct http_exchange *x);
    void (*on_body)(struct http_exchange *x, struct str body);
    void (*on_run)(struct http_exchange *x, struct str run, bool last);
    struct http_stream_hooks hooks;
    struct ws *ws;      /* NULL: HTTP */
    uint64_t ending_ms; /* when the last words were queued, 0: not yet */
    unsigned refs;
    uint8_t answer;
    bool ended;
    bool keep_alive;
    bool is_head;
    bool mute;     /* the stream's bytes are not sent: HEAD, 204, 304 */
    bool chunked;  /* the answer */
    bool is_sized; /* the stream: `left` bytes of it are to come */
    uint64_t left;
    bool unsent; /* on_writable is due when the queue is empty */
    bool ends_on_eof;
};

/* --- conn.c: life and state ----------------------------------------------------------------- */
void conn_open(struct shard *shard, int fd, const char *peer, bool over_capacity);
void conn_ref(struct conn *c);
void conn_unref(struct conn *c);
/* At once; ends the exchange. Does nothing when closed already. */
void conn_close(struct conn *c);
/* The last answer is sent: closes so that the peer can read it. */
void conn_finish(struct conn *c);
/* Answers for the application and closes. */
void conn_refuse(struct conn *c, struct http_refusal refusal);
/* Brings poll events and deadline in line with the state. */
void conn_update(struct conn *c);
/* Every connection of the shard: gives each to `act`, which may close any. */
void conn_each(struct shard *shard, void (*act)(struct conn *c));
void conn_drain(struct conn *c);

/* --- conn_read.c ---------------------------------------------------------------------------- */
bool conn_wants_read(const struct conn *c);
void conn_read(struct conn *c);
void conn_pump(struct conn *c);

/* --- conn_write.c --------------------------------------------------------------------------- */
/* The queue to add to; the stall clock starts when it was empty. */
struct outqueue *conn_output(struct conn *c);
void conn_flush(struct conn *c);
/* Has the queue flushed before the loop sleeps again. */
void conn_mark_dirty(struct conn *c);
/* Plain or TLS. A number of bytes, 0 at the peer's end (receive only), or one of these. */
enum { IO_AGAIN = -1, IO_BROKEN = -2 };
ssize_t conn_receive(struct conn *c, char *place, size_t room);
/* From the front of the queue, which it leaves as it is. */
ssize_t conn_send(struct conn *c);

/* --- conn_time.c ---------------------------------------------------------------------------- */
uint64_t conn_next_deadline(const struct conn *c);
void conn_on_deadline(struct conn *c);

/* --- tls.c ---------------------------------------------------------------------------------- */
struct tls *tls_create(
    struct str certificate, struct str key, struct arena *arena, struct str *out_why);
void tls_destroy(struct tls *t); /* accepts NULL */
SSL *tls_accept(struct tls *t, int fd);
/* 1: done, IO_AGAIN, IO_BROKEN. */
int tls_handshake(struct conn *c);
ssize_t tls_receive(struct conn *c, char *place, size_t room);
ssize_t tls_send(struct conn *c, const struct iovec *pieces, size_t n);
/* Says goodbye as far as the socket takes it. */
void tls_say_goodbye(struct conn *c);

/* --- exchange.c ----------------------------------------------------------------------------- */
struct http_exchange *exchange_create(void);
void exchange_unref(struct http_exchange *x);
void exchange_begin(struct http_exchange *x, struct conn *c);
/* Holds more of the body; false when the server holds too much already. */
bool exchange_collect(struct http_exchange *x, struct str run);
void exchange_free_body(struct http_exchange *x);
/* The connection lets go of it: on_end, exactly once. */
void exchange_end(struct http_exchange *x);
/* The answer is sent whole. */
void exchange_finish(struct http_exchange *x);
/* No more body is wanted; may give up keep_alive. */
void exchange_drop_body(struct http_exchange *x);

/* --- reply.c -------------------------------------------------------------------------------- */
enum answer_framing { FRAMED_BY_LENGTH, FRAMED_BY_CHUNKS, FRAMED_BY_CLOSE, FRAMED_BY_NOTHING };
struct reply_head {
    int status;
    const struct http_header *headers;
    size_t n_headers;
    enum answer_framing framing;
    uint64_t length;
    unsigned minor; /* of the request */
    bool keep_alive;
};
/* In the shard's buffer, until the next call. */
struct str reply_head_text(struct shard *shard, const struct reply_head *head);
bool reply_has_body(int status);

/* --- stream.c ------------------------------------------------------------------------------- */
/* Drops what the request held: a subscriber stays for hours. */
void stream_begin(struct http_exchange *x, const struct http_stream_hooks *hooks);
/* Returns true if the stream is open and its queue has room for `size` more bytes. */
bool stream_takes(const struct http_exchange *x, size_t size);
/* Queues the bytes with a reference of their own; false when the stream does not take them. */
MUST_CHECK bool stream_send(struct http_exchange *x, struct http_shared *s);
void stream_drain(struct http_exchange *x);

/* --- ws.c ----------------------------------------------------------------------------------- */
bool ws_step(struct http_exchange *x);
uint64_t ws_next_deadline(const struct http_exchange *x);
void ws_on_deadline(struct http_exchange *x);
void ws_destroy(struct ws *ws); /* accepts NULL */

#endif
