/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items: pieces of JSON, each stored once in its tenant, by SHA-256. Whatever refers to one has a
 * row that says so (snapshot_items), so that collecting what is not needed any more is a question
 * to an index. An item is shown only when it still has its hash.
 */
#ifndef MODEL_CHECKPOINTS_ITEMS_H
#define MODEL_CHECKPOINTS_ITEMS_H

#include "model/checkpoints/manifest.h"
#include "model/context.h"

/*
 * The snapshot, whose row is there, refers to these items from now on. Those that are not stored
 * yet are, from their texts; of the others it is made sure that they stay until the commit.
 * ERR_DAMAGED when one is not stored and has no text.
 */
MUST_CHECK enum error item_refer(
    struct context *c, struct uuid snapshot_id, const struct manifest_named *named);

/* The texts of those pieces that are items, into the arena. ERR_DAMAGED names the first one that is
 * not there, or not what it was. */
MUST_CHECK enum error item_read(
    struct context *c, struct arena *arena, struct piece *const *pieces, size_t n);

/* The snapshot is about to be deleted: what it refers to may not be needed any more. */
MUST_CHECK enum error item_doubt_snapshot(struct context *c, struct uuid snapshot_id);

#endif
