/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: one conversation each, with the documents that outlive its runs. A document that the
 * active run changes is first kept as it was, so that a start with the policy `rollback` can put it
 * back. Status changes obey one table; each emits a `status` event in the same transaction. That a
 * thread was made, changed or deleted is told by `conversation.` events.
 */
#ifndef MODEL_THREADS_THREADS_H
#define MODEL_THREADS_THREADS_H

#include "base/enum.h"
#include "base/json/json.h"
#include "model/context.h"

enum {
    THREAD_KEY_MAX_BYTES = 512,
    THREAD_TITLE_MAX_BYTES = 1000,
    THREAD_AGENT_MAX_BYTES = 200,
    THREAD_DOCUMENT_MAX_BYTES = 1024 * 1024,
    THREAD_METADATA_MAX_BYTES = 100 * 1024,
    THREAD_EVENT_AGE_MAX_S = 10 * 366 * 86400,
    THREAD_METADATA_FILTERS = 4,
    THREAD_METADATA_MEMBERS = 256,
    THREAD_METADATA_INDEXED_BYTES = 256, /* longer keys and values cannot be filtered by */
};

/* clang-format off */
/*    status             word         statuses that may follow */
#define THREAD_STATUSES(X)                                                                        \
    X(THREAD_ACTIVE,     "active",    ENUM_SET(THREAD_PAUSED, THREAD_CANCELLED, THREAD_ERROR))    \
    X(THREAD_PAUSED,     "paused",    ENUM_SET(THREAD_ACTIVE, THREAD_CANCELLED, THREAD_ERROR))    \
    X(THREAD_CANCELLED,  "cancelled", ENUM_SET(THREAD_ACTIVE))                                    \
    X(THREAD_ERROR,      "error",     ENUM_SET(THREAD_ACTIVE, THREAD_CANCELLED))
/* What the start of a run does while another run of the thread is active. */
#define RUN_POLICIES(X)                                                                           \
    X(RUN_POLICY_REJECT,    "reject")    /* the start fails */                                    \
    X(RUN_POLICY_ENQUEUE,   "enqueue")   /* the new run waits */                                  \
    X(RUN_POLICY_INTERRUPT, "interrupt") /* the active run is cancelled */                        \
    X(RUN_POLICY_ROLLBACK,  "rollback")  /* and its changes to the thread's documents undone */
/* clang-format on */
ENUM_DECLARE(thread_status, THREAD_STATUS_NONE, thread_statuses, THREAD_STATUSES);
ENUM_DECLARE(run_policy, RUN_POLICY_NONE, thread_run_policies, RUN_POLICIES);

/* JSON documents are compact text; STR_NONE where the list left them out. */
struct thread {
    struct uuid id;
    struct str key; /* the user's own id of it, unique in the tenant; STR_NONE */
    enum thread_status status;
    struct str title;
    struct str agent;
    struct str context;
    struct str preferences;
    struct str important_steps;
    struct str metadata;
    struct str error;
    bool has_most_recent_run_id;
    struct uuid most_recent_run_id;
    enum run_policy run_policy;
    bool has_prune_on_completion;
    bool prune_on_completion;
    bool has_event_max_age_s;
    int64_t event_max_age_s;
    int64_t last_seq;
    int64_t pruned_seq;
    int64_t pruned_event_id;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
};

/* The next member of the metadata that can be filtered by: thread_metadata has exactly these. */
bool thread_metadata_next(
    struct arena *arena, struct json_iter *members, struct str *out_key, struct str *out_value);

/* Of a new thread: makes its metadata what it can be filtered by. */
MUST_CHECK enum error thread_index_metadata(
    struct context *c, struct uuid thread_id, struct str metadata);

/* Fills in what the client left out. */
void thread_defaults(struct thread *thread);

/* Creates the thread that `thread` describes (its log begins after last_seq), and fills in the rest
 * of it. A principal that does so is its first participant. ERR_CONFLICT names who has the key. */
MUST_CHECK enum error thread_create(struct context *c, struct thread *thread);
/* The thread with the key of `thread`, as it is; or else creates it. Whoever does so at the same
 * time gets the same one. */
MUST_CHECK enum error thread_ensure(struct context *c, struct thread *thread, bool *out_is_new);
/* To a principal, only one that it takes part in. */
MUST_CHECK enum error thread_get_by_key(
    struct context *c, struct str key, struct thread *out_thread);
MUST_CHECK enum error thread_get(struct context *c, struct uuid id, struct thread *out_thread);
/* The same without context, preferences and important_steps, which may be large. */
MUST_CHECK enum error thread_get_head(struct context *c, struct uuid id, struct thread *out_thread);

struct thread_filter {
    bool has_before;
    struct uuid before;
    struct str key;
    enum thread_status status;
    struct str agent;
    struct str title_part;
    bool has_created_after;
    int64_t created_after;
    bool has_created_before;
    int64_t created_before;
    struct str metadata_keys[THREAD_METADATA_FILTERS];
    struct str metadata_values[THREAD_METADATA_FILTERS];
    bool with_documents;
};
/* Newest first; to a principal, those that it takes part in. A page ends at `limit` threads or
 * PAGE_MAX_BYTES; out_more: there are others. */
MUST_CHECK enum error thread_list(struct context *c, const struct thread_filter *filter,
    struct page *page, struct thread *out_threads);

/* Replaces what a client may change of `before` (as read in this transaction) by `after`. */
MUST_CHECK enum error thread_update(
    struct context *c, const struct thread *before, struct thread *after);
/* Tells of all that differs but the status, by the names of it, and reads `after` anew. */
MUST_CHECK enum error thread_tell_update(
    struct context *c, const struct thread *before, struct thread *after);
/* With its runs and events; one event remains, for the tenant-wide stream, which tells of it. */
MUST_CHECK enum error thread_delete(struct context *c, struct uuid id);

/* Changes the status alone. */
MUST_CHECK enum error thread_set_status(
    struct context *c, struct thread *thread, enum thread_status status);
MUST_CHECK enum error thread_set_recent_run(
    struct context *c, struct thread *thread, struct uuid run_id);

/* Puts back the documents that the run changed. */
MUST_CHECK enum error thread_undo_run(struct context *c, struct uuid thread_id, struct uuid run_id);
/* Forgets how they were. */
MUST_CHECK enum error thread_forget_undo(struct context *c, struct uuid run_id);

#endif
