/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Cairn in this process: the store, the API on it, and the threads that work without anybody
 * asking. The server puts a listener in front of it; the public functions (lib/cairn.c) call it
 * directly.
 *
 *   instance_open → … → instance_stop → instance_close → instance_deinit
 *
 * Between the last two nothing but `api` is left, for who still holds a call; jobs that run at
 * instance_close are finished. Not thread-safe itself.
 */
#ifndef LIB_INSTANCE_H
#define LIB_INSTANCE_H

#include "api/http/call.h"

struct instance_config {
    struct str data_dir; /* SQLite's, unless there is a db_url */
    struct str db_url; /* PostgreSQL: postgres://… or postgresql://…; it may hold a password */
    struct str db_replica_url;
    struct str db_schema;
    struct str files_dir; /* of content, with a db_url; STR_NONE: in the database */
    uint64_t upload_max_bytes;
    unsigned db_writers;
    unsigned readers;
    bool may_be_open; /* without any key in the database, who calls owns the default tenant */
    void (*on_fatal)(const char *what); /* see struct store_config */
};

struct instance {
    struct store *store;
    struct api api;
    bool has_key;       /* at the start there was one in the database */
    bool is_unprepared; /* at the start the disk was full: model_prepare is still to be done */
    struct sweeper *sweeper;
    struct tail_thread *tail; /* NULL where nobody else writes */
    int64_t started_us;
};

/* The documented defaults, on SQLite in ./data. */
void instance_config_init(struct instance_config *config);

/* On failure the problem's detail says what to do about it, and nothing is left to close. */
MUST_CHECK enum error instance_open(
    struct instance *i, const struct instance_config *config, struct problem *problem);
/* The threads begin nothing more. */
void instance_stop(struct instance *i);
/* Ends them and closes the store. */
void instance_close(struct instance *i);
void instance_deinit(struct instance *i);

#endif
