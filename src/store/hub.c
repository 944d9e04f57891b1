/* SPDX-License-Identifier: Apache-2.0 */
#include "store/hub.h"

#include "base/alloc.h"
#include "base/hash.h"

enum { WATCHED_BUCKETS = 4096 };

struct watched {
    struct watched *next;
    struct uuid tenant_id;
    size_t count;
};

struct hub {
    pthread_mutex_t mutex;
    struct hub_listener *listeners;
    pthread_mutex_t watched_mutex;
    struct watched *watched[WATCHED_BUCKETS];
    size_t n_watched;
};

void hub_item_init(struct hub_item *item, struct uuid tenant_id, struct uuid topic,
    size_t size_bytes, void (*destroy)(struct hub_item *item))
{
    *item = (struct hub_item){
        .tenant_id = tenant_id, .topic = topic, .size_bytes = size_bytes, .destroy = destroy};
    atomic_init(&item->refs, 1);
}

struct hub_item *hub_item_ref(struct hub_item *item)
{
    atomic_fetch_add_explicit(&item->refs, 1, memory_order_relaxed);
    return item;
}

void hub_item_unref(struct hub_item *item)
{
    if (atomic_fetch_sub_explicit(&item->refs, 1, memory_order_acq_rel) == 1)
        item->destroy(item);
}

struct hub *hub_create(void)
{
    struct hub *hub = MEM_NEW(struct hub);
    pthread_mutex_init(&hub->mutex, NULL);
    pthread_mutex_init(&hub->watched_mutex, NULL);
    return hub;
}

void hub_destroy(struct hub *hub)
{
    assert(hub->listeners == NULL && hub->n_watched == 0);
    pthread_mutex_destroy(&hub->mutex);
    pthread_mutex_destroy(&hub->watched_mutex);
    mem_free(hub);
}

void hub_listener_init(struct hub_listener *l, void (*wake)(struct hub_listener *listener))
{
    *l = (struct hub_listener){.wake = wake, .max_bytes = HUB_BOX_MAX_BYTES};
    atomic_init(&l->interest, 0);
    pthread_mutex_init(&l->mutex, NULL);
}

void hub_listener_deinit(struct hub_listener *l)
{
    struct hub_delivery rest = hub_collect(l);
    hub_delivery_deinit(&rest);
    pthread_mutex_destroy(&l->mutex);
}

void hub_add_listener(struct hub *hub, struct hub_listener *l)
{
    pthread_mutex_lock(&hub->mutex);
    l->next = hub->listeners;
    hub->listeners = l;
    pthread_mutex_unlock(&hub->mutex);
}

void hub_remove_listener(struct hub *hub, struct hub_listener *l)
{
    pthread_mutex_lock(&hub->mutex);
    struct hub_listener **at = &hub->listeners;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_unlock(&hub->mutex);
}

/* Returns the pointer to the tenant's entry, or to the end of its chain. */
static struct watched **find_watched(struct hub *hub, struct uuid tenant_id)
{
    uint64_t hash = hash_bytes(tenant_id.bytes, sizeof tenant_id.bytes);
    struct watched **at = &hub->watched[hash % WATCHED_BUCKETS];
    while (*at != NULL && !uuid_eq((*at)->tenant_id, tenant_id))
        at = &(*at)->next;
    return at;
}

void hub_watch(struct hub *hub, struct uuid tenant_id)
{
    pthread_mutex_lock(&hub->watched_mutex);
    struct watched **at = find_watched(hub, tenant_id);
    if (*at == NULL) {
        *at = MEM_NEW(struct watched);
        (*at)->tenant_id = tenant_id;
        hub->n_watched++;
    }
    (*at)->count++;
    pthread_mutex_unlock(&hub->watched_mutex);
}

void hub_unwatch(struct hub *hub, struct uuid tenant_id)
{
    pthread_mutex_lock(&hub->watched_mutex);
    struct watched **at = find_watched(hub, tenant_id), *entry = *at;
    assert(entry != NULL);
    if (--entry->count == 0) {
        *at = entry->next;
        mem_free(entry);
        hub->n_watched--;
    }
    pthread_mutex_unlock(&hub->watched_mutex);
}

bool hub_is_watched(struct hub *hub)
{
    pthread_mutex_lock(&hub->watched_mutex);
    bool watched = hub->n_watched > 0;
    pthread_mutex_unlock(&hub->watched_mutex);
    return watched;
}

size_t hub_watched(struct hub *hub, struct arena *arena, struct uuid **out_tenants)
{
    pthread_mutex_lock(&hub->watched_mutex);
    size_t count = 0;
    struct uuid *tenants = ARENA_ARRAY(arena, struct uuid, hub->n_watched);
    for (size_t i = 0; count < hub->n_watched; i++)
        for (const struct watched *w = hub->watched[i]; w != NULL; w = w->next)
            tenants[count++] = w->tenant_id;
    pthread_mutex_unlock(&hub->watched_mutex);
    *out_tenants = tenants;
    return count;
}

static void drop_all(struct hub_listener *l)
{
    for (size_t i = 0; i < l->n_items; i++)
        hub_item_unref(l->items[i]);
    l->n_items = 0;
    l->bytes = 0;
}

static void put(struct hub_listener *l, struct hub_item *item)
{
    if (l->bytes + item->size_bytes > l->max_bytes) {
        /* The loop is far behind. Its subscribers will read from the store instead. */
        drop_all(l);
        l->lost = true;
        if (item->size_bytes >= HUB_ITEM_TOO_LARGE)
            return;
    }
    if (l->n_items == l->cap) {
        l->cap = l->cap == 0 ? 64 : l->cap * 2;
        l->items = mem_realloc(l->items, l->cap * sizeof(struct hub_item *));
    }
    l->items[l->n_items++] = hub_item_ref(item);
    l->bytes += item->size_bytes;
}

static void unlock_and_wake(struct hub_listener *l)
{
    bool must_wake = !l->woken;
    l->woken = true;
    pthread_mutex_unlock(&l->mutex);
    if (must_wake)
        l->wake(l);
}

static void deliver(struct hub_listener *l, struct hub_item *first)
{
    if (atomic_load(&l->interest) == 0)
        return;
    pthread_mutex_lock(&l->mutex);
    for (struct hub_item *item = first; item != NULL; item = item->next_in_tx)
        put(l, item);
    unlock_and_wake(l);
}

void hub_publish(struct hub *hub, struct hub_item *first)
{
    if (first == NULL)
        return;
    pthread_mutex_lock(&hub->mutex);
    for (struct hub_listener *l = hub->listeners; l != NULL; l = l->next)
        deliver(l, first);
    pthread_mutex_unlock(&hub->mutex);
}

void hub_lose(struct hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    for (struct hub_listener *l = hub->listeners; l != NULL; l = l->next) {
        pthread_mutex_lock(&l->mutex);
        drop_all(l);
        l->lost = true;
        unlock_and_wake(l);
    }
    pthread_mutex_unlock(&hub->mutex);
}

struct hub_delivery hub_collect(struct hub_listener *l)
{
    pthread_mutex_lock(&l->mutex);
    struct hub_delivery d = {.items = l->items, .n_items = l->n_items, .lost = l->lost};
    l->items = NULL;
    l->n_items = l->cap = l->bytes = 0;
    l->lost = l->woken = false;
    pthread_mutex_unlock(&l->mutex);
    return d;
}

void hub_delivery_deinit(struct hub_delivery *d)
{
    for (size_t i = 0; i < d->n_items; i++)
        hub_item_unref(d->items[i]);
    mem_free(d->items);
    *d = (struct hub_delivery){0};
}
