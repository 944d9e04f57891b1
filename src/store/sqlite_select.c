/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sqlite3.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json/json_write.h"
#include "store/engine.h"
#include "store/inspect.h"
#include "store/migrate.h"
#include "store/select.h"
#include "store/sidecar.h"
#include "store/sqlite.h"
#include "store/sqlite_dialect.h"
#include "store/sqlite_file.h"

enum { CHECK_STEPS = 1000 };

struct run {
    struct select *select;
    struct problem *problem;
    const char *path;
    sqlite3 *db;   /* read only, with the rows of the tenant under the names of tables and views */
    sqlite3 *stub; /* in memory: only the names and columns of the views */
    struct uuid tenant_id;
    int64_t deadline_us;
    int64_t now_us;
    struct str refused; /* the first name that the authorizer refused */
    const char **views;
    size_t n_views;
    /* For cairn_document(). */
    const struct store_config *config;
    struct sqlite_store store;
    struct sqlite_connection connection;
};

/* --- Names that a statement may use ---------------------------------------------------------- */

/* Sorted. These compute from their arguments. */
static const char *const FUNCTIONS[] = {"->", "->>", "abs", "acos", "acosh", "asin", "asinh",
    "atan", "atan2", "atanh", "avg", "cairn_add", "cairn_bigint", "cairn_document", "cairn_float",
    "cairn_integer", "cairn_list", "cairn_smallint", "ceil", "ceiling", "char", "coalesce",
    "concat", "concat_ws", "cos", "cosh", "count", "cume_dist", "date", "datetime", "degrees",
    "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "ifnull",
    "iif", "instr", "json", "json_array", "json_array_length", "json_each", "json_error_position",
    "json_extract", "json_group_array", "json_group_object", "json_insert", "json_object",
    "json_patch", "json_quote", "json_remove", "json_replace", "json_set", "json_tree", "json_type",
    "json_valid", "jsonb_array_length", "julianday", "lag", "last_value", "lead", "left", "length",
    "like", "likelihood", "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "min",
    "mod", "now", "nth_value", "ntile", "nullif", "octet_length", "percent_rank", "pi", "pow",
    "power", "printf", "quote", "radians", "random", "rank", "replace", "right", "round",
    "row_number", "rtrim", "sign", "sin", "sinh", "sqrt", "strftime", "string_agg", "substr",
    "substring", "sum", "tan", "tanh", "time", "timediff", "total", "trim", "trunc", "typeof",
    "unhex", "unicode", "unixepoch", "unlikely", "upper"};

static int compare_names(const void *a, const void *b)
{
    return strcasecmp(a, *(const char *const *)b);
}

static bool is_allowed_function(const char *name)
{
    return bsearch(name, FUNCTIONS, COUNT_OF(FUNCTIONS), sizeof *FUNCTIONS, compare_names) != NULL;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

static int refuse(struct run *run, const char *what, const char *name)
{
    if (str_is_none(run->refused))
        run->refused = arena_printf(run->problem->arena, "%s %s", what, name != NULL ? name : "");
    return SQLITE_DENY;
}

/* A table that the statement itself names is a view of the tenant. A column without a name is any
 * table, or a subquery, of which the statement uses no column. */
static bool may_read(const struct run *run, const char *table, const char *column, const char *view)
{
    if (begins_with(table, "sqlite_") || begins_with(table, "pragma_"))
        return false;
    if (view != NULL || column[0] == '\0' || strcasecmp(table, "json_each") == 0 ||
        strcasecmp(table, "json_tree") == 0)
        return true;
    for (size_t i = 0; i < run->n_views; i++)
        if (strcasecmp(table, run->views[i]) == 0)
            return true;
    return false;
}

/* The database in memory has no tables but the views'; the schema is a table of every database. */
static int authorize(
    void *data, int action, const char *a, const char *b, const char *database, const char *source)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return may_read(data, a, b, source) ? SQLITE_OK : refuse(data, "the table", a);
    case SQLITE_FUNCTION:
        return is_allowed_function(b) ? SQLITE_OK : refuse(data, "the function", b);
    default:
        return refuse(data, "anything but SELECT:", a);
    }
}

