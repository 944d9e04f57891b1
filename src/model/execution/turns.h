/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns: the parts of a run between two inputs, which are messages or results of tools. Turns are
 * numbered 1, 2, 3 … within their run, without gaps. Only the newest turn is unfinished: the next
 * turn completes one that waits, and when the run ends, so does the turn. usage_add counts the
 * tokens of a turn (usage.h).
 *
 * A turn that changes to awaiting_tool makes the run wait for the tool_calls of its output, and the
 * tool_results of a turn are results of tools that the run waits for (awaited_tools.h). A turn that
 * changes to awaiting_human makes the run wait for a person, and the message of the next turn is
 * the answer.
 */
#ifndef MODEL_EXECUTION_TURNS_H
#define MODEL_EXECUTION_TURNS_H

#include "model/execution/runs.h"
#include "model/execution/usage.h"

enum {
    TURN_MESSAGE_MAX_BYTES = RUN_INPUT_MAX_BYTES,
    TURN_INPUT_MAX_BYTES = RUN_DOCUMENT_MAX_BYTES,
    TURN_OUTPUT_MAX_BYTES = RUN_DOCUMENT_MAX_BYTES,
    TURN_TOOL_RESULTS_MAX = 256,
    TURN_TOOL_ID_MAX_BYTES = 200,
};

/* clang-format off */
/* The statuses of a turn, and those that may follow each. */
#define TURN_STATUSES(X)                                                                          \
    X(TURN_RUNNING, "running",                                                                    \
        ENUM_SET(TURN_COMPLETE, TURN_AWAITING_TOOL, TURN_AWAITING_HUMAN, TURN_FAILED,             \
            TURN_CANCELLED))                                                                      \
    X(TURN_COMPLETE,       "complete",       0)                                                   \
    X(TURN_AWAITING_TOOL,  "awaiting_tool",  ENUM_SET(TURN_COMPLETE, TURN_FAILED, TURN_CANCELLED))\
    X(TURN_AWAITING_HUMAN, "awaiting_human", ENUM_SET(TURN_COMPLETE, TURN_FAILED, TURN_CANCELLED))\
    X(TURN_FAILED,         "failed",         0)                                                   \
    X(TURN_CANCELLED,      "cancelled",      0)
/* clang-format on */
ENUM_DECLARE(turn_status, TURN_STATUS_NONE, turn_statuses, TURN_STATUSES);

struct turn {
    struct uuid id;
    struct uuid run_id;
    int64_t number;
    struct str input;  /* compact JSON */
    struct str output; /* STR_NONE: none yet */
    enum turn_status status;
    struct run_usage usage; /* input_tokens includes cached input */
    bool has_latency_ms;
    int64_t latency_ms;
    bool has_checkpoint_id;
    struct uuid checkpoint_id;
    int64_t created_at;
    bool has_finished_at;
    int64_t finished_at;
    int64_t version;
    struct str tool_results; /* in a begin: those of the input; STR_NONE: none */
};

/* --- Queries -------------------------------------------------------------------------------- */

/* Reads a turn of this run. */
MUST_CHECK enum error turn_get(
    struct context *c, struct uuid run_id, struct uuid id, struct turn *out_turn);
/* Lists the turns after this number, oldest first; with input and output if `with_documents`. */
MUST_CHECK enum error turn_list(struct context *c, struct uuid run_id, int64_t after,
    bool with_documents, struct page *page, struct turn *out_turns);
/* Returns the set of statuses that may follow this one. */
unsigned turn_transitions(enum turn_status from);

/* --- Changes -------------------------------------------------------------------------------- */

/* OK if there is a message, or a list of tool results that each have a tool_use_id, or both. */
MUST_CHECK enum error turn_check_input(struct context *c, struct str message, struct str results);

/* Begins the turn that `turn` describes: input, output, status, latency_ms and checkpoint_id.
 * Without a status, a turn without output is running, and one with output has the "status" of the
 * output or is complete. `usage` is that of one call to a model, or NULL. */
MUST_CHECK enum error turn_begin(
    struct context *c, const struct run *run, struct turn *turn, const struct usage *usage);
/* Replaces output, status, latency_ms and checkpoint_id of `before`. Without a status
 * (TURN_STATUS_NONE), new output has one or completes a running turn. `usage` as above; only for a
 * turn without usage. */
MUST_CHECK enum error turn_update(struct context *c, const struct run *run,
    const struct turn *before, struct turn *after, const struct usage *usage);
/* Finds the unfinished turn of the run, without its documents. */
MUST_CHECK enum error turn_find_open(
    struct context *c, const struct run *run, struct turn *out_turn, bool *out_found);
/* Completes the turn that awaits tools, after the last result, or a person, after the answer. */
MUST_CHECK enum error turn_end_wait(
    struct context *c, const struct run *run, enum turn_status awaited);
/* Ends the unfinished turn of a run that has ended, with the corresponding status. */
MUST_CHECK enum error turn_end_open(struct context *c, const struct run *run);

#endif
