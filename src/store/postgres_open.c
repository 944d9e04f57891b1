/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/content_kind.h"
#include "store/migrate.h"
#include "store/postgres.h"
#include "store/transfer_mark.h"

/* --- Jobs ----------------------------------------------------------------------------------- */

static bool is_slow(struct pg_store *s, uint64_t flow)
{
    return atomic_load(&s->flow_us[(flow >> 8) % POSTGRES_FLOW_SLOTS]) > JOB_QUEUE_BATCH_US;
}

/* Returns true if a job of this flow would wait long for a job of another flow. */
static bool is_held_up(struct pg_store *s, struct pg_lane *lane, uint64_t flow)
{
    int64_t since_us = atomic_load(&lane->busy_since_us);
    uint64_t running = atomic_load(&lane->flow);
    return since_us != 0 && running != flow &&
           (is_slow(s, running) || clock_steady_us() - since_us > JOB_QUEUE_BATCH_US);
}

/* A flow with long jobs uses one lane, and the others avoid that lane while such a job runs. */
static struct pg_lane *lane_for(struct pg_store *s, const struct store_job *job)
{
    unsigned n = s->base.config.writers;
    if (is_slow(s, job->flow))
        return &s->lanes[(job->flow >> 32) % n];
    unsigned first = job->affinity != 0 ? (unsigned)((job->affinity >> 8) % n)
                                        : atomic_fetch_add(&s->next_lane, 1) % n;
    for (unsigned i = 0; i < n; i++) {
        struct pg_lane *lane = &s->lanes[(first + i) % n];
        if (!is_held_up(s, lane, job->flow))
            return lane;
    }
    return &s->lanes[first];
}

static struct job_queue *queue_for(struct pg_store *s, const struct store_job *job)
{
    switch (job->mode) {
    case STORE_WRITE:
        return &lane_for(s, job)->queue;
    case STORE_READ_STALE:
        return s->stale.count > 0 ? &s->stale.queue : &s->reads.queue;
    case STORE_READ_AHEAD:
        return &s->ahead.queue;
    case STORE_READ_LONG:
        return &s->long_reads.queue;
    case STORE_READ:
        break;
    }
    return &s->reads.queue;
}

void pg_submit(struct store *store, struct store_job *job)
{
    struct pg_store *s = CONTAINER_OF(store, struct pg_store, base);
    job->attempts = 0;
    job->deadline_us = clock_steady_us() + POSTGRES_JOB_DEADLINE_US;
    if (!job_queue_put(queue_for(s, job), job))
        job->done(job, ERR_UNAVAILABLE);
}

struct store_stats pg_stats(const struct store *store)
{
    const struct pg_store *s = CONTAINER_OF(store, struct pg_store, base);
    struct store_stats stats = {
        .commits = atomic_load(&s->n_commits),
        .writes = atomic_load(&s->n_writes),
        .reads = atomic_load(&s->n_reads),
        .rollbacks = atomic_load(&s->n_rollbacks),
        .commit_us = atomic_load(&s->commit_us),
        .retries = atomic_load(&s->n_retries),
        .reconnects = atomic_load(&s->n_reconnects),
        .queued = job_queue_count(&s->reads.queue),
        .connected = clock_steady_us() - atomic_load(&s->pulse_at_us) < POSTGRES_PULSE_MAX_AGE_US,
    };
    for (unsigned i = 0; i < s->base.config.writers; i++)
        stats.queued += job_queue_count(&s->lanes[i].queue);
    return stats;
}

/* --- Open ----------------------------------------------------------------------------------- */

/* Warns of settings that an operator should know of and that tests cannot detect. */
static void warn(struct pg_connection *c)
{
    static const struct {
        const char *sql;
        const char *warning;
    } CHECKS[] = {
        {"SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)",
            "row-level security does not apply to the database role: use one that is neither "
            "superuser nor BYPASSRLS"},
        {"SELECT 1 WHERE current_setting('fsync') = 'off'",
            "the database runs with fsync = off: acknowledged writes can be lost"},
        {"SELECT 1 WHERE current_setting('full_page_writes') = 'off'",
            "the database runs with full_page_writes = off: a crash can damage it"},
    };
    for (size_t i = 0; i < COUNT_OF(CHECKS); i++) {
        PGresult *r CLEANUP(pg_clearp) = PQexec(c->conn, CHECKS[i].sql);
        if (PQntuples(r) > 0)
            LOG(LOG_WARN, CHECKS[i].warning);
    }
}

/* Requires exactly the version for which the statements are written. */
static enum error expect_schema(struct pg_connection *c, struct problem *problem)
{
    int64_t version = 0;
    TRY(pg_schema_version(c, &version, problem));
    if (version == (int64_t)store_migration_count)
        return OK;
    if (version == 0)
        return problem_set(
            problem, ERR_NOT_FOUND, "the database has no Cairn schema \"%s\"", c->store->schema);
    return problem_set(problem, ERR_INVALID,
        "the schema \"%s\" has version %lld, this cairn (" CAIRN_VERSION ") reads version %zu",
        c->store->schema, (long long)version, store_migration_count);
}

