/* SPDX-License-Identifier: Apache-2.0 */
/* Inside net: the memory of shared bytes, framed once for all connections that send them. */
#ifndef NET_SHARED_H
#define NET_SHARED_H

#include <stdatomic.h>

#include "net/server.h"

/*
 * HTTP: the size line of a chunk, the bytes, CR LF; the bytes alone are a slice of the same memory.
 * WebSocket: the header of a frame and the bytes. Both are sent as one piece without a copy.
 */
struct http_shared {
    atomic_uint refs;
    bool websocket;
    uint8_t before; /* bytes of framing before and after the payload */
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
