/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json/json_write.h"
#include "store/migrate.h"
#include "store/postgres.h"
#include "store/select.h"

enum {
    PG_BOOL = 16,
    PG_INT8 = 20,
    PG_JSON = 114,
    TIMESTAMPTZ = 1184,
    INT2 = 21,
    INT4 = 23,
    FLOAT4 = 700,
    FLOAT8 = 701,
    NUMERIC = 1700
};
enum { JSONB = 3802, TIMEOUT_TEXT_BYTES = 24 };
enum { DOCUMENT_GRACE_MS = 1000 }; /* for the answer that the time is over */

struct run {
    struct select *select;
    struct problem *problem;
    struct pg_connection *c;
    char tenant_id[UUID_TEXT_LEN + 1];
    int64_t deadline_us;
    bool uses_documents;            /* the statement calls cairn_document() */
    struct pg_connection documents; /* connected when a document is read */
};

/* --- Statements ----------------------------------------------------------------------------- */

/* 0: the time is over. */
static int64_t left_ms(const struct run *run)
{
    int64_t left = (run->deadline_us - clock_steady_us()) / 1000;
    return left > 0 ? left : 0;
}

static enum error fail_late(struct run *run)
{
    return problem_set(run->problem, ERR_INVALID, "the statement took longer than %lld s",
        (long long)(run->select->timeout_ms / 1000));
}

/* The remaining time as a setting, in which 0 would be no limit. */
static const char *timeout_text(const struct run *run, char text[TIMEOUT_TEXT_BYTES])
{
    int64_t left = left_ms(run);
    snprintf(text, TIMEOUT_TEXT_BYTES, "%lld", left > 1 ? (long long)left : 1LL);
    return text;
}

/* The database's own message has one line. */
static enum error fail(struct run *run, const PGresult *r)
{
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (message == NULL || state == NULL)
        return problem_set(
            run->problem, ERR_UNAVAILABLE, "the connection to the database was lost");
    if (strcmp(state, "57014") == 0)
        return fail_late(run);
    return problem_set(
        run->problem, ERR_INVALID, "the statement is not valid: %s (SQLSTATE %s)", message, state);
}

/* Executes one statement; the caller clears the result. */
static enum error ask(struct run *run, const char *sql, int n_params, const char *const *params,
    PGresult **out_result)
{
    *out_result = PQexecParams(run->c->conn, sql, n_params, NULL, params, NULL, NULL, 0);
    return pg_has_succeeded(*out_result) ? OK : fail(run, *out_result);
}

static enum error exec(struct run *run, const char *sql)
{
    PGresult *r CLEANUP(pg_clearp) = NULL;
    return ask(run, sql, 0, NULL, &r);
}

/* Begins a transaction of the tenant ("*": all) that ends itself at the deadline. */
static enum error begin(struct run *run, const char *how, const char *tenant)
{
    PGresult *r CLEANUP(pg_clearp) = NULL;
    char timeout[TIMEOUT_TEXT_BYTES];
    const char *params[] = {run->c->store->schema, tenant, timeout_text(run, timeout)};
    TRY(exec(run, how));
    return ask(run,
        "SELECT set_config('search_path', quote_ident($1), true),"
        " set_config('cairn.tenant', $2, true), set_config('statement_timeout', $3, true),"
        " set_config('lock_timeout', $3, true), set_config('TimeZone', 'UTC', true),"
        " set_config('DateStyle', 'ISO', true), set_config('bytea_output', 'hex', true),"
        " set_config('extra_float_digits', '1', true), set_config('jit', 'off', true)",
        3, params, &r);
}

static enum error find_tenant(struct run *run)
{
    PGresult *r CLEANUP(pg_clearp) = NULL;
    const char *wanted = arena_cstr(run->problem->arena, run->select->tenant);
    TRY(begin(run, "BEGIN READ ONLY", "*"));
    TRY(ask(run, "SELECT id::text FROM tenants WHERE name = $1 OR id::text = lower($1)", 1, &wanted,
        &r));
    if (PQntuples(r) != 1)
        return problem_set(run->problem, ERR_NOT_FOUND, "the tenant %s does not exist", wanted);
    snprintf(run->tenant_id, sizeof run->tenant_id, "%s", PQgetvalue(r, 0, 0));
    return exec(run, "ROLLBACK");
}

/* --- Names that a statement may use ---------------------------------------------------------- */

