/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict JSON (RFC 8259). json_parse checks the whole text and lays a tape of nodes into the arena;
 * values are handles into it. Strings and numbers stay as they were written until somebody asks for
 * them decoded, so nothing is lost by passing through. Refused: depth past the limit, duplicate
 * keys (also when one is written with escapes), invalid UTF-8, lone surrogates, a byte-order mark,
 * and anything after the value. The text must outlive the document.
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

/* Also fails, with a rule that says so, when the arena's budget is passed. */
MUST_CHECK bool json_parse(
    struct arena *arena, struct str text, struct json_doc *out_doc, struct json_error *out_error);
/* The same to another depth: for what holds a document of the greatest one. */
MUST_CHECK bool json_parse_deep(struct arena *arena, struct str text, unsigned max_depth,
    struct json_doc *out_doc, struct json_error *out_error);
struct json json_root(const struct json_doc *doc);

enum json_type json_type(struct json v);
const char *json_type_name(enum json_type type); /* "null", "boolean", "number", "string" … */
/* The text of the value as it was written, quotes, inner blanks and all. */
struct str json_raw(struct json v);
/* Items of an array, members of an object, else 0. */
size_t json_count(struct json v);

/*
 * Walks an array's items or an object's members, in their order:
 *   struct json_iter it = json_iter(v);
 *   struct json key, item;
 *   while (json_next(&it, &key, &item)) …      key is the member's name, itself a string value;
 * for arrays `key` is left alone and may be NULL.
 */
struct json_iter {
    const struct json_doc *doc;
    uint32_t at;
    uint32_t end;
    bool object;
};
struct json_iter json_iter(struct json v);
bool json_next(struct json_iter *it, struct json *out_key, struct json *out_value);

/* The member called `key` (decoded form). */
bool json_get(struct json object, struct str key, struct json *out_value);
bool json_at(struct json array, size_t index, struct json *out_value);

/* A string value decoded; borrows from the text when it holds no escapes. */
struct str json_string(struct arena *arena, struct json v);
bool json_string_eq(struct json v, struct str decoded);
/* Exact: 1.0 and 1e2 are integers, 1.5 and 2^70 are not. */
MUST_CHECK bool json_to_i64(struct json v, int64_t *out_value);
MUST_CHECK bool json_to_double(struct json v, double *out_value);

/* RFC 6902 section 4.6: numbers by value, strings by code points, objects whatever their order. */
bool json_equal(struct json a, struct json b);

#endif
