/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subscriber is live or reads history. Live, it receives each event from the hub after its
 * commit. If its queue is full, or the hub has dropped events, it reads from its cursor in the
 * store, one page at a time and as fast as the client reads, until it has caught up. So its cost is
 * limited, a burst closes no subscriber, and a client that reads nothing for a while is closed.
 */
#include "api/http/stream.h"

#include "api/threads/event_page.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"

enum {
    REFILL_BYTES = 64 * 1024, /* history is sent while the queue is shorter */
    HEARTBEAT_MS = 10000,
    SLOW_MS = 10000, /* time without reading after which a client with pending events is closed */
};

struct log_page;

struct subscription {
    struct watch watch;
    struct watchers *watchers;
    struct api *api;
    struct http_exchange *x; /* NULL after it has ended */
    struct subscriber reader;
    bool websocket;
    bool live;    /* everything up to the cursor is sent, and the hub delivers the next event */
    bool reading; /* a page is being read from the store */
    bool missed;  /* events were published since that page was requested */
    bool moved;   /* the client has sent another cursor, so that page is not needed */
    struct log_page *page; /* being sent */
    uint64_t last_sent_ms;
    uint64_t last_taken_ms; /* when the queue last became shorter */
    size_t queued_bytes;    /* at the last tick */
    unsigned refs;          /* the exchange, a page that is being read, and a renewal */
    struct loop *loop;
    struct store_job presence; /* renews that the principal is online (participants.h) */
    struct loop_task renewed;
    bool renewing;
    uint64_t renewed_ms; /* when the last renewal began */
};

/* A page of history: a store thread reads it, the loop sends it. */
struct log_page {
    struct store_job job;
    struct loop_task task;
    struct subscription *sub;
    struct loop *loop;
    struct arena arena;
    struct problem problem;
    struct event_page log;
    enum error result;
    size_t n_sent;
};

static void advance(struct subscription *sub);

static void log_page_free(struct log_page *page)
{
    arena_deinit(&page->arena);
    mem_free(page);
}

static void unref(struct subscription *sub)
{
    if (--sub->refs > 0)
        return;
    if (sub->page != NULL)
        log_page_free(sub->page);
    mem_free(sub);
}

/* --- Ending --------------------------------------------------------------------------------- */

static void write_goodbye(struct buf *out, const char *reason, struct str cursor)
{
    struct json_writer w;
    json_writer_init(&w, out);
    buf_append(out, STR("event: closed\ndata: "));
    event_closed_write(&w, reason, cursor);
    buf_append(out, STR("\n\n"));
}

/* Sends the reason and the cursor, then ends. WebSocket codes: 1001 going away, 1008 policy, 1013
 * try again later. */
static void end(struct subscription *sub, const char *reason, uint16_t ws_code)
{
    if (sub->x == NULL)
        return;
    struct arena arena;
    struct buf out;
    arena_init(&arena, 4096);
    buf_init(&out, 1024);
    struct str cursor = subscriber_cursor_text(&sub->reader, &arena);
    watch_remove(sub->watchers, &sub->watch);
    if (sub->websocket) {
        buf_printf(&out, "%s cursor=%.*s", reason, STR_ARG(cursor));
        ws_close(sub->x, ws_code, buf_str(&out));
    } else {
        write_goodbye(&out, reason, cursor);
        http_stream_end(sub->x, buf_str(&out));
    }
    buf_deinit(&out);
    arena_deinit(&arena);
}

static void on_exchange_end(struct http_exchange *x)
{
    struct subscription *sub = http_exchange_data(x);
    watch_remove(sub->watchers, &sub->watch);
    sub->x = NULL;
    unref(sub);
}

/* --- Sending -------------------------------------------------------------------------------- */

static enum frame_kind frame_kind(const struct subscription *sub)
{
    if (sub->websocket)
        return sub->reader.memoria ? FRAME_WS_MEMORIA : FRAME_WS;
    return sub->reader.filter.has_thread_id ? FRAME_SSE_THREAD : FRAME_SSE_TENANT;
}

