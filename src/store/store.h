/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: connections, transactions and the commit queue. Work is submitted as jobs; a job is a
 * function of a transaction. Store threads own the connections and never use a socket.
 *
 *   WRITE  on SQLite the one writer thread takes all queued jobs, runs them in one transaction,
 *          commits once and then completes them; on PostgreSQL several writers do the same, each on
 *          its own connection;
 *   READ   runs on a reader thread at a snapshot, for at most ten seconds;
 *   LONG   the same without a limit for the whole job, on threads of its own: see tx_extend.
 *
 * A job whose `run` returns an error has changed nothing. `done` is called on a store thread after
 * the commit has reached the disk, or after the failure: only then may success be reported. Items
 * published with tx_publish reach the hub between the commit and `done`.
 *
 * A transaction can fail without a fault of the job: another process may write the same rows, or
 * another job of the batch may fail. The transaction is then rolled back and `run` is called again.
 * It must start over each time, whatever it left in memory.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/problem.h"
#include "store/hub.h"
#include "store/query.h"

struct store;

enum store_mode {
    STORE_READ,
    STORE_READ_STALE, /* a replica may answer, and lag behind */
    STORE_READ_AHEAD, /* not queued behind other readers: for the tail */
    STORE_READ_LONG,  /* reads many pages; occupies no other reader */
    STORE_WRITE,
};

/* The READ_LONG jobs that run at the same time. */
enum { STORE_LONG_READERS = 2 };

/* How a WRITE job is treated while the disk is full (SQLite only). */
enum store_on_full {
    STORE_ON_FULL_REFUSED,
    STORE_ON_FULL_KEEPS, /* writes little: runs while the reserve lasts */
    STORE_ON_FULL_FREES, /* frees space: runs from the last of the reserve */
};

struct store_job {
    struct store_job *next;
    enum store_mode mode;
    enum store_on_full on_full;
    /* Jobs with the same affinity change the same rows and would block each other; 0: unknown. */
    uint64_t affinity;
    /* The store divides its time equally between flows that have jobs: usually a hash of the
     * tenant's id; 0: Cairn's own work. */
    uint64_t flow;
    enum error (*run)(struct store_job *job, struct tx *tx);
    /* Called after a successful run, in the same transaction, when its statements have been
     * executed: for a job that needs the rows of a statement that it only sent (query_send). NULL:
     * none. */
    enum error (*finish)(struct store_job *job, struct tx *tx);
    void (*done)(struct store_job *job, enum error result);
    /* Private to the store, between submit and done. */
    enum error result;
    bool has_changed;
    unsigned attempts;
    int64_t deadline_us;
    struct flow *queued_in; /* see job_queue.h */
    int64_t charged_us;
    int64_t used_us;
};

struct store_config {
    enum store_engine engine;
    struct str data_dir; /* SQLite */
    struct str url;      /* this and the following, PostgreSQL: a URL for libpq */
    struct str replica_url;
    struct str schema;
    /* PostgreSQL: the directory for content, which all nodes share; STR_NONE: content is in the
     * database and these statements access it. See content.h. */
    struct str files_dir;
    const struct content_statements *content_statements;
    bool inspects; /* PostgreSQL: read only; neither creates nor migrates a schema */
    unsigned writers;
    unsigned readers;
    const struct sql_statement *const *statements;
    size_t n_statements;
    void (*free_memo)(void *memo); /* see tx_memo */
    /* Called on a store thread after a failure that forbids any acknowledgement (an fsync error, a
     * corrupt database). The function ends the process; or it returns, and from then on every job
     * fails, including those in progress, until the store is closed. */
    void (*on_fatal)(const char *what);
};

/* Returns true if the schema name never needs quoting. */
bool store_is_schema_name(struct str name);
/* Call it before the first store, only in Cairn's own process: makes settings for the whole
 * process, which a library must not make in its host. */
void store_own_process(void);
/* On failure the problem's detail says what to do. */
MUST_CHECK enum error store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store);
/* From here on, jobs fail at once instead of waiting for an unreachable database. */
void store_drain(struct store *store);
/* Completes all queued jobs, then closes. Accepts NULL. */
void store_close(struct store *store);

/* Any thread. A job that is submitted after the close has begun fails at once. */
void store_submit(struct store *store, struct store_job *job);
/* Submits and waits for the result; not from a store or loop thread. For Cairn's own work, which
 * may use the reserve of a full disk. */
MUST_CHECK enum error store_call(struct store *store, enum store_mode mode,
    enum error (*run)(void *data, struct tx *tx), void *data);
/* The same for a flow: see store_job.flow. */
MUST_CHECK enum error store_call_for(struct store *store, enum store_mode mode, uint64_t flow,
    enum error (*run)(void *data, struct tx *tx), void *data);

struct hub *store_hub(struct store *store);

/* Any thread: counts a stored value that no longer matches its hash. */
void store_note_damage(struct store *store);

