/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/instance.h"

#include "api/http/metrics.h"
#include "api/http/openapi.h"
#include "api/upkeep/export_places.h"
#include "base/clock.h"
#include "lib/errand.h"
#include "lib/sweeper.h"
#include "lib/tail.h"
#include "model/checkpoints/snapshot_memory.h"
#include "model/files/blobs.h"
#include "model/statements.h"
#include "model/tenancy/keys.h"
#include "model/upkeep/sweep.h"

void instance_config_init(struct instance_config *config)
{
    *config = (struct instance_config){.data_dir = STR("./data"),
        .db_url = STR_NONE,
        .db_replica_url = STR_NONE,
        .db_schema = STR("cairn"),
        .files_dir = STR_NONE,
        .upload_max_bytes = UPLOAD_MAX_BYTES,
        .db_writers = 4,
        .readers = 2};
}

/* --- Metrics -------------------------------------------------------------------------------- */

static void write_space_metrics(struct buf *out, const struct store_stats *s)
{
    metrics_write_one(out, "cairn_store_full", "gauge",
        "Whether the disk is full and most writes are refused.", s->is_full ? 1 : 0);
    metrics_write_one(out, "cairn_store_reserve", "gauge",
        "Whether the reserve for a full disk is there.", s->has_reserve ? 1 : 0);
    metrics_write_one(out, "cairn_store_free_bytes", "gauge",
        "Free space on the disk of the data directory.", (double)s->free_bytes);
}

static void write_metrics(struct buf *out, void *data)
{
    const struct instance *i = data;
    struct store_stats s = store_stats(i->store);
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"cairn_store_commits_total", "counter", "Commits of the writer.", (double)s.commits},
        {"cairn_store_writes_total", "counter", "Write jobs.", (double)s.writes},
        {"cairn_store_reads_total", "counter", "Read jobs.", (double)s.reads},
        {"cairn_store_rollbacks_total", "counter", "Write jobs that failed.", (double)s.rollbacks},
        {"cairn_store_checkpoints_total", "counter", "WAL checkpoints.", (double)s.checkpoints},
        {"cairn_store_queued", "gauge", "Jobs that wait.", (double)s.queued},
        {"cairn_store_retries_total", "counter", "Transactions that ran again.", (double)s.retries},
        {"cairn_store_reconnects_total", "counter", "Connections made after the start.",
            (double)s.reconnects},
        {"cairn_store_damaged_total", "counter",
            "Stored objects whose hash was wrong when they were read.", (double)s.damaged},
        {"cairn_store_connected", "gauge", "Whether the database can be reached.",
            s.connected ? 1 : 0},
        {"cairn_store_commit_seconds_total", "counter", "Time spent in COMMIT.",
            (double)s.commit_us / 1e6},
        {"cairn_sweeps_total", "counter", "Complete sweeps for expired and unused rows.",
            (double)atomic_load(&i->sweeps)},
        {"cairn_uptime_seconds", "gauge", "Time since the start.",
            (double)(clock_steady_us() - i->started_us) / 1e6},
    };
    for (size_t row = 0; row < COUNT_OF(rows); row++)
        metrics_write_one(out, rows[row].name, rows[row].type, rows[row].help, rows[row].value);
    if (!store_is_shared(i->store))
        write_space_metrics(out, &s);
}

/* --- Open ----------------------------------------------------------------------------------- */

static enum error read_any_key(struct context *c, void *out_any)
{
    return key_any(c, out_any);
}

static enum error open_store(
    struct instance *i, const struct instance_config *c, struct problem *problem)
{
    const struct store_config config = {
        .engine = str_is_none(c->db_url) ? ENGINE_SQLITE : ENGINE_POSTGRES,
        .data_dir = c->data_dir,
        .url = c->db_url,
        .replica_url = c->db_replica_url,
        .schema = c->db_schema,
        .files_dir = c->files_dir,
        .content_statements = &blob_content_statements,
        .writers = c->db_writers,
        .readers = c->readers,
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT,
        .free_memo = key_memo_free,
        .on_fatal = c->on_fatal};
    if (config.engine == ENGINE_POSTGRES && !store_is_schema_name(c->db_schema))
        return problem_set(problem, ERR_BAD_REQUEST,
            "the schema must be a lower-case letter or _, then up to 62 of a-z, 0-9 and _");
    TRY(store_open(&config, problem, &i->store));
    enum error e = errand_prepare(i->store);
    i->is_unprepared = e == ERR_STORAGE_FULL; /* reads can be served; the sweeper tries again */
    if (e != OK && !i->is_unprepared)
        return problem_set(problem, e, "the database could not be prepared");
    e = errand_run(i->store, STORE_READ, read_any_key, &i->has_key);
    return e == OK ? OK : problem_set(problem, e, "the database could not be read");
}

static void open_api(struct instance *i, const struct instance_config *config)
{
    i->api = (struct api){.store = i->store,
        .may_be_open = config->may_be_open,
        .upload_max_bytes = config->upload_max_bytes,
        .rate_limiter = rate_limiter_create(),
        .known_keys = known_keys_create(),
        .streams = holdings_create(),
        .exports = export_places_create(),
        .connections = holdings_create(),
        .metrics = metrics_create()};
    buf_init(&i->api.openapi, CALL_ANSWER_MAX_BYTES);
    openapi_write(&i->api.openapi);
    metrics_add_source(i->api.metrics, (struct metrics_source){i, write_metrics});
}

static enum error start_threads(struct instance *i, struct problem *problem)
{
    if (store_is_shared(i->store))
        TRY(tail_thread_start(i->store, problem, &i->tail));
    return sweeper_start(i->store, i->is_unprepared, &i->sweeps, problem, &i->sweeper);
}

enum error instance_open(
    struct instance *i, const struct instance_config *config, struct problem *problem)
{
    *i = (struct instance){.started_us = clock_steady_us()};
    enum error e = open_store(i, config, problem);
    if (e == OK)
        e = start_threads(i, problem);
    if (e != OK) {
        instance_close(i);
        return e;
    }
    open_api(i, config);
    return OK;
}

/* --- Close ---------------------------------------------------------------------------------- */

void instance_stop(struct instance *i)
{
    if (i->sweeper != NULL)
        sweeper_stop(i->sweeper);
    if (i->tail != NULL)
        tail_thread_stop(i->tail);
}

void instance_cancel(struct instance *i)
{
    atomic_store(&i->api.is_stopping, true);
}

void instance_close(struct instance *i)
{
    tail_thread_destroy(i->tail);
    sweeper_destroy(i->sweeper);
    store_close(i->store);
    snapshot_forget_all();
    i->tail = NULL;
    i->sweeper = NULL;
    i->store = NULL;
}

void instance_deinit(struct instance *i)
{
    known_keys_destroy(i->api.known_keys);
    holdings_destroy(i->api.streams);
    export_places_destroy(i->api.exports);
    holdings_destroy(i->api.connections);
    rate_limiter_destroy(i->api.rate_limiter);
    metrics_destroy(i->api.metrics);
    buf_deinit(&i->api.openapi);
}
