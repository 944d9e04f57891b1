/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that finds out what was committed to a shared store, by whichever node, and publishes
 * it to this one's listeners in the order of event ids. It waits until something may have happened,
 * reads, and reads again at once while there is more. After a failure it continues from its
 * position, so an outage of the database loses no event. While the outage lasts, the streams are
 * sent to the store every 15 seconds, and are closed there, so that no stream stays open and
 * silent.
 */
#ifndef LIB_TAIL_H
#define LIB_TAIL_H

#include "store/store.h"

struct tail_thread;

/* For shared stores only. Returns once it is known where the log stands: nobody may listen before.
 */
MUST_CHECK enum error tail_thread_start(
    struct store *store, struct problem *problem, struct tail_thread **out_thread);
/* Begins nothing more; what is under way is finished. */
void tail_thread_stop(struct tail_thread *t);
/* Waits for its end; before store_close. Accepts NULL. */
void tail_thread_destroy(struct tail_thread *t);

#endif