static int is_late(void *data)
{
    const struct run *run = data;
    return clock_steady_us() > run->deadline_us;
}

/* --- Errors --------------------------------------------------------------------------------- */

static enum error fail(struct run *run, sqlite3 *db, int rc)
{
    struct problem *p = run->problem;
    if (!str_is_none(run->refused))
        return problem_set(p, ERR_INVALID, "a statement may not use %.*s", STR_ARG(run->refused));
    switch (rc & 0xff) {
    case SQLITE_INTERRUPT:
        return problem_set(p, ERR_INVALID, "the statement took longer than %lld s",
            (long long)(run->select->timeout_ms / 1000));
    case SQLITE_NOMEM:
        return problem_set(p, ERR_INVALID, "the statement needs more than %d MiB of memory",
            SELECT_MEMORY_BYTES / 1024 / 1024);
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_AUTH:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
        return problem_set(p, ERR_INVALID, "the statement is not valid: %s", sqlite3_errmsg(db));
    default:
        return sqlite_file_problem(db, rc, "cannot read", run->path, p);
    }
}

/* Executes a statement of Cairn's own; frees its text, which sqlite3_mprintf made. */
static enum error exec_owned(struct run *run, sqlite3 *db, char *sql)
{
    if (sql == NULL)
        mem_exhausted(0);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK ? OK
                           : sqlite_file_problem(db, rc, "cannot read", run->path, run->problem);
}

/* For both connections, once they are set up. */
static enum error restrict_connection(struct run *run, sqlite3 *db)
{
    static const char *kept[] = {"json_each", "json_tree", NULL};
    sqlite3_drop_modules(db, kept);
    /* The first use of a module creates its table, which the authorizer would refuse. */
    TRY(exec_owned(run, db, sqlite3_mprintf("SELECT 1 FROM json_each('[]'), json_tree('[]')")));
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SELECT_MAX_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 0);
    sqlite3_set_authorizer(db, authorize, run);
    return OK;
}

/* --- cairn_document ------------------------------------------------------------------------- */