/* Uses its own connection, without a pipeline. */
static enum error prepare_schema(struct pg_store *s, struct problem *problem)
{
    struct pg_connection c CLEANUP(pg_connection_deinit);
    pg_connection_init(&c, s, &s->primary);
    TRY(pg_connect(&c, problem));
    if (PQexitPipelineMode(c.conn) != 1 || PQsetnonblocking(c.conn, 0) != 0)
        return problem_set(
            problem, ERR_UNAVAILABLE, "the connection to the database was lost during the start");
    TRY(transfer_check_postgres(c.conn, s->schema, problem));
    if (s->base.config.inspects)
        return expect_schema(&c, problem);
    TRY(pg_migrate(&c, problem));
    warn(&c);
    return OK;
}

/* The replica answers reads that may lag; while it is unreachable, the primary does. */
static void look_for_replica(struct pg_store *s, struct problem *problem)
{
    struct pg_connection c CLEANUP(pg_connection_deinit);
    pg_connection_init(&c, s, &s->replica);
    if (pg_connect(&c, problem) != OK)
        LOG(LOG_WARN, "the replica cannot be reached", LOG_STR("error", problem->detail));
}

/* The operator creates the directory: one that is not mounted must not look like an empty one. */
static enum error open_files_dir(struct pg_store *s, struct problem *problem)
{
    struct str dir = s->base.config.files_dir;
    if (str_is_none(dir) || s->base.config.inspects)
        return OK;
    s->files_fd = open(arena_cstr(problem->arena, dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->files_fd >= 0 && faccessat(s->files_fd, ".", R_OK | W_OK | X_OK, 0) == 0)
        return OK;
    return problem_set(problem, ERR_UNAVAILABLE, "cannot use the directory of files %.*s: %s",
        STR_ARG(dir), strerror(errno));
}

static enum error open_all(struct pg_store *s, struct problem *problem)
{
    const struct store_config *config = &s->base.config;
    bool has_replica = !str_is_none(config->replica_url);
    TRY(open_files_dir(s, problem));
    TRY(pg_target_init(&s->primary, config->url, false, "--db", problem));
    if (has_replica)
        TRY(pg_target_init(&s->replica, config->replica_url, true, "--db-replica", problem));
    TRY(prepare_schema(s, problem));
    if (has_replica)
        look_for_replica(s, problem);
    return pg_pulse_start(s, problem);
}

/* After a failure pg_close stops the threads that were started. */
static enum error start_threads(struct pg_store *s, struct problem *problem)
{
    const struct store_config *config = &s->base.config;
    unsigned n_readers = config->readers + STORE_SPARE_READERS;
    s->lanes = mem_zalloc(config->writers * sizeof(struct pg_lane));
    for (; s->n_lanes < config->writers; s->n_lanes++)
        TRY(pg_lane_start(&s->lanes[s->n_lanes], s, problem));
    TRY(pg_readers_start(&s->reads, s, &s->primary, n_readers, config->readers, problem));
    TRY(pg_readers_start(&s->ahead, s, &s->primary, 1, 0, problem));
    s->long_reads.is_long = true;
    TRY(pg_readers_start(&s->long_reads, s, &s->primary, STORE_LONG_READERS, 0, problem));
    if (!str_is_none(config->replica_url))
        TRY(pg_readers_start(&s->stale, s, &s->replica, n_readers, config->readers, problem));
    return OK;
}

static char *word(const char *before, struct str name)
{
    size_t size = strlen(before) + name.len + 1;
    char *text = mem_alloc(size);
    snprintf(text, size, "%s%.*s", before, STR_ARG(name));
    return text;
}

static void destroy(struct pg_store *s)
{
    pg_pulse_stop(s);
    content_teardown(s->base.content);
    fd_close(s->files_fd);
    pg_target_deinit(&s->primary);
    pg_target_deinit(&s->replica);
    pthread_cond_destroy(&s->change_cond);
    pthread_mutex_destroy(&s->change_mutex);
    hub_destroy(s->base.hub);
    mem_free(s->schema);
    mem_free(s->channel);
    mem_free(s->lanes);
    mem_free(s);
}

enum error postgres_store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store)
{
    struct pg_store *s = MEM_NEW(struct pg_store);
    s->base = (struct store){.ops = &postgres_ops,
        .config = *config,
        .hub = hub_create(),
        .settled_mutex = PTHREAD_MUTEX_INITIALIZER};
    s->schema = word("", config->schema);
    /* PostgreSQL limits names to 63 bytes. */
    s->channel = word("cairn_", str_slice(config->schema, 0, 57));
    s->pulse_fd = s->files_fd = -1;
    uuid_format(uuid_v7(), s->node);
    pthread_mutex_init(&s->change_mutex, NULL);
    thread_cond_init(&s->change_cond);
    enum error e = open_all(s, problem);
    if (e != OK) {
        destroy(s);
        return e;
    }
    s->base.content = content_setup(&s->base, s->files_fd, true);
    e = start_threads(s, problem);
    if (e != OK) {
        pg_close(&s->base);
        return e;
    }
    *out_store = &s->base;
    return OK;
}

void pg_drain(struct store *store)
{
    atomic_store(&CONTAINER_OF(store, struct pg_store, base)->draining, true);
}

/* The replica's readers pass jobs to the other readers, so they stop first. */
void pg_close(struct store *store)
{
    struct pg_store *s = CONTAINER_OF(store, struct pg_store, base);
    atomic_store(&s->closing, true);
    pg_readers_stop(&s->long_reads);
    pg_readers_stop(&s->stale);
    pg_readers_stop(&s->reads);
    pg_readers_stop(&s->ahead);
    for (unsigned i = 0; i < s->n_lanes; i++)
        pg_lane_stop(&s->lanes[i]);
    destroy(s);
}
