/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside net: the use of resources that all clients share, by client. A share counts the open
 * connections and the bytes of bodies in memory of one address, or of one owner that the
 * application names. It exists while it is referenced. Any thread may use it.
 */
#ifndef NET_SHARES_H
#define NET_SHARES_H

#include <stdatomic.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/uuid.h"

struct share {
    struct share *next; /* in its bucket */
    struct uuid id;
    size_t refs; /* under the mutex */
    _Atomic size_t connections;
    _Atomic size_t bytes;
};

struct shares {
    uv_mutex_t mutex;
    struct share **buckets;
    size_t n_buckets; /* a power of two */
    size_t count;
};

void shares_init(struct shares *s);
void shares_deinit(struct shares *s); /* every share has been released */
/* Returns the share of this id with a reference for the caller. */
struct share *shares_take(struct shares *s, struct uuid id);
void shares_release(struct shares *s, struct share *share); /* accepts NULL */

/* Adds to a count, unless it would exceed `max`. */
MUST_CHECK bool share_add(_Atomic size_t *count, size_t more, size_t max);
static inline void share_remove(_Atomic size_t *count, size_t less)
{
    atomic_fetch_sub_explicit(count, less, memory_order_relaxed);
}

/* Returns the id that all clients of the address share: an IPv4 address, also if it is written as
 * an IPv6 address, or the first 64 bits of an IPv6 address, because one host may use all of them.
 * Returns false if the family has no addresses (AF_UNIX). */
MUST_CHECK bool share_id_of_address(
    const struct sockaddr *address, struct uuid *out_id, bool *out_is_loopback);

#endif
