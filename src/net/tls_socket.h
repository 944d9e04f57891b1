/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL on a plain socket without SIGPIPE, which OpenSSL's own socket BIO would raise. */
#ifndef NET_TLS_SOCKET_H
#define NET_TLS_SOCKET_H

#include <openssl/bio.h>

#include "base/macros.h"

/* The caller frees it with BIO_meth_free, after all its BIOs. */
BIO_METHOD *tls_socket_method(void) __attribute__((returns_nonnull));
/* The caller keeps the socket. */
BIO *tls_socket_bio(BIO_METHOD *method, int fd) __attribute__((returns_nonnull));

#endif
