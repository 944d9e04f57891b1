/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener: sockets, TLS, HTTP/1.1 exchanges, streamed answers and WebSocket, on one or more
 * loops. It handles bytes and deadlines and knows nothing of the domain. The application receives
 * each request when its head is complete, and answers now or later, always on the exchange's loop.
 *
 * Life of an exchange: on_request → (body) → answer → on_end. on_end is called exactly once, when
 * the answer has been sent, the client has left or a deadline has passed. The memory of the
 * exchange is freed after on_end, when every hold is released; after on_end, functions that send
 * do nothing. The requests of one connection are handled one after the other, in order. An
 * exchange may end inside a function that answers: hold it to use it afterwards.
 */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include "base/uuid.h"
#include "net/http.h"
#include "net/loop.h"

struct http_server;
struct http_exchange;
struct http_answer;

struct http_server_config {
    struct str host;            /* address or name to listen on: "127.0.0.1" */
    uint16_t port;              /* 0, the default: any free port */
    unsigned loops;             /* 1 */
    struct str tls_certificate; /* PEM files; both or neither */
    struct str tls_key;
    struct http_limits limits; /* head 32 KiB, target 8 KiB, 100 headers, body 16 MiB */
    size_t max_connections;    /* 16,384; further connections receive 503 and are closed */
    /* The same for one address, of IPv6 for the first 64 bits; 0, the default: no limit, also not
     * for the bodies of one address. */
    size_t max_per_address;
    bool limits_loopback; /* false: loopback addresses have no limit, as a local proxy uses one */
    /* Time from the first byte, or from accept, to the end of the head: 10 s. */
    uint32_t head_timeout_ms;
    uint32_t idle_timeout_ms; /* between requests of a connection: 75 s */
    /* Time without progress while a body is read or an answer is written: 30 s. */
    uint32_t stall_timeout_ms;
    /* Average bytes per second after stall_timeout_ms: 512; 0: no minimum. */
    uint32_t min_body_rate;
    /* From the start to the end of a body that is read whole: 10 min. */
    uint32_t body_timeout_ms;
    /* Of all bodies that are read whole, until their exchange ends: 256 MiB; further requests
     * receive 503. Bodies that are not charged to an owner may have a quarter of it for each
     * address; further ones receive 429. */
    size_t collected_max_bytes;
    size_t stream_max_bytes; /* queued output at which a subscriber is closed: 1 MiB */
    /* Unsent output of all connections: above 256 MiB the slowest connections are closed. */
    size_t unsent_max_bytes;
    size_t ws_message_bytes; /* largest message from a client: 1 MiB */
    uint32_t ws_ping_ms;     /* 30 s; a peer without a pong for two periods is closed; 0: never */
};

void http_server_config_init(struct http_server_config *config); /* the documented defaults */

/* The application. All functions are called on the exchange's loop. */
struct http_app {
    void *data;
    /* The head has been read. The application calls one of http_exchange_read_body,
     * http_exchange_stream_body, http_exchange_reply, http_stream_start and ws_accept, at once or
     * after a hold. */
    void (*on_request)(struct http_exchange *x, void *data);
    /* Returns the body and the headers of the answer to a malformed, oversized or late request, or
     * to a connection above the maximum (503). Of the request only the headers and the host are
     * known, as far as they have arrived. NULL: the answer is the rule as plain text. */
    struct http_answer (*word_refusal)(struct arena *arena, const struct http_refusal *refusal,
        const struct http_request *request, void *data);
};

/* On failure `out_why`, in the arena, is the reason: bind, certificate … */
MUST_CHECK bool http_server_create(const struct http_server_config *config,
    const struct http_app *app, struct arena *arena, struct http_server **out_server,
    struct str *out_why);
