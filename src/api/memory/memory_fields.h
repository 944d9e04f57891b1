/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be asked of the store: the members of its bodies, of which each route, and each
 * operation of a batch, takes its own; and what is done with them. `at` is where they stand: empty
 * for a body, "/operations/3" inside of a batch.
 */
#ifndef API_MEMORY_MEMORY_FIELDS_H
#define API_MEMORY_MEMORY_FIELDS_H

#include "api/http/call.h"
#include "model/memory/memory_search.h"
#include "model/memory/memory_vectors.h"

enum { MEMORY_CURSOR_MAX_BYTES = 2 * MEMORY_NAMESPACE_MAX_BYTES };

struct memory_ask {
    struct str op; /* of an operation */
    struct str_list labels;
    struct str key;
    struct str value;
    bool has_ttl_s;
    int64_t ttl_s;
    struct nested_list vectors; /* struct memory_vector */
    struct str vector;
    struct str_list prefix;
    struct str_list suffix;
    bool has_max_depth;
    int64_t max_depth;
    struct str filter;
    struct str query;
    bool has_limit;
    int64_t limit;
    bool has_offset;
    int64_t offset;
    struct str cursor;
    size_t looks; /* that the searches of a batch before it have left; 0: it is the first */
};

extern const struct schema schema_memory_vector;

/* Of the text that a number takes, with much room. */
enum { MEMORY_VECTOR_TEXT_MAX_BYTES = MEMORY_DIMENSIONS_MAX * 32 };

#define MEMORY_ASKED(member) offsetof(struct memory_ask, member)
#define MEMORY_NAMESPACE_FIELD(more)                                                       \
    {                                                                                      \
        .name = "namespace", .kind = FIELD_STRINGS, .flags = (more),                       \
        .offset = MEMORY_ASKED(labels), .min = 1, .max = MEMORY_LABELS_MAX,                \
        .summary = "labels of 1 to 128 bytes, none with a \".\" in it: [\"users\",\"42\"]" \
    }
#define MEMORY_KEY_FIELD(more)                                                             \
    {                                                                                      \
        .name = "key", .kind = FIELD_STRING, .flags = (more), .offset = MEMORY_ASKED(key), \
        .min = 1, .max = MEMORY_KEY_MAX_BYTES                                              \
    }
#define MEMORY_VALUE_FIELDS(more)                                                                \
    {.name = "value",                                                                            \
        .kind = FIELD_OBJECT,                                                                    \
        .flags = (more),                                                                         \
        .offset = MEMORY_ASKED(value),                                                           \
        .max = MEMORY_VALUE_MAX_BYTES,                                                           \
        .summary = "a JSON object of up to 1 MiB"},                                              \
        {.name = "vectors",                                                                      \
            .kind = FIELD_NESTED_LIST,                                                           \
            .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                            \
            .offset = MEMORY_ASKED(vectors),                                                     \
            .max = MEMORY_ITEM_VECTORS_MAX,                                                      \
            .nested = &schema_memory_vector,                                                     \
            .summary = "up to 16, by which it is found; without them it has none"},              \
    {                                                                                            \
        .name = "ttl_s", .kind = FIELD_INT, .flags = FIELD_OPTIONAL | FIELD_NULLABLE,            \
        .offset = MEMORY_ASKED(ttl_s), .has_offset = MEMORY_ASKED(has_ttl_s), .min = 1,          \
        .max = MEMORY_TTL_MAX_S, .summary = "how many seconds it is there; for good unless told" \
    }
