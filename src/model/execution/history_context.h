/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context of a thread: the messages of its last completed runs, oldest first, which an engine
 * sends before those of the next run, within a budget of tokens. Whole runs are omitted, the oldest
 * first. The newest run is cut if it alone exceeds the budget, but never between the use of a tool
 * and its result. The number of tokens is an estimate: see history_tokens.
 */
#ifndef MODEL_EXECUTION_HISTORY_CONTEXT_H
#define MODEL_EXECUTION_HISTORY_CONTEXT_H

#include "model/agents/agent_definition.h"
#include "model/execution/history.h"

enum {
    CONTEXT_RUNS_DEFAULT = 5,
    CONTEXT_RUNS_MAX = AGENT_HISTORY_RUNS_MAX,
    CONTEXT_TOKENS_MAX = 1000000, /* also the default budget */
    CONTEXT_TOKENS_PER_MESSAGE = 4,
};

struct history_context {
    struct str messages; /* compact JSON */
    int64_t runs_used;
    int64_t runs_available; /* completed runs in the history */
    int64_t estimated_tokens;
    bool truncated; /* messages of the requested runs exceeded the budget */
};

struct history_context_query {
    int64_t runs;
    int64_t max_tokens;
    bool with_system; /* begins with the system prompt of the resumption, within the budget */
};

MUST_CHECK enum error history_context(struct context *c, struct uuid thread_id,
    const struct history_context_query *query, struct history_context *out_context);

/* The number of runs that the agent of the thread's newest run sets for the context: 0 if it wants
 * none, and CONTEXT_RUNS_DEFAULT without a setting. */
MUST_CHECK enum error history_runs_in_context(
    struct context *c, struct uuid thread_id, int64_t *out_runs);

/* Estimates the tokens of a message from the size of its compact JSON: one for every four bytes,
 * rounded up, and CONTEXT_TOKENS_PER_MESSAGE. */
int64_t history_tokens(size_t message_bytes);

#endif
