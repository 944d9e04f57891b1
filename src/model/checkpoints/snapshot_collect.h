/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sweep does for snapshots and items: nothing that is not needed stays, and nothing that
 * is needed goes.
 *
 * One that was dropped stays as long as others build on it, at most an hour and a sweep: then those
 * become whole. The snapshots of a thread that was deleted go in slices. What a snapshot referred
 * to when it went is noted as doubtful; an item goes when, with its row locked, no reference to it
 * is found. Who refers to an item that is stored already locks it, too (item_refer), so that either
 * the reference is seen here, or the item is gone there and stored once more.
 */
#ifndef MODEL_CHECKPOINTS_SNAPSHOT_COLLECT_H
#define MODEL_CHECKPOINTS_SNAPSHOT_COLLECT_H

#include "model/context.h"

/* Across tenants: what there is to do next. The nil ids: nothing. */
MUST_CHECK enum error item_first_doubtful(struct context *c, struct uuid *out_tenant_id);
MUST_CHECK enum error snapshot_first_garbage(
    struct context *c, struct uuid *out_tenant_id, struct uuid *out_thread_id);
struct snapshot_due {
    struct uuid tenant_id;
    struct uuid id;
};
/* At most `limit`, and not many more bytes than the largest document has. */
MUST_CHECK enum error snapshot_list_rebase(
    struct context *c, size_t limit, struct snapshot_due *out_due, size_t *out_count);

/* For the context's tenant, so much of it as a job may do; `out_more`: there is more. */
MUST_CHECK enum error item_settle(struct context *c, bool *out_more);
MUST_CHECK enum error snapshot_collect_garbage(
    struct context *c, struct uuid thread_id, bool *out_more);
/* Makes its manifest whole, so that what it builds on can go. */
MUST_CHECK enum error snapshot_rebase(struct context *c, struct uuid id);

#endif
