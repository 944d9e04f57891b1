/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets are non-blocking, and every wait is one poll() on the socket and the interrupt. OpenSSL
 * states which event it needs, so one loop (wait_for) serves connecting, sending and receiving.
 */
#include "net/client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "net/tls_socket.h"

enum {
    HEAD_MAX_BYTES = 64 * 1024,
    PIECE_BYTES = 64 * 1024,
    WHY_MAX_BYTES = 2048,
    CONNECT_TIMEOUT_MS = 10000,
    ANSWER_TIMEOUT_MS = 75000, /* a long poll may take 60 seconds */
    BODY_MAX_BYTES = 64 * 1024 * 1024,
    US_PER_MS = 1000,
};

struct http_client {
    struct http_client_config config;
    const char *host; /* NUL-terminated, in `memory` */
    struct arena memory;
    SSL_CTX *context;
    BIO_METHOD *socket_method;
    int fd; /* -1: not connected */
    SSL *tls;
    struct buf in; /* received; processed up to `taken` */
    size_t taken;
    struct http_body body;
    bool in_body;
    bool until_end; /* the body ends with the connection */
    bool keep;      /* the connection can be used again after the body */
    int64_t deadline_us;
    struct buf why;
};

void http_client_config_init(struct http_client_config *config)
{
    *config = (struct http_client_config){.port = 80,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .answer_timeout_ms = ANSWER_TIMEOUT_MS,
        .max_body_bytes = BODY_MAX_BYTES,
        .interrupt_fd = -1};
}

/* --- Failing -------------------------------------------------------------------------------- */

static enum client_result fail(
    struct http_client *c, enum client_result result, const char *format, ...) PRINTF_LIKE(3, 4);
static enum client_result fail(
    struct http_client *c, enum client_result result, const char *format, ...)
{
    va_list args;
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(WHY_MAX_BYTES);
    va_start(args, format);
    buf_reset(&c->why);
    buf_append(&c->why, arena_vprintf(&arena, format, args));
    va_end(args);
    http_client_close(c);
    return result;
}

static enum client_result fail_connecting(struct http_client *c, const char *why)
{
    bool v6 = strchr(c->host, ':') != NULL;
    return fail(c, CLIENT_UNREACHABLE, "cannot connect to %s%s%s:%u: %s", v6 ? "[" : "", c->host,
        v6 ? "]" : "", c->config.port, why);
}

struct str http_client_why(const struct http_client *c)
{
    return buf_str(&c->why);
}

void http_client_close(struct http_client *c)
{
    SSL_free(c->tls);
    fd_close(c->fd);
    c->tls = NULL;
    c->fd = -1;
    c->in_body = false;
    c->taken = 0;
    buf_reset(&c->in);
}

/* --- Waiting -------------------------------------------------------------------------------- */

/* CLIENT_OK, CLIENT_TIMED_OUT or CLIENT_INTERRUPTED. */
static enum client_result wait_for(struct http_client *c, short events, int64_t deadline_us)
{
    struct pollfd fds[] = {{c->fd, events, 0}, {c->config.interrupt_fd, POLLIN, 0}};
    for (;;) {
        int64_t left_ms = (deadline_us - clock_steady_us()) / US_PER_MS;
        int ready = poll(fds, 2, left_ms > 0 ? (int)left_ms : 0);
        if (ready > 0)
            return fds[1].revents != 0 ? CLIENT_INTERRUPTED : CLIENT_OK;
        if (ready == 0)
            return CLIENT_TIMED_OUT;
        if (errno != EINTR)
            return CLIENT_TIMED_OUT;
    }
}

/* A stream that never pauses would otherwise never notice the interrupt. */
static bool is_interrupted(const struct http_client *c)
{
    struct pollfd fd = {c->config.interrupt_fd, POLLIN, 0};
    return poll(&fd, 1, 0) > 0;
}

static int64_t deadline_in(const struct http_client *c, uint32_t timeout_ms)
{
    int64_t deadline_us = clock_steady_us() + (int64_t)timeout_ms * US_PER_MS;
    return deadline_us < c->deadline_us ? deadline_us : c->deadline_us;
}

