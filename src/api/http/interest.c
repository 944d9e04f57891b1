/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/interest.h"

/*
 * On a shared store a claim skips a run that another claim has locked, and no event reports that
 * the lock was released without a change. So a claim also runs again by time.
 */
struct interest interest_of(const struct call *call)
{
    struct interest i = {.tenant_id = call->caller.tenant_id,
        .topic = call->caller.tenant_id,
        .key_id = call->caller.key_id,
        .for_principal = !str_is_none(call->caller.principal),
        .for_claim = call->route->waits == WAITS_FOR_RUN};
    if (i.for_claim) {
        i.by_time = store_is_shared(call->api->store);
        return i;
    }
    const struct events_query *q = call->request.query;
    i.filter =
        (struct event_filter){.has_run_id = q->has_run_id, .run_id = q->run_id, .kind = q->kind};
    if (!str_is_none(route_param_name(call->route, 0)))
        i.topic = call->request.params[0];
    return i;
}

bool interest_is_met(const struct interest *i, const struct event *event)
{
    bool matters = i->for_claim ? event->frees_run : event_is_wanted(&i->filter, event);
    return matters || event->is_last || (i->for_principal && event->ends_access);
}

bool interest_is_of(const struct interest *i, struct uuid id)
{
    return uuid_eq(i->key_id, id) || uuid_eq(i->tenant_id, id);
}
