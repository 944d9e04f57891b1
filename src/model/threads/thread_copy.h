/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a thread for the context's principal, the only participant of the copy. Copied are title,
 * agent, documents, metadata (with `copied_from`), messages without earlier versions and debug
 * data, the newest version of each file (by reference to the same content) and state documents, but
 * not participants, runs and events. The log of the copy begins after the last seq of the source,
 * so that messages keep their seq. Messages of the principal keep their sender; others keep only
 * the role.
 */
#ifndef MODEL_THREADS_THREAD_COPY_H
#define MODEL_THREADS_THREAD_COPY_H

#include "model/context.h"

/* Limit for messages, for files and for state documents. A thread with more cannot be copied. */
enum { THREAD_COPY_MAX = 10000 };

/* The caller holds the lock of the source. */
MUST_CHECK enum error thread_copy(
    struct context *c, struct uuid source_id, struct uuid share_id, struct uuid *out_id);

#endif
