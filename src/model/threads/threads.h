/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: conversations, with documents that outlive their runs. Before the active run changes a
 * document, its previous contents are saved, so that a start with the policy `rollback` can restore
 * them. A change of status obeys one table and appends a `status` event in the same transaction.
 * Creation, changes and deletion append `conversation.` events.
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
    THREAD_METADATA_INDEXED_BYTES = 256, /* filters ignore longer keys and values */
};

/* clang-format off */
/*    status             word         statuses that may follow */
#define THREAD_STATUSES(X)                                                                        \
    X(THREAD_ACTIVE,     "active",    ENUM_SET(THREAD_PAUSED, THREAD_CANCELLED, THREAD_ERROR))    \
    X(THREAD_PAUSED,     "paused",    ENUM_SET(THREAD_ACTIVE, THREAD_CANCELLED, THREAD_ERROR))    \
    X(THREAD_CANCELLED,  "cancelled", ENUM_SET(THREAD_ACTIVE))                                    \
    X(THREAD_ERROR,      "error",     ENUM_SET(THREAD_ACTIVE, THREAD_CANCELLED))
/* How the start of a run treats another active run of the thread. */
#define RUN_POLICIES(X)                                                                           \
    X(RUN_POLICY_REJECT,    "reject")    /* the start fails */                                    \
    X(RUN_POLICY_ENQUEUE,   "enqueue")   /* the new run waits */                                  \
    X(RUN_POLICY_INTERRUPT, "interrupt") /* the active run is cancelled */                        \
    X(RUN_POLICY_ROLLBACK,  "rollback")  /* and its changes to the thread's documents undone */
/* clang-format on */
ENUM_DECLARE(thread_status, THREAD_STATUS_NONE, thread_statuses, THREAD_STATUSES);
ENUM_DECLARE(run_policy, RUN_POLICY_NONE, thread_run_policies, RUN_POLICIES);

/* JSON documents are compact text; STR_NONE if the list omits them. */
struct thread {
    struct uuid id;
    struct str key;       /* the client's own id, unique in its namespace; STR_NONE: none */
    struct str key_owner; /* the principal whose namespace it is; STR_NONE: the tenant */
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

/* Returns the next member of the metadata that filters can use: exactly these are in the table
 * thread_metadata. */
bool thread_metadata_next(
    struct arena *arena, struct json_iter *members, struct str *out_key, struct str *out_value);

/* Adds the metadata of a new thread to the table that filters use. */
MUST_CHECK enum error thread_index_metadata(
    struct context *c, struct uuid thread_id, struct str metadata);

/* Sets the defaults of absent members. */
void thread_defaults(struct thread *thread);

/* Creates the thread that `thread` describes and sets its other members; its log begins after
 * last_seq. The context's principal becomes its first participant. ERR_CONFLICT names the
 * thread that has the key. */
MUST_CHECK enum error thread_create(struct context *c, struct thread *thread);
/* Reads the thread with the key of `thread`, or creates it. Concurrent calls return the same
 * thread.
 */
MUST_CHECK enum error thread_ensure(struct context *c, struct thread *thread, bool *out_is_new);
/* A principal finds only threads in which it participates. */
MUST_CHECK enum error thread_find_by_key(
    struct context *c, struct str key, bool *out_found, struct thread *out_thread);
MUST_CHECK enum error thread_get_by_key(
    struct context *c, struct str key, struct thread *out_thread);
MUST_CHECK enum error thread_get(struct context *c, struct uuid id, struct thread *out_thread);
/* The same without context, preferences and important_steps, which may be large. On SQLite,
 * last_seq may be behind the newest events. */
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
/* Newest first. A principal sees the threads in which it participates. */
MUST_CHECK enum error thread_list(struct context *c, const struct thread_filter *filter,
    struct page *page, struct thread *out_threads);

/* Replaces the members that clients may change. `before` was read in this transaction. */
MUST_CHECK enum error thread_update(
    struct context *c, const struct thread *before, struct thread *after);
/* Returns `context` with one more message, {"seq","role","content"}, at the end of its `tail`. A
 * fault names `pointer`. */
MUST_CHECK enum error thread_context_append(struct context *c, struct str context, const char *role,
    struct str content_json, struct str pointer, struct str *out_context);
/* Appends an event with the names of the changed members, except the status, and reads `after`
 * again. */
MUST_CHECK enum error thread_tell_update(
    struct context *c, const struct thread *before, struct thread *after);
/* Deletes a slice of the thread with its runs and events (tenancy/deletions.h); out_more: the
 * thread still exists, and another job must continue. One event remains, which reports the deletion
 * in the tenant-wide stream. */
MUST_CHECK enum error thread_delete_some(struct context *c, struct uuid id, bool *out_more);
/* The same within a larger deletion or an undo: without a condition, an audit record and an event.
 */
struct slice;
MUST_CHECK enum error thread_discard_some(
    struct context *c, struct slice *s, struct uuid id, bool *out_more);
/* Appends the event of the deletion, the last one of the thread. */
MUST_CHECK enum error thread_report_deletion(struct context *c, const struct thread *thread);

/* Changes only the status. */
MUST_CHECK enum error thread_set_status(
    struct context *c, struct thread *thread, enum thread_status status);
MUST_CHECK enum error thread_set_recent_run(
    struct context *c, struct thread *thread, struct uuid run_id);

/* Restores the documents that the run changed. */
MUST_CHECK enum error thread_undo_run(struct context *c, struct uuid thread_id, struct uuid run_id);
/* Deletes the saved documents of the run. */
MUST_CHECK enum error thread_forget_undo(struct context *c, struct uuid run_id);

#endif
