/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools whose results a run waits for. The engine names all tools of a pause in one request, which
 * also makes the run wait. Results arrive in any order, from browsers and backends, one or many in
 * a request. The last result of a pause continues the run in the same transaction: the run's next
 * input is {"tool_results":[…]}, in the order in which the engine named the tools. A second result
 * for a tool is ignored.
 *
 * Ids are unique within the run. An engine may continue without the results, by a change of status;
 * later results are stored and do not change the run.
 */
#ifndef MODEL_EXECUTION_AWAITED_TOOLS_H
#define MODEL_EXECUTION_AWAITED_TOOLS_H

#include "model/execution/runs.h"

enum {
    TOOLS_MAX = 256, /* tools of a pause, and results of a request */
    TOOL_NAME_MAX_BYTES = 128,
    TOOL_INPUT_MAX_BYTES = 256 * 1024,
    TOOL_INPUTS_MAX_BYTES = 1024 * 1024, /* sum of a pause */
    TOOL_RESULTS_MAX_BYTES = 768 * 1024, /* sum of a pause: they become the run's input */
};

#define TOOL_SIDES(X) X(TOOL_FRONTEND, "frontend") X(TOOL_BACKEND, "backend")
ENUM_DECLARE(tool_side, TOOL_SIDE_NONE, tool_sides, TOOL_SIDES);

/* JSON is compact text. */
struct awaited_tool {
    struct str tool_use_id;
    int64_t pause; /* 1, 2, 3 … within the run */
    int64_t position;
    enum tool_side side;
    struct str name; /* "" for a result without a name */
    struct str input;
    struct str content; /* the result; STR_NONE: not received */
    bool is_error;
    int64_t created_at;
    bool has_result_at; /* false: the result is missing */
    int64_t result_at;
    struct str result_by; /* a principal; STR_NONE: a key of the tenant */
};

/* A pause of a run. */
struct tool_pause {
    struct awaited_tool *tools;
    size_t n_tools;
    struct awaited_tool *results; /* of backend tools, which the engine already has */
    size_t n_results;
    struct str messages; /* of the resumption; STR_NONE: unchanged */
    bool has_current_step;
    int64_t current_step;
};
/* Makes the run wait. `run` is as run_get_head returned it, and is read again. */
MUST_CHECK enum error awaited_tools_add(
    struct context *c, struct run *run, const struct tool_pause *pause);

struct awaited_tool_filter {
    int64_t after_pause; /* 0: from the first pause */
    int64_t after_position;
    bool open_only;
};
/* Lists tools in the order in which the engine named them. */
MUST_CHECK enum error awaited_tool_list(struct context *c, struct uuid run_id,
    const struct awaited_tool_filter *filter, struct page *page, struct awaited_tool *out_tools);

struct tool_result {
    struct str tool_use_id;
    struct str content; /* compact JSON */
    bool has_is_error;
    bool is_error;
};
struct tool_outcome {
    struct str *accepted; /* ids, in the arena */
    size_t n_accepted;
    struct str *duplicates;
    size_t n_duplicates;
    int64_t remaining; /* tools of the newest pause without a result */
    bool resumed;      /* the last result has continued the run */
};
/* Stores all results, or none if the run has not named one of the ids. Reads the run again. */
MUST_CHECK enum error awaited_tools_settle(struct context *c, struct run *run,
    const struct tool_result *results, size_t n, struct tool_outcome *out_outcome);

#endif
