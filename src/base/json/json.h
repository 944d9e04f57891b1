/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict JSON (RFC 8259). json_parse checks the whole text and builds a tape of nodes in the arena;
 * values are handles into the tape. Strings and numbers keep their written form until a caller
 * decodes them, so a value that is only passed on loses nothing. Rejected: nesting past the limit,
 * duplicate keys (also when one is written with escapes), invalid UTF-8, lone surrogates, a
 * byte-order mark, and anything after the value. The text must outlive the document.
 */
#ifndef BASE_JSON_JSON_H
#define BASE_JSON_JSON_H

#include "base/arena.h"

enum { JSON_MAX_DEPTH = 128 };

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_node;

struct json_doc {
    struct str text;
    const struct json_node *nodes;
    uint32_t n_nodes;
};

/* One value of a document. Pass by value. */
struct json {
    const struct json_doc *doc;
    uint32_t at;
};

struct json_error {
    size_t offset;    /* of the byte that broke the rule */
    const char *rule; /* "a comma or ] must follow an array item" */
};

/* Also fails if the arena exceeds its budget; the rule then reports that. */
MUST_CHECK bool json_parse(
    struct arena *arena, struct str text, struct json_doc *out_doc, struct json_error *out_error);
/* The same with another depth limit, for a document that contains one of JSON_MAX_DEPTH. */
MUST_CHECK bool json_parse_deep(struct arena *arena, struct str text, unsigned max_depth,
    struct json_doc *out_doc, struct json_error *out_error);
struct json json_root(const struct json_doc *doc);

enum json_type json_type(struct json v);
const char *json_type_name(enum json_type type); /* "null", "boolean", "number", "string" … */
/* The text of the value as it was written, with its quotes and inner blanks. */
struct str json_raw(struct json v);
/* Items of an array, members of an object, else 0. */
size_t json_count(struct json v);

/*
 * Iterates over the items of an array or the members of an object, in their order:
 *
 *   struct json_iter it = json_iter(v);
 *   struct json key, item;
 *   while (json_next(&it, &key, &item)) …
 *
 * `key` is the name of a member, itself a string value. For arrays it is not set and may be NULL.
 */
struct json_iter {
    const struct json_doc *doc;
    uint32_t at;
    uint32_t end;
    bool object;
};
struct json_iter json_iter(struct json v);
bool json_next(struct json_iter *it, struct json *out_key, struct json *out_value);

/* Finds the member whose decoded name is `key`. */
bool json_get(struct json object, struct str key, struct json *out_value);
bool json_at(struct json array, size_t index, struct json *out_value);

/* Decodes a string value; borrows from the text if there are no escapes. */
struct str json_string(struct arena *arena, struct json v);
bool json_string_eq(struct json v, struct str decoded);
/* Exact: 1.0 and 1e2 are integers, 1.5 and 2^70 are not. */
MUST_CHECK bool json_to_i64(struct json v, int64_t *out_value);
MUST_CHECK bool json_to_double(struct json v, double *out_value);

/* RFC 6902 section 4.6: compares numbers by value, strings by code points, and objects in any
 * order. */
bool json_equal(struct json a, struct json b);
/* Compares JSON texts in the same way. Texts that are not JSON are equal only to themselves. */
bool json_texts_equal(struct arena *arena, struct str a, struct str b);

#endif
