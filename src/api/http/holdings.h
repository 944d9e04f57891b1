/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of the open things of each tenant on this node: one table counts connections, another one
 * streams, WebSockets and waiting requests. A tenant has an entry while its count is above 0. Any
 * thread may call these functions.
 */
#ifndef API_HTTP_HOLDINGS_H
#define API_HTTP_HOLDINGS_H

#include "base/uuid.h"

struct holdings;
struct holdings *holdings_create(void);
void holdings_destroy(struct holdings *h);

/* Adds one to the tenant's count, unless the count has reached `max`. */
MUST_CHECK bool holdings_take(struct holdings *h, struct uuid tenant_id, int64_t max);
void holdings_drop(struct holdings *h, struct uuid tenant_id);
int64_t holdings_count(struct holdings *h, struct uuid tenant_id);

#endif
