/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener: sockets, TLS, HTTP/1.1 exchanges, streamed answers and WebSocket, on one or more
 * loops. It knows bytes and deadlines, not the domain. The application gets each request when its
 * head is complete, and answers now or later, always on the exchange's loop.
 *
 * Life of an exchange: on_request → (body) → answer → on_end, exactly once, whether the answer was
 * sent whole, the client went away or a deadline passed. The exchange's memory lives until on_end
 * has run and every hold is released; after on_end every call that would send does nothing.
 * Requests of one connection are handled one after the other, in order.
 * When a call answers, the exchange may have ended by the time it returns: hold it to use it after.
 */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include "net/http.h"
#include "net/loop.h"

struct http_server;
struct http_exchange;

struct http_server_config {
    struct str host;            /* address or name to listen on: "127.0.0.1" */
    uint16_t port;              /* 0, the default: any free one */
    unsigned loops;             /* 1 */
    struct str tls_certificate; /* PEM files; both or neither */
    struct str tls_key;
    struct http_limits limits; /* head 32 KiB, target 8 KiB, 100 headers, body 16 MiB */
    size_t max_connections;    /* further ones get 503 and are closed: 16,384 */
    /* From the first byte, or from accept, to the end of the head: 10 s. */
    uint32_t head_timeout_ms;
    uint32_t idle_timeout_ms; /* between requests of a connection: 75 s */
    /* Without progress while a body is read or an answer is written: 30 s. */
    uint32_t stall_timeout_ms;
    /* Bytes a second, averaged, after a grace of stall_timeout_ms; 512, and 0 for any. */
    uint32_t min_body_rate;
    size_t collected_max_bytes; /* of bodies being read whole, all together; further ones get 503 */
    size_t stream_max_bytes;    /* queued for one subscriber before it is closed: 1 MiB */
    /* What peers have not taken yet, all together: past 256 MiB, those go who wait the longest. */
    size_t unsent_max_bytes;
    size_t ws_message_bytes; /* largest message that a client may send: 1 MiB */
    uint32_t ws_ping_ms;     /* 30 s; a peer without a pong for two periods is dropped; 0: never */
};

void http_server_config_init(struct http_server_config *config); /* the documented defaults */

/* The application; all are called on the exchange's loop. */
struct http_app {
    void *data;
    /* The head is read. Call one of http_exchange_read_body, http_exchange_stream_body,
     * http_exchange_reply, http_stream_start, ws_accept: at once or after a hold. */
    void (*on_request)(struct http_exchange *x, void *data);
    /* A malformed, oversized or late request, or one connection too many (503): the application
     * words the answer's body, and gives the headers of all of them. NULL: the rule as plain text.
     */
    struct str (*word_refusal)(struct arena *arena, const struct http_refusal *refusal, void *data);
    const struct http_header *refusal_headers;
    size_t n_refusal_headers;
};

/* On failure `out_why` (in the arena) says what could not be done: bind, certificate … */
MUST_CHECK bool http_server_create(const struct http_server_config *config,
    const struct http_app *app, struct arena *arena, struct http_server **out_server,
    struct str *out_why);
uint16_t http_server_port(const struct http_server *s);
size_t http_server_loop_count(const struct http_server *s);
struct loop *http_server_loop(struct http_server *s, size_t index);
void http_server_start(struct http_server *s);
/*
 * Any thread but a loop's. Stops accepting, lets running exchanges end (streams get their
 * `on_drain_out`, or are ended if they have none), and closes what is left after `grace_ms`.
 * Returns when every connection is closed.
 */
void http_server_drain(struct http_server *s, uint32_t grace_ms);
/* After drain: ends the loops' threads. Holds must have been released. */
void http_server_destroy(struct http_server *s);

struct http_server_stats {
    uint64_t connections_open;
    uint64_t connections_total;
    uint64_t requests_total;
    uint64_t refused_total;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t shed_total; /* connections closed because of unsent_max_bytes */
};
/* Any thread. */
struct http_server_stats http_server_stats(const struct http_server *s);

/* --- One exchange --------------------------------------------------------------------------- */

const struct http_request *http_exchange_request(const struct http_exchange *x);
/* The exchange's arena. Its budget is 16 MiB, and 16 times http_exchange_read_body's limit on top.
 */
struct arena *http_exchange_arena(struct http_exchange *x);
struct loop *http_exchange_loop(const struct http_exchange *x);
/* Numeric address of the other side. */
struct str http_exchange_peer(const struct http_exchange *x);
bool http_exchange_is_tls(const struct http_exchange *x);
void http_exchange_set_data(struct http_exchange *x, void *data);
void *http_exchange_data(const struct http_exchange *x);
/* Called once when the exchange has ended; see above. */
void http_exchange_on_end(struct http_exchange *x, void (*on_end)(struct http_exchange *x));
/* False once the exchange has ended. */
bool http_exchange_is_open(const struct http_exchange *x);
/* A hold keeps the memory while another thread works for the exchange; release on the loop. */
void http_exchange_hold(struct http_exchange *x);
void http_exchange_release(struct http_exchange *x);

