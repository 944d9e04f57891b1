/* SPDX-License-Identifier: Apache-2.0 */
/* Inside net: how shared bytes lie in memory, framed once for all who send them. */
#ifndef NET_SHARED_H
#define NET_SHARED_H

#include <stdatomic.h>

#include "net/server.h"

/*
 * HTTP: a chunk's size line, the bytes, CR LF; the bytes alone are a slice of the same.
 * WebSocket: a frame's header and the bytes. Both go out as one piece, without a copy.
 */
struct http_shared {
    atomic_uint refs;
    bool websocket;
    uint8_t before; /* bytes of framing before the payload, and after it */
    uint8_t after;
    size_t len;
    char wire[];
};

static inline struct str shared_framed(const struct http_shared *s)
{
    return (struct str){s->wire, s->before + s->len + s->after};
}

static inline struct str shared_payload(const struct http_shared *s)
{
    return (struct str){s->wire + s->before, s->len};
}

/* One unmasked, final frame. */
struct http_shared *shared_frame_create(uint8_t opcode, struct str payload);

#endif
