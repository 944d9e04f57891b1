/* SPDX-License-Identifier: Apache-2.0 */
/* One side of a transfer on SQLite: the only process that uses the data directory. */
#include <errno.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "store/sqlite.h"
#include "store/transfer_side.h"

struct sqlite_side {
    struct side base;
    int directory_fd;
    int lock_fd;
    sqlite3 *db;
    sqlite3_stmt *asked;
    const struct transfer_table *table; /* that the statement below inserts into */
    sqlite3_stmt *insert;
};

static struct sqlite_side *of(struct side *side)
{
    return CONTAINER_OF(side, struct sqlite_side, base);
}

/* After a failed sync the bytes on the disk are unknown, though they can be read for a while. */
static enum error refuse(struct sqlite_side *s, const char *doing, int rc)
{
    bool is_full = (rc & 0xff) == SQLITE_FULL;
    bool is_lost = rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC;
    return problem_set(s->base.problem, is_full ? ERR_STORAGE_FULL : ERR_UNAVAILABLE,
        "the %s %.*s: %s: %s%s", s->base.name, STR_ARG(s->base.place->data_dir), doing,
        s->db != NULL ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc),
        is_lost ? "; the disk lost written data: start again with an empty target" : "");
}

/* --- Life ----------------------------------------------------------------------------------- */

static void disconnect(struct sqlite_side *s)
{
    sqlite3_finalize(s->asked);
    sqlite3_finalize(s->insert);
    sqlite3_close(s->db);
    fd_close(s->lock_fd);
    fd_close(s->directory_fd);
    s->asked = s->insert = NULL;
    s->table = NULL;
    s->db = NULL;
    s->directory_fd = s->lock_fd = -1;
    s->base.is_open = false;
}

static void sqlite_side_close(struct side *side)
{
    disconnect(of(side));
    mem_free(of(side));
}

/* This is the only connection, so SQLite may checkpoint by itself; see store/sqlite.h. A source
 * stays unchanged, with its log. */
static enum error configure(struct sqlite_side *s)
{
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !s->base.writes, NULL);
    return s->base.ops->exec(
        &s->base, s->base.writes ? "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                                   "PRAGMA cache_size = -65536; PRAGMA cell_size_check = ON"
                                 : "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0;"
                                   "PRAGMA cache_size = -65536");
}

static enum error sqlite_side_open(struct side *side)
{
    struct sqlite_side *s = of(side);
    const char *path = arena_cstr(
        side->arena, arena_printf(side->arena, "%.*s/cairn.db", STR_ARG(side->place->data_dir)));
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return OK;
    TRY(sqlite_take_directory(arena_cstr(side->arena, side->place->data_dir), side->problem,
        &s->directory_fd, &s->lock_fd));
    int rc = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return refuse(s, "cannot open it", rc);
    enum error e = configure(s);
    side->is_open = e == OK;
    return e;
}

/* store_open fails and reports the reason. */
static void ignore_fatal(const char *what)
{
}

/* The store itself creates the directory and the schema, durably. */
static enum error sqlite_side_make(struct side *side)
{
    const struct store_config config = {.engine = ENGINE_SQLITE,
        .data_dir = side->place->data_dir,
        .readers = 1,
        .on_fatal = ignore_fatal};
    struct store *store = NULL;
    disconnect(of(side));
    TRY(store_open(&config, side->problem, &store));
    store_close(store);
    return sqlite_side_open(side);
}

/* --- Statements ----------------------------------------------------------------------------- */

