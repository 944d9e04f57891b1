/* SPDX-License-Identifier: Apache-2.0 */
#include "store/hub.h"

#include "base/alloc.h"
#include "test.h"

static atomic_int alive;
static atomic_int wakes;

static void destroy(struct hub_item *item)
{
    atomic_fetch_sub(&alive, 1);
    mem_free(item);
}

static void wake(struct hub_listener *listener)
{
    atomic_fetch_add(&wakes, 1);
}

static struct hub_item *item_of(int type, size_t size_bytes)
{
    struct hub_item *item = MEM_NEW(struct hub_item);
    hub_item_init(item, UUID_NIL, UUID_NIL, size_bytes, destroy);
    item->type = type;
    atomic_fetch_add(&alive, 1);
    return item;
}

/* Publishes one item and drops the publisher's own reference, as the writer does. */
static void publish(struct hub *hub, int type, size_t size_bytes)
{
    struct hub_item *item = item_of(type, size_bytes);
    hub_publish(hub, item);
    hub_item_unref(item);
}

static struct hub *hub_with(struct hub_listener *l)
{
    struct hub *hub = hub_create();
    hub_listener_init(l, wake);
    hub_add_listener(hub, l);
    atomic_store(&l->interest, 1);
    atomic_store(&alive, 0);
    atomic_store(&wakes, 0);
    return hub;
}

static void end(struct hub *hub, struct hub_listener *l)
{
    hub_remove_listener(hub, l);
    hub_listener_deinit(l);
    hub_destroy(hub);
    EXPECT_EQ(atomic_load(&alive), 0);
}

TEST(every_listener_receives_every_item_in_the_order_of_publication)
{
    struct hub_listener first, second;
    struct hub *hub = hub_with(&first);
    hub_listener_init(&second, wake);
    hub_add_listener(hub, &second);
    atomic_store(&second.interest, 3);
    struct hub_item *a = item_of(1, 10), *b = item_of(2, 10);
    a->next_in_tx = b;
    hub_publish(hub, a);
    hub_item_unref(a);
    hub_item_unref(b);
    publish(hub, 3, 10);

    struct hub_listener *const listeners[] = {&first, &second};
    for (size_t k = 0; k < COUNT_OF(listeners); k++) {
        struct hub_delivery d = hub_collect(listeners[k]);
        EXPECT_EQ(d.n_items, 3);
        for (size_t i = 0; i < d.n_items; i++)
            EXPECT_EQ(d.items[i]->type, i + 1);
        EXPECT(!d.lost);
        hub_delivery_deinit(&d);
    }
    EXPECT_EQ(atomic_load(&alive), 0);
    hub_remove_listener(hub, &second);
    hub_listener_deinit(&second);
    end(hub, &first);
}

TEST(a_listener_that_nobody_subscribed_to_receives_nothing)
{
    struct hub_listener l;
    struct hub *hub = hub_with(&l);
    atomic_store(&l.interest, 0);
    publish(hub, 1, 10);
    EXPECT_EQ(atomic_load(&wakes), 0);
    EXPECT_EQ(atomic_load(&alive), 0);
    atomic_store(&l.interest, 1);
    publish(hub, 2, 10);
    struct hub_delivery d = hub_collect(&l);
    EXPECT_EQ(d.n_items, 1);
    EXPECT_EQ(d.items[0]->type, 2);
    hub_delivery_deinit(&d);
    end(hub, &l);
}

TEST(a_listener_is_woken_once_until_it_collects)
{
    struct hub_listener l;
    struct hub *hub = hub_with(&l);
    publish(hub, 1, 10);
    publish(hub, 2, 10);
    EXPECT_EQ(atomic_load(&wakes), 1);
    struct hub_delivery d = hub_collect(&l);
    EXPECT_EQ(d.n_items, 2);
    hub_delivery_deinit(&d);
    publish(hub, 3, 10);
    EXPECT_EQ(atomic_load(&wakes), 2);
    end(hub, &l);
}

TEST(a_loss_wakes_nobody_who_is_awake_already)
{
    struct hub_listener l;
    struct hub *hub = hub_with(&l);
    publish(hub, 1, 1);
    hub_lose(hub);
    publish(hub, 2, 1);
    hub_lose(hub);
    hub_lose(hub);
    publish(hub, 3, 1);
    EXPECT_EQ(atomic_load(&wakes), 1);
    struct hub_delivery d = hub_collect(&l);
    EXPECT(d.lost);
    EXPECT_EQ(d.n_items, 1);
    hub_delivery_deinit(&d);
    hub_lose(hub);
    EXPECT_EQ(atomic_load(&wakes), 2);
    end(hub, &l);
}

TEST(a_full_box_is_emptied_and_the_loss_is_told_once)
{
    struct hub_listener l;
    struct hub *hub = hub_with(&l);
    for (int i = 1; i <= 4; i++)
        publish(hub, i, HUB_BOX_MAX_BYTES / 4);
    EXPECT_EQ(atomic_load(&alive), 4); /* exactly full */
    publish(hub, 5, 1);
    EXPECT_EQ(atomic_load(&alive), 1);
    publish(hub, 6, 1);
    EXPECT_EQ(atomic_load(&wakes), 1);

    struct hub_delivery d = hub_collect(&l);
    EXPECT(d.lost);
    EXPECT_EQ(d.n_items, 2);
    EXPECT_EQ(d.items[0]->type, 5);
    EXPECT_EQ(d.items[1]->type, 6);
    hub_delivery_deinit(&d);

    publish(hub, 7, 1);
    d = hub_collect(&l);
    EXPECT(!d.lost);
    EXPECT_EQ(d.n_items, 1);
    hub_delivery_deinit(&d);
    end(hub, &l);
}

