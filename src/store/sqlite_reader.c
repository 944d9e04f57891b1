/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader threads. Each has its own connection and runs one read job at a time in a transaction.
 * A READ job that reads for longer than SQLITE_READ_LIMIT_US is interrupted, and so is a READ_LONG
 * job that reads one page for so long (tx_extend).
 *
 * The threads of READ_LONG jobs connect for each job: such jobs are rare and last long, and an open
 * connection keeps its page cache.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/sqlite.h"

enum { INSTRUCTIONS_BETWEEN_LOOKS = 10000, PROBLEM_BYTES = 64 * 1024 };

static int is_past_deadline(void *data)
{
    const struct sqlite_connection *c = data;
    return clock_steady_us() > c->read_deadline_us;
}

void sqlite_extend(struct tx *tx)
{
    struct sqlite_connection *c = tx->connection;
    c->read_deadline_us = clock_steady_us() + c->store->read_limit_us;
}

static enum error read_all(struct sqlite_connection *c, struct store_job *job)
{
    struct tx tx;
    tx_init(&tx, &c->store->base, c, false);
    sqlite_extend(&tx);
    enum error e =
        atomic_load(&c->store->is_broken) ? ERR_UNAVAILABLE : sqlite_do(c, SQLITE_VERB_BEGIN);
    if (e == OK)
        e = job_run_whole(job, &tx);
    tx_drop_memo(&tx);
    if (!sqlite3_get_autocommit(c->db)) {
        enum error ended = sqlite_do(c, SQLITE_VERB_COMMIT);
        e = e != OK ? e : ended;
    }
    return e;
}

static void end(struct sqlite_reader *r, struct store_job *job, int64_t start_us, enum error e)
{
    atomic_fetch_add(&r->store->n_reads, 1);
    job->used_us = clock_steady_us() - start_us;
    job_queue_end_one(&r->readers->queue, job);
    job->done(job, e);
}

static enum error connect_reader(struct sqlite_reader *r, struct problem *problem)
{
    struct sqlite_connection *c = &r->connection;
    TRY(sqlite_connect(r->store, c, false, problem));
    sqlite3_progress_handler(c->db, INSTRUCTIONS_BETWEEN_LOOKS, is_past_deadline, c);
    return OK;
}

static enum error connect_and_read(struct sqlite_reader *r, struct store_job *job)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(PROBLEM_BYTES);
    struct problem problem = PROBLEM_INIT(&arena);
    enum error e = connect_reader(r, &problem);
    atomic_fetch_add(&r->store->n_long_reads, 1);
    if (e == OK)
        e = read_all(&r->connection, job);
    else
        LOG(LOG_ERROR, "a long read cannot begin", LOG_STR("error", problem.detail));
    atomic_fetch_sub(&r->store->n_long_reads, 1);
    sqlite_disconnect(&r->connection);
    return e;
}

static void *reader_main(void *data)
{
    struct sqlite_reader *r = data;
    struct store_job *job;
    thread_set_name("cairn-reader");
    thread_lower_priority();
    while ((job = job_queue_take(&r->readers->queue, 1)) != NULL) {
        int64_t start_us = clock_steady_us();
        end(r, job, start_us, read_all(&r->connection, job));
    }
    return NULL;
}

static void *long_reader_main(void *data)
{
    struct sqlite_reader *r = data;
    struct store_job *job;
    thread_set_name("cairn-long-read");
    thread_lower_priority();
    while ((job = job_queue_take(&r->readers->queue, 1)) != NULL) {
        int64_t start_us = clock_steady_us();
        end(r, job, start_us, connect_and_read(r, job));
    }
    return NULL;
}

/* --- Life ----------------------------------------------------------------------------------- */

static void init(
    struct sqlite_store *s, struct sqlite_readers *readers, unsigned count, unsigned share)
{
    job_queue_init(&readers->queue, share);
    readers->all = mem_zalloc(count * sizeof(struct sqlite_reader));
    readers->count = count;
    for (unsigned i = 0; i < count; i++)
        readers->all[i] = (struct sqlite_reader){.store = s, .readers = readers};
}

void sqlite_readers_init(struct sqlite_store *s)
{
    unsigned share = s->base.config.readers;
    s->read_limit_us = SQLITE_READ_LIMIT_US;
    init(s, &s->reads, share + STORE_SPARE_READERS, share);
    init(s, &s->long_reads, STORE_LONG_READERS, 0);
}

enum error sqlite_readers_connect(struct sqlite_store *s, struct problem *problem)
{
    for (unsigned i = 0; i < s->reads.count; i++)
        TRY(connect_reader(&s->reads.all[i], problem));
    return OK;
}

static enum error start(
    struct sqlite_readers *readers, void *(*run)(void *data), struct problem *problem)
{
    for (; readers->n_started < readers->count; readers->n_started++) {
        struct sqlite_reader *r = &readers->all[readers->n_started];
        TRY(thread_start(&r->thread, run, r, problem));
    }
    return OK;
}

static void stop(struct sqlite_readers *readers)
{
    job_queue_close(&readers->queue);
    for (unsigned i = 0; i < readers->n_started; i++)
        pthread_join(readers->all[i].thread, NULL);
    readers->n_started = 0;
}

enum error sqlite_readers_start(struct sqlite_store *s, struct problem *problem)
{
    enum error e = start(&s->reads, reader_main, problem);
    if (e == OK)
        e = start(&s->long_reads, long_reader_main, problem);
    if (e != OK)
        sqlite_readers_stop(s);
    return e;
}

void sqlite_readers_stop(struct sqlite_store *s)
{
    stop(&s->long_reads);
    stop(&s->reads);
}

static void deinit(struct sqlite_readers *readers)
{
    for (unsigned i = 0; i < readers->count; i++)
        if (readers->all[i].connection.store != NULL)
            sqlite_disconnect(&readers->all[i].connection);
    mem_free(readers->all);
    job_queue_deinit(&readers->queue);
}

void sqlite_readers_deinit(struct sqlite_store *s)
{
    deinit(&s->long_reads);
    deinit(&s->reads);
}