/*
 * Everything that the statement uses and may not. PostgreSQL itself has resolved the names: the
 * rule of the view lists relations, functions and operators by their ids. Allowed are
 *   - the views of the schema;
 *   - functions of pg_catalog that are immutable, and so compute from their arguments; and stable
 *     ones, except those that read settings, catalogues or tables;
 *   - operators of pg_catalog.
 * Text of the statement cannot hide an id: constants are written as numbers of bytes, and words
 * with escaped blanks.
 *
 * The first row is what the statement may not use; NULL if that is nothing and the statement calls
 * cairn_document().
 */
static const char NOT_ALLOWED[] =
    "WITH used AS (SELECT DISTINCT m[1] AS kind, m[2]::oid AS id"
    " FROM pg_catalog.pg_rewrite AS r, pg_catalog.regexp_matches(r.ev_action::text,"
    " ':(relid|funcid|aggfnoid|winfnoid|opno|tsmhandler) ([0-9]+)', 'g') AS m"
    " WHERE r.ev_class = 'pg_temp.cairn_select'::regclass)"
    " SELECT 'the relation ' || c.relname FROM used AS u JOIN pg_catalog.pg_class AS c"
    "  ON u.kind = 'relid' AND c.oid = u.id"
    "  WHERE c.oid <> 'pg_temp.cairn_select'::regclass AND NOT (c.relkind = 'v'"
    "   AND c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1))"
    " UNION ALL SELECT CASE WHEN d.oid IS NULL THEN 'the function ' || p.proname END"
    "  FROM used AS u JOIN pg_catalog.pg_proc AS p"
    "  ON u.kind IN ('funcid', 'aggfnoid', 'winfnoid', 'tsmhandler') AND p.oid = u.id"
    "  LEFT JOIN (SELECT pg_catalog.to_regprocedure("
    "   pg_catalog.quote_ident($1) || '.cairn_document(jsonb)')::oid) AS d (oid) ON d.oid = p.oid"
    "  WHERE NOT (p.pronamespace = 'pg_catalog'::regnamespace AND (p.provolatile = 'i'"
    "    OR p.proname IN ('random', 'clock_timestamp', 'gen_random_uuid')"
    "    OR (p.provolatile = 's' AND p.proname NOT LIKE 'pg\\_%'"
    "     AND p.proname NOT LIKE '%\\_to\\_xml%' AND p.proname NOT LIKE 'has\\_%'"
    "     AND p.proname NOT LIKE 'inet\\_%' AND p.proname NOT LIKE '%\\_description'"
    "     AND p.proname NOT IN ('current_setting', 'current_query', 'version', 'to_regclass',"
    "      'to_regrole', 'currtid2', 'row_security_active', 'getdatabaseencoding'))))"
    " UNION ALL SELECT 'the operator ' || o.oprname FROM used AS u"
    "  JOIN pg_catalog.pg_operator AS o ON u.kind = 'opno' AND o.oid = u.id"
    "  WHERE o.oprnamespace <> 'pg_catalog'::regnamespace ORDER BY 1 NULLS LAST LIMIT 1";

/* Compiles the statement as a temporary view, which is never read and is rolled back. A view cannot
 * be made from anything but one SELECT. */
static enum error check(struct run *run, const char *text)
{
    PGresult *r CLEANUP(pg_clearp) = NULL;
    PGresult *created CLEANUP(pg_clearp) = NULL;
    const char *params[] = {run->c->store->schema};
    struct str view =
        arena_printf(run->problem->arena, "CREATE TEMPORARY VIEW cairn_select AS\n%s", text);
    TRY(begin(run, "BEGIN", run->tenant_id));
    TRY(ask(run, arena_cstr(run->problem->arena, view), 0, NULL, &created));
    TRY(ask(run, NOT_ALLOWED, 1, params, &r));
    run->uses_documents = PQntuples(r) > 0 && PQgetisnull(r, 0, 0);
    if (PQntuples(r) > 0 && !run->uses_documents)
        return problem_set(
            run->problem, ERR_INVALID, "a statement may not use %s", PQgetvalue(r, 0, 0));
    return exec(run, "ROLLBACK");
}

/* --- Documents ------------------------------------------------------------------------------ */

/* The rows of the statement are read one by one, so another connection reads documents. */
static enum error open_documents(struct run *run)
{
    struct pg_connection *c = &run->documents;
    if (c->conn == NULL)
        return pg_connect(c, run->problem);
    return pg_is_gone(c) ? problem_set(run->problem, ERR_UNAVAILABLE,
                               "the connection to the database was lost")
                         : OK;
}

