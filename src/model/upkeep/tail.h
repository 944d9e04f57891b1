/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tail: how a node of a shared store learns what others, and itself, have committed. Each pass
 * is a READ job, tail_read, that finds the events after the last pass for the tenants somebody
 * listens to here, and access that ended; tail_publish then hands them to the hub and advances.
 * One thread drives it. A pass is due whenever store_wait returns, and at once while page.more.
 *
 * Nothing is skipped: a pass reads up to the horizon of event ids (events.h), and copies the set of
 * tenants only after the horizon was read. Who starts to listen later reads its first page later
 * too, and that page sees everything up to the horizon. The first pass must be over before anybody
 * listens: it only finds out where the tail begins.
 *
 * A tail that is far behind or late does not replay: it goes to the horizon, and listeners read
 * what they miss, as they do when they come back. The same when the database began anew, for then
 * ids that were taken before may come once more. What was pruned is removed ten seconds later, so a
 * tail that is late could miss it and nobody would be told of the gap.
 */
#ifndef MODEL_UPKEEP_TAIL_H
#define MODEL_UPKEEP_TAIL_H

#include "model/context.h"

enum {
    TAIL_PAGE_MAX = 500, /* ids a pass, of whichever tenant */
    TAIL_PAGE_MAX_BYTES = 8 * 1024 * 1024,
    TAIL_MAX_BEHIND = 20000, /* ids; then it does not replay */
    TAIL_LATE_US = 5 * 1000 * 1000,
};

struct tail {
    bool has_position;
    int64_t position;
    int64_t server_began_us; /* the position means nothing to one that began at another time */
    /* What was committed before told_us was told. Once the position has come to id_at_probe, that
     * holds for probed_us. By the steady clock. */
    int64_t told_us;
    int64_t probed_us;
    int64_t id_at_probe;
    int64_t access_checked_us;
};

struct tail_page {
    struct hub_item *first; /* linked by next_in_tx */
    struct hub_item **end;
    struct tail after; /* what the tail is once the page was published */
    bool more;
    bool lost; /* listeners must read: events were left out */
};

/* A page that was zeroed or given back. */
void tail_page_clear(struct tail_page *page);
/* Fills the page anew, also when the job runs again. */
MUST_CHECK enum error tail_read(
    struct context *c, const struct tail *tail, struct hub *hub, struct tail_page *page);
/* After the job has succeeded. The page is cleared. */
void tail_publish(struct tail *tail, struct tail_page *page, struct hub *hub);

#endif