void http_client_set_deadline(struct http_client *c, int64_t deadline_us)
{
    c->deadline_us = deadline_us;
}

void http_client_set_answer_timeout(struct http_client *c, uint32_t timeout_ms)
{
    c->config.answer_timeout_ms = timeout_ms;
}

/* Returns the event that OpenSSL needs; 0 if it has failed. */
static short tls_wants(struct http_client *c, int returned)
{
    switch (SSL_get_error(c->tls, returned)) {
    case SSL_ERROR_WANT_READ:
        return POLLIN;
    case SSL_ERROR_WANT_WRITE:
        return POLLOUT;
    default:
        return 0;
    }
}

/* --- Connecting ----------------------------------------------------------------------------- */

static enum client_result connect_address(
    struct http_client *c, const struct addrinfo *address, int64_t deadline_us, int *out_errno)
{
    int one = 1, failure = 0;
    socklen_t len = sizeof failure;
    c->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        *out_errno = errno;
        return CLIENT_UNREACHABLE;
    }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(c->fd, address->ai_addr, address->ai_addrlen) == 0)
        return CLIENT_OK;
    *out_errno = errno;
    if (errno != EINPROGRESS)
        return CLIENT_UNREACHABLE;
    enum client_result waited = wait_for(c, POLLOUT, deadline_us);
    *out_errno = ETIMEDOUT;
    if (waited != CLIENT_OK)
        return waited;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &failure, &len);
    *out_errno = failure;
    return failure == 0 ? CLIENT_OK : CLIENT_UNREACHABLE;
}

/* Each address gets its share of the time, so that a silent one leaves time for the next. */
static enum client_result connect_any(
    struct http_client *c, const struct addrinfo *addresses, int64_t deadline_us)
{
    int failure = EADDRNOTAVAIL;
    int64_t n_left = 0;
    for (const struct addrinfo *a = addresses; a != NULL; a = a->ai_next)
        n_left++;
    for (const struct addrinfo *a = addresses; a != NULL; a = a->ai_next, n_left--) {
        int64_t now_us = clock_steady_us();
        int64_t part_us = (deadline_us - now_us) / n_left;
        enum client_result connected = connect_address(c, a, now_us + part_us, &failure);
        if (connected == CLIENT_OK)
            return CLIENT_OK;
        if (connected == CLIENT_INTERRUPTED)
            return fail(c, CLIENT_INTERRUPTED, "interrupted");
        http_client_close(c);
    }
    return fail_connecting(c, strerror(failure));
}

static const char *tls_why(struct http_client *c)
{
    long verdict = SSL_get_verify_result(c->tls);
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    if (verdict != X509_V_OK)
        return X509_verify_cert_error_string(verdict);
    return reason != NULL ? reason : "the connection ended during the TLS handshake";
}

static bool set_name(SSL *tls, const char *host)
{
    X509_VERIFY_PARAM *rules = SSL_get0_param(tls);
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1)
        return true;
    return SSL_set_tlsext_host_name(tls, host) == 1 && SSL_set1_host(tls, host) == 1;
}

static enum client_result shake_hands(struct http_client *c, int64_t deadline_us)
{
    c->tls = SSL_new(c->context);
    if (c->tls == NULL)
        mem_exhausted(sizeof(void *));
    BIO *bio = tls_socket_bio(c->socket_method, c->fd);
    SSL_set_bio(c->tls, bio, bio);
    if (!set_name(c->tls, c->host))
        return fail_connecting(c, "the name cannot be checked against a certificate");
    for (;;) {
        ERR_clear_error();
        int done = SSL_connect(c->tls);
        if (done == 1)
            return CLIENT_OK;
        short wants = tls_wants(c, done);
        if (wants == 0)
            return fail_connecting(c, tls_why(c));
        enum client_result waited = wait_for(c, wants, deadline_us);
        if (waited == CLIENT_INTERRUPTED)
            return fail(c, CLIENT_INTERRUPTED, "interrupted");
        if (waited != CLIENT_OK)
            return fail_connecting(c, "the TLS handshake took too long");
    }
}

