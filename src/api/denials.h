/* Refused keys and refused scopes in the audit log: at most one record a key and minute. */
#ifndef API_DENIALS_H
#define API_DENIALS_H

#include "api/call.h"

/* Takes note on behalf of the context's tenant and key; the record is written by a job of its own,
 * because the refused one changes nothing. */
void denial_note(struct api *api, const struct context *c, const char *action);

#endif
