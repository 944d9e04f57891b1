/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/tenants.h"

#include "base/json/json_write.h"
#include "model/checkpoints/snapshots.h"
#include "model/files/blob_doubts.h"
#include "model/files/files.h"
#include "model/memory/memory_items.h"
#include "model/tenancy/audit.h"
#include "model/tenancy/tenants.sql.h"
#include "model/threads/messages.h"

static enum error insert(struct context *c, struct uuid id, struct str name, int64_t *out_changed)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TENANT_INSERT, c->arena);
    query_uuid(&q, id, id);
    query_text(&q, name, name);
    query_i64(&q, now, c->now_us);
    return query_run_counted(&q, out_changed);
}

enum error tenant_ensure_default(struct context *c)
{
    int64_t changed;
    context_enter(c, DEFAULT_TENANT_ID);
    return insert(c, DEFAULT_TENANT_ID, STR("default"), &changed);
}

/* Jobs that manage tenants see all rows; afterwards an operator's job returns to its own tenant. */
static enum error leave(struct context *c, enum error e)
{
    context_enter(c, c->tenant_id);
    return e;
}

static enum error name_taken(struct context *c, struct str name)
{
    return problem_set(
        c->problem, ERR_CONFLICT, "a tenant with the name \"%.*s\" already exists", STR_ARG(name));
}

/* The detail of an audit record. */
static struct str describe(struct arena *arena, struct str name)
{
    struct json_text text;
    json_text_init(&text, 64 * 1024);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("name"));
    json_write_string(&text.w, name);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error get(struct context *c, struct uuid id, struct tenant *out_tenant)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TENANT_GET, c->arena);
    query_uuid(&q, id, id);
    bool found;
    TRY(tenant_read_one(&q, &found, out_tenant));
    return !found ? context_not_found(c, "tenant", id) : OK;
}

enum error tenant_create(struct context *c, struct str name, struct tenant *out_tenant)
{
    /* The key of another tenant would end access without a key, and no client could use the default
     * tenant any more. */
    if (c->actor == ACTOR_OPEN)
        return problem_set(
            c->problem, ERR_CONFLICT, "create a key with the scope operator first: POST /v1/keys");
    struct uuid id = uuid_v7();
    int64_t changed;
    context_enter_system(c);
    enum error e = context_lock_tenant(c);
    if (e == OK)
        e = insert(c, id, name, &changed);
    if (e == OK && changed == 0)
        e = name_taken(c, name);
    if (e == OK)
        e = audit_record(c, "tenant.created", "tenant", id, describe(c->arena, name));
    if (e == OK)
        e = get(c, id, out_tenant);
    return leave(c, e);
}

enum error tenant_get(struct context *c, struct uuid id, struct tenant *out_tenant)
{
    context_enter_system(c);
    return leave(c, get(c, id, out_tenant));
}

enum error tenant_list(struct context *c, bool has_before, struct uuid before, struct page *page,
    struct tenant *out_tenants)
{
    struct query q;
    context_enter_system(c);
    query_begin(&q, c->tx, &SQL_TENANT_LIST, c->arena);
    query_uuid_if(&q, before, has_before, before);
    page_bind(&q, page);
    while (page_next(&q, page))
        tenant_read(&q, &out_tenants[page->count++]);
    return leave(c, query_end(&q));
}

static enum error rename_to(
    struct context *c, struct uuid id, struct str name, struct tenant *out_tenant)
{
    struct tenant before;
    TRY(context_lock_tenant(
        c)); /* the default tenant, for which operators act: makes names unique */
    TRY(get(c, id, &before));
    TRY(context_check_match(c, before.version));
    struct query q;
    query_begin(&q, c->tx, &SQL_TENANT_RENAME, c->arena);
    query_uuid(&q, id, id);
    query_text(&q, name, name);
    query_i64(&q, now, c->now_us);
    int64_t changed = 0;
    TRY(query_run_counted(&q, &changed));
    if (changed == 0)
        return name_taken(c, name);
    TRY(audit_record(c, "tenant.renamed", "tenant", id, describe(c->arena, name)));
    return get(c, id, out_tenant);
}

enum error tenant_rename(
    struct context *c, struct uuid id, struct str name, struct tenant *out_tenant)
{
    context_enter_system(c);
    return leave(c, rename_to(c, id, name, out_tenant));
}

/* Event ids are never reused, so the floor rises above the deleted ones. */
static enum error delete_events(struct context *c, struct uuid tenant_id)
{
    struct query q;
    int64_t last_id;
    query_begin(&q, c->tx, &SQL_TENANT_LAST_EVENT_ID, c->arena);
    query_uuid(&q, tenant_id, tenant_id);
    TRY(context_number(&q, &last_id));
    TRY(event_raise_floor(c, last_id));
    return event_discard_tenant(c, tenant_id, last_id);
}

static enum error delete_row(struct context *c, struct uuid id)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TENANT_DELETE, c->arena);
    query_uuid(&q, id, id);
    return query_run(&q);
}

static enum error delete_whole(struct context *c, struct uuid id)
{
    struct tenant tenant;
    TRY(context_lock_tenant(c));
    TRY(get(c, id, &tenant));
    TRY(context_check_match(c, tenant.version));
    if (uuid_eq(id, DEFAULT_TENANT_ID))
        return problem_set(c->problem, ERR_CONFLICT, "the default tenant cannot be deleted");
    TRY(audit_record(c, "tenant.deleted", "tenant", id, describe(c->arena, tenant.name)));
    TRY(message_forget_tenant(c, id));
    TRY(memory_forget_tenant(c, id));
    TRY(blob_doubt_tenant(c, id));
    TRY(file_delete_all(c, id));
    TRY(snapshot_delete_tenant(c, id));
    TRY(delete_row(c, id));
    /* After the threads were deleted, so that no event can be appended. */
    return delete_events(c, id);
}

enum error tenant_delete(struct context *c, struct uuid id)
{
    context_enter_system(c);
    enum error e = delete_whole(c, id);
    tx_drop_memo(c->tx); /* its keys are deleted */
    event_forget_tenant(c, id);
    if (e == OK)
        event_publish_access_ended(c, id, id);
    return leave(c, e);
}
