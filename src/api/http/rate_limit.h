/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests per minute and key: a token bucket that holds the tokens of one minute and fills evenly.
 * In memory and per process. Thread-safe.
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

struct rate_limiter *rate_limiter_create(void);
void rate_limiter_destroy(struct rate_limiter *r);
struct rate_verdict rate_limiter_take(
    struct rate_limiter *r, struct uuid key_id, int64_t per_minute, int64_t now_us);

#endif