/* Sends an event of the tenant-wide stream with a cursor that records the last reported gap. */
static bool send_with_gap(struct subscription *sub, const struct event *event)
{
    struct arena arena;
    struct buf out;
    arena_init(&arena, 4096);
    buf_init(&out, FRAME_MAX_BYTES);
    struct event_cursor cursor = {event->id, sub->reader.cursor.told_gap};
    sse_write_event(&out, event_cursor_text(&arena, cursor), event);
    bool sent = http_stream_send(sub->x, buf_str(&out));
    buf_deinit(&out);
    arena_deinit(&arena);
    return sent;
}

static bool send_frames(struct subscription *sub, struct frames *frames)
{
    enum frame_kind kind = frame_kind(sub);
    sub->last_sent_ms = loop_now_ms(http_exchange_loop(sub->x));
    if (kind == FRAME_SSE_TENANT && sub->reader.cursor.told_gap > frames->event->id)
        return send_with_gap(sub, frames->event);
    struct http_shared *shared = frames_get(frames, kind);
    return sub->websocket ? ws_send_shared(sub->x, shared)
                          : http_stream_send_shared(sub->x, shared);
}

static bool send_gap(struct subscription *sub)
{
    struct arena arena;
    struct buf out;
    arena_init(&arena, 4096);
    buf_init(&out, 1024);
    struct json_writer w;
    json_writer_init(&w, &out);
    struct str cursor = subscriber_cursor_text(&sub->reader, &arena);
    if (!sub->websocket)
        buf_printf(&out, "id: %.*s\nevent: gap\ndata: ", STR_ARG(cursor));
    event_gap_write(&w, &sub->reader, cursor);
    if (!sub->websocket)
        buf_append(&out, STR("\n\n"));
    bool sent = sub->websocket ? ws_send_text(sub->x, buf_str(&out))
                               : http_stream_send(sub->x, buf_str(&out));
    buf_deinit(&out);
    arena_deinit(&arena);
    return sent;
}

/* --- Presence ------------------------------------------------------------------------------- */

/* Reads only members that never change. */
static enum error renew(struct store_job *job, struct tx *tx)
{
    return subscriber_stay_online(&CONTAINER_OF(job, struct subscription, presence)->reader, tx);
}

/* A renewal that failed is made again at its next time. */
static void renewal_done(struct store_job *job, enum error result)
{
    struct subscription *sub = CONTAINER_OF(job, struct subscription, presence);
    loop_post(sub->loop, &sub->renewed);
}

static void renewal_arrived(struct loop_task *task)
{
    struct subscription *sub = CONTAINER_OF(task, struct subscription, renewed);
    sub->renewing = false;
    unref(sub);
}

static void stay_online(struct subscription *sub, uint64_t now_ms)
{
    const struct uuid *thread = &sub->reader.filter.thread_id;
    if (!subscriber_is_present(&sub->reader) || sub->renewing)
        return;
    sub->renewing = true;
    sub->renewed_ms = now_ms;
    sub->renewed.run = renewal_arrived;
    sub->refs++;
    sub->presence = (struct store_job){.mode = STORE_WRITE,
        .affinity = hash_bytes(thread->bytes, sizeof thread->bytes) | 1,
        .flow = tenant_flow(sub->reader.tenant_id),
        .run = renew,
        .done = renewal_done};
    store_submit(sub->api->store, &sub->presence);
}

/* --- History -------------------------------------------------------------------------------- */

static enum error read_page(struct store_job *job, struct tx *tx)
{
    struct log_page *p = CONTAINER_OF(job, struct log_page, job);
    struct context c;
    arena_clear(&p->arena);
    problem_init(&p->problem, &p->arena);
    context_init(&c, &p->arena, &p->problem, tx);
    return event_page_read(&p->log, &c);
}

static void page_arrived(struct loop_task *task);

