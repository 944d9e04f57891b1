/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One subscriber over SSE or WebSocket. It first reads the missed events from the store, one page
 * at a time and as fast as the client reads, then follows the hub; if it misses events of the hub
 * it reads from the store again. So it delivers every event once, in order, from its cursor on. A
 * subscriber that cannot keep up with live events is closed and keeps its cursor. Loop thread only.
 */
#ifndef API_HTTP_STREAM_H
#define API_HTTP_STREAM_H

#include "api/http/watch.h"

/* Turns the exchange of an admitted call into a stream. The call is not used afterwards. */
/* The stream has been taken from call->api->streams, and is dropped at its end. */
void stream_start(struct watchers *ws, struct http_exchange *x, const struct call *call,
    const struct http_header *headers, size_t n_headers);

#endif
