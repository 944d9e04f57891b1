/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pulse of the database: a connection of its own that listens for commits of other nodes, asks
 * once a second for the time and the position of the log, and ends the sessions of stopped nodes.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/postgres.h"
#include "store/transfer_mark.h"

/* --- Changes -------------------------------------------------------------------------------- */

void pg_changed(struct pg_store *s)
{
    pthread_mutex_lock(&s->change_mutex);
    s->n_changes++;
    pthread_cond_broadcast(&s->change_cond);
    pthread_mutex_unlock(&s->change_mutex);
}

/* Not in the writer's transaction: NOTIFY takes a lock of the whole server until its commit is on
 * the disk, and every commit would wait for the one before. Several commits at once send one
 * NOTIFY. */
void pg_committed(struct pg_store *s)
{
    pg_changed(s);
    if (!atomic_exchange(&s->must_notify, true))
        (void)!eventfd_write(s->pulse_fd, 1);
}

void pg_wake(struct store *store)
{
    pg_changed(CONTAINER_OF(store, struct pg_store, base));
}

void pg_wait(struct store *store, uint32_t timeout_ms)
{
    struct pg_store *s = CONTAINER_OF(store, struct pg_store, base);
    if (atomic_load(&s->is_pooled) && timeout_ms > POSTGRES_POOLED_WAIT_MS)
        timeout_ms = POSTGRES_POOLED_WAIT_MS;
    int64_t until_us = clock_steady_us() + (int64_t)timeout_ms * 1000;
    bool is_early = true;
    pthread_mutex_lock(&s->change_mutex);
    while (s->n_changes == s->n_changes_seen && is_early)
        is_early = thread_cond_wait_until(&s->change_cond, &s->change_mutex, until_us);
    s->n_changes_seen = s->n_changes;
    pthread_mutex_unlock(&s->change_mutex);
}

/* --- The pulse ------------------------------------------------------------------------------ */

enum {
    ROUND_TRIP_MAX_US = 100 * 1000,
    CLOCK_MAX_AGE_US = 30 * 1000 * 1000,
    FIRST_TRIES = 5, /* for a quick answer to the first question */
};

/* Reads the database's clock and the length of its log. */
static bool ask_pulse(
    struct pg_connection *c, int64_t numbers[2], int64_t *out_asked_us, int64_t *out_answered_us)
{
    *out_asked_us = clock_steady_us();
    if (!pg_ask(c,
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,"
            " pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint",
            numbers, 2))
        return false;
    *out_answered_us = clock_steady_us();
    return true;
}

/* Assumes that the clock was read halfway between the query and its answer. A slow answer is
 * inexact, but better than an old one. */
static bool take_pulse(struct pg_connection *c, struct pg_samples *samples)
{
    struct pg_store *s = c->store;
    int64_t numbers[2], asked_us, answered_us;
    if (!ask_pulse(c, numbers, &asked_us, &answered_us))
        return false;
    /* Leases use the first result until a better one corrects it. */
    for (unsigned i = 1; !samples->has_time && i < FIRST_TRIES; i++)
        if (answered_us - asked_us >= ROUND_TRIP_MAX_US &&
            !ask_pulse(c, numbers, &asked_us, &answered_us))
            return false;
    if (!samples->has_time || answered_us - asked_us < ROUND_TRIP_MAX_US ||
        answered_us - samples->clock_read_us > CLOCK_MAX_AGE_US) {
        atomic_store(&s->lease_offset_us, numbers[0] - (asked_us + answered_us) / 2);
        samples->clock_read_us = answered_us;
    }
    /* Fills the samples of the time before the first pulse with the first position. */
    for (unsigned i = 0; !samples->has_time && i < POSTGRES_LAG_SAMPLES; i++)
        samples->lsn[i] = numbers[1];
    samples->has_time = true;
    atomic_store(&s->pulse_at_us, answered_us);
    atomic_store(&s->old_lsn, samples->lsn[samples->next]);
    samples->lsn[samples->next] = numbers[1];
    samples->next = (samples->next + 1) % POSTGRES_LAG_SAMPLES;
    return true;
}

/*
 * A node that stops while it sends or receives keeps its locks, and holds back the horizon of every
 * node: the database considers the session active, so that none of its timeouts applies. The first
 * node that notices ends the session. A session of Cairn is recognized by what it holds: a row of
 * our tables, or a position in the order of event ids.
 */
