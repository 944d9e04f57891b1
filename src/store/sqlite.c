/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/reserve.h"

enum error sqlite_give_up(struct sqlite_store *s, const char *why)
{
    if (!atomic_exchange(&s->is_broken, true))
        s->base.config.on_fatal(why);
    return ERR_OUTCOME_UNKNOWN;
}

/* SQLite returns FULL only for ENOSPC, and not when it extends its index of the WAL. */
static bool is_out_of_space(const struct sqlite_connection *c, int rc)
{
    int why = sqlite3_system_errno(c->db);
    return (rc == SQLITE_IOERR_WRITE || rc == SQLITE_IOERR_SHMSIZE) &&
           (why == ENOSPC || why == EDQUOT || why == EFBIG);
}

enum error sqlite_error(struct sqlite_connection *c, int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return OK;
    case SQLITE_FULL:
        return ERR_STORAGE_FULL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
        return ERR_UNAVAILABLE;
    case SQLITE_CONSTRAINT:
        return ERR_CONFLICT;
    case SQLITE_NOMEM:
        mem_exhausted(0);
    case SQLITE_IOERR:
        if (is_out_of_space(c, rc))
            return ERR_STORAGE_FULL;
        if (rc != SQLITE_IOERR_FSYNC && rc != SQLITE_IOERR_DIR_FSYNC)
            return ERR_UNAVAILABLE;
        /* After a failed fsync the kernel may have dropped the pages: the state of the disk is
         * unknown, and a second fsync would report success. */
        return sqlite_give_up(c->store, "an fsync of the database failed");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return sqlite_give_up(c->store, "the database file is damaged");
    default:
        LOG(LOG_ERROR, "sqlite refused a statement",
            LOG_STR("error", str_of(sqlite3_errmsg(c->db))));
        return ERR_INTERNAL;
    }
}

enum error sqlite_exec(struct sqlite_connection *c, const char *sql)
{
    return sqlite_error(c, sqlite3_exec(c->db, sql, NULL, NULL, NULL));
}

enum error sqlite_do(struct sqlite_connection *c, enum sqlite_verb verb)
{
    static const char *const texts[SQLITE_VERB_COUNT] = {
        [SQLITE_VERB_BEGIN] = "BEGIN",
        [SQLITE_VERB_BEGIN_IMMEDIATE] = "BEGIN IMMEDIATE",
        [SQLITE_VERB_COMMIT] = "COMMIT",
        [SQLITE_VERB_ROLLBACK] = "ROLLBACK",
        [SQLITE_VERB_SAVEPOINT] = "SAVEPOINT job",
        [SQLITE_VERB_RELEASE] = "RELEASE job",
        [SQLITE_VERB_ROLLBACK_TO] = "ROLLBACK TO job",
    };
    sqlite3_stmt **slot = &c->verbs[verb];
    int rc = SQLITE_OK;
    if (*slot == NULL)
        rc = sqlite3_prepare_v3(c->db, texts[verb], -1, SQLITE_PREPARE_PERSISTENT, slot, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(*slot);
        sqlite3_reset(*slot);
    }
    return sqlite_error(c, rc);
}

void sqlite_disconnect(struct sqlite_connection *c)
{
    for (size_t i = 0; i < SQLITE_VERB_COUNT; i++)
        sqlite3_finalize(c->verbs[i]);
    if (c->statements != NULL)
        for (size_t i = 0; i < c->store->base.config.n_statements; i++)
            sqlite3_finalize(c->statements[i]);
    mem_free(c->statements);
    /* The bytes of the WAL on the disk are unknown: the next start recovers from them. */
    if (c->store != NULL && atomic_load(&c->store->is_broken))
        sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(c->db);
    *c = (struct sqlite_connection){0};
}

static sqlite3_stmt *stmt_of(const struct query *q)
{
    return q->handle;
}

static void begin(struct query *q)
{
    struct sqlite_connection *c = q->tx->connection;
    sqlite3_stmt **slot = &c->statements[q->statement->index];
    if (*slot == NULL) {
        int rc = sqlite3_prepare_v3(
            c->db, q->statement->text[ENGINE_SQLITE], -1, SQLITE_PREPARE_PERSISTENT, slot, NULL);
        if (rc != SQLITE_OK) {
            q->error = sqlite_error(c, rc);
            return;
        }
    }
    /* A statement cannot be run again while its own rows are being read. */
    assert(!sqlite3_stmt_busy(*slot));
    q->handle = *slot;
}

static void check(struct query *q, int rc)
{
    if (rc != SQLITE_OK)
        q->error = sqlite_error(q->tx->connection, rc);
}

