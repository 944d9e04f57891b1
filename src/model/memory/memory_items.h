/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: JSON objects that agents keep for long, by namespace and key. A namespace is a list of
 * labels, so that what is under a prefix can be searched as one. An item that has expired is gone
 * for whoever reads; the sweep removes it. Items belong to no thread, and no event tells of them.
 *
 * Functions that check what a client wrote take `at`, the pointer to the object that it stands in:
 * empty for a body, "/operations/3" inside of a batch.
 */
#ifndef MODEL_MEMORY_MEMORY_ITEMS_H
#define MODEL_MEMORY_MEMORY_ITEMS_H

#include "base/schema.h"
#include "model/context.h"

enum {
    MEMORY_LABELS_MAX = 16,
    MEMORY_LABEL_MAX_BYTES = 128,
    MEMORY_NAMESPACE_MAX_BYTES = MEMORY_LABELS_MAX * (MEMORY_LABEL_MAX_BYTES + 1),
    MEMORY_KEY_MAX_BYTES = 512,
    MEMORY_VALUE_MAX_BYTES = 1024 * 1024,
    MEMORY_WORDS_MAX = 16000,           /* what an item is found by: its first words, */
    MEMORY_WORDS_MAX_BYTES = 512 * 1024 /* and no more bytes of them than this */
};
#define MEMORY_TTL_MAX_S (100 * 366 * INT64_C(86400))

struct memory_vector_bytes; /* memory_vectors.h */

struct memory_item {
    int64_t number;
    struct str_list labels;
    struct str ns; /* the same as it is stored: "users.42." */
    struct str key;
    struct str value; /* compact JSON */
    int64_t size_bytes;
    int64_t created_at;
    int64_t updated_at;
    bool has_expires_at;
    int64_t expires_at;
    int64_t version;
    const struct memory_vector_bytes *vectors; /* what is put; never read */
    size_t n_vectors;
    bool has_score; /* of a search that ranks: 1 is all that can be had, told as money is */
    int64_t score;
};
#define MEMORY_SCORE_UNIT 1e12

/* --- Namespaces ------------------------------------------------------------------------------- */

/* Joined as it is stored; no labels give an empty text, the prefix of all. A fault names the label
 * by its place under `pointer`. */
MUST_CHECK enum error memory_join_namespace(
    struct context *c, struct str_list labels, struct str pointer, struct str *out_ns);
/* The labels of "users.42", or, as it is stored, of "users.42.". */
struct str_list memory_split_namespace(struct arena *arena, struct str ns);
/* What is under the prefix is at it or behind it, and before this. */
struct str memory_above_namespace(struct arena *arena, struct str prefix);

/* --- Items ------------------------------------------------------------------------------------ */

/* ERR_NOT_FOUND when there is none, or not any more. */
MUST_CHECK enum error memory_item_get(
    struct context *c, struct str ns, struct str key, struct memory_item *out_item);
/* Writes ns, key, value, expiry and vectors; fills in the rest of `item`. out_is_new: there was
 * none. ERR_STALE when the request names another version. */
MUST_CHECK enum error memory_item_put(
    struct context *c, struct memory_item *item, bool *out_is_new);
MUST_CHECK enum error memory_item_delete(struct context *c, struct str ns, struct str key);

/* The columns of an item, in their order. */
void memory_item_read_row(struct query *q, struct memory_item *out_item);

/* --- Words (store_words.c) -------------------------------------------------------------------- */

MUST_CHECK enum error memory_index(struct context *c, const struct memory_item *item);
/* Before the item goes. */
MUST_CHECK enum error memory_unindex(struct context *c, int64_t number);
MUST_CHECK enum error memory_forget_tenant(struct context *c, struct uuid tenant_id);

/* --- The sweep -------------------------------------------------------------------------------- */

/* A tenant with items past their time, and some of them gone. */
MUST_CHECK enum error memory_find_expired(
    struct context *c, int64_t now_us, bool *out_found, struct uuid *out_tenant);
MUST_CHECK enum error memory_expire_some(struct context *c, int64_t now_us);
/* A tenant with items that came in bulk, without their words. */
MUST_CHECK enum error memory_find_unsearchable(
    struct context *c, bool *out_found, struct uuid *out_tenant);
MUST_CHECK enum error memory_make_searchable(struct context *c, bool *out_more);

#endif
