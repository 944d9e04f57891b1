/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memo.h"

#include "base/alloc.h"
#include "base/hash.h"

/*
 * An entry begins at its position modulo the size of the ring, and is not split: one that does not
 * fit before the end of the memory begins at its start. The entry at position p is whole as long as
 * the end of the ring is at most p + ring_bytes. The entries of a bucket are linked from the newest
 * to the oldest, so the first one that is not whole ends the list.
 */
struct entry {
    uint64_t older; /* as in memo_ring.newest */
    uint32_t key_len;
    uint32_t len;
    char key_and_bytes[];
};

enum { ALIGNMENT = 8 };

struct place {
    struct memo_ring *ring;
    uint64_t *newest;
};

/* Locks the ring. */
static struct place enter(struct memo *m, struct str key)
{
    uint64_t hash = hash_bytes(key.ptr, key.len);
    struct memo_ring *ring = &m->rings[hash % MEMO_RINGS];
    pthread_mutex_lock(&ring->mutex);
    return (struct place){ring, &ring->newest[hash / MEMO_RINGS % MEMO_BUCKETS]};
}

static void leave(struct place *place)
{
    pthread_mutex_unlock(&place->ring->mutex);
}

static struct entry *entry_at(const struct memo *m, const struct memo_ring *ring, uint64_t at)
{
    return (struct entry *)(void *)(ring->bytes + at % m->ring_bytes);
}

static bool find(
    const struct memo *m, const struct place *place, struct str key, struct str *out_bytes)
{
    const struct memo_ring *ring = place->ring;
    const struct entry *entry;
    for (uint64_t at = *place->newest; at != 0 && ring->end <= at - 1 + m->ring_bytes;
         at = entry->older) {
        entry = entry_at(m, ring, at - 1);
        if (str_eq((struct str){entry->key_and_bytes, entry->key_len}, key)) {
            *out_bytes = (struct str){entry->key_and_bytes + entry->key_len, entry->len};
            return true;
        }
    }
    return false;
}

/* Returns the position of a new entry of this size, and moves the end behind it. */
static uint64_t take_space(const struct memo *m, struct memo_ring *ring, size_t size)
{
    size_t rest = m->ring_bytes - ring->end % m->ring_bytes;
    uint64_t at = ring->end + (size <= rest ? 0 : rest);
    if (ring->bytes == NULL)
        ring->bytes = mem_alloc(m->ring_bytes);
    ring->end = at + size;
    return at;
}

void memo_add(struct memo *m, struct str key, struct str bytes)
{
    struct str known;
    size_t size = sizeof(struct entry) + key.len + bytes.len;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    assert(key.len <= MEMO_KEY_MAX_BYTES);
    if (size > m->ring_bytes / 2)
        return;
    struct place place = enter(m, key);
    if (!find(m, &place, key, &known) || !str_eq(known, bytes)) {
        uint64_t at = take_space(m, place.ring, size);
        struct entry *entry = entry_at(m, place.ring, at);
        *entry = (struct entry){*place.newest, (uint32_t)key.len, (uint32_t)bytes.len};
        memcpy(entry->key_and_bytes, key.ptr, key.len);
        memcpy(entry->key_and_bytes + key.len, bytes.ptr, bytes.len);
        *place.newest = at + 1;
    }
    leave(&place);
}

bool memo_get(struct memo *m, struct str key, struct arena *arena, struct str *out_bytes)
{
    struct str bytes;
    struct place place = enter(m, key);
    bool found = find(m, &place, key, &bytes);
    if (found)
        *out_bytes = arena_str(arena, bytes);
    leave(&place);
    return found;
}

bool memo_copy(struct memo *m, struct str key, size_t size, char *out_bytes)
{
    struct str bytes;
    struct place place = enter(m, key);
    bool found = find(m, &place, key, &bytes) && bytes.len == size;
    if (found)
        memcpy(out_bytes, bytes.ptr, size);
    leave(&place);
    return found;
}

bool memo_equals(struct memo *m, struct str key, struct str bytes)
{
    struct str known;
    struct place place = enter(m, key);
    bool equal = find(m, &place, key, &known) && str_eq(known, bytes);
    leave(&place);
    return equal;
}

void memo_clear(struct memo *m)
{
    for (size_t i = 0; i < MEMO_RINGS; i++) {
        struct memo_ring *ring = &m->rings[i];
        pthread_mutex_lock(&ring->mutex);
        mem_free(ring->bytes);
        ring->bytes = NULL;
        ring->end = 0;
        memset(ring->newest, 0, sizeof ring->newest);
        pthread_mutex_unlock(&ring->mutex);
    }
}