static void page_done(struct store_job *job, enum error result)
{
    struct log_page *p = CONTAINER_OF(job, struct log_page, job);
    p->result = result;
    loop_post(p->loop, &p->task);
}

static void read_more(struct subscription *sub)
{
    if (sub->reading || sub->page != NULL || sub->x == NULL)
        return;
    struct log_page *p = MEM_NEW(struct log_page);
    arena_init(&p->arena, SIZE_MAX);
    p->job = (struct store_job){.mode = STORE_READ,
        .flow = tenant_flow(sub->reader.tenant_id),
        .run = read_page,
        .done = page_done};
    p->task.run = page_arrived;
    p->sub = sub;
    p->loop = http_exchange_loop(sub->x);
    subscriber_copy(&p->log.reader, &sub->reader);
    sub->live = false;
    sub->reading = true;
    sub->missed = false;
    sub->moved = false;
    sub->refs++;
    store_submit(sub->api->store, &p->job);
}

/* Reports events that were pruned after the cursor, before any later event. Returns false if the
 * queue is full: the cursor stays before the gap. */
static bool tell_gap(struct subscription *sub, const struct log_page *p)
{
    const struct event_cursor before = sub->reader.cursor;
    const int64_t last_id = sub->reader.last_id;
    if (!subscriber_meets_gap(&sub->reader, &p->log) || send_gap(sub))
        return true;
    sub->reader.cursor = before;
    sub->reader.last_id = last_id;
    return false;
}

static void accept_page(struct subscription *sub, struct log_page *p)
{
    if (p->result != OK) {
        bool later;
        const char *reason = event_page_refusal(p->result, &later);
        end(sub, reason, later ? 1013 : 1008);
        log_page_free(p);
        return;
    }
    sub->reader.cursor.position = p->log.position;
    sub->reader.by_id = false;
    if (!tell_gap(sub, p)) {
        log_page_free(p); /* on_writable requests it again */
        return;
    }
    sub->page = p;
    advance(sub);
}

static void page_arrived(struct loop_task *task)
{
    struct log_page *p = CONTAINER_OF(task, struct log_page, task);
    struct subscription *sub = p->sub;
    sub->reading = false;
    if (sub->x == NULL || sub->watch.link == NULL) {
        log_page_free(p);
    } else if (sub->moved) {
        log_page_free(p);
        read_more(sub);
    } else {
        accept_page(sub, p);
    }
    unref(sub);
}

static bool send_next_of_page(struct subscription *sub)
{
    const struct event *event = &sub->page->log.events[sub->page->n_sent];
    struct frames frames;
    frames_init(&frames, event);
    bool sent = !subscriber_hears(&sub->reader, event) || send_frames(sub, &frames);
    frames_deinit(&frames);
    if (sent) {
        subscriber_advance(&sub->reader, event);
        sub->page->n_sent++;
    }
    return sent;
}

/* Sends history as fast as the client reads; at its end the subscriber is live. */
static void advance(struct subscription *sub)
{
    struct log_page *p = sub->page;
    while (p != NULL && p->n_sent < p->log.n_events) {
        if (http_stream_queued(sub->x) >= REFILL_BYTES || !send_next_of_page(sub))
            return; /* on_writable continues */
    }
    if (p == NULL)
        return;
    int64_t looked = event_page_looked(&p->log);
    bool deleted = p->log.deleted;
    bool more = sub->missed || event_page_has_more(&p->log);
    /* The cursor also passes events at the end that the filter excluded; otherwise the next event
     * would seem out of order. */
    if (!p->log.more && sub->reader.cursor.position < looked)
        sub->reader.cursor.position = looked;
    sub->page = NULL;
    log_page_free(p);
    if (deleted)
        end(sub, "deleted", 1008);
    else if (more)
        read_more(sub);
    else
        sub->live = !subscriber_always_reads(&sub->reader);
}