static enum client_result connect_client(struct http_client *c)
{
    int64_t deadline_us = deadline_in(c, c->config.connect_timeout_ms);
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)c->config.port);
    int failure = getaddrinfo(c->host, port, &hints, &addresses);
    if (failure == EAI_NONAME || failure == EAI_ADDRFAMILY) { /* AI_ADDRCONFIG ignores loopback */
        hints.ai_flags = AI_NUMERICSERV;
        failure = getaddrinfo(c->host, port, &hints, &addresses);
    }
    if (failure != 0)
        return fail_connecting(c, gai_strerror(failure));
    enum client_result connected = connect_any(c, addresses, deadline_us);
    freeaddrinfo(addresses);
    if (connected != CLIENT_OK || !c->config.tls)
        return connected;
    return shake_hands(c, deadline_us);
}

/* Returns true if the server has closed an idle connection. */
static bool is_stale(struct http_client *c)
{
    struct pollfd fd = {c->fd, POLLIN, 0};
    return poll(&fd, 1, 0) != 0;
}

/* --- Sending and receiving ------------------------------------------------------------------ */

/* One attempt: returns the bytes sent, or -1 with the event to wait for in `out_wants` (0: broken).
 * */
static ssize_t try_send(struct http_client *c, struct str bytes, short *out_wants)
{
    size_t sent;
    *out_wants = 0;
    if (c->tls != NULL) {
        ERR_clear_error();
        int done = SSL_write_ex(c->tls, bytes.ptr, bytes.len, &sent);
        if (done == 1)
            return (ssize_t)sent;
        *out_wants = tls_wants(c, done);
        return -1;
    }
    ssize_t moved = send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR))
        *out_wants = POLLOUT;
    return moved;
}

static ssize_t try_receive(struct http_client *c, char *place, size_t room, short *out_wants)
{
    size_t got;
    *out_wants = 0;
    if (c->tls != NULL) {
        ERR_clear_error();
        int done = SSL_read_ex(c->tls, place, room, &got);
        if (done == 1)
            return (ssize_t)got;
        if (SSL_get_error(c->tls, done) == SSL_ERROR_ZERO_RETURN)
            return 0;
        *out_wants = tls_wants(c, done);
        return -1;
    }
    ssize_t moved = recv(c->fd, place, room, 0);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR))
        *out_wants = POLLIN;
    return moved;
}

static enum client_result send_all(struct http_client *c, struct str bytes, int64_t deadline_us)
{
    while (bytes.len > 0) {
        short wants;
        ssize_t sent = try_send(c, bytes, &wants);
        if (sent >= 0) {
            bytes = str_slice(bytes, (size_t)sent, bytes.len);
            continue;
        }
        enum client_result waited = wants == 0 ? CLIENT_LOST : wait_for(c, wants, deadline_us);
        if (waited == CLIENT_INTERRUPTED)
            return fail(c, waited, "interrupted");
        /* A server that refuses a request early answers before it has read everything. */
        if (waited == CLIENT_LOST && c->tls == NULL)
            return CLIENT_OK;
        if (waited != CLIENT_OK)
            return fail(c, CLIENT_LOST, "the connection to the server was lost");
    }
    return CLIENT_OK;
}

/* Appends received bytes to `in`. An empty run means that the connection has ended. */
static enum client_result receive(struct http_client *c, int64_t deadline_us, size_t *out_got)
{
    if (c->taken == c->in.len) {
        buf_reset(&c->in);
        c->taken = 0;
    }
    if (is_interrupted(c))
        return fail(c, CLIENT_INTERRUPTED, "interrupted");
    char *place = buf_reserve(&c->in, PIECE_BYTES);
    if (place == NULL)
        return fail(c, CLIENT_MALFORMED, "the answer is too large");
    for (;;) {
        short wants;
        ssize_t got = try_receive(c, place, PIECE_BYTES, &wants);
        if (got >= 0) {
            buf_advance(&c->in, (size_t)got);
            *out_got = (size_t)got;
            return CLIENT_OK;
        }
        enum client_result waited = wants == 0 ? CLIENT_LOST : wait_for(c, wants, deadline_us);
        if (waited == CLIENT_INTERRUPTED)
            return fail(c, waited, "interrupted");
        if (waited == CLIENT_LOST)
            return fail(c, waited, "the connection to the server was lost");
        if (waited == CLIENT_TIMED_OUT)
            return waited;
    }
}

