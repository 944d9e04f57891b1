/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifests of the snapshots that the process used last (base/memo.h), so that neither the
 * chain of bases nor the hash of the whole manifest is needed again. What is remembered of a
 * snapshot is used only if its row, which is read each time, still has the same values.
 */
#ifndef MODEL_CHECKPOINTS_SNAPSHOT_MEMORY_H
#define MODEL_CHECKPOINTS_SNAPSHOT_MEMORY_H

#include "model/checkpoints/snapshot_rows.h"

/* `whole` is the whole manifest, which has the hash of the snapshot. */
void snapshot_remember(
    const struct context *c, const struct snapshot_loaded *loaded, struct str whole);
/* Loads a snapshot that the process remembers. ERR_NOT_FOUND if it was dropped. */
MUST_CHECK enum error snapshot_recall(struct context *c, struct arena *arena, struct uuid id,
    bool *out_found, struct snapshot_loaded *out);

/* Forgets all manifests, and all texts of items: when a store is closed, and for tests of what is
 * stored. */
void snapshot_forget_all(void);

#endif