static void on_writable(struct http_exchange *x)
{
    struct subscription *sub = http_exchange_data(x);
    if (sub->watch.link == NULL)
        return;
    sub->last_taken_ms = loop_now_ms(http_exchange_loop(x));
    if (sub->page != NULL)
        advance(sub);
    else if (!sub->live)
        read_more(sub);
}

/* Discards pages, because they may contain events that the subscriber may no longer see. */
static void read_anew(struct subscription *sub)
{
    if (sub->page != NULL)
        log_page_free(sub->page);
    sub->page = NULL;
    sub->moved = sub->reading;
    read_more(sub);
}

/* --- Live ----------------------------------------------------------------------------------- */

static struct subscription *sub_of(struct watch *w)
{
    return CONTAINER_OF(w, struct subscription, watch);
}

static void on_event(struct watch *w, struct frames *frames)
{
    struct subscription *sub = sub_of(w);
    const struct event *event = frames->event;
    int64_t position = subscriber_position_of(&sub->reader, event);
    if (subscriber_must_ask(&sub->reader, event)) {
        read_anew(sub);
        return;
    }
    if (!sub->live) {
        sub->missed = true;
        if (subscriber_always_reads(&sub->reader))
            read_more(sub);
        return;
    }
    if (position <= sub->reader.cursor.position)
        return;
    /* In a thread the next event has the next number; otherwise events were missed. */
    if (sub->reader.filter.has_thread_id && position != sub->reader.cursor.position + 1) {
        read_more(sub);
        return;
    }
    if (subscriber_hears(&sub->reader, event) && !send_frames(sub, frames)) {
        sub->live = false; /* on_writable continues from the cursor */
        return;
    }
    subscriber_advance(&sub->reader, event);
    if (event->is_last && sub->reader.filter.has_thread_id)
        end(sub, "deleted", 1008);
}

static void on_lost(struct watch *w)
{
    struct subscription *sub = sub_of(w);
    sub->missed = true;
    if (sub->live || subscriber_always_reads(&sub->reader))
        read_more(sub);
}

static void on_access_ended(struct watch *w, struct uuid id)
{
    struct subscription *sub = sub_of(w);
    /* A subscriber without a key has the nil id; it loses its access when the first key is created.
     * */
    if (uuid_eq(sub->reader.key_id, id) || uuid_eq(sub->watch.tenant_id, id))
        end(sub, "access_ended", 1008);
}

/* Returns true if more events are pending and the client reads nothing. */
static bool is_stuck(struct subscription *sub, uint64_t now_ms)
{
    size_t queued = http_stream_queued(sub->x);
    if (sub->live || queued == 0 || queued < sub->queued_bytes)
        sub->last_taken_ms = now_ms;
    sub->queued_bytes = queued;
    return now_ms - sub->last_taken_ms >= SLOW_MS;
}

static void on_tick(struct watch *w, uint64_t now_ms)
{
    struct subscription *sub = sub_of(w);
    if (sub->reader.has_expiry && clock_wall_us() >= sub->reader.expires_at) {
        end(sub, "key_expired", 1008);
        return;
    }
    if (is_stuck(sub, now_ms)) {
        end(sub, "slow_consumer", 1013);
        return;
    }
    if (now_ms - sub->renewed_ms >= SUBSCRIBER_ONLINE_MS)
        stay_online(sub, now_ms);
    if (sub->websocket || now_ms - sub->last_sent_ms < HEARTBEAT_MS)
        return;
    /* If the queue is full, its output already keeps the connection alive. */
    if (http_stream_send(sub->x, STR(": heartbeat\n\n")))
        sub->last_sent_ms = now_ms;
}

static void on_drain(struct watch *w)
{
    end(sub_of(w), "shutting_down", 1001);
}

static const struct watch_ops ops = {.on_event = on_event,
    .on_lost = on_lost,
    .on_access_ended = on_access_ended,
    .on_tick = on_tick,
    .on_drain = on_drain};

/* --- Messages from WebSocket clients -------------------------------------------------------- */

