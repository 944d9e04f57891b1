/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_TENANCY_ROUTES_H
#define API_TENANCY_ROUTES_H

#include "api/http/page.h"

/* audit_api.c */
extern const struct schema schema_audit_record, schema_audit_verdict, query_audit;
route_handler handle_audit_list, handle_audit_verify;

/* keys_api.c */
extern const struct schema schema_key, schema_key_create, schema_key_created;
route_handler handle_key_create, handle_tenant_key_create, handle_key_list, handle_key_get,
    handle_key_revoke;

/* tenants_api.c */
extern const struct schema schema_tenant, schema_tenant_create, schema_tenant_created,
    schema_tenant_patch;
route_handler handle_tenant_create, handle_tenant_list, handle_tenant_get, handle_tenant_patch,
    handle_tenant_delete;

#endif
