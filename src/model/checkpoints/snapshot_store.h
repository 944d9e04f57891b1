/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of snapshots share; others see snapshots.h. */
#ifndef MODEL_CHECKPOINTS_SNAPSHOT_STORE_H
#define MODEL_CHECKPOINTS_SNAPSHOT_STORE_H

#include "model/checkpoints/manifest.h"
#include "model/checkpoints/snapshots.h"

/* What one call works in: the tape of the largest document of the smallest values, and the pieces
 * of two. */
enum { SNAPSHOT_MEMORY_BYTES = 192 * 1024 * 1024 };
/* A chain of manifests has so many times the bytes of the whole one, or of SNAPSHOT_CHAIN_MIN_BYTES
 * where that is less: what a read takes depends on the document, not on what it was before. */
enum { SNAPSHOT_CHAIN_FACTOR = 4, SNAPSHOT_CHAIN_MIN_BYTES = 16 * 1024 };
/* How long one that was dropped may stay for those that build on it. */
enum { SNAPSHOT_REBASE_DELAY_S = 3600 };

struct snapshot_loaded {
    struct snapshot head;
    int64_t depth;
    size_t chain_bytes; /* of its manifest and all that it builds on */
    bool has_base;
    struct uuid base_id;
    bool is_dropped; /* and kept for those that build on it */
    struct manifest manifest;
};

/* With its whole manifest, which has the hash that was stored. */
MUST_CHECK enum error snapshot_load(
    struct context *c, struct arena *arena, struct uuid id, struct snapshot_loaded *out);
/* One of this thread that was not dropped. */
MUST_CHECK enum error snapshot_load_base(struct context *c, struct arena *arena,
    struct uuid thread_id, struct uuid base_id, struct snapshot_loaded *out);

/* The texts, in the context's arena. */
MUST_CHECK enum error snapshot_read_cut(
    struct context *c, struct arena *arena, struct cut *cut, struct str *out_text);
MUST_CHECK enum error snapshot_read_document(
    struct context *c, struct arena *arena, struct manifest *m, struct str *out_document);

/* `base` may be NULL. */
MUST_CHECK enum error snapshot_store(struct context *c, struct arena *arena, struct uuid thread_id,
    const struct snapshot_loaded *base, const struct manifest *m, struct snapshot *out_snapshot);

/* Deletes it if it was dropped and nothing builds on it, and then those that it built on. */
MUST_CHECK enum error snapshot_remove_unneeded(struct context *c, struct uuid id);

#endif
