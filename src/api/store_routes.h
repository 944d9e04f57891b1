/* The rows of the store in the route table. */
#ifndef API_STORE_ROUTES_H
#define API_STORE_ROUTES_H

#include "api/resources.h"
#include "api/route.h"

/* Of a batch with its values. */
enum { STORE_BATCH_BODY_LIMIT = 16 * 1024 * 1024 };

/* clang-format off */
#define STORE_ROUTES                                                                               \
    {"PUT", "/v1/store/items", SCOPE_STORE_WRITE, ROUTE_WRITE,                                     \
        ROUTE_ETAG | ROUTE_CONDITIONAL | ROUTE_MAY_CREATE, 200, .body = &schema_store_put,         \
        .answer = &schema_store_item, .handle = handle_store_put, .access = ACCESS_TENANT,         \
        .summary = "Put an item into the store; it replaces the one under the same key"},          \
    {"GET", "/v1/store/items", SCOPE_STORE_READ, ROUTE_READ, ROUTE_ETAG | ROUTE_MAY_LAG, 200,      \
        .query = &query_store_item, .answer = &schema_store_item, .handle = handle_store_get,      \
        .access = ACCESS_TENANT, .summary = "Read an item of the store"},                          \
    {"DELETE", "/v1/store/items", SCOPE_STORE_WRITE, ROUTE_WRITE, ROUTE_ETAG, 204,                 \
        .query = &query_store_item, .handle = handle_store_delete, .access = ACCESS_TENANT,        \
        .on_full = STORE_ON_FULL_FREES, .summary = "Delete an item of the store"},                 \
    {"POST", "/v1/store/search", SCOPE_STORE_READ, ROUTE_READ, 0, 200,                             \
        .body = &schema_store_search, .answer = &schema_store_found,                               \
        .handle = handle_store_search, .access = ACCESS_TENANT,                                    \
        .summary = "Search items under a prefix, newest first, or best first by words"},           \
    {"POST", "/v1/store/namespaces", SCOPE_STORE_READ, ROUTE_READ, 0, 200,                         \
        .body = &schema_store_namespaces, .answer = &schema_store_found_namespaces,                \
        .handle = handle_store_namespaces, .access = ACCESS_TENANT,                                \
        .summary = "List the namespaces that have items, each once, sorted"},                      \
    {"POST", "/v1/store/batch", SCOPE_STORE_WRITE, ROUTE_WRITE, ROUTE_ONE_LANE, 200,               \
        .body_limit = STORE_BATCH_BODY_LIMIT, .body = &schema_store_batch,                         \
        .answer = &schema_store_batch_answer, .handle = handle_store_batch,                        \
        .access = ACCESS_TENANT,                                                                   \
        .summary = "Carry out up to 100 operations of the store, all or none, in their order"}

#endif
