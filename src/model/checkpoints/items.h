/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items: pieces of JSON, each stored once per tenant, by SHA-256. Every reference to an item is a
 * row (snapshot_items), so an index finds items without references. An item is returned only if it
 * still has its hash.
 */
#ifndef MODEL_CHECKPOINTS_ITEMS_H
#define MODEL_CHECKPOINTS_ITEMS_H

#include "model/checkpoints/manifest.h"
#include "model/context.h"

/*
 * Adds the references of a stored snapshot to these items. Stores items that are not stored yet
 * from their texts, and ensures that the others remain until the commit. ERR_DAMAGED if an item is
 * not stored and has no text.
 */
MUST_CHECK enum error item_refer(
    struct context *c, struct uuid snapshot_id, const struct manifest_named *named);

/* Reads the texts of the pieces that are items into the arena. ERR_DAMAGED names the first item
 * that is missing or damaged. */
MUST_CHECK enum error item_read(
    struct context *c, struct arena *arena, struct piece *const *pieces, size_t n);

/* Notes the items of a snapshot that is about to be deleted, for the sweep. */
MUST_CHECK enum error item_doubt_snapshot(struct context *c, struct uuid snapshot_id);

#endif
