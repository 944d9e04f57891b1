/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the event routes, the streams and the Memoria façade. */
#ifndef API_THREADS_EVENTS_API_H
#define API_THREADS_EVENTS_API_H

#include "api/http/call.h"
#include "model/threads/events.h"

/* The parameters of pages and streams. */
struct events_query {
    struct str after;
    struct str kind;
    struct str ticket;
    bool has_run_id;
    struct uuid run_id;
    bool has_limit;
    int64_t limit;
    bool has_wait;
    int64_t wait;
};

/*
 * The position of a reader. On the wire a decimal number: the seq of the last event that the reader
 * has seen in a thread, or the id of the last one in the tenant-wide stream. There, "ID~GAP" means:
 * at ID, and notified that events up to GAP may be missing.
 */
struct event_cursor {
    int64_t position;
    int64_t told_gap;
};
MUST_CHECK bool event_cursor_parse(struct str text, bool tenant, struct event_cursor *out_cursor);
struct str event_cursor_text(struct arena *arena, struct event_cursor cursor);

/* The admission of a subscriber, which the handler leaves in call->answer.stream. */
struct event_admission {
    struct event_filter filter;
    struct event_cursor cursor;
    bool memoria;      /* uses the names of the Memoria API, and event ids as cursors */
    int64_t cursor_id; /* the cursor of Memoria */
};

/* Writes the event as streams and pages show it. */
void event_write(struct json_writer *w, const struct event *event);

#endif
