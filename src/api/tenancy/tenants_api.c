/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tenants.h"

#define TENANT_FIELD(member) offsetof(struct tenant, member)

static const struct field tenant_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = TENANT_FIELD(id)},
    {.name = "name",
        .kind = FIELD_STRING,
        .offset = TENANT_FIELD(name),
        .min = 1,
        .max = TENANT_NAME_MAX_BYTES,
        .summary = "unique"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = TENANT_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = TENANT_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = TENANT_FIELD(version)},
};
const struct schema schema_tenant = {
    "Tenant", tenant_fields, COUNT_OF(tenant_fields), sizeof(struct tenant), 0};

const struct schema schema_tenant_create = {
    "TenantCreate", &tenant_fields[1], 1, sizeof(struct tenant), 0};
const struct schema schema_tenant_patch = {
    "TenantBody", &tenant_fields[1], 1, sizeof(struct tenant), 0};

struct tenant_created {
    struct tenant tenant;
    struct api_key key;
};
static const struct field tenant_created_fields[] = {
    {.name = "tenant",
        .kind = FIELD_NESTED,
        .flags = FIELD_READ_ONLY,
        .offset = offsetof(struct tenant_created, tenant),
        .nested = &schema_tenant},
    {.name = "key",
        .kind = FIELD_NESTED,
        .flags = FIELD_READ_ONLY,
        .offset = offsetof(struct tenant_created, key),
        .nested = &schema_key_created,
        .summary = "the tenant's first key, with the scope admin; its secret is shown once"},
};
const struct schema schema_tenant_created = {"TenantCreated", tenant_created_fields,
    COUNT_OF(tenant_created_fields), sizeof(struct tenant_created), 0};

struct tenants_query {
    struct page_query page;
};
static const struct field tenants_query_fields[] = {PAGE_FIELDS(struct tenants_query)};
const struct schema query_tenants = {"TenantsQuery", tenants_query_fields,
    COUNT_OF(tenants_query_fields), sizeof(struct tenants_query), 0};

enum error handle_tenant_create(struct call *call, struct context *c)
{
    const struct tenant *input = call->request.input;
    struct tenant_created created = {
        .key = {.name = STR("first key"),
            .scopes = {.items = (struct str[]){STR("admin")}, .count = 1}}};
    enum error e = tenant_create(c, input->name, &created.tenant);
    if (e == OK) {
        /* The new key belongs to the new tenant, and so does the record of its making. */
        struct context theirs = *c;
        context_enter(&theirs, created.tenant.id);
        e = key_create(&theirs, created.tenant.id, &created.key);
        context_enter(c, c->tenant_id);
    }
    if (e != OK)
        return e;
    call_answer(call, &schema_tenant_created, &created, 0);
    created.key.secret = STR_NONE;
    struct json_writer w;
    json_writer_init(&w, &call->answer.replay);
    schema_encode(&w, &schema_tenant_created, &created);
    return OK;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct tenant *)item)->id);
}

enum error handle_tenant_list(struct call *call, struct context *c)
{
    const struct tenants_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct tenant *tenants = ARENA_ARRAY(call->arena, struct tenant, limit + 1);
    struct uuid before;
    bool has_before = false;
    enum error e = cursor_to_uuid(call, q->page.cursor, &has_before, &before);
    if (e == OK)
        e = tenant_list(c, has_before, before, limit + 1, tenants, &count);
    if (e == OK)
        call_answer_page(
            call, &schema_tenant, tenants, count > limit ? limit : count, count > limit, cursor_of);
    return e;
}

enum error handle_tenant_get(struct call *call, struct context *c)
{
    struct tenant tenant;
    enum error e = tenant_get(c, call->request.params[0], &tenant);
    if (e == OK)
        call_answer(call, &schema_tenant, &tenant, tenant.version);
    return e;
}

enum error handle_tenant_patch(struct call *call, struct context *c)
{
    struct tenant before, after;
    /* Operators are all of one tenant: its lock is that of every tenant's name. */
    enum error e = context_lock_tenant(c);
    if (e == OK)
        e = tenant_get(c, call->request.params[0], &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK)
        e = tenant_rename(c, before.id, after.name, &after);
    if (e == OK)
        call_answer(call, &schema_tenant, &after, after.version);
    return e;
}

enum error handle_tenant_delete(struct call *call, struct context *c)
{
    enum error e = tenant_delete(c, call->request.params[0]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}
