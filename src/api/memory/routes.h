/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_MEMORY_ROUTES_H
#define API_MEMORY_ROUTES_H

#include "api/http/page.h"

/* memory_api.c */
extern const struct schema schema_memory_item, schema_memory_put, schema_memory_search,
    schema_memory_found, schema_memory_namespaces, schema_memory_found_namespaces,
    query_memory_item;
route_handler handle_memory_put, handle_memory_get, handle_memory_delete, handle_memory_search,
    handle_memory_namespaces;

/* memory_batch_api.c */
extern const struct schema schema_memory_batch, schema_memory_batch_answer;
route_handler handle_memory_batch;

#endif
