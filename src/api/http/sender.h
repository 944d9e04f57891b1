/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content on its way to a socket (api/http/download.h): one piece is being sent while the next is
 * read on a content thread, so that who reads slowly costs no more than two. On the exchange's
 * loop.
 */
#ifndef API_HTTP_SENDER_H
#define API_HTTP_SENDER_H

#include "api/http/call.h"
#include "net/server.h"

struct sender;

/* Takes the download of the call over and reads the first piece; then `ready`, once: OK, and
 * sender_start may be called; or what was wrong with it. */
struct sender *sender_create(struct http_exchange *x, struct call *call,
    void (*ready)(void *data, enum error e), void *data);
/* Sends. The exchange is the sender's from here on, with a hold that the caller had on it; when
 * both have ended, `ended` is called with `ended_data`. */
void sender_start(struct sender *d, int status, const struct http_header *headers, size_t n_headers,
    void (*ended)(void *data), void *ended_data);
/* Instead of that. */
void sender_destroy(struct sender *d);

#endif
