#include "store/hub.h"

#include "base/memory.h"

struct hub {
    pthread_mutex_t mutex;
    struct hub_listener *listeners;
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
    return hub;
}

void hub_destroy(struct hub *hub)
{
    assert(hub->listeners == NULL);
    pthread_mutex_destroy(&hub->mutex);
    mem_free(hub);
}

void hub_listener_init(struct hub_listener *l, void (*wake)(struct hub_listener *listener))
{
    *l = (struct hub_listener){.wake = wake};
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

static void drop_all(struct hub_listener *l)
{
    for (size_t i = 0; i < l->n_items; i++)
        hub_item_unref(l->items[i]);
    l->n_items = 0;
    l->bytes = 0;
}

static void put(struct hub_listener *l, struct hub_item *item)
{
    if (l->bytes + item->size_bytes > HUB_BOX_MAX_BYTES) {
        /* The loop is far behind. Its subscribers will read from the store instead. */
        drop_all(l);
        l->lost = true;
    }
    if (l->n_items == l->cap) {
        l->cap = l->cap == 0 ? 64 : l->cap * 2;
        l->items = mem_realloc(l->items, l->cap * sizeof(struct hub_item *));
    }
    l->items[l->n_items++] = hub_item_ref(item);
    l->bytes += item->size_bytes;
}

static void deliver(struct hub_listener *l, struct hub_item *first)
{
    if (atomic_load(&l->interest) == 0)
        return;
    pthread_mutex_lock(&l->mutex);
    bool was_empty = l->n_items == 0;
    for (struct hub_item *item = first; item != NULL; item = item->next_in_tx)
        put(l, item);
    pthread_mutex_unlock(&l->mutex);
    if (was_empty)
        l->wake(l);
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

struct hub_delivery hub_collect(struct hub_listener *l)
{
    pthread_mutex_lock(&l->mutex);
    struct hub_delivery d = {.items = l->items, .n_items = l->n_items, .lost = l->lost};
    l->items = NULL;
    l->n_items = l->cap = l->bytes = 0;
    l->lost = false;
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
