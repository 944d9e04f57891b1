/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/holdings.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { BUCKETS = 1024 };

struct holding {
    struct holding *next;
    struct uuid tenant_id;
    int64_t count;
};

struct holdings {
    pthread_mutex_t mutex;
    struct holding *buckets[BUCKETS];
};

struct holdings *holdings_create(void)
{
    struct holdings *h = MEM_NEW(struct holdings);
    pthread_mutex_init(&h->mutex, NULL);
    return h;
}

void holdings_destroy(struct holdings *h)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (h->buckets[i] != NULL) {
            struct holding *first = h->buckets[i];
            h->buckets[i] = first->next;
            mem_free(first);
        }
    pthread_mutex_destroy(&h->mutex);
    mem_free(h);
}

/* Returns the pointer to the tenant's entry, or the end of its list. */
static struct holding **find(struct holdings *h, struct uuid tenant_id)
{
    uint64_t hash = hash_bytes(tenant_id.bytes, sizeof tenant_id.bytes);
    struct holding **link = &h->buckets[hash % BUCKETS];
    while (*link != NULL && !uuid_eq((*link)->tenant_id, tenant_id))
        link = &(*link)->next;
    return link;
}

bool holdings_take(struct holdings *h, struct uuid tenant_id, int64_t max)
{
    pthread_mutex_lock(&h->mutex);
    struct holding **link = find(h, tenant_id);
    bool has_room = (*link == NULL ? 0 : (*link)->count) < max;
    if (has_room && *link == NULL) {
        *link = MEM_NEW(struct holding);
        (*link)->tenant_id = tenant_id;
    }
    if (has_room)
        (*link)->count++;
    pthread_mutex_unlock(&h->mutex);
    return has_room;
}

void holdings_drop(struct holdings *h, struct uuid tenant_id)
{
    pthread_mutex_lock(&h->mutex);
    struct holding **link = find(h, tenant_id), *holding = *link;
    assert(holding != NULL);
    if (--holding->count == 0) {
        *link = holding->next;
        mem_free(holding);
    }
    pthread_mutex_unlock(&h->mutex);
}

int64_t holdings_count(struct holdings *h, struct uuid tenant_id)
{
    pthread_mutex_lock(&h->mutex);
    const struct holding *holding = *find(h, tenant_id);
    int64_t count = holding == NULL ? 0 : holding->count;
    pthread_mutex_unlock(&h->mutex);
    return count;
}
