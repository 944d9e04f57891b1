/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items: pieces of JSON, each stored once per tenant, by SHA-256. Every reference to an item is a
 * row (snapshot_items), so an index finds items without references. An item is returned only if it
 * still has its hash.
 *
 * The process remembers the texts that it used last (base/memo.h), for each tenant apart. A text in
 * memory has its hash by construction: it was hashed when it was stored, or verified when it was
 * read.
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

/* The place of an item's text in a document. */
struct item_place {
    const struct piece *item;
    char *to; /* has room for the text */
    bool is_read;
};

/* Writes the texts of the items to their places, whose order may change. ERR_DAMAGED names an item
 * that is missing or damaged. */
MUST_CHECK enum error item_read(
    struct context *c, struct arena *arena, struct item_place *places, size_t n);

/* Remembers the texts of these items, if they have any. */
void item_remember(const struct context *c, const struct manifest_named *named);
/* Returns true if the process remembers this text of the item. */
bool item_is_known(const struct context *c, const struct piece *item, struct str text);
/* Forgets all texts. */
void item_forget_texts(void);

/* Notes the items of a snapshot that is about to be deleted, for the sweep. */
MUST_CHECK enum error item_doubt_snapshot(struct context *c, struct uuid snapshot_id);

#endif
