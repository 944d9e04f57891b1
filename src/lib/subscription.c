/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subscription of the embedding program. It reads the log page by page from its cursor, and waits
 * for the bell between pages; the bell is registered before the first page is read. All events come
 * from the store, so none is missed or delivered twice.
 */
#include "api/execution/memoria.h"
#include "api/threads/event_page.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "lib/local_call.h"

enum { TEXT_MAX_BYTES = 1024 * 1024 };

struct cairn_subscription {
    cairn *cairn;
    struct bell bell;
    atomic_bool is_cancelled;
    struct subscriber reader;
    bool is_stale; /* there may be events after the cursor */
    bool has_page;
    bool has_ended;
    int64_t renew_us; /* when to renew that the principal is online */
    struct event_page page;
    size_t n_given; /* events of the page that were delivered */
    struct arena page_arena;
    struct arena arena; /* of the delivered event */
    struct buf data;
    struct cairn_event event;
};

/* --- Delivery of events --------------------------------------------------------------------- */

static int give(cairn_subscription *s, int kind)
{
    buf_append_byte(&s->data, '\0');
    assert(!s->data.failed);
    s->event = (struct cairn_event){
        .cursor = arena_cstr(&s->arena, subscriber_cursor_text(&s->reader, &s->arena)),
        .data = s->data.ptr,
        .data_len = s->data.len - 1};
    return kind;
}

static struct json_writer begin_data(cairn_subscription *s)
{
    struct json_writer w;
    arena_clear(&s->arena);
    buf_reset(&s->data);
    json_writer_init(&w, &s->data);
    return w;
}

static int give_event(cairn_subscription *s, const struct event *event)
{
    struct json_writer w = begin_data(s);
    if (s->reader.memoria)
        memoria_event_write(&w, event);
    else
        event_write(&w, event);
    subscriber_advance(&s->reader, event);
    return give(s, CAIRN_EVENT);
}

static int give_gap(cairn_subscription *s)
{
    struct json_writer w = begin_data(s);
    event_gap_write(&w, &s->reader, subscriber_cursor_text(&s->reader, &s->arena));
    return give(s, CAIRN_GAP);
}

static void end(cairn_subscription *s, const char *reason)
{
    if (s->has_ended)
        return;
    struct json_writer w = begin_data(s);
    s->has_ended = true;
    event_closed_write(&w, reason, subscriber_cursor_text(&s->reader, &s->arena));
    give(s, CAIRN_ENDED);
}

/* --- Pages ---------------------------------------------------------------------------------- */

static enum error read_page(void *data, struct tx *tx)
{
    cairn_subscription *s = data;
    struct problem problem = PROBLEM_INIT(&s->page_arena);
    struct context c;
    arena_clear(&s->page_arena);
    context_init(&c, &s->page_arena, &problem, tx);
    subscriber_copy(&s->page.reader, &s->reader);
    return event_page_read(&s->page, &c);
}

/* Reads the next page. Returns true if a gap precedes it, which must be reported first. */
static bool turn_page(cairn_subscription *s)
{
    bool later;
    s->is_stale = false;
    enum error e = store_call(s->cairn->instance.store, STORE_READ, read_page, s);
    if (e != OK) {
        end(s, event_page_refusal(e, &later));
        return false;
    }
    s->has_page = true;
    s->n_given = 0;
    s->reader.cursor.position = s->page.position;
    s->reader.by_id = false;
    return subscriber_meets_gap(&s->reader, &s->page);
}

static void finish_page(cairn_subscription *s)
{
    int64_t looked = event_page_looked(&s->page);
    s->has_page = false;
    s->is_stale = s->is_stale || event_page_has_more(&s->page);
    /* The cursor also moves past events at the end that the filter left out. */
    if (!s->page.more && s->reader.cursor.position < looked)
        s->reader.cursor.position = looked;
    if (s->page.deleted)
        end(s, "deleted");
}

/* --- Waiting -------------------------------------------------------------------------------- */

/* By the steady clock. */
static int64_t expiry_us(const cairn_subscription *s)
{
    if (!s->reader.has_expiry)
        return BELL_FOREVER;
    int64_t left_us = s->reader.expires_at - clock_wall_us();
    return left_us > 0 ? clock_steady_us() + left_us : 0;
}

/* Advances the cursor, like a stream over HTTP: later pruning then causes no gap. An event that was
 * read already, or must be read anyway, is passed with its page. */
static void pass_over(struct bell *bell, const struct event *event)
{
    cairn_subscription *s = CONTAINER_OF(bell, cairn_subscription, bell);
    int64_t position = subscriber_position_of(&s->reader, event);
    int64_t cursor = s->reader.cursor.position;
    bool is_next = !s->reader.filter.has_thread_id || position == cursor + 1;
    if (s->has_page || s->is_stale || (position > cursor && !is_next))
        s->is_stale = true;
    else if (position > cursor)
        subscriber_advance(&s->reader, event);
}

static void listen_until(cairn_subscription *s, int64_t until_us)
{
    int64_t expiry = expiry_us(s);
    enum bell_news news = bell_wait(&s->bell, until_us < expiry ? until_us : expiry);
    s->is_stale = s->is_stale || news == BELL_RANG || news == BELL_ASK;
    s->has_page = s->has_page && news != BELL_ASK;
    if (news == BELL_ACCESS_ENDED)
        end(s, "access_ended");
    else if (s->reader.has_expiry && clock_wall_us() >= s->reader.expires_at)
        end(s, "key_expired");
    else if (bell_is_stopped(&s->bell))
        end(s, atomic_load(&s->is_cancelled) ? "cancelled" : "shutting_down");
}

