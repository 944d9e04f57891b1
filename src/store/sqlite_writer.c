/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/thread.h"
#include "store/sqlite.h"

/* --- The cost of pages ---------------------------------------------------------------------- */

/* Returns how many pages have been written to the WAL since the last call. */
static int take_pages_written(struct sqlite_store *s)
{
    int pages = 0, unused;
    sqlite3_db_status(s->writer.db, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &unused, 1);
    return pages;
}

/* The pages that jobs changed are written to the WAL by the commit, and moved to the database file
 * by a checkpoint, while other flows wait. The jobs are charged for that in proportion to the time
 * that they have run. */
static void charge_pages(struct sqlite_store *s, struct store_job *batch, int pages)
{
    int64_t run_us = 1, pages_us = pages * (s->page_write_ns + s->page_move_ns) / 1000;
    for (struct store_job *job = batch; job != NULL; job = job->next)
        run_us += job->used_us;
    for (struct store_job *job = batch; job != NULL; job = job->next)
        job->used_us += pages_us * job->used_us / run_us;
}

/* --- Group commit --------------------------------------------------------------------------- */

static void fail_all(struct store_job *batch, enum error e)
{
    for (struct store_job *job = batch; job != NULL; job = job->next)
        if (job->result == OK)
            job->result = e;
}

/* Drops the state that a failed job has left in memory. */
static void forget_job(struct sqlite_store *s, struct tx *tx, struct hub_item **published)
{
    tx_unpublish_from(tx, published);
    tx_drop_memo(tx);
    sequence_cache_job_failed(&s->sequences);
}

static enum error undo_job(struct sqlite_connection *c)
{
    TRY(sqlite_do(c, SQLITE_VERB_ROLLBACK_TO));
    return sqlite_do(c, SQLITE_VERB_RELEASE);
}

/* Runs one job; its own failure is its result. Returns the failure of the whole transaction, which
 * then must be rolled back. */
static enum error run_job(
    struct sqlite_store *s, struct store_job *job, struct tx *tx, bool careful, bool *out_torn)
{
    struct sqlite_connection *c = &s->writer;
    struct hub_item **published = tx->published_end;
    int64_t changes = sqlite3_total_changes64(c->db);
    sequence_cache_job_starts(&s->sequences);
    int64_t start_us = clock_steady_us();
    enum error e = careful ? sqlite_do(c, SQLITE_VERB_SAVEPOINT) : OK;
    if (e == OK)
        e = job_run_whole(job, tx);
    job->result = e;
    job->used_us += clock_steady_us() - start_us;
    if (e != OK)
        forget_job(s, tx, published);
    /* After some failures SQLite has rolled the whole transaction back by itself. */
    if (sqlite3_get_autocommit(c->db))
        return e != OK ? e : ERR_UNAVAILABLE;
    if (careful)
        return e == OK ? sqlite_do(c, SQLITE_VERB_RELEASE) : undo_job(c);
    *out_torn = e != OK && sqlite3_total_changes64(c->db) != changes;
    return OK;
}

/* Ends the batch with this job if it has used the time of a batch up. */
static void end_if_used_up(struct sqlite_store *s, struct store_job *last, int64_t used_us)
{
    if (last->next == NULL || !job_queue_is_used_up(&s->writes, used_us))
        return;
    job_queue_return(&s->writes, last->next);
    last->next = NULL;
}

/* Without savepoints, which cost more than half as much as an insert, until a job fails after it
 * has changed something: `out_torn` is then true, and everything must be undone. */
static enum error run_jobs(
    struct sqlite_store *s, struct store_job *batch, struct tx *tx, bool careful, bool *out_torn)
{
    *out_torn = false;
    TRY(sqlite_do(&s->writer, SQLITE_VERB_BEGIN_IMMEDIATE));
    int64_t used_us = 0;
    for (struct store_job *job = batch; !*out_torn && job != NULL; job = job->next) {
        TRY(run_job(s, job, tx, careful, out_torn));
        used_us += job->used_us;
        end_if_used_up(s, job, used_us);
        /* A damaged file must not be written any more. */
        if (atomic_load(&s->is_broken))
            return ERR_UNAVAILABLE;
    }
    return OK;
}

static void undo_all(struct sqlite_store *s, struct tx *tx)
{
    tx_drop_memo(tx);
    tx_unpublish_from(tx, &tx->published);
    sequence_cache_clear(&s->sequences);
}

/* Runs the jobs. If one of them has torn the transaction, all run again with savepoints, and so do
 * the next batches, since the same client may send more such jobs. A single job needs no second
 * run: undoing everything undoes just that. */
static enum error run_all(struct sqlite_store *s, struct store_job *batch, struct tx *tx)
{
    bool alone = batch->next == NULL, careful = !alone && s->n_careful > 0, torn;
    if (careful)
        s->n_careful--;
    TRY(run_jobs(s, batch, tx, careful, &torn));
    if (!torn)
        return OK;
    TRY(sqlite_do(&s->writer, SQLITE_VERB_ROLLBACK));
    if (alone)
        return OK;
    undo_all(s, tx);
    s->n_careful = SQLITE_CAREFUL_BATCHES;
    for (struct store_job *job = batch; job != NULL; job = job->next)
        job->result = OK;
    return run_jobs(s, batch, tx, true, &torn);
}

