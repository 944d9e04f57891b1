/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of steps: step_check.c, step_append.c, step_lifecycle.c, steps.c. */
#ifndef MODEL_EXECUTION_STEP_PARTS_H
#define MODEL_EXECUTION_STEP_PARTS_H

#include "model/execution/steps.h"

/* Checks a new step, and sets the absent members that its data contain. A step without a time gets
 * the present, or `earliest` if that is later. `at` is its pointer. */
MUST_CHECK enum error step_check(
    struct context *c, const struct run *run, int64_t earliest, struct step *step, struct str at);
/* Return true if the step is the beginning, or the end, of a call to a model. */
bool step_begins_llm_call(const struct step *step);
bool step_ends_llm_call(const struct step *step);
/* Finds the beginning of the call that ends with the step of this number. */
MUST_CHECK enum error step_find_call(
    struct context *c, struct uuid run_id, int64_t number, struct step *out_start, bool *out_found);
/* Returns the earliest time of a step without a time of its own that follows one at `last`; 0: any
 * time, because the last one is far in the future. */
int64_t step_time_after(const struct context *c, int64_t last);
/* Inserts checked steps of one run, which have their numbers, and sets their ids. Either all or
 * none are written by Cairn. */
MUST_CHECK enum error step_insert(struct context *c, struct step *steps, size_t n);

/* The row of a run, from which Cairn's steps are written. */
struct lifecycle_facts {
    int64_t step_count;
    int64_t own_count; /* without Cairn's steps */
    bool has_last_at;
    int64_t last_at; /* of the last step */
    bool has_iteration;
    int64_t iteration; /* the greatest step_number */
    struct str stop_reason;
    struct str error;
    int64_t input_tokens;
    int64_t output_tokens;
};

#endif
