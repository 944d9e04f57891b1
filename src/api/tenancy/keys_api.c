/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/tenancy/deletions.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tenants.h"
#include "model/threads/participants.h"

#define OF struct api_key
static const struct field key_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(STRING, name, IN_BODY | IN_READ, .min = 1, .max = 200),
    FIELD(STRINGS, scopes, IN_BODY | IN_READ,
        "admin includes every scope of the tenant; operator also manages tenants", .min = 1,
        .max = SCOPE_COUNT, .choices = scope_names),
    FIELD_HAS(INT_OR_NULL, "rate_limit_per_minute", rate_limit_per_minute, has_rate_limit,
        IN_BODY | IN_READ, "requests per minute; default: unlimited", .min = 1, .max = 1000000),
    FIELD(TIME_OR_NULL, expires_at, IN_BODY | IN_READ),
    FIELD(STRING_OR_NULL, principal, IN_BODY | IN_READ,
        "user:NAME or agent:UUID: restricts the key to this principal; null: the whole tenant",
        .max = PRINCIPAL_MAX_BYTES),
    FIELD_HAS(TIME_OR_NULL, "revoked_at", revoked_at, is_revoked, IN_READ),
    FIELD(TIME, created_at, IN_READ),
    FIELD(STRING_OR_NULL, secret, IN_CREATED, "returned only once; null in a replayed answer",
        .once = true),
};
#undef OF
const struct schema schema_key_create = SCHEMA("KeyCreate", struct api_key, key_fields, IN_BODY);
const struct schema schema_key = SCHEMA("Key", struct api_key, key_fields, IN_READ);
const struct schema schema_key_created =
    SCHEMA("KeyCreated", struct api_key, key_fields, IN_READ | IN_CREATED);

static enum error create_for(struct call *call, struct context *c, struct uuid tenant_id)
{
    struct api_key key = *(const struct api_key *)call->request.input;
    TRY(key_create(c, tenant_id, &key));
    return call_answer(call, &schema_key_created, &key, 0);
}

enum error handle_key_create(struct call *call, struct context *c)
{
    return create_for(call, c, c->tenant_id);
}

static enum error create_for_other(
    struct call *call, struct context *c, struct context *theirs, struct uuid id)
{
    struct tenant tenant;
    bool is_deleted = false;
    TRY(tenant_get(c, id, &tenant));
    context_enter(theirs, id);
    TRY(deletion_find(theirs, id, &is_deleted));
    return is_deleted ? problem_set(c->problem, ERR_CONFLICT, "the tenant is being deleted")
                      : create_for(call, theirs, id);
}

/* An operator can create a key for a tenant that has lost its keys. */
enum error handle_tenant_key_create(struct call *call, struct context *c)
{
    struct uuid id = call->request.params[0];
    /* The key belongs to that tenant, and so does its audit record. */
    struct context theirs = *c;
    context_enter(&theirs, id);
    enum error e = context_lock_tenant(&theirs);
    context_enter(c, c->tenant_id);
    if (e == OK)
        e = create_for_other(call, c, &theirs, id);
    context_enter(c, c->tenant_id);
    return e;
}

enum error handle_key_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct api_key *keys = ARENA_ARRAY(call->arena, struct api_key, page.limit);
    struct uuid before;
    bool has_before;
    TRY(cursor_to_uuid(call, q->page.cursor, &has_before, &before));
    TRY(key_list(c, has_before, before, &page, keys));
    return call_answer_page(call, &schema_key, keys, &page, CURSOR_BY(struct api_key, id));
}

enum error handle_key_get(struct call *call, struct context *c)
{
    struct api_key key;
    TRY(key_get(c, call->request.params[0], &key));
    return call_answer(call, &schema_key, &key, 0);
}

enum error handle_key_revoke(struct call *call, struct context *c)
{
    struct api_key key;
    TRY(key_revoke(c, call->request.params[0], &key));
    return call_answer(call, &schema_key, &key, 0);
}
