/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search in long-term memory: items in the namespaces with a prefix, newest first, or ranked by the
 * words of a query or by the similarity of vectors. Also lists namespaces.
 *
 * The work of one search is limited. With a filter it examines at most MEMORY_LOOKS_MAX items or
 * MEMORY_LOOKED_MAX_BYTES. The page then ends, even if it is empty, and returns the position of the
 * next one.
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
    MEMORY_QUERY_WORDS_MAX = 32,  /* different words of a query that are used */
    MEMORY_WORD_ITEMS_MAX = 5000, /* ranked items for each word */
    MEMORY_LOOKS_MAX = 10000,
    MEMORY_LOOKS_LEAST = 100, /* for each search of a batch, after earlier ones used the limit */
    MEMORY_LOOKED_MAX_BYTES = 64 * 1024 * 1024,
    MEMORY_NAMESPACES_DEFAULT = 100,
    MEMORY_NAMESPACES_MAX = 1000,
    MEMORY_NAMESPACE_LOOKS_MAX = 20000,
};

/* The position at which a page ended. */
struct memory_position {
    bool is_given;
    bool is_ranked; /* `number` is a position in the ranking; false: ordered by time */
    int64_t updated_at;
    int64_t number;
    int64_t skip; /* the rest of the offset */
};

struct memory_search {
    struct str at;     /* the pointer of the search in the body */
    struct str prefix; /* in the stored form */
    struct str filter; /* JSON; STR_NONE: none */
    struct str query;  /* STR_NONE or empty: none */
    struct str vector; /* a JSON array of numbers; STR_NONE: none. Not with a query */
    size_t limit;
    size_t offset; /* only without a position */
    size_t looks;  /* items to examine with a filter; 0: MEMORY_LOOKS_MAX */
    struct memory_position from;
};

struct memory_found {
    struct memory_item *items;
    size_t count;
    bool more;
    size_t looked;
    struct memory_position next; /* if `more` is true */
};
MUST_CHECK enum error memory_search(
    struct context *c, const struct memory_search *search, struct memory_found *out_found);

/* A "*" in prefix or suffix matches any label. */
struct memory_namespaces {
    struct str at;
    struct str_list prefix;
    struct str_list suffix;
    size_t max_depth; /* 0: no limit */
    size_t limit;
    size_t offset;
    struct str after; /* in the stored form; STR_NONE: from the first */
    size_t skip;      /* the rest of the offset, from the previous page */
};

struct memory_namespaces_found {
    struct str *items; /* in the stored form and the order of their bytes, without duplicates */
    size_t count;
    bool more;
    struct str last; /* the last examined namespace; STR_NONE: none */
    size_t skip;
};
MUST_CHECK enum error memory_list_namespaces(struct context *c,
    const struct memory_namespaces *asked, struct memory_namespaces_found *out_found);

#endif