/* Begins a transaction of the connection for documents, whose statements end at the deadline. */
static bool begin_document(struct run *run)
{
    struct pg_connection *c = &run->documents;
    char timeout[TIMEOUT_TEXT_BYTES];
    pg_begin_transaction(c);
    c->patience_us = (left_ms(run) + DOCUMENT_GRACE_MS) * 1000;
    return pg_begin(c, PG_BEGIN_READ) && pg_send_text(c,
                                             "SELECT set_config('statement_timeout', $1, true),"
                                             " set_config('lock_timeout', $2, true)",
                                             timeout_text(run, timeout), timeout);
}

static enum error read_document(
    struct run *run, struct arena *arena, struct uuid id, struct str *out_document)
{
    struct pg_connection *c = &run->documents;
    struct uuid tenant;
    struct tx tx;
    if (!uuid_parse(str_of(run->tenant_id), &tenant))
        return ERR_NOT_FOUND;
    TRY(open_documents(run));
    tx_init(&tx, &c->store->base, c, false);
    enum error e = ERR_UNAVAILABLE;
    if (begin_document(run))
        e = run->select->document(&tx, arena, tenant, id, false, out_document);
    tx_drop_memo(&tx);
    if (c->lost || c->error != OK || !pg_send_commit(c) || !pg_settle(c))
        pg_abandon(c);
    return e;
}

/*
 * PostgreSQL cannot decompress: cairn_document() has returned the reference, with the number of
 * compressed items. Replaces it by the document, unless that was dropped meanwhile.
 */
static enum error resolve(struct run *run, struct arena *arena, struct str *text)
{
    struct str document = STR_NONE;
    struct uuid id;
    bool whole;
    if (!run->uses_documents || memmem(text->ptr, text->len, "\"compressed_items\"", 18) == NULL ||
        !select_is_reference(arena, *text, &id, &whole) || whole)
        return OK;
    if (left_ms(run) == 0)
        return fail_late(run);
    enum error e = read_document(run, arena, id, &document);
    if (e != OK && e != ERR_NOT_FOUND)
        return left_ms(run) == 0 ? fail_late(run)
                                 : problem_set(run->problem, e, "a document could not be read");
    if (!str_is_none(document))
        *text = document;
    return OK;
}

/* --- Rows ----------------------------------------------------------------------------------- */

/* "2026-01-02 03:04:05.000006+00" as RFC 3339. */
static void write_time(struct json_writer *w, struct arena *arena, struct str text)
{
    if (text.len > 13 && text.ptr[10] == ' ' && str_ends_with(text, STR("+00")))
        text = arena_printf(arena, "%.10sT%.*sZ", text.ptr, (int)(text.len - 14), text.ptr + 11);
    json_write_string(w, text);
}

/* PostgreSQL accepts JSON that Cairn does not: names that occur twice, deeper nesting. */
static void write_json(struct json_writer *w, struct arena *arena, struct str text)
{
    struct json_doc doc;
    struct json_error error;
    if (json_parse(arena, text, &doc, &error))
        json_write_value(w, json_root(&doc));
    else
        json_write_string(w, text);
}

static void write_value(
    struct json_writer *w, struct arena *arena, const PGresult *r, int row, int i, struct str text)
{
    bool is_word =
        text.len > 0 && strchr("NI", text.ptr[text.ptr[0] == '-' && text.len > 1]) != NULL;
    if (PQgetisnull(r, row, i)) {
        json_write_null(w);
        return;
    }
    switch (PQftype(r, i)) {
    case PG_BOOL:
        json_write_bool(w, text.ptr[0] == 't');
        break;
    case PG_JSON:
    case JSONB:
        write_json(w, arena, text);
        break;
    case INT2:
    case INT4:
    case PG_INT8:
    case FLOAT4:
    case FLOAT8:
    case NUMERIC:
        if (is_word) /* NaN, Infinity */
            json_write_string(w, text);
        else
            json_write_raw(w, text);
        break;
    case TIMESTAMPTZ:
        write_time(w, arena, text);
        break;
    default:
        json_write_string(w, text);
    }
}

