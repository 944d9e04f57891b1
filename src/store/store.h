/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: connections, transactions and the commit queue. Work comes as jobs; a job is a plain
 * function of a transaction. Store threads own the connections and never touch a socket.
 *
 *   WRITE  on SQLite the one writer thread takes every queued job, runs all in one transaction,
 *          commits once, then finishes them all; on PostgreSQL some writers do the same, each on a
 *          connection of its own;
 *   READ   runs on a reader thread at a snapshot.
 *
 * A job whose `run` returns an error has changed nothing. `done` is called on a store thread after
 * the commit has reached the disk, or after the failure: only then may success be told to anybody.
 * What was published with tx_publish reaches the hub between the commit and `done`.
 *
 * A transaction can fail by no fault of the job's own, where others write beside us, or because
 * another job of it failed: then all of it is undone and `run` is called again. It must start over
 * each time, whatever it left in memory.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/problem.h"
#include "store/hub.h"
#include "store/query.h"

struct store;

enum store_mode {
    STORE_READ,
    STORE_READ_STALE, /* a replica may answer it, and lag behind */
    STORE_READ_AHEAD, /* not behind the other readers: for the tail, which all streams wait for */
    STORE_WRITE,
};

/* What becomes of a WRITE job while the disk is full (SQLite; elsewhere it is tried). */
enum store_on_full {
    STORE_ON_FULL_REFUSED,
    STORE_ON_FULL_KEEPS, /* writes little: it is run while there is some of the reserve */
    STORE_ON_FULL_FREES, /* leads to free space: it is run from the last of the reserve */
};

struct store_job {
    struct store_job *next;
    enum store_mode mode;
    enum store_on_full on_full;
    /* Jobs with the same one change the same rows, and get in each other's way; 0: unknown. */
    uint64_t affinity;
    enum error (*run)(struct store_job *job, struct tx *tx);
    /* After a run that went well, in the same transaction, once its statements have been carried
     * out: for what needs the rows of one that was only sent (query_send). NULL: nothing. */
    enum error (*finish)(struct store_job *job, struct tx *tx);
    void (*done)(struct store_job *job, enum error result);
    /* The store's own, between submit and done. */
    enum error result;
    bool has_changed;
    unsigned attempts;
    int64_t deadline_us;
};

struct store_config {
    enum store_engine engine;
    struct str data_dir; /* SQLite */
    struct str url;      /* PostgreSQL, from here on: what libpq understands */
    struct str replica_url;
    struct str schema;
    /* PostgreSQL: the directory, shared by all nodes, in which content is kept; STR_NONE: content
     * is in the database, by these statements. See content.h. */
    struct str files_dir;
    const struct content_statements *content_statements;
    bool inspects; /* PostgreSQL: reads what is there, and neither makes nor migrates a schema */
    unsigned writers;
    unsigned readers;
    const struct sql_statement *const *statements;
    size_t n_statements;
    void (*free_memo)(void *memo); /* see tx_memo */
    /* A failure after which nothing may be acknowledged (an fsync error, a corrupt database). It is
     * called on a store thread and ends the process; or it returns, and from then on every job
     * fails, also those under way, until the store is closed. */
    void (*on_fatal)(const char *what);
};

/* Whether a schema may be called so: a name that never needs to be quoted. */
bool store_is_schema_name(struct str name);
/* Before the first store, in a process that is Cairn's own: settings that hold for the whole of it,
 * and that are not a library's to change under its host. */
void store_own_process(void);
/* On failure the problem's detail says what to do about it. */
MUST_CHECK enum error store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store);
/* From here on jobs fail at once where they would wait for a database that is away. */
void store_drain(struct store *store);
/* Finishes every queued job, then closes. Accepts NULL. */
void store_close(struct store *store);

/* Any thread. While the store closes, a job that comes too late fails at once. */
void store_submit(struct store *store, struct store_job *job);
/* Submits and waits for the result; not from a store or loop thread. It is Cairn's own work, and
 * done also from the reserve of a full disk. */
