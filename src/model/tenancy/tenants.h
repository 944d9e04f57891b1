/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants own all other objects. The default tenant always exists. */
#ifndef MODEL_TENANCY_TENANTS_H
#define MODEL_TENANCY_TENANTS_H

#include "model/context.h"
#include "model/tenancy/quotas.h"

enum {
    TENANT_NAME_MAX_BYTES = 200,
    TENANT_PLAN_TIER_MAX_BYTES = 64,
    TENANT_SETTINGS_MAX_BYTES = 64 * 1024,
};

struct tenant {
    struct uuid id;
    struct str name;
    struct str plan_tier; /* STR_NONE: none */
    struct str settings;  /* compact JSON */
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
    struct quota_limits quotas;
};

/* Creates the default tenant in a new database. */
MUST_CHECK enum error tenant_ensure_default(struct context *c);

MUST_CHECK enum error tenant_create(struct context *c, struct str name, struct tenant *out_tenant);
MUST_CHECK enum error tenant_get(struct context *c, struct uuid id, struct tenant *out_tenant);
/* Lists the tenants before `before`, newest first. */
MUST_CHECK enum error tenant_list(struct context *c, bool has_before, struct uuid before,
    struct page *page, struct tenant *out_tenants);
/* Replaces name, plan_tier and quotas, which only operators change. */
MUST_CHECK enum error tenant_update(
    struct context *c, const struct tenant *wanted, struct tenant *out_tenant);
/* Replaces the settings of the context's own tenant. */
MUST_CHECK enum error tenant_set_settings(
    struct context *c, struct str settings, struct tenant *out_tenant);
/* Deletes a slice of the tenant with all its objects, except its audit log (deletions.h); out_more:
 * another job must continue. The first slice deletes the keys. */
MUST_CHECK enum error tenant_delete_some(struct context *c, struct uuid id, bool *out_more);

#endif