static enum error commit(struct sqlite_store *s, struct store_job *batch)
{
    int64_t start_us = clock_steady_us();
    enum error e = sqlite_do(&s->writer, SQLITE_VERB_COMMIT);
    /* The index of the WAL grows after the commit is durable. If we reported a rollback, the next
     * start would find the commit. */
    int rc = sqlite3_extended_errcode(s->writer.db);
    if (e != OK && (rc == SQLITE_IOERR_SHMSIZE || rc == SQLITE_IOERR_SHMMAP))
        return sqlite_give_up(
            s, "a commit was written, but not added to the index of the write-ahead log");
    if (e == OK) {
        int64_t used_us = clock_steady_us() - start_us;
        int pages = take_pages_written(s);
        if (s->wal_pages <= pages) /* the WAL has started over */
            s->wal_pages_tried = s->wal_pages_moved = 0;
        sqlite_learn_page_cost(&s->page_write_ns, used_us, pages);
        sqlite_learn_sync(&s->sync_us, used_us, pages);
        charge_pages(s, batch, pages);
        atomic_fetch_add(&s->commit_us, (uint64_t)used_us);
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
    enum error e = atomic_load(&s->is_broken) ? ERR_UNAVAILABLE : run_all(s, batch, &tx);
    tx_drop_memo(&tx);
    /* A single job that tore the transaction has left nothing to commit. */
    if (e == OK && !sqlite3_get_autocommit(s->writer.db))
        e = commit(s, batch);
    /* Another connection may have found the database damaged meanwhile. */
    if (e == OK && atomic_load(&s->is_broken))
        e = ERR_OUTCOME_UNKNOWN;
    if (e != OK) {
        if (!sqlite3_get_autocommit(s->writer.db) &&
            sqlite_do(&s->writer, SQLITE_VERB_ROLLBACK) != OK)
            e = sqlite_give_up(s, "a failed transaction could not be rolled back");
        undo_all(s, &tx);
        fail_all(batch, e);
    }
    hub_publish(s->base.hub, tx.published);
    tx_unpublish_from(&tx, &tx.published);
    struct store_job *again = space_take_again(s, &batch);
    job_queue_end(&s->writes, batch);
    for (struct store_job *job = batch, *next; job != NULL; job = next) {
        next = job->next;
        atomic_fetch_add(&s->n_writes, 1);
        if (job->result != OK)
            atomic_fetch_add(&s->n_rollbacks, 1);
        job->done(job, job->result);
    }
    if (again != NULL)
        run_batch(s, again);
}

/* --- Checkpoints ---------------------------------------------------------------------------- */

static int note_wal_pages(void *data, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_store *s = data;
    s->wal_pages = pages;
    return SQLITE_OK;
}

/* If readers have long prevented the restart of the WAL, waits for them. Exports and backups read
 * for too long to wait: the WAL grows until they end, and the checkpoint is retried only as it
 * grows. */
static void checkpoint(struct sqlite_store *s)
{
    bool may_restart =
        s->wal_pages >= SQLITE_CHECKPOINT_RESET_PAGES && atomic_load(&s->n_long_reads) == 0;
    int mode = may_restart ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE;
    int in_wal = 0, moved = 0;
    int64_t start_us = clock_steady_us();
    sqlite3_busy_timeout(s->writer.db, SQLITE_CHECKPOINT_WAIT_MS);
    int rc = sqlite3_wal_checkpoint_v2(s->writer.db, NULL, mode, &in_wal, &moved);
    sqlite3_busy_timeout(s->writer.db, SQLITE_BUSY_MS);
    enum error e = (rc & 0xff) == SQLITE_BUSY ? OK : sqlite_error(&s->writer, rc);
    if (e != OK) { /* the WAL keeps all commits; try again later */
        space_checkpoint_failed(s, e);
        return;
    }
    if (!may_restart) /* which waits */
        sqlite_learn_page_cost(&s->page_move_ns,
            sqlite_move_us(clock_steady_us() - start_us, s->sync_us), moved - s->wal_pages_moved);
    s->wal_pages_moved = moved;
    s->wal_pages_tried = in_wal;
    s->wal_is_moved = rc == SQLITE_OK && moved == in_wal;
    atomic_fetch_add(&s->n_checkpoints, 1);
}

/* An empty queue is not enough to be idle: under load the answers to one batch bring the next. */
static bool is_idle(struct sqlite_store *s)
{
    return !job_queue_wait(&s->writes, s->idle_us);
}

/* Checkpoints the WAL when it has grown much, and earlier when idle or without space. */
static void checkpoint_if_due(struct sqlite_store *s)
{
    int pages = s->wal_pages - s->wal_pages_tried;
    bool is_due = pages >= (space_is_short(s) ? 1 : sqlite_checkpoint_due(s->page_move_ns)) ||
                  (pages >= SQLITE_CHECKPOINT_PAGES && is_idle(s));
    if (is_due && space_may_checkpoint(s))
        checkpoint(s);
}

/* --- The thread ----------------------------------------------------------------------------- */

static void *writer_main(void *data)
{
    thread_set_name("cairn-writer");
    struct sqlite_store *s = data;
    struct store_job *batch;
    while ((batch = job_queue_take(&s->writes, SQLITE_BATCH_MAX_JOBS)) != NULL) {
        batch = space_admit(s, batch);
        if (batch != NULL)
            run_batch(s, batch);
        if (!atomic_load(&s->is_broken))
            checkpoint_if_due(s);
    }
    return NULL;
}

enum error sqlite_writer_start(struct sqlite_store *s, struct problem *problem)
{
    job_queue_init(&s->writes, 0);
    sqlite3_wal_hook(s->writer.db, note_wal_pages, s);
    enum error e = thread_start(&s->writer_thread, writer_main, s, problem);
    if (e != OK)
        job_queue_deinit(&s->writes);
    return e;
}

void sqlite_writer_stop(struct sqlite_store *s)
{
    job_queue_close(&s->writes);
    pthread_join(s->writer_thread, NULL);
    job_queue_deinit(&s->writes);
}
