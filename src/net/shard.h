/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside net: the server and its shards. A shard is the part of the server on one loop: its own
 * listening socket, its connections, and the memory that they share. Only the loop's thread uses a
 * shard, except for the counters, which any thread may read.
 */
#ifndef NET_SHARD_H
#define NET_SHARD_H

#include <stdatomic.h>

#include "net/deadlines.h"
#include "net/server.h"
#include "net/shares.h"
#include "net/ws_frames.h"

struct conn;
struct tls;

enum {
    DATE_LEN = 29,
    READ_BYTES = 64 * 1024,    /* of a body in one read; the size of a shard's read buffer */
    READ_HEAD_BYTES = 16384,   /* of heads in one read; no TLS record is larger */
    READ_AHEAD_BYTES = 16384,  /* of unprocessed input at which reading stops */
    DISCARD_BYTES = 64 * 1024, /* of an unwanted body that is read to keep the connection */
    REPLY_HEAD_BYTES = 1 << 20,
    LINGER_MS = 2000, /* for a refused client to read the answer */
    END_MS = 5000,    /* for a subscriber to read the last bytes */
    REFUSED_CONNECTIONS =
        64,              /* above a maximum that receive an answer; further ones are only closed */
    ADDRESS_DIVISOR = 4, /* of collected_max_bytes, for one address */
};

/* Written only by the shard's loop, read by any thread. */
struct shard_counters {
    _Atomic uint64_t connections;
    _Atomic uint64_t requests;
    _Atomic uint64_t refused;
    _Atomic uint64_t bytes_in;
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t shed;
    _Atomic uint64_t excess;
};

static inline void count_up(_Atomic uint64_t *counter, uint64_t by)
{
    uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, old + by, memory_order_relaxed);
}

struct shard {
    struct http_server *server;
    struct loop *loop;
    int listen_fd;
    uv_poll_t listener;
    uv_timer_t accept_again; /* after the process ran out of descriptors */
    uv_timer_t tick;         /* runs while any deadline is set */
    uv_prepare_t flush;      /* sends the output of this turn of the loop */
    uv_idle_t more;          /* keeps the loop from sleeping while connections are dirty */
    struct deadlines deadlines;
    struct conn *conns;
    struct conn *dirty; /* connections with output to flush; each is referenced */
    struct http_exchange *spare;
    struct ws_reader *spare_reader;
    char *read_buffer;
    struct buf reply_head;
    char date[DATE_LEN];
    int64_t date_s;
    bool draining;
    struct loop_task drain_task;
    struct loop_task cut_task;
    struct shard_counters counters;
};

struct http_server {
    struct http_server_config config; /* without its strings */
    struct http_app app;
    struct tls *tls; /* NULL: plain */
    struct shard *shards;
    size_t n_shards;
    uint16_t port;
    bool started;
    bool drained;
    uv_mutex_t mutex; /* guards `open` and `draining` */
    uv_cond_t changed;
    _Atomic size_t collected; /* bytes of bodies in memory */
    struct shares addresses;
    struct shares owners; /* of bodies */
    size_t open;          /* connections */
    size_t draining;      /* shards that have stopped listening */
};

/* Counts a connection; returns the number of open ones with it. */
size_t server_add_open(struct http_server *s);
void server_remove_open(struct http_server *s);

static inline uint64_t shard_now_ms(struct shard *shard)
{
    return loop_now_ms(shard->loop);
}

/* --- shard_listen.c -----------------------------------------------------------------------------
 */
void shard_listen(struct shard *shard);
void shard_stop_listening(struct shard *shard);

/* --- shard.c -------------------------------------------------------------------------------- */
void shard_init(struct shard *shard, struct http_server *server, int listen_fd);
/* While the loop's thread does not run; also frees the loop. */
void shard_deinit(struct shard *shard);
void shard_set_deadline(struct shard *shard, struct deadline *d, uint64_t at_ms);

#endif