/* Returns the argument unless it is a reference to a document of the tenant. */
static void cairn_document(sqlite3_context *result, int n, sqlite3_value **values)
{
    struct run *run = sqlite3_user_data(result);
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SELECT_MAX_BYTES);
    struct str document = STR_NONE, text = STR_NONE;
    struct uuid id;
    bool whole;
    if (sqlite3_value_type(values[0]) == SQLITE_TEXT)
        text = (struct str){
            (const char *)sqlite3_value_text(values[0]), (size_t)sqlite3_value_bytes(values[0])};
    if (!str_is_none(text) && select_is_reference(&arena, text, &id, &whole)) {
        struct tx tx;
        tx_init(&tx, &run->store.base, &run->connection, false);
        enum error e = run->select->document(&tx, &arena, run->tenant_id, id, whole, &document);
        if (e != OK && e != ERR_NOT_FOUND) {
            sqlite3_result_error(result, "a document could not be read", -1);
            return;
        }
    }
    if (str_is_none(document))
        sqlite3_result_value(result, values[0]);
    else
        sqlite3_result_text64(result, document.ptr, document.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* --- The rows of the tenant ----------------------------------------------------------------- */

static enum error expect_schema(struct run *run)
{
    int64_t version;
    TRY(sqlite_file_schema_version(run->db, run->path, run->problem, &version));
    if (version == (int64_t)store_migration_count)
        return OK;
    return problem_set(run->problem, ERR_INVALID,
        "%s has schema version %lld, this cairn (" CAIRN_VERSION ") knows version %zu: %s",
        run->path, (long long)version, store_migration_count,
        version > (int64_t)store_migration_count ? "use a newer cairn"
                                                 : "start the server once to migrate the database");
}

static enum error prepare_own(struct run *run, sqlite3_stmt **out_stmt, const char *sql)
{
    int rc = sqlite3_prepare_v2(run->db, sql, -1, out_stmt, NULL);
    return rc == SQLITE_OK
               ? OK
               : sqlite_file_problem(run->db, rc, "cannot read", run->path, run->problem);
}

static void finalize(sqlite3_stmt **stmt)
{
    sqlite3_finalize(*stmt);
}

static enum error find_tenant(struct run *run)
{
    sqlite3_stmt *stmt CLEANUP(finalize) = NULL;
    struct str wanted = run->select->tenant;
    struct uuid id;
    bool is_id = uuid_parse(wanted, &id);
    TRY(prepare_own(run, &stmt, "SELECT id FROM tenants WHERE id = ?1 OR name = ?2"));
    if (is_id)
        sqlite3_bind_blob(stmt, 1, id.bytes, sizeof id.bytes, SQLITE_TRANSIENT);
    sqlite3_bind_text(stmt, 2, wanted.ptr, (int)wanted.len, SQLITE_TRANSIENT);
    if (sqlite3_step(stmt) != SQLITE_ROW || sqlite3_column_bytes(stmt, 0) != sizeof id.bytes)
        return problem_set(
            run->problem, ERR_NOT_FOUND, "the tenant %.*s does not exist", STR_ARG(wanted));
    memcpy(run->tenant_id.bytes, sqlite3_column_blob(stmt, 0), sizeof run->tenant_id.bytes);
    return OK;
}

/* The texts of the statement's one column. */
static enum error read_texts(
    struct run *run, const char *sql, const char ***out_texts, size_t *out_n)
{
    enum { MOST = 500 };
    sqlite3_stmt *stmt CLEANUP(finalize) = NULL;
    TRY(prepare_own(run, &stmt, sql));
    const char **texts = ARENA_ARRAY(run->problem->arena, const char *, MOST);
    size_t n = 0;
    while (sqlite3_step(stmt) == SQLITE_ROW && n < MOST)
        texts[n++] =
            arena_cstr(run->problem->arena, str_of((const char *)sqlite3_column_text(stmt, 0)));
    *out_texts = texts;
    *out_n = n;
    return OK;
}

/* Temporary views have precedence over the tables of the file with the same names. The plus keeps
 * the planner from an index of the tenant where the view has a better one. */
static enum error fence_tables(struct run *run)
{
    const char **tables;
    size_t n;
    struct buf id CLEANUP(buf_deinit);
    buf_init(&id, 64);
    for (size_t i = 0; i < sizeof run->tenant_id.bytes; i++)
        buf_printf(&id, "%02x", run->tenant_id.bytes[i]);
    TRY(read_texts(run,
        "SELECT DISTINCT t.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND t.rootpage > 0"
        " AND (c.name = 'tenant_id' OR t.name = 'tenants')",
        &tables, &n));
    for (size_t i = 0; i < n; i++) {
        bool is_tenants = strcmp(tables[i], "tenants") == 0;
        TRY(exec_owned(run, run->db,
            sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS SELECT * FROM main.\"%w\" WHERE +%s = "
                            "x'%.*s'",
                tables[i], tables[i], is_tenants ? "id" : "tenant_id", STR_ARG(buf_str(&id)))));
    }
    return OK;
}

