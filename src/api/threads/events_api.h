/* SPDX-License-Identifier: Apache-2.0 */
/* What the event routes, the streams and the Memoria façade share. */
#ifndef API_THREADS_EVENTS_API_H
#define API_THREADS_EVENTS_API_H

#include "api/http/call.h"
#include "model/threads/events.h"

/* The parameters of pages and streams. */
struct events_query {
    struct str after;
    struct str kind;
    bool has_run_id;
    struct uuid run_id;
    bool has_limit;
    int64_t limit;
    bool has_wait;
    int64_t wait;
};

/*
 * Where a reader stands. On the wire a decimal number: the seq of the last event seen in a thread,
 * the id of the last one in the tenant-wide stream. There, "ID~GAP" means: at ID, and told that
 * events up to GAP may be missing.
 */
struct event_cursor {
    int64_t position;
    int64_t told_gap;
};
MUST_CHECK bool event_cursor_parse(struct str text, bool tenant, struct event_cursor *out_cursor);
struct str event_cursor_text(struct arena *arena, struct event_cursor cursor);

/* What admits a subscriber: left by the handler in call->answer.stream. */
struct event_admission {
    struct event_filter filter;
    struct event_cursor cursor;
    bool memoria;      /* speaks the seed's names, and counts by event id */
    int64_t cursor_id; /* Memoria's cursor */
};

/* The event as the stream and the pages show it. */
void event_write(struct json_writer *w, const struct event *event);

#endif
