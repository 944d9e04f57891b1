/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/known_keys.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { SLOTS = 16384, PROBES = 16 };

struct slot {
    uint64_t hash; /* of the secret, under the key of this process; 0: the slot is free */
    uint64_t used; /* the turn of the last use */
    struct uuid tenant_id;
};

struct known_keys {
    pthread_mutex_t mutex;
    uint64_t turn;
    struct slot slots[SLOTS];
};

struct known_keys *known_keys_create(void)
{
    struct known_keys *k = MEM_NEW(struct known_keys);
    pthread_mutex_init(&k->mutex, NULL);
    return k;
}

void known_keys_destroy(struct known_keys *k)
{
    pthread_mutex_destroy(&k->mutex);
    mem_free(k);
}

/* Returns the slot of the key, or the nearby one that was unused for the longest time. */
static struct slot *find(struct known_keys *k, uint64_t hash)
{
    struct slot *oldest = &k->slots[hash % SLOTS];
    for (uint64_t i = 0; i < PROBES; i++) {
        struct slot *slot = &k->slots[(hash + i) % SLOTS];
        if (slot->hash == hash)
            return slot;
        if (slot->used < oldest->used)
            oldest = slot;
    }
    return oldest;
}

static uint64_t hash_of(struct str secret)
{
    return hash_bytes(secret.ptr, secret.len) | 1;
}

void known_keys_learn(struct known_keys *k, struct str secret, struct uuid tenant_id)
{
    uint64_t hash = hash_of(secret);
    pthread_mutex_lock(&k->mutex);
    *find(k, hash) = (struct slot){.hash = hash, .used = ++k->turn, .tenant_id = tenant_id};
    pthread_mutex_unlock(&k->mutex);
}

bool known_keys_find(struct known_keys *k, struct str secret, struct uuid *out_tenant_id)
{
    uint64_t hash = hash_of(secret);
    pthread_mutex_lock(&k->mutex);
    struct slot *slot = find(k, hash);
    bool found = slot->hash == hash;
    if (found) {
        slot->used = ++k->turn;
        *out_tenant_id = slot->tenant_id;
    }
    pthread_mutex_unlock(&k->mutex);
    return found;
}

uint64_t tenant_flow(struct uuid tenant_id)
{
    return hash_bytes(tenant_id.bytes, sizeof tenant_id.bytes) | 1;
}
