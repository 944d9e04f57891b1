/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures SQLite alone for messages: Cairn's own statements and pragmas on a database that Cairn
 * has filled, in a loop of one thread without a queue.
 *   messages DATA_DIR append ROWS_PER_COMMIT SECONDS    an event, a message and its words each
 *   messages DATA_DIR up|down CURSOR COUNT              pages of 50, with all columns
 *   messages DATA_DIR search WORD COUNT                 pages of 50 messages with the word
 * Uses the thread of the newest message. Prints rate, latency_… and cpu, in microseconds.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "model/threads/events.sql.h"
#include "model/threads/messages.sql.h"

enum { PAGE = 50, MAX_BYTES = 4 * 1024 * 1024 };

static const char CONTENT[] = "the quick report about costs of travel is ready for review today";

static struct {
    sqlite3 *db;
    unsigned char tenant_id[16], thread_id[16], id[16];
    int64_t seq, event_id, after, before;
    char words[256], match[256];
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

static const struct {
    const char *param;
    const char *text;
} TEXTS[] = {{"kind", "message.created"}, {"payload", "{\"content\":\"about as long as this\"}"},
    {"sender_role", "service"}, {"type", "chat"}, {"content", CONTENT},
    {"content_type", "text/plain"}, {"metadata", "{}"}, {"filenames", "[]"}, {"words", run.words},
    {"match", run.match}};
static const struct {
    const char *param;
    const int64_t *number;
} NUMBERS[] = {{"seq", &run.seq}, {"event_id", &run.event_id}, {"now", &run.event_id},
    {"after", &run.after}, {"before", &run.before}};

/* Filters of a list, and optional members of a message. */
static bool is_null(const char *param, bool reads)
{
    static const char *const none[] = {
        "run_id", "text", "sender_id", "responds_to", "addressed_to", "command", "principal"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (strcmp(none[i], param) == 0)
            return true;
    return reads && strcmp(param, "type") == 0;
}

static bool bind_blob(sqlite3_stmt *stmt, int at, const struct sql_statement *s, const char *param)
{
    const unsigned char *id = strcmp(param, "tenant_id") == 0   ? run.tenant_id
                              : strcmp(param, "thread_id") == 0 ? run.thread_id
                                                                : run.id;
    if (s->types[at - 1] != SQL_UUID)
        return false;
    check(sqlite3_bind_blob(stmt, at, id, 16, SQLITE_STATIC));
    return true;
}

static bool bind_number(sqlite3_stmt *stmt, int at, const char *param)
{
    static const int64_t zero = 0, page = PAGE + 1, bytes = MAX_BYTES;
    const int64_t *number = strcmp(param, "limit") == 0       ? &page
                            : strcmp(param, "max_bytes") == 0 ? &bytes
                            : strcmp(param, "id") == 0        ? &run.event_id
                                                              : &zero;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        if (strcmp(NUMBERS[i].param, param) == 0)
            number = NUMBERS[i].number;
    check(sqlite3_bind_int64(stmt, at, *number));
    return true;
}

/* The last parameter of a page is only in the text for PostgreSQL. */
static void bind(sqlite3_stmt *stmt, const struct sql_statement *s)
{
    for (unsigned i = 0; (int)i < sqlite3_bind_parameter_count(stmt); i++) {
        int at = (int)i + 1;
        const char *text = NULL;
        if (is_null(s->params[i], !s->writes) || bind_blob(stmt, at, s, s->params[i]))
            continue;
        for (size_t k = 0; k < sizeof TEXTS / sizeof TEXTS[0]; k++)
            if (strcmp(TEXTS[k].param, s->params[i]) == 0)
                text = TEXTS[k].text;
        if (text != NULL)
            check(sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC));
        else
            bind_number(stmt, at, s->params[i]);
    }
}

static void open_database(const char *dir)
{
    char path[4096], hex[2][33];
    snprintf(path, sizeof path, "%s/cairn.db", dir);
    check(sqlite3_open_v2(path, &run.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    check(sqlite3_exec(run.db,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
        NULL, NULL, NULL));
    sqlite3_stmt *stmt = prepare("SELECT tenant_id, thread_id, seq, event_id, hex(tenant_id),"
                                 " hex(thread_id) FROM messages ORDER BY event_id DESC LIMIT 1");
    if (sqlite3_step(stmt) != SQLITE_ROW)
        die("there is no message");
    memcpy(run.tenant_id, sqlite3_column_blob(stmt, 0), 16);
    memcpy(run.thread_id, sqlite3_column_blob(stmt, 1), 16);
    run.seq = sqlite3_column_int64(stmt, 2);
    run.event_id = sqlite3_column_int64(stmt, 3);
    for (int i = 0; i < 2; i++)
        snprintf(hex[i], sizeof hex[i], "%s", (const char *)sqlite3_column_text(stmt, 4 + i));
    sqlite3_finalize(stmt);
    snprintf(run.words, sizeof run.words, "#o%s #t%s %s", hex[0], hex[1], CONTENT);
    snprintf(run.match, sizeof run.match, "#t%s", hex[1]);
}

static void step_all(sqlite3_stmt *stmt, const struct sql_statement *s)
{
    if (s != NULL)
        bind(stmt, s);
    int rc, n_columns = sqlite3_column_count(stmt);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        for (int i = 0; i < n_columns; i++)
            sqlite3_column_bytes(stmt, i);
    if (rc != SQLITE_DONE)
        die("SQLite: %s", sqlite3_errmsg(run.db));
    sqlite3_reset(stmt);
}

static void append(size_t rows, double seconds, struct samples *latency)
{
    const struct sql_statement *const ours[] = {
        &SQL_EVENT_INSERT, &SQL_MESSAGE_INSERT, &SQL_MESSAGE_WORDS_PUT};
    sqlite3_stmt *stmts[3], *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    for (size_t i = 0; i < 3; i++)
        stmts[i] = prepare(ours[i]->text[ENGINE_SQLITE]);
    for (double end = now_us() + seconds * 1e6; now_us() < end;) {
        double start = now_us();
        step_all(begin, NULL);
        for (size_t row = 0; row < rows; row++) {
            run.seq++;
            run.event_id++;
            memcpy(run.id, &run.event_id, sizeof run.event_id);
            memcpy(run.id + 8, "bench", 5);
            for (size_t i = 0; i < 3; i++)
                step_all(stmts[i], ours[i]);
        }
        step_all(commit, NULL);
        samples_add(latency, now_us() - start);
    }
    for (size_t i = 0; i < 3; i++)
        sqlite3_finalize(stmts[i]);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
}

static void read_pages(const char *how, const char *from, size_t count, struct samples *latency)
{
    bool up = strcmp(how, "up") == 0, search = strcmp(how, "search") == 0;
    const struct sql_statement *s = search ? &SQL_MESSAGE_SEARCH
                                    : up   ? &SQL_MESSAGE_LIST_UP
                                           : &SQL_MESSAGE_LIST_DOWN;
    sqlite3_stmt *stmt = prepare(s->text[ENGINE_SQLITE]);
    run.before = INT64_MAX;
    if (search) {
        char scope[64];
        snprintf(scope, sizeof scope, "%.60s", run.match);
        snprintf(run.match, sizeof run.match, "(\"%s\" AND \"%.60s\")", scope, from);
    } else {
        *(up ? &run.after : &run.before) = strtoll(from, NULL, 10);
    }
    for (size_t i = 0; i < count; i++) {
        double start = now_us();
        step_all(stmt, s);
        samples_add(latency, now_us() - start);
    }
    sqlite3_finalize(stmt);
}

int main(int argc, char **argv)
{
    struct samples latency = {0};
    if (argc != 5)
        die("usage: see the top of messages.c");
    open_database(argv[1]);
    bool appends = strcmp(argv[2], "append") == 0;
    size_t rows = appends ? parse_count(argv[3], 10000) : 1;
    double start = now_us(), cpu = cpu_us();
    if (appends)
        append(rows, strtod(argv[4], NULL), &latency);
    else
        read_pages(argv[2], argv[3], parse_count(argv[4], 1000000), &latency);
    print_result("rate", (double)(latency.n * rows) * 1e6 / (now_us() - start));
    print_result("cpu", cpu_us() - cpu);
    print_samples("latency", &latency);
    samples_deinit(&latency);
    sqlite3_close(run.db);
    return 0;
}
