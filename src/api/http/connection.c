/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/connection.h"

#include "base/alloc.h"

struct connection {
    struct holdings *counts;
    bool is_counted;
    bool is_above; /* it was counted above the maximum */
    struct uuid tenant_id;
};

struct connection *connection_create(struct holdings *connections)
{
    struct connection *c = MEM_NEW(struct connection);
    c->counts = connections;
    return c;
}

static void leave(struct connection *c)
{
    if (c->is_counted)
        holdings_drop(c->counts, c->tenant_id);
    c->is_counted = false;
}

void connection_destroy(void *connection)
{
    leave(connection);
    mem_free(connection);
}

static bool counts_for(const struct connection *c, struct uuid tenant_id)
{
    return c->is_counted && uuid_eq(c->tenant_id, tenant_id);
}

bool connection_enter(struct connection *c, struct uuid tenant_id, int64_t max)
{
    if (counts_for(c, tenant_id)) {
        c->is_above = c->is_above && holdings_count(c->counts, tenant_id) > max;
        return !c->is_above;
    }
    if (!holdings_take(c->counts, tenant_id, max))
        return false;
    leave(c);
    c->is_counted = true;
    c->is_above = false;
    c->tenant_id = tenant_id;
    return true;
}

void connection_enter_above(struct connection *c, struct uuid tenant_id, int64_t max)
{
    if (connection_enter(c, tenant_id, max) || counts_for(c, tenant_id))
        return;
    bool entered = connection_enter(c, tenant_id, INT64_MAX);
    assert(entered);
    c->is_above = true;
}
