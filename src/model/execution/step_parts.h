/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of steps share: step_check.c, step_append.c, steps.c. */
#ifndef MODEL_EXECUTION_STEP_PARTS_H
#define MODEL_EXECUTION_STEP_PARTS_H

#include "model/execution/steps.h"

/* What must hold of a new step; fills in what its data say of it. */
MUST_CHECK enum error step_check(
    struct context *c, const struct run *run, struct step *step, struct str at);
/* Whether a model was called, and this is where the call began, or how it ended. */
bool step_begins_llm_call(const struct step *step);
bool step_ends_llm_call(const struct step *step);
/* The beginning of the call that ends with the step of this number. */
MUST_CHECK enum error step_find_call(
    struct context *c, struct uuid run_id, int64_t number, struct step *out_start, bool *out_found);

#endif
