/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/rate_limit.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/hash.h"

/* A slot that was unused for a minute has a full bucket, so another key may take it. */
enum { SLOTS = 4096, PROBES = 16 };

static const int64_t MINUTE_US = 60 * 1000000;

struct bucket {
    struct uuid key_id;
    int64_t filled; /* microseconds times the limit: one request costs exactly MINUTE_US */
    int64_t seen_us;
};

struct rate_limiter {
    pthread_mutex_t mutex;
    struct bucket buckets[SLOTS];
};

struct rate_limiter *rate_limiter_create(void)
{
    struct rate_limiter *r = MEM_NEW(struct rate_limiter);
    pthread_mutex_init(&r->mutex, NULL);
    return r;
}

void rate_limiter_destroy(struct rate_limiter *r)
{
    pthread_mutex_destroy(&r->mutex);
    mem_free(r);
}

/* Returns the bucket of the key, or the nearby one that was unused for the longest time. */
static struct bucket *find(
    struct rate_limiter *r, struct uuid key_id, int64_t per_minute, int64_t now_us)
{
    uint64_t hash = hash_bytes(key_id.bytes, sizeof key_id.bytes);
    struct bucket *oldest = &r->buckets[hash % SLOTS];
    for (uint64_t i = 0; i < PROBES; i++) {
        struct bucket *b = &r->buckets[(hash + i) % SLOTS];
        if (uuid_eq(b->key_id, key_id))
            return b;
        if (b->seen_us < oldest->seen_us)
            oldest = b;
    }
    *oldest =
        (struct bucket){.key_id = key_id, .filled = MINUTE_US * per_minute, .seen_us = now_us};
    return oldest;
}

struct rate_verdict rate_limiter_take(
    struct rate_limiter *r, struct uuid key_id, int64_t per_minute, int64_t now_us)
{
    const int64_t full = MINUTE_US * per_minute;
    pthread_mutex_lock(&r->mutex);
    struct bucket *b = find(r, key_id, per_minute, now_us);
    int64_t passed_us = now_us > b->seen_us ? now_us - b->seen_us : 0;
    b->filled += (passed_us > MINUTE_US ? MINUTE_US : passed_us) * per_minute;
    if (b->filled > full)
        b->filled = full;
    b->seen_us = now_us;
    struct rate_verdict v = {.allowed = b->filled >= MINUTE_US, .limit = per_minute};
    if (v.allowed)
        b->filled -= MINUTE_US;
    v.remaining = b->filled / MINUTE_US;
    int64_t missing = v.allowed ? full - b->filled : MINUTE_US - b->filled;
    v.reset_s = (missing / per_minute + 999999) / 1000000;
    pthread_mutex_unlock(&r->mutex);
    return v;
}
