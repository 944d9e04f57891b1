/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PostgreSQL engine. Private to src/store. Each store thread owns one connection in pipeline
 * mode: a statement whose rows no caller needs is sent without waiting, and its error, if any, is
 * reported with the results that follow.
 *
 *   postgres.c          sending statements, reading results, mapping SQLSTATEs to errors
 *   postgres_connect.c  connection parameters, session settings, reconnecting
 *   postgres_migrate.c  the schema
 *   postgres_writer.c   writer lanes, batches, retries
 *   postgres_reader.c   readers of the primary and of the replica
 *   postgres_pulse.c    notifications, the database's clock, the replica's lag
 *   postgres_open.c     opening and closing
 *
 * A batch of jobs is one transaction without savepoints: a subtransaction per job would cost an xid
 * each, and more than 64 of them slow down every snapshot on the server. When a statement fails,
 * the whole batch is rolled back. The job that failed is set aside, the other jobs run again, and
 * then the failed job runs alone.
 *
 * Only the first job of a batch may wait for a lock, because it holds none yet. Any other job that
 * meets a locked row is postponed. So batches of several nodes cannot deadlock.
 *
 * Every connection also works behind a transaction pooler such as PgBouncer, which may use another
 * server session for each transaction. Settings are then made in each transaction, statements are
 * sent with their text, and there are no notifications.
 */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include <libpq-fe.h>

#include "store/engine.h"
#include "store/job_queue.h"

/* For inspections, whose statements may read a whole table: only a lost connection ends them. */
#define POSTGRES_INSPECTION_TIMEOUT_US (24 * INT64_C(3600000000))

enum {
    POSTGRES_MIN_VERSION = 130000,
    POSTGRES_BATCH_MAX_JOBS = 128,
    POSTGRES_MAX_PARAMS = 64,
    POSTGRES_NAME_MAX_BYTES = 63, /* of a schema name */
    POSTGRES_MAX_ONCE = 8,
    POSTGRES_MAX_ATTEMPTS = 8, /* of a job that conflicts with other jobs */
    POSTGRES_STATEMENT_TIMEOUT_MS = 10 * 1000,
    POSTGRES_LOCK_TIMEOUT_MS = 250,
    POSTGRES_IDLE_TIMEOUT_MS =
        5 * 1000, /* in a transaction: releases the locks of a stopped node */
    /* The same for a READ_LONG job, which holds no lock and may wait for its disk. */
    POSTGRES_LONG_IDLE_TIMEOUT_MS = 60 * 1000,
    POSTGRES_ANSWER_TIMEOUT_US = 12 * 1000 * 1000, /* then the connection is dropped */
    POSTGRES_ANSWER_MAX_US = 60 * 1000 * 1000,     /* the same, if part of the answer arrived */
    POSTGRES_JOB_DEADLINE_US = 10 * 1000 * 1000,   /* to begin, or to run again */
    POSTGRES_BACKOFF_MAX_US = 2 * 1000 * 1000,
    POSTGRES_PULSE_MS = 1000,
    POSTGRES_PULSE_MAX_AGE_US = 2500 * 1000, /* then the database counts as unreachable */
    POSTGRES_POOLED_WAIT_MS = 50,
    POSTGRES_LAG_SAMPLES = 10, /* a replica that lags by more pulses is not used */
};

/* The target of a connection: parameters in libpq's form. */
struct pg_target {
    const char **keywords;
    const char **values;
    PQconninfoOption *parsed; /* from the URL */
    PQconninfoOption *used;   /* with libpq's defaults */
    bool replica;
};

/* A sent statement whose result has not been read. */
struct pg_sent {
    struct pg_query *query; /* that waits for the result; NULL: none */
    struct store_job *job;  /* that sent the statement */
    /* The jobs that pay for the time until this result, from the first one to the last one of a
     * list; NULL: those of a later result. */
    struct store_job *first_payer, *last_payer;
    const char *name; /* for the log */
    bool *prepared;   /* set to true when a PREPARE succeeds */
    bool writes;
    bool is_commit;
    bool is_sync;
};

/* One execution of a statement: the handle of a struct query. */
struct pg_query {
    struct pg_query *next; /* in the free list or in the used list */
    struct pg_query **link;
    const char *values[POSTGRES_MAX_PARAMS];
    int lengths[POSTGRES_MAX_PARAMS];
    unsigned char bytes[POSTGRES_MAX_PARAMS][16]; /* numbers and ids in network byte order */
    PGresult *result;
    int row;
    bool is_sent;
    bool is_answered;
};

