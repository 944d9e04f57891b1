/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tenants.h"
#include "model/threads/participants.h"

#define KEY_FIELD(member) offsetof(struct api_key, member)

/* What a client gives follows the id, the secret ends it: each schema is a run of one table. */
enum { KEY_BODY_FIELDS = 5 };

static const struct field key_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = KEY_FIELD(id)},
    {.name = "name", .kind = FIELD_STRING, .offset = KEY_FIELD(name), .min = 1, .max = 200},
    {.name = "scopes",
        .kind = FIELD_STRINGS,
        .offset = KEY_FIELD(scopes),
        .min = 1,
        .max = SCOPE_COUNT,
        .choices = scope_names,
        .summary = "admin holds every scope of the tenant, operator also the tenants"},
    {.name = "rate_limit_per_minute",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = KEY_FIELD(rate_limit_per_minute),
        .has_offset = KEY_FIELD(has_rate_limit),
        .min = 1,
        .max = 1000000,
        .summary = "requests a minute; none when absent"},
    {.name = "expires_at",
        .kind = FIELD_TIME,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = KEY_FIELD(expires_at),
        .has_offset = KEY_FIELD(has_expires_at)},
    {.name = "principal",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = KEY_FIELD(principal),
        .max = PRINCIPAL_MAX_BYTES,
        .summary = "user:NAME or agent:UUID, for whom the key acts; null: for its whole tenant"},
    {.name = "revoked_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = KEY_FIELD(revoked_at),
        .has_offset = KEY_FIELD(is_revoked)},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = KEY_FIELD(created_at)},
    {.name = "secret",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = KEY_FIELD(secret),
        .summary = "shown once; null in a replayed answer"},
};
const struct schema schema_key_create = {
    "KeyCreate", &key_fields[1], KEY_BODY_FIELDS, sizeof(struct api_key), 0};
const struct schema schema_key = {
    "Key", key_fields, COUNT_OF(key_fields) - 1, sizeof(struct api_key), 0};
const struct schema schema_key_created = {
    "KeyCreated", key_fields, COUNT_OF(key_fields), sizeof(struct api_key), 0};

struct keys_query {
    struct page_query page;
};
static const struct field keys_query_fields[] = {PAGE_FIELDS(struct keys_query)};
const struct schema query_keys = {
    "KeysQuery", keys_query_fields, COUNT_OF(keys_query_fields), sizeof(struct keys_query), 0};

static enum error create_for(struct call *call, struct context *c, struct uuid tenant_id)
{
    struct api_key key = *(const struct api_key *)call->request.input;
    enum error e = key_create(c, tenant_id, &key);
    if (e != OK)
        return e;
    call_answer(call, &schema_key_created, &key, 0);
    key.secret = STR_NONE;
    struct json_writer w;
    json_writer_init(&w, &call->answer.replay);
    schema_encode(&w, &schema_key_created, &key);
    return OK;
}

enum error handle_key_create(struct call *call, struct context *c)
{
    return create_for(call, c, c->tenant_id);
}

/* An operator's way to help a tenant that has lost its keys. */
enum error handle_tenant_key_create(struct call *call, struct context *c)
{
    struct tenant tenant;
    enum error e = tenant_get(c, call->request.params[0], &tenant);
    if (e != OK)
        return e;
    /* The key belongs to that tenant, and so does the record of its making. */
    struct context theirs = *c;
    context_enter(&theirs, tenant.id);
    e = create_for(call, &theirs, tenant.id);
    context_enter(c, c->tenant_id);
    return e;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct api_key *)item)->id);
}

enum error handle_key_list(struct call *call, struct context *c)
{
    const struct keys_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct api_key *keys = ARENA_ARRAY(call->arena, struct api_key, limit + 1);
    struct uuid before;
    bool has_before = false;
    enum error e = cursor_to_uuid(call, q->page.cursor, &has_before, &before);
    if (e == OK)
        e = key_list(c, has_before, before, limit + 1, keys, &count);
    if (e == OK)
        call_answer_page(
            call, &schema_key, keys, count > limit ? limit : count, count > limit, cursor_of);
    return e;
}

enum error handle_key_get(struct call *call, struct context *c)
{
    struct api_key key;
    enum error e = key_get(c, call->request.params[0], &key);
    if (e == OK)
        call_answer(call, &schema_key, &key, 0);
    return e;
}

enum error handle_key_revoke(struct call *call, struct context *c)
{
    struct api_key key;
    enum error e = key_revoke(c, call->request.params[0], &key);
    if (e == OK)
        call_answer(call, &schema_key, &key, 0);
    return e;
}
