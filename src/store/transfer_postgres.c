/* SPDX-License-Identifier: Apache-2.0 */
/* One side of a transfer on PostgreSQL: a schema of a database, over one connection. */
#include <poll.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/postgres.h"
#include "store/transfer_mark.h"
#include "store/transfer_state.h"

enum { PATIENCE_US = 5 * 1000 * 1000 };

struct postgres_side {
    struct side base;
    struct pg_store store; /* the data that a connection needs; no thread runs */
    struct pg_target target;
    struct pg_connection connection;
    PGresult *row;
    const struct transfer_table *table; /* that the prepared statement inserts into */
};

static struct postgres_side *of(struct side *side)
{
    return CONTAINER_OF(side, struct postgres_side, base);
}

/* libpq's messages may have several lines; the database's own have one. */
static enum error refuse(struct postgres_side *s, const char *doing, const PGresult *result)
{
    struct side *side = &s->base;
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (message == NULL || PQstatus(s->connection.conn) != CONNECTION_OK)
        return problem_set(side->problem, ERR_UNAVAILABLE,
            "the connection to the %s was lost: run the same command again to continue",
            side->name);
    bool is_full = state != NULL && strcmp(state, "53100") == 0;
    return problem_set(side->problem, is_full ? ERR_STORAGE_FULL : ERR_UNAVAILABLE,
        "the %s, schema \"%.*s\": %s: %s (SQLSTATE %s)", side->name, STR_ARG(side->place->schema),
        doing, message, state != NULL ? state : "unknown");
}

/* --- Statements ----------------------------------------------------------------------------- */

static enum error postgres_side_exec(struct side *side, const char *sql)
{
    struct postgres_side *s = of(side);
    PGresult *r CLEANUP(pg_clearp) = PQexec(s->connection.conn, sql);
    return pg_has_succeeded(r) ? OK : refuse(s, "a statement failed", r);
}

/* Parameters in libpq's format. */
struct parameters {
    const char *values[TRANSFER_MAX_COLUMNS];
    int lengths[TRANSFER_MAX_COLUMNS];
    int formats[TRANSFER_MAX_COLUMNS];
    unsigned char numbers[TRANSFER_MAX_COLUMNS][8];
};

static void write_number(struct parameters *p, size_t i, int64_t number, bool is_bool)
{
    int len = is_bool ? 1 : 8;
    for (int byte = 0; byte < len; byte++)
        p->numbers[i][byte] = (unsigned char)((uint64_t)number >> (8 * (len - 1 - byte)));
    p->values[i] = (const char *)p->numbers[i];
    p->lengths[i] = len;
}

/* Returns false if the column's type cannot store the value. */
static bool write_parameter(
    struct parameters *p, size_t i, const struct transfer_value *value, uint32_t type)
{
    p->formats[i] = 1;
    p->values[i] = NULL;
    p->lengths[i] = 0;
    switch (value->kind) {
    case VALUE_NULL:
        return true;
    case VALUE_INT:
        write_number(p, i, value->number, type == PG_BOOL);
        return type == PG_INT8 || (type == PG_BOOL && (value->number == 0 || value->number == 1));
    case VALUE_TEXT:
    case VALUE_BYTES:
        p->values[i] = value->bytes.ptr;
        p->lengths[i] = (int)value->bytes.len;
        break;
    }
    if (value->bytes.len > INT32_MAX)
        return false;
    if (value->kind == VALUE_TEXT)
        return type == PG_TEXT || type == PG_JSON;
    return type == PG_BYTEA || (type == PG_UUID && value->bytes.len == sizeof(struct uuid));
}

static enum error postgres_side_ask(struct side *side, const char *sql,
    const struct transfer_value *params, const uint32_t *types, size_t n_params)
{
    struct postgres_side *s = of(side);
    PGconn *conn = s->connection.conn;
    struct parameters p;
    for (size_t i = 0; i < n_params; i++)
        if (!write_parameter(&p, i, &params[i], types[i]))
            return problem_set(side->problem, ERR_INTERNAL,
                "a key of the other side is not valid in the %s", side->name);
    PQclear(s->row);
    s->row = NULL;
    if (PQsendQueryParams(conn, sql, (int)n_params, types, p.values, p.lengths, p.formats, 1) !=
            1 ||
        PQsetSingleRowMode(conn) != 1)
        return refuse(s, "cannot read it", NULL);
    return OK;
}

