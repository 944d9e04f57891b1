/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "store/postgres.h"

/* Returns false if the connection was lost, so that the job may run again. */
static bool try_read(struct pg_connection *c, struct store_job *job)
{
    struct tx tx;
    tx_init(&tx, &c->store->base, c, false);
    pg_begin_transaction(c);
    c->job = job;
    enum error e = ERR_UNAVAILABLE;
    if (pg_begin(c, PG_BEGIN_READ))
        e = job_run_whole(job, &tx);
    tx_drop_memo(&tx);
    c->job = NULL;
    bool lost = c->lost, again = c->again;
    /* No job waits for the end of a transaction that only read: the next job reads its answer. */
    if (c->lost || c->error != OK || !pg_send_commit(c) || PQflush(c->conn) < 0)
        pg_abandon(c);
    job->result = e;
    return e == OK || !(lost || again);
}

static void end(struct pg_readers *r, struct store_job *job, int64_t start_us)
{
    job->used_us = clock_steady_us() - start_us;
    job_queue_end_one(&r->queue, job);
}

static void run_read(struct pg_readers *r, struct pg_connection *c, struct store_job *job)
{
    int64_t start_us = clock_steady_us();
    enum error e = ERR_UNAVAILABLE;
    while (job->attempts++ < POSTGRES_MAX_ATTEMPTS && pg_ensure(c, job->deadline_us)) {
        if (try_read(c, job)) {
            e = job->result;
            break;
        }
        atomic_fetch_add(&c->store->n_retries, 1);
    }
    if (r->is_long) {
        pg_disconnect(c);
        c->was_connected = false; /* the next connection is not one that replaces a lost one */
    }
    atomic_fetch_add(&c->store->n_reads, 1);
    end(r, job, start_us);
    job->done(job, e);
}

/* --- The replica ---------------------------------------------------------------------------- */

/* Compares the replica's log with the position that the primary reported some pulses ago; a replica
 * before that position is too far behind for readers. */
static bool is_near(struct pg_connection *c)
{
    int64_t lsn;
    return pg_ask(c,
               "SELECT pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery()"
               " THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0')::bigint",
               &lsn, 1) &&
           lsn >= atomic_load(&c->store->old_lsn);
}

static void run_stale(struct pg_readers *r, struct pg_connection *c, struct store_job *job)
{
    int64_t start_us = clock_steady_us();
    bool has_run = pg_ensure(c, start_us + 1) && is_near(c) && try_read(c, job);
    end(r, job, start_us);
    if (has_run) {
        atomic_fetch_add(&c->store->n_reads, 1);
        job->done(job, job->result);
        return;
    }
    if (c->lost || c->error != OK)
        pg_abandon(c);
    job->mode = STORE_READ;
    store_submit(&c->store->base, job);
}

/* --- Threads -------------------------------------------------------------------------------- */

struct reader {
    struct pg_readers *readers;
    unsigned index;
};

static void *reader_main(void *data)
{
    thread_set_name("cairn-reader");
    struct reader *reader = data;
    struct pg_readers *r = reader->readers;
    struct pg_connection *c = &r->connections[reader->index];
    struct store_job *job;
    mem_free(reader);
    while ((job = job_queue_take(&r->queue, 1)) != NULL) {
        if (c->target->replica)
            run_stale(r, c, job);
        else
            run_read(r, c, job);
    }
    return NULL;
}

static enum error start_one(struct pg_readers *r, struct pg_store *s,
    const struct pg_target *target, struct problem *problem)
{
    struct reader *reader = MEM_NEW(struct reader);
    *reader = (struct reader){r, r->count};
    pg_connection_init(&r->connections[r->count], s, target);
    r->connections[r->count].is_long = r->is_long;
    enum error e = thread_start(&r->threads[r->count], reader_main, reader, problem);
    if (e != OK) {
        pg_connection_deinit(&r->connections[r->count]);
        mem_free(reader);
        return e;
    }
    r->count++;
    return OK;
}

enum error pg_readers_start(struct pg_readers *r, struct pg_store *s,
    const struct pg_target *target, unsigned count, unsigned share, struct problem *problem)
{
    job_queue_init(&r->queue, share);
    r->connections = mem_zalloc(count * sizeof(struct pg_connection));
    r->threads = mem_zalloc(count * sizeof(pthread_t));
    while (r->count < count)
        TRY(start_one(r, s, target, problem));
    return OK;
}

void pg_readers_stop(struct pg_readers *r)
{
    if (r->connections == NULL)
        return;
    job_queue_close(&r->queue);
    for (unsigned i = 0; i < r->count; i++) {
        pthread_join(r->threads[i], NULL);
        pg_connection_deinit(&r->connections[i]);
    }
    mem_free(r->connections);
    mem_free(r->threads);
    job_queue_deinit(&r->queue);
}
