/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: the log of a run, one step for each action of its engine. Steps are numbered 1, 2, 3 …
 * within the run, in the order in which they were appended, and have a log_id that rises within the
 * tenant and is never reused. A step never changes and is deleted with its run; a finished run may
 * still get steps.
 *
 * Cairn writes steps itself, marked `lifecycle`, in the transaction in which a run starts to run
 * and in the one in which the run ends; no client can write such a step. They have no event of
 * their own, because the event of the change reports it.
 *
 * If a step has no tool, model, tokens or outcome of its own, they are taken from the data of the
 * action. The tokens of a step are added to the usage of the run (usage.h), and of its list of
 * messages only the new part is stored (snapshots.h).
 */
#ifndef MODEL_EXECUTION_STEPS_H
#define MODEL_EXECUTION_STEPS_H

#include "model/execution/runs.h"

enum {
    STEP_BATCH_MAX = 1000,
    STEP_DATA_MAX_BYTES = 256 * 1024,
    STEP_TEXT_MAX_BYTES = 16 * 1024, /* of a message in Cairn's steps; larger ones are left out */
    STEP_NAME_MAX_BYTES = 200,       /* of a tool, tool use, model or provider */
    STEP_NUMBER_MAX = 1000000000,
    STEP_COUNT_MAX = 1000000000, /* of messages and tokens */
    STEP_DURATION_MAX_MS = 1000000000,
    STEP_AHEAD_MAX_S = 24 * 3600, /* how far a timestamp may be in the future */
    STEP_FOLLOW_MAX_US = 1000000, /* a step without a time follows a last one up to so far ahead */
    STEP_SCAN_MAX = 20000,        /* steps examined for one page with several filters */
    STEP_CALL_SPAN = 1000,        /* the greatest distance between the steps of a call */
};

/* Traits of a type of action. */
enum {
    ACTION_ENDS_CALL = 1 << 0,   /* of a model: the tokens are in its data */
    ACTION_BEGINS_CALL = 1 << 1, /* of a model */
    ACTION_OF_TOOL = 1 << 2,
    ACTION_GOOD = 1 << 3, /* the outcome is success unless the data of the action say otherwise */
    ACTION_BAD = 1 << 4,  /* the outcome is error */
};

/* clang-format off */
/* The types of actions that Cairn knows, with their traits. An application may have others. */
#define ACTION_TYPES(X)                                                                           \
    X(ACTION_RUN_STARTED, "run_started", 0)                                                       \
    X(ACTION_RUN_COMPLETED, "run_completed", ACTION_GOOD)                                         \
    X(ACTION_RUN_FAILED, "run_failed", ACTION_BAD)                                                \
    X(ACTION_RUN_CANCELLED, "run_cancelled", 0)                                                   \
    X(ACTION_MAX_STEPS_REACHED, "max_steps_reached", 0)                                           \
    X(ACTION_MEMORY_RETRIEVAL, "memory_retrieval", 0)                                             \
    X(ACTION_MEMORY_UPDATE, "memory_update", 0)                                                   \
    X(ACTION_MEMORY_BEFORE_COMPACT, "memory_before_compact", 0)                                   \
    X(ACTION_MEMORY_AFTER_COMPACT, "memory_after_compact", 0)                                     \
    X(ACTION_COMPACTION, "compaction", 0)                                                         \
    X(ACTION_CONTEXT_TRANSFORMATION, "context_transformation", 0)                                 \
    X(ACTION_API_CALL_STARTED, "api_call_started", ACTION_BEGINS_CALL)                            \
    X(ACTION_API_RESPONSE_RECEIVED, "api_response_received", ACTION_ENDS_CALL | ACTION_GOOD)      \
    X(ACTION_API_RETRY, "api_retry", 0)                                                           \
    X(ACTION_API_ERROR, "api_error", ACTION_ENDS_CALL | ACTION_BAD)                               \
    X(ACTION_TOOL_EXECUTION, "tool_execution", ACTION_OF_TOOL | ACTION_GOOD)                      \
    X(ACTION_TOOL_ERROR, "tool_error", ACTION_OF_TOOL | ACTION_BAD)                               \
    X(ACTION_FINAL_ANSWER_VALIDATION, "final_answer_validation", 0)                               \
    X(ACTION_FINAL_ANSWER_VALIDATION_FAILED, "final_answer_validation_failed", ACTION_BAD)        \
    X(ACTION_FILE_GENERATED, "file_generated", 0)                                                 \
    X(ACTION_FILE_DOWNLOADED, "file_downloaded", 0)                                               \
    X(ACTION_FILE_STORED, "file_stored", 0)                                                       \
    X(ACTION_FILE_ERROR, "file_error", ACTION_BAD)                                                \
    X(ACTION_FINAL_SUMMARY_GENERATION, "final_summary_generation", 0)                             \
    X(ACTION_STREAMING_CHUNK, "streaming_chunk", 0)                                               \
    X(ACTION_ERROR, "error", ACTION_BAD)

#define STEP_OUTCOMES(X)       \
    X(STEP_SUCCESS, "success") \
    X(STEP_ERROR,   "error")
/* clang-format on */
ENUM_DECLARE(action_type, ACTION_TYPE_NONE, action_types, ACTION_TYPES);
ENUM_DECLARE(step_outcome, STEP_OUTCOME_NONE, step_outcomes, STEP_OUTCOMES);

