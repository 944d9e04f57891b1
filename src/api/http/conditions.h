/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of a request: If-Match, If-None-Match: * on writes, and Cairn-Fencing-Token. */
#ifndef API_HTTP_CONDITIONS_H
#define API_HTTP_CONDITIONS_H

#include "api/http/call.h"

/* Reads the headers into the context; the model checks versions against it. */
MUST_CHECK enum error conditions_read(struct call *call, struct context *c);
/*
 * Checks the fencing token on every write, so that a worker that has lost its lease cannot change
 * anything. A token is valid for the run that it was issued for, and for the thread of that run.
 */
MUST_CHECK enum error conditions_check_fence(struct call *call, struct context *c);

#endif