static const char END_SILENT[] =
    "SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity AS a"
    " WHERE a.datname = current_database() AND a.state = 'active'"
    " AND a.query_start < clock_timestamp() - CASE a.wait_event"
    "   WHEN 'ClientRead' THEN interval '5 s' WHEN 'ClientWrite' THEN interval '12 s' END"
    " AND (pg_has_role(a.usesysid, 'USAGE') OR pg_has_role('pg_signal_backend', 'USAGE'))"
    " AND EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND l.granted"
    "   AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = a.datname)"
    "   AND (l.locktype = 'advisory' AND l.classid = to_regclass('\"%s\".event_ids')::oid"
    "     OR l.mode IN ('RowShareLock', 'RowExclusiveLock') AND l.relation IN (SELECT r.oid"
    "       FROM pg_class AS r WHERE r.relnamespace = to_regnamespace('\"%s\"')::oid)))";
_Static_assert(POSTGRES_IDLE_TIMEOUT_MS == 5000 && POSTGRES_ANSWER_TIMEOUT_US == 12000000,
    "END_SILENT says the same");

/* Returns false if the connection is unusable. */
static bool end_silent(struct pg_connection *c)
{
    struct pg_store *s = c->store;
    char sql[sizeof END_SILENT + 2 * POSTGRES_NAME_MAX_BYTES];
    int64_t ended;
    if (s->cannot_end)
        return true;
    snprintf(sql, sizeof sql, END_SILENT, s->schema, s->schema);
    if (!pg_ask(c, sql, &ended, 1)) {
        /* Without the right to end sessions the pulse does not try again, and continues. */
        s->cannot_end = !c->lost;
        if (s->cannot_end)
            LOG(LOG_WARN, "this role cannot end the sessions of stopped nodes");
        return false;
    }
    if (ended > 0)
        LOG(LOG_WARN, "ended the open transaction of a stopped node", LOG_I64("sessions", ended));
    return true;
}

static bool listen_to_others(struct pg_connection *c)
{
    char sql[96];
    atomic_store(&c->store->is_pooled, c->pooled);
    snprintf(sql, sizeof sql, "LISTEN \"%s\"", c->store->channel);
    /* A notification is a hint: no need to wait for the disk. */
    return c->pooled || (pg_send(c, sql) && pg_send(c, "SET synchronous_commit = off"));
}

/* All servers of the schema share the lock, so that cairn migrate, which needs it alone, detects
 * them. Behind a pooler no lock outlives a transaction. */
static bool share_schema(struct pg_connection *c, bool *out_shared)
{
    static const char SHARE[] =
        "SELECT pg_try_advisory_lock_shared(1667328367, hashtext('%s'))::int";
    char sql[sizeof SHARE + POSTGRES_NAME_MAX_BYTES];
    int64_t shared = 1;
    bool good = true;
    if (!c->pooled && !c->store->base.config.inspects) {
        snprintf(sql, sizeof sql, SHARE, c->store->schema);
        good = pg_ask(c, sql, &shared, 1);
    }
    *out_shared = good && shared != 0;
    return good;
}
_Static_assert(TRANSFER_LOCK == 1667328367, "share_schema says the same");

/* While the connection was lost, cairn migrate may have taken the lock: as long as it holds the
 * lock, the node counts as disconnected. */
static bool come_back(struct pg_connection *c)
{
    bool is_shared;
    if (!listen_to_others(c) || !share_schema(c, &is_shared))
        return false;
    if (!is_shared)
        LOG(LOG_ERROR, "cairn migrate is using the schema: this server must be stopped");
    return is_shared;
}

static void notify_others(struct pg_connection *c)
{
    eventfd_t count;
    (void)!eventfd_read(c->store->pulse_fd, &count);
    if (atomic_exchange(&c->store->must_notify, false) &&
        pg_send_own(c, PG_NOTIFY, c->store->channel, c->store->node))
        pg_catch_up(c);
}

static void take_notifications(struct pg_connection *c)
{
    PGnotify *n;
    bool changed = false;
    while ((n = PQnotifies(c->conn)) != NULL) {
        changed = changed || strcmp(n->extra, c->store->node) != 0;
        PQfreemem(n);
    }
    if (changed)
        pg_changed(c->store);
}

