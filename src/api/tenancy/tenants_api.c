/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tenants.h"

/* --- As the operator sees it ---------------------------------------------------------------- */

#define OF struct quota_limits
/* clang-format off */
#define QUOTA(wire, member, summary)                                                               \
    FIELD_AS(INT_OR_NULL, wire, member, IN_PATCH | IN_READ, summary, .max = QUOTA_MAX)
static const struct field quota_fields[] = {
    QUOTA("bytes", max_bytes, "content of files, each content once; other data is not counted"),
    QUOTA("threads", max_threads, "threads that exist"),
    QUOTA("events_per_day", max_events_per_day, "events appended in a day (UTC)"),
    QUOTA("streams", max_streams, "open streams, WebSockets and waiting requests, per node"),
    QUOTA("connections", max_connections, "open connections, per node"),
    QUOTA("requests_per_second", max_requests_per_second,
        "requests, per node; twice as many in a burst"),
    QUOTA("concurrent_runs", max_concurrent_runs, "runs with the status running"),
};
/* clang-format on */
#undef QUOTA
#undef OF
static const struct schema schema_quotas =
    SCHEMA("Quotas", struct quota_limits, quota_fields, IN_READ);
static const struct schema schema_quotas_patch =
    SCHEMA("QuotasBody", struct quota_limits, quota_fields, IN_PATCH);

#define OF struct tenant
static const struct field tenant_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(STRING, name, IN_BODY | IN_PATCH | IN_READ, "unique", .min = 1,
        .max = TENANT_NAME_MAX_BYTES),
    FIELD(STRING_OR_NULL, plan_tier, IN_PATCH | IN_READ, "the plan, a name that the operator chose",
        .min = 1, .max = TENANT_PLAN_TIER_MAX_BYTES),
    FIELD(OBJECT, settings, IN_READ, "the tenant's own: PATCH /v1/tenant",
        .max = TENANT_SETTINGS_MAX_BYTES),
    FIELD(NESTED, quotas, IN_READ, "null: no limit", .nested = &schema_quotas),
    FIELD(NESTED, quotas, IN_PATCH, "null: no limit", .nested = &schema_quotas_patch,
        .optional_in = IN_PATCH),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ),
};
#undef OF
const struct schema schema_tenant = SCHEMA("Tenant", struct tenant, tenant_fields, IN_READ);

const struct schema schema_tenant_create =
    SCHEMA("TenantCreate", struct tenant, tenant_fields, IN_BODY);
const struct schema schema_tenant_patch =
    SCHEMA("TenantBody", struct tenant, tenant_fields, IN_PATCH);

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
    TRY(e);
    char id[UUID_TEXT_LEN];
    uuid_format(created.tenant.id, id);
    call_add_header(
        call, STR("Location"), arena_printf(call->arena, "/v1/tenants/%.*s", UUID_TEXT_LEN, id));
    return call_answer(call, &schema_tenant_created, &created, 0);
}

enum error handle_tenant_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct tenant *tenants = ARENA_ARRAY(call->arena, struct tenant, page.limit);
    struct uuid before;
    bool has_before;
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
    after.id = before.id;
    TRY(tenant_update(c, &after, &after));
    return call_answer(call, &schema_tenant, &after, after.version);
}

enum error handle_tenant_delete(struct call *call, struct context *c)
{
    bool more = false;
    enum error e = tenant_delete_some(c, call->request.params[0], &more);
    return call_answer_deletion(call, e, more);
}
