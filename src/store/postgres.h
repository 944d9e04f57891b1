/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PostgreSQL engine. Private to src/store. Each store thread owns one connection, in pipeline
 * mode: a statement whose rows nobody waits for is sent and forgotten, and its error, should there
 * be one, is found with the results that follow.
 *
 *   postgres.c          statements: sent, awaited, read; SQLSTATEs made into errors
 *   postgres_connect.c  what to connect to and how; settings; reconnecting
 *   postgres_migrate.c  the schema
 *   postgres_writer.c   lanes of writers, batches, what runs again
 *   postgres_reader.c   readers, and those of the replica
 *   postgres_pulse.c    notifications, the database's clock, the replica's lag
 *   postgres_open.c     opening and closing
 *
 * A batch of jobs is one transaction without savepoints (a subtransaction for each would cost an
 * xid each, and more than 64 slow down every snapshot of the server). When something in it fails,
 * all of it is undone; the culprit is set aside and the others run again, then it runs alone.
 *
 * Only the first job of a batch may wait for a lock, as it holds none yet; the others are put off
 * when a row is taken. So batches of several nodes cannot wait for each other in a circle.
 *
 * Every connection works behind a pooler that gives it another server session a transaction
 * (PgBouncer): settings are then made in each transaction, statements are sent with their text, and
 * there are no notifications.
 */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include <libpq-fe.h>

#include "store/engine.h"
#include "store/job_queue.h"

/* Where one inspects, and a statement may read a whole table: only a lost connection ends it. */
#define POSTGRES_INSPECTION_TIMEOUT_US (24 * INT64_C(3600000000))

enum {
    POSTGRES_MIN_VERSION = 130000,
    POSTGRES_BATCH_MAX_JOBS = 128,
    POSTGRES_MAX_PARAMS = 64,
    POSTGRES_NAME_MAX_BYTES = 63, /* of a schema */
    POSTGRES_MAX_ONCE = 8,
    POSTGRES_MAX_ATTEMPTS = 8, /* of a job that meets others' work */
    POSTGRES_STATEMENT_TIMEOUT_MS = 10 * 1000,
    POSTGRES_LOCK_TIMEOUT_MS = 250,
    POSTGRES_IDLE_TIMEOUT_MS = 5 * 1000, /* inside a transaction: a stopped node's locks end */
    POSTGRES_ANSWER_TIMEOUT_US = 12 * 1000 * 1000, /* then the connection is given up */
    POSTGRES_ANSWER_MAX_US = 60 * 1000 * 1000,     /* the same, though something of it came */
    POSTGRES_JOB_DEADLINE_US = 10 * 1000 * 1000,   /* to begin, or to begin again */
    POSTGRES_BACKOFF_MAX_US = 2 * 1000 * 1000,
    POSTGRES_PULSE_MS = 1000,
    POSTGRES_PULSE_MAX_AGE_US = 2500 * 1000, /* then the database counts as away */
    POSTGRES_POOLED_WAIT_MS = 50,
    POSTGRES_LAG_SAMPLES = 10, /* a replica further behind than so many pulses is not asked */
};

/* Where a connection leads to: the parameters, as libpq wants them. */
struct pg_target {
    const char **keywords;
    const char **values;
    PQconninfoOption *parsed; /* what the URL says */
    PQconninfoOption *used;   /* and what libpq makes of it */
    bool replica;
};

/* A statement that was sent and has not been answered. */
struct pg_sent {
    struct pg_query *query; /* who waits for it; NULL for nobody */
    struct store_job *job;  /* who sent it */
    const char *name;       /* for the log */
    bool *prepared;         /* what it makes true, when it is to prepare */
    bool writes;
    bool is_commit;
    bool is_sync;
};

