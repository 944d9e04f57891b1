/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every call goes through before its handler, in the job's own transaction: who asks
 * (authentication), how often (rate limit), whether they may (scope), whether it was done already
 * (idempotency key), and under which conditions (If-Match, fencing token).
 */
#ifndef API_HTTP_PROLOGUE_H
#define API_HTTP_PROLOGUE_H

#include "api/http/call.h"

/* X-Request-Id when it is safe to repeat, else a new id. */
struct str prologue_request_id(struct arena *arena, const struct http_request *request);
/* The API key of the request; STR_NONE when it has none. */
struct str prologue_secret(const struct http_request *request);

MUST_CHECK enum error prologue_run(struct call *call, struct context *c);
/* After the handler, when the answer is written: keeps it for the idempotency key. */
MUST_CHECK enum error prologue_finish(struct call *call, struct context *c);

#endif
