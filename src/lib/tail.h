/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that reads the events committed to a shared store by any node, and publishes them to
 * this node's listeners in the order of event ids. It waits until a node may have committed, reads,
 * and continues reading while there is more. After a failure it continues at the same position, so
 * an outage of the database delays events but loses none. While the outage lasts, the streams are
 * sent to the store every 15 seconds, and are closed there, so that no stream stays open and
 * silent.
 */
#ifndef LIB_TAIL_H
#define LIB_TAIL_H

#include "store/store.h"

struct tail_thread;

/* Shared stores only. Returns when the current end of the log is known: no listener may start
 * earlier. */
MUST_CHECK enum error tail_thread_start(
    struct store *store, struct problem *problem, struct tail_thread **out_thread);
/* Starts no new read; a running read completes. */
void tail_thread_stop(struct tail_thread *t);
/* Joins the thread; call it before store_close. Accepts NULL. */
void tail_thread_destroy(struct tail_thread *t);

#endif