/* One run of a statement: the handle of a struct query. */
struct pg_query {
    struct pg_query *next; /* among the free ones, or among those in use */
    struct pg_query **link;
    const char *values[POSTGRES_MAX_PARAMS];
    int lengths[POSTGRES_MAX_PARAMS];
    unsigned char bytes[POSTGRES_MAX_PARAMS][16]; /* numbers and ids, in network order */
    PGresult *result;
    int row;
    bool is_sent;
    bool is_answered;
};

struct pg_connection {
    struct pg_store *store;
    const struct pg_target *target;
    PGconn *conn;   /* NULL while there is none */
    bool pooled;    /* a pooler gives it another session each transaction */
    bool *prepared; /* by sql_statement.index */
    bool was_connected;
    size_t host;         /* of the target's hosts, the one that was good */
    size_t address;      /* and of its addresses */
    int64_t patience_us; /* for an answer */
    int64_t retry_at_us;
    int64_t backoff_us;

    /* What was sent, oldest first: a ring that grows. */
    struct pg_sent *sent;
    size_t sent_first, sent_count, sent_cap;
    struct pg_query *free_queries;
    struct pg_query *used_queries;

    /* The transaction. */
    struct store_job *job; /* that runs */
    bool wrote;            /* the job has */
    bool again;            /* the job asked to run again */
    bool notify;
    char tenant[UUID_TEXT_LEN + 1]; /* whose rows the job wants: an id, "*" for all, or nobody's */
    char tenant_set[UUID_TEXT_LEN + 1]; /* whose the server shows */
    const struct sql_statement *once[POSTGRES_MAX_ONCE];
    size_t n_once;

    /* The first failure since the transaction began. */
    bool lost;      /* the connection is gone */
    bool unknown;   /* and COMMIT had been sent */
    bool spoilt;    /* it must not be used again */
    bool committed; /* the server has said so: nothing that follows changes it */
    bool blocked;   /* a lock was not to be had in time */
    enum error error;
    struct store_job *culprit;
};

struct pg_lane {
    struct job_queue queue;
    struct pg_connection connection;
    pthread_t thread;
};

struct pg_readers {
    struct job_queue queue;
    struct pg_connection *connections;
    pthread_t *threads;
    unsigned count; /* that were started */
};

/* Where the primary's log was at the newest pulses. */
struct pg_samples {
    int64_t lsn[POSTGRES_LAG_SAMPLES];
    unsigned next;
    bool has_time;
    int64_t clock_read_us;
};

struct pg_store {
    struct store base;
    struct pg_target primary;
    struct pg_target replica;
    char *schema;
    char *channel;
    int files_fd; /* the directory of content; -1: it is in the database */
    char node[UUID_TEXT_LEN + 1];
    struct pg_lane *lanes;
    unsigned n_lanes; /* that were started */
    struct pg_readers reads;
    struct pg_readers ahead; /* one, for the tail */
    struct pg_readers stale; /* count 0: no replica */
    atomic_uint next_lane;
    atomic_bool draining; /* the database is not waited for any more */
    atomic_bool closing;

    /* postgres_pulse.c */
    struct pg_connection pulse;
    pthread_t pulse_thread;
    int pulse_fd; /* an eventfd that wakes the thread */
    atomic_bool must_notify;
    struct pg_samples samples; /* the first */
    bool cannot_end;           /* other sessions: the role may not */
    pthread_mutex_t change_mutex;
    pthread_cond_t change_cond;
    uint64_t n_changes;
    uint64_t n_changes_seen;
    atomic_llong lease_offset_us; /* add to steady time */
    atomic_llong old_lsn;         /* where the primary's log was some pulses ago */
    atomic_bool is_pooled;
    atomic_bool is_connected;
    atomic_llong pulse_at_us; /* when the database last answered */

    atomic_ullong n_commits, n_writes, n_reads, n_rollbacks, commit_us, n_retries, n_reconnects;
};

extern const struct engine_ops postgres_ops;

/* Statements of the engine's own that are worth preparing. */
enum pg_own {
    PG_BEGIN_WRITE,
    PG_BEGIN_READ,
    PG_SET_TENANT,
    PG_LOCK_AT_ONCE, /* or not at all */
    PG_NOTIFY,
    PG_OWN_COUNT
};

