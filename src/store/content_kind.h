/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of a place for content, with two implementations: content_dir.c and
 * content_postgres.c. Private to src/store. */
#ifndef STORE_CONTENT_KIND_H
#define STORE_CONTENT_KIND_H

#include "base/buf.h"
#include "store/content.h"
#include "store/engine.h"

enum { CONTENT_MAX_THREADS = 4, CONTENT_MAX_LONG = 2 };

struct content_broom;

struct content_writer {
    struct content_writer *prev, *next; /* in the list of open writers */
    struct content *content;
    struct uuid tenant_id;
    struct uuid id;
    uint64_t size_bytes;
    struct sha256_state *hash;
    struct uuid sealed_id; /* the second id; nil: none */
    /* Directory: */
    int fd;
    uint64_t flushed_bytes; /* whose writing to the disk has been started */
    /* PostgreSQL: bytes that do not fill a chunk yet. */
    struct buf partial;
    int64_t n_chunks; /* full chunks that are written */
};

struct content_reader {
    struct content *content;
    struct uuid tenant_id;
    struct uuid id;
    const struct content_kind *kind;
    uint64_t size_bytes;
    int fd;
    bool is_spool;
    struct content_task closing; /* of a spool */
};

struct content_kind {
    enum error (*create)(struct content_writer *w);
    enum error (*reopen)(struct content_writer *w); /* at size_bytes */
    enum error (*append)(struct content_writer *w, struct str bytes);
    enum error (*sync)(struct content_writer *w);
    enum error (*seal)(struct content_writer *w); /* adds the second id */
    void (*end)(struct content_writer *w);
    /* Removes content that has no reader, at once. */
    enum error (*erase)(struct content *c, struct uuid tenant_id, struct uuid id);
    /* Removes content that may have readers. */
    enum error (*remove)(struct content *c, struct uuid tenant_id, struct uuid id);
    enum error (*open)(struct content_reader *r);
    enum error (*read)(
        struct content_reader *r, uint64_t offset, char *place, size_t room, size_t *out_size);
    void (*close)(struct content_reader *r);
    enum error (*sweep)(struct content *c, struct content_broom *broom);
};

extern const struct content_kind content_dir;
extern const struct content_kind content_postgres;
/* See content_spool. */
int content_dir_spool(struct content *c);

struct content_broom {
    enum error (*is_known)(void *data, struct uuid tenant_id, struct uuid id, bool *out_known);
    void *data;
    uint64_t removed;
};
/* Removes the content if it is a leftover. */
MUST_CHECK enum error content_sweep_one(
    struct content *c, struct content_broom *broom, struct uuid tenant_id, struct uuid id);
bool content_is_closing(struct content *c);

/* Content to remove when no backup holds it any more. */
struct content_held {
    struct content_held *next;
    struct uuid tenant_id;
    struct uuid id;
};

struct content {
    struct store *store;
    const struct content_kind *kind;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct content_writer *under_way;
    struct content_queue {
        struct content_task *first;
        struct content_task **last;
    } queue, long_queue;
    unsigned n_long; /* long tasks that are running */
    pthread_t threads[CONTENT_MAX_THREADS];
    unsigned n_staging; /* see content_stage_begin */
    unsigned n_spools;  /* readers of spooled files, which may outlive the store */
    bool is_torn_down;
    unsigned n_threads;
    unsigned n_idle;
    bool is_closing;
    struct uuid first_id; /* smaller than every id that this process writes */
    /* Directory: */
    int parent_fd; /* borrowed, or -1 */
    struct content_held *held;
    int root_fd; /* -1: not created yet */
    bool is_shared;
};

/* Called by the engine when it opens and closes. `parent_fd` (borrowed) is the directory for
 * `blobs`; -1: content is in the database. */
struct content *content_setup(struct store *store, int parent_fd, bool is_shared);
/* Completes every task; the store must still accept jobs. */
void content_stop(struct content *c);
/* Accepts NULL. */
void content_teardown(struct content *c);

#endif
