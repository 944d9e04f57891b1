/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that is stored with its SHA-256 is returned only if the hash matches. All readers of hashed
 * data check it here, so that damage has one error, data_damaged, and one metric,
 * cairn_store_damaged_total.
 */
#ifndef MODEL_INTEGRITY_H
#define MODEL_INTEGRITY_H

#include "base/hash.h"
#include "model/context.h"

/* Returns true if `found`, the hash of the data that was read, equals the stored hash. Counts a
 * mismatch in the metric. */
MUST_CHECK bool integrity_holds(struct context *c, struct str stored, const struct sha256 *found);
/* Returns ERR_DAMAGED. The text names the damaged object, but not its contents. */
enum error integrity_lost(struct context *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
