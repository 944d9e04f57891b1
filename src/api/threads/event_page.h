/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the event log for a subscriber, one page at a time, over any transport: its access, its
 * cursor, events that were pruned below its cursor, and the events after it. Also the messages
 * other than events that subscribers receive.
 */
#ifndef API_THREADS_EVENT_PAGE_H
#define API_THREADS_EVENT_PAGE_H

#include "api/threads/events_api.h"
#include "model/threads/participants.h"

enum {
    SUBSCRIBER_ONLINE_MS = 10 * 1000, /* how often a stream renews that its principal is online */
    EVENT_PAGE_EVENTS = 256,
    EVENT_PAGE_BYTES = 128 * 1024, /* the memory of a subscriber that does not read */
};

/* A reader of the log. */
struct subscriber {
    struct uuid tenant_id;
    bool has_key;
    struct str principal; /* STR_NONE: the whole tenant */
    char principal_text[PRINCIPAL_MAX_BYTES];
    struct uuid key_id; /* nil without a key: such a subscriber loses its access when the first key
                           is created */
    bool has_expiry;
    int64_t expires_at;
    bool memoria;
    struct event_filter filter;
    char kind[EVENT_KIND_MAX_BYTES]; /* of the filter */
    struct event_cursor cursor;
    bool by_id;      /* the cursor is an event id, as Memoria's is, until the next page is read */
    int64_t last_id; /* the id of the last event sent or known as pruned: Memoria's cursor */
};

/* For an admitted call, which is not used afterwards. */
void subscriber_init(struct subscriber *s, const struct call *call);
/* Makes a copy with its own strings. */
void subscriber_copy(struct subscriber *to, const struct subscriber *from);
/* Returns the cursor in the form that the client uses. */
struct str subscriber_cursor_text(const struct subscriber *s, struct arena *arena);
/* Returns true if this event may have ended the subscriber's access. The subscriber must then read
 * its next page first, which checks the access. */
bool subscriber_must_ask(const struct subscriber *s, const struct event *event);
/* Returns true if only the store can select the subscriber's events: it never follows the hub. */
bool subscriber_always_reads(const struct subscriber *s);
/* Returns true if the stream keeps its principal online in the thread. */
bool subscriber_is_present(const struct subscriber *s);
/* Renews that in a WRITE job, every SUBSCRIBER_ONLINE_MS. */
MUST_CHECK enum error subscriber_stay_online(const struct subscriber *s, struct tx *tx);
/* Returns true if the subscriber should receive this event, else the event only advances its
 * cursor. */
bool subscriber_hears(const struct subscriber *s, const struct event *event);
/* Returns the position of the event in this subscriber's stream. */
int64_t subscriber_position_of(const struct subscriber *s, const struct event *event);
/* Moves the cursor behind a delivered event. */
void subscriber_advance(struct subscriber *s, const struct event *event);

struct event_page {
    struct subscriber reader; /* as it was when the page was requested */
    int64_t position;         /* the cursor as a position of this stream */
    bool deleted;             /* the thread was deleted: this is the last page */
    struct event_bounds bounds;
    struct event *events;
    size_t n_events;
    bool more;
};

/* Sets all members except `reader`, in the context's arena. */
MUST_CHECK enum error event_page_read(struct event_page *page, struct context *c);
/* The position up to which the page has searched, and whether there may be more events after it. */
int64_t event_page_looked(const struct event_page *page);
bool event_page_has_more(const struct event_page *page);
/* Moves the cursor over pruned events, before those of the page. Returns true if the subscriber
 * must be notified of the gap. */
bool subscriber_meets_gap(struct subscriber *s, const struct event_page *page);

/* Returns the reason for ending a subscription that cannot read its page. `out_later`: the client
 * may return with its cursor. */
const char *event_page_refusal(enum error e, bool *out_later);

/* {"kind":"gap","pruned_through":…,"cursor":…} */
void event_gap_write(struct json_writer *w, const struct subscriber *s, struct str cursor);
/* {"reason":…,"cursor":…} */
void event_closed_write(struct json_writer *w, const char *reason, struct str cursor);

#endif
