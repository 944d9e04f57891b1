/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside net: one connection and its current exchange. The states of a connection:
 *
 *   HANDSHAKE ─► HEAD ─► EXCHANGE ─► HEAD …            keep-alive
 *                 │         ├─► DISCARD ─► HEAD        the body was unwanted
 *                 └─────────┴─► LINGER ─► CLOSED       refused, or not kept
 *
 * conn_pump processes the available input; conn_flush sends. Callbacks of the application may
 * re-enter both: an inner conn_pump only makes the outer one run again. References are held by the
 * poll handle, each exchange, the dirty list, and functions that call the application.
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
    BODY_UNREAD,  /* the application has not requested it yet */
    BODY_COLLECT, /* http_exchange_read_body */
    BODY_RUNS,    /* http_exchange_stream_body */
    BODY_DISCARD, /* unwanted, but the next request follows it */
    BODY_BROKEN,  /* its end cannot be found, so the connection cannot be kept */
    BODY_DONE
};

struct conn {
    uv_poll_t poll;
    struct shard *shard;
    struct conn *prev, *next; /* in the shard's list */
    struct conn *next_dirty;
    struct deadline deadline;
    struct http_exchange *exchange;
    SSL *tls;
    struct share *address; /* NULL: its address has no limits */
    void *data;            /* the application's */
    void (*destroy_data)(void *data);
    struct buf in;    /* input kept between reads */
    struct str input; /* unprocessed input, in `in` or in the shard's read buffer */
    struct outqueue out;
    struct http_body body;
    uint64_t since_ms;    /* start of the head, or of the idle, discard or linger phase */
    uint64_t body_ms;     /* start of the body, moved forward by pauses */
    uint64_t paused_ms;   /* start of the pause */
    uint64_t received_ms; /* last input */
    uint64_t sent_ms;     /* last output, or when the queue became non-empty */
    uint64_t queued_ms;   /* when the queue became non-empty */
    int fd;
    unsigned refs;
    uint8_t state;
    uint8_t body_mode;
    uint8_t events; /* the events that the poll handle waits for */
    bool idle;      /* HEAD, and no byte of it has arrived */
    bool eof;       /* the peer has closed its sending side */
    bool paused;
    bool dirty;
    bool blocked;          /* the last send was incomplete */
    bool read_wants_write; /* TLS */
    bool write_wants_read;
    bool tls_broken; /* OpenSSL must not be used any more */
    bool pumping;
    bool pump_again;
    bool said_goodbye; /* LINGER: the answer is sent and the sending side is closed */
};

enum answer_state {
    ANSWER_NONE,
    ANSWER_STREAM,
    ANSWER_COMPLETE /* fully queued: the exchange ends when the queue is sent */
};

struct http_exchange {
    struct conn
        *conn; /* referenced even after the end, when it is closed or serves another exchange */
    struct http_request request;
    struct arena arena;
    struct buf body;
    struct {
        struct share *share;
        size_t max_bytes;
        const char *rule;
    } charges[HTTP_CHARGES_MAX]; /* the owners of the body */
    size_t n_charges;            /* 0: the body is charged to the address */
    void *data;
    void (*on_end)(struct http_exchange *x);
    void (*on_body)(struct http_exchange *x, struct str body);
    void (*on_run)(struct http_exchange *x, struct str run, bool last);
    struct http_stream_hooks hooks;
    struct ws *ws;      /* NULL: HTTP */
    uint64_t ending_ms; /* when the last bytes were queued; 0: not yet */
    unsigned refs;
    uint8_t answer;
    bool ended;
    bool keep_alive;
    bool is_head;
    bool mute;     /* the bytes of the stream are not sent: HEAD, 204, 304 */
    bool chunked;  /* the answer */
    bool is_sized; /* the stream has a length, of which `left` bytes are missing */
    uint64_t left;
    bool unsent; /* on_writable must be called when the queue is empty */
    bool ends_on_eof;
};

/* --- conn.c: life and state ----------------------------------------------------------------- */
/* Takes over the reference to the share, which already counts the connection. With an `excess` the
 * connection is above a limit: it is refused for this reason. */
