/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idempotency keys: the stored answers of successful POSTs, by tenant, route and key, kept for a
 * day. They are written in the transaction of the change itself, so a retry finds either both or
 * neither. Refusals are not stored: they changed nothing, and asking again is safe.
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

/* Finds the answer of an earlier request; ERR_KEY_REUSED when that one was another request. */
MUST_CHECK enum error idempotency_find(struct context *c, struct str route, struct str key,
    struct sha256 request_hash, struct stored_answer *out_answer, bool *out_found);
/* After the answer was not found, in the same job. */
MUST_CHECK enum error idempotency_store(struct context *c, struct str route, struct str key,
    struct sha256 request_hash, const struct stored_answer *answer);
/* Whether there are answers past their time; of all tenants. */
MUST_CHECK enum error idempotency_any_old(struct context *c, bool *out_any);
/* Forgets up to `limit` answers that are past their time; out_more: there may be others. */
MUST_CHECK enum error idempotency_sweep(struct context *c, size_t limit, bool *out_more);

#endif
