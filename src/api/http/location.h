/* SPDX-License-Identifier: Apache-2.0 */
/* The header Location of answers with the status 201: the path of the created object. */
#ifndef API_HTTP_LOCATION_H
#define API_HTTP_LOCATION_H

#include "api/http/call.h"

/*
 * Adds the path that route->location describes, or the request's own path: a PUT creates the object
 * of its path, and a batch belongs to the list of its path. A handler that adds the header before
 * it answers decides otherwise. A receipt (access_shows_all) has no path with a text of the object.
 */
void location_add(struct call *call, const struct schema *schema, const void *object);

#endif