/* --- One exchange --------------------------------------------------------------------------- */

static struct str head_of(
    struct http_client *c, const struct client_request *r, struct arena *arena)
{
    struct buf head CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    bool v6 = strchr(c->host, ':') != NULL;
    buf_printf(&head, "%.*s %.*s HTTP/1.1\r\nHost: %s%s%s:%u\r\n", STR_ARG(r->method),
        STR_ARG(r->target), v6 ? "[" : "", c->host, v6 ? "]" : "", (unsigned)c->config.port);
    for (size_t i = 0; i < r->n_headers; i++)
        buf_printf(
            &head, "%.*s: %.*s\r\n", STR_ARG(r->headers[i].name), STR_ARG(r->headers[i].value));
    if (r->source != NULL && !r->source->has_size)
        buf_append(&head, STR("Transfer-Encoding: chunked\r\n"));
    else if (r->source != NULL)
        buf_printf(&head, "Content-Length: %llu\r\n", (unsigned long long)r->source->size_bytes);
    else if (!str_is_none(r->body))
        buf_printf(&head, "Content-Length: %zu\r\n", r->body.len);
    buf_append(&head, STR("\r\n"));
    return arena_str(arena, buf_str(&head));
}

static void begin_body(
    struct http_client *c, const struct client_request *r, const struct http_answer *a)
{
    bool none = str_eq(r->method, STR("HEAD")) || a->status == 204 || a->status == 304;
    struct http_request framing = {
        .chunked = a->chunked && !none,
        .has_length = true,
        .content_length = a->has_length && !none ? a->content_length : 0,
    };
    http_body_init(&c->body, &framing, UINT64_MAX);
    c->in_body = !none;
    c->until_end = !none && !a->chunked && !a->has_length;
    c->keep = a->keep_alive;
    if (none && !c->keep)
        http_client_close(c);
}

static enum client_result read_head(
    struct http_client *c, struct arena *arena, struct http_answer *out_answer)
{
    int64_t deadline_us = deadline_in(c, c->config.answer_timeout_ms);
    for (;;) {
        size_t used, got;
        const char *rule;
        struct str bytes = str_slice(buf_str(&c->in), c->taken, c->in.len);
        enum http_parsed parsed =
            http_answer_parse(arena, bytes, HEAD_MAX_BYTES, out_answer, &used, &rule);
        if (parsed == HTTP_REFUSED)
            return fail(c, CLIENT_MALFORMED, "the answer is not HTTP: %s", rule);
        if (parsed == HTTP_DONE) {
            c->taken += used;
            if (out_answer->status >= 200)
                return CLIENT_OK;
            continue; /* 100 Continue and the like */
        }
        enum client_result received = receive(c, deadline_us, &got);
        if (received == CLIENT_TIMED_OUT)
            return deadline_us == c->deadline_us
                       ? fail(c, CLIENT_LOST, "the server did not answer in time")
                       : fail(c, CLIENT_LOST, "the server did not answer within %u seconds",
                             (unsigned)(c->config.answer_timeout_ms / 1000));
        if (received != CLIENT_OK)
            return received;
        if (got == 0)
            return fail(c, CLIENT_LOST, "the server ended the connection without an answer");
    }
}

