/*
 * Search in the store: items under a prefix of namespaces, newest first, or ranked by the words
 * that they have of a query or by the likeness of their vectors. And which namespaces there are.
 *
 * The work of one search is bounded. With a filter it looks at STORE_LOOKS_MAX items, or
 * STORE_LOOKED_MAX_BYTES of them, at most: then the page ends there, also when it is empty, and
 * tells where to go on.
 */
#ifndef MODEL_STORE_SEARCH_H
#define MODEL_STORE_SEARCH_H

#include "model/store_items.h"

enum {
    STORE_SEARCH_DEFAULT = 10,
    STORE_SEARCH_MAX = 200,
    STORE_OFFSET_MAX = 10000,
    STORE_FILTER_MAX_BYTES = 64 * 1024,
    STORE_QUERY_MAX_BYTES = 64 * 1024,
    STORE_QUERY_WORDS_MAX = 32,  /* the first different ones count */
    STORE_WORD_ITEMS_MAX = 5000, /* of the items with one word, so many are ranked */
    STORE_LOOKS_MAX = 10000,
    STORE_LOOKS_LEAST = 100, /* of each search of a batch, once others have used up the rest */
    STORE_LOOKED_MAX_BYTES = 64 * 1024 * 1024,
    STORE_NAMESPACES_DEFAULT = 100,
    STORE_NAMESPACES_MAX = 1000,
    STORE_NAMESPACE_LOOKS_MAX = 20000,
};

/* Where a page ended. */
struct store_position {
    bool is_given;
    bool is_ranked; /* by `number` in the order of the ranks, else by time */
    int64_t updated_at;
    int64_t number;
    int64_t skip; /* of the offset, what is left to skip */
};

struct store_search {
    struct str at;     /* pointer to the object that the search is written in */
    struct str prefix; /* as it is stored */
    struct str filter; /* JSON; STR_NONE: none */
    struct str query;  /* STR_NONE or empty: none */
    struct str vector; /* a JSON array of numbers; STR_NONE: none. Not with a query */
    size_t limit;
    size_t offset; /* not with a position */
    size_t looks;  /* with a filter, at so many items; 0: STORE_LOOKS_MAX */
    struct store_position from;
};

struct store_found {
    struct store_item *items;
    size_t count;
    bool more;
    size_t looked;
    struct store_position next; /* when there is more */
};
MUST_CHECK enum error store_search(
    struct context *c, const struct store_search *search, struct store_found *out_found);

/* A "*" in prefix or suffix stands for any label. */
struct store_namespaces {
    struct str at;
    struct str_list prefix;
    struct str_list suffix;
    size_t max_depth; /* 0: as deep as they are */
    size_t limit;
    size_t offset;
    struct str after; /* as it is stored; STR_NONE: from the first */
    size_t skip;      /* left of the offset of the page before */
};

struct store_namespaces_found {
    struct str *items; /* as they are stored, by their bytes, each once */
    size_t count;
    bool more;
    struct str last; /* where it ended; STR_NONE: before the first */
    size_t skip;
};
MUST_CHECK enum error store_list_namespaces(struct context *c, const struct store_namespaces *asked,
    struct store_namespaces_found *out_found);

#endif