uint16_t http_server_port(const struct http_server *s);
bool http_server_is_tls(const struct http_server *s);
size_t http_server_loop_count(const struct http_server *s);
struct loop *http_server_loop(struct http_server *s, size_t index);
void http_server_start(struct http_server *s);
/*
 * Any thread but a loop's. Stops accepting, lets running exchanges end (on_drain_out is called for
 * streams, and streams without it are ended), and closes the remaining connections after
 * `grace_ms`. Returns when every connection is closed.
 */
void http_server_drain(struct http_server *s, uint32_t grace_ms);
/* After drain: ends the threads of the loops. All holds must have been released. */
void http_server_destroy(struct http_server *s);

struct http_server_stats {
    uint64_t connections_open;
    uint64_t connections_total;
    uint64_t requests_total;
    uint64_t refused_total;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t shed_total;   /* connections closed because of unsent_max_bytes */
    uint64_t excess_total; /* connections above max_connections or max_per_address */
};
/* Any thread. */
struct http_server_stats http_server_stats(const struct http_server *s);

/* --- One exchange --------------------------------------------------------------------------- */

const struct http_request *http_exchange_request(const struct http_exchange *x);
/* The arena of the exchange. Its budget is 16 MiB plus 16 times the limit of
 * http_exchange_read_body. */
struct arena *http_exchange_arena(struct http_exchange *x);
struct loop *http_exchange_loop(const struct http_exchange *x);
bool http_exchange_is_tls(const struct http_exchange *x);
void http_exchange_set_data(struct http_exchange *x, void *data);
void *http_exchange_data(const struct http_exchange *x);
/* Sets the function that is called once when the exchange has ended; see above. */
void http_exchange_on_end(struct http_exchange *x, void (*on_end)(struct http_exchange *x));
/* Returns false after the exchange has ended. */
bool http_exchange_is_open(const struct http_exchange *x);
/* A hold keeps the memory while another thread works for the exchange. Release it on the loop. */
void http_exchange_hold(struct http_exchange *x);
void http_exchange_release(struct http_exchange *x);

/* Data of the application that belongs to the connection: every later exchange of the connection
 * has it. `destroy` is called on the loop, once, when the connection is closed and no exchange of
 * it is held any more. Set it once for each connection. */
void http_exchange_set_connection_data(
    struct http_exchange *x, void *data, void (*destroy)(void *data));
void *http_exchange_connection_data(const struct http_exchange *x); /* NULL: not set */

/* An owner of the body of an exchange, and its limit: collected_max_bytes / divisor. */
struct http_charge {
    struct uuid owner;
    size_t divisor;
    const char *rule; /* the detail of the 429 above the limit */
};
enum { HTTP_CHARGES_MAX = 2 };
/* Charges the body to these owners instead of to the address. Before http_exchange_read_body. */
void http_exchange_charge(struct http_exchange *x, const struct http_charge *charges, size_t n);

/* Reads the whole body, then calls on_body, possibly before this returns. A body above the limit is
 * answered with 413 and on_body is not called. The body lives as long as the exchange's arena. */
void http_exchange_read_body(struct http_exchange *x, size_t limit_bytes,
    void (*on_body)(struct http_exchange *x, struct str body));

/* From now on the exchange ends when the client closes its sending side, at once if it already has.
 * For answers that may take long: the client no longer waits for them. */
void http_exchange_end_on_eof(struct http_exchange *x);

/* Calls on_run for each part of the body as it arrives, with `last` for the final one. Between
 * http_exchange_pause_body and http_exchange_resume_body nothing is read from the socket, so that
 * the client has to wait. These two also hold back the messages of a WebSocket. */
void http_exchange_stream_body(struct http_exchange *x, uint64_t limit_bytes,
    void (*on_run)(struct http_exchange *x, struct str run, bool last));
void http_exchange_pause_body(struct http_exchange *x);
void http_exchange_resume_body(struct http_exchange *x);

