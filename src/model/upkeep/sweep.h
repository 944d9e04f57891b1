/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must happen without anybody asking: leases that ended, who is not online any more, events
 * past their age, what was pruned, idempotency answers past their time, uploads that nobody goes
 * on with, content and items that nothing refers to. A pass begins with sweep_list, which finds
 * what is due (a WRITE job, so that its lock is gone when it has ended); then each item is a WRITE
 * job of its own, sweep_do, which locks what it changes and checks again, since other nodes sweep
 * too. An item that fails stays due: the next pass finds it. The server makes a pass a second, and
 * another one at once while one leaves work over:
 *
 *     WRITE                sweep_list(c, &position, &list); the items are in the context's arena
 *     WRITE, for each one  sweep_do(c, &list.items[i], &report)
 *     then, committed      content_remove of what report.unused names
 *     then                 position = list.next; again at once if list.more or any report.more
 */
#ifndef MODEL_UPKEEP_SWEEP_H
#define MODEL_UPKEEP_SWEEP_H

#include "model/files/blob_doubts.h"

/* Where the walks over the threads with an age limit, and over the tenants with items, have come
 * to; zero at the start. */
struct sweep_position {
    struct uuid tenant_id;
    struct uuid thread_id;
    struct uuid packed_id; /* the tenant whose items were looked at last */
};

enum sweep_kind {
    SWEEP_LEASE,   /* a run whose lease ended */
    SWEEP_AGED,    /* a thread with events past their age */
    SWEEP_GARBAGE, /* a thread, or tenant, with pruned events to delete */
    SWEEP_ONLINE,  /* a thread with participants who are silent for too long */
    SWEEP_WORDS,   /* a thread with messages that search cannot find yet */
    SWEEP_UPLOAD,  /* an upload past its time */
    SWEEP_CONTENT, /* content that nothing may refer to any more */
    SWEEP_ITEMS,   /* a tenant with items that nothing may refer to any more */
    SWEEP_DROPPED, /* a thread that is gone, with snapshots to delete */
    SWEEP_REBASE,  /* a snapshot that builds on one that was dropped */
    SWEEP_PACK,    /* a tenant with items that can be smaller */
    SWEEP_EXPIRED, /* a tenant with items of the store past their time */
    SWEEP_STORED,  /* a tenant with items of the store that search cannot find yet */
    SWEEP_ANSWERS, /* idempotency answers, of all tenants */
};

struct sweep_item {
    enum sweep_kind kind;
    struct uuid tenant_id;
    struct uuid id;
};

struct sweep_list {
    struct sweep_item *items;
    size_t count;
    bool more;                  /* there is more than these */
    struct sweep_position next; /* where the next pass goes on */
};

enum { SWEEP_CONTENT_A_PASS = 32 };
/* What a job of the sweep has to say; it begins with nothing. */
struct sweep_report {
    bool more; /* there is more of this to do */
    /* Content that is to be removed once the job is committed. */
    struct blob_note unused[SWEEP_CONTENT_A_PASS];
    size_t n_unused;
};

/* Before the first request: the default tenant, and whole leases for those who hold one. */
MUST_CHECK enum error model_prepare(struct context *c);

/* On a shared store one node sweeps at a time: the list is empty, and an item is left, while
 * another one does. */
MUST_CHECK enum error sweep_list(
    struct context *c, const struct sweep_position *from, struct sweep_list *out_list);
MUST_CHECK enum error sweep_do(
    struct context *c, const struct sweep_item *item, struct sweep_report *out_report);

/* Where there is one writer: a whole pass in one WRITE job, which is one commit. */
MUST_CHECK enum error model_sweep(
    struct context *c, struct sweep_position *position, struct sweep_report *out_report);

#endif
