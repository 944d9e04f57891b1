/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS directly on the socket, through our own BIO: OpenSSL's socket BIO would raise SIGPIPE, and
 * its memory BIOs would keep their largest buffers during the life of a connection. read_ahead is
 * off, so OpenSSL never buffers bytes that poll() cannot see; every receive has room for a whole
 * record, so none remains inside.
 */
#include <openssl/err.h>

#include "base/alloc.h"
#include "net/conn.h"
#include "net/tls_socket.h"

enum { RECORD_BYTES = 16384 };

struct tls {
    SSL_CTX *context;
    BIO_METHOD *socket;
};

/* --- The context ---------------------------------------------------------------------------- */

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
    const unsigned char *offered, unsigned offered_len, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, out_len, ours, sizeof ours - 1, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void configure(SSL_CTX *context)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
}

static struct str why(struct arena *arena, const char *what, struct str file)
{
    /* The first error in the queue is the cause; the others report its consequences. */
    unsigned long cause = ERR_peek_error();
    const char *reason = ERR_SYSTEM_ERROR(cause) ? strerror((int)ERR_GET_REASON(cause))
                                                 : ERR_reason_error_string(cause);
    return arena_printf(
        arena, "%s %.*s: %s", what, STR_ARG(file), reason != NULL ? reason : "unknown error");
}

static bool load(
    struct tls *t, struct str certificate, struct str key, struct arena *arena, struct str *out_why)
{
    if (str_is_none(certificate) || str_is_none(key)) {
        *out_why = STR("TLS requires both a certificate and a key");
        return false;
    }
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(t->context, arena_cstr(arena, certificate)) != 1) {
        *out_why = why(arena, "cannot use the certificate", certificate);
        return false;
    }
    if (SSL_CTX_use_PrivateKey_file(t->context, arena_cstr(arena, key), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(t->context) != 1) {
        *out_why = why(arena, "cannot use the key", key);
        return false;
    }
    return true;
}

struct tls *tls_create(
    struct str certificate, struct str key, struct arena *arena, struct str *out_why)
{
    struct tls *t = MEM_NEW(struct tls);
    t->context = SSL_CTX_new(TLS_server_method());
    t->socket = tls_socket_method();
    if (t->context == NULL)
        mem_exhausted(sizeof *t);
    configure(t->context);
    if (!load(t, certificate, key, arena, out_why)) {
        tls_destroy(t);
        return NULL;
    }
    return t;
}

void tls_destroy(struct tls *t)
{
    if (t == NULL)
        return;
    SSL_CTX_free(t->context);
    BIO_meth_free(t->socket);
    mem_free(t);
}

/* --- One connection ------------------------------------------------------------------------- */

SSL *tls_accept(struct tls *t, int fd)
{
    SSL *ssl = SSL_new(t->context);
    if (ssl == NULL)
        mem_exhausted(sizeof(void *));
    BIO *bio = tls_socket_bio(t->socket, fd);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return ssl;
}

int tls_handshake(struct conn *c)
{
    ERR_clear_error();
    int done = SSL_do_handshake(c->tls);
    c->read_wants_write = false;
    if (done == 1)
        return 1;
    int error = SSL_get_error(c->tls, done);
    c->read_wants_write = error == SSL_ERROR_WANT_WRITE;
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? IO_AGAIN : IO_BROKEN;
}

ssize_t tls_receive(struct conn *c, char *place, size_t room)
{
    assert(room >= RECORD_BYTES);
    ERR_clear_error();
    size_t got;
    c->read_wants_write = false;
    int done = SSL_read_ex(c->tls, place, room, &got);
    if (done == 1)
        return (ssize_t)got;
    switch (SSL_get_error(c->tls, done)) {
    case SSL_ERROR_WANT_READ:
        return IO_AGAIN;
    case SSL_ERROR_WANT_WRITE:
        c->read_wants_write = true;
        return IO_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        c->tls_broken = true;
        return IO_BROKEN;
    }
}

/* Small pieces share a record. */
static struct str join_pieces(const struct iovec *pieces, size_t n, char place[RECORD_BYTES])
{
    if (pieces[0].iov_len >= RECORD_BYTES || n == 1)
        return (struct str){pieces[0].iov_base, pieces[0].iov_len};
    size_t len = 0;
    for (size_t i = 0; i < n && len < RECORD_BYTES; i++) {
        size_t part = pieces[i].iov_len;
        if (part > RECORD_BYTES - len)
            part = RECORD_BYTES - len;
        memcpy(place + len, pieces[i].iov_base, part);
        len += part;
    }
    return (struct str){place, len};
}

/* After IO_AGAIN the next call must offer the same bytes, as OpenSSL requires: the queue only grows
 * at its end. */
ssize_t tls_send(struct conn *c, const struct iovec *pieces, size_t n)
{
    char place[RECORD_BYTES];
    struct str record = join_pieces(pieces, n, place);
    ERR_clear_error();
    size_t sent;
    c->write_wants_read = false;
    int done = SSL_write_ex(c->tls, record.ptr, record.len, &sent);
    if (done == 1)
        return (ssize_t)sent;
    switch (SSL_get_error(c->tls, done)) {
    case SSL_ERROR_WANT_WRITE:
        return IO_AGAIN;
    case SSL_ERROR_WANT_READ:
        c->write_wants_read = true;
        return IO_AGAIN;
    default:
        c->tls_broken = true;
        return IO_BROKEN;
    }
}

void tls_say_goodbye(struct conn *c)
{
    if (c->tls == NULL || !SSL_is_init_finished(c->tls) || c->tls_broken ||
        (SSL_get_shutdown(c->tls) & SSL_SENT_SHUTDOWN) != 0)
        return;
    ERR_clear_error();
    SSL_shutdown(c->tls);
}