MUST_CHECK enum error store_call(struct store *store, enum store_mode mode,
    enum error (*run)(void *data, struct tx *tx), void *data);

struct hub *store_hub(struct store *store);

/* Any thread: counts something that was stored with its hash and does not have it any more. */
void store_note_damage(struct store *store);

/* Whether other processes write to the same database. What they commit is found by reading. */
bool store_is_shared(const struct store *store);
/* Shared stores only: returns when something may have been committed, by anybody, when the time is
 * over, or after store_wake. */
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
    bool connected;      /* the database can be reached, as far as is known */
    uint64_t damaged;    /* stored things that did not have their hash, each time they were read */
    /* SQLite: */
    bool is_full; /* the disk: most WRITE jobs are refused at once */
    bool has_reserve;
    uint64_t free_bytes; /* on the disk of the data directory */
};
struct store_stats store_stats(const struct store *store);

/* --- Inside a job --------------------------------------------------------------------------- */

/* Hands the item's reference over; it is dropped when the job fails. WRITE jobs only. */
void tx_publish(struct tx *tx, struct hub_item *item);
/* Shared stores: tells every node, once this is committed, that there is something to read. */
void tx_notify(struct tx *tx);

/*
 * Whether others may change rows while this WRITE job runs. Then it must lock a row before it reads
 * what it is going to change; where it is false, the one writer holds every lock there is.
 */
bool tx_is_shared(const struct tx *tx);
/* For values that are written in an engine's own language, as searches are. */
enum store_engine tx_engine(const struct tx *tx);
/* Of all that uuid_v7 makes from when the store was opened on, none is less. */
struct uuid tx_first_id(const struct tx *tx);
/* The same as store_note_damage. */
void tx_note_damage(struct tx *tx);
/* Whether the disk is full, so that nothing should be begun that can wait. */
bool tx_is_full(const struct tx *tx);
/* The job met another's work and has to run again from its start: returns the error to return. */
MUST_CHECK enum error tx_run_again(struct tx *tx);
/* READ jobs: what is read from here on is at least as new as this moment. */
void tx_refresh(struct tx *tx);
/* What is settled stays so: the greatest of this value and all that came here before, on this node
 * and in the same era; in another one, nothing of the last is settled. */
int64_t tx_settled(struct tx *tx, int64_t era, int64_t value);
/* Runs a statement without parameters the first time it is asked for in this transaction, which
 * may be that of several jobs. Shared stores only: does nothing where there is one writer. */
void tx_once(struct tx *tx, const struct sql_statement *statement);

/* Row-level security, the second fence: from here on the transaction sees the rows of this tenant
 * only, or, for Cairn's own work, those of all. It sees none before the first of these calls. */
void tx_enter_tenant(struct tx *tx, struct uuid tenant_id);
void tx_enter_system(struct tx *tx);

/*
 * What the jobs of one transaction have read already and share: a place of the model's, NULL at
 * first. It may hold only what was read in this transaction, which began after each of its jobs was
 * submitted; whoever changes what it holds drops it, and so does a job that fails.
 */
void **tx_memo(struct tx *tx);
void tx_drop_memo(struct tx *tx);

/* The time by which leases are judged: the same on every node. */
int64_t tx_lease_now_us(const struct tx *tx);

/*
 * A counter without gaps, whose value the tables keep. SQLite's one writer loads the last value
 * once and counts in memory. An engine with many writers advances the value under the row's lock;
 * `advance` takes `count` more values.
 */
struct sequence {
    const struct sql_statement *load;    /* :tenant_id :key → the last value */
    const struct sql_statement *advance; /* :tenant_id :key :count → the last value */
    struct uuid tenant_id;
    struct uuid key;
};
/* Takes `count` values; the first of them is returned. ERR_NOT_FOUND where there is nothing to
 * count: the statement answered no row. */
MUST_CHECK enum error tx_sequence_take(
    struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first);
/* What was counted is gone: whoever counts on must find that out. A nil key means all of the
 * tenant's. */
void tx_sequence_drop(struct tx *tx, const struct sequence *sequence);

#endif
