/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot that a rehearsal (model/rehearsal.h) has computed: its row and its items. The WRITE
 * job that needs it finds it by its inputs and stores it without computing it again. A plan with
 * many items is stored ahead of that job, in slices that commit separately: the snapshot is then a
 * leftover (snapshot_collect.h), which no request can read until the job adopts it. Otherwise the
 * sweep deletes it.
 */
#ifndef MODEL_CHECKPOINTS_SNAPSHOT_PLAN_H
#define MODEL_CHECKPOINTS_SNAPSHOT_PLAN_H

#include "model/checkpoints/snapshot_rows.h"

enum {
    SNAPSHOT_PLAN_ITEMS_AT_ONCE = 256,
    SNAPSHOT_PLAN_BYTES_AT_ONCE = 512 * 1024,
    SNAPSHOT_PLAN_LEASE_S = 60, /* renewed by each slice */
};

struct snapshot_plan;

/* The inputs of a snapshot. Texts must live as long as the job. */
struct snapshot_inputs {
    struct uuid thread_id;
    struct str key; /* equal for equal documents, or for equal changes of the same base */
};

/* In a rehearsal: keeps the snapshot, if its memory is available. */
void snapshot_plan_make(struct context *c, const struct snapshot_inputs *inputs,
    const struct snapshot_row *row, const struct manifest_named *named);
/* Stores, or adopts, the snapshot of the plan if it is that of the inputs. Otherwise *out_done is
 * false, and nothing has changed. */
MUST_CHECK enum error snapshot_plan_use(struct context *c, const struct snapshot_inputs *inputs,
    bool *out_done, struct snapshot *out_snapshot);

/* --- For the owner of the call --------------------------------------------------------------- */

/* Returns true if the plan, which may be NULL, is stored ahead of the job that uses it. */
bool snapshot_plan_is_ahead(const struct snapshot_plan *plan);
/* One slice, in a WRITE job, which may run more than once. */
MUST_CHECK enum error snapshot_plan_store_some(struct context *c, struct snapshot_plan *plan);
/* After the job: returns true if there is another slice. */
MUST_CHECK bool snapshot_plan_needs_more(struct snapshot_plan *plan, enum error result);

#endif
