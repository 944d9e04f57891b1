/* SPDX-License-Identifier: Apache-2.0 */
/* Server-Sent Events out of the bytes of a stream, however they are cut. */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include "base/buf.h"

struct sse_event {
    struct str name; /* "" for an unnamed one */
    struct str id;   /* STR_NONE: it has none */
    struct str data;
};

struct sse {
    struct buf bytes;          /* received and not whole yet */
    struct buf name, id, data; /* of the event that is being read */
    bool has_id;
    bool has_data;
    bool given; /* the event was handed out: the next line begins another */
};

void sse_init(struct sse *s);
void sse_deinit(struct sse *s);
/* Forgets what has begun: the connection is another one. */
void sse_reset(struct sse *s);
/* Takes what has arrived. False: an event is larger than any may be. */
MUST_CHECK bool sse_feed(struct sse *s, struct str run);
/* The next whole event, valid until the next call; false: there is none yet. */
bool sse_next(struct sse *s, struct sse_event *out_event);

#endif