/* --- Presence ------------------------------------------------------------------------------- */

static enum error renew(void *data, struct tx *tx)
{
    const cairn_subscription *s = data;
    return subscriber_stay_online(&s->reader, tx);
}

/* A renewal that failed is made again at its next time. */
static void stay_online(cairn_subscription *s)
{
    int64_t now_us = clock_steady_us();
    if (now_us < s->renew_us)
        return;
    s->renew_us = now_us + INT64_C(1000) * SUBSCRIBER_ONLINE_MS;
    enum error e = store_call_for(
        s->cairn->instance.store, STORE_WRITE, tenant_flow(s->reader.tenant_id), renew, s);
    (void)e;
}

/* --- The next event ------------------------------------------------------------------------- */

/* After a subscription lost access or was cancelled, the rest of a page already read is dropped. */
static int next(cairn_subscription *s, int64_t until_us)
{
    for (;;) {
        listen_until(s, 0);
        if (s->has_ended)
            return CAIRN_ENDED;
        stay_online(s);
        if (s->has_page && s->n_given < s->page.n_events) {
            const struct event *event = &s->page.events[s->n_given++];
            if (subscriber_hears(&s->reader, event))
                return give_event(s, event);
            subscriber_advance(&s->reader, event);
        } else if (s->has_page)
            finish_page(s);
        else if (s->is_stale && turn_page(s))
            return give_gap(s);
        else if (!s->has_page && !s->is_stale && !s->has_ended) {
            if (clock_steady_us() >= until_us)
                return CAIRN_TIMEOUT;
            listen_until(s, until_us < s->renew_us ? until_us : s->renew_us);
        }
    }
}

int cairn_next(cairn_subscription *s, long timeout_ms, const struct cairn_event **out_event)
{
    int64_t until_us = timeout_ms < 0 || timeout_ms > INT64_MAX / 2000
                           ? BELL_FOREVER
                           : clock_steady_us() + (int64_t)timeout_ms * 1000;
    int kind = CAIRN_ENDED;
    if (handle_enter(s->cairn)) {
        kind = next(s, until_us);
        handle_leave(s->cairn);
    } else {
        end(s, "shutting_down");
    }
    *out_event = kind == CAIRN_TIMEOUT ? NULL : &s->event;
    return kind;
}

/* --- Life ----------------------------------------------------------------------------------- */

static bool is_admitted(const struct call *call)
{
    return call->answer.status == call->route->status && call->answer.stream != NULL;
}

static cairn_subscription *subscription_create(cairn *c, const struct call *call)
{
    cairn_subscription *s = MEM_NEW(cairn_subscription);
    s->cairn = c;
    atomic_init(&s->is_cancelled, false);
    subscriber_init(&s->reader, call);
    s->is_stale = true;
    s->renew_us = subscriber_is_present(&s->reader) ? 0 : BELL_FOREVER;
    arena_init(&s->page_arena, SIZE_MAX);
    arena_init(&s->arena, SIZE_MAX);
    buf_init(&s->data, TEXT_MAX_BYTES);
    const struct event_filter *filter = &s->reader.filter;
    const struct interest interest = {.tenant_id = s->reader.tenant_id,
        .topic = filter->has_thread_id ? filter->thread_id : s->reader.tenant_id,
        .key_id = s->reader.key_id,
        .for_principal = !str_is_none(s->reader.principal),
        .filter = *filter};
    handle_ref(c);
    handle_add_bell(c, &s->bell, &interest);
    s->bell.pass_over = pass_over;
    return s;
}

static cairn_subscription *admit(cairn *c, struct local_call *lc)
{
    enum route_mode mode = lc->call.route->mode;
    if (mode != ROUTE_SSE && mode != ROUTE_WEBSOCKET) {
        local_call_refuse(lc, ERR_BAD_REQUEST, "this route is not a stream: use cairn_call");
        return NULL;
    }
    local_call_run(lc, c, STR(""));
    return is_admitted(&lc->call) ? subscription_create(c, &lc->call) : NULL;
}

static cairn_subscription *local_stream(
    cairn *c, const struct local_request *request, cairn_answer **out_refusal)
{
    struct local_call lc;
    local_call_init(&lc, &c->instance.api, request);
    cairn_subscription *s = local_call_find_route(&lc) ? admit(c, &lc) : NULL;
    if (s == NULL)
        *out_refusal = local_call_answer(&lc);
    local_call_deinit(&lc);
    return s;
}

cairn_subscription *cairn_subscribe(
    cairn *c, const char *target, const char *const headers[], cairn_answer **out_refusal)
{
    const struct local_request request = {
        .method = "GET", .target = target, .headers = headers, .body = STR("")};
    cairn_subscription *s = NULL;
    cairn_answer *refusal = NULL;
    if (handle_enter(c)) {
        s = local_stream(c, &request, &refusal);
        handle_leave(c);
    } else {
        refusal = local_call_turn_away(&request);
    }
    if (s == NULL && out_refusal != NULL)
        *out_refusal = refusal;
    else
        cairn_answer_free(refusal);
    return s;
}

void cairn_cancel(cairn_subscription *s)
{
    atomic_store(&s->is_cancelled, true);
    bell_stop(&s->bell);
}

void cairn_unsubscribe(cairn_subscription *s)
{
    if (s == NULL)
        return;
    cairn *c = s->cairn;
    handle_remove_bell(c, &s->bell);
    arena_deinit(&s->page_arena);
    arena_deinit(&s->arena);
    buf_deinit(&s->data);
    mem_free(s);
    handle_unref(c);
}
