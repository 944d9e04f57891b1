/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests describe the parts of a JSON document by hash instead of by value.
 *
 * A document is cut into pieces: an array into its elements, an object into its members, and each
 * member that is an array into its elements; any other value is one piece. A piece is compact JSON,
 * as it was written. Pieces shorter than PIECE_INLINE_BYTES are in the manifest itself, the others
 * are items, named by SHA-256. The cut depends on the document alone, so equal documents have equal
 * manifests, and the hash of a whole manifest (manifest_hash) is the hash of the document.
 *
 * All results are in the given arena or borrow from the given text. Nothing is stored.
 */
#ifndef MODEL_CHECKPOINTS_MANIFEST_H
#define MODEL_CHECKPOINTS_MANIFEST_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/json/json.h"

enum {
    PIECE_INLINE_BYTES = 64,
    MANIFEST_MAX_PIECES = 100000,
    MANIFEST_CUT_MAX = 20000, /* elements or members; a value with more of them is one piece */
    MANIFEST_MAX_BYTES = 24 * 1024 * 1024,
};

struct piece {
    const char *at;   /* the text, or the SHA-256 of an item */
    const char *text; /* of an item; NULL: only its hash is known */
    uint32_t len;     /* of the text */
    bool is_item;
};

/* The elements of an array, or one piece that is the value. */
struct cut {
    struct piece *pieces;
    size_t n;
    size_t cap;
    bool is_array;
};

struct manifest_member {
    struct str key; /* as written, with its quotation marks */
    struct cut value;
};

struct manifest {
    bool is_object;
    struct cut value; /* of a document that is not an object */
    struct manifest_member *members;
    size_t n_members;
    size_t cap_members;
};

/* These grow in an arena. */
void cut_reserve(struct arena *arena, struct cut *cut, size_t more);
void cut_append(struct arena *arena, struct cut *cut, struct piece piece);
void manifest_append(struct arena *arena, struct manifest *m, struct manifest_member member);

/* An earlier manifest, whose items need not be hashed again: an item at the same place with the
 * same text has the same hash. `has_text` returns true only if the item has this text. */
struct manifest_before {
    const struct manifest *manifest;
    bool (*has_text)(const void *data, const struct piece *item, struct str text);
    const void *data;
};

/* Cut a value into pieces and hash its items. `before` may be NULL. */
void manifest_cut_value(struct arena *arena, struct json value, struct cut *out_cut);
void manifest_cut(struct arena *arena, struct json document, const struct manifest_before *before,
    struct manifest *out_manifest);

size_t manifest_pieces(const struct manifest *m);
/* The length of the compact document. */
uint64_t manifest_len(const struct manifest *m);
uint64_t cut_len(const struct cut *cut);
/* Returns the index of the member with this decoded name, or n_members. */
size_t manifest_find(const struct manifest *m, struct str name);

/* The items that a manifest refers to, in their order, possibly with duplicates. */
struct manifest_named {
    struct arena *arena;
    const struct piece **pieces;
    size_t n;
    size_t cap;
};

/* Adds an item. Does nothing if `named` is NULL. */
void manifest_name(struct manifest_named *named, const struct piece *piece);

/* Writes the whole manifest; `named` may be NULL. The buffer fails if its maximum is exceeded. */
void manifest_write(const struct manifest *m, struct buf *out, struct manifest_named *named);
/* Writes the difference from the base. Returns false if only a whole manifest can express it. */
bool manifest_write_delta(const struct manifest *base, const struct manifest *m,
    struct arena *arena, struct buf *out, struct manifest_named *named);
struct sha256 manifest_hash(const struct manifest *m);

/*
 * Reads a manifest: a whole one becomes *m, a delta is applied to *m, which was read before. The
 * manifest borrows from the bytes. Returns false for bytes that manifest_write cannot have written,
 * and leaves *m undefined; the hash reveals other damage.
 */
MUST_CHECK bool manifest_read(struct arena *arena, struct str bytes, struct manifest *m);
/* Returns true if the manifest needs a base. */
bool manifest_is_delta(struct str bytes);
/* Reads the items that a whole manifest or a delta refers to. */
MUST_CHECK bool manifest_read_names(
    struct arena *arena, struct str bytes, struct manifest_named *named);

#endif
