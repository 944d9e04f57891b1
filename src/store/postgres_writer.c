/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/thread.h"
#include "store/postgres.h"

enum outcome {
    COMMITTED,
    UNKNOWN, /* the connection was lost after COMMIT was sent */
    LOST,    /* the connection was lost before */
    FAILED,  /* a statement failed: nothing has changed */
};

/* --- One transaction ------------------------------------------------------------------------ */

/* Writers use the connections of lanes alone. */
static struct pg_lane *lane_of(struct pg_connection *c)
{
    return CONTAINER_OF(c, struct pg_lane, connection);
}

/* Runs one half of a job. Returns false if the transaction cannot continue. */
static bool do_half(struct pg_connection *c, struct store_job *job, struct tx *tx,
    enum error (*half)(struct store_job *job, struct tx *tx))
{
    struct hub_item **published = tx->published_end;
    c->job = job;
    c->waited_us = c->others_us = 0;
    c->wrote = false;
    c->tenant[0] = '\0';
    if (half == job->run)
        job->has_changed = false;
    int64_t start_us = clock_steady_us();
    atomic_store(&lane_of(c)->flow, job->flow);
    job->result = half(job, tx);
    job->used_us += clock_steady_us() - start_us - c->others_us;
    c->waited_us = 0;
    if (c->lost || c->error != OK)
        return false;
    if (job->result == OK && !c->again)
        return true;
    tx_unpublish_from(tx, published);
    tx_drop_memo(tx);
    /* A job that wrote must be undone. By its second half the server has reported if it wrote. */
    bool failed = c->again || c->wrote || (half == job->finish && job->has_changed);
    if (failed)
        c->culprit = job;
    return !failed;
}

/* Ends the batch with this job if it has used the time of a batch up. */
static void end_if_used_up(struct pg_connection *c, struct store_job *last, int64_t used_us)
{
    struct job_queue *q = &lane_of(c)->queue;
    if (last->next == NULL || !job_queue_is_used_up(q, used_us))
        return;
    job_queue_return(q, last->next);
    last->next = NULL;
}

static bool run_jobs(struct pg_connection *c, struct store_job *batch, struct tx *tx)
{
    int64_t start_us = clock_steady_us();
    bool good = pg_begin(c, PG_BEGIN_WRITE);
    struct store_job *first = batch; /* of a flow, in a row */
    for (struct store_job *job = batch; good && job != NULL; job = job->next) {
        /* From the second job on the transaction holds locks, so it must not wait for others. */
        if (job == batch->next)
            good = pg_send_own(c, PG_LOCK_AT_ONCE, NULL, NULL);
        good = good && do_half(c, job, tx, job->run);
        end_if_used_up(c, job, clock_steady_us() - start_us);
        if (job->next != NULL && job->next->flow == job->flow)
            continue;
        if (good)
            pg_end_share(c, first, job);
        first = job->next;
    }
    c->job = NULL;
    return good;
}

static bool finish_jobs(struct pg_connection *c, struct store_job *batch, struct tx *tx)
{
    bool good = true, caught_up = false;
    for (struct store_job *job = batch; good && job != NULL; job = job->next) {
        if (job->result != OK || job->finish == NULL)
            continue;
        good = caught_up || pg_catch_up(c);
        caught_up = true;
        good = good && do_half(c, job, tx, job->finish);
    }
    c->job = NULL;
    return good;
}

static bool commit(struct pg_connection *c)
{
    int64_t start_us = clock_steady_us();
    /* If the connection is lost before COMMIT is sent, the batch can simply run again. */
    if (pg_is_gone(c)) {
        c->lost = true;
        return false;
    }
    if (pg_send_commit(c))
        pg_settle(c);
    bool good = c->committed;
    c->unknown = !good && c->lost;
    if (good) {
        atomic_fetch_add(&c->store->commit_us, (uint64_t)(clock_steady_us() - start_us));
        atomic_fetch_add(&c->store->n_commits, 1);
    }
    return good;
}

/* The tail reads some items from the tables; only the others are published in this process. */
static void publish(struct pg_store *s, struct tx *tx)
{
    struct hub_item **at = &tx->published;
    while (*at != NULL) {
        struct hub_item *item = *at;
        if (item->is_read) {
            *at = item->next_in_tx;
            hub_item_unref(item);
        } else {
            at = &item->next_in_tx;
        }
    }
    tx->published_end = at;
    hub_publish(s->base.hub, tx->published);
}

