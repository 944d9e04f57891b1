/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "measure.h"
#include "model/threads/event_index.h"
#include "model/threads/events.sql.h"
#include "store/sqlite.h"

static const char PAYLOAD[] =
    "{\"n\":1,\"of\":10,\"note\":\"about as long as a progress line is\"}";
static const unsigned char TENANT_ID[16] = {0x7e};

static void run(struct rows *r, const char *sql)
{
    if (sqlite3_exec(r->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die("%s: %s", sql, sqlite3_errmsg(r->db));
}

static sqlite3_stmt *prepare(struct rows *r, const char *sql)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK)
        die("%s: %s", sql, sqlite3_errmsg(r->db));
    return stmt;
}

void rows_step(struct rows *r, sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        die("%s: %s", sqlite3_sql(stmt), sqlite3_errmsg(r->db));
    sqlite3_reset(stmt);
}

static int64_t ask(struct rows *r, const char *sql, const unsigned char *thread_id)
{
    sqlite3_stmt *stmt = prepare(r, sql);
    if (thread_id != NULL) {
        sqlite3_bind_blob(stmt, 1, TENANT_ID, sizeof TENANT_ID, SQLITE_STATIC);
        sqlite3_bind_blob(stmt, 2, thread_id, 16, SQLITE_STATIC);
    }
    if (sqlite3_step(stmt) != SQLITE_ROW)
        die("%s: %s", sql, sqlite3_errmsg(r->db));
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static int note_wal_pages(void *data, sqlite3 *db, const char *name, int pages)
{
    struct rows *r = data;
    (void)db;
    (void)name;
    r->wal_pages = pages;
    return SQLITE_OK;
}

/* Ids created at the same time differ only at their end, like those of Cairn. */
static void open_threads(struct rows *r, size_t n)
{
    r->n_threads = n;
    for (size_t i = 0; i < n; i++) {
        unsigned char *id = r->thread_ids[i];
        memcpy(id, "\x01\xa1\xe0\xfc\x2e", 5);
        id[8] = (unsigned char)(i >> 8);
        id[9] = (unsigned char)i;
        id[15] = (unsigned char)(i * 37);
        r->last_seqs[i] = ask(r,
            "SELECT coalesce(max(seq), 0) FROM thread_events WHERE tenant_id = ?1 AND thread_id = "
            "?2",
            id);
    }
    r->last_id = ask(r, "SELECT coalesce(max(id), 0) FROM events", NULL);
    r->indexed_id = ask(r, "SELECT indexed_id FROM event_floor", NULL);
}

void rows_open(struct rows *r, const char *dir, size_t n_threads)
{
    char path[4096];
    *r = (struct rows){.page_move_ns = SQLITE_PAGE_NS};
    if (n_threads < 1 || n_threads > ROWS_MAX_THREADS)
        die("1 to %d threads of the log", ROWS_MAX_THREADS);
    snprintf(path, sizeof path, "%s/cairn.db", dir);
    if (sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        die("cannot open %s", path);
    sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    run(r, "PRAGMA journal_size_limit = 67108864; PRAGMA journal_mode = WAL;"
           "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0;"
           "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON");
    open_threads(r, n_threads);
    sqlite3_wal_hook(r->db, note_wal_pages, r);
    r->insert = prepare(r, SQL_EVENT_INSERT.text[ENGINE_SQLITE]);
    r->index = prepare(r, SQL_EVENT_INDEX_ADD.text[ENGINE_SQLITE]);
    r->mark = prepare(r, SQL_EVENT_INDEX_MARK.text[ENGINE_SQLITE]);
    r->begin = prepare(r, "BEGIN IMMEDIATE");
    r->commit = prepare(r, "COMMIT");
}

void rows_close(struct rows *r)
{
    sqlite3_stmt *stmts[] = {r->insert, r->index, r->mark, r->begin, r->commit};
    for (size_t i = 0; i < sizeof stmts / sizeof stmts[0]; i++)
        sqlite3_finalize(stmts[i]);
    if (sqlite3_close(r->db) != SQLITE_OK)
        die("cannot close the database");
}

static void bind_text(struct rows *r, int at, const char *text, size_t len)
{
    sqlite3_bind_text64(r->insert, at, text, len, SQLITE_STATIC, SQLITE_UTF8);
}

/* An unknown parameter means that the statement has changed and this program has not. */
static void bind(struct rows *r, const char *param, int at, size_t thread)
{
    if (strcmp(param, "id") == 0)
        sqlite3_bind_int64(r->insert, at, ++r->last_id);
    else if (strcmp(param, "tenant_id") == 0)
        sqlite3_bind_blob(r->insert, at, TENANT_ID, sizeof TENANT_ID, SQLITE_STATIC);
    else if (strcmp(param, "thread_id") == 0)
        sqlite3_bind_blob(r->insert, at, r->thread_ids[thread], 16, SQLITE_STATIC);
    else if (strcmp(param, "seq") == 0)
        sqlite3_bind_int64(r->insert, at, ++r->last_seqs[thread]);
    else if (strcmp(param, "kind") == 0)
        bind_text(r, at, "progress", 8);
    else if (strcmp(param, "text") == 0)
        bind_text(r, at, "step done", 9);
    else if (strcmp(param, "payload") == 0)
        bind_text(r, at, PAYLOAD, sizeof PAYLOAD - 1);
    else if (strcmp(param, "now") == 0)
        sqlite3_bind_int64(r->insert, at, 1800000000000000 + r->last_id);
    else if (strcmp(param, "marks") == 0)
        sqlite3_bind_int64(r->insert, at, 0);
    else if (strcmp(param, "run_id") != 0)
        die("event_insert has an unknown parameter: %s", param);
}

static void run_on_ids(struct rows *r, sqlite3_stmt *stmt, const struct sql_statement *statement)
{
    for (unsigned i = 0; i < statement->n_params; i++) {
        bool is_after = strcmp(statement->params[i], "after") == 0;
        sqlite3_bind_int64(stmt, (int)i + 1, is_after ? r->indexed_id : r->last_id);
    }
    rows_step(r, stmt);
}

static void index_if_due(struct rows *r)
{
    if (r->last_id - r->indexed_id < EVENT_RECENT_MAX)
        return;
    run_on_ids(r, r->index, &SQL_EVENT_INDEX_ADD);
    run_on_ids(r, r->mark, &SQL_EVENT_INDEX_MARK);
    r->indexed_id = r->last_id;
}

void rows_insert(struct rows *r, size_t thread)
{
    for (unsigned i = 0; i < SQL_EVENT_INSERT.n_params; i++)
        bind(r, SQL_EVENT_INSERT.params[i], (int)i + 1, thread);
    rows_step(r, r->insert);
    index_if_due(r);
}

void rows_commit(struct rows *r)
{
    double start_us = now_us();
    int pages = 0, unused;
    rows_step(r, r->commit);
    sqlite3_db_status(r->db, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &unused, 1);
    sqlite_learn_sync(&r->sync_us, (int64_t)(now_us() - start_us), pages);
    if (r->wal_pages <= pages) /* the WAL has started over */
        r->wal_pages_tried = r->wal_pages_moved = 0;
}

void rows_checkpoint_if_due(struct rows *r)
{
    if (r->wal_pages - r->wal_pages_tried < sqlite_checkpoint_due(r->page_move_ns))
        return;
    int in_wal = 0, moved = 0;
    double start_us = now_us();
    if (sqlite3_wal_checkpoint_v2(r->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_wal, &moved) !=
        SQLITE_OK)
        die("the checkpoint failed: %s", sqlite3_errmsg(r->db));
    sqlite_learn_page_cost(&r->page_move_ns,
        sqlite_move_us((int64_t)(now_us() - start_us), r->sync_us), moved - r->wal_pages_moved);
    r->wal_pages_moved = moved;
    r->wal_pages_tried = in_wal;
}