static enum error sqlite_side_exec(struct side *side, const char *sql)
{
    int rc = sqlite3_exec(of(side)->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? OK : refuse(of(side), "a statement failed", rc);
}

static void bind(sqlite3_stmt *stmt, int at, const struct transfer_value *value)
{
    switch (value->kind) {
    case VALUE_NULL:
        sqlite3_bind_null(stmt, at);
        break;
    case VALUE_INT:
        sqlite3_bind_int64(stmt, at, value->number);
        break;
    case VALUE_TEXT:
        sqlite3_bind_text64(
            stmt, at, value->bytes.ptr, value->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case VALUE_BYTES:
        sqlite3_bind_blob64(stmt, at, value->bytes.ptr, value->bytes.len, SQLITE_STATIC);
        break;
    }
}

static enum error sqlite_side_ask(struct side *side, const char *sql,
    const struct transfer_value *params, const uint32_t *types, size_t n_params)
{
    struct sqlite_side *s = of(side);
    sqlite3_finalize(s->asked);
    s->asked = NULL;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &s->asked, NULL);
    if (rc != SQLITE_OK)
        return refuse(s, "cannot read it", rc);
    for (size_t i = 0; i < n_params; i++)
        bind(s->asked, (int)i + 1, &params[i]);
    return OK;
}

static struct transfer_value column_value(sqlite3_stmt *stmt, int at)
{
    switch (sqlite3_column_type(stmt, at)) {
    case SQLITE_INTEGER:
        return (struct transfer_value){VALUE_INT, sqlite3_column_int64(stmt, at), STR_NONE};
    case SQLITE_NULL:
        return (struct transfer_value){VALUE_NULL, 0, STR_NONE};
    default:
        break;
    }
    bool is_text = sqlite3_column_type(stmt, at) != SQLITE_BLOB; /* including a float */
    const void *bytes =
        is_text ? (const void *)sqlite3_column_text(stmt, at) : sqlite3_column_blob(stmt, at);
    size_t len = (size_t)sqlite3_column_bytes(stmt, at);
    /* SQLite returns NULL for an empty blob. */
    return (struct transfer_value){
        is_text ? VALUE_TEXT : VALUE_BYTES, 0, {bytes != NULL ? bytes : "", len}};
}

static enum error sqlite_side_next(
    struct side *side, struct transfer_value *out_values, size_t n, bool *out_found)
{
    struct sqlite_side *s = of(side);
    int rc = sqlite3_step(s->asked);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return refuse(s, "cannot read it", rc);
    *out_found = rc == SQLITE_ROW;
    for (size_t i = 0; *out_found && i < n; i++)
        out_values[i] = column_value(s->asked, (int)i);
    if (!*out_found) {
        sqlite3_finalize(s->asked);
        s->asked = NULL;
    }
    return OK;
}

/* --- Rows in -------------------------------------------------------------------------------- */

static enum error sqlite_side_insert_begin(struct side *side, const struct transfer_table *table)
{
    struct sqlite_side *s = of(side);
    if (s->table != table) {
        sqlite3_finalize(s->insert);
        s->insert = NULL;
        s->table = table;
        int rc = sqlite3_prepare_v2(s->db, plan_insert(side, table), -1, &s->insert, NULL);
        if (rc != SQLITE_OK)
            return refuse(s, "cannot write", rc);
    }
    return sqlite_side_exec(side, "BEGIN IMMEDIATE");
}

static enum error sqlite_side_insert(struct side *side, const struct transfer_value *values)
{
    struct sqlite_side *s = of(side);
    for (size_t i = 0; i < s->table->n_columns; i++)
        bind(s->insert, (int)i + 1, &values[i]);
    sqlite3_step(s->insert);
    int rc = sqlite3_reset(s->insert);
    return rc == SQLITE_OK ? OK : refuse(s, s->table->name, rc);
}

static enum error sqlite_side_insert_commit(struct side *side)
{
    return sqlite_side_exec(side, "COMMIT");
}

static enum error sqlite_side_settle(struct side *side, const struct transfer_plan *plan)
{
    TRY(sqlite_side_exec(side,
        "BEGIN IMMEDIATE;"
        "INSERT INTO event_index (tenant_id, thread_id, seq, id)"
        " SELECT tenant_id, thread_id, seq, id FROM events"
        " WHERE id > (SELECT indexed_id FROM event_floor) ORDER BY tenant_id, thread_id, seq;"
        "UPDATE event_floor SET indexed_id = max(id, coalesce((SELECT max(id) FROM events), 0));"
        "COMMIT"));
    return sqlite_side_exec(side, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/* The lock of the directory is held. */
static enum error sqlite_side_check_alone(struct side *side)
{
    return OK;
}

/* --- The table of all this ------------------------------------------------------------------ */

const struct side_ops sqlite_side_ops = {.open = sqlite_side_open,
    .create = sqlite_side_make,
    .close = sqlite_side_close,
    .exec = sqlite_side_exec,
    .ask = sqlite_side_ask,
    .next = sqlite_side_next,
    .insert_begin = sqlite_side_insert_begin,
    .insert = sqlite_side_insert,
    .insert_commit = sqlite_side_insert_commit,
    .settle = sqlite_side_settle,
    .check_alone = sqlite_side_check_alone,
    .sql = {
        .parameter = '?',
        .by_bytes = "",
        .snapshot = "BEGIN",
        .columns = "SELECT m.name, x.name, CASE x.type WHEN 'INTEGER' THEN 1 WHEN 'TEXT' THEN 2"
                   "  WHEN 'BLOB' THEN 3 ELSE 0 END, 0, x.pk"
                   " FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS x"
                   " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite^_%' ESCAPE '^'"
                   "  AND x.hidden < 2" /* not generated */
                   " ORDER BY m.name, x.name",
        .parents = "SELECT DISTINCT m.name, f.\"table\" FROM sqlite_schema AS m,"
                   " pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' ORDER BY 1, 2",
        .has_table =
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)",
        .origin = "0",
        .writes = "PRAGMA data_version",
        .last_id = "SELECT max(f.id, coalesce((SELECT max(e.id) FROM events AS e), 0))"
                   " FROM event_floor AS f WHERE f.one = 1",
        .set_last_id = "UPDATE event_floor SET id = ?1 WHERE one = 1",
        .last_step_id = "SELECT seq FROM sqlite_sequence WHERE name = 'steps'",
        .set_last_step_id = "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'steps'",
    }};

struct side *sqlite_side_create(void)
{
    struct sqlite_side *s = MEM_NEW(struct sqlite_side);
    s->base.ops = &sqlite_side_ops;
    s->directory_fd = s->lock_fd = -1;
    return &s->base;
}
