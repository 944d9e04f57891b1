/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants own all other objects. The default tenant always exists. */
#ifndef MODEL_TENANCY_TENANTS_H
#define MODEL_TENANCY_TENANTS_H

#include "model/context.h"

enum { TENANT_NAME_MAX_BYTES = 200 };

struct tenant {
    struct uuid id;
    struct str name;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
};

/* Creates the default tenant in a new database. */
MUST_CHECK enum error tenant_ensure_default(struct context *c);

MUST_CHECK enum error tenant_create(struct context *c, struct str name, struct tenant *out_tenant);
MUST_CHECK enum error tenant_get(struct context *c, struct uuid id, struct tenant *out_tenant);
/* Lists the tenants before `before`, newest first. */
MUST_CHECK enum error tenant_list(struct context *c, bool has_before, struct uuid before,
    struct page *page, struct tenant *out_tenants);
MUST_CHECK enum error tenant_rename(
    struct context *c, struct uuid id, struct str name, struct tenant *out_tenant);
/* Deletes the tenant with all its objects, except its audit log. */
MUST_CHECK enum error tenant_delete(struct context *c, struct uuid id);

#endif
