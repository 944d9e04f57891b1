/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_socket.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/alloc.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static int fd_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static int socket_write(BIO *bio, const char *bytes, int len)
{
    BIO_clear_retry_flags(bio);
    ssize_t sent = send(fd_of(bio), bytes, (size_t)len, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int socket_read(BIO *bio, char *place, int room)
{
    BIO_clear_retry_flags(bio);
    ssize_t got = recv(fd_of(bio), place, (size_t)room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        BIO_set_retry_read(bio);
    return (int)got;
}

static long socket_ctrl(BIO *bio, int command, long number, void *ptr)
{
    return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *tls_socket_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cairn socket");
    if (method == NULL)
        mem_exhausted(sizeof(void *));
    BIO_meth_set_write(method, socket_write);
    BIO_meth_set_read(method, socket_read);
    BIO_meth_set_ctrl(method, socket_ctrl);
    return method;
}

BIO *tls_socket_bio(BIO_METHOD *method, int fd)
{
    BIO *bio = BIO_new(method);
    if (bio == NULL)
        mem_exhausted(sizeof(void *));
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    return bio;
}
