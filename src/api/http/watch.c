/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/watch.h"

#include "api/execution/memoria.h"
#include "base/alloc.h"
#include "base/hash.h"

enum { BUCKETS = 4096, TICK_MS = 1000 };

struct watchers {
    struct hub_listener listener;
    struct loop_task wake_task;
    struct loop *loop;
    struct hub *hub; /* NULL after the stop: the hub ends with the store, before the loops */
    struct loop_timer tick;
    bool draining;
    size_t n_by_time;
    struct watch *buckets[BUCKETS];
};

/* --- Frames --------------------------------------------------------------------------------- */

void frames_init(struct frames *f, const struct event *event)
{
    *f = (struct frames){.event = event};
}

void frames_deinit(struct frames *f)
{
    for (size_t i = 0; i < FRAME_KINDS; i++)
        http_shared_unref(f->shared[i]);
}

void sse_write_event(struct buf *out, struct str cursor, const struct event *event)
{
    struct json_writer w;
    json_writer_init(&w, out);
    buf_append(out, STR("id: "));
    buf_append(out, cursor);
    buf_append(out, STR("\ndata: "));
    event_write(&w, event);
    buf_append(out, STR("\n\n"));
    assert(!out->failed);
}

static struct http_shared *make_sse(const struct event *event, int64_t cursor)
{
    struct buf number, out;
    buf_init(&number, 32);
    buf_init(&out, FRAME_MAX_BYTES);
    buf_append_i64(&number, cursor);
    sse_write_event(&out, buf_str(&number), event);
    buf_deinit(&number);
    struct http_shared *shared = http_shared_create(buf_str(&out));
    buf_deinit(&out);
    return shared;
}

static struct http_shared *make_ws(const struct event *event, bool memoria)
{
    struct buf out;
    buf_init(&out, FRAME_MAX_BYTES);
    struct json_writer w;
    json_writer_init(&w, &out);
    if (memoria)
        memoria_event_write(&w, event);
    else
        event_write(&w, event);
    assert(!out.failed);
    struct http_shared *shared = http_shared_create_message(buf_str(&out));
    buf_deinit(&out);
    return shared;
}

struct http_shared *frames_get(struct frames *f, enum frame_kind kind)
{
    if (f->shared[kind] == NULL) {
        bool sse = kind == FRAME_SSE_THREAD || kind == FRAME_SSE_TENANT;
        int64_t cursor = kind == FRAME_SSE_THREAD ? f->event->seq : f->event->id;
        f->shared[kind] =
            sse ? make_sse(f->event, cursor) : make_ws(f->event, kind == FRAME_WS_MEMORIA);
    }
    return f->shared[kind];
}

/* --- The registry --------------------------------------------------------------------------- */

static struct watch **bucket_of(struct watchers *ws, struct uuid topic)
{
    return &ws->buckets[hash_bytes(topic.bytes, sizeof topic.bytes) % BUCKETS];
}

void watch_add(struct watchers *ws, struct watch *w)
{
    struct watch **bucket = bucket_of(ws, w->topic);
    w->next = *bucket;
    w->link = bucket;
    if (w->next != NULL)
        w->next->link = &w->next;
    *bucket = w;
    ws->n_by_time += w->by_time;
    atomic_fetch_add(&ws->listener.interest, 1);
    if (ws->hub != NULL)
        hub_watch(ws->hub, w->tenant_id);
}

void watch_remove(struct watchers *ws, struct watch *w)
{
    if (w->link == NULL)
        return;
    *w->link = w->next;
    if (w->next != NULL)
        w->next->link = w->link;
    w->link = NULL;
    if (w->held != NULL)
        holdings_drop(w->held, w->tenant_id);
    w->held = NULL;
    ws->n_by_time -= w->by_time;
    atomic_fetch_sub(&ws->listener.interest, 1);
    if (ws->hub != NULL)
        hub_unwatch(ws->hub, w->tenant_id);
}

size_t watch_count(const struct watchers *ws)
{
    return atomic_load(&ws->listener.interest);
}