/* Waits until the next pulse is due, the connection is lost, or the store closes. */
static void wait_for_others(struct pg_connection *c, int64_t until_us)
{
    int64_t left_us;
    notify_others(c);
    take_notifications(c);
    while (!c->lost && !atomic_load(&c->store->closing) &&
           (left_us = until_us - clock_steady_us()) > 0) {
        struct pollfd fds[] = {{.fd = PQsocket(c->conn), .events = POLLIN},
            {.fd = c->store->pulse_fd, .events = POLLIN}};
        if (poll(fds, 2, (int)(left_us / 1000) + 1) <= 0)
            continue;
        if (fds[1].revents != 0)
            notify_others(c);
        if (c->lost || (fds[0].revents != 0 && PQconsumeInput(c->conn) != 1))
            c->lost = true;
        else
            take_notifications(c);
    }
}

/* The same without a connection. */
static void rest(struct pg_store *s, int64_t until_us)
{
    int64_t left_us;
    eventfd_t count;
    while (!atomic_load(&s->closing) && (left_us = until_us - clock_steady_us()) > 0) {
        struct pollfd fd = {.fd = s->pulse_fd, .events = POLLIN};
        if (poll(&fd, 1, (int)(left_us / 1000) + 1) > 0)
            (void)!eventfd_read(s->pulse_fd, &count);
    }
}

static void note_connected(struct pg_store *s, bool connected)
{
    if (atomic_exchange(&s->is_connected, connected) == connected)
        return;
    if (connected)
        LOG(LOG_INFO, "the database is reachable again");
    else
        LOG(LOG_WARN, "the database cannot be reached");
}

static void *pulse_main(void *data)
{
    thread_set_name("cairn-pulse");
    struct pg_store *s = data;
    struct pg_connection *c = &s->pulse;
    struct pg_samples samples = s->samples;
    bool fresh = false; /* the connection of pg_pulse_start listens already */
    while (!atomic_load(&s->closing)) {
        int64_t next_us = clock_steady_us() + POSTGRES_PULSE_MS * 1000;
        fresh = fresh || c->conn == NULL;
        if (!pg_ensure(c, next_us)) {
            note_connected(s, false);
            rest(s, next_us);
            continue;
        }
        bool good = (!fresh || come_back(c)) && take_pulse(c, &samples) && end_silent(c);
        if (good) {
            note_connected(s, true);
            if (fresh)
                pg_changed(s); /* other nodes may have committed meanwhile */
            fresh = false;
            wait_for_others(c, next_us);
            good = !c->lost && c->error == OK;
        }
        if (!good) {
            pg_disconnect(c);
            rest(s, next_us);
        }
    }
    return NULL;
}

enum error pg_pulse_start(struct pg_store *s, struct problem *problem)
{
    pg_connection_init(&s->pulse, s, &s->primary);
    bool is_shared = false;
    TRY(pg_connect(&s->pulse, problem));
    if (!listen_to_others(&s->pulse) || !share_schema(&s->pulse, &is_shared) ||
        !take_pulse(&s->pulse, &s->samples))
        return problem_set(
            problem, ERR_UNAVAILABLE, "the connection to the database was lost during the start");
    if (!is_shared)
        return problem_set(problem, ERR_UNAVAILABLE,
            "cairn migrate is using the schema \"%s\"; wait until it has finished", s->schema);
    s->pulse.was_connected = true;
    atomic_store(&s->is_connected, true);
    s->pulse_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->pulse_fd < 0)
        return problem_set(
            problem, ERR_UNAVAILABLE, "cannot create an eventfd: %s", strerror(errno));
    enum error e = thread_start(&s->pulse_thread, pulse_main, s, problem);
    if (e != OK) {
        close(s->pulse_fd);
        s->pulse_fd = -1;
    }
    return e;
}

void pg_pulse_stop(struct pg_store *s)
{
    if (s->pulse_fd >= 0) {
        (void)!eventfd_write(s->pulse_fd, 1);
        pthread_join(s->pulse_thread, NULL);
        close(s->pulse_fd);
    }
    pg_connection_deinit(&s->pulse);
}
