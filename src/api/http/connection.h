/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tenant for which a connection counts: that of the last request that was authenticated on it.
 * The requests of a connection are handled one after the other, so only one thread at a time uses
 * it: that of the running job, or the loop.
 */
#ifndef API_HTTP_CONNECTION_H
#define API_HTTP_CONNECTION_H

#include "api/http/holdings.h"

struct connection;
struct connection *connection_create(struct holdings *connections); /* counts for no tenant yet */
void connection_destroy(void *connection);

/* Counts the connection for the tenant, and no longer for another one. Returns false, and changes
 * nothing, if the tenant has `max` connections without this one. */
MUST_CHECK bool connection_enter(struct connection *c, struct uuid tenant_id, int64_t max);
/* The same above the maximum. The next connection_enter checks the maximum again. */
void connection_enter_above(struct connection *c, struct uuid tenant_id, int64_t max);

#endif
