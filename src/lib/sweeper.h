/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that does what must happen without anybody asking: a sweep a second, sooner while
 * there is more to do. It has a thread of its own because a sweep waits for the database, and the
 * main thread must not: a signal has to end the process also while the database is away.
 */
#ifndef LIB_SWEEPER_H
#define LIB_SWEEPER_H

#include "model/upkeep/sweep.h"

struct sweeper;

/* `prepares`: model_prepare is still to be done, before the first sweep. */
MUST_CHECK enum error sweeper_start(
    struct store *store, bool prepares, struct problem *problem, struct sweeper **out_sweeper);
/* Begins nothing more; what is under way is finished. */
void sweeper_stop(struct sweeper *s);
/* Waits for its end; before store_close. Accepts NULL. */
void sweeper_destroy(struct sweeper *s);

/* Where there is one writer: a whole pass, as the sweeper makes them. Not on a store or loop
 * thread. */
MUST_CHECK enum error sweep_at_once(
    struct store *store, struct sweep_position *position, bool *out_more);

#endif
