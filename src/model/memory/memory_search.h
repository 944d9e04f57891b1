/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search in the store: items under a prefix of namespaces, newest first, or ranked by the words
 * that they have of a query or by the likeness of their vectors. And which namespaces there are.
 *
 * The work of one search is bounded. With a filter it looks at MEMORY_LOOKS_MAX items, or
 * MEMORY_LOOKED_MAX_BYTES of them, at most: then the page ends there, also when it is empty, and
 * tells where to go on.
 */
#ifndef MODEL_MEMORY_MEMORY_SEARCH_H
#define MODEL_MEMORY_MEMORY_SEARCH_H

#include "model/memory/memory_items.h"

enum {
    MEMORY_SEARCH_DEFAULT = 10,
    MEMORY_SEARCH_MAX = 200,
    MEMORY_OFFSET_MAX = 10000,
    MEMORY_FILTER_MAX_BYTES = 64 * 1024,
    MEMORY_QUERY_MAX_BYTES = 64 * 1024,
    MEMORY_QUERY_WORDS_MAX = 32,  /* the first different ones count */
    MEMORY_WORD_ITEMS_MAX = 5000, /* of the items with one word, so many are ranked */
    MEMORY_LOOKS_MAX = 10000,
    MEMORY_LOOKS_LEAST = 100, /* of each search of a batch, once others have used up the rest */
    MEMORY_LOOKED_MAX_BYTES = 64 * 1024 * 1024,
    MEMORY_NAMESPACES_DEFAULT = 100,
    MEMORY_NAMESPACES_MAX = 1000,
    MEMORY_NAMESPACE_LOOKS_MAX = 20000,
};

/* Where a page ended. */
struct memory_position {
    bool is_given;
    bool is_ranked; /* by `number` in the order of the ranks, else by time */
    int64_t updated_at;
    int64_t number;
    int64_t skip; /* of the offset, what is left to skip */
};

struct memory_search {
    struct str at;     /* pointer to the object that the search is written in */
    struct str prefix; /* as it is stored */
    struct str filter; /* JSON; STR_NONE: none */
    struct str query;  /* STR_NONE or empty: none */
    struct str vector; /* a JSON array of numbers; STR_NONE: none. Not with a query */
    size_t limit;
    size_t offset; /* not with a position */
    size_t looks;  /* with a filter, at so many items; 0: MEMORY_LOOKS_MAX */
    struct memory_position from;
};

struct memory_found {
    struct memory_item *items;
    size_t count;
    bool more;
    size_t looked;
    struct memory_position next; /* when there is more */
};
MUST_CHECK enum error memory_search(
    struct context *c, const struct memory_search *search, struct memory_found *out_found);

/* A "*" in prefix or suffix stands for any label. */
struct memory_namespaces {
    struct str at;
    struct str_list prefix;
    struct str_list suffix;
    size_t max_depth; /* 0: as deep as they are */
    size_t limit;
    size_t offset;
    struct str after; /* as it is stored; STR_NONE: from the first */
    size_t skip;      /* left of the offset of the page before */
};

struct memory_namespaces_found {
    struct str *items; /* as they are stored, by their bytes, each once */
    size_t count;
    bool more;
    struct str last; /* where it ended; STR_NONE: before the first */
    size_t skip;
};
MUST_CHECK enum error memory_list_namespaces(struct context *c,
    const struct memory_namespaces *asked, struct memory_namespaces_found *out_found);

#endif
