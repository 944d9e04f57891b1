/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bodies of the memory routes (/v1/store) and the functions that carry them out. A route and an
 * operation of a batch have the same members. `at` is the JSON Pointer of the object: empty for a
 * body, "/operations/3" inside a batch.
 */
#ifndef API_MEMORY_MEMORY_FIELDS_H
#define API_MEMORY_MEMORY_FIELDS_H

#include "api/http/call.h"
#include "base/enum.h"
#include "base/schema_fields.h"
#include "model/memory/memory_search.h"
#include "model/memory/memory_vectors.h"

enum { MEMORY_CURSOR_MAX_BYTES = 2 * MEMORY_NAMESPACE_MAX_BYTES };

#define MEMORY_OPERATIONS(X)   \
    X(MEMORY_GET, "get")       \
    X(MEMORY_PUT, "put")       \
    X(MEMORY_DELETE, "delete") \
    X(MEMORY_SEARCH, "search") \
    X(MEMORY_NAMES, "namespaces")
ENUM_DECLARE(memory_operation, MEMORY_OPERATION_NONE, memory_operations, MEMORY_OPERATIONS);

struct memory_ask {
    enum memory_operation op; /* of an operation of a batch */
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
    size_t looks; /* left by the earlier searches of the batch; 0: this is the first */
};

extern const struct schema schema_memory_vector;

/* Much more than the text of any number. */
enum { MEMORY_VECTOR_TEXT_MAX_BYTES = MEMORY_DIMENSIONS_MAX * 32 };

/* The schemas of memory_ask_fields. An operation of a batch has the rows of its route, and `op`. */
enum {
    IN_GET = IN_SENT(0), /* and a delete */
    IN_PUT = IN_SENT(1),
    IN_SEARCH = IN_SENT(2),
    IN_NAMES = IN_SENT(3),
    IN_OPERATION = IN_SENT(4),     /* every operation of a batch */
    IN_ANY_OPERATION = IN_SENT(5), /* the members of all operations, for the OpenAPI document */
};
enum { MEMORY_ASK_FIELDS = 18 };
extern const struct field memory_ask_fields[MEMORY_ASK_FIELDS];

/* --- Operations ------------------------------------------------------------------------------- */

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