size_t watch_count_by_time(const struct watchers *ws)
{
    return ws->n_by_time;
}

/* --- Delivery ------------------------------------------------------------------------------- */

static void tell_topic(
    struct watchers *ws, struct uuid tenant_id, struct uuid topic, struct frames *frames)
{
    for (struct watch *w = *bucket_of(ws, topic), *next; w != NULL; w = next) {
        next = w->next;
        if (uuid_eq(w->topic, topic) && uuid_eq(w->tenant_id, tenant_id))
            w->ops->on_event(w, frames);
    }
}

static void tell_event(struct watchers *ws, struct hub_item *item)
{
    const struct event_item *event = CONTAINER_OF(item, struct event_item, item);
    struct frames frames;
    frames_init(&frames, &event->event);
    tell_topic(ws, item->tenant_id, item->topic, &frames);
    tell_topic(ws, item->tenant_id, item->tenant_id, &frames);
    frames_deinit(&frames);
}

enum notice { NOTICE_LOST, NOTICE_ACCESS_ENDED, NOTICE_TICK, NOTICE_DRAIN };

static void tell_all(struct watchers *ws, enum notice notice, struct uuid id)
{
    uint64_t now_ms = loop_now_ms(ws->loop);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct watch *w = ws->buckets[i], *next; w != NULL; w = next) {
            next = w->next;
            switch (notice) {
            case NOTICE_LOST:
                w->ops->on_lost(w);
                break;
            case NOTICE_ACCESS_ENDED:
                w->ops->on_access_ended(w, id);
                break;
            case NOTICE_TICK:
                w->ops->on_tick(w, now_ms);
                break;
            case NOTICE_DRAIN:
                w->ops->on_drain(w);
                break;
            }
        }
}

static void on_wake(struct loop_task *task)
{
    struct watchers *ws = CONTAINER_OF(task, struct watchers, wake_task);
    struct hub_delivery d = hub_collect(&ws->listener);
    if (d.lost)
        tell_all(ws, NOTICE_LOST, UUID_NIL);
    for (size_t i = 0; i < d.n_items; i++) {
        if (d.items[i]->type == ITEM_ACCESS_ENDED)
            tell_all(ws, NOTICE_ACCESS_ENDED, d.items[i]->topic);
        else
            tell_event(ws, d.items[i]);
    }
    hub_delivery_deinit(&d);
}

static void wake(struct hub_listener *listener)
{
    struct watchers *ws = CONTAINER_OF(listener, struct watchers, listener);
    loop_post(ws->loop, &ws->wake_task);
}

static void on_tick(struct loop_timer *timer)
{
    tell_all(CONTAINER_OF(timer, struct watchers, tick), NOTICE_TICK, UUID_NIL);
}

/* --- Life ----------------------------------------------------------------------------------- */

struct watchers *watchers_create(struct loop *loop, struct hub *hub)
{
    struct watchers *ws = MEM_NEW(struct watchers);
    ws->loop = loop;
    ws->hub = hub;
    ws->wake_task.run = on_wake;
    loop_timer_start(loop, &ws->tick, on_tick, TICK_MS, TICK_MS);
    hub_listener_init(&ws->listener, wake);
    hub_add_listener(hub, &ws->listener);
    return ws;
}

void watchers_drain(struct watchers *ws)
{
    ws->draining = true;
    tell_all(ws, NOTICE_DRAIN, UUID_NIL);
}

bool watchers_are_draining(const struct watchers *ws)
{
    return ws->draining;
}

void watchers_stop(struct watchers *ws)
{
    /* A long poll whose job is still running unregisters when the job is done. */
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct watch *w = ws->buckets[i]; w != NULL; w = w->next)
            hub_unwatch(ws->hub, w->tenant_id);
    hub_remove_listener(ws->hub, &ws->listener);
    ws->hub = NULL;
    loop_timer_close(&ws->tick, NULL);
}

void watchers_destroy(struct watchers *ws)
{
    hub_listener_deinit(&ws->listener);
    mem_free(ws);
}
