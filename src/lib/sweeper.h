/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread for periodic work: one sweep per second, sooner while there is more to do. It is a
 * separate thread because a sweep waits for the database. The main thread must not wait: a signal
 * has to end the process even while the database is unreachable.
 */
#ifndef LIB_SWEEPER_H
#define LIB_SWEEPER_H

#include <stdatomic.h>

#include "model/upkeep/sweep.h"

struct sweeper;

/* `prepares`: run model_prepare before the first sweep. `sweeps` counts the complete sweeps, and
 * outlives the sweeper. */
MUST_CHECK enum error sweeper_start(struct store *store, bool prepares,
    atomic_uint_fast64_t *sweeps, struct problem *problem, struct sweeper **out_sweeper);
/* Starts no new sweep; a running sweep completes. */
void sweeper_stop(struct sweeper *s);
/* Joins the thread; call it before store_close. Accepts NULL. */
void sweeper_destroy(struct sweeper *s);

/* With one writer: makes one complete pass, like the sweeper. Not on a store or loop thread. */
MUST_CHECK enum error sweep_at_once(
    struct store *store, struct sweep_position *position, bool *out_more);

#endif
