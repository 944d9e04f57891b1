/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader threads. Each has its own connection and runs one read job at a time in a transaction.
 * A job that reads for longer than SQLITE_READ_DEADLINE_US is interrupted.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "store/sqlite.h"

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
    enum error e =
        atomic_load(&c->store->is_broken) ? ERR_UNAVAILABLE : sqlite_do(c, SQLITE_VERB_BEGIN);
    if (e == OK)
        e = job_run_whole(job, &tx);
    tx_drop_memo(&tx);
    if (!sqlite3_get_autocommit(c->db)) {
        enum error ended = sqlite_do(c, SQLITE_VERB_COMMIT);
        e = e != OK ? e : ended;
    }
    atomic_fetch_add(&c->store->n_reads, 1);
    job->done(job, e);
}

static void *reader_main(void *data)
{
    thread_set_name("cairn-reader");
    struct sqlite_connection *c = data;
    sqlite3_progress_handler(c->db, 10000, is_past_deadline, c);
    struct store_job *job;
    while ((job = job_queue_take(&c->store->reads, 1)) != NULL)
        run_read(c, job);
    return NULL;
}

enum error sqlite_readers_start(struct sqlite_store *s, struct problem *problem)
{
    enum error e = OK;
    job_queue_init(&s->reads);
    s->reader_threads = mem_zalloc(s->base.config.readers * sizeof(pthread_t));
    while (e == OK && s->n_reader_threads < s->base.config.readers) {
        unsigned i = s->n_reader_threads;
        e = thread_start(&s->reader_threads[i], reader_main, &s->readers[i], problem);
        s->n_reader_threads += e == OK;
    }
    if (e != OK)
        sqlite_readers_stop(s);
    return e;
}

void sqlite_readers_stop(struct sqlite_store *s)
{
    job_queue_close(&s->reads);
    for (unsigned i = 0; i < s->n_reader_threads; i++)
        pthread_join(s->reader_threads[i], NULL);
    mem_free(s->reader_threads);
    job_queue_deinit(&s->reads);
}
