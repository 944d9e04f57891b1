/* SPDX-License-Identifier: Apache-2.0 */
/* Refused keys and refused scopes in the audit log: at most one record a key and minute. */
#ifndef API_HTTP_DENIALS_H
#define API_HTTP_DENIALS_H

#include "api/http/call.h"

/* Takes note of what was refused to the call's tenant and key, once the call is finished; the
 * record is written by a job of its own, because the refused one changes nothing. */
void denial_note(const struct call *call, const char *action);

#endif
