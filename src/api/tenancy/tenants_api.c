/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tenants.h"

#define OF struct tenant
static const struct field tenant_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(STRING, name, IN_BODY | IN_READ, "unique", .min = 1, .max = TENANT_NAME_MAX_BYTES),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ),
};
#undef OF
const struct schema schema_tenant = SCHEMA("Tenant", struct tenant, tenant_fields, IN_READ);

const struct schema schema_tenant_create =
    SCHEMA("TenantCreate", struct tenant, tenant_fields, IN_BODY);
const struct schema schema_tenant_patch =
    SCHEMA("TenantBody", struct tenant, tenant_fields, IN_BODY);

struct tenant_created {
    struct tenant tenant;
    struct api_key key;
};
#define OF struct tenant_created
static const struct field tenant_created_fields[] = {
    FIELD(NESTED, tenant, IN_READ, .nested = &schema_tenant),
    FIELD(NESTED, key, IN_READ,
        "first key of the tenant, with the scope admin; its secret is returned only once",
        .nested = &schema_key_created),
};
#undef OF
const struct schema schema_tenant_created =
    SCHEMA("TenantCreated", struct tenant_created, tenant_created_fields, IN_READ);

enum error handle_tenant_create(struct call *call, struct context *c)
{
    const struct tenant *input = call->request.input;
    struct tenant_created created = {
        .key = {.name = STR("first key"),
            .scopes = {.items = (struct str[]){STR("admin")}, .count = 1}}};
    TRY(tenant_create(c, input->name, &created.tenant));
    /* The new key belongs to the new tenant, and so does its audit record. */
    struct context theirs = *c;
    context_enter(&theirs, created.tenant.id);
    enum error e = key_create(&theirs, created.tenant.id, &created.key);
    context_enter(c, c->tenant_id);
    return e == OK ? call_answer(call, &schema_tenant_created, &created, 0) : e;
}

enum error handle_tenant_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct tenant *tenants = ARENA_ARRAY(call->arena, struct tenant, page.limit);
    struct uuid before;
    bool has_before = false;
    TRY(cursor_to_uuid(call, q->page.cursor, &has_before, &before));
    TRY(tenant_list(c, has_before, before, &page, tenants));
    return call_answer_page(call, &schema_tenant, tenants, &page, CURSOR_BY(struct tenant, id));
}

enum error handle_tenant_get(struct call *call, struct context *c)
{
    struct tenant tenant;
    TRY(tenant_get(c, call->request.params[0], &tenant));
    return call_answer(call, &schema_tenant, &tenant, tenant.version);
}

enum error handle_tenant_patch(struct call *call, struct context *c)
{
    struct tenant before, after;
    /* All operators belong to one tenant, so its lock protects the names of all tenants. */
    TRY(context_lock_tenant(c));
    TRY(tenant_get(c, call->request.params[0], &before));
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, &after));
    TRY(tenant_rename(c, before.id, after.name, &after));
    return call_answer(call, &schema_tenant, &after, after.version);
}

enum error handle_tenant_delete(struct call *call, struct context *c)
{
    TRY(tenant_delete(c, call->request.params[0]));
    return call_answer_nothing(call);
}
