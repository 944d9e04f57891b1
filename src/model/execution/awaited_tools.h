/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools whose results a run waits for. The engine names them all at once, and with that the run
 * pauses; results come in any order, from browsers and backends, one by one or many at once. With
 * the last of a pause, in the same transaction, the run goes on: its next input is
 * {"tool_results":[…]}, in the order in which the tools were named. A second result for a tool
 * changes nothing: the first one stays.
 *
 * Ids are unique within the run. An engine may go on without the results (by a change of status):
 * what then comes in late is kept, and moves nothing.
 */
#ifndef MODEL_EXECUTION_AWAITED_TOOLS_H
#define MODEL_EXECUTION_AWAITED_TOOLS_H

#include "model/execution/runs.h"

enum {
    TOOLS_MAX = 256, /* of one pause; results of one request */
    TOOL_NAME_MAX_BYTES = 128,
    TOOL_INPUT_MAX_BYTES = 256 * 1024,
    TOOL_INPUTS_MAX_BYTES = 1024 * 1024, /* of one pause together */
    TOOL_RESULTS_MAX_BYTES = 768 * 1024, /* likewise: they become the run's input */
};

#define TOOL_SIDES(X) X(TOOL_FRONTEND, "frontend") X(TOOL_BACKEND, "backend")
ENUM_DECLARE(tool_side, TOOL_SIDE_NONE, tool_sides, TOOL_SIDES);

/* JSON is compact text. */
struct awaited_tool {
    struct str tool_use_id;
    int64_t pause; /* 1, 2, 3 within the run */
    int64_t position;
    enum tool_side side;
    struct str name; /* "" of a result that came without one */
    struct str input;
    struct str content; /* of the result; STR_NONE: not in */
    bool is_error;
    int64_t created_at;
    bool has_result_at; /* false: it is open */
    int64_t result_at;
    struct str result_by; /* a principal; STR_NONE: a key of the whole tenant */
};

/* What a run stops with. Tools whose content is not STR_NONE have their results already. */
struct tool_pause {
    struct awaited_tool *tools;
    size_t n_tools;
    struct awaited_tool *results; /* of the backend, which the engine has */
    size_t n_results;
    struct str messages; /* of the resumption; STR_NONE: they stay */
    bool has_current_step;
    int64_t current_step;
};
/* The run, as run_get_head gave it, waits from here on; reads it anew. */
MUST_CHECK enum error awaited_tools_add(
    struct context *c, struct run *run, const struct tool_pause *pause);

struct awaited_tool_filter {
    int64_t after_pause; /* behind this one; 0: from the first */
    int64_t after_position;
    bool open_only;
};
/* In the order in which they were named. A page ends at `limit` or PAGE_MAX_BYTES. */
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
    int64_t remaining; /* open tools of the newest pause */
    bool resumed;      /* this was the last one, and the run goes on */
};
/* All of them or none: an id that the run has not named is refused. Reads the run anew. */
MUST_CHECK enum error awaited_tools_settle(struct context *c, struct run *run,
    const struct tool_result *results, size_t n, struct tool_outcome *out_outcome);

#endif
