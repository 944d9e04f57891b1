/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a subscriber reads of the log, a page at a time, whichever way it is served: whether it
 * still may, where its cursor stands, what was pruned from under it, and the events after it. Also
 * the words that subscribers are told besides events.
 */
#ifndef API_THREADS_EVENT_PAGE_H
#define API_THREADS_EVENT_PAGE_H

#include "api/threads/events_api.h"
#include "model/threads/participants.h"

enum {
    EVENT_PAGE_EVENTS = 256,
    EVENT_PAGE_BYTES = 128 * 1024, /* what a subscriber that does not read holds */
};

/* Who reads. */
struct subscriber {
    struct uuid tenant_id;
    bool has_key;
    struct str principal; /* STR_NONE: of the whole tenant */
    char principal_text[PRINCIPAL_MAX_BYTES];
    struct uuid key_id; /* nil without a key: such a one loses its right with the first key */
    bool has_expiry;
    int64_t expires_at;
    bool memoria;
    struct event_filter filter;
    char kind[EVENT_KIND_MAX_BYTES]; /* the filter's */
    struct event_cursor cursor;
    bool by_id;      /* the cursor is an event's id: Memoria's, until the next page */
    int64_t last_id; /* of the last event sent: Memoria's cursor */
};

/* Of a call that was admitted; nothing of the call is used afterwards. */
void subscriber_init(struct subscriber *s, const struct call *call);
/* A copy that does not share the strings. */
void subscriber_copy(struct subscriber *to, const struct subscriber *from);
/* The cursor in the terms of the client. */
struct str subscriber_cursor_text(const struct subscriber *s, struct arena *arena);
/* Whether this event may have taken its access away: then it reads the next page before anything
 * else, and that finds out. */
bool subscriber_must_ask(const struct subscriber *s, const struct event *event);
/* Whether only the store can tell which events are for it: it never goes live. */
bool subscriber_always_reads(const struct subscriber *s);
/* Whether it is told of this event; else it only passes it. */
bool subscriber_hears(const struct subscriber *s, const struct event *event);
/* Where the event stands in this subscriber's stream. */
int64_t subscriber_position_of(const struct subscriber *s, const struct event *event);
/* The event was delivered. */
void subscriber_advance(struct subscriber *s, const struct event *event);

struct event_page {
    struct subscriber reader; /* as it was when the page was asked for */
    int64_t position;         /* its cursor as a position of this stream */
    bool deleted;             /* the thread is gone: this is the last page */
    struct event_bounds bounds;
    struct event *events;
    size_t n_events;
    bool more;
};

/* Fills in all but `reader`, in the context's arena. */
MUST_CHECK enum error event_page_read(struct event_page *page, struct context *c);
/* The cursor up to which the page has looked, and whether there is more beyond it. */
int64_t event_page_looked(const struct event_page *page);
bool event_page_has_more(const struct event_page *page);
/* Before the page's events: moves the reader over what was pruned. True when it must be told. */
bool subscriber_meets_gap(struct subscriber *s, const struct event_page *page);

/* The reason with which a subscription ends that cannot read its page; out_later: it may come back
 * with its cursor. */
const char *event_page_refusal(enum error e, bool *out_later);

/* {"kind":"gap","pruned_through":…,"cursor":…} */
void event_gap_write(struct json_writer *w, const struct subscriber *s, struct str cursor);
/* {"reason":…,"cursor":…} */
void event_closed_write(struct json_writer *w, const char *reason, struct str cursor);

#endif
