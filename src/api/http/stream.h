/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One subscriber over SSE or WebSocket. It first reads from the store what it missed, a page at a
 * time and no faster than it takes them, then follows the hub; when it loses touch it reads again.
 * So it sees every event once, in order, from its cursor on. One that does not keep up with live
 * events is closed with its cursor. Loop thread only.
 */
#ifndef API_HTTP_STREAM_H
#define API_HTTP_STREAM_H

#include "api/http/watch.h"

/* Turns the exchange of an admitted call into a stream. Nothing of the call is used afterwards. */
void stream_start(struct watchers *ws, struct http_exchange *x, const struct call *call,
    const struct http_header *headers, size_t n_headers);

#endif
