/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/tail.h"

#include "fixture.h"
#include "postgres.h"

struct watcher {
    struct fixture f;
    struct hub_listener ear;
    struct tail tail;
    struct tail_page page;
};

static void wake(struct hub_listener *listener)
{
}

static struct hub *hub_of(struct watcher *w)
{
    return store_hub(w->f.store);
}

static enum error pass_at(struct watcher *w, int64_t plus_us)
{
    struct context *c = begin_reading(&w->f);
    c->now_us += plus_us;
    enum error e = tail_read(c, &w->tail, hub_of(w), &w->page);
    commit(&w->f);
    return e;
}

/* One pass, and what the hub got from it. */
static struct hub_delivery pass(struct watcher *w)
{
    EXPECT_EQ(pass_at(w, 0), OK);
    tail_publish(&w->tail, &w->page, hub_of(w));
    return hub_collect(&w->ear);
}

static void watcher_begin(struct watcher *w)
{
    *w = (struct watcher){0};
    fixture_begin(&w->f);
    hub_listener_init(&w->ear, wake);
    atomic_store(&w->ear.interest, 1);
    hub_add_listener(hub_of(w), &w->ear);
    hub_watch(hub_of(w), DEFAULT_TENANT_ID);
}

static void watcher_end(struct watcher *w)
{
    hub_unwatch(hub_of(w), DEFAULT_TENANT_ID);
    hub_remove_listener(hub_of(w), &w->ear);
    hub_listener_deinit(&w->ear);
    tail_page_clear(&w->page);
    fixture_end(&w->f);
}

static const struct event *event_of(const struct hub_delivery *d, size_t i)
{
    return &CONTAINER_OF(d->items[i], struct event_item, item)->event;
}

static void expect_nothing(struct watcher *w)
{
    struct hub_delivery d = pass(w);
    EXPECT_EQ(d.n_items, 0);
    hub_delivery_deinit(&d);
}

POSTGRES_ONLY(the_tail_begins_where_the_log_ends_and_tells_what_comes_after)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    EXPECT_EQ(w.tail.position, 1);
    struct run run = make_run(&w.f, thread, "queue");
    add_events(&w.f, thread, 2);
    struct hub_delivery d = pass(&w);
    EXPECT_EQ(d.n_items, 3);
    for (size_t i = 0; i < d.n_items; i++) {
        EXPECT_EQ(d.items[i]->type, ITEM_EVENT);
        EXPECT(uuid_eq(d.items[i]->tenant_id, DEFAULT_TENANT_ID));
        EXPECT(uuid_eq(d.items[i]->topic, thread));
        EXPECT_EQ(event_of(&d, i)->seq, (int64_t)i + 2);
        EXPECT_EQ(event_of(&d, i)->id, (int64_t)i + 2);
    }
    EXPECT(event_of(&d, 0)->frees_run);
    EXPECT(uuid_eq(event_of(&d, 0)->run_id, run.id));
    EXPECT_STR(event_of(&d, 0)->text, STR("run is queued"));
    EXPECT_PART(event_of(&d, 0)->payload, "\"to\":\"queued\"");
    EXPECT(!event_of(&d, 1)->frees_run);
    hub_delivery_deinit(&d);
    expect_nothing(&w);
    watcher_end(&w);
}

POSTGRES_ONLY(the_tail_tells_of_watched_tenants_alone)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid other = make_tenant(&w.f, "other");
    expect_nothing(&w);
    struct thread theirs = {0};
    EXPECT_EQ(thread_create(begin_as(&w.f, other), &theirs), OK);
    commit(&w.f);
    expect_nothing(&w);
    EXPECT_EQ(w.tail.position, 1);
    hub_watch(hub_of(&w), other);
    make_thread(&w.f);
    EXPECT_EQ(thread_create(begin_as(&w.f, other), &theirs), OK);
    commit(&w.f);
    struct hub_delivery d = pass(&w);
    EXPECT_EQ(d.n_items, 2);
    EXPECT(uuid_eq(d.items[0]->tenant_id, DEFAULT_TENANT_ID));
    EXPECT(uuid_eq(d.items[1]->tenant_id, other));
    hub_delivery_deinit(&d);
    hub_unwatch(hub_of(&w), other);
    watcher_end(&w);
}

