/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQLite engine. Private to src/store.
 *
 * One writer connection executes every write and every WAL checkpoint; readers have their own
 * connections and never checkpoint. This avoids the WAL-reset race of SQLite before 3.51.3, in
 * which a checkpoint concurrent with a commit on another connection can lose the commit. The
 * journal is WAL with synchronous=FULL: when COMMIT returns, the data has been fsynced. SQLite
 * ignores a failed fsync of the directory, so Cairn does that one itself after the files are
 * created.
 *
 *   sqlite.c           connections and statements
 *   sqlite_open.c      the data directory, pragmas, migrations
 *   sqlite_writer.c    the commit queue, group commit, checkpoints
 *   sqlite_log.c       the writes of the log, joined until the sync
 *   sqlite_reader.c    the readers
 *   sqlite_sequence.c  counters in memory
 *   sqlite_space.c     a full disk
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <sqlite3.h>

#include "store/engine.h"
#include "store/job_queue.h"

enum {
    SQLITE_BATCH_MAX_JOBS = 512,
    SQLITE_CAREFUL_BATCHES = 64, /* with savepoints, after a batch that had to run again */
    SQLITE_READ_LIMIT_US = 10 * 1000 * 1000,
    SQLITE_CHECKPOINT_PAGES = 1000,        /* checkpoint when idle */
    SQLITE_IDLE_US = 10 * 1000,            /* idle: no job has come for this time */
    SQLITE_CHECKPOINT_BUSY_PAGES = 8000,   /* checkpoint also under load */
    SQLITE_CHECKPOINT_BUSY_US = 20 * 1000, /* or if it is expected to take this time */
    SQLITE_COST_PAGES = 100,               /* the cost of a page is measured for so many */
    SQLITE_PAGE_NS = 5000,                 /* and is this before */
    SQLITE_CHECKPOINT_RESET_PAGES = 65536, /* wait for readers and restart the WAL */
    SQLITE_CHECKPOINT_WAIT_MS = 100,
    SQLITE_BUSY_MS = 5000,
};

/* Statements that begin and end transactions, prepared at first use. */
enum sqlite_verb {
    SQLITE_VERB_BEGIN,
    SQLITE_VERB_BEGIN_IMMEDIATE,
    SQLITE_VERB_COMMIT,
    SQLITE_VERB_ROLLBACK,
    SQLITE_VERB_SAVEPOINT,
    SQLITE_VERB_RELEASE,
    SQLITE_VERB_ROLLBACK_TO,
    SQLITE_VERB_COUNT,
};

struct sqlite_connection {
    sqlite3 *db;
    struct sqlite_store *store;
    sqlite3_stmt **statements; /* by sql_statement.index; prepared at first use */
    sqlite3_stmt *verbs[SQLITE_VERB_COUNT];
    int64_t read_deadline_us;
};

/* A thread and its connection. */
struct sqlite_reader {
    struct sqlite_store *store;
    struct sqlite_readers *readers;
    struct sqlite_connection connection;
    pthread_t thread;
};

struct sqlite_readers {
    struct job_queue queue;
    struct sqlite_reader *all;
    unsigned count;
    unsigned n_started;
};

struct sequence_slot {
    struct uuid tenant_id;
    struct uuid key;
    const struct sql_statement *load; /* NULL: the slot is free */
    uint64_t last;
};

enum { SEQUENCE_SLOTS = 1 << 16, SEQUENCE_MAX_TOUCHED = 64 };

/* The last value of each counter that the writer used. A cache: a missing entry costs one query, so
 * a failed job drops the entries that it changed. */
struct sequence_cache {
    struct sequence_slot *slots;
    size_t n_used;
    struct sequence_slot touched[SEQUENCE_MAX_TOUCHED]; /* by the running job */
    size_t n_touched;
    bool touched_overflow;
    /* Every counter that was used since tx_sequence_settle has a slot. */
    bool is_settled;
    bool settles; /* the running job called it */
};

enum space_state { SPACE_AMPLE, SPACE_TIGHT, SPACE_NONE };

/* See sqlite_space.c. Owned by the writer, except the state, which any thread may read. */
struct space {
    atomic_int state;
    bool starts_full;    /* the reserve was deleted to open the database */
    bool starts_without; /* there was no reserve */
    bool overwrites;     /* secure_delete, while there is enough space */
    bool is_limited;     /* by a limit that the disk's free space does not show */
    int why;             /* errno of the failed creation of the reserve */
    int64_t next_look_us;
    int64_t wait_us; /* before the first attempt */
    int64_t resumed_us;
};

struct sqlite_store {
    struct store base;
    int directory_fd;
    int lock_fd;
    char *path;
    struct sqlite_connection writer;
    struct job_queue writes;
    struct sqlite_readers reads;
    struct sqlite_readers long_reads; /* connected only while a job runs */
    atomic_uint n_long_reads;
    int64_t read_limit_us; /* of a READ job, or of a page of a READ_LONG job */
    pthread_t writer_thread;
    struct sequence_cache sequences;
    unsigned n_careful; /* batches left to run with savepoints; writer thread only */
    struct space space;
    atomic_bool is_broken;
    int64_t page_write_ns, page_move_ns; /* see charge_pages; writer thread only */
    int64_t sync_us;                     /* of a small commit; writer thread only */
    int64_t idle_us;                     /* SQLITE_IDLE_US, but for tests */
    int wal_pages; /* in the WAL, now and at the last checkpoint; writer thread only */
    int wal_pages_tried, wal_pages_moved;
    bool wal_is_moved; /* the last checkpoint moved the whole WAL into the database file */
    atomic_ullong n_commits, n_writes, n_reads, n_rollbacks, n_checkpoints, commit_us;
};

