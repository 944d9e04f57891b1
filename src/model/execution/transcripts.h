/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transcripts: lists of messages as a model sees them ({"role", "content", …}), each kept as a
 * snapshot of its thread, so that a list which only grew costs what was added. Whoever has the id
 * of one owns it: to replace it drops the one before. The nil id is the empty list.
 */
#ifndef MODEL_EXECUTION_TRANSCRIPTS_H
#define MODEL_EXECUTION_TRANSCRIPTS_H

#include "model/checkpoints/snapshots.h"
#include "model/context.h"

enum {
    TRANSCRIPT_MAX_BYTES = SNAPSHOT_MAX_BYTES - 1024,
    TRANSCRIPT_ROLE_MAX_BYTES = 64,
};

/* Whether `list` (compact JSON) is a list of messages: each an object with a role. Faults are told
 * below `pointer` ("/messages"). */
MUST_CHECK enum error transcript_check(struct context *c, struct str list, struct str pointer);

/* The list that was checked takes the place of the one with the id. The thread is locked. */
MUST_CHECK enum error transcript_replace(
    struct context *c, struct uuid thread_id, struct str list, struct uuid *id);
/* Puts what was checked at its end. */
MUST_CHECK enum error transcript_append(
    struct context *c, struct uuid thread_id, struct str list, struct str pointer, struct uuid *id);
/* Compact JSON; "[]" for the nil id. */
MUST_CHECK enum error transcript_get(struct context *c, struct uuid id, struct str *out_list);

#endif
