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
 */
#ifndef MODEL_TAIL_H
#define MODEL_TAIL_H

#include "model/context.h"

/* A pass ends with the event that reaches either. */
enum { TAIL_PAGE_MAX = 2000, TAIL_PAGE_MAX_BYTES = 8 * 1024 * 1024 };

struct tail {
    bool has_position;
    int64_t position;
    int64_t access_checked_us;
};

struct tail_page {
    struct hub_item *first; /* linked by next_in_tx */
    struct hub_item **end;
    struct tail after; /* what the tail is once the page was published */
    bool more;
};

/* A page that was zeroed or given back. */
void tail_page_clear(struct tail_page *page);
/* Fills the page anew, also when the job runs again. */
MUST_CHECK enum error tail_read(
    struct context *c, const struct tail *tail, struct hub *hub, struct tail_page *page);
/* After the job has succeeded. The page is cleared. */
void tail_publish(struct tail *tail, struct tail_page *page, struct hub *hub);

#endif