struct pg_connection {
    struct pg_store *store;
    const struct pg_target *target;
    PGconn *conn;   /* NULL: not connected */
    bool pooled;    /* behind a transaction pooler */
    bool is_long;   /* for READ_LONG jobs */
    bool *prepared; /* by sql_statement.index */
    bool was_connected;
    size_t host;         /* index of the host that last worked */
    size_t address;      /* and of its address */
    int64_t patience_us; /* how long to wait for an answer */
    int64_t retry_at_us;
    int64_t backoff_us;

    /* Sent statements without a result, oldest first: a growing ring buffer. */
    struct pg_sent *sent;
    size_t sent_first, sent_count, sent_cap;
    struct pg_query *free_queries;
    struct pg_query *used_queries;

    /* The transaction. */
    struct store_job *job; /* that is running */
    int64_t waited_us;     /* for results that no job has paid for */
    int64_t others_us;     /* for how long the job waited for results that others paid for */
    bool wrote;            /* the job has executed a write */
    bool again;            /* the job requested to run again */
    bool notify;
    char
        tenant[UUID_TEXT_LEN + 1]; /* whose rows the job may see: an id, "*" for all, "" for none */
    char tenant_set[UUID_TEXT_LEN + 1]; /* the value that the server has */
    const struct sql_statement *once[POSTGRES_MAX_ONCE];
    size_t n_once;

    /* The first failure of the transaction. */
    bool lost;      /* the connection was lost */
    bool unknown;   /* and COMMIT had been sent */
    bool spoilt;    /* the connection must not be used again */
    bool committed; /* the server has confirmed: later failures do not matter */
    bool blocked;   /* a lock was not available in time */
    enum error error;
    struct store_job *culprit;
};

struct pg_lane {
    struct job_queue queue;
    struct pg_connection connection;
    pthread_t thread;
    /* The flow of the running job, and when its batch began (0: idle): other flows use another lane
     * while a batch takes long. */
    atomic_ullong flow;
    atomic_llong busy_since_us;
};

/* The average time of the jobs of a flow, for all lanes. Flows may share a slot. */
enum { POSTGRES_FLOW_SLOTS = 1024 };

struct pg_readers {
    struct job_queue queue;
    struct pg_connection *connections;
    pthread_t *threads;
    unsigned count; /* of running readers */
    bool is_long;   /* for READ_LONG jobs: connected only while a job runs */
};

/* Positions of the primary's log at the newest pulses. */
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
    int files_fd; /* the directory of content; -1: content is in the database */
    char node[UUID_TEXT_LEN + 1];
    struct pg_lane *lanes;
    unsigned n_lanes; /* of running lanes */
    struct pg_readers reads;
    struct pg_readers ahead; /* one reader, for the tail */
    struct pg_readers stale; /* readers of the replica; count 0: no replica */
    struct pg_readers long_reads;
    atomic_uint next_lane;
    atomic_llong flow_us[POSTGRES_FLOW_SLOTS];
    atomic_bool draining; /* jobs no longer wait for an unreachable database */
    atomic_bool closing;

    /* postgres_pulse.c */
    struct pg_connection pulse;
    pthread_t pulse_thread;
    int pulse_fd; /* eventfd that wakes the thread */
    atomic_bool must_notify;
    struct pg_samples samples; /* of the pulse thread */
    bool cannot_end;           /* the role may not end other sessions */
    pthread_mutex_t change_mutex;
    pthread_cond_t change_cond;
    uint64_t n_changes;
    uint64_t n_changes_seen;
    atomic_llong lease_offset_us; /* lease time minus steady time */
    atomic_llong old_lsn;         /* position of the primary's log some pulses ago */
    atomic_bool is_pooled;
    atomic_bool is_connected;
    atomic_llong pulse_at_us; /* time of the database's last answer */

    atomic_ullong n_commits, n_writes, n_reads, n_rollbacks, commit_us, n_retries, n_reconnects;
};

extern const struct engine_ops postgres_ops;

/* The engine's own statements that are prepared. */
enum pg_own {
    PG_BEGIN_WRITE,
    PG_BEGIN_READ,
    PG_SET_TENANT,
    PG_LOCK_AT_ONCE, /* fails instead of waiting */
    PG_NOTIFY,
    PG_OWN_COUNT
};

