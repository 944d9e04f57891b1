/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of checkpoints. Private to checkpoint*.c. */
#ifndef MODEL_CHECKPOINTS_CHECKPOINT_ROWS_H
#define MODEL_CHECKPOINTS_CHECKPOINT_ROWS_H

#include "model/checkpoints/checkpoints.h"
#include "model/execution/runs.h"
#include "model/threads/events.h"

/* These do not return ERR_NOT_FOUND. ns STR_NONE: any namespace. Without `whole` the checkpoint has
 * no documents. */
MUST_CHECK enum error checkpoint_find(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid id, bool whole, bool *out_found, struct checkpoint *out_checkpoint);
MUST_CHECK enum error checkpoint_find_latest(struct context *c, struct uuid thread_id,
    struct str ns, bool whole, bool *out_found, struct checkpoint *out_checkpoint);
MUST_CHECK enum error checkpoint_find_latest_of_run(struct context *c, struct uuid run_id,
    struct str ns, bool whole, bool *out_found, struct checkpoint *out_checkpoint);
/* Reads the documents that a checkpoint from a list does not have. */
MUST_CHECK enum error checkpoint_fill(
    struct context *c, unsigned show, struct checkpoint *checkpoint);

/* Checks the shape of the documents that a client sent, and sets the absent ones. */
MUST_CHECK enum error checkpoint_check_shape(struct context *c, struct checkpoint *k);

/* Binds the parameters that insert and replace share. */
void checkpoint_bind(struct query *q, const struct checkpoint *k);
MUST_CHECK enum error checkpoint_insert(struct context *c, struct checkpoint *k);
MUST_CHECK enum error checkpoint_tell(
    struct context *c, enum event_kind kind, const struct checkpoint *k);

#endif
