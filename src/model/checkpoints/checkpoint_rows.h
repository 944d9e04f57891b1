/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of checkpoints share. */
#ifndef MODEL_CHECKPOINTS_CHECKPOINT_ROWS_H
#define MODEL_CHECKPOINTS_CHECKPOINT_ROWS_H

#include "model/checkpoints/checkpoints.h"
#include "model/execution/runs.h"

/* The next row of a statement with checkpoint_columns. */
void checkpoint_read_row(struct query *q, struct checkpoint *out);
/* Without ERR_NOT_FOUND; ns STR_NONE: of any namespace. Heads have no documents. */
MUST_CHECK enum error checkpoint_find(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid id, bool whole, bool *out_found, struct checkpoint *out_checkpoint);
MUST_CHECK enum error checkpoint_find_latest(struct context *c, struct uuid thread_id,
    struct str ns, bool whole, bool *out_found, struct checkpoint *out_checkpoint);
MUST_CHECK enum error checkpoint_find_latest_of_run(struct context *c, struct uuid run_id,
    struct str ns, bool whole, bool *out_found, struct checkpoint *out_checkpoint);
/* Reads what a head does not have yet. */
MUST_CHECK enum error checkpoint_fill(
    struct context *c, unsigned show, struct checkpoint *checkpoint);

/* Whether what the client gives has the right shape; fills in what it left out. */
MUST_CHECK enum error checkpoint_check_shape(struct context *c, struct checkpoint *k);

/* The parameters that insert and replace share. */
void checkpoint_bind(struct query *q, const struct checkpoint *k);
MUST_CHECK enum error checkpoint_insert(struct context *c, struct checkpoint *k);
MUST_CHECK enum error checkpoint_tell(
    struct context *c, const char *kind, const struct checkpoint *k);

#endif
