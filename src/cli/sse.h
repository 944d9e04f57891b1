/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Server-Sent Events from the bytes of a stream, in pieces of any size. */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include "base/buf.h"

struct sse_event {
    struct str name; /* "" for an unnamed one */
    struct str id;   /* STR_NONE: it has none */
    struct str data;
};

struct sse {
    struct buf bytes;          /* received and not complete yet */
    struct buf name, id, data; /* of the event that is being read */
    bool has_id;
    bool has_data;
    bool given; /* the event was returned: the next line begins another */
};

void sse_init(struct sse *s);
void sse_deinit(struct sse *s);
/* Discards an incomplete event, for a new connection. */
void sse_reset(struct sse *s);
/* Adds received bytes. Returns false if an event is too large. */
MUST_CHECK bool sse_feed(struct sse *s, struct str run);
/* Returns the next complete event, valid until the next call; false: there is none yet. */
bool sse_next(struct sse *s, struct sse_event *out_event);

#endif
