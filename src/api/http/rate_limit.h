/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a key per minute, and of a tenant per second: token buckets that fill evenly. In
 * memory and per process. Thread-safe.
 */
#ifndef API_HTTP_RATE_LIMIT_H
#define API_HTTP_RATE_LIMIT_H

#include "base/uuid.h"

struct rate_limiter;

struct rate_verdict {
    bool allowed;
    int64_t limit;
    int64_t remaining;
    int64_t reset_s; /* until a request is possible, or until the bucket is full */
};

/* `count` requests in each window, at most a minute; a full bucket has `burst` tokens. */
struct rate {
    int64_t count;
    int64_t window_us;
    int64_t burst;
};
struct rate rate_per_minute(int64_t count);
/* Twice as many in a burst. */
struct rate rate_per_second(int64_t count);

struct rate_limiter *rate_limiter_create(void);
void rate_limiter_destroy(struct rate_limiter *r);
struct rate_verdict rate_limiter_take(
    struct rate_limiter *r, struct uuid id, struct rate rate, int64_t now_us);

#endif
