/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants: who owns everything else. The default one exists from the start and stays. */
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

/* Makes the default tenant when the database is new. */
MUST_CHECK enum error tenant_ensure_default(struct context *c);

MUST_CHECK enum error tenant_create(struct context *c, struct str name, struct tenant *out_tenant);
MUST_CHECK enum error tenant_get(struct context *c, struct uuid id, struct tenant *out_tenant);
/* Newest first, those before `before`; at most `limit`, whose memory is the caller's. */
MUST_CHECK enum error tenant_list(struct context *c, bool has_before, struct uuid before,
    struct page *page, struct tenant *out_tenants);
MUST_CHECK enum error tenant_rename(
    struct context *c, struct uuid id, struct str name, struct tenant *out_tenant);
/* With everything that it owns, except its audit log. */
MUST_CHECK enum error tenant_delete(struct context *c, struct uuid id);

#endif
