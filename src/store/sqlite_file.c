/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_file.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "store/sidecar.h"

enum { WATCH_STEPS = 20000, BUSY_MS = 5000, REPORT_ROWS = 10000 };

enum error sqlite_file_problem(
    sqlite3 *db, int rc, const char *what, const char *path, struct problem *problem)
{
    const char *why = db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        mem_exhausted(0);
    case SQLITE_INTERRUPT:
        return problem_set(problem, ERR_CANCELLED, "called off");
    case SQLITE_FULL:
        return problem_set(problem, ERR_STORAGE_FULL, "%s %s: the disk is full", what, path);
    case SQLITE_NOTADB:
        return problem_set(problem, ERR_INVALID, "%s is not a database", path);
    case SQLITE_CORRUPT:
        return problem_set(problem, ERR_INVALID, "%s is damaged: %s", path, why);
    default:
        return problem_set(problem, ERR_UNAVAILABLE, "%s %s: %s", what, path, why);
    }
}

/* --- Open and close ------------------------------------------------------------------------- */

static void configure(sqlite3 *db)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

static enum error open_file(
    const char *name, int flags, const char *path, struct problem *problem, sqlite3 **out_db)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | flags, NULL);
    if (rc == SQLITE_OK) {
        configure(db);
        /* The first read takes the snapshot. */
        rc = sqlite3_exec(db,
            "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
            "PRAGMA cell_size_check = ON; BEGIN; SELECT count(*) FROM sqlite_schema",
            NULL, NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        enum error e = sqlite_file_problem(db, rc, "cannot open", path, problem);
        sqlite3_close(db);
        return e;
    }
    *out_db = db;
    return OK;
}

enum error sqlite_file_open_live(const char *path, struct problem *problem, sqlite3 **out_db)
{
    if (access(path, F_OK) != 0)
        return problem_set(problem, ERR_NOT_FOUND, "the database %s does not exist", path);
    return open_file(path, 0, path, problem, out_db);
}

/* Writes the path as a URI with an option: "?immutable=1". */
static MUST_CHECK enum error write_uri(
    struct buf *out, const char *path, const char *option, struct problem *problem)
{
    buf_init(out, 64 * 1024);
    buf_append(out, STR("file:"));
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '%' || *at == '?' || *at == '#')
            buf_printf(out, "%%%02X", (unsigned)*at);
        else
            buf_append_byte(out, *at);
    }
    buf_append(out, str_of(option));
    buf_append_byte(out, '\0');
    return out->failed ? problem_set(problem, ERR_INVALID, "the file name is too long") : OK;
}

enum error sqlite_file_open_still(const char *path, struct problem *problem, sqlite3 **out_db)
{
    if (access(path, R_OK) != 0)
        return problem_set(problem, ERR_NOT_FOUND, "the file %s cannot be read", path);
    struct buf uri CLEANUP(buf_deinit);
    TRY(write_uri(&uri, path, "?immutable=1", problem));
    return open_file(uri.ptr, SQLITE_OPEN_URI, path, problem, out_db);
}

enum error sqlite_file_open(
    const char *path, bool is_live, struct problem *problem, sqlite3 **out_db)
{
    if (is_live || access(path, F_OK) != 0 ||
        file_has_bytes(file_beside(problem->arena, path, "-wal")) ||
        file_has_bytes(file_beside(problem->arena, path, "-journal")))
        return sqlite_file_open_live(path, problem, out_db);
    return sqlite_file_open_still(path, problem, out_db);
}

enum error sqlite_file_open_unlocked(const char *path, struct problem *problem, sqlite3 **out_db)
{
    static const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    sqlite3 *db = NULL;
    struct buf uri CLEANUP(buf_deinit);
    TRY(write_uri(&uri, path, "?nolock=1", problem));
    int rc = sqlite3_open_v2(uri.ptr, &db, flags, NULL);
    if (rc != SQLITE_OK) {
        enum error e = sqlite_file_problem(db, rc, "cannot write", path, problem);
        sqlite3_close(db);
        return e;
    }
    *out_db = db;
    return OK;
}

void sqlite_file_close(sqlite3 **db)
{
    sqlite3_close(*db);
    *db = NULL;
}