static enum error take_row(struct run *run, const PGresult *r, int row, bool *out_enough)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct buf buf CLEANUP(buf_deinit);
    struct json_writer w;
    buf_init(&buf, 2 * SELECT_MAX_BYTES);
    json_writer_init(&w, &buf);
    json_write_object(&w);
    for (size_t i = 0; i < run->select->n_columns; i++) {
        json_write_key(&w, run->select->columns[i]);
        struct str text = {PQgetvalue(r, row, (int)i), (size_t)PQgetlength(r, row, (int)i)};
        if (PQftype(r, (int)i) == JSONB)
            TRY(resolve(run, &arena, &text));
        write_value(&w, &arena, r, row, (int)i, text);
    }
    json_write_end(&w);
    if (buf.failed)
        return problem_set(run->problem, ERR_INVALID, "a row is too large");
    return select_take_row(run->select, buf_str(&buf), run->problem, out_enough);
}

static const char *column_name(void *result, int i)
{
    return PQfname(result, i);
}

static const char *plan_name(void *result, int i)
{
    return "plan";
}

static enum error take_result(struct run *run, PGresult *r, bool *out_enough)
{
    ExecStatusType status = PQresultStatus(r);
    if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK)
        return fail(run, r);
    if (run->select->columns == NULL)
        TRY(select_take_columns(run->select, run->select->plan ? plan_name : column_name, r,
            PQnfields(r), run->problem));
    for (int row = 0; row < PQntuples(r) && !*out_enough; row++)
        TRY(take_row(run, r, row, out_enough));
    return OK;
}

/* Reads row by row, so that a result that is too large is not collected first. The connection is
 * closed afterwards, whatever it still has to say. */
static enum error read_rows(struct run *run, const char *sql)
{
    PGconn *conn = run->c->conn;
    bool enough = false;
    if (PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0) != 1 ||
        PQsetSingleRowMode(conn) != 1)
        return fail(run, NULL);
    for (PGresult *next; !enough && (next = PQgetResult(conn)) != NULL;) {
        PGresult *r CLEANUP(pg_clearp) = next;
        TRY(take_result(run, r, &enough));
    }
    return OK;
}

static enum error execute(struct run *run)
{
    struct arena *arena = run->problem->arena;
    struct str text = str_trim_blanks(run->select->text);
    while (text.len > 0 && text.ptr[text.len - 1] == ';')
        text = str_trim_blanks((struct str){text.ptr, text.len - 1});
    const char *statement = arena_cstr(arena, text);
    TRY(find_tenant(run));
    TRY(check(run, statement));
    TRY(begin(run, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", run->tenant_id));
    if (run->select->plan)
        return read_rows(run, arena_cstr(arena, arena_printf(arena, "EXPLAIN\n%s", statement)));
    TRY(exec(
        run, arena_cstr(arena,
                 arena_printf(arena, "DECLARE cairn_select NO SCROLL CURSOR FOR\n%s", statement))));
    return read_rows(run, arena_cstr(arena, arena_printf(arena, "FETCH %zu FROM cairn_select",
                                                run->select->max_rows + 1)));
}

static enum error expect_schema(struct run *run)
{
    int64_t version;
    TRY(pg_schema_version(run->c, &version, run->problem));
    if (version == (int64_t)store_migration_count)
        return OK;
    return problem_set(run->problem, ERR_INVALID,
        "the schema \"%s\" has version %lld, this cairn (" CAIRN_VERSION ") knows version %zu: %s",
        run->c->store->schema, (long long)version, store_migration_count,
        version > (int64_t)store_migration_count ? "use a newer cairn"
                                                 : "start the server once to migrate the database");
}

static void close_run(struct run *run)
{
    pg_connection_deinit(&run->documents);
}

enum error postgres_select(
    const struct store_config *config, struct select *select, struct problem *problem)
{
    struct pg_store store = {.base = {.ops = &postgres_ops, .config = *config}};
    store.base.config.inspects = true;
    store.schema = (char *)arena_cstr(problem->arena, config->schema);
    struct pg_target target CLEANUP(pg_target_deinit) = {0};
    TRY(pg_target_init(&target, config->url, false, "--db", problem));
    struct pg_connection c CLEANUP(pg_connection_deinit);
    pg_connection_init(&c, &store, &target);
    struct run run CLEANUP(close_run) = {.select = select,
        .problem = problem,
        .c = &c,
        .deadline_us = clock_steady_us() + select->timeout_ms * 1000};
    pg_connection_init(&run.documents, &store, &target);
    TRY(pg_connect(&c, problem));
    if (PQexitPipelineMode(c.conn) != 1 || PQsetnonblocking(c.conn, 0) != 0)
        return problem_set(problem, ERR_UNAVAILABLE, "the connection to the database was lost");
    TRY(expect_schema(&run));
    return execute(&run);
}
