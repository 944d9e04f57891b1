/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: where a run is in the life of an agent's instance, beside its status. One table says
 * which phase leads to which, by what trigger; from every phase that is not an end there is also a
 * way to `failed`. Each change is logged, numbered from 1 without gaps, and told as run.phase.
 *
 * The status follows the phase (run_phase_status). A run whose phase was never moved does not use
 * phases: its status may change as runs.h says, and its phase goes along, unheard, to the end that
 * the status came to. Once moved, an engine's change of status must be one that the table allows;
 * cancelling by people leads from any phase to `cancelled`, and pausing, resuming, a lease that
 * ends and going back to the queue leave the phase as it is.
 */
#ifndef MODEL_EXECUTION_RUN_PHASES_H
#define MODEL_EXECUTION_RUN_PHASES_H

#include "model/execution/runs.h"

enum {
    RUN_TRIGGER_MAX_BYTES = 64,
    RUN_PHASE_DETAIL_MAX_BYTES = 64 * 1024,
};

struct run_phase_rule {
    const char *from;
    const char *to;
    const char *trigger;
};
/* The table, without the general way to `failed`, whose trigger is "error". */
extern const struct run_phase_rule run_phase_rules[];
extern const size_t run_phase_rule_count;
extern const char *const run_phases[]; /* every phase; NULL at the end */

/* The phases that this one leads to, in the arena; ends in NULL. */
const char *const *run_phase_next(struct arena *arena, struct str from);
/* The status that a run in this phase has while it works; of `created` there is none: NULL. */
const char *run_phase_status(struct str phase);

struct run_phase {
    int64_t number;
    struct str from;
    struct str to;
    struct str trigger;
    struct str detail; /* compact JSON; STR_NONE */
    int64_t created_at;
};
/* Those after this number, oldest first. */
MUST_CHECK enum error run_phase_list(struct context *c, struct uuid run_id, int64_t after,
    size_t limit, struct run_phase *out_phases, size_t *out_count, bool *out_more);

/* Moves the run to a phase, and its status with it. `trigger` STR_NONE: what the table says. */
MUST_CHECK enum error run_move_phase(
    struct context *c, struct run *run, struct str to, struct str trigger, struct str detail);

/* The run waits until results of tools are in: phase awaiting_tool, status waiting_for_input. */
MUST_CHECK enum error run_await_tools(struct context *c, struct run *run);
/* They are in: back to `executing`, to be worked on again, or once it is resumed when it is paused.
 * A run that does not wait for tools stays as it is. */
MUST_CHECK enum error run_tools_done(struct context *c, struct run *run);

#endif
