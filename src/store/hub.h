/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub delivers committed items to the loops. A writer publishes items after the commit, in the
 * order of commits. Each listener (one per loop) receives every item in that order. If the
 * listener's box was full, the listener is notified of the loss and reads the items from the store,
 * like a client that reconnects. The hub knows the tenant, the topic and the position of an item,
 * not its meaning.
 */
#ifndef STORE_HUB_H
#define STORE_HUB_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/uuid.h"

enum { HUB_BOX_MAX_BYTES = 64 * 1024 * 1024 };
/* The size of an item that does not fit into any box: every listener is notified of a loss. */
#define HUB_ITEM_TOO_LARGE (SIZE_MAX / 2)

/* Embedded in published objects. Immutable after publication. */
struct hub_item {
    atomic_uint refs;
    struct uuid tenant_id;
    struct uuid topic;
    size_t size_bytes;
    int type;     /* defined by the owner; 0 unless set before publication */
    bool is_read; /* on a shared store, readers find the item in the tables */
    void (*destroy)(struct hub_item *item);
    struct hub_item *next_in_tx;
};

void hub_item_init(struct hub_item *item, struct uuid tenant_id, struct uuid topic,
    size_t size_bytes, void (*destroy)(struct hub_item *item));
struct hub_item *hub_item_ref(struct hub_item *item);
void hub_item_unref(struct hub_item *item);

struct hub;

struct hub_listener {
    /* Called by the publisher once until the next hub_collect: must only wake the loop. */
    void (*wake)(struct hub_listener *listener);
    /* The number of the loop's subscriptions; while it is 0, the box receives nothing. */
    atomic_uint interest;
    pthread_mutex_t mutex;
    struct hub_item **items;
    size_t n_items;
    size_t cap;
    size_t bytes;
    size_t max_bytes; /* HUB_BOX_MAX_BYTES unless changed before hub_add_listener */
    bool lost;
    bool woken; /* wake was called, and hub_collect not yet */
    struct hub_listener *next;
};

struct hub *hub_create(void);
void hub_destroy(struct hub *hub);

void hub_listener_init(struct hub_listener *l, void (*wake)(struct hub_listener *listener));
void hub_listener_deinit(struct hub_listener *l);
void hub_add_listener(struct hub *hub, struct hub_listener *l);
void hub_remove_listener(struct hub *hub, struct hub_listener *l);

/*
 * The tenants that have subscribers here, for whose events a shared store must look. Counted; any
 * thread. A subscriber watches before it reads existing events, so that later ones are found for
 * it.
 */
void hub_watch(struct hub *hub, struct uuid tenant_id);
void hub_unwatch(struct hub *hub, struct uuid tenant_id);
/* Returns the number of watched tenants, and their ids in the arena. */
size_t hub_watched(struct hub *hub, struct arena *arena, struct uuid **out_tenants);
bool hub_is_watched(struct hub *hub);
/* Items may be missing: notifies every listener of a loss, and the listeners read from the
 * store. */
void hub_lose(struct hub *hub);

/* Gives each listener a reference of its own to each item of the list, in order. */
void hub_publish(struct hub *hub, struct hub_item *first);

struct hub_delivery {
    struct hub_item **items; /* freed by hub_delivery_deinit, which drops the references */
    size_t n_items;
    bool lost; /* earlier items did not fit: read them from the store */
};
struct hub_delivery hub_collect(struct hub_listener *l);
void hub_delivery_deinit(struct hub_delivery *d);

#endif
