/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: what a client sees of a thread, in order. Each event has a gapless `seq` within its
 * thread, which is the cursor of the thread's stream, and an `id` that rises in the order of
 * commits, which is the cursor of the tenant-wide stream. Both are taken in the transaction of the
 * change that the event tells of. Pruning removes a prefix of a thread's log and is remembered, so
 * that a reader who asks for what is gone is told.
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
    EVENT_SCAN_MAX = 20000, /* looked at for one page when there is a filter */
    EVENT_PAGE_MAX_BYTES = 2 * 1024 * 1024,
    EVENT_MARK_FREES_RUN = 1, /* in the column marks */
};

/* The kinds of one word, which clients append too. Other kinds have a namespace: "acme.vote". */
#define EVENT_KINDS(X)            \
    X(EVENT_PROGRESS, "progress") \
    X(EVENT_STATUS, "status")     \
    X(EVENT_WARNING, "warning")   \
    X(EVENT_ERROR, "error")       \
    X(EVENT_FINAL, "final")
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
    /* For Cairn's own listeners: */
    bool is_last;     /* the thread goes with this event */
    bool frees_run;   /* a run may have become ready to be claimed */
    bool ends_access; /* of somebody to the thread: who listens for a principal asks again */
};

/* hub_item.type */
enum {
    ITEM_EVENT = 0,    /* a struct event_item, under its thread's id */
    ITEM_ACCESS_ENDED, /* the key or the tenant of this id may not listen any more; nil: no key */
};

/* What the hub carries: the event, its strings behind it in the same allocation. */
struct event_item {
    struct hub_item item;
    struct event event;
    char strings[];
};

/* Whether it is one of the five kinds. */
bool event_kind_is_plain(struct str kind);
/* Whether there can be events of this kind, Cairn's own among them. */
bool event_kind_is_known(struct str kind);
/* Whether it is Cairn's own, which an application cannot use. */
bool event_kind_is_reserved(struct str kind);
/* OK for the five kinds and for application kinds ("vendor.name"), else a fault at `pointer`. */
MUST_CHECK enum error event_check_kind(struct context *c, struct str kind, struct str pointer);

/* The thread, or the whole tenant, is being deleted: from here on nothing can be appended. */
void event_forget_thread(struct context *c, struct uuid thread_id);
void event_forget_tenant(struct context *c, struct uuid tenant_id);

/* Appends `n` events to one thread; fills in id, thread_id, seq and created_at. */
MUST_CHECK enum error event_append(
    struct context *c, struct uuid thread_id, struct event *events, size_t n);
/*
 * The same in two halves: between them other statements may be sent, and the numbers are there
 * after the second. On a shared store the thread need not have been looked for before: when there
 * is none, the second half says so, and nothing was appended.
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
/* Appends one to a thread that is there, without waiting for the numbers that it gets. */
MUST_CHECK enum error event_emit(struct context *c, struct uuid thread_id, struct event *event);

/*
 * For events that come with their numbers, of threads that are new (archive_import.c). The id for
 * the next of them; on a shared store the statement that adds it takes one: out_has is false.
 */
MUST_CHECK enum error event_take_id(struct context *c, bool *out_has, int64_t *out_id);
/* Once they are committed, whoever listens reads from the store what there is. */
void event_publish_many(struct context *c);

struct hub_item *event_item_create(struct uuid tenant_id, const struct event *event);
struct hub_item *event_access_ended_create(struct uuid tenant_id, struct uuid id);

/*
 * The horizon: every event up to this id is to be seen, or never will be. On a shared store ids are
 * taken before the commit, and a later one may be seen earlier: whoever walks by id stops here.
 * Reading it begins a new snapshot, so ask for it first. Event lists and bounds of a whole tenant
 * do so themselves.
 */
MUST_CHECK enum error event_horizon(struct context *c, int64_t *out_horizon);
/* The next row of a statement whose columns begin with an event's. */
void event_read_row(struct query *q, struct event *out);

struct event_filter {
    int64_t through;    /* the last cursor to look at; 0: no bound */
    bool has_thread_id; /* else the whole tenant */
    struct uuid thread_id;
    bool has_run_id;
    struct uuid run_id;
    struct str kind;
    size_t page_bytes; /* a page ends once it is larger; 0: EVENT_PAGE_MAX_BYTES */
};
/* Whether the event passes the filter's run and kind. */
bool event_is_wanted(const struct event_filter *filter, const struct event *event);
/* Those after the cursor (a seq, or an id for the whole tenant, which to a principal is the threads
 * that it takes part in). A page ends at `limit` events or
 * the filter's page_bytes, whichever comes first; out_more tells whether there are further ones. */
MUST_CHECK enum error event_list(struct context *c, const struct event_filter *filter,
    int64_t after, struct page *page, struct event *out_events);

/* How far a page with this filter may look, at most to `last`; put it into filter.through. When the
 * page holds all that was found, this is the cursor to go on from. */
MUST_CHECK enum error event_scan_end(struct context *c, const struct event_filter *filter,
    int64_t after, int64_t last, int64_t *out_end);

/* The cursor up to which there is something to read, and the one up to which events were pruned. An
 * append may have told of a newer one, past the horizon: nobody is ahead of the log before that. */
struct event_bounds {
    int64_t last;
    int64_t pruned;
    int64_t newest;
};
MUST_CHECK enum error event_bounds(
    struct context *c, const struct event_filter *filter, struct event_bounds *out_bounds);
/* The seq of the thread's last event whose id is at most this; ERR_BAD_CURSOR when the tenant has
 * no such id yet. */
MUST_CHECK enum error event_seq_at_id(
    struct context *c, struct uuid thread_id, int64_t id, int64_t *out_seq);

/* Removes the events up to `through`: at once for every reader; from the tables bit by bit. */
MUST_CHECK enum error event_prune(
    struct context *c, struct uuid thread_id, int64_t through, int64_t *out_pruned);
/* Removes what lies before `before_us`. */
MUST_CHECK enum error event_prune_older(
    struct context *c, struct uuid thread_id, int64_t before_us, int64_t *out_pruned);
/* Removes what belongs to finished runs alone: up to the first event of a run that still goes on,
 * and before `keep_from`. */
MUST_CHECK enum error event_prune_finished(
    struct context *c, struct uuid thread_id, int64_t keep_from, int64_t *out_pruned);
/* Before a thread goes: what was pruned of it stays noted for its tenant. */
MUST_CHECK enum error event_keep_pruned(struct context *c, struct uuid thread_id);
/* Has every event of a tenant that is being deleted removed bit by bit, up to this id. */
MUST_CHECK enum error event_discard_tenant(
    struct context *c, struct uuid tenant_id, int64_t through_id);
/* Threads of which something was pruned that is still there (the nil id: of a tenant that was
 * deleted); of all tenants. */
struct event_garbage {
    struct uuid tenant_id;
    struct uuid thread_id;
};
MUST_CHECK enum error event_list_garbage(
    struct context *c, size_t limit, struct event_garbage *out_garbage, size_t *out_count);
/* Deletes some of it; out_more: there is more. */
MUST_CHECK enum error event_collect_garbage(
    struct context *c, struct uuid thread_id, bool *out_more);
/* Tells the loops, after the commit, that a key or a tenant may not listen any more. */
void event_publish_access_ended(struct context *c, struct uuid tenant_id, struct uuid id);
/* Ids up to this one are never given again. */
MUST_CHECK enum error event_raise_floor(struct context *c, int64_t id);

#endif
