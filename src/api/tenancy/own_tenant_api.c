/* SPDX-License-Identifier: Apache-2.0 */
/* The tenant of the key, as its clients see it: with the usage of its quotas. */
#include "api/handlers.h"
#include "model/tenancy/tenants.h"

struct quota_state {
    bool has_limit;
    int64_t limit;
    bool has_used;
    int64_t used;
    bool has_resets_at;
    int64_t resets_at;
};
#define OF struct quota_state
static const struct field quota_state_fields[] = {
    FIELD(INT_OR_NULL, limit, IN_READ, "null: no limit"),
    FIELD(INT_OR_NULL, used, IN_READ, "null: not counted"),
    FIELD(TIME_OR_NULL, resets_at, IN_READ, "when `used` starts again from 0", .hide_none = true),
};
#undef OF
static const struct schema schema_quota_state =
    SCHEMA("QuotaState", struct quota_state, quota_state_fields, IN_READ);

struct quota_states {
    struct quota_state bytes;
    struct quota_state threads;
    struct quota_state events_per_day;
    struct quota_state streams;
    struct quota_state connections;
    struct quota_state requests_per_second;
    struct quota_state concurrent_runs;
};
#define OF struct quota_states
#define QUOTA(member, ...) \
    FIELD(NESTED, member, IN_READ, __VA_ARGS__, .nested = &schema_quota_state)
static const struct field quota_states_fields[] = {
    QUOTA(bytes, "content of files, each content once; other data is not counted"),
    QUOTA(threads, "threads that exist"),
    QUOTA(events_per_day, "events appended since midnight (UTC), counted while there is a limit"),
    QUOTA(streams, "open streams, WebSockets and waiting requests of this node"),
    QUOTA(connections, "open connections of this node"),
    QUOTA(requests_per_second, "requests to this node; twice as many in a burst"),
    QUOTA(concurrent_runs, "runs with the status running"),
};
#undef QUOTA
#undef OF
static const struct schema schema_quota_states =
    SCHEMA("QuotaStates", struct quota_states, quota_states_fields, IN_READ);

struct own_tenant {
    struct tenant tenant;
    struct quota_states quotas;
};
#define OF struct own_tenant
static const struct field own_tenant_fields[] = {
    FIELD_OF(tenant, UUID, id, IN_READ),
    FIELD_OF(tenant, STRING, name, IN_READ),
    FIELD_OF(tenant, STRING_OR_NULL, plan_tier, IN_READ, "the plan, which the operator sets"),
    FIELD_OF(tenant, OBJECT, settings, IN_PATCH | IN_READ, "any members",
        .max = TENANT_SETTINGS_MAX_BYTES),
    FIELD(NESTED, quotas, IN_READ, "which the operator sets", .nested = &schema_quota_states),
    FIELD_OF(tenant, TIME, created_at, IN_READ),
    FIELD_OF(tenant, TIME, updated_at, IN_READ),
    FIELD_OF(tenant, INT, version, IN_READ),
};
#undef OF
const struct schema schema_own_tenant =
    SCHEMA("OwnTenant", struct own_tenant, own_tenant_fields, IN_READ);
const struct schema schema_own_tenant_patch =
    SCHEMA("OwnTenantBody", struct own_tenant, own_tenant_fields, IN_PATCH);

static void take_limits(struct own_tenant *own)
{
    const struct quota_limits *limits = &own->tenant.quotas;
    struct quota_states *q = &own->quotas;
#define LIMIT(member) \
    q->member =       \
        (struct quota_state){.has_limit = limits->has_max_##member, .limit = limits->max_##member}
    LIMIT(bytes);
    LIMIT(threads);
    LIMIT(events_per_day);
    LIMIT(streams);
    LIMIT(connections);
    LIMIT(requests_per_second);
    LIMIT(concurrent_runs);
#undef LIMIT
}

static void use(struct quota_state *state, int64_t used)
{
    state->has_used = true;
    state->used = used;
}

static void take_usage(struct context *c, const struct quota_usage *usage, struct quota_states *q)
{
    int64_t ends_at, today = quota_day(c, &ends_at);
    use(&q->bytes, usage->bytes);
    use(&q->threads, usage->threads);
    use(&q->concurrent_runs, usage->running);
    if (!q->events_per_day.has_limit)
        return;
    use(&q->events_per_day, usage->day < today ? 0 : usage->events);
    q->events_per_day.has_resets_at = true;
    q->events_per_day.resets_at = ends_at;
}

enum error handle_own_tenant_get(struct call *call, struct context *c)
{
    struct own_tenant own = {0};
    struct quota_usage usage;
    TRY(tenant_get(c, c->tenant_id, &own.tenant));
    take_limits(&own);
    TRY(quota_usage_get(c, &usage));
    take_usage(c, &usage, &own.quotas);
    use(&own.quotas.streams, holdings_count(call->api->streams, c->tenant_id));
    use(&own.quotas.connections, holdings_count(call->api->connections, c->tenant_id));
    return call_answer(call, &schema_own_tenant, &own, own.tenant.version);
}

/* Without the usage: counting it may take long, which the writer has no time for. */
enum error handle_own_tenant_patch(struct call *call, struct context *c)
{
    struct own_tenant before = {0}, after = {0};
    TRY(context_lock_tenant(c));
    TRY(tenant_get(c, c->tenant_id, &before.tenant));
    TRY(context_check_match(c, before.tenant.version));
    TRY(call_apply_patch(call, &before, &after));
    TRY(tenant_set_settings(c, after.tenant.settings, &after.tenant));
    take_limits(&after);
    return call_answer(call, &schema_own_tenant, &after, after.tenant.version);
}