/* {"after": CURSOR}, or {"cursor": ID} for Memoria: continue from there. */
static bool read_move(struct subscription *sub, struct arena *arena, struct str message)
{
    struct json_doc doc;
    struct json_error unused;
    struct json value;
    struct event_cursor cursor;
    struct str name = sub->reader.memoria ? STR("cursor") : STR("after");
    if (!json_parse(arena, message, &doc, &unused) || json_type(json_root(&doc)) != JSON_OBJECT ||
        json_count(json_root(&doc)) != 1 || !json_get(json_root(&doc), name, &value))
        return false;
    struct str text = json_type(value) == JSON_STRING ? json_string(arena, value) : json_raw(value);
    if (!event_cursor_parse(text, !sub->reader.filter.has_thread_id, &cursor))
        return false;
    sub->reader.cursor = cursor;
    sub->reader.by_id = sub->reader.memoria;
    sub->reader.last_id = cursor.position;
    return true;
}

static void on_message(struct http_exchange *x, struct str message, bool text)
{
    struct subscription *sub = http_exchange_data(x);
    if (sub->watch.link == NULL)
        return;
    struct arena arena;
    arena_init(&arena, 64 * 1024);
    bool understood = text && read_move(sub, &arena, message);
    arena_deinit(&arena);
    if (!understood) {
        end(sub, "bad_message", 1008);
        return;
    }
    read_anew(sub);
}

/* --- Start ---------------------------------------------------------------------------------- */

static void on_drain_out(struct http_exchange *x)
{
    struct subscription *sub = http_exchange_data(x);
    end(sub, "shutting_down", 1001);
}

static const struct http_stream_hooks stream_hooks = {
    .on_writable = on_writable, .on_drain_out = on_drain_out};
static const struct ws_hooks websocket_hooks = {
    .stream = {.on_writable = on_writable, .on_drain_out = on_drain_out}, .on_message = on_message};

static struct subscription *subscribe(
    struct watchers *ws, struct http_exchange *x, const struct call *call)
{
    struct subscription *sub = MEM_NEW(struct subscription);
    sub->watchers = ws;
    sub->api = call->api;
    sub->x = x;
    subscriber_init(&sub->reader, call);
    sub->websocket = call->route->mode == ROUTE_WEBSOCKET;
    sub->loop = http_exchange_loop(x);
    sub->last_sent_ms = sub->last_taken_ms = loop_now_ms(sub->loop);
    sub->refs = 1;
    const struct event_filter *filter = &sub->reader.filter;
    sub->watch = (struct watch){.tenant_id = call->caller.tenant_id,
        .topic = filter->has_thread_id ? filter->thread_id : call->caller.tenant_id,
        .held = call->api->streams,
        .ops = &ops};
    return sub;
}

void stream_start(struct watchers *ws, struct http_exchange *x, const struct call *call,
    const struct http_header *headers, size_t n_headers)
{
    struct subscription *sub = subscribe(ws, x, call);
    bool offers =
        http_header_lists(call->request.http, STR("Sec-WebSocket-Protocol"), STR("cairn.v1"));
    int status = call->answer.status;
    http_exchange_set_data(x, sub);
    http_exchange_on_end(x, on_exchange_end);
    sub->refs++; /* until the end of this function */
    /* Registered before the first page is read, so that no commit in between is missed. */
    watch_add(ws, &sub->watch);
    if (sub->websocket)
        ws_accept(x, offers ? STR("cairn.v1") : STR_NONE, headers, n_headers, &websocket_hooks);
    else
        http_stream_start(x, status, headers, n_headers, &stream_hooks);
    if (sub->x != NULL && !sub->websocket &&
        !http_stream_send(sub->x, STR("retry: 1000\n: stream of events\n\n")))
        end(sub, "slow_consumer", 1013);
    if (watchers_are_draining(ws))
        end(sub, "shutting_down", 1001);
    if (sub->watch.link != NULL) {
        read_more(sub);
        stay_online(sub, sub->last_taken_ms);
    }
    unref(sub);
}
