/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transcripts: lists of messages in the form that models use ({"role", "content", …}). Each is
 * stored as a snapshot of its thread, so that appending to a list stores only the new messages. The
 * row that has the id of a transcript owns it: replacing the transcript deletes the previous one.
 * The nil id is the empty list.
 */
#ifndef MODEL_EXECUTION_TRANSCRIPTS_H
#define MODEL_EXECUTION_TRANSCRIPTS_H

#include "model/checkpoints/snapshots.h"
#include "model/context.h"

enum {
    TRANSCRIPT_MAX_BYTES = SNAPSHOT_MAX_BYTES - 1024,
    TRANSCRIPT_ROLE_MAX_BYTES = 64,
};

/* Checks that `list` (compact JSON) is a list of messages: objects with a role. Faults begin with
 * `pointer` ("/messages"). */
MUST_CHECK enum error transcript_check(struct context *c, struct str list, struct str pointer);

/* Replaces the transcript `*id` by a checked list, and sets the new id. The thread is locked. */
MUST_CHECK enum error transcript_replace(
    struct context *c, struct uuid thread_id, struct str list, struct uuid *id);
/* Appends a checked list. */
MUST_CHECK enum error transcript_append(
    struct context *c, struct uuid thread_id, struct str list, struct str pointer, struct uuid *id);
/* Returns compact JSON; "[]" for the nil id. */
MUST_CHECK enum error transcript_get(struct context *c, struct uuid id, struct str *out_list);

#endif
