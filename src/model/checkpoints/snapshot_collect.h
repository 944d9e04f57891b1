/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep of snapshots and items: deletes all that are not needed, and none that are.
 *
 * A dropped snapshot remains while others build on it, for at most an hour and a sweep; then those
 * become whole. The snapshots of a deleted thread are deleted in slices. The items of a deleted
 * snapshot are noted as doubtful; an item is deleted if no reference to it is found while its row
 * is locked. A transaction that refers to a stored item locks it too (item_refer): either the sweep
 * sees the reference, or the transaction finds the item deleted and stores it again.
 */
#ifndef MODEL_CHECKPOINTS_SNAPSHOT_COLLECT_H
#define MODEL_CHECKPOINTS_SNAPSHOT_COLLECT_H

#include "model/context.h"

/* Return the next work of all tenants; nil ids if there is none. */
MUST_CHECK enum error item_next_doubtful(
    struct context *c, struct uuid after, struct uuid *out_tenant_id);
MUST_CHECK enum error snapshot_first_garbage(
    struct context *c, struct uuid *out_tenant_id, struct uuid *out_thread_id);
/* Returns at most `limit` snapshots, with about as many bytes as the largest document. */
MUST_CHECK enum error snapshot_list_rebase(
    struct context *c, size_t limit, struct owned_id *out_due, size_t *out_count);

/* Returns the snapshots that are due to be deleted in slices. */
MUST_CHECK enum error snapshot_list_leftovers(
    struct context *c, size_t limit, struct owned_id *out_due, size_t *out_count);

/* Do as much work for the context's tenant as fits in one job. `out_more`: work remains. */
MUST_CHECK enum error item_settle(struct context *c, bool *out_more);
MUST_CHECK enum error snapshot_collect_garbage(
    struct context *c, struct uuid thread_id, bool *out_more);
MUST_CHECK enum error snapshot_collect_leftover(struct context *c, struct uuid id, bool *out_more);
/* Makes the manifest of the snapshot whole, so that its base can be deleted. */
MUST_CHECK enum error snapshot_rebase(struct context *c, struct uuid id);

/*
 * Leftovers: dropped snapshots with many items, which are deleted in slices, and snapshots that are
 * stored in slices (snapshot_plan.h), as long as they are not adopted. The references of a leftover
 * may be incomplete, so exports and `cairn check` skip leftovers. After `due_us`, by the clock of
 * leases, the sweep deletes them.
 */
MUST_CHECK enum error snapshot_leftover_add(struct context *c, struct uuid id, int64_t due_us);
MUST_CHECK enum error snapshot_leftover_renew(
    struct context *c, struct uuid id, int64_t due_us, bool *out_is_gone);
/* Makes it a snapshot like all others, unless the sweep may have begun to delete it. */
MUST_CHECK enum error snapshot_leftover_adopt(struct context *c, struct uuid id, bool *out_done);

#endif
