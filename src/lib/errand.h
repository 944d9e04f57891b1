/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model function in a transaction and an arena of its own, for work that no request
 * started. */
#ifndef LIB_ERRAND_H
#define LIB_ERRAND_H

#include "model/context.h"

/* Submits and waits; not from a store or loop thread. `run` may be called several times. */
MUST_CHECK enum error errand_run(struct store *store, enum store_mode mode,
    enum error (*run)(struct context *c, void *data), void *data);
/* Runs model_prepare. */
MUST_CHECK enum error errand_prepare(struct store *store);

#endif
