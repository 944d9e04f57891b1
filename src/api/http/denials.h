/* SPDX-License-Identifier: Apache-2.0 */
/* Audit records of refused keys and scopes: at most one record per key and minute. */
#ifndef API_HTTP_DENIALS_H
#define API_HTTP_DENIALS_H

#include "api/http/call.h"

/* Records a refusal for the tenant and key of a finished call. A job of its own writes the record,
 * because the refused job must not change anything. */
void denial_note(const struct call *call, const char *action);

#endif
