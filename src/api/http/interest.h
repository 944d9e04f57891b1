/* SPDX-License-Identifier: Apache-2.0 */
/* The events that may change the answer of a waiting call. */
#ifndef API_HTTP_INTEREST_H
#define API_HTTP_INTEREST_H

#include "api/threads/events_api.h"

struct interest {
    struct uuid tenant_id;
    struct uuid topic;  /* the thread, or the tenant itself */
    struct uuid key_id; /* nil without a key */
    bool for_principal; /* an event that ends a principal's access may end this one's */
    bool for_claim;     /* only events that may free a run for a claim; else those of the filter */
    bool by_time; /* the call also runs again each second, because not every change has an event */
    struct event_filter filter; /* borrows the strings of the call */
};

/* For a call that may wait (call_wait_s), after its first run. */
struct interest interest_of(const struct call *call);
bool interest_is_met(const struct interest *i, const struct event *event);
/* Returns true if this is the key or the tenant of the call, which may no longer listen. */
bool interest_is_of(const struct interest *i, struct uuid id);

#endif
