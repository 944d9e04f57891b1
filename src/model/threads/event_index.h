/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of events by thread. PostgreSQL keeps it as a primary key. On SQLite an append does not
 * write it: the events after event_floor.indexed_id are recent, and enter the table event_index
 * many at a time, sorted, in the transaction of a later append. Both the events and indexed_id are
 * rows, so that every snapshot, crash and rollback leaves them consistent. Statements read the view
 * thread_events, which finds indexed and recent events.
 * docs/decisions/0019-deferred-event-index.md has the measurements.
 *
 * Events are deleted only after they were indexed. WRITE jobs; on a shared store nothing happens.
 */
#ifndef MODEL_THREADS_EVENT_INDEX_H
#define MODEL_THREADS_EVENT_INDEX_H

#include "model/threads/threads.h"

enum { EVENT_RECENT_MAX = 1024 }; /* ids after indexed_id, beyond which an append indexes them */

/* The counter of event ids. */
extern const struct sequence event_ids;

/* Indexes all recent events. */
MUST_CHECK enum error event_index_recent(struct context *c);
/* The same if there are EVENT_RECENT_MAX; all events up to `last_id` have been inserted. */
MUST_CHECK enum error event_index_if_due(struct context *c, int64_t last_id);
/* Finds out whether there are recent events. Any job. */
MUST_CHECK enum error event_index_is_behind(struct context *c, bool *out_is);
/* Completes last_seq of threads of one tenant, which was read without their recent events. */
MUST_CHECK enum error event_add_recent(struct context *c, struct thread *threads, size_t n);

#endif
