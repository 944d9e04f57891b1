/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output queue of one connection: pieces in their order, which are copied, borrowed from the
 * exchange, or shared with other connections. `bytes` is the unsent size of all pieces; when it is
 * 0 the queue has no piece and no memory.
 *
 * outqueue_held_bytes is the unsent memory of the whole process. It grows when peers read slowly.
 */
#ifndef NET_OUTQUEUE_H
#define NET_OUTQUEUE_H

#include <sys/uio.h>

#include "net/shared.h"

struct out_piece {
    struct out_piece *next;
    struct str left;
    size_t size; /* the memory of the piece and of its bytes, unless they are shared */
    struct http_shared *shared; /* referenced by the piece; NULL if its bytes are not shared */
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
/* The bytes must remain valid until they are sent or the queue is cleared. */
void outqueue_add_borrowed(struct outqueue *q, struct str bytes);
/* Takes over the caller's reference. `wire` is a slice of the shared bytes. */
void outqueue_add_shared(struct outqueue *q, struct http_shared *s, struct str wire);

/* Returns the number of pieces, at most `max`, from the front of the queue. */
size_t outqueue_gather(const struct outqueue *q, struct iovec *out_pieces, size_t max);
/* Removes the first `size` bytes, which have been sent. */
void outqueue_sent(struct outqueue *q, size_t size);

#endif