/* The views again, now over the rows of the tenant; and their columns in the other database. */
static enum error copy_views(struct run *run)
{
    const char **columns, **texts;
    size_t n;
    TRY(read_texts(run, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name",
        &run->views, &run->n_views));
    TRY(read_texts(run,
        "SELECT (SELECT group_concat('\"' || replace(c.name, '\"', '\"\"') || '\"')"
        " FROM pragma_table_info(v.name) AS c)"
        " FROM sqlite_schema AS v WHERE v.type = 'view' ORDER BY v.name",
        &columns, &n));
    TRY(read_texts(run,
        "SELECT 'CREATE TEMP' || substr(sql, 7) FROM sqlite_schema WHERE type = 'view'"
        " ORDER BY name",
        &texts, &n));
    for (size_t i = 0; i < n; i++) {
        TRY(exec_owned(run, run->db, sqlite3_mprintf("%s", texts[i])));
        TRY(exec_owned(run, run->stub,
            sqlite3_mprintf("CREATE TEMP TABLE \"%w\" (%s)", run->views[i], columns[i])));
    }
    return OK;
}

static enum error add_functions(struct run *run, sqlite3 *db)
{
    int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    int rc =
        sqlite3_create_function(db, "cairn_document", 1, flags, run, cairn_document, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite_dialect_add_functions(db, &run->now_us);
    return rc == SQLITE_OK ? OK
                           : sqlite_file_problem(db, rc, "cannot read", run->path, run->problem);
}

static enum error set_up(struct run *run)
{
    TRY(expect_schema(run));
    TRY(find_tenant(run));
    if (sqlite3_open(":memory:", &run->stub) != SQLITE_OK)
        mem_exhausted(0);
    TRY(exec_owned(run, run->db, sqlite3_mprintf("PRAGMA query_only = OFF")));
    /* SQLite 3.40 does not trust views with functions of JSON; the authorizer limits functions. */
    sqlite3_db_config(run->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1, NULL);
    TRY(fence_tables(run));
    TRY(copy_views(run));
    TRY(exec_owned(run, run->db, sqlite3_mprintf("PRAGMA query_only = ON")));
    TRY(add_functions(run, run->db));
    TRY(add_functions(run, run->stub));
    TRY(restrict_connection(run, run->db));
    return restrict_connection(run, run->stub);
}

/* --- The statement -------------------------------------------------------------------------- */

/* Compiles one statement; nothing but blanks and comments may follow it. */
static enum error compile(struct run *run, sqlite3 *db, struct str text, sqlite3_stmt **out_stmt)
{
    const char *tail = NULL;
    int rc = sqlite3_prepare_v2(db, text.ptr, (int)text.len, out_stmt, &tail);
    if (rc != SQLITE_OK)
        return fail(run, db, rc);
    sqlite3_stmt *second CLEANUP(finalize) = NULL;
    size_t rest = text.len - (size_t)(tail - text.ptr);
    rc = sqlite3_prepare_v2(db, tail, (int)rest, &second, NULL);
    if (*out_stmt == NULL || rc != SQLITE_OK || second != NULL)
        return problem_set(run->problem, ERR_INVALID, "one SELECT statement is expected");
    if (!sqlite3_stmt_readonly(*out_stmt) ||
        (sqlite3_stmt_isexplain(*out_stmt) != 0 && !run->select->plan))
        return problem_set(run->problem, ERR_INVALID, "only SELECT is allowed");
    return OK;
}

static void write_value(struct json_writer *w, sqlite3_stmt *stmt, int i)
{
    int type = sqlite3_column_type(stmt, i);
    const char *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(stmt, i)
                                            : (const char *)sqlite3_column_text(stmt, i);
    struct str text = {bytes, (size_t)sqlite3_column_bytes(stmt, i)};
    if (type == SQLITE_NULL)
        json_write_null(w);
    else if (type == SQLITE_INTEGER)
        json_write_i64(w, sqlite3_column_int64(stmt, i));
    else if (type == SQLITE_FLOAT && isfinite(sqlite3_column_double(stmt, i)))
        json_write_raw(w, text);
    else
        json_write_string(w, text);
}

static enum error take_row(struct run *run, sqlite3_stmt *stmt, bool *out_enough)
{
    struct buf buf CLEANUP(buf_deinit);
    struct json_writer w;
    buf_init(&buf, 2 * SELECT_MAX_BYTES);
    json_writer_init(&w, &buf);
    json_write_object(&w);
    for (size_t i = 0; i < run->select->n_columns; i++) {
        json_write_key(&w, run->select->columns[i]);
        write_value(&w, stmt, run->select->plan ? 3 : (int)i);
    }
    json_write_end(&w);
    if (buf.failed)
        return problem_set(run->problem, ERR_INVALID, "a row is too large");
    return select_take_row(run->select, buf_str(&buf), run->problem, out_enough);
}

static const char *column_name(void *stmt, int i)
{
    return sqlite3_column_name(stmt, i);
}

static const char *plan_name(void *stmt, int i)
{
    return "plan";
}

static enum error read_rows(struct run *run, sqlite3_stmt *stmt)
{
    bool enough = false;
    int rc = SQLITE_ROW;
    if (run->select->plan)
        TRY(select_take_columns(run->select, plan_name, NULL, 1, run->problem));
    else
        TRY(select_take_columns(
            run->select, column_name, stmt, sqlite3_column_count(stmt), run->problem));
    while (!enough && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        TRY(take_row(run, stmt, &enough));
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? OK : fail(run, run->db, rc);
}

static enum error execute(struct run *run)
{
    sqlite3_stmt *checked CLEANUP(finalize) = NULL;
    sqlite3_stmt *stmt CLEANUP(finalize) = NULL;
    struct str text = sqlite_dialect_rewrite(run->select->arena, run->select->text);
    if (run->select->plan)
        text = arena_printf(run->select->arena, "EXPLAIN QUERY PLAN %.*s", STR_ARG(text));
    run->now_us = clock_wall_us();
    run->deadline_us = clock_steady_us() + run->select->timeout_ms * 1000;
    sqlite3_progress_handler(run->db, CHECK_STEPS, is_late, run);
    TRY(compile(run, run->stub, text, &checked));
    TRY(compile(run, run->db, text, &stmt));
    return read_rows(run, stmt);
}

/* --- The file ------------------------------------------------------------------------------- */

static void note_nothing(const char *what)
{
}

static void close_run(struct run *run)
{
    if (run->connection.statements != NULL)
        for (size_t i = 0; i < run->config->n_statements; i++)
            sqlite3_finalize(run->connection.statements[i]);
    mem_free(run->connection.statements);
    sqlite3_close(run->connection.db);
    sqlite3_close(run->db);
    sqlite3_close(run->stub);
}

/* The documents are read on a connection of their own, which is not restricted. */
static enum error run_once(
    const struct store_config *config, struct select *select, bool is_live, struct problem *problem)
{
    struct run run CLEANUP(close_run) = {.select = select,
        .problem = problem,
        .refused = STR_NONE,
        .config = config,
        .store = {.base = {.ops = &sqlite_ops, .config = *config}}};
    run.path =
        file_beside(problem->arena, arena_cstr(problem->arena, config->data_dir), "/cairn.db");
    run.store.base.config.on_fatal = note_nothing;
    TRY(sqlite_file_open(run.path, is_live, problem, &run.db));
    TRY(sqlite_file_open(run.path, is_live, problem, &run.connection.db));
    run.connection.store = &run.store;
    run.connection.statements = mem_zalloc(config->n_statements * sizeof(sqlite3_stmt *));
    TRY(set_up(&run));
    return execute(&run);
}

enum error sqlite_select(
    const struct store_config *config, struct select *select, struct problem *problem)
{
    const struct select given = *select;
    bool was_served = sqlite_is_served(config->data_dir);
    sqlite3_hard_heap_limit64(SELECT_MEMORY_BYTES);
    enum error e = run_once(config, select, was_served, problem);
    /* A server that started meanwhile may have written while the file was read without locks. */
    if (!was_served && sqlite_is_served(config->data_dir)) {
        *select = given;
        e = run_once(config, select, true, problem);
    }
    return e;
}
