/* SPDX-License-Identifier: Apache-2.0 */
/* What the lists of steps and of calls share. */
#ifndef API_EXECUTION_STEPS_API_H
#define API_EXECUTION_STEPS_API_H

#include "api/http/call.h"
#include "model/execution/steps.h"

/* A page of steps of the run of the path, by the query of the request. */
MUST_CHECK enum error steps_of_run(
    struct call *call, struct context *c, enum step_calls calls, struct step_page *page);
bool steps_wants_messages(const struct call *call);
/* The cursor to go on from; STR_NONE when there is nothing more. */
struct str steps_cursor(struct call *call, const struct step_page *page);
void steps_answer(struct call *call, const struct schema *schema, const void *items, size_t count,
    struct str next_cursor);

#endif
