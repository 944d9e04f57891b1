/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests: what a JSON document consists of, by name instead of by value.
 *
 * A document is cut into pieces: a document that is an array into its elements, one that is an
 * object into its members, and each of these that is an array into its elements; anything else is
 * one piece. A piece is compact JSON as it was written. Shorter ones than PIECE_INLINE_BYTES stand
 * in the manifest itself, the others are items, named by SHA-256. How a document is cut depends on
 * the document alone, so equal documents have equal manifests, and the hash of a whole manifest
 * (manifest_hash) is the hash of the document.
 *
 * All that is here lives in the arena given or borrows from the text given. Nothing is stored.
 */
#ifndef MODEL_CHECKPOINTS_MANIFEST_H
#define MODEL_CHECKPOINTS_MANIFEST_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/json/json.h"

enum {
    PIECE_INLINE_BYTES = 64,
    MANIFEST_MAX_PIECES = 100000,
    MANIFEST_CUT_MAX = 20000, /* elements, or members; one with more of them is one piece */
    MANIFEST_MAX_BYTES = 24 * 1024 * 1024,
};

struct piece {
    const char *at;   /* its text, or of an item its SHA-256 */
    const char *text; /* of an item, where it is at hand; NULL: only its hash is known */
    uint32_t len;     /* of the text */
    bool is_item;
};

/* An array's elements, or one piece that is the value. */
struct cut {
    struct piece *pieces;
    size_t n;
    size_t cap;
    bool is_array;
};

struct manifest_member {
    struct str key; /* as written, in its quotation marks */
    struct cut value;
};

struct manifest {
    bool is_object;
    struct cut value; /* of a document that is no object */
    struct manifest_member *members;
    size_t n_members;
    size_t cap_members;
};

/* Growing in an arena. */
void cut_reserve(struct arena *arena, struct cut *cut, size_t more);
void cut_append(struct arena *arena, struct cut *cut, struct piece piece);
void manifest_append(struct arena *arena, struct manifest *m, struct manifest_member member);

/* The pieces of a value, each of its items hashed. */
void manifest_cut_value(struct arena *arena, struct json value, struct cut *out_cut);
void manifest_cut(struct arena *arena, struct json document, struct manifest *out_manifest);

size_t manifest_pieces(const struct manifest *m);
/* How long the compact document is. */
uint64_t manifest_len(const struct manifest *m);
uint64_t cut_len(const struct cut *cut);
/* The place of the member with this name (decoded), or n_members. */
size_t manifest_find(const struct manifest *m, struct str name);

/* Items that the bytes written name, in their order, some perhaps twice. */
struct manifest_named {
    struct arena *arena;
    const struct piece **pieces;
    size_t n;
    size_t cap;
};

/* Does nothing when `named` is NULL. */
void manifest_name(struct manifest_named *named, const struct piece *piece);

/* The bytes of the whole; `named` may be NULL. What passes the buffer's maximum has it failed. */
void manifest_write(const struct manifest *m, struct buf *out, struct manifest_named *named);
/* What differs from the base. False when only the whole can say it. */
bool manifest_write_delta(const struct manifest *base, const struct manifest *m,
    struct arena *arena, struct buf *out, struct manifest_named *named);
struct sha256 manifest_hash(const struct manifest *m);

/*
 * Reads what was written: a whole manifest becomes *m, a delta is carried out on *m, which was read
 * before. The manifest borrows from the bytes. False, and *m of no use, for any bytes that were not
 * written here; what is damaged otherwise shows in the hash.
 */
MUST_CHECK bool manifest_read(struct arena *arena, struct str bytes, struct manifest *m);
/* Whether they need a base. */
bool manifest_is_delta(struct str bytes);
/* The items that these bytes name, whole or delta. */
MUST_CHECK bool manifest_read_names(
    struct arena *arena, struct str bytes, struct manifest_named *named);

#endif
