/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tail reads the events that any node of a shared store has committed. Each pass is a READ job,
 * tail_read, which finds the events since the last pass for the tenants that have listeners here,
 * and access that ended. tail_publish then passes them to the hub and advances. One thread drives
 * the tail. A pass is due whenever store_wait returns, and at once while page.more.
 *
 * No event is skipped: a pass reads up to the horizon of event ids (events.h), and copies the set
 * of tenants only after it has read the horizon. A listener that starts later reads its first page
 * later too, and that page includes everything up to the horizon. The first pass must end before
 * the first listener starts: it only determines where the tail begins.
 *
 * A tail that is far behind or late does not replay: it jumps to the horizon, and the listeners
 * read the missed events as they do after a reconnect. The same happens after the database was
 * restarted, because event ids that were taken before may appear again. Pruned events are deleted
 * after ten seconds, so a late tail could miss them without reporting the gap.
 */
#ifndef MODEL_UPKEEP_TAIL_H
#define MODEL_UPKEEP_TAIL_H

#include "model/context.h"

enum {
    TAIL_PAGE_MAX = 500, /* ids per pass, of any tenant */
    TAIL_PAGE_MAX_BYTES = 8 * 1024 * 1024,
    TAIL_MAX_BEHIND = 20000, /* ids; a tail further behind does not replay */
    TAIL_LATE_US = 5 * 1000 * 1000,
};

struct tail {
    bool has_position;
    int64_t position;
    int64_t server_began_us; /* the position is valid only for this start of the database */
    /* Everything that was committed before told_us has been published. When the position reaches
     * id_at_probe, this holds for probed_us. Steady clock. */
    int64_t told_us;
    int64_t probed_us;
    int64_t id_at_probe;
    int64_t access_checked_us;
};

struct tail_page {
    struct hub_item *first; /* linked by next_in_tx */
    struct hub_item **end;
    struct tail after; /* the tail after the page was published */
    bool more;
    bool lost; /* events were left out: listeners must read */
};

/* Frees the items of a page, which may be zero. */
void tail_page_clear(struct tail_page *page);
/* Fills the page; starts over when the job runs again. */
MUST_CHECK enum error tail_read(
    struct context *c, const struct tail *tail, struct hub *hub, struct tail_page *page);
/* After the job succeeded. Clears the page. */
void tail_publish(struct tail *tail, struct tail_page *page, struct hub *hub);

#endif
