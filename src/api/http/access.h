/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Principals. A request acts for its key's whole tenant, or for one principal: the key's own, or
 * the one that the header Cairn-Principal names, by which a key of the whole tenant narrows itself
 * for this request. A principal sees the threads that it takes part in, and of each what its
 * permission lets it (model/threads/participants.h); anything else looks as if it were not there.
 *
 * The check is here, before every handler, and follows from the route table (route.h).
 */
#ifndef API_HTTP_ACCESS_H
#define API_HTTP_ACCESS_H

#include "api/http/call.h"

/* After authentication: for whom. */
MUST_CHECK enum error access_take_principal(struct call *call, struct context *c);
/* Whether the principal may use this route on what the path names. */
MUST_CHECK enum error access_check(struct call *call, struct context *c);

#endif