struct step_usage {
    bool has_input_tokens;
    int64_t input_tokens;
    bool has_output_tokens;
    int64_t output_tokens;
    bool has_cache_creation_input_tokens;
    int64_t cache_creation_input_tokens;
    bool has_cache_read_input_tokens;
    int64_t cache_read_input_tokens;
};

/* JSON members are compact text. */
struct step {
    int64_t log_id;
    struct uuid run_id;
    int64_t number;
    struct uuid thread_id;
    bool has_agent_id;
    struct uuid agent_id;
    bool has_turn_id;
    struct uuid turn_id;
    bool has_at;
    int64_t at;
    bool has_step_number;
    int64_t step_number;
    struct str action_type;
    struct str action_data;
    struct str messages_snapshot; /* an array; STR_NONE: not requested */
    bool has_snapshot_id;
    struct uuid snapshot_id;
    bool has_messages_count;
    int64_t messages_count;
    bool has_estimated_tokens;
    int64_t estimated_tokens;
    bool has_duration_ms;
    int64_t duration_ms;
    struct str tool_name;
    struct str tool_use_id;
    enum step_outcome outcome;
    struct str model;
    struct str provider;
    bool has_usage;
    struct step_usage usage;
    bool has_cost;
    int64_t cost_pico;
    bool has_price_version;
    int64_t price_version;
    bool lifecycle; /* written by Cairn */
    int64_t created_at;
};

/* Returns true for a word of action_types, and for a type of an application ("acme.vote"). */
bool step_type_is_known(struct str type);

/* --- Queries -------------------------------------------------------------------------------- */

/* Reads the step with its messages. */
MUST_CHECK enum error step_get(
    struct context *c, struct uuid run_id, int64_t number, struct step *out_step);
/* Reads the messages of a listed step, if it has any. */
MUST_CHECK enum error step_read_messages(struct context *c, struct step *step);

enum step_calls { STEP_CALLS_NONE, STEP_CALLS_LLM, STEP_CALLS_TOOL };

/* `from` is inclusive, `before` exclusive; INT64_MIN and INT64_MAX: no limit. */
struct step_run_filter {
    struct uuid run_id;
    int64_t after; /* only steps after this number */
    struct str action_type;
    bool has_step_number;
    int64_t step_number;
    int64_t from;
    int64_t before;
    enum step_calls calls; /* only calls to models, or to tools that the run did not wait for */
    bool has_turn_id;      /* only calls in this turn */
    struct uuid turn_id;
    bool with_messages;
};
struct step_page {
    struct page page;
    struct step *steps; /* room for page.limit */
    /* Where the next page begins. */
    int64_t next_number;
    int64_t next_at;
    int64_t next_id;
};
/* Lists the steps of a run in their order. With a filter, a page also ends after STEP_SCAN_MAX
 * steps. */
MUST_CHECK enum error step_list_run(
    struct context *c, const struct step_run_filter *filter, struct step_page *page);

struct step_filter {
    bool has_thread_id;
    struct uuid thread_id;
    bool has_agent_id;
    struct uuid agent_id;
    struct str action_type;
    enum step_outcome outcome;
    struct str tool_name;
    struct str model;
    int64_t from;
    int64_t before;
    bool has_cursor; /* only steps before this position */
    int64_t cursor_at;
    int64_t cursor_id;
    bool with_messages;
};
/* Lists the steps of all runs, newest first. With several filters, a page also ends after
 * STEP_SCAN_MAX steps. */
MUST_CHECK enum error step_list(
    struct context *c, const struct step_filter *filter, struct step_page *page);

/* Returns the messages that were sent to the model in the call that this step ends: those of the
 * step, or else of the step that began the call; STR_NONE if neither has messages. */
MUST_CHECK enum error step_messages_of_call(
    struct context *c, const struct step *end, struct str *out_messages);

/* Count and total duration of a type of action. */
struct step_summary {
    struct str action_type;
    int64_t count;
    int64_t errors;
    int64_t duration_ms;
    int64_t first_at;
    int64_t last_at;
};
enum { STEP_SUMMARY_MAX = 1000 }; /* types */
/* Returns up to STEP_SUMMARY_MAX types, by name. out_total includes all types; out_more: there are
 * other types. */
MUST_CHECK enum error step_summarize(struct context *c, bool of_thread, struct uuid id,
    struct step_summary *out_types, size_t *out_count, struct step_summary *out_total,
    bool *out_more);

/* --- Changes -------------------------------------------------------------------------------- */

/*
 * Appends steps to a run, whose thread is locked: fills in what they do not say, and their numbers
 * and ids. `at` is the pointer of the list in the body; STR_NONE: the body is the one step.
 */
MUST_CHECK enum error step_append(
    struct context *c, const struct run *run, struct step *steps, size_t n, struct str at);

/* Append Cairn's step about the first time that a run becomes running, and about its end, for
 * `reason` (STR_NONE: none). The run is written, and its thread is locked. */
MUST_CHECK enum error step_log_start(struct context *c, const struct run *run);
MUST_CHECK enum error step_log_end(struct context *c, const struct run *run, struct str reason);
/* Gives Cairn's step about the start the time that the call which ends the run has reported. */
MUST_CHECK enum error step_move_start(struct context *c, const struct run *run);
/* Returns true if Cairn writes steps of this type about a run that has this status now. */
bool step_may_be_lifecycle(struct str type, enum run_status status);

#endif