static enum outcome try_batch(struct pg_connection *c, struct store_job *batch)
{
    struct tx tx;
    tx_init(&tx, &c->store->base, c, true);
    pg_begin_transaction(c);
    bool good = run_jobs(c, batch, &tx) && finish_jobs(c, batch, &tx);
    tx_drop_memo(&tx);
    c->notify = c->notify || tx.published != NULL;
    good = good && commit(c);
    if (good)
        publish(c->store, &tx);
    bool notify = good && c->notify;
    tx_unpublish_from(&tx, &tx.published);
    if (notify)
        pg_committed(c->store);
    if (good && c->lost)
        pg_disconnect(c);
    if (good)
        return COMMITTED;
    atomic_fetch_add(&c->store->n_rollbacks, 1);
    enum outcome outcome = c->lost ? (c->unknown ? UNKNOWN : LOST) : FAILED;
    struct store_job *culprit = c->culprit;
    bool again = c->again, blocked = c->blocked;
    enum error error = c->error;
    pg_abandon(c);
    c->culprit = culprit;
    c->again = again;
    c->blocked = blocked;
    c->error = error;
    return outcome;
}

/* --- A batch, until every job has its end --------------------------------------------------- */

static void note_time(struct pg_store *s, const struct store_job *job)
{
    atomic_llong *slot = &s->flow_us[(job->flow >> 8) % POSTGRES_FLOW_SLOTS];
    int64_t average_us = atomic_load(slot);
    atomic_store(slot, average_us + (job->used_us - average_us) / 4);
}

static void end_job(struct pg_connection *c, struct store_job *job, enum error result)
{
    atomic_fetch_add(&c->store->n_writes, 1);
    note_time(c->store, job);
    job_queue_end_one(&lane_of(c)->queue, job);
    job->done(job, result);
}

static void end_all(struct pg_connection *c, struct store_job *batch)
{
    for (struct store_job *job = batch, *next; job != NULL; job = next) {
        next = job->next;
        end_job(c, job, job->result);
    }
}

static void fail_all(struct pg_connection *c, struct store_job *batch, enum error e)
{
    for (struct store_job *job = batch; job != NULL; job = job->next)
        job->result = e;
    end_all(c, batch);
}

/* Removes and fails the jobs whose time or attempts are used up. */
static struct store_job *drop_late(struct pg_connection *c, struct store_job *batch)
{
    int64_t now_us = clock_steady_us();
    struct store_job **at = &batch;
    while (*at != NULL) {
        struct store_job *job = *at;
        bool late = now_us >= job->deadline_us || job->attempts >= POSTGRES_MAX_ATTEMPTS;
        if (!late) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        end_job(c, job, ERR_UNAVAILABLE);
    }
    return batch;
}

static struct store_job *drop_late_until_connected(struct pg_connection *c, struct store_job *batch)
{
    batch = drop_late(c, batch);
    while (batch != NULL && !pg_ensure(c, batch->deadline_us)) {
        if (atomic_load(&c->store->closing) || atomic_load(&c->store->draining)) {
            fail_all(c, batch, ERR_UNAVAILABLE);
            return NULL;
        }
        batch = drop_late(c, batch);
    }
    return batch;
}

static void count_attempt(struct store_job *batch)
{
    for (struct store_job *job = batch; job != NULL; job = job->next)
        job->attempts++;
}

/* Makes one attempt to run a job alone. Returns false if the job has to run again. */
static bool try_alone(struct pg_connection *c, struct store_job *job)
{
    count_attempt(job);
    switch (try_batch(c, job)) {
    case COMMITTED:
        end_job(c, job, job->result);
        return true;
    case UNKNOWN:
        end_job(c, job, ERR_OUTCOME_UNKNOWN);
        return true;
    case FAILED:
        if (!c->again) {
            end_job(c, job, c->error != OK ? c->error : job->result);
            return true;
        }
        /* Waiting for another's lock does not count as an attempt: only the job's time is
         * limited. */
        if (c->blocked)
            job->attempts--;
        break;
    case LOST:
        break;
    }
    atomic_fetch_add(&c->store->n_retries, 1);
    return false;
}

