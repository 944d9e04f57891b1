/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memo: a table of bytes by key that all threads share, with a limited amount of memory. It keeps
 * what is costly to compute or to read again; an entry may be gone at any time.
 *
 * A memo consists of rings, one of which the hash of the key selects. An entry is written behind
 * the last one of its ring, over the oldest ones, so it is forgotten after so many more bytes have
 * been added to the ring. An entry never changes; adding other bytes for the key hides it. The
 * memory of a ring is allocated with its first entry, and memo_clear frees it.
 */
#ifndef BASE_MEMO_H
#define BASE_MEMO_H

#include <pthread.h>

#include "base/arena.h"

enum { MEMO_RINGS = 16, MEMO_BUCKETS = 512, MEMO_KEY_MAX_BYTES = 64 };

struct memo_ring {
    pthread_mutex_t mutex;
    char *bytes;                   /* NULL: empty */
    uint64_t end;                  /* the position after the last entry; positions only rise */
    uint64_t newest[MEMO_BUCKETS]; /* the position of an entry + 1; 0: none */
};

struct memo {
    size_t ring_bytes;
    struct memo_ring rings[MEMO_RINGS];
};

/* The initial value of a static memo with so many bytes. An entry with its key may have at most
 * half of a ring. */
#define MEMO_INIT(max_bytes)                                                      \
    {                                                                             \
        .ring_bytes = (max_bytes) / MEMO_RINGS,                                   \
        .rings = {[0 ... MEMO_RINGS - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER}}, \
    }

/* Does nothing if the entry is too large, or if the newest one for the key has these bytes. */
void memo_add(struct memo *m, struct str key, struct str bytes);

/* These return false if the memo has no entry for the key. */
MUST_CHECK bool memo_get(
    struct memo *m, struct str key, struct arena *arena, struct str *out_bytes);
/* Only an entry of exactly `size` bytes is copied. */
MUST_CHECK bool memo_copy(struct memo *m, struct str key, size_t size, char *out_bytes);
/* Returns true if the entry has these bytes. */
MUST_CHECK bool memo_equals(struct memo *m, struct str key, struct str bytes);

/* Forgets all entries. */
void memo_clear(struct memo *m);

#endif