TEST(one_slow_listener_does_not_cost_another_its_items)
{
    struct hub_listener slow, quick;
    struct hub *hub = hub_with(&slow);
    hub_listener_init(&quick, wake);
    hub_add_listener(hub, &quick);
    atomic_store(&quick.interest, 1);
    for (int i = 1; i <= 10; i++) {
        publish(hub, i, HUB_BOX_MAX_BYTES / 4);
        struct hub_delivery d = hub_collect(&quick);
        EXPECT(!d.lost);
        EXPECT_EQ(d.n_items, 1);
        EXPECT_EQ(d.items[0]->type, i);
        hub_delivery_deinit(&d);
    }
    struct hub_delivery d = hub_collect(&slow);
    EXPECT(d.lost);
    hub_delivery_deinit(&d);
    hub_remove_listener(hub, &quick);
    hub_listener_deinit(&quick);
    end(hub, &slow);
}

TEST(a_listener_that_left_hears_no_more_and_what_it_never_read_is_freed)
{
    struct hub_listener l;
    struct hub *hub = hub_with(&l);
    publish(hub, 1, 10);
    hub_remove_listener(hub, &l);
    publish(hub, 2, 10);
    EXPECT_EQ(atomic_load(&alive), 1);
    hub_listener_deinit(&l);
    EXPECT_EQ(atomic_load(&alive), 0);
    hub_destroy(hub);
}

TEST(collecting_from_an_empty_box_gives_nothing_and_loses_nothing)
{
    struct hub_listener l;
    struct hub *hub = hub_with(&l);
    struct hub_delivery d = hub_collect(&l);
    EXPECT_EQ(d.n_items, 0);
    EXPECT(!d.lost);
    hub_delivery_deinit(&d);
    end(hub, &l);
}

/* --- With threads --------------------------------------------------------------------------- */

enum { PUBLISHERS = 3, ITEMS_EACH = 2000 };

struct publisher {
    struct hub *hub;
    int base;
    pthread_t thread;
};

static void *publish_many(void *data)
{
    struct publisher *p = data;
    for (int i = 0; i < ITEMS_EACH; i++)
        publish(p->hub, p->base + i, 16);
    return NULL;
}

/* Checks that the items of each publisher arrive in order; returns their number. */
static size_t take_delivery(struct hub_listener *l, int next[PUBLISHERS])
{
    struct hub_delivery d = hub_collect(l);
    for (size_t i = 0; i < d.n_items; i++) {
        int type = d.items[i]->type;
        EXPECT_EQ(type % ITEMS_EACH, next[type / ITEMS_EACH]++);
    }
    EXPECT(!d.lost);
    size_t n = d.n_items;
    hub_delivery_deinit(&d);
    return n;
}

TEST(a_listener_that_collects_beside_busy_publishers_sees_each_item_once_and_in_order)
{
    struct hub_listener l;
    struct hub *hub = hub_with(&l);
    struct publisher publishers[PUBLISHERS];
    int next[PUBLISHERS] = {0};
    for (int i = 0; i < PUBLISHERS; i++) {
        publishers[i] = (struct publisher){.hub = hub, .base = i * ITEMS_EACH};
        pthread_create(&publishers[i].thread, NULL, publish_many, &publishers[i]);
    }
    size_t seen = 0;
    while (seen < PUBLISHERS * ITEMS_EACH)
        seen += take_delivery(&l, next);
    for (int i = 0; i < PUBLISHERS; i++)
        pthread_join(publishers[i].thread, NULL);
    EXPECT_EQ(take_delivery(&l, next), 0);
    end(hub, &l);
}

TEST(a_tenant_is_watched_as_long_as_anybody_watches_it)
{
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct hub *hub = hub_create();
    struct uuid one = uuid_v7(), other = uuid_v7(), *tenants;
    EXPECT_EQ(hub_watched(hub, &arena, &tenants), 0);
    hub_watch(hub, one);
    hub_watch(hub, other);
    hub_watch(hub, one);
    EXPECT_EQ(hub_watched(hub, &arena, &tenants), 2);
    hub_unwatch(hub, other);
    hub_unwatch(hub, one);
    EXPECT_EQ(hub_watched(hub, &arena, &tenants), 1);
    EXPECT(uuid_eq(tenants[0], one));
    hub_unwatch(hub, one);
    EXPECT_EQ(hub_watched(hub, &arena, &tenants), 0);
    hub_destroy(hub);
}

TEST(thousands_of_tenants_can_be_watched_and_each_is_told_once)
{
    enum { TENANTS = 20000 };
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct hub *hub = hub_create();
    struct uuid *all = ARENA_ARRAY(&arena, struct uuid, TENANTS), *tenants;
    for (size_t i = 0; i < TENANTS; i++) {
        all[i] = uuid_v7();
        hub_watch(hub, all[i]);
    }
    EXPECT_EQ(hub_watched(hub, &arena, &tenants), TENANTS);
    for (size_t i = 0; i < TENANTS; i++)
        hub_unwatch(hub, tenants[i]); /* asserts that each is there */
    EXPECT_EQ(hub_watched(hub, &arena, &tenants), 0);
    hub_destroy(hub);
}
