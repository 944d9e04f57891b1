/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: the log of a thread that clients read. Each event has a gapless `seq` within its thread,
 * which is the cursor of the thread's stream, and an `id` that rises in the order of commits, which
 * is the cursor of the tenant-wide stream. Both are assigned in the transaction of the change that
 * the event reports. Pruning removes a prefix of the log and records its end, so that a reader with
 * an older cursor gets an error instead of a gap.
 */
#ifndef MODEL_THREADS_EVENTS_H
#define MODEL_THREADS_EVENTS_H

#include "model/context.h"

enum {
    EVENT_KIND_MAX_BYTES = 64,
    EVENT_TEXT_MAX_BYTES = 16 * 1024,
    EVENT_PAYLOAD_MAX_BYTES = 128 * 1024,
    EVENT_BATCH_MAX = 1000,
    EVENT_PAGE_MAX = 1000,
    EVENT_SCAN_MAX = 20000, /* events examined for one page with a filter */
    EVENT_PAGE_MAX_BYTES = 2 * 1024 * 1024,
    EVENT_MARK_FREES_RUN = 1, /* in the column marks */
};

/* The kinds that Cairn appends. Clients may append progress and warning, too, and kinds with a
 * namespace of their own: "acme.vote". */
#define EVENT_KINDS(X)                                    \
    X(EVENT_PROGRESS, "progress")                         \
    X(EVENT_STATUS, "status")                             \
    X(EVENT_WARNING, "warning")                           \
    X(EVENT_ERROR, "error")                               \
    X(EVENT_FINAL, "final")                               \
    X(EVENT_CONVERSATION_CREATED, "conversation.created") \
    X(EVENT_CONVERSATION_UPDATED, "conversation.updated") \
    X(EVENT_CONVERSATION_DELETED, "conversation.deleted") \
    X(EVENT_PARTICIPANT_CREATED, "participant.created")   \
    X(EVENT_PARTICIPANT_UPDATED, "participant.updated")   \
    X(EVENT_MESSAGE_CREATED, "message.created")           \
    X(EVENT_MESSAGE_UPDATED, "message.updated")           \
    X(EVENT_MESSAGE_DELETED, "message.deleted")           \
    X(EVENT_RUN_PHASE, "run.phase")                       \
    X(EVENT_TURN_CREATED, "turn.created")                 \
    X(EVENT_TURN_UPDATED, "turn.updated")                 \
    X(EVENT_STEPS_APPENDED, "steps.appended")             \
    X(EVENT_TOOL_AWAITED, "tool.awaited")                 \
    X(EVENT_TOOL_RESULT, "tool.result")                   \
    X(EVENT_RESUMPTION_UPDATED, "resumption.updated")     \
    X(EVENT_HISTORY_CREATED, "history.created")           \
    X(EVENT_HISTORY_UPDATED, "history.updated")           \
    X(EVENT_STATE_CREATED, "assistant.state.created")     \
    X(EVENT_STATE_UPDATED, "assistant.state.updated")     \
    X(EVENT_STATE_DELETED, "assistant.state.deleted")     \
    X(EVENT_STATE_FOCUS, "assistant.state.focus")         \
    X(EVENT_FILE_CREATED, "file.created")                 \
    X(EVENT_FILE_UPDATED, "file.updated")                 \
    X(EVENT_FILE_DELETED, "file.deleted")                 \
    X(EVENT_CHECKPOINT_CREATED, "checkpoint.created")     \
    X(EVENT_CHECKPOINT_UPDATED, "checkpoint.updated")     \
    X(EVENT_CHECKPOINT_PRUNED, "checkpoint.pruned")       \
    X(EVENT_CHECKPOINT_COPIED, "checkpoint.copied")
ENUM_DECLARE(event_kind, EVENT_KIND_NONE, event_kinds, EVENT_KINDS);

struct event {
    int64_t id;
    struct uuid thread_id;
    int64_t seq;
    bool has_run_id;
    struct uuid run_id;
    struct str kind;
    struct str text;
    struct str payload; /* compact JSON */
    int64_t created_at;
    /* For listeners within Cairn: */
    bool is_last;     /* the thread is deleted */
    bool frees_run;   /* a run may have become ready to be claimed */
    bool ends_access; /* to the thread, of some principal: streams for principals check again */
};

/* hub_item.type */
enum {
    ITEM_EVENT = 0,    /* a struct event_item; its id is that of the thread */
    ITEM_ACCESS_ENDED, /* the key or tenant with this id lost access; nil: clients without a key */
};

/* An event in the hub; its strings are in the same allocation. */
struct event_item {
    struct hub_item item;
    struct event event;
    char strings[];
};

/* Returns true for the kinds without a namespace. */
bool event_kind_is_plain(struct str kind);
/* Returns true for progress and warning. The other plain kinds report changes of a status, which
 * only Cairn makes. */
bool event_kind_is_free(struct str kind);
/* Returns true for every valid kind, including those that only Cairn appends. */
bool event_kind_is_known(struct str kind);
/* Returns true for kinds in a namespace of Cairn's. */
bool event_kind_is_reserved(struct str kind);
/* OK for kinds that clients may append, else a fault at `pointer`. */
MUST_CHECK enum error event_check_kind(struct context *c, struct str kind, struct str pointer);

/* Called when a thread, or a tenant, is deleted: no event can be appended afterwards. */
void event_forget_thread(struct context *c, struct uuid thread_id);
void event_forget_tenant(struct context *c, struct uuid tenant_id);

/* Returns the seq of the thread's next event. The thread is locked. */
MUST_CHECK enum error event_next_seq(struct context *c, struct uuid thread_id, int64_t *out_seq);

