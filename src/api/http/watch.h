/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subscriptions and long polls of a loop, by thread or by tenant. Each loop has one registry,
 * which receives the events of the hub and calls every watch of their topic. Loop thread only. A
 * watch may remove itself while it is being called, but no other watch.
 */
#ifndef API_HTTP_WATCH_H
#define API_HTTP_WATCH_H

#include "api/http/holdings.h"
#include "api/threads/events_api.h"
#include "net/server.h"

/* The forms in which an event is sent. Each is encoded once per loop, when the first watch needs
 * it. */
enum frame_kind { FRAME_SSE_THREAD, FRAME_SSE_TENANT, FRAME_WS, FRAME_WS_MEMORIA, FRAME_KINDS };

enum { FRAME_MAX_BYTES = 1024 * 1024 };

/* Writes one event as a message of Server-Sent Events. */
void sse_write_event(struct buf *out, struct str cursor, const struct event *event);

struct frames {
    const struct event *event;
    struct http_shared *shared[FRAME_KINDS];
};
void frames_init(struct frames *f, const struct event *event);
void frames_deinit(struct frames *f);
struct http_shared *frames_get(struct frames *f, enum frame_kind kind);

struct watch;
struct watch_ops {
    void (*on_event)(struct watch *w, struct frames *frames);
    /* Events may have been missed: read from the store. */
    void (*on_lost)(struct watch *w);
    /* The key or the tenant with this id may no longer listen. */
    void (*on_access_ended)(struct watch *w, struct uuid id);
    /* About once a second. */
    void (*on_tick)(struct watch *w, uint64_t now_ms);
    /* The server is about to stop. */
    void (*on_drain)(struct watch *w);
};

struct watch {
    struct watch *next;
    struct watch **link; /* the pointer to this watch; NULL while it is not registered */
    struct uuid tenant_id;
    struct uuid topic;     /* the thread, or the tenant itself */
    bool by_time;          /* acts on every tick; such watches are counted */
    struct holdings *held; /* counts the watch for its tenant until it is removed; NULL: not held */
    const struct watch_ops *ops;
};

struct watchers;
struct watchers *watchers_create(struct loop *loop, struct hub *hub);
/* On the loop: calls on_drain of every watch. No call should begin to wait afterwards. */
void watchers_drain(struct watchers *ws);
bool watchers_are_draining(const struct watchers *ws);
/* On the loop: closes the timer and leaves the hub. No watch is called afterwards. */
void watchers_stop(struct watchers *ws);
/* After the loop's thread has ended. */
void watchers_destroy(struct watchers *ws);

void watch_add(struct watchers *ws, struct watch *w);
/* Does nothing if the watch is not registered. */
void watch_remove(struct watchers *ws, struct watch *w);
size_t watch_count(const struct watchers *ws); /* any thread */
size_t watch_count_by_time(const struct watchers *ws);

#endif
