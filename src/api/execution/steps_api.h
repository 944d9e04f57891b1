/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the lists of steps and of calls. */
#ifndef API_EXECUTION_STEPS_API_H
#define API_EXECUTION_STEPS_API_H

#include "api/http/call.h"
#include "model/execution/steps.h"

/* Reads a page of steps for the run of the path and the query of the request. */
MUST_CHECK enum error steps_of_run(
    struct call *call, struct context *c, enum step_calls calls, struct step_page *page);
bool steps_wants_messages(const struct call *call);
/* The cursor of the page that follows. */
struct str steps_cursor(struct call *call, const struct step_page *page);

#endif
