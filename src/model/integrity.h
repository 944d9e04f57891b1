/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is stored together with its SHA-256 is shown only when the two agree. Whoever reads such a
 * thing (audit records; every other kind that is hashed) asks here, so that damage has one error,
 * data_damaged, and one figure, cairn_store_damaged_total.
 */
#ifndef MODEL_INTEGRITY_H
#define MODEL_INTEGRITY_H

#include "base/hash.h"
#include "model/context.h"

/* Whether what was read, which hashes to `found`, is what was stored under `stored`. If not, it is
 * counted. */
MUST_CHECK bool integrity_holds(struct context *c, struct str stored, const struct sha256 *found);
/* The error of something that is not; the words name it, and say nothing of what it holds. */
enum error integrity_lost(struct context *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
