/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures SQLite alone for steps: Cairn's own statements and pragmas on a database that Cairn has
 * filled, in a loop of one thread without a queue.
 *   steps DATA_DIR REQUESTS_PER_COMMIT STEPS_PER_REQUEST SECONDS
 * A request reads the number of the run's last step and appends the steps and their event, to the
 * run of the newest step. Prints rate (steps a second), latency_… and cpu, in microseconds.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "model/execution/steps.sql.h"
#include "model/threads/events.sql.h"

static struct {
    sqlite3 *db;
    unsigned char tenant_id[16], thread_id[16], run_id[16];
    int64_t seq, event_id, number, count;
} run;

static void check(int rc)
{
    if (rc != SQLITE_OK)
        die("SQLite: %s", sqlite3_errmsg(run.db));
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *stmt;
    check(sqlite3_prepare_v3(run.db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL));
    return stmt;
}

/* The members that steps.py sends; the others are NULL. */
static const struct {
    const char *param;
    const char *text;
} TEXTS[] = {{"kind", "steps.appended"},
    {"payload", "{\"run_id\":\"01936f5e-8a2b-7c3d-9e4f-5a6b7c8d9e0f\",\"first\":1,\"last\":1}"},
    {"action_type", "tool_execution"}, {"tool_name", "bash"}, {"tool_use_id", "toolu_123"},
    {"outcome", "success"},
    {"action_data", "{\"tool_name\":\"bash\",\"tool_use_id\":\"toolu_123\",\"input\":{\"command\":"
                    "\"python chart.py\"},\"result\":{\"stdout\":\"saved\",\"return_code\":0}}"}};
static const struct {
    const char *param;
    const int64_t *number;
} NUMBERS[] = {{"seq", &run.seq}, {"id", &run.event_id}, {"now", &run.event_id},
    {"at", &run.event_id}, {"number", &run.number}, {"count", &run.count},
    {"step_number", &run.count}, {"duration_ms", &run.count}};

static void bind_id(sqlite3_stmt *stmt, int at, const char *param)
{
    const unsigned char *id = strcmp(param, "tenant_id") == 0   ? run.tenant_id
                              : strcmp(param, "thread_id") == 0 ? run.thread_id
                              : strcmp(param, "run_id") == 0    ? run.run_id
                                                                : NULL;
    if (id != NULL)
        check(sqlite3_bind_blob(stmt, at, id, 16, SQLITE_STATIC));
}

static void bind(sqlite3_stmt *stmt, const struct sql_statement *s)
{
    for (unsigned i = 0; i < s->n_params; i++) {
        int at = (int)i + 1;
        if (s->types[i] == SQL_UUID)
            bind_id(stmt, at, s->params[i]);
        for (size_t k = 0; k < sizeof TEXTS / sizeof TEXTS[0]; k++)
            if (strcmp(TEXTS[k].param, s->params[i]) == 0)
                check(sqlite3_bind_text(stmt, at, TEXTS[k].text, -1, SQLITE_STATIC));
        for (size_t k = 0; k < sizeof NUMBERS / sizeof NUMBERS[0]; k++)
            if (strcmp(NUMBERS[k].param, s->params[i]) == 0)
                check(sqlite3_bind_int64(stmt, at, *NUMBERS[k].number));
        if (strcmp(s->params[i], "marks") == 0)
            check(sqlite3_bind_int64(stmt, at, 0));
    }
}

static void open_database(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/cairn.db", dir);
    check(sqlite3_open_v2(path, &run.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    check(sqlite3_exec(run.db,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
        NULL, NULL, NULL));
    sqlite3_stmt *stmt =
        prepare("SELECT s.tenant_id, s.thread_id, s.run_id, r.step_count,"
                " (SELECT max(e.seq) FROM events AS e WHERE e.tenant_id = s.tenant_id"
                "  AND e.thread_id = s.thread_id), (SELECT max(e.id) FROM events AS e)"
                " FROM steps AS s JOIN runs AS r ON r.tenant_id = s.tenant_id AND r.id = s.run_id"
                " ORDER BY s.log_id DESC LIMIT 1");
    if (sqlite3_step(stmt) != SQLITE_ROW)
        die("there is no step");
    memcpy(run.tenant_id, sqlite3_column_blob(stmt, 0), 16);
    memcpy(run.thread_id, sqlite3_column_blob(stmt, 1), 16);
    memcpy(run.run_id, sqlite3_column_blob(stmt, 2), 16);
    run.number = sqlite3_column_int64(stmt, 3);
    run.seq = sqlite3_column_int64(stmt, 4);
    run.event_id = sqlite3_column_int64(stmt, 5);
    sqlite3_finalize(stmt);
}

static void step_all(sqlite3_stmt *stmt, const struct sql_statement *s)
{
    if (s != NULL)
        bind(stmt, s);
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        sqlite3_column_int64(stmt, 0);
    if (rc != SQLITE_DONE)
        die("SQLite: %s", sqlite3_errmsg(run.db));
    sqlite3_reset(stmt);
}

static void append(size_t requests, double seconds, struct samples *latency)
{
    sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    sqlite3_stmt *take = prepare(SQL_STEP_TAKE_NUMBERS.text[ENGINE_SQLITE]);
    sqlite3_stmt *insert = prepare(SQL_STEP_INSERT.text[ENGINE_SQLITE]);
    sqlite3_stmt *notify = prepare(SQL_EVENT_INSERT.text[ENGINE_SQLITE]);
    for (double end = now_us() + seconds * 1e6; now_us() < end;) {
        double start = now_us();
        step_all(begin, NULL);
        for (size_t i = 0; i < requests; i++) {
            step_all(take, &SQL_STEP_TAKE_NUMBERS);
            for (int64_t k = 0; k < run.count; k++) {
                run.number++;
                step_all(insert, &SQL_STEP_INSERT);
            }
            run.seq++;
            run.event_id++;
            step_all(notify, &SQL_EVENT_INSERT);
        }
        step_all(commit, NULL);
        samples_add(latency, now_us() - start);
    }
    sqlite3_stmt *all[] = {begin, commit, take, insert, notify};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sqlite3_finalize(all[i]);
}

int main(int argc, char **argv)
{
    struct samples latency = {0};
    if (argc != 5)
        die("usage: see the top of steps.c");
    open_database(argv[1]);
    size_t requests = parse_count(argv[2], 10000);
    run.count = (int64_t)parse_count(argv[3], 1000);
    double start = now_us(), cpu = cpu_us();
    append(requests, strtod(argv[4], NULL), &latency);
    print_result("rate",
        (double)latency.n * (double)requests * (double)run.count * 1e6 / (now_us() - start));
    print_result("cpu", cpu_us() - cpu);
    print_samples("latency", &latency);
    samples_deinit(&latency);
    sqlite3_close(run.db);
    return 0;
}
