/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History: one entry for each finished run of a thread that is nobody's child, made in the
 * transaction in which the run ends. Entries are numbered 1, 2, 3 within the thread, without gaps,
 * and go with the thread alone. What a run used may still be told after its end: then its entry is
 * brought up to date. Messages are kept as a transcript (transcripts.h).
 */
#ifndef MODEL_EXECUTION_HISTORY_H
#define MODEL_EXECUTION_HISTORY_H

#include "model/execution/runs.h"

enum {
    HISTORY_RESPONSE_MAX_BYTES = 1024 * 1024,
    HISTORY_REASON_MAX_BYTES = 200,
    HISTORY_FILES_MAX = 1000,
    HISTORY_FILES_MAX_BYTES = 256 * 1024,
    HISTORY_EXTRAS_MAX_BYTES = 256 * 1024,
};

struct history_usage {
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t cache_creation_input_tokens;
    int64_t cache_read_input_tokens;
};

/* JSON is compact text. */
struct history_entry {
    struct uuid id;
    struct uuid thread_id;
    int64_t sequence_number;
    struct uuid run_id;
    struct str status; /* the run's */
    bool has_agent_id;
    struct uuid agent_id;
    int64_t started_at;
    int64_t completed_at;
    struct str user_message;
    struct str final_response;
    struct str messages; /* STR_NONE: not read; to write: stay as they are */
    struct str stop_reason;
    int64_t total_steps;
    struct history_usage usage;
    struct str cost;
    struct str generated_files;
    struct str extras;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;

    struct uuid messages_id;
};

/* The run has just ended, its row says so; of a child nothing is noted. The thread is locked. */
MUST_CHECK enum error history_append(struct context *c, const struct run *run);
/* Steps or usage were added to the run, as it was read before: when it had ended, the entry that it
 * belongs to, as itself or as a descendant, is brought up to date. */
MUST_CHECK enum error history_update_usage(struct context *c, const struct run *run);

/* In a WRITE job it is locked. */
MUST_CHECK enum error history_get(struct context *c, struct uuid thread_id, int64_t sequence_number,
    bool with_messages, struct history_entry *out_entry);

struct history_filter {
    int64_t before; /* a number; 0: from the newest */
    bool with_messages;
    bool completed_only; /* entries of runs that ended well */
};
/* Newest first. A page ends at `limit` or PAGE_MAX_BYTES; out_more: there are others. */
MUST_CHECK enum error history_list(struct context *c, struct uuid thread_id,
    const struct history_filter *filter, struct page *page, struct history_entry *out_entries);
/* How many entries of the thread are of runs that ended well. */
MUST_CHECK enum error history_count_completed(
    struct context *c, struct uuid thread_id, int64_t *out_count);

/* Writes messages, generated_files, extras, final_response and stop_reason of `after` over
 * `before`, and reads it anew, with the messages. */
MUST_CHECK enum error history_update(
    struct context *c, const struct history_entry *before, struct history_entry *after);

#endif