/* Sends a piece of the source in the announced framing. */
static enum client_result send_piece(struct http_client *c, bool in_chunks, struct str piece)
{
    char line[32];
    int64_t deadline_us = deadline_in(c, c->config.answer_timeout_ms);
    enum client_result result = CLIENT_OK;
    if (in_chunks) {
        int len = snprintf(line, sizeof line, "%zx\r\n", piece.len);
        result = send_all(c, (struct str){line, (size_t)len}, deadline_us);
    }
    if (result == CLIENT_OK)
        result = send_all(c, piece, deadline_us);
    if (result == CLIENT_OK && in_chunks)
        result = send_all(c, STR("\r\n"), deadline_us);
    return result;
}

/* A server that refuses the body answers before it has read all of it; over TLS it continues to
 * read. */
static bool is_answered(struct http_client *c)
{
    return c->tls == NULL && is_stale(c);
}

static enum client_result send_source(struct http_client *c, struct client_source *source)
{
    char *piece = mem_alloc(PIECE_BYTES);
    uint64_t left = source->has_size ? source->size_bytes : UINT64_MAX;
    enum client_result result = CLIENT_OK;
    while (result == CLIENT_OK && left > 0 && !is_answered(c)) {
        size_t got = 0;
        if (is_interrupted(c)) {
            result = fail(c, CLIENT_INTERRUPTED, "interrupted");
            break;
        }
        if (!source->read(source, piece, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES, &got) ||
            (got == 0 && source->has_size)) {
            result = fail(c, CLIENT_CUT_OFF, "the body to send ended too early");
            break;
        }
        result = send_piece(c, !source->has_size, (struct str){piece, got});
        left = got == 0 ? 0 : left - got;
    }
    mem_free(piece);
    return result;
}

enum client_result http_client_begin(struct http_client *c, const struct client_request *request,
    struct arena *arena, struct http_answer *out_answer)
{
    if (c->fd >= 0 && (c->in_body || is_stale(c)))
        http_client_close(c);
    enum client_result result = c->fd >= 0 ? CLIENT_OK : connect_client(c);
    if (result != CLIENT_OK)
        return result;
    int64_t deadline_us = deadline_in(c, c->config.answer_timeout_ms);
    result = send_all(c, head_of(c, request, arena), deadline_us);
    if (result == CLIENT_OK && request->source != NULL)
        result = send_source(c, request->source);
    else if (result == CLIENT_OK && !str_is_none(request->body))
        result = send_all(c, request->body, deadline_us);
    if (result == CLIENT_OK)
        result = read_head(c, arena, out_answer);
    if (result == CLIENT_OK)
        begin_body(c, request, out_answer);
    return result;
}

static void end_body(struct http_client *c)
{
    c->in_body = false;
    if (!c->keep || c->taken < c->in.len) /* unrequested bytes are not trusted */
        http_client_close(c);
}

static enum client_result fail_too_large(struct http_client *c)
{
    return fail(c, CLIENT_MALFORMED, "the answer is larger than %llu bytes",
        (unsigned long long)c->body.limit);
}

/* Takes a run of payload from the received bytes. Returns false if more must arrive first. */
static bool take_run(struct http_client *c, struct str *out_run, enum client_result *out_result)
{
    struct http_refusal refusal;
    struct str bytes = str_slice(buf_str(&c->in), c->taken, c->in.len);
    size_t used = bytes.len;
    *out_result = CLIENT_OK;
    *out_run = bytes;
    if (c->until_end) {
        c->taken += used;
        c->body.seen += used;
        if (c->body.seen > c->body.limit)
            *out_result = fail_too_large(c);
        return used > 0;
    }
    enum http_parsed parsed = http_body_feed(&c->body, bytes, out_run, &used, &refusal);
    if (parsed == HTTP_REFUSED) {
        *out_result = refusal.status == 413
                          ? fail_too_large(c)
                          : fail(c, CLIENT_MALFORMED, "the answer is not HTTP: %s", refusal.rule);
        return true;
    }
    c->taken += used;
    if (parsed == HTTP_DONE) {
        c->in_body = false;
        return true;
    }
    return out_run->len > 0;
}