void conn_open(struct shard *shard, int fd, struct share *address, const char *excess);
void conn_ref(struct conn *c);
void conn_unref(struct conn *c);
/* Closes at once and ends the exchange. Does nothing if the connection is closed. */
void conn_close(struct conn *c);
/* The last answer is sent: closes in a way that lets the peer read it. */
void conn_finish(struct conn *c);
/* Sends the refusal on behalf of the application and closes. */
void conn_refuse(struct conn *c, struct http_refusal refusal);
/* Sets poll events and deadline according to the state. */
void conn_update(struct conn *c);
/* Calls `act` for each connection of the shard; `act` may close any of them. */
void conn_each(struct shard *shard, void (*act)(struct conn *c));
void conn_drain(struct conn *c);

/* --- conn_read.c ---------------------------------------------------------------------------- */
bool conn_wants_read(const struct conn *c);
void conn_read(struct conn *c);
void conn_pump(struct conn *c);

/* --- conn_write.c --------------------------------------------------------------------------- */
/* Returns the queue for more output. If it was empty, the stall timeout starts now. */
struct outqueue *conn_output(struct conn *c);
void conn_flush(struct conn *c);
/* Flushes the queue before the loop sleeps again. */
void conn_mark_dirty(struct conn *c);
/* Plain or TLS. These return a number of bytes, 0 at the end of the input (receive only), or one of
 * the enum. */
enum { IO_AGAIN = -1, IO_BROKEN = -2 };
ssize_t conn_receive(struct conn *c, char *place, size_t room);
/* Sends from the front of the queue without removing anything. */
ssize_t conn_send(struct conn *c);

/* --- conn_time.c ---------------------------------------------------------------------------- */
uint64_t conn_next_deadline(const struct conn *c);
void conn_on_deadline(struct conn *c);

/* --- tls.c ---------------------------------------------------------------------------------- */
struct tls *tls_create(
    struct str certificate, struct str key, struct arena *arena, struct str *out_why);
void tls_destroy(struct tls *t); /* accepts NULL */
SSL *tls_accept(struct tls *t, int fd);
/* Returns 1 when done, IO_AGAIN or IO_BROKEN. */
int tls_handshake(struct conn *c);
ssize_t tls_receive(struct conn *c, char *place, size_t room);
ssize_t tls_send(struct conn *c, const struct iovec *pieces, size_t n);
/* Sends the closing alert if the socket accepts it at once. */
void tls_say_goodbye(struct conn *c);

/* --- exchange.c ----------------------------------------------------------------------------- */
struct http_exchange *exchange_create(void);
void exchange_unref(struct http_exchange *x);
void exchange_begin(struct http_exchange *x, struct conn *c);
/* Stores more of the body. Returns false if the server, or its owner, already stores too much. */
MUST_CHECK bool exchange_collect(
    struct http_exchange *x, struct str run, struct http_refusal *out_refusal);
void exchange_free_body(struct http_exchange *x);
/* Separates the exchange from its connection and calls on_end, exactly once. */
void exchange_end(struct http_exchange *x);
/* The answer has been sent completely. */
void exchange_finish(struct http_exchange *x);
/* Discards the rest of the body; may clear keep_alive. */
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
    bool may_retry; /* adds Retry-After */
};
/* The text is in the shard's buffer and valid until the next call. */
struct str reply_head_text(struct shard *shard, const struct reply_head *head);
bool reply_has_body(int status);

/* --- stream.c ------------------------------------------------------------------------------- */
/* Frees the memory of the request, because a subscriber may stay for hours. */
void stream_begin(struct http_exchange *x, const struct http_stream_hooks *hooks);
/* Returns true if the stream is open and its queue has room for `size` more bytes. */
bool stream_takes(const struct http_exchange *x, size_t size);
/* Queues the bytes with a reference of its own. Returns false if the stream does not take them. */
MUST_CHECK bool stream_send(struct http_exchange *x, struct http_shared *s);
void stream_drain(struct http_exchange *x);

/* --- ws.c ----------------------------------------------------------------------------------- */
bool ws_step(struct http_exchange *x);
uint64_t ws_next_deadline(const struct http_exchange *x);
void ws_on_deadline(struct http_exchange *x);
void ws_destroy(struct ws *ws); /* accepts NULL */

#endif