/* Appends `n` events to a thread and sets their id, thread_id, seq and created_at. */
MUST_CHECK enum error event_append(
    struct context *c, struct uuid thread_id, struct event *events, size_t n);
/*
 * The same in two halves: other statements may be sent between them, and the second half sets the
 * numbers. On a shared store the caller need not check that the thread exists: if it does not, the
 * second half returns ERR_NOT_FOUND and nothing was appended.
 */
struct event_append {
    struct query query;
    struct uuid thread_id;
    struct event *events;
    size_t n;
};
MUST_CHECK enum error event_append_begin(struct context *c, struct uuid thread_id,
    struct event *events, size_t n, struct event_append *out_append);
MUST_CHECK enum error event_append_end(struct context *c, struct event_append *append);
/* Appends one event to a thread that exists, without waiting for its numbers. */
MUST_CHECK enum error event_emit(struct context *c, struct uuid thread_id, struct event *event);

/*
 * For imported events of new threads, which have their own seqs (archive_import.c). Returns the id
 * of the next event. On a shared store the statement takes the id itself: out_has is false.
 */
MUST_CHECK enum error event_take_id(struct context *c, bool *out_has, int64_t *out_id);
/* After the commit, makes all subscribers read from the store. */
void event_publish_many(struct context *c);

struct hub_item *event_item_create(struct uuid tenant_id, const struct event *event);
struct hub_item *event_access_ended_create(struct uuid tenant_id, struct uuid id);

/*
 * The horizon: every event up to this id is visible, or never will be. On a shared store ids are
 * assigned before the commit, and an event may become visible before one with a smaller id, so
 * readers in the order of ids stop at the horizon. Reading it begins a new snapshot, so it must be
 * read first. Event lists and bounds of a tenant do this themselves.
 */
MUST_CHECK enum error event_horizon(struct context *c, int64_t *out_horizon);
/* Reads the columns of an event, with which the row begins. */
void event_read_row(struct query *q, struct event *out);

struct event_filter {
    int64_t through;    /* the last cursor to examine; 0: no limit */
    bool has_thread_id; /* false: the whole tenant */
    struct uuid thread_id;
    bool has_run_id;
    struct uuid run_id;
    struct str kind;
    size_t page_bytes; /* ends a page; 0: EVENT_PAGE_MAX_BYTES */
};
/* Returns true if the event has the run and kind of the filter. */
bool event_is_wanted(const struct event_filter *filter, const struct event *event);
/* Lists events after the cursor: a seq, or an id for the whole tenant. For a principal the tenant's
 * events are those of the threads in which it participates. A page also ends at page_bytes. */
MUST_CHECK enum error event_list(struct context *c, const struct event_filter *filter,
    int64_t after, struct page *page, struct event *out_events);

/* Returns the last cursor that a page with this filter examines, at most `last`; the caller stores
 * it in filter.through. If the page ends without `more`, the next page begins there. */
MUST_CHECK enum error event_scan_end(struct context *c, const struct event_filter *filter,
    int64_t after, int64_t last, int64_t *out_end);

/* The last readable cursor, and the cursor up to which events were pruned. `newest` may be past the
 * horizon: an append has returned it to a client, so a cursor up to it is valid. */
struct event_bounds {
    int64_t last;
    int64_t pruned;
    int64_t newest;
    int64_t pruned_id; /* the id of the event at `pruned` */
};
MUST_CHECK enum error event_bounds(
    struct context *c, const struct event_filter *filter, struct event_bounds *out_bounds);
/* Returns the seq of the thread's last event with an id up to this one; ERR_BAD_CURSOR if the
 * tenant has not reached this id. */
MUST_CHECK enum error event_seq_at_id(
    struct context *c, struct uuid thread_id, int64_t id, int64_t *out_seq);

/* Prunes the events up to `through`: readers no longer see them, and sweeps delete the rows. */
MUST_CHECK enum error event_prune(
    struct context *c, struct uuid thread_id, int64_t through, int64_t *out_pruned);
/* Prunes the events before this time. */
MUST_CHECK enum error event_prune_older(
    struct context *c, struct uuid thread_id, int64_t before_us, int64_t *out_pruned);
/* Prunes the events of finished runs: those before the first event of an unfinished run, and before
 * `keep_from`. */
MUST_CHECK enum error event_prune_finished(
    struct context *c, struct uuid thread_id, int64_t keep_from, int64_t *out_pruned);
/* Called before a thread is deleted: records in the tenant how far the thread was pruned. */
MUST_CHECK enum error event_keep_pruned(struct context *c, struct uuid thread_id);
/* Lets sweeps delete all events of a deleted tenant up to this id. */
MUST_CHECK enum error event_discard_tenant(
    struct context *c, struct uuid tenant_id, int64_t through_id);
/* Lists threads with pruned events that still have rows; the nil id: a deleted tenant. */
MUST_CHECK enum error event_list_garbage(
    struct context *c, size_t limit, struct owned_id *out_garbage, size_t *out_count);
/* Deletes some of the rows; out_more: others remain. */
MUST_CHECK enum error event_collect_garbage(
    struct context *c, struct uuid thread_id, bool *out_more);
/* Deletes some of the events that a deleted thread has left, before another thread gets its id;
 * out_more: others may remain. */
MUST_CHECK enum error event_clear_some(struct context *c, struct uuid thread_id, bool *out_more);
/* After the commit, notifies the loops that a key or a tenant has lost access. */
void event_publish_access_ended(struct context *c, struct uuid tenant_id, struct uuid id);
/* Ensures that ids up to this one are never assigned again. */
MUST_CHECK enum error event_raise_floor(struct context *c, int64_t id);

#endif
