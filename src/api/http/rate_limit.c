/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/rate_limit.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/hash.h"

/* A slot that was unused for a minute has a full bucket, so another id may take it. */
enum { SLOTS = 4096, PROBES = 16 };

static const int64_t MINUTE_US = 60 * 1000000;

struct bucket {
    struct uuid id;
    int64_t filled; /* microseconds times the limit: one request costs exactly one window */
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

struct rate rate_per_minute(int64_t count)
{
    return (struct rate){.count = count, .window_us = MINUTE_US, .burst = count};
}

struct rate rate_per_second(int64_t count)
{
    /* No process answers more; the product below does not overflow. */
    const int64_t most = 1000000;
    int64_t some = count < most ? count : most;
    return (struct rate){.count = some, .window_us = MINUTE_US / 60, .burst = 2 * some};
}

/* Returns the bucket of the id, or the nearby one that was unused for the longest time. */
static struct bucket *find(struct rate_limiter *r, struct uuid id, int64_t full, int64_t now_us)
{
    uint64_t hash = hash_bytes(id.bytes, sizeof id.bytes);
    struct bucket *oldest = &r->buckets[hash % SLOTS];
    for (uint64_t i = 0; i < PROBES; i++) {
        struct bucket *b = &r->buckets[(hash + i) % SLOTS];
        if (uuid_eq(b->id, id))
            return b;
        if (b->seen_us < oldest->seen_us)
            oldest = b;
    }
    *oldest = (struct bucket){.id = id, .filled = full, .seen_us = now_us};
    return oldest;
}

struct rate_verdict rate_limiter_take(
    struct rate_limiter *r, struct uuid id, struct rate rate, int64_t now_us)
{
    if (rate.count == 0)
        return (struct rate_verdict){.reset_s = rate.window_us / 1000000};
    const int64_t full = rate.window_us * rate.burst;
    pthread_mutex_lock(&r->mutex);
    struct bucket *b = find(r, id, full, now_us);
    int64_t passed_us = now_us > b->seen_us ? now_us - b->seen_us : 0;
    b->filled += (passed_us > MINUTE_US ? MINUTE_US : passed_us) * rate.count;
    if (b->filled > full)
        b->filled = full;
    b->seen_us = now_us;
    struct rate_verdict v = {.allowed = b->filled >= rate.window_us, .limit = rate.count};
    if (v.allowed)
        b->filled -= rate.window_us;
    v.remaining = b->filled / rate.window_us;
    int64_t missing = v.allowed ? full - b->filled : rate.window_us - b->filled;
    v.reset_s = (missing / rate.count + 999999) / 1000000;
    pthread_mutex_unlock(&r->mutex);
    return v;
}
