/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the run resource share. Private to them. */
#ifndef MODEL_EXECUTION_RUN_STORE_H
#define MODEL_EXECUTION_RUN_STORE_H

#include "model/execution/run_phases.h"

void run_read_row(struct query *q, struct run *out);
/* Every row that is left of the query; ends it. */
MUST_CHECK enum error run_read_all(struct query *q, struct run_array *out);
/* Writes status, phase, lease and times: all that runs without documents may be asked to. */
MUST_CHECK enum error run_write(struct context *c, const struct run *run);
/* Writes what an engine tells of the run: all documents but those that it began with, and
 * metadata, error, model, provider and stop_reason. */
MUST_CHECK enum error run_write_documents(struct context *c, const struct run *run);

/* A change of phase that goes with a change of the run (run_phases.h). */
struct phase_move {
    enum phase to;              /* PHASE_NONE: the phase stays */
    enum phase_trigger trigger; /* TRIGGER_NONE: the change is not logged */
    struct str detail;
    bool is_unheard; /* no event tells of it, unless the run uses phases */
};
/* Gives the run its new phase, logs it and tells of it; run_write is to follow. */
MUST_CHECK enum error run_take_phase(
    struct context *c, struct run *run, const struct phase_move *move);
/* What a change of status means for the phase, when nobody named one. */
struct phase_move run_phase_implied(const struct run *run, enum run_status to, struct str reason);
/* The same where an engine asks for the status: the phase must allow it. */
MUST_CHECK enum error run_phase_of_patch(
    struct context *c, const struct run *run, enum run_status to, struct phase_move *out_move);
/* Whether whoever works on the run may give it this status, which may be the one it has. */
MUST_CHECK enum error run_check_status(
    struct context *c, const struct run *run, enum run_status to);

/*
 * Moves the run to another status: checks the table, writes the row, appends the event with
 * `reason` (STR_NONE for none), then carries out what follows from it. `run` holds the new fields
 * already, except the status.
 */
MUST_CHECK enum error run_change(
    struct context *c, struct run *run, enum run_status to, struct str reason);
/* The same with the phase that goes with it. */
MUST_CHECK enum error run_change_with(struct context *c, struct run *run, enum run_status to,
    struct str reason, const struct phase_move *move);
/* Appends the event that tells of the status it has; `from` RUN_STATUS_NONE if the run is new. */
MUST_CHECK enum error run_announce(
    struct context *c, const struct run *run, enum run_status from, struct str reason);
/* The run and its children, without what the verbs check first. */
MUST_CHECK enum error run_pause_tree(struct context *c, struct run *run);
MUST_CHECK enum error run_resume_tree(struct context *c, struct run *run);
/* Where the run goes when it may work again. */
enum run_status run_ready_status(const struct run *run);

#endif