/* Returns true if other processes write to the same database. Their commits are found by
 * reading. */
bool store_is_shared(const struct store *store);
/* Shared stores only: returns when any node may have committed, after the timeout, or after
 * store_wake. */
void store_wait(struct store *store, uint32_t timeout_ms);
void store_wake(struct store *store);

struct store_stats {
    uint64_t commits;
    uint64_t writes;
    uint64_t reads;
    uint64_t rollbacks;
    uint64_t checkpoints;
    uint64_t queued;
    uint64_t commit_us;
    uint64_t retries;    /* transactions that ran again */
    uint64_t reconnects; /* connections made after the start */
    bool connected;      /* the database is reachable, as far as is known */
    uint64_t damaged;    /* reads of a value that did not match its hash */
    /* SQLite: */
    bool is_full; /* the disk is full: most WRITE jobs are rejected at once */
    bool has_reserve;
    uint64_t free_bytes; /* on the disk of the data directory */
};
struct store_stats store_stats(const struct store *store);

/* --- Inside a job --------------------------------------------------------------------------- */

/* Takes over the item's reference, and drops it if the job fails. WRITE jobs only. */
void tx_publish(struct tx *tx, struct hub_item *item);
/* Shared stores: notifies every node after the commit. */
void tx_notify(struct tx *tx);

/*
 * Returns true if other processes may change rows while this WRITE job runs. The job must then lock
 * a row before it reads values that it is going to change. If false, the one writer holds every
 * lock.
 */
bool tx_is_shared(const struct tx *tx);
/* Returns false in READ jobs, also in those that rehearse. */
bool tx_may_write(const struct tx *tx);
/* For values in an engine's own language, such as searches. */
enum store_engine tx_engine(const struct tx *tx);
/* No id that uuid_v7 has made since the store was opened is smaller. */
struct uuid tx_first_id(const struct tx *tx);
/* The same as store_note_damage. */
void tx_note_damage(struct tx *tx);
/* Returns true if the disk is full, so that work that can wait should not begin. */
bool tx_is_full(const struct tx *tx);
/* Makes the job run again from its start, after a conflict with another job; returns the error to
 * return. */
MUST_CHECK enum error tx_run_again(struct tx *tx);
/* READ jobs: the job runs a function that is written for WRITE jobs, to find out what it computes.
 * Its first statement that would write, and its first counter, fail with ERR_CANCELLED. */
void tx_rehearse(struct tx *tx);
/* READ jobs: the following reads are at least as new as this moment. */
void tx_refresh(struct tx *tx);
/* READ_LONG jobs: a page has been read, and the time limit starts again for the next one. A page
 * that exceeds the limit fails the job with ERR_UNAVAILABLE. */
void tx_extend(struct tx *tx);
/* Returns the greatest value passed so far on this node in the same era: a settled value stays
 * settled. A new era starts over. */
int64_t tx_settled(struct tx *tx, int64_t era, int64_t value);
/* Executes a statement without parameters once per transaction, which may contain several jobs.
 * Does nothing on a store with one writer. */
void tx_once(struct tx *tx, const struct sql_statement *statement);

/* Row-level security, the second line of defence: from here on the transaction sees only the rows
 * of this tenant or, for Cairn's own work, of all tenants. Before the first of these calls it sees
 * none. */
void tx_enter_tenant(struct tx *tx, struct uuid tenant_id);
void tx_enter_system(struct tx *tx);

/*
 * Data that the jobs of one transaction share to avoid reading it twice: a pointer of the model's,
 * initially NULL. The data must have been read in this transaction, which began after each of its
 * jobs was submitted. Code that changes the underlying rows drops the memo, and so does a failing
 * job.
 */
void **tx_memo(struct tx *tx);
void tx_drop_memo(struct tx *tx);

/* The clock for leases: the same on every node. */
int64_t tx_lease_now_us(const struct tx *tx);

/*
 * A counter without gaps, whose value the tables keep. SQLite's one writer loads the last value
 * once and counts in memory. An engine with many writers advances the value under the row's lock;
 * `advance` takes `count` more values.
 */
struct sequence {
    const struct sql_statement *load; /* :tenant_id :key → the last value */
    /* The same for a counter that was not used since tx_sequence_settle, if that is cheaper;
     * or NULL. */
    const struct sql_statement *load_settled;
    const struct sql_statement *advance; /* :tenant_id :key :count → the last value */
    struct uuid tenant_id;
    struct uuid key;
};
/* Takes `count` values and returns the first, which is the next one if `count` is 0. ERR_NOT_FOUND
 * if the statement returned no row: there is nothing to count. */
MUST_CHECK enum error tx_sequence_take(
    struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first);
/* The counted object was deleted: the next take must load the value again. A nil key means all
 * sequences of the tenant. */
void tx_sequence_drop(struct tx *tx, const struct sequence *sequence);
/* From here on, `load_settled` finds all values that were taken so far. */
void tx_sequence_settle(struct tx *tx);

#endif