/* --- Statements (postgres.c) ---------------------------------------------------------------- */

/* Each returns false once the transaction has failed; the connection's fields say how. */
bool pg_send(struct pg_connection *c, const char *sql);
bool pg_send_text(struct pg_connection *c, const char *sql, const char *param, const char *second);
bool pg_send_own(struct pg_connection *c, enum pg_own which, const char *first, const char *second);
/* COMMIT, and what marks the end of the pipeline. */
bool pg_send_commit(struct pg_connection *c);
/* Reads every answer that is due. */
bool pg_settle(struct pg_connection *c);
/* The same inside a transaction, which goes on. */
bool pg_catch_up(struct pg_connection *c);
/* Asks for one row of numbers, outside of any transaction. */
bool pg_ask(struct pg_connection *c, const char *sql, int64_t *out_numbers, int n);
/* Forgets the last transaction's failure. */
void pg_begin_transaction(struct pg_connection *c);
/* After a failure: ends the transaction, so that the connection can be used again, or drops it. */
void pg_abandon(struct pg_connection *c);
/* The other side has hung up. */
bool pg_is_gone(const struct pg_connection *c);
/* Waits for input, sending what is still to be sent; false when the connection is lost. */
bool pg_wait_input(struct pg_connection *c, int64_t deadline_us);
enum error pg_error_of(const char *sqlstate);
bool pg_is_transient(const char *sqlstate);

/* --- Connections (postgres_connect.c) ------------------------------------------------------- */

MUST_CHECK enum error pg_target_init(
    struct pg_target *t, struct str url, bool replica, const char *option, struct problem *problem);
void pg_target_deinit(struct pg_target *t);

void pg_connection_init(
    struct pg_connection *c, struct pg_store *s, const struct pg_target *target);
void pg_connection_deinit(struct pg_connection *c);
/* The first one; on failure the problem says what to do. */
MUST_CHECK enum error pg_connect(struct pg_connection *c, struct problem *problem);
/* There is a connection, or one could be made by then; waits with a growing pause. */
MUST_CHECK bool pg_ensure(struct pg_connection *c, int64_t deadline_us);
void pg_disconnect(struct pg_connection *c);
/* BEGIN, and the settings that a pooler would lose. */
bool pg_begin(struct pg_connection *c, enum pg_own begin);

/* --- The rest ------------------------------------------------------------------------------- */

MUST_CHECK enum error pg_migrate(struct pg_connection *c, struct problem *problem);
/* 0: there is no schema yet. */
MUST_CHECK enum error pg_schema_version(
    struct pg_connection *c, int64_t *out_version, struct problem *problem);
/* Whether the role may do what a server must; the problem says what it lacks. */
MUST_CHECK enum error pg_check_rights(struct pg_connection *c, struct problem *problem);

MUST_CHECK enum error pg_lane_start(
    struct pg_lane *lane, struct pg_store *s, struct problem *problem);
void pg_lane_stop(struct pg_lane *lane);

/* On failure some may have been started: they are stopped as ever. */
MUST_CHECK enum error pg_readers_start(struct pg_readers *r, struct pg_store *s,
    const struct pg_target *target, unsigned count, struct problem *problem);
/* Also those that were never started. */
void pg_readers_stop(struct pg_readers *r);

MUST_CHECK enum error pg_pulse_start(struct pg_store *s, struct problem *problem);
void pg_pulse_stop(struct pg_store *s);
/* Somebody may have committed something. */
void pg_changed(struct pg_store *s);
/* We have: others are told too. */
void pg_committed(struct pg_store *s);
void pg_drain(struct store *store);
void pg_wait(struct store *store, uint32_t timeout_ms);
void pg_wake(struct store *store);

void pg_submit(struct store *store, struct store_job *job);
struct store_stats pg_stats(const struct store *store);
void pg_close(struct store *store);

#endif