/* --- Statements (postgres.c) ---------------------------------------------------------------- */

/* Each returns false if the transaction has failed; the connection's fields contain the reason. */
bool pg_send(struct pg_connection *c, const char *sql);
bool pg_send_text(struct pg_connection *c, const char *sql, const char *param, const char *second);
bool pg_send_own(struct pg_connection *c, enum pg_own which, const char *first, const char *second);
/* Sends COMMIT and the end of the pipeline. */
bool pg_send_commit(struct pg_connection *c);
/* Makes a part of the batch pay for all statements that were sent since the last call. The server
 * reports their end at once. */
void pg_end_share(struct pg_connection *c, struct store_job *first, struct store_job *last);
/* Reads all outstanding results. */
bool pg_settle(struct pg_connection *c);
/* The same inside a transaction, which continues. */
bool pg_catch_up(struct pg_connection *c);
/* Reads one row of numbers, outside a transaction. */
bool pg_ask(struct pg_connection *c, const char *sql, int64_t *out_numbers, int n);
/* Resets the failure of the previous transaction. */
void pg_begin_transaction(struct pg_connection *c);
/* After a failure: ends the transaction, so that the connection can be used again, or drops the
 * connection. */
void pg_abandon(struct pg_connection *c);
/* Returns true if the server has closed the connection. */
bool pg_is_gone(const struct pg_connection *c);
/* Returns true if the statement succeeded, with or without rows. */
bool pg_has_succeeded(const PGresult *result);
/* For CLEANUP(). */
void pg_clearp(PGresult **result);

/* --- Connections (postgres_connect.c) ------------------------------------------------------- */

MUST_CHECK enum error pg_target_init(
    struct pg_target *t, struct str url, bool replica, const char *option, struct problem *problem);
void pg_target_deinit(struct pg_target *t);

void pg_connection_init(
    struct pg_connection *c, struct pg_store *s, const struct pg_target *target);
void pg_connection_deinit(struct pg_connection *c);
/* Makes the first connection. On failure the problem says what to do. */
MUST_CHECK enum error pg_connect(struct pg_connection *c, struct problem *problem);
/* Returns true if there is a connection, or one could be made before the deadline. Retries with a
 * growing pause. */
MUST_CHECK bool pg_ensure(struct pg_connection *c, int64_t deadline_us);
void pg_disconnect(struct pg_connection *c);
/* Sends BEGIN, and the settings that a pooler does not keep. */
bool pg_begin(struct pg_connection *c, enum pg_own begin);

/* --- The rest ------------------------------------------------------------------------------- */

MUST_CHECK enum error pg_migrate(struct pg_connection *c, struct problem *problem);
/* Returns version 0 if there is no schema. */
MUST_CHECK enum error pg_schema_version(
    struct pg_connection *c, int64_t *out_version, struct problem *problem);
/* Checks that the role has the rights that a server needs; the problem lists the missing ones. */
MUST_CHECK enum error pg_check_rights(struct pg_connection *c, struct problem *problem);

MUST_CHECK enum error pg_lane_start(
    struct pg_lane *lane, struct pg_store *s, struct problem *problem);
void pg_lane_stop(struct pg_lane *lane);

/* A flow may use `share` of the readers at a time; 0: all. After a failure some readers may be
 * running; pg_readers_stop stops them. */
MUST_CHECK enum error pg_readers_start(struct pg_readers *r, struct pg_store *s,
    const struct pg_target *target, unsigned count, unsigned share, struct problem *problem);
/* Accepts readers that were never started. */
void pg_readers_stop(struct pg_readers *r);

MUST_CHECK enum error pg_pulse_start(struct pg_store *s, struct problem *problem);
void pg_pulse_stop(struct pg_store *s);
/* Any node may have committed: wakes the tail. */
void pg_changed(struct pg_store *s);
/* This node has committed: notifies the other nodes, too. */
void pg_committed(struct pg_store *s);
void pg_drain(struct store *store);
void pg_wait(struct store *store, uint32_t timeout_ms);
void pg_wake(struct store *store);

void pg_submit(struct store *store, struct store_job *job);
struct store_stats pg_stats(const struct store *store);
void pg_close(struct store *store);

#endif
