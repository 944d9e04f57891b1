/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Cairn in this process: the store, its API, and the background threads. The server adds a
 * listener; the public functions (lib/cairn.c) call it directly.
 *
 *   instance_open → … → instance_stop → instance_close → instance_deinit
 *
 * Between the last two only `api` remains, for calls that are not yet released; instance_close
 * completes running jobs. Not thread-safe itself.
 */
#ifndef LIB_INSTANCE_H
#define LIB_INSTANCE_H

#include <stdatomic.h>

#include "api/http/call.h"

struct instance_config {
    struct str data_dir; /* of SQLite, unless db_url is set */
    struct str db_url; /* PostgreSQL: postgres://… or postgresql://…; may contain a password */
    struct str db_replica_url;
    struct str db_schema;
    struct str files_dir; /* of content, with db_url; STR_NONE: in the database */
    uint64_t upload_max_bytes;
    unsigned db_writers;
    unsigned readers;
    bool may_be_open; /* while the database has no key, every caller owns the default tenant */
    void (*on_fatal)(const char *what); /* see struct store_config */
};

struct instance {
    struct store *store;
    struct api api;
    bool has_key;       /* the database had a key at the start */
    bool is_unprepared; /* the disk was full at the start: model_prepare must still run */
    struct sweeper *sweeper;
    atomic_uint_fast64_t sweeps;
    struct tail_thread *tail; /* NULL: no other process writes */
    int64_t started_us;
};

/* The documented defaults, on SQLite in ./data. */
void instance_config_init(struct instance_config *config);

/* On failure the problem's detail says what to do, and there is nothing to close. */
MUST_CHECK enum error instance_open(
    struct instance *i, const struct instance_config *config, struct problem *problem);
/* The threads start no new work. */
void instance_stop(struct instance *i);
/* Long work of calls that changes nothing ends soon with an error: exports, and the verification of
 * uploads. */
void instance_cancel(struct instance *i);
/* Joins the threads and closes the store. */
void instance_close(struct instance *i);
void instance_deinit(struct instance *i);

#endif
