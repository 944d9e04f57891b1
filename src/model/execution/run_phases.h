/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: the position of a run in the life cycle of an agent, in addition to its status. One table
 * has the possible changes and their triggers; `failed` may follow every phase that is not final.
 * Each change is logged, numbered from 1 without gaps, and appended as a run.phase event.
 *
 * The status follows the phase (run_phase_status). A run whose phase no request has moved does not
 * use phases: its status changes as in runs.h, and the phase follows when the run waits for tools
 * and when it ends. Once the phase was moved, an engine may change the status only as the table
 * allows. The detail of a change to `failed` is also the error of the run.
 * Cancelling by people moves any phase to `cancelled`. Pausing, resuming, the end of a lease and
 * returning to the queue do not change the phase.
 */
#ifndef MODEL_EXECUTION_RUN_PHASES_H
#define MODEL_EXECUTION_RUN_PHASES_H

#include "model/execution/runs.h"

enum {
    RUN_TRIGGER_MAX_BYTES = 64,
    RUN_PHASE_DETAIL_MAX_BYTES = 64 * 1024,
};

/* clang-format off */
/* The triggers, and the change of phase that each causes. The last three have more than one. */
#define PHASE_TRIGGERS(X)                                                                         \
    X(TRIGGER_START,            "start",            PHASE_CREATED,        PHASE_INITIALIZING)     \
    X(TRIGGER_INIT_COMPLETE,    "init_complete",    PHASE_INITIALIZING,   PHASE_PLANNING)         \
    X(TRIGGER_INIT_ERROR,       "init_error",       PHASE_INITIALIZING,   PHASE_FAILED)           \
    X(TRIGGER_PLAN_READY,       "plan_ready",       PHASE_PLANNING,       PHASE_EXECUTING)        \
    X(TRIGGER_NEED_APPROVAL,    "need_approval",    PHASE_PLANNING,       PHASE_AWAITING_HUMAN)   \
    X(TRIGGER_PLAN_ERROR,       "plan_error",       PHASE_PLANNING,       PHASE_FAILED)           \
    X(TRIGGER_NEXT_ACTION,      "next_action",      PHASE_EXECUTING,      PHASE_EXECUTING)        \
    X(TRIGGER_TOOL_CALL,        "tool_call",        PHASE_EXECUTING,      PHASE_AWAITING_TOOL)    \
    X(TRIGGER_ACTION_COMPLETE,  "action_complete",  PHASE_EXECUTING,      PHASE_REFLECTING)       \
    X(TRIGGER_EXECUTION_ERROR,  "execution_error",  PHASE_EXECUTING,      PHASE_FAILED)           \
    X(TRIGGER_TOOL_RESULT,      "tool_result",      PHASE_AWAITING_TOOL,  PHASE_EXECUTING)        \
    X(TRIGGER_TOOL_TIMEOUT,     "tool_timeout",     PHASE_AWAITING_TOOL,  PHASE_FAILED)           \
    X(TRIGGER_HUMAN_INPUT,      "human_input",      PHASE_AWAITING_HUMAN, PHASE_PLANNING)         \
    X(TRIGGER_HUMAN_CANCEL,     "human_cancel",     PHASE_AWAITING_HUMAN, PHASE_CANCELLED)        \
    X(TRIGGER_NEEDS_REPLAN,     "needs_replan",     PHASE_REFLECTING,     PHASE_PLANNING)         \
    X(TRIGGER_TASK_DONE,        "task_done",        PHASE_REFLECTING,     PHASE_COMPLETED)        \
    X(TRIGGER_REFLECTION_ERROR, "reflection_error", PHASE_REFLECTING,     PHASE_FAILED)           \
    X(TRIGGER_ERROR,            "error",            PHASE_NONE,           PHASE_FAILED)           \
    X(TRIGGER_CANCEL,           "cancel",           PHASE_NONE,           PHASE_CANCELLED)        \
    X(TRIGGER_STATUS,           "status",           PHASE_NONE,           PHASE_NONE)
/* clang-format on */
ENUM_DECLARE(phase_trigger, TRIGGER_NONE, phase_triggers, PHASE_TRIGGERS);

struct run_phase_rule {
    enum phase from;
    enum phase to;
    enum phase_trigger trigger;
};
/* The triggers above that cause exactly one change. From every phase that is not final, `error`
 * also leads to `failed`. */
extern const struct run_phase_rule run_phase_rules[];
extern const size_t run_phase_rule_count;

/* Returns the phases that may follow this one, in the arena; ends in NULL. */
const char *const *run_phase_next(struct arena *arena, enum phase from);
/* Returns the status of a run that works in this phase; RUN_STATUS_NONE for `created`. */
enum run_status run_phase_status(enum phase phase);
/* Returns the phase of a run that ended with this status; PHASE_NONE if the status is not final. */
enum phase run_phase_at_end(enum run_status status);
bool run_phase_is_final(enum phase phase);

struct run_phase {
    int64_t number;
    enum phase from;
    enum phase to;
    struct str trigger;
    struct str detail; /* compact JSON; STR_NONE */
    int64_t created_at;
};
/* Lists the changes after this number, oldest first. */
MUST_CHECK enum error run_phase_list(struct context *c, struct uuid run_id, int64_t after,
    struct page *page, struct run_phase *out_phases);

/* Moves the run to a phase, and its status with it. `trigger` STR_NONE: the one of the table. */
MUST_CHECK enum error run_move_phase(
    struct context *c, struct run *run, enum phase to, struct str trigger, struct str detail);

/* Makes the run wait for results of tools: phase awaiting_tool, status waiting_for_input; a paused
 * run when it is resumed. */
MUST_CHECK enum error run_await_tools(struct context *c, struct run *run);
/* Makes a running run wait for a person; a paused run when it is resumed. A run that uses phases
 * waits only after planning, and stays as it is in another phase. */
MUST_CHECK enum error run_await_human(struct context *c, struct run *run);
/* Returns true if run_await_human makes this run, which waits, wait again after it continues. */
MUST_CHECK enum error run_may_ask(struct context *c, const struct run *run, bool *out_may);
/* All results have arrived: moves the run back to `executing`, with the status `to`; a paused run
 * is ready when it is resumed. Does nothing if the run does not wait for tools. */
MUST_CHECK enum error run_tools_done(struct context *c, struct run *run, enum run_status to);

#endif
