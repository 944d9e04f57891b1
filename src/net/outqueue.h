/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that wait to be sent on one connection, in order, as pieces: copied, borrowed from the
 * exchange, or shared with other connections. `bytes` is what is left of all pieces together; when
 * it is 0 there is no piece and no memory.
 *
 * What waits on all connections together, each shared byte counted once, is known too: what the
 * peers have not taken yet is memory of ours.
 */
#ifndef NET_OUTQUEUE_H
#define NET_OUTQUEUE_H

#include <sys/uio.h>

#include "net/shared.h"

struct out_piece {
    struct out_piece *next;
    struct str left;
    size_t size;                /* what it holds: itself, and its bytes unless they are shared */
    struct http_shared *shared; /* referenced while the piece lives; NULL for the others */
    char copy[];
};

struct outqueue {
    struct out_piece *first;
    struct out_piece *last;
    size_t bytes;
};

/* The memory of output in the whole process. Shared bytes count once, from their creation. */
void outqueue_hold(size_t size_bytes);
void outqueue_release(size_t size_bytes);
size_t outqueue_held_bytes(void);

void outqueue_clear(struct outqueue *q);
void outqueue_add_copy(struct outqueue *q, struct str bytes);
/* The bytes must stay until they are sent or the queue is cleared. */
void outqueue_add_borrowed(struct outqueue *q, struct str bytes);
/* Takes over the caller's reference; `wire` is a slice of the shared bytes. */
void outqueue_add_shared(struct outqueue *q, struct http_shared *s, struct str wire);

/* The first pieces, at most `max`; how many. */
size_t outqueue_gather(const struct outqueue *q, struct iovec *out_pieces, size_t max);
/* The first `size` bytes were sent. */
void outqueue_sent(struct outqueue *q, size_t size);

#endif
