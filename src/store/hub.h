/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub tells the loops what was committed. A writer publishes items after the commit, in the
 * order of commits; each listener (one a loop) receives every item in that order, or learns that it
 * lost some because its box was full, and then reads them from the store like a reader that
 * reconnects. The hub knows tenant, topic and position; what an item says is its owner's affair.
 */
#ifndef STORE_HUB_H
#define STORE_HUB_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/uuid.h"

enum { HUB_BOX_MAX_BYTES = 64 * 1024 * 1024 };
/* The size of an item that stands for more than anybody could carry: it goes into no box, and every
 * listener learns that it lost some. */
#define HUB_ITEM_TOO_LARGE (SIZE_MAX / 2)

/* Embedded in what is published. Immutable once published. */
struct hub_item {
    atomic_uint refs;
    struct uuid tenant_id;
    struct uuid topic;
    size_t size_bytes;
    int type;     /* the owner's; 0 unless set before it is published */
    bool is_read; /* a shared store has it in its tables, and its readers find it there */
    void (*destroy)(struct hub_item *item);
    struct hub_item *next_in_tx;
};

void hub_item_init(struct hub_item *item, struct uuid tenant_id, struct uuid topic,
    size_t size_bytes, void (*destroy)(struct hub_item *item));
struct hub_item *hub_item_ref(struct hub_item *item);
void hub_item_unref(struct hub_item *item);

struct hub;

struct hub_listener {
    /* Called by the publisher, once until the next hub_collect: wake the loop, nothing more. */
    void (*wake)(struct hub_listener *listener);
    /* How many subscriptions the loop has; nothing is put into the box while there are none. */
    atomic_uint interest;
    pthread_mutex_t mutex;
    struct hub_item **items;
    size_t n_items;
    size_t cap;
    size_t bytes;
    size_t max_bytes; /* HUB_BOX_MAX_BYTES unless it is changed before hub_add_listener */
    bool lost;
    bool woken; /* and has not collected yet */
    struct hub_listener *next;
};

struct hub *hub_create(void);
void hub_destroy(struct hub *hub);

void hub_listener_init(struct hub_listener *l, void (*wake)(struct hub_listener *listener));
void hub_listener_deinit(struct hub_listener *l);
void hub_add_listener(struct hub *hub, struct hub_listener *l);
void hub_remove_listener(struct hub *hub, struct hub_listener *l);

/*
 * Which tenants have somebody who listens here: what a shared store has to look for. Counted, any
 * thread. A listener is watched before it reads what is there already, so what it does not read
 * is found for it.
 */
void hub_watch(struct hub *hub, struct uuid tenant_id);
void hub_unwatch(struct hub *hub, struct uuid tenant_id);
/* Returns how many tenants there are, and their ids in the arena. */
size_t hub_watched(struct hub *hub, struct arena *arena, struct uuid **out_tenants);
bool hub_is_watched(struct hub *hub);
/* Items may be missing: every listener is told, and reads from the store. */
void hub_lose(struct hub *hub);

/* Gives each listener a reference of its own to each item of the list, in order. */
void hub_publish(struct hub *hub, struct hub_item *first);

struct hub_delivery {
    struct hub_item **items; /* freed with hub_delivery_deinit, which drops the references */
    size_t n_items;
    bool lost; /* items before these did not fit: read from the store */
};
struct hub_delivery hub_collect(struct hub_listener *l);
void hub_delivery_deinit(struct hub_delivery *d);

#endif