POSTGRES_ONLY(the_tail_takes_long_stretches_page_by_page_and_in_order)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    add_events(&w.f, thread, TAIL_PAGE_MAX + 100);
    EXPECT_EQ(pass_at(&w, 0), OK);
    EXPECT(w.page.more);
    struct hub_delivery d = pass(&w);
    EXPECT_EQ(d.n_items, TAIL_PAGE_MAX);
    EXPECT_EQ(event_of(&d, TAIL_PAGE_MAX - 1)->seq, TAIL_PAGE_MAX + 1);
    hub_delivery_deinit(&d);
    EXPECT_EQ(w.tail.position, TAIL_PAGE_MAX + 1);
    EXPECT_EQ(pass_at(&w, 0), OK);
    EXPECT(!w.page.more);
    d = pass(&w);
    EXPECT_EQ(d.n_items, 100);
    EXPECT_EQ(event_of(&d, 0)->seq, TAIL_PAGE_MAX + 2);
    EXPECT(!d.lost);
    hub_delivery_deinit(&d);
    watcher_end(&w);
}

static void add_large_events(struct fixture *f, struct uuid thread, size_t n)
{
    struct event *events = ARENA_ARRAY(f->arena, struct event, n);
    struct buf payload;
    buf_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    buf_append(&payload, STR("{\"x\":\""));
    while (payload.len < EVENT_PAYLOAD_MAX_BYTES - 1024)
        buf_append_byte(&payload, 'x');
    buf_append(&payload, STR("\"}"));
    for (size_t i = 0; i < n; i++)
        events[i] = (struct event){.kind = STR("progress"), .payload = buf_str(&payload)};
    EXPECT_EQ(event_append(begin(f), thread, events, n), OK);
    commit(f);
    buf_deinit(&payload);
}

POSTGRES_ONLY(a_page_of_the_tail_that_ends_by_its_size_is_continued_behind_its_last_event)
{
    enum { EVENTS = 2 * TAIL_PAGE_MAX_BYTES / EVENT_PAYLOAD_MAX_BYTES + 10 };
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    for (size_t i = 0; i < EVENTS; i += 20)
        add_large_events(&w.f, thread, EVENTS - i < 20 ? EVENTS - i : 20);
    int64_t seen = 1;
    size_t passes = 0;
    for (bool more = true; more && passes < EVENTS; passes++) {
        EXPECT_EQ(pass_at(&w, 0), OK);
        more = w.page.more;
        tail_publish(&w.tail, &w.page, hub_of(&w));
        struct hub_delivery d = hub_collect(&w.ear);
        EXPECT(!d.lost);
        for (size_t i = 0; i < d.n_items; i++)
            EXPECT_EQ(event_of(&d, i)->seq, ++seen);
        hub_delivery_deinit(&d);
    }
    EXPECT_EQ(seen, EVENTS + 1);
    EXPECT_EQ(passes, 3);
    watcher_end(&w);
}

/* Expects one pass that skips events and reports it, and then one with the next event. */
static void expect_leap(struct watcher *w, struct uuid thread, int64_t horizon)
{
    struct hub_delivery d = pass(w);
    EXPECT(d.lost);
    EXPECT_EQ(d.n_items, 0);
    hub_delivery_deinit(&d);
    EXPECT_EQ(w->tail.position, horizon);
    add_events(&w->f, thread, 1);
    d = pass(w);
    EXPECT(!d.lost);
    EXPECT_EQ(d.n_items, 1);
    hub_delivery_deinit(&d);
}

POSTGRES_ONLY(a_tail_that_is_far_behind_or_late_leaves_the_reading_to_its_listeners)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    add_events(&w.f, thread, 9);
    w.tail.position -= TAIL_MAX_BEHIND;
    expect_leap(&w, thread, 10);
    add_events(&w.f, thread, 1);
    w.tail.told_us -= TAIL_LATE_US;
    expect_leap(&w, thread, 12);
    watcher_end(&w);
}

