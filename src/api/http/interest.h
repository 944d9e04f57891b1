/* SPDX-License-Identifier: Apache-2.0 */
/* What a call that found nothing waits for: which events may change its answer. */
#ifndef API_HTTP_INTEREST_H
#define API_HTTP_INTEREST_H

#include "api/threads/events_api.h"

struct interest {
    struct uuid tenant_id;
    struct uuid topic;  /* the thread, or the tenant itself */
    struct uuid key_id; /* nil without a key */
    bool for_principal; /* what ends somebody's access may end its own */
    bool for_claim;     /* only what may leave a run to claim matters; else what the filter takes */
    bool by_time;       /* and what nothing tells of: it looks again each second */
    struct event_filter filter; /* its strings are the call's */
};

/* Of a call that may wait (request.wait_s), once it has run. */
struct interest interest_of(const struct call *call);
bool interest_is_met(const struct interest *i, const struct event *event);
/* Whether it is this key or tenant that may not listen any more. */
bool interest_is_of(const struct interest *i, struct uuid id);

#endif
