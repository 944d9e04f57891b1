/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes query parameters by a field table: the same rows as for bodies, all optional, text on the
 * wire. */
#ifndef API_HTTP_PARAMS_H
#define API_HTTP_PARAMS_H

#include "api/http/call.h"

/* Faults name the parameter. Metadata filters are written to call->request. */
MUST_CHECK enum error params_decode(struct call *call, const struct schema *schema,
    struct str query, void *out, struct problem *problem);

#endif
