/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of steps: step_check.c, step_append.c, steps.c. */
#ifndef MODEL_EXECUTION_STEP_PARTS_H
#define MODEL_EXECUTION_STEP_PARTS_H

#include "model/execution/steps.h"

/* Checks a new step, and sets the absent members that its data contain. `at` is its pointer. */
MUST_CHECK enum error step_check(
    struct context *c, const struct run *run, struct step *step, struct str at);
/* Return true if the step is the beginning, or the end, of a call to a model. */
bool step_begins_llm_call(const struct step *step);
bool step_ends_llm_call(const struct step *step);
/* Finds the beginning of the call that ends with the step of this number. */
MUST_CHECK enum error step_find_call(
    struct context *c, struct uuid run_id, int64_t number, struct step *out_start, bool *out_found);

#endif