/* Reads the whole body, then calls back, maybe before this returns; a body over the limit is
 * answered 413 without a call. The body lives as long as the exchange's arena. */
void http_exchange_read_body(struct http_exchange *x, size_t limit_bytes,
    void (*on_body)(struct http_exchange *x, struct str body));

/* From now on a client that closes its sending side has left: nobody waits for the answer. For
 * answers that may take long. Ends the exchange at once when it has done so already. */
void http_exchange_end_on_eof(struct http_exchange *x);

/* Gives the body in runs as it arrives, `last` with the final one. Between http_exchange_pause_body
 * and http_exchange_resume_body nothing is read from the socket, so the sender feels the
 * back-pressure; they hold back a WebSocket's messages as well. */
void http_exchange_stream_body(struct http_exchange *x, uint64_t limit_bytes,
    void (*on_run)(struct http_exchange *x, struct str run, bool last));
void http_exchange_pause_body(struct http_exchange *x);
void http_exchange_resume_body(struct http_exchange *x);

struct http_answer {
    int status;
    /* Content-Length, Transfer-Encoding, Date and Connection are the layer's. Control characters in
     * a value are sent as blanks. */
    const struct http_header *headers;
    size_t n_headers;
    struct str body; /* lives until on_end; HEAD and 304 send its length but not the body */
};
void http_exchange_reply(struct http_exchange *x, const struct http_answer *answer);

/* --- Streamed answers (SSE, downloads) --------------------------------------------------------
 * Chunked on HTTP/1.1, until close on HTTP/1.0. When http_stream_start or ws_accept returns, the
 * request's strings, the collected body and everything in the exchange's arena are gone: a
 * subscriber costs about 1 KiB while it idles. The arena is empty and may be used; whoever does
 * clears it. What is sent in one turn of the loop goes out together at its end. A client that
 * closes its sending side has left. For HEAD the bytes are dropped. */

/* Bytes that many exchanges send; immutable, reference-counted, any thread. */
struct http_shared;
struct http_shared *http_shared_create(struct str bytes);
/* The same bytes as one unmasked, final WebSocket text message. */
struct http_shared *http_shared_create_message(struct str text);
struct http_shared *http_shared_ref(struct http_shared *s);
void http_shared_unref(struct http_shared *s); /* accepts NULL */

struct http_stream_hooks {
    /* The queue has become empty after it was not. */
    void (*on_writable)(struct http_exchange *x);
    /* The server drains: say goodbye and end the stream. */
    void (*on_drain_out)(struct http_exchange *x);
};
void http_stream_start(struct http_exchange *x, int status, const struct http_header *headers,
    size_t n_headers, const struct http_stream_hooks *hooks);
/* An answer of known length: it ends with its last byte, and a peer may take it as slowly as the
 * stall timeout allows. What is sent must come to exactly `length`; http_exchange_abort where it
 * cannot. A client that closes its sending side is still served, and a drain lets it go on. For
 * HEAD, and of no length, it is complete at once. */
void http_stream_start_sized(struct http_exchange *x, int status, const struct http_header *headers,
    size_t n_headers, uint64_t length, const struct http_stream_hooks *hooks);
/* Closes the connection: the peer sees an answer that was cut off. */
void http_exchange_abort(struct http_exchange *x);
/* True when queued. False when the queue would pass stream_max_bytes, or the exchange is ending or
 * has ended: nothing was queued. */
MUST_CHECK bool http_stream_send(struct http_exchange *x, struct str bytes);
MUST_CHECK bool http_stream_send_shared(struct http_exchange *x, struct http_shared *s);
size_t http_stream_queued(const struct http_exchange *x);
/* Ends the answer once the queue is sent; `last_words` may pass the limit, and a peer that does not
 * take it within a few seconds is cut off. */
void http_stream_end(struct http_exchange *x, struct str last_words);

/* --- WebSocket (RFC 6455) ------------------------------------------------------------------- */

struct ws_hooks {
    struct http_stream_hooks stream;
    /* One whole message; text has been checked to be UTF-8. */
    void (*on_message)(struct http_exchange *x, struct str message, bool text);
};
/* Whether the request is a well-formed WebSocket handshake; `out_rule` says why not. Asked before
 * ws_accept. */
bool ws_is_handshake(const struct http_exchange *x, const char **out_rule);
/* Answers 101; `protocol` (STR_NONE for none) goes into Sec-WebSocket-Protocol. */
void ws_accept(struct http_exchange *x, struct str protocol, const struct http_header *headers,
    size_t n_headers, const struct ws_hooks *hooks);
/* As http_stream_send, one text message each. */
MUST_CHECK bool ws_send_text(struct http_exchange *x, struct str text);
MUST_CHECK bool ws_send_shared(struct http_exchange *x, struct http_shared *framed);
/* Ends the messages both ways; on_end follows when the peer has answered, or after a few seconds. A
 * reason that does not fit into a close frame is cut at a character. */
void ws_close(struct http_exchange *x, uint16_t code, struct str reason);

#endif
