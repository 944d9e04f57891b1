/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long-term memory (`/v1/store`): JSON objects of agents, by namespace and key. A namespace is a
 * list of labels; a search covers all namespaces with a prefix. Readers do not see expired items,
 * which the sweep deletes. Items belong to no thread and have no events.
 *
 * Functions that check client input take `at`, the pointer of its object: empty for a body,
 * "/operations/3" in a batch.
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
    MEMORY_WORDS_MAX = 16000,           /* indexed words of an item: the first ones, */
    MEMORY_WORDS_MAX_BYTES = 512 * 1024 /* up to this size */
};
#define MEMORY_TTL_MAX_S (100 * 366 * INT64_C(86400))

struct memory_vector_bytes; /* memory_vectors.h */

struct memory_item {
    int64_t number;
    struct str_list labels;
    struct str ns; /* the labels as they are stored: "users.42." */
    struct str key;
    struct str value; /* compact JSON */
    int64_t size_bytes;
    int64_t created_at;
    int64_t updated_at;
    bool has_expires_at;
    int64_t expires_at;
    bool is_searchable; /* set when it is stored; else the sweep indexes it */
    int64_t version;
    const struct memory_vector_bytes *vectors; /* only for a put */
    size_t n_vectors;
    bool has_score; /* of a ranked search: up to 1, with 12 decimal places as money has */
    int64_t score;
};
#define MEMORY_SCORE_UNIT 1e12

/* --- Namespaces ------------------------------------------------------------------------------- */

/* Joins labels to the stored form; without labels it is empty, the prefix of all namespaces. A
 * fault has the pointer of the label, below `pointer`. */
MUST_CHECK enum error memory_join_namespace(
    struct context *c, struct str_list labels, struct str pointer, struct str *out_ns);
/* Returns the labels of "users.42", or of the stored form "users.42.". */
struct str_list memory_split_namespace(struct arena *arena, struct str ns);
/* Returns the upper bound, exclusive, of the namespaces with this prefix. */
struct str memory_above_namespace(struct arena *arena, struct str prefix);

/* --- Items ------------------------------------------------------------------------------------ */

/* ERR_NOT_FOUND also if the item has expired. */
MUST_CHECK enum error memory_item_get(
    struct context *c, struct str ns, struct str key, struct memory_item *out_item);
/* Stores ns, key, value, expiry and vectors, and sets the other members of `item`. out_is_new: the
 * key did not exist. ERR_STALE: the request has another version. */
MUST_CHECK enum error memory_item_put(
    struct context *c, struct memory_item *item, bool *out_is_new);
MUST_CHECK enum error memory_item_delete(struct context *c, struct str ns, struct str key);

/* Reads the columns of an item. */
void memory_item_read_row(struct query *q, struct memory_item *out_item);

/* --- Words (memory_words.c) ------------------------------------------------------------------- */

MUST_CHECK enum error memory_index(struct context *c, const struct memory_item *item);
/* Called before the item is deleted. */
MUST_CHECK enum error memory_unindex(struct context *c, int64_t number);

/* --- The sweep -------------------------------------------------------------------------------- */

/* Find a tenant with expired items, and delete some of them. */
MUST_CHECK enum error memory_find_expired(
    struct context *c, int64_t now_us, bool *out_found, struct uuid *out_tenant);
MUST_CHECK enum error memory_expire_some(struct context *c, int64_t now_us);
/* Find a tenant with items of a bulk import that are not in the index, and add some of them. */
MUST_CHECK enum error memory_find_unsearchable(
    struct context *c, bool *out_found, struct uuid *out_tenant);
MUST_CHECK enum error memory_make_searchable(struct context *c, bool *out_more);

#endif
