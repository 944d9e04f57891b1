/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is due without a request: leases that ended, runs past their deadline or that of a tool
 * that they wait for, participants who are no longer online, events past their age, pruned events,
 * expired idempotency answers, tickets and uploads, interrupted imports, content and items without
 * references. A pass begins with sweep_list, which finds due work (a WRITE job, so that its lock is
 * released at its end). Then each item is a WRITE job of its own, sweep_do, which locks the rows
 * that it changes and checks again, because other nodes sweep too. An item that fails remains due:
 * the next pass finds it. The server makes one pass per second, and another one at once if a pass
 * leaves work:
 *
 *     WRITE                sweep_list(c, &position, &list); the items are in the context's arena
 *     READ, then no job    sweep_prepare and item_packing_compute, for an item that takes long to
 *                          compute; sweep_do does it otherwise
 *     WRITE, for a few     sweep_do(c, &list.items[i], &report)
 *     after the commit     content_remove for report.unused
 *     then                 position = list.next; again at once if list.more or any report.more
 */
#ifndef MODEL_UPKEEP_SWEEP_H
#define MODEL_UPKEEP_SWEEP_H

#include "model/files/blob_doubts.h"

/* The positions of the walks over the threads with an age limit and over the tenants with items;
 * zero at the start. */
struct sweep_position {
    struct uuid tenant_id;
    struct uuid thread_id;
    struct uuid packed_id; /* the last tenant whose items were packed */
};

enum sweep_kind {
    SWEEP_LEASE,    /* a run whose lease ended */
    SWEEP_OVERDUE,  /* an unfinished run whose deadline has passed */
    SWEEP_TOOLS,    /* a run that waits for a tool whose deadline has passed */
    SWEEP_AGED,     /* a thread with events past their age */
    SWEEP_DELETION, /* a thread, agent or tenant whose deletion no request continues */
    SWEEP_GARBAGE,  /* a thread, or tenant, with pruned events to delete */
    SWEEP_ONLINE,   /* a thread with participants who have been silent for too long */
    SWEEP_WORDS,    /* a thread with messages that search cannot find yet */
    SWEEP_UPLOAD,   /* an upload past its time */
    SWEEP_CONTENT,  /* content that may have no references */
    SWEEP_IMPORT,   /* an import to undo, or the records of a complete one */
    SWEEP_ITEMS,    /* a tenant with items that may have no references */
    SWEEP_DROPPED,  /* a deleted thread with snapshots to delete */
    SWEEP_REBASE,   /* a snapshot whose base was dropped */
    SWEEP_LEFTOVER, /* a snapshot that is deleted in slices */
    SWEEP_VERSIONS, /* a deleted agent, whose versions remain for its runs */
    SWEEP_PACK,     /* a tenant with items that can be compressed further */
    SWEEP_EXPIRED,  /* a tenant with expired items of the store */
    SWEEP_STORED,   /* a tenant with items of the store that search cannot find yet */
    SWEEP_TICKETS,  /* expired tickets of all tenants */
    SWEEP_ANSWERS,  /* expired idempotency answers of all tenants */
};

struct item_packing;

struct sweep_item {
    enum sweep_kind kind;
    struct uuid tenant_id;
    struct uuid id;
    struct item_packing *packing; /* of SWEEP_PACK, once it is computed */
};

struct sweep_list {
    struct sweep_item *items;
    size_t count;
    bool more;                  /* there is more work than these items */
    struct sweep_position next; /* where the next pass continues */
};

enum { SWEEP_CONTENT_A_PASS = 32 };
/* The result of a job of the sweep; empty at the start. */
struct sweep_report {
    bool more; /* the item has more work */
    /* Content to remove after the job has been committed. */
    struct owned_id unused[SWEEP_CONTENT_A_PASS];
    size_t n_unused;
};

/* Before the first request: creates the default tenant, and gives held leases their full time. */
MUST_CHECK enum error model_prepare(struct context *c);

/* On a shared store one node sweeps at a time: while another node sweeps, the list is empty and
 * sweep_do does nothing. */
MUST_CHECK enum error sweep_list(
    struct context *c, const struct sweep_position *from, struct sweep_list *out_list);
/* For an item of SWEEP_PACK. */
MUST_CHECK enum error sweep_prepare(
    struct context *c, const struct sweep_item *item, struct item_packing *packing);
MUST_CHECK enum error sweep_do(
    struct context *c, const struct sweep_item *item, struct sweep_report *out_report);

/* For stores with one writer: a whole pass in one WRITE job, with one commit. */
MUST_CHECK enum error model_sweep(
    struct context *c, struct sweep_position *position, struct sweep_report *out_report);

#endif