/* Retries until the job ends, or until others wait: then the job moves to the end of the queue. */
static void run_alone(struct pg_lane *lane, struct store_job *job)
{
    struct pg_connection *c = &lane->connection;
    job->next = NULL;
    while ((job = drop_late_until_connected(c, job)) != NULL && !try_alone(c, job))
        if (job_queue_count(&lane->queue) > 0) {
            job_queue_put_back(&lane->queue, job);
            return;
        }
}

static void run_each_alone(struct pg_lane *lane, struct store_job *jobs)
{
    for (struct store_job *job = jobs, *next; job != NULL; job = next) {
        next = job->next;
        run_alone(lane, job);
    }
}

/* Moves the culprit to the end of the list of those that were set aside. */
static void set_aside(struct store_job **batch, struct store_job *culprit, struct store_job **aside)
{
    while (*batch != culprit) {
        assert((*batch)->next != NULL);
        batch = &(*batch)->next;
    }
    *batch = culprit->next;
    culprit->next = NULL;
    while (*aside != NULL)
        aside = &(*aside)->next;
    *aside = culprit;
}

enum { MAX_CULPRITS = 4 };

static void run_batch(struct pg_lane *lane, struct store_job *batch);

/* If many jobs fail, the batch is split to find them. */
static void run_halves(struct pg_lane *lane, struct store_job *batch)
{
    struct store_job **middle = &batch;
    for (struct store_job *end = batch; end != NULL && end->next != NULL; end = end->next->next)
        middle = &(*middle)->next;
    struct store_job *second = *middle;
    *middle = NULL;
    if (batch != NULL)
        run_batch(lane, batch);
    if (second != NULL)
        run_batch(lane, second);
}

/* Returns the jobs that remain once the batch has ended or had too many culprits. */
static struct store_job *try_until_clean(
    struct pg_connection *c, struct store_job *batch, struct store_job **aside)
{
    for (unsigned culprits = 0; culprits < MAX_CULPRITS;) {
        batch = drop_late_until_connected(c, batch);
        if (batch == NULL || batch->next == NULL)
            return batch;
        switch (try_batch(c, batch)) {
        case COMMITTED:
            end_all(c, batch);
            return NULL;
        case UNKNOWN:
            fail_all(c, batch, ERR_OUTCOME_UNKNOWN);
            return NULL;
        case FAILED:
            culprits++;
            set_aside(&batch, c->culprit != NULL ? c->culprit : batch, aside);
            break;
        case LOST:
            count_attempt(batch);
            break;
        }
        atomic_fetch_add(&c->store->n_retries, 1);
    }
    return batch;
}

static void run_batch(struct pg_lane *lane, struct store_job *batch)
{
    struct store_job *aside = NULL;
    batch = try_until_clean(&lane->connection, batch, &aside);
    if (batch != NULL && batch->next != NULL)
        run_halves(lane, batch);
    else
        run_each_alone(lane, batch);
    run_each_alone(lane, aside);
}

/* --- Lanes ---------------------------------------------------------------------------------- */

static void *lane_main(void *data)
{
    thread_set_name("cairn-writer");
    struct pg_lane *lane = data;
    struct store_job *batch;
    while ((batch = job_queue_take(&lane->queue, POSTGRES_BATCH_MAX_JOBS)) != NULL) {
        atomic_store(&lane->flow, batch->flow);
        atomic_store(&lane->busy_since_us, clock_steady_us());
        run_batch(lane, batch);
        atomic_store(&lane->busy_since_us, 0);
    }
    return NULL;
}

enum error pg_lane_start(struct pg_lane *lane, struct pg_store *s, struct problem *problem)
{
    job_queue_init(&lane->queue, 0);
    pg_connection_init(&lane->connection, s, &s->primary);
    enum error e = thread_start(&lane->thread, lane_main, lane, problem);
    if (e != OK) {
        pg_connection_deinit(&lane->connection);
        job_queue_deinit(&lane->queue);
    }
    return e;
}

void pg_lane_stop(struct pg_lane *lane)
{
    job_queue_close(&lane->queue);
    pthread_join(lane->thread, NULL);
    pg_connection_deinit(&lane->connection);
    job_queue_deinit(&lane->queue);
}
