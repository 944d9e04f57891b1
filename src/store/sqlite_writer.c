#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "store/sqlite.h"

/* --- Group commit --------------------------------------------------------------------------- */

static void fail_all(struct store_job *batch, enum error e)
{
    for (struct store_job *job = batch; job != NULL; job = job->next)
        if (job->result == OK)
            job->result = e;
}

/* Runs one job; its own failure is its result. What is returned is the failure of the whole
 * transaction, which then must be rolled back. */
static enum error run_job(struct sqlite_store *s, struct store_job *job, struct tx *tx, bool alone)
{
    struct sqlite_connection *c = &s->writer;
    struct hub_item **published = tx->published_end;
    sequence_cache_job_starts(&s->sequences);
    enum error e = alone ? OK : sqlite_exec(c, "SAVEPOINT job");
    if (e == OK)
        e = job_run_whole(job, tx);
    job->result = e;
    if (e != OK) {
        atomic_fetch_add(&s->n_rollbacks, 1);
        tx_unpublish_from(tx, published);
        tx_drop_memo(tx);
        sequence_cache_job_failed(&s->sequences);
    }
    /* After some failures SQLite has rolled the whole transaction back by itself. */
    if (sqlite3_get_autocommit(c->db))
        return e != OK ? e : ERR_UNAVAILABLE;
    if (e == OK)
        return alone ? OK : sqlite_exec(c, "RELEASE job");
    return sqlite_exec(c, alone ? "ROLLBACK" : "ROLLBACK TO job; RELEASE job");
}

static enum error run_jobs(struct sqlite_store *s, struct store_job *batch, struct tx *tx)
{
    bool alone = batch->next == NULL;
    enum error e = sqlite_exec(&s->writer, "BEGIN IMMEDIATE");
    for (struct store_job *job = batch; e == OK && job != NULL; job = job->next) {
        e = run_job(s, job, tx, alone);
        /* Nothing more is written into a file that is damaged. */
        if (e == OK && atomic_load(&s->is_broken))
            e = ERR_UNAVAILABLE;
    }
    return e;
}

static enum error commit(struct sqlite_store *s)
{
    int64_t start_us = clock_steady_us();
    enum error e = sqlite_exec(&s->writer, "COMMIT");
    if (e == OK) {
        atomic_fetch_add(&s->commit_us, (uint64_t)(clock_steady_us() - start_us));
        atomic_fetch_add(&s->n_commits, 1);
    }
    return e;
}

static void run_batch(struct sqlite_store *s, struct store_job *batch)
{
    for (struct store_job *job = batch; job != NULL; job = job->next)
        job->result = OK;
    struct tx tx;
    tx_init(&tx, &s->base, &s->writer, true);
    enum error e = atomic_load(&s->is_broken) ? ERR_UNAVAILABLE : run_jobs(s, batch, &tx);
    tx_drop_memo(&tx);
    /* A job that was alone and failed has left nothing to commit. */
    if (e == OK && !sqlite3_get_autocommit(s->writer.db))
        e = commit(s);
    /* Another connection may have found the database damaged meanwhile. */
    if (e == OK && atomic_load(&s->is_broken))
        e = ERR_OUTCOME_UNKNOWN;
    if (e != OK) {
        if (!sqlite3_get_autocommit(s->writer.db) && sqlite_exec(&s->writer, "ROLLBACK") != OK)
            e = sqlite_give_up(s, "a failed transaction could not be rolled back");
        tx_unpublish_from(&tx, &tx.published);
        sequence_cache_clear(&s->sequences);
        fail_all(batch, e);
    }
    hub_publish(s->base.hub, tx.published);
    tx_unpublish_from(&tx, &tx.published);
    for (struct store_job *job = batch, *next; job != NULL; job = next) {
        next = job->next;
        atomic_fetch_add(&s->n_writes, 1);
        job->done(job, job->result);
    }
}

/* --- Checkpoints ---------------------------------------------------------------------------- */

static int note_wal_pages(void *data, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_store *s = data;
    s->wal_pages = pages;
    return SQLITE_OK;
}

/* Moves the WAL into the database file: when idle, under load only once it has grown, and when
 * readers have kept it from starting over for long, by waiting for them. A backup reads for longer
 * than anybody can wait: until it ends the WAL grows, and is tried again only as it does. */
