/* SPDX-License-Identifier: Apache-2.0 */
/* The routes about Cairn itself. */
#include "api/handlers.h"
#include "api/http/metrics.h"
#include "model/tenancy/keys.h"

struct health {
    struct str status;
    struct str version;
};
#define OF struct health
static const struct field health_fields[] = {
    FIELD(STRING, status, IN_READ,
        "healthz: ok; readyz: ready, or full while the disk has no space for most writes"),
    FIELD(STRING, version, IN_READ),
};
#undef OF
const struct schema schema_health = SCHEMA("Health", struct health, health_fields, IN_READ);

enum error handle_health(struct call *call, struct context *c)
{
    struct health health = {STR("ok"), STR(CAIRN_VERSION)};
    return call_answer(call, &schema_health, &health, 0);
}

/* Unlike healthz, readyz asks the store: a transaction must begin and read the schema. For a store
 * that other nodes share, its pulse states whether the store answers (call_submit). A node whose
 * disk is full is ready: reads and streams continue, and no other node could write instead. */
enum error handle_ready(struct call *call, struct context *c)
{
    bool any;
    enum error e = c->tx != NULL ? key_any(c, &any) : OK;
    bool is_full = store_stats(call->api->store).is_full;
    struct health health = {is_full ? STR("full") : STR("ready"), STR(CAIRN_VERSION)};
    return e == OK ? call_answer(call, &schema_health, &health, 0) : e;
}

enum error handle_metrics(struct call *call, struct context *c)
{
    call->answer.content_type = STR("text/plain; version=0.0.4; charset=utf-8");
    metrics_write(call->api->metrics, &call->answer.body);
    return OK;
}

enum error handle_openapi(struct call *call, struct context *c)
{
    buf_append(&call->answer.body, buf_str(&call->api->openapi));
    return OK;
}

struct whoami {
    struct uuid tenant_id;
    struct str actor;
    bool has_key_id;
    struct uuid key_id;
    struct str principal;
    struct str_list scopes;
};
#define OF struct whoami
static const struct field whoami_fields[] = {
    FIELD(UUID, tenant_id, IN_READ),
    FIELD(STRING, actor, IN_READ, "key; open if no key exists yet"),
    FIELD(UUID_OR_NULL, key_id, IN_READ),
    FIELD(STRING_OR_NULL, principal, IN_READ, "principal of the request; null: the whole tenant"),
    FIELD(STRINGS, scopes, IN_READ, "all effective scopes of the key"),
};
#undef OF
const struct schema schema_whoami = SCHEMA("Whoami", struct whoami, whoami_fields, IN_READ);

enum error handle_whoami(struct call *call, struct context *c)
{
    struct whoami who = {.tenant_id = c->tenant_id,
        .actor = call->caller.has_key ? STR("key") : STR("open"),
        .has_key_id = call->caller.has_key,
        .key_id = call->caller.key_id,
        .principal = c->principal};
    who.scopes.items = ARENA_ARRAY(call->arena, struct str, SCOPE_COUNT);
    for (unsigned bit = 0; bit < SCOPE_COUNT; bit++)
        if (c->scopes & (1u << bit))
            who.scopes.items[who.scopes.count++] = str_of(scope_names[bit]);
    return call_answer(call, &schema_whoami, &who, 0);
}
