/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the lists of steps and of calls. */
#ifndef API_EXECUTION_STEPS_API_H
#define API_EXECUTION_STEPS_API_H

#include "api/http/page.h"
#include "model/execution/steps.h"

struct run_steps_query {
    struct page_query page;
    enum include include;
    struct str action_type;
    bool has_step_number;
    int64_t step_number;
    bool has_from;
    int64_t from;
    bool has_to;
    int64_t to;
    bool has_turn_id;
    struct uuid turn_id;
};
/* Reads a page of steps of the run, after this number, for the query of the request. */
MUST_CHECK enum error steps_of_run(struct call *call, struct context *c, const struct run *run,
    int64_t after, enum step_calls calls, struct step_page *page);
bool steps_wants_messages(const struct call *call);
/* The cursor of the page that follows. */
struct str steps_cursor(struct call *call, const struct step_page *page);

#endif
