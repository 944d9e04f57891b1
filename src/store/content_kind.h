/* SPDX-License-Identifier: Apache-2.0 */
/* What a place for content must offer; there are two: content_dir.c, content_postgres.c. Private to
 * src/store. */
#ifndef STORE_CONTENT_KIND_H
#define STORE_CONTENT_KIND_H

#include "base/buf.h"
#include "store/content.h"
#include "store/engine.h"

enum { CONTENT_MAX_THREADS = 4, CONTENT_MAX_LONG = 2 };

struct content_broom;

struct content_writer {
    struct content_writer *prev, *next; /* among those under way */
    struct content *content;
    struct uuid tenant_id;
    struct uuid id;
    uint64_t size_bytes;
    struct sha256_state *hash;
    struct uuid sealed_id; /* its other name; nil: none */
    /* The directory's: */
    int fd;
    uint64_t flushed_bytes; /* of which the disk has been told to begin */
    /* PostgreSQL's: what does not fill a chunk yet. */
    struct buf partial;
    int64_t n_chunks; /* that are full and written */
};

struct content_reader {
    struct content *content;
    struct uuid tenant_id;
    struct uuid id;
    const struct content_kind *kind;
    uint64_t size_bytes;
    int fd;
};

struct content_kind {
    enum error (*create)(struct content_writer *w);
    enum error (*reopen)(struct content_writer *w); /* size_bytes says where */
    enum error (*append)(struct content_writer *w, struct str bytes);
    enum error (*sync)(struct content_writer *w);
    enum error (*seal)(struct content_writer *w); /* gives it its other name too */
    void (*end)(struct content_writer *w);
    /* At once: nobody reads it. */
    enum error (*erase)(struct content *c, struct uuid tenant_id, struct uuid id);
    /* Somebody may read it. */
    enum error (*remove)(struct content *c, struct uuid tenant_id, struct uuid id);
    enum error (*open)(struct content_reader *r);
    enum error (*read)(
        struct content_reader *r, uint64_t offset, char *place, size_t room, size_t *out_size);
    void (*close)(struct content_reader *r);
    enum error (*sweep)(struct content *c, struct content_broom *broom);
};

extern const struct content_kind content_dir;
extern const struct content_kind content_postgres;
/* See content_spool: beside the other content, or where files go that nobody keeps. */
int content_dir_spool(struct content *c);

struct content_broom {
    enum error (*is_known)(void *data, struct uuid tenant_id, struct uuid id, bool *out_known);
    void *data;
    uint64_t removed;
};
/* Removes it if it is a leftover. */
MUST_CHECK enum error content_sweep_one(
    struct content *c, struct content_broom *broom, struct uuid tenant_id, struct uuid id);
bool content_is_closing(struct content *c);

/* To be removed when nobody has the hold any more. */
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
    unsigned n_long; /* that are running */
    pthread_t threads[CONTENT_MAX_THREADS];
    unsigned n_staging; /* see content_stage_begin */
    unsigned n_threads;
    unsigned n_idle;
    bool is_closing;
    struct uuid first_id; /* what this process writes has greater ones */
    /* The directory: */
    int parent_fd; /* borrowed, or -1 */
    struct content_held *held;
    int root_fd; /* -1: not made yet */
    bool is_shared;
};

/* By the engine, when it opens and closes. `parent_fd` (borrowed) is where the directory `blobs`
 * belongs; -1: content is in the database. */
struct content *content_setup(struct store *store, int parent_fd, bool is_shared);
/* Finishes every task; the store must still take jobs. */
void content_stop(struct content *c);
/* Accepts NULL. */
void content_teardown(struct content *c);

#endif
