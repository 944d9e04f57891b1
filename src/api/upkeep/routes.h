/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_UPKEEP_ROUTES_H
#define API_UPKEEP_ROUTES_H

#include "api/http/page.h"

/* archive_api.c */
extern const struct schema query_import, schema_import;
route_handler handle_thread_export, handle_agent_export, handle_tenant_export, handle_import;
enum error prepare_import(struct call *call, uint64_t size_bytes);
void release_import(struct call *call);

/* system.c */
extern const struct schema schema_health, schema_whoami;
route_handler handle_health, handle_ready, handle_metrics, handle_openapi, handle_whoami;

#endif
