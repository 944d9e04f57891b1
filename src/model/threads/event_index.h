/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of events by thread. PostgreSQL keeps it as a primary key. On SQLite an append does not
 * write it: the events after event_floor.indexed_id are recent, and enter the table event_index
 * many at a time, sorted, in the transaction of a later append or of the sweep. Both the events and
 * indexed_id are rows, so that every snapshot, crash and rollback leaves them consistent.
 * Statements read the view thread_events, which finds indexed and recent events. SQLite merges the
 * two in the order of seq if the statement selects seq and its other conditions do not tempt it to
 * begin with another index: a test checks the plans.
 * docs/decisions/0019-deferred-event-index.md has the measurements.
 *
 * Events of a thread are pruned, and the remaining events of a deleted thread deleted, only after
 * event_index_recent. On a shared store these functions do nothing.
 */
#ifndef MODEL_THREADS_EVENT_INDEX_H
#define MODEL_THREADS_EVENT_INDEX_H

#include "model/threads/threads.h"

enum {
    /* Beyond these, an append indexes the recent events: */
    EVENT_RECENT_MAX = 1024, /* ids after indexed_id */
    EVENT_RECENT_MAX_BYTES = 1024 * 1024,
};

/* The counter of event ids. */
extern const struct sequence event_ids;

/* Indexes all recent events. WRITE jobs. */
MUST_CHECK enum error event_index_recent(struct context *c);
/* The same if there are many. All events up to `last_id` have been inserted; the last call did not
 * count `size_bytes` of them. WRITE jobs. */
MUST_CHECK enum error event_index_if_due(struct context *c, int64_t last_id, uint64_t size_bytes);
/* Completes last_seq of threads of one tenant, which was read without their recent events. */
MUST_CHECK enum error event_add_recent(struct context *c, struct thread *threads, size_t n);

#endif