enum client_result http_client_read(struct http_client *c, uint32_t timeout_ms, struct str *out_run)
{
    int64_t deadline_us = deadline_in(c, timeout_ms);
    *out_run = STR("");
    for (;;) {
        enum client_result result;
        size_t got;
        if (!c->in_body) {
            if (c->fd >= 0)
                end_body(c);
            return CLIENT_OK;
        }
        if (take_run(c, out_run, &result) && (result != CLIENT_OK || out_run->len > 0))
            return result;
        if (!c->in_body)
            continue;
        result = receive(c, deadline_us, &got);
        if (result != CLIENT_OK)
            return result;
        if (got == 0 && !c->until_end)
            return fail(c, CLIENT_LOST, "the connection ended in the middle of the answer");
        if (got == 0)
            http_client_close(c);
    }
}

enum client_result http_client_ask(struct http_client *c, const struct client_request *request,
    struct arena *arena, struct http_answer *out_answer, struct str *out_body)
{
    struct buf body CLEANUP(buf_deinit) = BUF_INIT(c->config.max_body_bytes);
    struct str run;
    enum client_result result = http_client_begin(c, request, arena, out_answer);
    c->body.limit = c->config.max_body_bytes;
    while (result == CLIENT_OK) {
        result = http_client_read(c, c->config.answer_timeout_ms, &run);
        if (result == CLIENT_OK && run.len == 0)
            break;
        buf_append(&body, result == CLIENT_OK ? run : STR(""));
    }
    if (result == CLIENT_TIMED_OUT)
        return fail(c, CLIENT_LOST, "the server stopped in the middle of its answer");
    if (result == CLIENT_OK)
        *out_body = arena_str(arena, buf_str(&body));
    return result;
}

/* --- Life ----------------------------------------------------------------------------------- */

static bool prepare_tls(struct http_client *c, struct arena *arena, struct str *out_why)
{
    c->context = SSL_CTX_new(TLS_client_method());
    c->socket_method = tls_socket_method();
    if (c->context == NULL)
        mem_exhausted(sizeof(void *));
    SSL_CTX_set_min_proto_version(c->context, TLS1_2_VERSION);
    SSL_CTX_set_mode(
        c->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(
        c->context, SSL_OP_IGNORE_UNEXPECTED_EOF); /* the framing detects a truncated answer */
    SSL_CTX_set_verify(c->context, SSL_VERIFY_PEER, NULL);
    ERR_clear_error();
    int loaded = str_is_none(c->config.ca_file) ? SSL_CTX_set_default_verify_paths(c->context)
                                                : SSL_CTX_load_verify_file(c->context,
                                                      arena_cstr(&c->memory, c->config.ca_file));
    if (loaded == 1)
        return true;
    unsigned long cause = ERR_peek_error();
    const char *reason = ERR_SYSTEM_ERROR(cause) ? strerror((int)ERR_GET_REASON(cause))
                                                 : ERR_reason_error_string(cause);
    *out_why = arena_printf(arena, "cannot use the CA file %.*s: %s", STR_ARG(c->config.ca_file),
        reason != NULL ? reason : "unknown error");
    return false;
}

struct http_client *http_client_create(
    const struct http_client_config *config, struct arena *arena, struct str *out_why)
{
    struct http_client *c = MEM_NEW(struct http_client);
    c->config = *config;
    c->fd = -1;
    c->deadline_us = INT64_MAX;
    arena_init(&c->memory, PIECE_BYTES);
    c->host = arena_cstr(&c->memory, config->host);
    buf_init(&c->in, HEAD_MAX_BYTES + 2 * PIECE_BYTES);
    buf_init(&c->why, WHY_MAX_BYTES);
    if (config->tls && !prepare_tls(c, arena, out_why)) {
        http_client_destroy(c);
        return NULL;
    }
    return c;
}

void http_client_destroy(struct http_client *c)
{
    if (c == NULL)
        return;
    http_client_close(c);
    SSL_CTX_free(c->context);
    BIO_meth_free(c->socket_method);
    buf_deinit(&c->in);
    buf_deinit(&c->why);
    arena_deinit(&c->memory);
    mem_free(c);
}