static void checkpoint_if_due(struct sqlite_store *s)
{
    int due =
        job_queue_count(&s->writes) == 0 ? SQLITE_CHECKPOINT_PAGES : SQLITE_CHECKPOINT_BUSY_PAGES;
    if (s->wal_pages < s->wal_pages_tried)
        s->wal_pages_tried = 0; /* the WAL has started over */
    if (s->wal_pages - s->wal_pages_tried < due)
        return;
    int mode = s->wal_pages < SQLITE_CHECKPOINT_RESET_PAGES ? SQLITE_CHECKPOINT_PASSIVE
                                                            : SQLITE_CHECKPOINT_RESTART;
    int in_wal = 0, moved = 0;
    sqlite3_busy_timeout(s->writer.db, SQLITE_CHECKPOINT_WAIT_MS);
    int rc = sqlite3_wal_checkpoint_v2(s->writer.db, NULL, mode, &in_wal, &moved);
    sqlite3_busy_timeout(s->writer.db, SQLITE_BUSY_MS);
    if (rc != SQLITE_BUSY && sqlite_error(&s->writer, rc) != OK)
        return; /* the disk is full or a read failed: the WAL keeps everything, try again later */
    s->wal_pages_tried = in_wal;
    atomic_fetch_add(&s->n_checkpoints, 1);
}

static void *writer_main(void *data)
{
    struct sqlite_store *s = data;
    struct store_job *batch;
    while ((batch = job_queue_take(&s->writes, SQLITE_BATCH_MAX_JOBS)) != NULL) {
        run_batch(s, batch);
        if (!atomic_load(&s->is_broken))
            checkpoint_if_due(s);
    }
    return NULL;
}

/* --- Readers -------------------------------------------------------------------------------- */

static int is_past_deadline(void *data)
{
    const struct sqlite_connection *c = data;
    return clock_steady_us() > c->read_deadline_us;
}

static void run_read(struct sqlite_connection *c, struct store_job *job)
{
    struct tx tx;
    tx_init(&tx, &c->store->base, c, false);
    c->read_deadline_us = clock_steady_us() + SQLITE_READ_DEADLINE_US;
    enum error e = atomic_load(&c->store->is_broken) ? ERR_UNAVAILABLE : sqlite_exec(c, "BEGIN");
    if (e == OK)
        e = job_run_whole(job, &tx);
    tx_drop_memo(&tx);
    if (!sqlite3_get_autocommit(c->db)) {
        enum error ended = sqlite_exec(c, "COMMIT");
        e = e != OK ? e : ended;
    }
    atomic_fetch_add(&c->store->n_reads, 1);
    job->done(job, e);
}

static void *reader_main(void *data)
{
    struct sqlite_connection *c = data;
    sqlite3_progress_handler(c->db, 10000, is_past_deadline, c);
    struct store_job *job;
    while ((job = job_queue_take(&c->store->reads, 1)) != NULL)
        run_read(c, job);
    return NULL;
}

/* --- Threads -------------------------------------------------------------------------------- */

enum error sqlite_threads_start(struct sqlite_store *s, struct problem *problem)
{
    job_queue_init(&s->writes);
    job_queue_init(&s->reads);
    sqlite3_wal_hook(s->writer.db, note_wal_pages, s);
    s->reader_threads = mem_zalloc(s->base.config.readers * sizeof(pthread_t));
    enum error e = thread_start(&s->writer_thread, writer_main, s, problem);
    s->has_writer_thread = e == OK;
    while (e == OK && s->n_reader_threads < s->base.config.readers) {
        unsigned i = s->n_reader_threads;
        e = thread_start(&s->reader_threads[i], reader_main, &s->readers[i], problem);
        s->n_reader_threads += e == OK;
    }
    if (e != OK)
        sqlite_threads_stop(s);
    return e;
}

void sqlite_threads_stop(struct sqlite_store *s)
{
    job_queue_close(&s->reads);
    for (unsigned i = 0; i < s->n_reader_threads; i++)
        pthread_join(s->reader_threads[i], NULL);
    job_queue_close(&s->writes);
    if (s->has_writer_thread)
        pthread_join(s->writer_thread, NULL);
    mem_free(s->reader_threads);
    job_queue_deinit(&s->reads);
    job_queue_deinit(&s->writes);
}

void sqlite_submit(struct store *store, struct store_job *job)
{
    struct sqlite_store *s = CONTAINER_OF(store, struct sqlite_store, base);
    if (!job_queue_put(job->mode == STORE_WRITE ? &s->writes : &s->reads, job))
        job->done(job, ERR_UNAVAILABLE);
}

struct store_stats sqlite_stats(const struct store *store)
{
    const struct sqlite_store *s = CONTAINER_OF(store, struct sqlite_store, base);
    return (struct store_stats){
        .commits = atomic_load(&s->n_commits),
        .writes = atomic_load(&s->n_writes),
        .reads = atomic_load(&s->n_reads),
        .rollbacks = atomic_load(&s->n_rollbacks),
        .checkpoints = atomic_load(&s->n_checkpoints),
        .queued = job_queue_count(&s->writes) + job_queue_count(&s->reads),
        .commit_us = atomic_load(&s->commit_us),
        .connected = true,
    };
}
