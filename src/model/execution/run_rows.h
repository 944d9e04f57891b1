/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of the run resource. */
#ifndef MODEL_EXECUTION_RUN_ROWS_H
#define MODEL_EXECUTION_RUN_ROWS_H

#include "model/execution/run_phases.h"

void run_read_row(struct query *q, struct run *out);
/* Reads the remaining rows of the query, and ends it. */
MUST_CHECK enum error run_read_all(struct query *q, struct run_array *out);
/* Takes the lease and its worker from the run. */
void run_drop_lease(struct run *run);
/* Writes status, phase, lease, attempts and times, which do not need the
 * documents of the run. */
MUST_CHECK enum error run_write(struct context *c, const struct run *run);
/* Writes the members that an engine reports: metadata, error, model, provider, stop_reason and all
 * documents except those of the start. */
MUST_CHECK enum error run_write_documents(struct context *c, const struct run *run);
/* Writes the error of the run, and nothing else. */
MUST_CHECK enum error run_set_error(struct context *c, struct run *run, struct str error);

/* The change of phase that belongs to a change of the run (run_phases.h). */
struct phase_move {
    enum phase to; /* PHASE_NONE: the phase stays */
    enum phase_trigger trigger;
    struct str detail;
};
/* Sets the phase of the run, logs the change and appends the event. The caller calls run_write. */
MUST_CHECK enum error run_take_phase(
    struct context *c, struct run *run, const struct phase_move *move);
/* Returns the change of phase that a change of status implies. */
struct phase_move run_phase_implied(const struct run *run, enum run_status to, struct str reason);
/* The same for an engine's change of status, which the phase must allow. */
MUST_CHECK enum error run_phase_of_patch(
    struct context *c, const struct run *run, enum run_status to, struct phase_move *out_move);
/* OK if the engine of the run may set this status; the current status is allowed. */
MUST_CHECK enum error run_check_status(
    struct context *c, const struct run *run, enum run_status to);

/* The reasons in events of runs. A client may name another reason when it cancels a run. */
#define RUN_REASONS(X)                                 \
    X(REASON_PHASE, "phase")                           \
    X(REASON_TOOLS, "tools")                           \
    X(REASON_HUMAN, "human")                           \
    X(REASON_TOOL_TIMEOUT, "tool_timeout")             \
    X(REASON_CLAIMED, "claimed")                       \
    X(REASON_RELEASED, "released")                     \
    X(REASON_LEASE_EXPIRED, "lease_expired")           \
    X(REASON_ATTEMPT_FAILED, "attempt_failed")         \
    X(REASON_ATTEMPTS_EXHAUSTED, "attempts_exhausted") \
    X(REASON_DEADLINE, "deadline_exceeded")            \
    X(REASON_ROLLED_BACK, "rolled_back")               \
    X(REASON_INTERRUPTED, "interrupted")               \
    X(REASON_STARTED, "started")                       \
    X(REASON_PARENT_FINISHED, "parent_finished")       \
    X(REASON_INPUT, "input")                           \
    X(REASON_PAUSE, "pause")                           \
    X(REASON_RESUME, "resume")                         \
    X(REASON_CANCEL, "cancel")
ENUM_DECLARE(run_reason, RUN_REASON_NONE, run_reasons, RUN_REASONS);

/*
 * Changes the status of the run: checks the table, writes the row, appends the event with `reason`
 * (STR_NONE: none) and carries out the consequences. `run` already has its other new members.
 */
MUST_CHECK enum error run_change(
    struct context *c, struct run *run, enum run_status to, struct str reason);
/* The same with a given change of phase. */
MUST_CHECK enum error run_change_with(struct context *c, struct run *run, enum run_status to,
    struct str reason, const struct phase_move *move);
/* Fails a run; `error` is its error. The other documents of the run are not read. */
MUST_CHECK enum error run_fail(struct context *c, struct run *run, enum run_reason reason,
    struct str error, const struct phase_move *move);
/* Completes the schedule of a new run, and checks it; `dispatch` is set. */
MUST_CHECK enum error run_check_schedule(struct context *c, struct run *run);
/* Ends the attempt of a run that is leased, as failed: the run returns to the queue with this
 * reason, or fails if it has no further attempt. */
MUST_CHECK enum error run_fail_attempt(
    struct context *c, struct run *run, enum run_reason reason, struct str error);

/* Appends the event of the run's status; `from` is RUN_STATUS_NONE if the run is new. */
MUST_CHECK enum error run_announce(
    struct context *c, const struct run *run, enum run_status from, struct str reason);
/* Stores the answer for which the run waits, or waited when it was paused, and completes the turn
 * that asked. The status of a run that waits changes to `to`. The run has its documents. */
MUST_CHECK enum error run_answer(
    struct context *c, struct run *run, struct str input, enum run_status to);
/* Pause and resume the run and its descendants, without the checks of the verbs. */
MUST_CHECK enum error run_pause_tree(struct context *c, struct run *run);
MUST_CHECK enum error run_resume_tree(struct context *c, struct run *run);
/* Returns the status of a run that may be worked on again. */
enum run_status run_ready_status(const struct run *run);
/* Returns true if the run waits for a person or tools, or is paused and waits when it is resumed.
 */
bool run_waits(const struct run *run);

#endif
