/* SPDX-License-Identifier: Apache-2.0 */
#include "net/shares.h"

#include <netinet/in.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { FIRST_BUCKETS = 64, PREFIX_BYTES = 8, MAPPED_BYTES = 12 };

void shares_init(struct shares *s)
{
    *s = (struct shares){.n_buckets = FIRST_BUCKETS};
    s->buckets = mem_zalloc(s->n_buckets * sizeof(struct share *));
    uv_mutex_init(&s->mutex);
}

void shares_deinit(struct shares *s)
{
    assert(s->count == 0);
    uv_mutex_destroy(&s->mutex);
    mem_free(s->buckets);
}

static struct share **bucket_of(struct shares *s, struct uuid id)
{
    return &s->buckets[hash_bytes(id.bytes, sizeof id.bytes) & (s->n_buckets - 1)];
}

static void grow(struct shares *s)
{
    struct share **old = s->buckets;
    size_t n_old = s->n_buckets;
    s->n_buckets *= 2;
    s->buckets = mem_zalloc(s->n_buckets * sizeof(struct share *));
    for (size_t i = 0; i < n_old; i++)
        for (struct share *share = old[i], *next; share != NULL; share = next) {
            next = share->next;
            struct share **bucket = bucket_of(s, share->id);
            share->next = *bucket;
            *bucket = share;
        }
    mem_free(old);
}

static struct share *add(struct shares *s, struct uuid id)
{
    if (s->count == s->n_buckets)
        grow(s);
    struct share **bucket = bucket_of(s, id);
    struct share *share = MEM_NEW(struct share);
    share->id = id;
    share->next = *bucket;
    *bucket = share;
    s->count++;
    return share;
}

struct share *shares_take(struct shares *s, struct uuid id)
{
    uv_mutex_lock(&s->mutex);
    struct share *share = *bucket_of(s, id);
    while (share != NULL && !uuid_eq(share->id, id))
        share = share->next;
    if (share == NULL)
        share = add(s, id);
    share->refs++;
    uv_mutex_unlock(&s->mutex);
    return share;
}

void shares_release(struct shares *s, struct share *share)
{
    if (share == NULL)
        return;
    uv_mutex_lock(&s->mutex);
    if (--share->refs == 0) {
        struct share **link = bucket_of(s, share->id);
        while (*link != share)
            link = &(*link)->next;
        *link = share->next;
        s->count--;
        mem_free(share);
    }
    uv_mutex_unlock(&s->mutex);
}

bool share_add(_Atomic size_t *count, size_t more, size_t max)
{
    if (atomic_fetch_add_explicit(count, more, memory_order_relaxed) + more <= max)
        return true;
    share_remove(count, more);
    return false;
}

bool share_id_of_address(const struct sockaddr *address, struct uuid *out_id, bool *out_is_loopback)
{
    struct uuid id = {{[10] = 0xff, [11] = 0xff}}; /* ::ffff:0:0, the prefix of IPv4 */
    bool is_loopback = false;
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        memcpy(id.bytes + MAPPED_BYTES, &v4.sin_addr, sizeof v4.sin_addr);
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        bool is_mapped = memcmp(&v6.sin6_addr, id.bytes, MAPPED_BYTES) == 0;
        is_loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
        if (!is_mapped)
            id = UUID_NIL;
        memcpy(id.bytes, &v6.sin6_addr, is_mapped ? sizeof id.bytes : PREFIX_BYTES);
    } else {
        return false;
    }
    bool is_v4 = id.bytes[10] == 0xff;
    *out_is_loopback = is_v4 ? id.bytes[MAPPED_BYTES] == 127 : is_loopback;
    *out_id = id;
    return true;
}
