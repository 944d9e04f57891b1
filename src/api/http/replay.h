/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Idempotency-Key of a POST: its first answer is kept in the job's own transaction
 * (model/tenancy/idempotency.h), and a repeated request receives that answer again.
 */
#ifndef API_HTTP_REPLAY_H
#define API_HTTP_REPLAY_H

#include "api/http/call.h"

/* Writes the kept answer, if there is one. ERR_KEY_REUSED: another request has used the key. */
MUST_CHECK enum error replay_find(struct call *call, struct context *c, bool *out_found);
/*
 * Returns the error to refuse the call with, after its handler has failed with `refusal`. On a
 * shared store another node may have carried out the same request while this one waited for a
 * lock, and the handler failed because of that: then the job runs again and finds the answer.
 */
MUST_CHECK enum error replay_recheck(struct call *call, struct context *c, enum error refusal);
/* Keeps the answer, once it is written. */
MUST_CHECK enum error replay_keep(struct call *call, struct context *c);

#endif
