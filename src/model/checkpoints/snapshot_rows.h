/* SPDX-License-Identifier: Apache-2.0 */
/* The storage of snapshots. For snapshot*.c, fsck and archives; other files use snapshots.h. */
#ifndef MODEL_CHECKPOINTS_SNAPSHOT_ROWS_H
#define MODEL_CHECKPOINTS_SNAPSHOT_ROWS_H

#include "model/checkpoints/manifest.h"
#include "model/checkpoints/snapshots.h"

/* The working memory of one call: the tape of the largest document with the smallest values, and
 * the pieces of two documents. */
enum { SNAPSHOT_MEMORY_BYTES = 192 * 1024 * 1024 };
/* A chain of manifests has at most so many times the bytes of a whole manifest, or of
 * SNAPSHOT_CHAIN_MIN_BYTES if that is greater: the cost of a read depends on the document, not on
 * its history. */
enum { SNAPSHOT_CHAIN_FACTOR = 4, SNAPSHOT_CHAIN_MIN_BYTES = 16 * 1024 };
/* A snapshot with a larger manifest, and so with more than some hundreds of items, is deleted in
 * slices. */
enum { SNAPSHOT_REMOVE_MAX_BYTES = 16 * 1024 };
/* How long a dropped snapshot may remain for those that build on it. */
enum { SNAPSHOT_REBASE_DELAY_S = 3600 };

struct snapshot_loaded {
    struct snapshot head;
    int64_t depth;
    size_t chain_bytes; /* of its manifest and all its bases */
    bool has_base;
    struct uuid base_id;
    bool is_dropped; /* but kept for those that build on it */
    struct manifest manifest;
};

/* Loads a snapshot and its whole manifest, which has the stored hash, from what is stored. */
MUST_CHECK enum error snapshot_load(
    struct context *c, struct arena *arena, struct uuid id, struct snapshot_loaded *out);
/* Loads a snapshot of this thread that was not dropped. */
MUST_CHECK enum error snapshot_load_base(struct context *c, struct arena *arena,
    struct uuid thread_id, struct uuid base_id, struct snapshot_loaded *out);

/* Return the texts, in the context's arena. */
MUST_CHECK enum error snapshot_read_cut(
    struct context *c, struct arena *arena, const struct cut *cut, struct str *out_text);
MUST_CHECK enum error snapshot_read_document(
    struct context *c, struct arena *arena, const struct manifest *m, struct str *out_document);

/* The row of a new snapshot. */
struct snapshot_row {
    struct snapshot snapshot;
    bool has_base;
    struct uuid base_id;
    int64_t depth;
    struct str manifest;
    bool is_dropped;
};
MUST_CHECK enum error snapshot_insert(struct context *c, const struct snapshot_row *row);
/* ERR_NOT_FOUND never: a snapshot that does not exist counts as dropped. */
MUST_CHECK enum error snapshot_is_dropped(struct context *c, struct uuid id, bool *out_is);

struct snapshot_inputs;
/* Stores a snapshot with the items that the manifest names, or, in a rehearsal, keeps it as a plan.
 * `base` may be NULL. */
MUST_CHECK enum error snapshot_store(struct context *c, struct arena *arena,
    const struct snapshot_inputs *inputs, const struct snapshot_loaded *base,
    const struct manifest *m, struct snapshot *out_snapshot);

/* A dropped snapshot on which nothing builds. */
struct unneeded {
    bool is_found;
    struct uuid base_id;
    int64_t manifest_bytes;
};
MUST_CHECK enum error snapshot_find_unneeded(
    struct context *c, struct uuid id, struct unneeded *out);
MUST_CHECK enum error snapshot_delete(struct context *c, struct uuid id);
/* Deletes the snapshot if it was dropped and nothing builds on it, and then its bases likewise. A
 * snapshot with many items is left to the sweep. */
MUST_CHECK enum error snapshot_remove_unneeded(struct context *c, struct uuid id);

#endif
