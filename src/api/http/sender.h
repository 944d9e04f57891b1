/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends content to a socket (api/http/download.h): one piece is sent while a content thread reads
 * the next, so a slow client costs the memory of two pieces. On the exchange's loop.
 */
#ifndef API_HTTP_SENDER_H
#define API_HTTP_SENDER_H

#include "api/http/call.h"
#include "net/server.h"

struct sender;

/* Takes over the download of the call and reads the first piece. Calls `ready` once: with OK if
 * sender_start may be called, or with the error. */
struct sender *sender_create(struct http_exchange *x, struct call *call,
    void (*ready)(void *data, enum error e), void *data);
/* Sends. Takes over the exchange and the caller's hold on it. When sender and exchange have ended,
 * calls `ended` with `ended_data`. */
void sender_start(struct sender *d, int status, const struct http_header *headers, size_t n_headers,
    void (*ended)(void *data), void *ended_data);
/* Instead of sender_start. */
void sender_destroy(struct sender *d);

#endif
