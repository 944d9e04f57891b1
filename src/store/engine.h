/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of an engine, and the parts of the store that both engines share. Private to
 * src/store. The implementations are sqlite.c and postgres.c.
 */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include "store/store.h"

struct engine_ops {
    void (*close)(struct store *store);
    void (*submit)(struct store *store, struct store_job *job);
    struct store_stats (*stats)(const struct store *store);
    /* Nothing may be acknowledged any more: calls config.on_fatal. */
    void (*give_up)(struct store *store, const char *why);

    /* Prepares a statement for binding: sets the handle, or NULL and the query's error. */
    void (*begin)(struct query *q);
    void (*bind_text)(struct query *q, unsigned param, struct str value);
    void (*bind_bytes)(struct query *q, unsigned param, struct str value);
    void (*bind_i64)(struct query *q, unsigned param, int64_t value);
    void (*send)(struct query *q); /* NULL: rows cost no round trip */
    bool (*next)(struct query *q);
    /* For a statement whose rows and count the caller does not need; it may be executed later. */
    void (*run)(struct query *q);
    void (*end)(struct query *q);
    int64_t (*changed)(struct query *q);
    bool (*is_null)(struct query *q, unsigned column);
    struct str (*get_text)(struct query *q, unsigned column);
    struct str (*get_bytes)(struct query *q, unsigned column);
    int64_t (*get_i64)(struct query *q, unsigned column);

    /* See tx_extend. NULL: the engine limits statements, not jobs. */
    void (*extend)(struct tx *tx);

    enum error (*sequence_take)(
        struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first);
    /* NULL: the engine caches nothing. */
    void (*sequence_drop)(struct tx *tx, const struct sequence *sequence);
    void (*sequence_settle)(struct tx *tx); /* NULL likewise */

    /* NULL: the engine has one writer. */
    const struct shared_ops *shared;
};

/* Operations of an engine with several writing processes; store.h describes each. */
struct shared_ops {
    void (*drain)(struct store *store);
    void (*wait)(struct store *store, uint32_t timeout_ms);
    void (*wake)(struct store *store);
    void (*notify)(struct tx *tx);
    enum error (*run_again)(struct tx *tx);
    void (*refresh)(struct tx *tx);
    void (*once)(struct tx *tx, const struct sql_statement *statement);
    void (*enter)(struct tx *tx, const struct uuid *tenant_id); /* NULL: every tenant */
    int64_t (*lease_now_us)(const struct tx *tx);
};

/* There are more readers than are configured: the configured number is the share of one flow, so
 * that no tenant can occupy them all. */
enum { STORE_SPARE_READERS = 1 };

/* The first member of each engine's store. */
struct store {
    const struct engine_ops *ops;
    struct store_config config;
    struct hub *hub;
    struct content *content;
    atomic_bool is_full; /* this and the next: see store_stats */
    atomic_ullong n_damaged;
    pthread_mutex_t settled_mutex; /* see tx_settled */
    int64_t settled;
    int64_t era;
};

struct tx {
    struct store *store;
    void *connection;
    bool writes;
    bool rehearses; /* see tx_rehearse */
    void *memo;
    struct hub_item *published;
    struct hub_item **published_end;
};

/* Call it after a failed fsync; returns the error to return. */
enum error store_break(struct store *store, const char *why);

/* Calls run and finish. */
MUST_CHECK enum error job_run_whole(struct store_job *job, struct tx *tx);

void tx_init(struct tx *tx, struct store *store, void *connection, bool writes);
/* Drops the items published from `from` on, after a job failed. */
void tx_unpublish_from(struct tx *tx, struct hub_item **from);

MUST_CHECK enum error postgres_store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store);
void sqlite_own_process(void);
MUST_CHECK enum error sqlite_store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store);

#endif
