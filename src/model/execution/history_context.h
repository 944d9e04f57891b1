/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context of a thread: the messages of its last completed runs that an engine puts before the
 * next one, oldest first, within a budget of tokens. Runs are left out whole, the oldest first; the
 * newest is cut when it alone is too large, and then never between the use of a tool and its
 * result. Tokens are estimated: see history_tokens.
 */
#ifndef MODEL_EXECUTION_HISTORY_CONTEXT_H
#define MODEL_EXECUTION_HISTORY_CONTEXT_H

#include "model/execution/history.h"

enum {
    CONTEXT_RUNS_DEFAULT = 5,
    CONTEXT_RUNS_MAX = 100,
    CONTEXT_TOKENS_MAX = 1000000, /* also the budget of who names none */
    CONTEXT_TOKENS_PER_MESSAGE = 4,
};

struct history_context {
    struct str messages; /* compact JSON */
    int64_t runs_used;
    int64_t runs_available; /* completed runs in the history */
    int64_t estimated_tokens;
    bool truncated; /* the budget left out something of the runs that were asked for */
};

struct history_context_query {
    int64_t runs;
    int64_t max_tokens;
    bool with_system; /* the system prompt of the resumption comes first, and counts */
};

MUST_CHECK enum error history_context(struct context *c, struct uuid thread_id,
    const struct history_context_query *query, struct history_context *out_context);

/* Of a message as compact JSON: a token for every four bytes begun, and CONTEXT_TOKENS_PER_MESSAGE.
 */
int64_t history_tokens(size_t message_bytes);

#endif
