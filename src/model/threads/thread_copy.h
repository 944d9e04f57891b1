/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a thread for the context's principal, the only participant of the copy. Copied are title,
 * agent, documents, metadata (with `copied_from`), messages without earlier versions and debug
 * data, the newest version of each file (by reference to the same content) and state documents, but
 * not participants, runs and events. The log of the copy begins after the last seq of the source,
 * so that messages keep their seq. Messages of the principal keep their sender; others keep only
 * the role.
 *
 * A copy is made in slices. Until the last one it is noted in `deletions`, and its participant is
 * not active: only the tenant sees it. If a slice fails, or none follows, the sweep deletes it.
 * What changes in the source between two slices may be copied or not; messages that are added then
 * are not.
 */
#ifndef MODEL_THREADS_THREAD_COPY_H
#define MODEL_THREADS_THREAD_COPY_H

#include "model/context.h"

/* A thread with more messages, files, deleted files or state documents, or with more bytes of
 * messages, of state documents or of the metadata of files, is exported and imported instead. */
enum { THREAD_COPY_MAX = 1000, THREAD_COPY_MAX_BYTES = 8 << 20 };
/* Slices are smaller than those of deletions: each byte is written to the log and the database. */
enum { THREAD_COPY_SLICE_ROWS = 500, THREAD_COPY_SLICE_BYTES = 512 * 1024 };

/* Kept between the jobs of a copy. */
struct thread_copying {
    bool is_begun;    /* a slice was committed; set by the caller */
    struct uuid id;   /* of the copy */
    int64_t last_seq; /* of the source, when the copy began */
};

/* Copies a slice; out_more: others follow. The caller holds the lock of the source. */
MUST_CHECK enum error thread_copy(struct context *c, struct uuid source_id, struct uuid share_id,
    struct thread_copying *copying, bool *out_more);

#endif