/* --- Long statements ------------------------------------------------------------------------ */

static int is_called_off(void *progress)
{
    return progress_is_cancelled(progress);
}

void sqlite_file_watch(sqlite3 *db, struct progress *progress)
{
    sqlite3_progress_handler(db, WATCH_STEPS, progress == NULL ? NULL : is_called_off, progress);
}

/* --- Integrity ------------------------------------------------------------------------------ */

struct check_run {
    sqlite_file_fault *found;
    void *data;
    bool lacks_memory;
};

/* SQLite reports a page without memory for it as one that it cannot get: it is not damaged. */
static bool tells_of_memory(const char *line)
{
    static const char words[] = "unable to get the page. error code=7";
    const char *at = strstr(line, words);
    return at != NULL && (at[sizeof words - 1] < '0' || at[sizeof words - 1] > '9');
}

static int take_integrity(void *data, int n, char **values, char **names)
{
    struct check_run *run = data;
    if (n == 0 || values[0] == NULL || strcmp(values[0], "ok") == 0)
        return 0;
    run->lacks_memory = tells_of_memory(values[0]);
    if (run->lacks_memory)
        return 1;
    run->found(run->data, values[0]);
    return 0;
}

/* Columns: the table, the rowid, the referenced table, the index of the foreign key. */
static int take_foreign_key(void *data, int n, char **values, char **names)
{
    const struct check_run *run = data;
    char line[256];
    if (n < 3)
        return 0;
    snprintf(line, sizeof line, "row %s of %s refers to a row of %s that does not exist",
        values[1] != NULL ? values[1] : "?", values[0] != NULL ? values[0] : "?",
        values[2] != NULL ? values[2] : "?");
    run->found(run->data, line);
    return 0;
}

enum error sqlite_file_fsck(sqlite3 *db, const char *path, bool quick, sqlite_file_fault *found,
    void *data, struct problem *problem)
{
    struct check_run run = {found, data, false};
    int rc = sqlite3_exec(
        db, quick ? "PRAGMA quick_check" : "PRAGMA integrity_check", take_integrity, &run, NULL);
    if (run.lacks_memory)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA foreign_key_check", take_foreign_key, &run, NULL);
    if ((rc & 0xff) == SQLITE_CORRUPT) { /* too damaged to be checked */
        found(data, sqlite3_errmsg(db));
        return OK;
    }
    return rc == SQLITE_OK ? OK : sqlite_file_problem(db, rc, "cannot check", path, problem);
}

struct first_fault {
    struct arena *arena;
    struct str line;
};

static void keep_first(void *data, const char *line)
{
    struct first_fault *first = data;
    if (str_is_none(first->line))
        first->line = arena_str(first->arena, str_of(line));
}

enum error sqlite_file_expect_whole(sqlite3 *db, const char *path, struct problem *problem)
{
    struct first_fault first = {problem->arena, STR_NONE};
    TRY(sqlite_file_fsck(db, path, false, keep_first, &first, problem));
    if (!str_is_none(first.line))
        return problem_set(problem, ERR_INVALID, "%s is damaged: %.*s", path, STR_ARG(first.line));
    return OK;
}

/* --- Contents ------------------------------------------------------------------------------- */

static void add_number(struct sha256_state *hash, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    sha256_add(hash, (struct str){(const char *)bytes, sizeof bytes});
}

/* Hashes the type, the length and the bytes of a value, so that the hash of a row is
 * unambiguous. */
static void add_value(struct sha256_state *hash, sqlite3_stmt *stmt, int column)
{
    int type = sqlite3_column_type(stmt, column);
    add_number(hash, (uint64_t)type);
    switch (type) {
    case SQLITE_NULL:
        return;
    case SQLITE_INTEGER:
        add_number(hash, (uint64_t)sqlite3_column_int64(stmt, column));
        return;
    default:
        break;
    }
    const char *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(stmt, column)
                                            : (const char *)sqlite3_column_text(stmt, column);
    size_t len = (size_t)sqlite3_column_bytes(stmt, column);
    add_number(hash, len);
    sha256_add(hash, (struct str){len > 0 ? bytes : "", len});
}

