/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools whose results a run waits for. The engine names all tools of a pause in one request, which
 * also makes the run wait. Results arrive in any order, from browsers and backends, one or many in
 * a request. The last result of a pause continues the run in the same transaction: the run's next
 * input is {"tool_results":[…]}, in the order in which the engine named the tools. A second result
 * for a tool is ignored.
 *
 * Ids are unique within the run. An engine may continue without the results, by a change of status;
 * later results are stored and do not change the run. A run fails with tool_timeout if a tool that
 * it waits for has no result at the tool's deadline.
 *
 * A turn that ends in awaiting_tool names its tools in its output (turn_tools.c), and the last
 * result completes this turn.
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

/* clang-format off */
/* The statuses of calls. A tool without a result is pending until its run ends: then it has timed
 * out if its deadline had passed, and otherwise ends with the run. */
#define TOOL_CALL_STATUSES(X)          \
    X(TOOL_CALL_PENDING,   "pending")   \
    X(TOOL_CALL_SUCCESS,   "success")   \
    X(TOOL_CALL_ERROR,     "error")     \
    X(TOOL_CALL_TIMEOUT,   "timeout")   \
    X(TOOL_CALL_CANCELLED, "cancelled")
/* clang-format on */
ENUM_DECLARE(tool_call_status, TOOL_CALL_STATUS_NONE, tool_call_statuses, TOOL_CALL_STATUSES);

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
    bool has_deadline;
    int64_t deadline;
    bool has_turn_id;
    struct uuid turn_id; /* the unfinished turn of the run when it began to wait */
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
    struct str tools_at;   /* the pointer of the list in the body */
    const char *id_member; /* of a tool in this list */
};
/* Checks the tools, and that the run may wait for them. */
MUST_CHECK enum error awaited_tools_check(
    struct context *c, const struct run *run, const struct tool_pause *pause);
/* Makes the run wait for tools that were checked. `run` is read again. */
MUST_CHECK enum error awaited_tools_add(
    struct context *c, struct run *run, const struct tool_pause *pause);
/* Reads a tool of the run; out_found is false if the run has not named it. */
MUST_CHECK enum error awaited_tool_find(struct context *c, struct uuid run_id, struct str id,
    bool *out_found, struct awaited_tool *out_tool);

/* Returns the status of a tool of this run; of a completed run, a tool without a result was
 * cancelled. */
enum tool_call_status awaited_tool_status(
    struct arena *arena, const struct run *run, const struct awaited_tool *tool);

struct awaited_tool_filter {
    int64_t after_pause; /* 0: from the first pause */
    int64_t after_position;
    bool open_only;
    bool has_turn_id; /* only tools that the run named in this turn */
    struct uuid turn_id;
};
/* Lists tools in the order in which the engine named them. */
MUST_CHECK enum error awaited_tool_list(struct context *c, struct uuid run_id,
    const struct awaited_tool_filter *filter, struct page *page, struct awaited_tool *out_tools);

struct tool_result {
    struct str tool_use_id;
    struct str content; /* compact JSON */
    bool has_is_error;
    bool is_error;
    struct str at; /* the pointer of the result in the body */
};
struct tool_outcome {
    struct str *accepted; /* ids, in the arena */
    size_t n_accepted;
    struct str *duplicates;
    size_t n_duplicates;
    int64_t remaining; /* tools of the newest pause without a result */
    bool resumed;      /* the last result has continued the run */
};
/* Stores all results, or none if the run has not named one of the ids. After the last
 * result the run is ready to be worked on; `works_on`: it is running, because the caller makes it
 * wait again in the same transaction. Reads the run again. */
MUST_CHECK enum error awaited_tools_settle(struct context *c, struct run *run, bool works_on,
    const struct tool_result *results, size_t n, struct tool_outcome *out_outcome);

/* Lists up to `limit` runs of all tenants that wait for tools whose deadline has passed. */
MUST_CHECK enum error awaited_tools_list_overdue(
    struct context *c, size_t limit, struct owned_id *out_runs, size_t *out_count);
/* Fails the run if it still waits for such a tool. */
MUST_CHECK enum error awaited_tools_end_overdue(struct context *c, struct uuid run_id);

#endif