POSTGRES_ONLY(what_was_told_is_known_by_the_time_it_was_taken)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    int64_t first_us = w.tail.probed_us;
    add_events(&w.f, thread, TAIL_PAGE_MAX * 2);
    struct hub_delivery d = pass(&w); /* finds all events, and delivers half of them */
    hub_delivery_deinit(&d);
    int64_t second_us = w.tail.probed_us;
    EXPECT_EQ(w.tail.told_us, first_us);
    EXPECT(second_us > first_us);
    d = pass(&w);
    hub_delivery_deinit(&d);
    EXPECT_EQ(w.tail.told_us, second_us);
    watcher_end(&w);
}

POSTGRES_ONLY(a_database_that_began_anew_may_have_gone_back)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    /* As if this node had seen ids of another life of the database. */
    w.tail.server_began_us--;
    w.tail.position += 100;
    struct context *c = begin_reading(&w.f);
    EXPECT_EQ(tx_settled(c->tx, w.tail.server_began_us, 101), 101);
    EXPECT_EQ(tx_settled(c->tx, w.tail.server_began_us, 50), 101);
    commit(&w.f);
    expect_leap(&w, thread, 1);
    watcher_end(&w);
}

POSTGRES_ONLY(a_pass_that_failed_or_ran_twice_tells_nothing_twice)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    add_events(&w.f, thread, 1);
    EXPECT_EQ(pass_at(&w, 0), OK); /* and is not published */
    struct hub_delivery d = pass(&w);
    EXPECT_EQ(d.n_items, 1);
    hub_delivery_deinit(&d);
    watcher_end(&w);
}

POSTGRES_ONLY(the_tail_tells_of_a_thread_that_went)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid thread = make_thread(&w.f);
    expect_nothing(&w);
    EXPECT_EQ(delete_thread(begin(&w.f), thread), OK);
    commit(&w.f);
    struct hub_delivery d = pass(&w);
    EXPECT_EQ(d.n_items, 1);
    EXPECT(d.n_items == 1 && event_of(&d, 0)->is_last);
    hub_delivery_deinit(&d);
    watcher_end(&w);
}

POSTGRES_ONLY(the_tail_tells_whose_access_ended_anywhere)
{
    struct watcher w;
    watcher_begin(&w);
    struct uuid gone = make_tenant(&w.f, "gone");
    hub_watch(hub_of(&w), gone);
    expect_nothing(&w);
    struct str scope = STR("operator");
    struct api_key key = {.name = STR("k"), .scopes = {&scope, 1}}, last = key;
    struct context *c = begin(&w.f);
    EXPECT_EQ(key_create(c, DEFAULT_TENANT_ID, &key), OK);
    EXPECT_EQ(key_create(c, DEFAULT_TENANT_ID, &last), OK);
    EXPECT_EQ(key_revoke(c, key.id, &key), OK);
    EXPECT_EQ(delete_tenant(c, gone), OK);
    commit(&w.f);
    struct hub_delivery own = hub_collect(&w.ear); /* what this node knows itself */
    hub_delivery_deinit(&own);
    EXPECT_EQ(pass_at(&w, 1000000), OK);
    tail_publish(&w.tail, &w.page, hub_of(&w));
    struct hub_delivery d = hub_collect(&w.ear);
    EXPECT_EQ(d.n_items, 3);
    for (size_t i = 0; i < d.n_items; i++)
        EXPECT_EQ(d.items[i]->type, ITEM_ACCESS_ENDED);
    EXPECT(uuid_eq(d.items[0]->topic, key.id));
    EXPECT(uuid_eq(d.items[1]->topic, gone));
    EXPECT(uuid_eq(d.items[2]->topic, UUID_NIL)); /* subscribers without a key */
    hub_delivery_deinit(&d);
    hub_unwatch(hub_of(&w), gone);
    watcher_end(&w);
}
