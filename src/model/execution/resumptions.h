/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resumptions: the data of a thread that an engine needs to continue where it stopped, in one read.
 * This module stores the configuration, the compacted messages and the history of the current run.
 * The awaited tools, the number of runs and the title are read from their own tables
 * (awaited_tools.h, runs.h, threads.h). When a run ends, its history moves to its history entry
 * (history.h).
 */
#ifndef MODEL_EXECUTION_RESUMPTIONS_H
#define MODEL_EXECUTION_RESUMPTIONS_H

#include "model/context.h"
#include "model/threads/threads.h"

enum {
    RESUMPTION_PROMPT_MAX_BYTES = 256 * 1024,
    RESUMPTION_NAME_MAX_BYTES = 255, /* model, container, formatter and the types of components */
    RESUMPTION_TOOLS_MAX = 256,
    RESUMPTION_TOOL_NAME_MAX_BYTES = 128,
    RESUMPTION_TOOLS_MAX_BYTES = 1024 * 1024,
    RESUMPTION_HEADERS_MAX = 64,
    RESUMPTION_HEADER_MAX_BYTES = 200,
    RESUMPTION_SMALL_MAX_BYTES = 256 * 1024, /* server_tools, api_kwargs and extras, each */
    RESUMPTION_FILES_MAX = 10000,
    RESUMPTION_FILES_MAX_BYTES = 1024 * 1024,
    RESUMPTION_STEPS_MAX = 1000000,
    RESUMPTION_TOKENS_MAX = 100000000,
    RESUMPTION_RETRIES_MAX = 1000,
    RESUMPTION_DELAY_MAX_MS = 3600 * 1000,
    RESUMPTION_RUNS_MAX = 1000 * 1000 * 1000,
    RESUMPTION_DELAY_PLACES = 3, /* of base_delay in seconds: whole milliseconds */
};

/* JSON is compact text. A number or bool without its has_ member is absent and gets a default. */
struct resumption {
    struct uuid thread_id;
    bool has_agent_id;
    struct uuid agent_id; /* of the thread's newest run at the time of the last write */
    struct str system_prompt;
    struct str model;
    bool has_max_steps;
    int64_t max_steps;
    bool has_thinking_tokens;
    int64_t thinking_tokens;
    bool has_max_tokens;
    int64_t max_tokens;
    struct str container_id;
    struct str messages; /* STR_NONE: not read; in a write: unchanged */
    struct str tool_schemas;
    struct str tool_names; /* of tool_schemas */
    struct str server_tools;
    struct str beta_headers;
    struct str api_kwargs;
    struct str formatter;
    bool has_stream_meta;
    bool stream_meta;
    struct str compactor_type;
    struct str memory_store_type;
    struct str file_registry;
    struct str extras;
    bool has_max_retries;
    int64_t max_retries;
    bool has_base_delay;
    int64_t base_delay_pico; /* seconds times 10^12, in whole milliseconds */
    bool has_last_known_input_tokens;
    int64_t last_known_input_tokens;
    bool has_last_known_output_tokens;
    int64_t last_known_output_tokens;
    struct str pending_frontend_tools;
    struct str pending_backend_results;
    bool awaiting_frontend_tools;
    bool has_current_step;
    int64_t current_step;
    struct str conversation_history; /* STR_NONE as for messages */
    struct str title;
    int64_t created_at;
    int64_t updated_at;
    bool has_last_run_at;
    int64_t last_run_at;
    bool has_total_runs; /* in a write */
    int64_t total_runs;
    int64_t earlier_runs; /* before Cairn; part of total_runs */
    int64_t version;      /* 0: the resumption does not exist */

    struct uuid messages_id; /* transcripts.h */
    struct uuid history_id;
};

/*
 * Reads the resumption; in a WRITE job it is locked. ERR_NOT_FOUND means that there is no such
 * thread. A resumption that does not exist has version 0 and the thread's title. `with_lists`: also
 * reads messages and conversation_history.
 */
MUST_CHECK enum error resumption_find(
    struct context *c, struct uuid thread_id, bool with_lists, struct resumption *out_resumption);
/* The same, and ERR_NOT_FOUND if the resumption does not exist. */
MUST_CHECK enum error resumption_get(
    struct context *c, struct uuid thread_id, bool with_lists, struct resumption *out_resumption);

/*
 * Replaces `before`, as resumption_find returned it, by `after`, and reads `after` again without
 * the lists. A system_prompt or model that is STR_NONE is taken from the agent version of the
 * thread's newest run.
 */
MUST_CHECK enum error resumption_write(
    struct context *c, const struct resumption *before, struct resumption *after);
/* Appends to the lists; STR_NONE appends nothing. */
struct resumption_append {
    struct str messages;
    struct str conversation_history;
};
MUST_CHECK enum error resumption_append(
    struct context *c, struct resumption *resumption, const struct resumption_append *append);

/* Stores where the engine of a pausing run will continue. Messages that are STR_NONE are unchanged.
 */
MUST_CHECK enum error resumption_set_place(struct context *c, struct uuid thread_id,
    struct str messages, bool has_step, int64_t current_step);

/* Removes the transcript of the ending run from the resumption and returns its id; the nil id if
 * there is none. */
MUST_CHECK enum error resumption_take_history(
    struct context *c, struct uuid thread_id, struct uuid *out_transcript_id);

#endif
