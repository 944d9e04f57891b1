/* SPDX-License-Identifier: Apache-2.0 */
#include "net/shared.h"

#include "base/alloc.h"
#include "net/outqueue.h"
#include "net/ws_frames.h"

static struct http_shared *create(struct str before, struct str payload, struct str after)
{
    struct http_shared *s = mem_alloc(sizeof *s + before.len + payload.len + after.len);
    atomic_init(&s->refs, 1);
    outqueue_hold(before.len + payload.len + after.len);
    s->before = (uint8_t)before.len;
    s->after = (uint8_t)after.len;
    s->len = payload.len;
    memcpy(s->wire, before.ptr, before.len);
    if (payload.len > 0)
        memcpy(s->wire + before.len, payload.ptr, payload.len);
    if (after.len > 0)
        memcpy(s->wire + before.len + payload.len, after.ptr, after.len);
    return s;
}

struct http_shared *http_shared_create(struct str bytes)
{
    char line[18]; /* sixteen digits, CR LF */
    size_t start = sizeof line;
    line[--start] = '\n';
    line[--start] = '\r';
    size_t rest = bytes.len;
    do {
        line[--start] = "0123456789abcdef"[rest & 15];
        rest >>= 4;
    } while (rest > 0);
    struct http_shared *s =
        create((struct str){line + start, sizeof line - start}, bytes, STR("\r\n"));
    s->websocket = false;
    return s;
}

struct http_shared *shared_frame_create(uint8_t opcode, struct str payload)
{
    char header[WS_HEADER_BYTES_MAX];
    size_t len = ws_frame_header(opcode, payload.len, header);
    struct http_shared *s = create((struct str){header, len}, payload, STR(""));
    s->websocket = true;
    return s;
}

struct http_shared *http_shared_create_message(struct str text)
{
    return shared_frame_create(WS_TEXT, text);
}

struct http_shared *http_shared_ref(struct http_shared *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void http_shared_unref(struct http_shared *s)
{
    if (s == NULL || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) > 1)
        return;
    outqueue_release(shared_framed(s).len);
    mem_free(s);
}
