/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a thread for the context's principal, which takes part in it alone: title, agent,
 * documents, metadata (with `copied_from`), messages without their history and debug data, the
 * newest version of each file by reference to the same content, and state documents. Not its
 * participants, runs and events: the new log begins behind the number at which the source stood,
 * so that the messages keep theirs. A message of the principal itself stays its own; others keep
 * their role, and no sender.
 */
#ifndef MODEL_THREADS_THREAD_COPY_H
#define MODEL_THREADS_THREAD_COPY_H

#include "model/context.h"

/* Of each: messages, files, state documents. A thread with more cannot be copied by a link. */
enum { THREAD_COPY_MAX = 10000 };

/* The caller holds the source's lock. */
MUST_CHECK enum error thread_copy(
    struct context *c, struct uuid source_id, struct uuid share_id, struct uuid *out_id);

#endif
