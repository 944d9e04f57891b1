/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idempotency keys: the answers of successful POSTs, by tenant, route and key, stored for a day.
 * An answer is written in the transaction of the change, so a retry finds either both or neither.
 * Rejections are not stored: they changed nothing, and a retry is safe.
 */
#ifndef MODEL_TENANCY_IDEMPOTENCY_H
#define MODEL_TENANCY_IDEMPOTENCY_H

#include "base/hash.h"
#include "model/context.h"

enum { IDEMPOTENCY_KEY_MAX_BYTES = 255, IDEMPOTENCY_HOURS = 24 };

struct stored_answer {
    int64_t status;
    struct str headers; /* a JSON object of names and values */
    struct str body;
};

/* Finds the answer to an earlier request; ERR_KEY_REUSED: the key belongs to another request. */
MUST_CHECK enum error idempotency_find(struct context *c, struct str route, struct str key,
    struct sha256 request_hash, struct stored_answer *out_answer, bool *out_found);
/* Stores an answer, in the job in which idempotency_find did not find one. */
MUST_CHECK enum error idempotency_store(struct context *c, struct str route, struct str key,
    struct sha256 request_hash, const struct stored_answer *answer);
/* out_any is true if a tenant has expired answers. */
MUST_CHECK enum error idempotency_any_old(struct context *c, bool *out_any);
/* Deletes expired answers until none is left or a slice is over (tenancy/deletions.h): out_more. */
MUST_CHECK enum error idempotency_sweep(struct context *c, bool *out_more);

#endif