#define MEMORY_SEARCH_FIELDS                                                                    \
    {.name = "namespace_prefix",                                                                \
        .kind = FIELD_STRINGS,                                                                  \
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                               \
        .offset = MEMORY_ASKED(prefix),                                                         \
        .max = MEMORY_LABELS_MAX,                                                               \
        .summary = "the first labels of their namespaces; everything unless told"},             \
        {.name = "filter",                                                                      \
            .kind = FIELD_OBJECT,                                                               \
            .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                           \
            .offset = MEMORY_ASKED(filter),                                                     \
            .max = MEMORY_FILTER_MAX_BYTES,                                                     \
            .summary = "by member of the value: what it must be equal to, or $eq $ne $gt $gte " \
                       "$lt $lte $in $nin of it"},                                              \
        {.name = "vector",                                                                      \
            .kind = FIELD_ARRAY,                                                                \
            .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                           \
            .offset = MEMORY_ASKED(vector),                                                     \
            .items = "number",                                                                  \
            .max = MEMORY_VECTOR_TEXT_MAX_BYTES,                                                \
            .summary = "numbers: items whose vectors are most like it, by cosine"},             \
    {                                                                                           \
        .name = "query", .kind = FIELD_STRING, .flags = FIELD_OPTIONAL | FIELD_NULLABLE,        \
        .offset = MEMORY_ASKED(query), .max = MEMORY_QUERY_MAX_BYTES,                           \
        .summary = "words: items that have some of them, the best first"                        \
    }
#define MEMORY_PAGE_FIELDS(most, summary_of_limit)                                        \
    {.name = "limit",                                                                     \
        .kind = FIELD_INT,                                                                \
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                         \
        .offset = MEMORY_ASKED(limit),                                                    \
        .has_offset = MEMORY_ASKED(has_limit),                                            \
        .min = 1,                                                                         \
        .max = (most),                                                                    \
        .summary = (summary_of_limit)},                                                   \
        {.name = "offset",                                                                \
            .kind = FIELD_INT,                                                            \
            .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                     \
            .offset = MEMORY_ASKED(offset),                                               \
            .has_offset = MEMORY_ASKED(has_offset),                                       \
            .max = MEMORY_OFFSET_MAX,                                                     \
            .summary = "how many to leave out at first; a cursor goes further"},          \
    {                                                                                     \
        .name = "cursor", .kind = FIELD_STRING, .flags = FIELD_OPTIONAL | FIELD_NULLABLE, \
        .offset = MEMORY_ASKED(cursor), .min = 1, .max = MEMORY_CURSOR_MAX_BYTES,         \
        .summary = "next_cursor of the page before"                                       \
    }
#define MEMORY_NAMES_FIELDS                                                                     \
    {.name = "prefix",                                                                          \
        .kind = FIELD_STRINGS,                                                                  \
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                               \
        .offset = MEMORY_ASKED(prefix),                                                         \
        .max = MEMORY_LABELS_MAX,                                                               \
        .summary = "their first labels; \"*\" is any label"},                                   \
        {.name = "suffix",                                                                      \
            .kind = FIELD_STRINGS,                                                              \
            .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                           \
            .offset = MEMORY_ASKED(suffix),                                                     \
            .max = MEMORY_LABELS_MAX,                                                           \
            .summary = "their last labels; \"*\" is any label"},                                \
    {                                                                                           \
        .name = "max_depth", .kind = FIELD_INT, .flags = FIELD_OPTIONAL | FIELD_NULLABLE,       \
        .offset = MEMORY_ASKED(max_depth), .has_offset = MEMORY_ASKED(has_max_depth), .min = 1, \
        .max = MEMORY_LABELS_MAX,                                                               \
        .summary = "longer ones are cut to so many labels, and told once"                       \
    }

/* --- What is done ----------------------------------------------------------------------------- */

MUST_CHECK enum error memory_do_put(struct context *c, const struct memory_ask *ask, struct str at,
    struct memory_item *out_item, bool *out_is_new);
MUST_CHECK enum error memory_do_get(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_item *out_item);
MUST_CHECK enum error memory_do_delete(
    struct context *c, const struct memory_ask *ask, struct str at);

/* {data, has_more, next_cursor} */
struct memory_page {
    struct nested_list items;
    struct str names; /* of namespaces: [[label…]…] */
    bool more;
    size_t looked;
    struct str next_cursor;
};
MUST_CHECK enum error memory_do_search(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_page *out_page);
MUST_CHECK enum error memory_do_names(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_page *out_page);

#endif