static void bind_text(struct query *q, unsigned param, struct str value)
{
    check(q, sqlite3_bind_text64(
                 stmt_of(q), (int)param + 1, value.ptr, value.len, SQLITE_STATIC, SQLITE_UTF8));
}

/* Small values are kept in the query itself, since SQLite would allocate memory for its copy. */
static void bind_bytes(struct query *q, unsigned param, struct str value)
{
    void (*keep)(void *) = SQLITE_TRANSIENT;
    if (value.len <= sizeof q->small - q->n_small) {
        memcpy(q->small + q->n_small, value.ptr, value.len);
        value.ptr = q->small + q->n_small;
        q->n_small += (unsigned)value.len;
        keep = SQLITE_STATIC;
    }
    check(q, sqlite3_bind_blob64(stmt_of(q), (int)param + 1, value.ptr, value.len, keep));
}

static void bind_i64(struct query *q, unsigned param, int64_t value)
{
    check(q, sqlite3_bind_int64(stmt_of(q), (int)param + 1, value));
}

static bool next(struct query *q)
{
    int rc = sqlite3_step(stmt_of(q));
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE)
        q->error = sqlite_error(q->tx->connection, rc);
    return false;
}

static void run(struct query *q)
{
    while (next(q)) {
    }
}

static void end(struct query *q)
{
    sqlite3_reset(stmt_of(q));
    sqlite3_clear_bindings(stmt_of(q));
}

static int64_t changed(struct query *q)
{
    struct sqlite_connection *c = q->tx->connection;
    return sqlite3_changes64(c->db);
}

static bool is_null(struct query *q, unsigned column)
{
    assert(column < (unsigned)sqlite3_column_count(stmt_of(q)));
    return sqlite3_column_type(stmt_of(q), (int)column) == SQLITE_NULL;
}

static struct str get_text(struct query *q, unsigned column)
{
    const char *text = (const char *)sqlite3_column_text(stmt_of(q), (int)column);
    if (text == NULL)
        mem_exhausted(0);
    return (struct str){text, (size_t)sqlite3_column_bytes(stmt_of(q), (int)column)};
}

static struct str get_bytes(struct query *q, unsigned column)
{
    const char *bytes = sqlite3_column_blob(stmt_of(q), (int)column);
    size_t len = (size_t)sqlite3_column_bytes(stmt_of(q), (int)column);
    return (struct str){bytes == NULL ? "" : bytes, len};
}

static int64_t get_i64(struct query *q, unsigned column)
{
    return sqlite3_column_int64(stmt_of(q), (int)column);
}

/* --- The store ------------------------------------------------------------------------------ */

static void submit(struct store *store, struct store_job *job)
{
    struct sqlite_store *s = CONTAINER_OF(store, struct sqlite_store, base);
    struct job_queue *queue = job->mode == STORE_WRITE       ? &s->writes
                              : job->mode == STORE_READ_LONG ? &s->long_reads.queue
                                                             : &s->reads.queue;
    if (!job_queue_put(queue, job))
        job->done(job, ERR_UNAVAILABLE);
}

static struct store_stats stats(const struct store *store)
{
    const struct sqlite_store *s = CONTAINER_OF(store, struct sqlite_store, base);
    return (struct store_stats){
        .commits = atomic_load(&s->n_commits),
        .writes = atomic_load(&s->n_writes),
        .reads = atomic_load(&s->n_reads),
        .rollbacks = atomic_load(&s->n_rollbacks),
        .checkpoints = atomic_load(&s->n_checkpoints),
        .queued = job_queue_count(&s->writes) + job_queue_count(&s->reads.queue),
        .commit_us = atomic_load(&s->commit_us),
        .connected = true,
        .has_reserve = !space_is_short(s),
        .free_bytes = reserve_free_bytes(s->directory_fd),
    };
}

static void give_up(struct store *store, const char *why)
{
    (void)sqlite_give_up(CONTAINER_OF(store, struct sqlite_store, base), why);
}

const struct engine_ops sqlite_ops = {
    .close = sqlite_close,
    .submit = submit,
    .stats = stats,
    .give_up = give_up,
    .begin = begin,
    .bind_text = bind_text,
    .bind_bytes = bind_bytes,
    .bind_i64 = bind_i64,
    .next = next,
    .run = run,
    .end = end,
    .changed = changed,
    .is_null = is_null,
    .get_text = get_text,
    .get_bytes = get_bytes,
    .get_i64 = get_i64,
    .extend = sqlite_extend,
    .sequence_take = sqlite_sequence_take,
    .sequence_drop = sqlite_sequence_drop,
    .sequence_settle = sqlite_sequence_settle,
};