static int read_tables(sqlite3 *db, struct arena *arena, struct contents *out)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%'"
        " ESCAPE '!' ORDER BY name LIMIT ?1",
        -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int(stmt, 1, CONTENTS_MAX_TABLES);
    out->tables = ARENA_ARRAY(arena, struct table_rows, CONTENTS_MAX_TABLES);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        out->tables[out->n_tables++].name =
            arena_str(arena, str_of((const char *)sqlite3_column_text(stmt, 0)));
    return sqlite3_finalize(stmt);
}

struct count_run {
    sqlite3 *db;
    struct progress *progress;
    struct sha256_state *hash; /* NULL: only count */
    struct arena *arena;
    uint64_t rows;
};

/* The name comes from the file, so it is quoted as one word. Without an index, rows are in the
 * order of their rowids; in a table WITHOUT ROWID, in that of the key. */
static int prepare_table(const struct count_run *run, struct str name, sqlite3_stmt **out_stmt)
{
    char *sql = run->hash != NULL
                    ? sqlite3_mprintf("SELECT * FROM \"%.*w\" NOT INDEXED", STR_ARG(name))
                    : sqlite3_mprintf("SELECT count(*) FROM \"%.*w\"", STR_ARG(name));
    if (sql == NULL)
        mem_exhausted(0);
    int rc = sqlite3_prepare_v2(run->db, sql, -1, out_stmt, NULL);
    sqlite3_free(sql);
    return rc;
}

static void take_row(struct count_run *run, sqlite3_stmt *stmt, const char *stage, uint64_t rows)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++)
        add_value(run->hash, stmt, i);
    if ((run->rows + rows) % REPORT_ROWS == 0)
        progress_report(run->progress, stage, run->rows + rows, 0);
}

static int count_table(struct count_run *run, struct table_rows *table)
{
    sqlite3_stmt *stmt = NULL;
    int rc = prepare_table(run, table->name, &stmt);
    if (rc != SQLITE_OK)
        return rc;
    struct str stage = arena_printf(run->arena, "reading %.*s", STR_ARG(table->name));
    const char *words = arena_cstr(run->arena, stage);
    if (run->hash != NULL) {
        add_number(run->hash, table->name.len);
        sha256_add(run->hash, table->name);
    }
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        if (run->hash == NULL) {
            table->rows = (uint64_t)sqlite3_column_int64(stmt, 0);
            continue;
        }
        take_row(run, stmt, words, ++table->rows);
    }
    run->rows += table->rows;
    if (run->hash != NULL)
        add_number(run->hash, table->rows);
    return sqlite3_finalize(stmt);
}

int sqlite_file_number(sqlite3 *db, const char *sql, int64_t *out_number)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        *out_number = sqlite3_column_int64(stmt, 0);
    return sqlite3_finalize(stmt);
}

enum error sqlite_file_schema_version(
    sqlite3 *db, const char *path, struct problem *problem, int64_t *out_version)
{
    *out_version = 0;
    int rc = sqlite_file_number(
        db, "SELECT coalesce(max(version), 0) FROM schema_versions", out_version);
    if (rc == SQLITE_ERROR) /* the table does not exist */
        return OK;
    return rc == SQLITE_OK ? OK : sqlite_file_problem(db, rc, "cannot read", path, problem);
}

enum error sqlite_file_contents(sqlite3 *db, const char *path, bool quick,
    struct progress *progress, struct problem *problem, struct contents *out_contents)
{
    struct contents contents = {.has_digest = !quick};
    struct count_run run = {.db = db,
        .progress = progress,
        .hash = quick ? NULL : sha256_create(),
        .arena = problem->arena};
    enum error e = sqlite_file_schema_version(db, path, problem, &contents.schema_version);
    int rc = e == OK ? read_tables(db, problem->arena, &contents) : SQLITE_OK;
    for (size_t i = 0; e == OK && rc == SQLITE_OK && i < contents.n_tables; i++)
        rc = count_table(&run, &contents.tables[i]);
    contents.rows = run.rows;
    if (!quick)
        contents.digest = sha256_finish(run.hash);
    if (e == OK && rc != SQLITE_OK)
        e = sqlite_file_problem(db, rc, "cannot read", path, problem);
    if (e == OK)
        *out_contents = contents;
    return e;
}
