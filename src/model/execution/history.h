/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History: one entry for each finished run that has no parent. The transaction that ends the run
 * adds the entry. Entries are numbered 1, 2, 3 … within the thread, without gaps, and are deleted
 * only with the thread. If usage is reported after the end of a run, its entry is updated. Messages
 * are stored as a transcript (transcripts.h).
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
    struct str status; /* of the run */
    bool has_agent_id;
    struct uuid agent_id;
    int64_t started_at;
    int64_t completed_at;
    struct str user_message;
    struct str final_response;
    struct str messages; /* STR_NONE: not read; in an update: unchanged */
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

/* Adds the entry of a run that has just ended, with the messages, files and extras of run->result;
 * nothing for a run with a parent. The thread is locked and the row of the run is written. */
MUST_CHECK enum error history_append(struct context *c, const struct run *run);
/* Called after steps or usage were added to a run. If the run has ended, updates the entry of the
 * run, or of its topmost ancestor. `run` is as it was before. */
MUST_CHECK enum error history_update_usage(struct context *c, const struct run *run);

/* Checks a list of generated files (compact JSON); faults begin with /generated_files. */
MUST_CHECK enum error history_check_files(struct context *c, struct str files);

/* In a WRITE job the entry is locked. */
MUST_CHECK enum error history_get(struct context *c, struct uuid thread_id, int64_t sequence_number,
    bool with_messages, struct history_entry *out_entry);

struct history_filter {
    int64_t before; /* a sequence number; 0: from the newest */
    bool with_messages;
    bool completed_only; /* only entries of completed runs */
};
/* Newest first. */
MUST_CHECK enum error history_list(struct context *c, struct uuid thread_id,
    const struct history_filter *filter, struct page *page, struct history_entry *out_entries);
/* Counts the entries of completed runs. */
MUST_CHECK enum error history_count_completed(
    struct context *c, struct uuid thread_id, int64_t *out_count);

/* Replaces messages, generated_files, extras, final_response and stop_reason of `before`, and reads
 * `after` again, with its messages. */
MUST_CHECK enum error history_update(
    struct context *c, const struct history_entry *before, struct history_entry *after);

#endif