struct http_answer {
    int status;
    /* Without Content-Length, Transfer-Encoding, Date and Connection, which this layer adds.
     * Control characters in a value are sent as blanks. */
    const struct http_header *headers;
    size_t n_headers;
    struct str body; /* valid until on_end; HEAD and 304 send its length but not the body */
    bool closes;     /* the connection is closed after the answer */
};
void http_exchange_reply(struct http_exchange *x, const struct http_answer *answer);

/* --- Streamed answers (SSE, downloads) --------------------------------------------------------
 * Chunked on HTTP/1.1, until close on HTTP/1.0. When http_stream_start or ws_accept returns, the
 * request's strings, the collected body and everything in the exchange's arena have been freed: an
 * idle subscriber costs about 1 KiB. The arena is empty and may be used; its user clears it. The
 * output of one turn of the loop is sent together at its end. The exchange ends when the client
 * closes its sending side. For HEAD the bytes are dropped. */

/* Bytes that many exchanges send: immutable, reference-counted, for any thread. */
struct http_shared;
struct http_shared *http_shared_create(struct str bytes);
/* The same bytes as one unmasked, final WebSocket text message. */
struct http_shared *http_shared_create_message(struct str text);
struct http_shared *http_shared_ref(struct http_shared *s);
void http_shared_unref(struct http_shared *s); /* accepts NULL */

struct http_stream_hooks {
    /* The queue was sent and is empty again. */
    void (*on_writable)(struct http_exchange *x);
    /* The server drains: the stream should send its last bytes and end. */
    void (*on_drain_out)(struct http_exchange *x);
};
void http_stream_start(struct http_exchange *x, int status, const struct http_header *headers,
    size_t n_headers, const struct http_stream_hooks *hooks);
/* An answer of known length: it ends with its last byte, and the client may read as slowly as the
 * stall timeout allows. Exactly `length` bytes must be sent; call http_exchange_abort if that is
 * impossible. A client that closes its sending side is still served, and a drain lets the answer
 * finish. For HEAD, and for a length of 0, the answer is complete at once. */
void http_stream_start_sized(struct http_exchange *x, int status, const struct http_header *headers,
    size_t n_headers, uint64_t length, const struct http_stream_hooks *hooks);
/* Closes the connection; the client sees a truncated answer. */
void http_exchange_abort(struct http_exchange *x);
/* Returns true if the bytes are queued. Returns false, and queues nothing, if the queue would
 * exceed stream_max_bytes, or if the exchange is ending or has ended. */
MUST_CHECK bool http_stream_send(struct http_exchange *x, struct str bytes);
MUST_CHECK bool http_stream_send_shared(struct http_exchange *x, struct http_shared *s);
size_t http_stream_queued(const struct http_exchange *x);
/* Ends the answer when the queue is sent. `last_words` may exceed the limit. A client that does not
 * read them within a few seconds is disconnected. */
void http_stream_end(struct http_exchange *x, struct str last_words);

/* --- WebSocket (RFC 6455) ------------------------------------------------------------------- */

struct ws_hooks {
    struct http_stream_hooks stream;
    /* One whole message. Text has been checked to be UTF-8. */
    void (*on_message)(struct http_exchange *x, struct str message, bool text);
};
/* Returns true if the request is a well-formed WebSocket handshake, else `out_rule` is the reason.
 * Call this before ws_accept. */
bool ws_is_handshake(const struct http_exchange *x, const char **out_rule);
/* Answers 101. `protocol`, unless STR_NONE, is sent as Sec-WebSocket-Protocol. */
void ws_accept(struct http_exchange *x, struct str protocol, const struct http_header *headers,
    size_t n_headers, const struct ws_hooks *hooks);
/* As http_stream_send, with one text message each. */
MUST_CHECK bool ws_send_text(struct http_exchange *x, struct str text);
MUST_CHECK bool ws_send_shared(struct http_exchange *x, struct http_shared *framed);
/* Ends the messages in both directions. on_end is called when the peer has answered, or after a few
 * seconds. A reason that does not fit into a close frame is cut at a character. */
void ws_close(struct http_exchange *x, uint16_t code, struct str reason);

#endif