extern const struct engine_ops sqlite_ops;

/* Updates the average cost of a page by large writes only, in which the time to sync hardly counts.
 */
static inline void sqlite_learn_page_cost(int64_t *cost_ns, int64_t used_us, int pages)
{
    if (pages >= SQLITE_COST_PAGES)
        *cost_ns += (used_us * 1000 / pages - *cost_ns) / 4;
}

/* Updates the average time of a sync by small commits, which take hardly any other time. */
static inline void sqlite_learn_sync(int64_t *sync_us, int64_t used_us, int pages)
{
    if (pages < SQLITE_COST_PAGES)
        *sync_us += (used_us - *sync_us) / 4;
}

/* The time of a checkpoint without that of the sync, which does not depend on the number of pages:
 * counted as a cost of pages, it would make checkpoints on a slow disk ever more frequent. */
static inline int64_t sqlite_move_us(int64_t used_us, int64_t sync_us)
{
    return used_us > sync_us ? used_us - sync_us : 0;
}

/* Returns how many pages in the WAL make a checkpoint due under load, so that none is expected to
 * take long. */
static inline int sqlite_checkpoint_due(int64_t page_move_ns)
{
    int64_t pages = INT64_C(1000) * SQLITE_CHECKPOINT_BUSY_US / (page_move_ns + 1);
    return pages < SQLITE_CHECKPOINT_PAGES        ? SQLITE_CHECKPOINT_PAGES
           : pages > SQLITE_CHECKPOINT_BUSY_PAGES ? SQLITE_CHECKPOINT_BUSY_PAGES
                                                  : (int)pages;
}
/* Converts a result code to an error; gives up if nothing may be acknowledged after it. */
enum error sqlite_error(struct sqlite_connection *c, int rc);
/* Makes every following job fail (config.on_fatal). Returns the error for a commit in progress,
 * whose outcome on the disk is unknown. */
enum error sqlite_give_up(struct sqlite_store *s, const char *why);
MUST_CHECK enum error sqlite_exec(struct sqlite_connection *c, const char *sql);
MUST_CHECK enum error sqlite_do(struct sqlite_connection *c, enum sqlite_verb verb);

/* Creates the data directory if necessary, and locks it against other writing processes. The caller
 * closes the descriptors that are not -1, after a failure too. */
MUST_CHECK enum error sqlite_take_directory(
    const char *dir, struct problem *problem, int *out_directory_fd, int *out_lock_fd);
MUST_CHECK enum error sqlite_connect(
    struct sqlite_store *s, struct sqlite_connection *c, bool writer, struct problem *problem);
void sqlite_disconnect(struct sqlite_connection *c);

/* A failed start leaves no thread behind. Stopping finishes the queued jobs and joins. */
MUST_CHECK enum error sqlite_writer_start(struct sqlite_store *s, struct problem *problem);
void sqlite_writer_stop(struct sqlite_store *s);
void sqlite_readers_init(struct sqlite_store *s);
MUST_CHECK enum error sqlite_readers_connect(struct sqlite_store *s, struct problem *problem);
MUST_CHECK enum error sqlite_readers_start(struct sqlite_store *s, struct problem *problem);
void sqlite_readers_stop(struct sqlite_store *s);
/* After sqlite_readers_stop, or if the threads were never started. */
void sqlite_readers_deinit(struct sqlite_store *s);
/* See tx_extend. */
void sqlite_extend(struct tx *tx);
void sqlite_close(struct store *store);

/* If there is too little space to open the database, deletes the reserve first. */
void space_before_connecting(struct sqlite_store *s);
void space_after_connecting(struct sqlite_store *s);
/* Rejects the jobs that may not write while the disk is full; returns the others, or NULL. */
struct store_job *space_admit(struct sqlite_store *s, struct store_job *batch);
/* After a batch in which a job found the disk full: deletes the reserve, and removes from the batch
 * the jobs that may run again with it. */
struct store_job *space_take_again(struct sqlite_store *s, struct store_job **batch);
bool space_is_short(const struct sqlite_store *s);
/* Returns true if a checkpoint leaves enough of the remaining space. */
bool space_may_checkpoint(struct sqlite_store *s);
void space_checkpoint_failed(struct sqlite_store *s, enum error e);

void sequence_cache_init(struct sequence_cache *cache);
void sequence_cache_deinit(struct sequence_cache *cache);
void sequence_cache_job_starts(struct sequence_cache *cache);
void sequence_cache_job_failed(struct sequence_cache *cache);
void sequence_cache_clear(struct sequence_cache *cache);
void sqlite_sequence_drop(struct tx *tx, const struct sequence *sequence);
void sqlite_sequence_settle(struct tx *tx);
enum error sqlite_sequence_take(
    struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first);

#endif
