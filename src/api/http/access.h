/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authentication and permissions: which client sent a request, and what it may do. Everything
 * follows from the route table (route.h) and runs before every handler.
 *
 * A request acts for its key's whole tenant or for one principal: that of the key, or the one in
 * the header Cairn-Principal, by which a key of the whole tenant restricts itself for this request.
 * A principal sees the threads in which it takes part, and in each thread as much as its permission
 * allows (model/threads/participants.h). Anything else is reported as not found.
 */
#ifndef API_HTTP_ACCESS_H
#define API_HTTP_ACCESS_H

#include "api/http/call.h"

/* Fills call->caller and the context, and counts the request against the key's rate limit and its
 * connection against the tenant's quota. */
MUST_CHECK enum error access_authenticate(struct call *call, struct context *c);
/* The key must have the scope of the route. */
MUST_CHECK enum error access_check_scope(struct call *call, struct context *c);
/* For a handler that needs one more scope than its route. */
MUST_CHECK enum error access_require_scope(struct call *call, enum scope scope);
/* Returns true if the key may read the objects that the route writes. */
bool access_may_read(const struct call *call);
/* Returns true if the answer to a write, with its status, contains nothing that existed before. */
bool access_shows_only_new(const struct call *call);
/* Returns true if the answer may contain the whole object; otherwise it is a receipt. */
bool access_shows_all(const struct call *call);
/* A principal must have permission for the thread, run or agent that the path names. */
MUST_CHECK enum error access_check_path(struct call *call, struct context *c);

#endif