static int64_t read_number(const char *bytes, int len)
{
    uint64_t number = 0;
    for (int i = 0; i < len; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return len == 4 ? (int32_t)number : (int64_t)number;
}

static struct transfer_value column_value(const PGresult *row, int at)
{
    if (PQgetisnull(row, 0, at))
        return (struct transfer_value){VALUE_NULL, 0, STR_NONE};
    const char *bytes = PQgetvalue(row, 0, at);
    int len = PQgetlength(row, 0, at);
    struct str whole = {bytes, (size_t)len};
    switch (PQftype(row, at)) {
    case PG_BOOL:
    case PG_INT4:
    case PG_INT8:
        return (struct transfer_value){VALUE_INT, read_number(bytes, len), STR_NONE};
    case PG_UUID:
    case PG_BYTEA:
        return (struct transfer_value){VALUE_BYTES, 0, whole};
    default:
        return (struct transfer_value){VALUE_TEXT, 0, whole};
    }
}

/* Reads the last result, which has no row and contains the status. */
static enum error finish_asking(struct postgres_side *s)
{
    enum error e = pg_has_succeeded(s->row) ? OK : refuse(s, "cannot read it", s->row);
    PQclear(s->row);
    s->row = NULL;
    for (PGresult *r; e == OK && (r = PQgetResult(s->connection.conn)) != NULL;)
        PQclear(r);
    return e;
}

static enum error postgres_side_next(
    struct side *side, struct transfer_value *out_values, size_t n, bool *out_found)
{
    struct postgres_side *s = of(side);
    PQclear(s->row);
    s->row = PQgetResult(s->connection.conn);
    *out_found = PQresultStatus(s->row) == PGRES_SINGLE_TUPLE;
    if (!*out_found)
        return finish_asking(s);
    for (size_t i = 0; i < n; i++)
        out_values[i] = column_value(s->row, (int)i);
    return OK;
}

/* --- Rows in -------------------------------------------------------------------------------- */

/* Row-level security forbids COPY into a table; a pipeline of INSERTs is as fast. */
static enum error postgres_side_insert_begin(struct side *side, const struct transfer_table *table)
{
    struct postgres_side *s = of(side);
    PGconn *conn = s->connection.conn;
    bool good = PQenterPipelineMode(conn) == 1;
    if (good && s->table != table) {
        Oid types[TRANSFER_MAX_COLUMNS];
        for (size_t i = 0; i < table->n_columns; i++)
            types[i] = table->columns[i].type[side->role];
        good = PQsendPrepare(
                   conn, table->name, plan_insert(side, table), (int)table->n_columns, types) == 1;
        s->table = table;
    }
    good = good && PQsendQueryParams(conn, "BEGIN", 0, NULL, NULL, NULL, NULL, 1) == 1;
    return good ? OK : refuse(s, "cannot write", NULL);
}

static enum error postgres_side_insert(struct side *side, const struct transfer_value *values)
{
    struct postgres_side *s = of(side);
    struct parameters p;
    for (size_t i = 0; i < s->table->n_columns; i++)
        if (!write_parameter(&p, i, &values[i], s->table->columns[i].type[side->role]))
            return problem_set(side->problem, ERR_CONFLICT,
                "the source has a value in %s.%s that PostgreSQL's type cannot store",
                s->table->name, s->table->columns[i].name);
    if (PQsendQueryPrepared(s->connection.conn, s->table->name, (int)s->table->n_columns, p.values,
            p.lengths, p.formats, 1) != 1)
        return refuse(s, "cannot write", NULL);
    return OK;
}

/* Reads every answer up to that of the sync; reports the first failure. */
static enum error read_answers(struct postgres_side *s)
{
    enum error e = OK;
    for (bool synced = false; !synced;) {
        PGresult *r = PQgetResult(s->connection.conn);
        if (r == NULL && PQstatus(s->connection.conn) != CONNECTION_OK)
            return e == OK ? refuse(s, "cannot write", NULL) : e;
        synced = PQresultStatus(r) == PGRES_PIPELINE_SYNC;
        if (r != NULL && !synced && !pg_has_succeeded(r) && e == OK)
            e = refuse(s, s->table->name, r);
        PQclear(r);
        if (e != OK && PQstatus(s->connection.conn) != CONNECTION_OK)
            return e;
    }
    return e;
}

static enum error postgres_side_insert_commit(struct side *side)
{
    struct postgres_side *s = of(side);
    PGconn *conn = s->connection.conn;
    if (PQsendQueryParams(conn, "COMMIT", 0, NULL, NULL, NULL, NULL, 1) != 1 ||
        PQpipelineSync(conn) != 1)
        return refuse(s, "cannot write", NULL);
    TRY(read_answers(s));
    if (PQexitPipelineMode(conn) != 1)
        return refuse(s, "cannot write", NULL);
    return OK;
}

/* Gives the planner statistics of the new rows at once. */
static enum error postgres_side_settle(struct side *side, const struct transfer_plan *plan)
{
    for (size_t i = 0; i < plan->n_tables; i++)
        TRY(postgres_side_exec(
            side, arena_cstr(side->arena,
                      arena_printf(side->arena, "ANALYZE \"%s\"", plan->tables[i].name))));
    return OK;
}

/* --- Life ----------------------------------------------------------------------------------- */

static void postgres_side_close(struct side *side)
{
    struct postgres_side *s = of(side);
    PQclear(s->row);
    pg_connection_deinit(&s->connection);
    pg_target_deinit(&s->target);
    mem_free(s);
}

/* A process killed a moment ago may still be connected. A server behind a pooler holds no lock, and
 * is known by its name alone. */
static enum error postgres_side_check_alone(struct side *side)
{
    if (side->despite_sessions)
        return OK;
    int64_t others = 0, end_us = clock_steady_us() + PATIENCE_US;
    for (;;) {
        enum error e = transfer_ask_numbers(side,
            "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'cairn' AND pid <> pg_backend_pid()",
            NULL, 0, &others, 1);
        if (e != OK || others == 0)
            return e;
        if (clock_steady_us() > end_us)
            break;
        poll(NULL, 0, 100);
    }
    return problem_set(side->problem, ERR_CONFLICT,
        "the %s: %lld sessions of cairn are connected to the database \"%s\": stop every server "
        "that uses the schema \"%.*s\"; if they all use other schemas, add --despite-sessions",
        side->name, (long long)others, PQdb(of(side)->connection.conn),
        STR_ARG(side->place->schema));
}

/* Servers of the schema share the lock, see postgres_pulse.c; another transfer has it alone. */
static enum error refuse_locked(struct side *side)
{
    const struct transfer_value schema = {VALUE_TEXT, 0, side->place->schema};
    int64_t n_servers = 0;
    TRY(transfer_ask_numbers(side,
        "SELECT count(*) FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
        " AND granted AND mode = 'ShareLock' AND classid::bigint = 1667328367"
        " AND objid::bigint = hashtext($1)::bigint & 4294967295 AND database = (SELECT oid"
        "  FROM pg_catalog.pg_database WHERE datname = current_database())",
        &schema, PG_TEXT, &n_servers, 1));
    if (n_servers == 0)
        return problem_set(side->problem, ERR_CONFLICT,
            "the %s: another cairn migrate is using the schema \"%.*s\"", side->name,
            STR_ARG(side->place->schema));
    return problem_set(side->problem, ERR_CONFLICT,
        "the %s: the schema \"%.*s\" of the database \"%s\" is served (sessions of cairn: "
        "%lld): stop every server that uses it",
        side->name, STR_ARG(side->place->schema), PQdb(of(side)->connection.conn),
        (long long)n_servers);
}

static enum error lock_schema(struct side *side)
{
    const struct transfer_value schema = {VALUE_TEXT, 0, side->place->schema};
    int64_t taken = 0, end_us = clock_steady_us() + PATIENCE_US;
    for (;;) {
        enum error e = transfer_ask_numbers(side,
            "SELECT pg_try_advisory_lock(1667328367, hashtext($1))", &schema, PG_TEXT, &taken, 1);
        if (e != OK || taken != 0)
            return e;
        if (clock_steady_us() > end_us)
            break;
        poll(NULL, 0, 100);
    }
    return refuse_locked(side);
}
_Static_assert(TRANSFER_LOCK == 1667328367, "lock_schema and refuse_locked say the same");

/* Disables the timeouts of a server's connection, and possibly of the role, which are for short
 * transactions. Not every version has all of these settings. */
static const char SETTINGS[] =
    "SET application_name = 'cairn migrate'; SET lock_timeout = '10s'; SET cairn.tenant = '*';"
    "SELECT set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN"
    " ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout',"
    "  'idle_session_timeout')";

static enum error set_up(struct side *side)
{
    struct postgres_side *s = of(side);
    if (s->connection.pooled)
        return problem_set(side->problem, ERR_BAD_REQUEST,
            "%s is the address of a transaction pooler: pass the address of the database server "
            "itself",
            side->option);
    if (PQexitPipelineMode(s->connection.conn) != 1 || PQsetnonblocking(s->connection.conn, 0) != 0)
        return refuse(s, "cannot use it", NULL);
    TRY(postgres_side_exec(side, SETTINGS));
    TRY(lock_schema(side));
    return postgres_side_check_alone(side);
}

static enum error postgres_side_open(struct side *side)
{
    struct postgres_side *s = of(side);
    s->store.base.config.schema = side->place->schema;
    s->store.schema = (char *)arena_cstr(side->arena, side->place->schema);
    TRY(pg_target_init(&s->target, side->place->url, false, side->option, side->problem));
    pg_connection_init(&s->connection, &s->store, &s->target);
    TRY(pg_connect(&s->connection, side->problem));
    TRY(set_up(side));
    side->is_open = true;
    return OK;
}

static enum error postgres_side_make(struct side *side)
{
    return pg_migrate(&of(side)->connection, side->problem);
}

/* --- The table of all this ------------------------------------------------------------------ */

const struct side_ops postgres_side_ops = {.open = postgres_side_open,
    .create = postgres_side_make,
    .close = postgres_side_close,
    .exec = postgres_side_exec,
    .ask = postgres_side_ask,
    .next = postgres_side_next,
    .insert_begin = postgres_side_insert_begin,
    .insert = postgres_side_insert,
    .insert_commit = postgres_side_insert_commit,
    .settle = postgres_side_settle,
    .check_alone = postgres_side_check_alone,
    .sql = {
        .parameter = '$',
        .by_bytes = " COLLATE \"C\"",
        .snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        .columns = "SELECT c.relname::text, a.attname::text, CASE a.atttypid"
                   "  WHEN 20 THEN 1 WHEN 16 THEN 1 WHEN 25 THEN 2 WHEN 114 THEN 2 WHEN 17 THEN 3"
                   "  WHEN 2950 THEN 3 ELSE 0 END, a.atttypid::bigint,"
                   "  coalesce(array_position(i.indkey::int2[], a.attnum) + 1, 0)"
                   " FROM pg_catalog.pg_class AS c"
                   " JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
                   " JOIN pg_catalog.pg_attribute AS a"
                   "  ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
                   "  AND a.attgenerated = ''"
                   " LEFT JOIN pg_catalog.pg_index AS i ON i.indrelid = c.oid AND i.indisprimary"
                   " WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')"
                   " ORDER BY c.relname COLLATE \"C\", a.attname COLLATE \"C\"",
        .parents = "SELECT DISTINCT c.relname::text, p.relname::text"
                   " FROM pg_catalog.pg_constraint AS k"
                   " JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid"
                   " JOIN pg_catalog.pg_class AS p ON p.oid = k.confrelid"
                   " JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
                   " WHERE k.contype = 'f' AND n.nspname = current_schema() ORDER BY 1, 2",
        .has_table = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables"
                     " WHERE schemaname = current_schema() AND tablename = $1)",
        /* A new writing transaction has a greater xid than all before. */
        .origin = "coalesce(sum(t.xmin::text::bigint) % 9223372036854775807, 0)",
        .writes = NULL,
        .last_id =
            "SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_ids",
        .set_last_id = "SELECT setval('event_ids', $1) WHERE $1 > 0",
        .last_step_id =
            "SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM step_ids",
        .set_last_step_id = "SELECT setval('step_ids', $1) WHERE $1 > 0",
    }};
_Static_assert(PG_INT8 == 20 && PG_BOOL == 16 && PG_TEXT == 25 && PG_JSON == 114 &&
                   PG_BYTEA == 17 && PG_UUID == 2950,
    "the kinds above are of these types");

struct side *postgres_side_create(void)
{
    struct postgres_side *s = MEM_NEW(struct postgres_side);
    s->base.ops = &postgres_side_ops;
    return &s->base;
}
