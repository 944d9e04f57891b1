/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema. The first node migrates, under an advisory lock and in one transaction; the others
 * wait for it and find nothing to do. Nodes of an older version continue to serve meanwhile: a
 * migration only adds. A connection that finds the schema up to date changes nothing, so that an
 * everyday role needs no right to.
 */
#include <poll.h>

#include "base/clock.h"
#include "store/migrate.h"
#include "store/postgres.h"

enum { MAX_TRIES = 20 };

static enum error refuse(
    struct pg_connection *c, const PGresult *r, const char *what, struct problem *problem)
{
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    c->blocked = state != NULL && strcmp(state, "55P03") == 0;
    return problem_set(problem, ERR_UNAVAILABLE, "cannot %s the schema \"%.*s\": %s (SQLSTATE %s)",
        what, STR_ARG(c->store->base.config.schema),
        message != NULL ? message : "the connection was lost", state != NULL ? state : "08006");
}

/* The name of the schema has been validated: letters, digits and '_'. */
static const char *word(struct arena *arena, const char *format, const char *schema)
{
    size_t size = strlen(format) + strlen(schema) + 1;
    char *sql = arena_alloc(arena, size);
    const char *at = strstr(format, "%s");
    snprintf(sql, size, "%.*s%s%s", (int)(at - format), format, schema, at + 2);
    return sql;
}

static enum error exec(struct pg_connection *c, const char *sql, struct problem *problem)
{
    PGresult *r CLEANUP(pg_clearp) = PQexec(c->conn, sql);
    return pg_has_succeeded(r) ? OK : refuse(c, r, "migrate", problem);
}

/* Reads one number, with up to four text parameters. */
static enum error ask(struct pg_connection *c, const char *sql, int n, const char *const *params,
    int64_t *out_number, struct problem *problem)
{
    PGresult *r CLEANUP(pg_clearp) = PQexecParams(c->conn, sql, n, NULL, params, NULL, NULL, 0);
    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        return refuse(c, r, "look at", problem);
    if (PQntuples(r) == 1)
        *out_number = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
    return OK;
}

enum error pg_schema_version(struct pg_connection *c, int64_t *out_version, struct problem *problem)
{
    const char *schema = c->store->schema;
    int64_t exists = 0;
    *out_version = 0;
    TRY(ask(c,
        "SELECT count(*) FROM pg_catalog.pg_tables"
        " WHERE schemaname = $1 AND tablename = 'schema_versions'",
        1, &schema, &exists, problem));
    if (exists == 0)
        return OK;
    const char *sql = word(
        problem->arena, "SELECT coalesce(max(version), 0) FROM \"%s\".schema_versions", schema);
    return ask(c, sql, 0, NULL, out_version, problem);
}

static enum error check_version(int64_t version, struct problem *problem)
{
    if (version <= (int64_t)store_migration_count)
        return OK;
    return problem_set(problem, ERR_UNAVAILABLE,
        "the database has schema version %lld, this cairn (" CAIRN_VERSION
        ") knows up to %zu: start a newer cairn",
        (long long)version, store_migration_count);
}

static enum error create_schema(struct pg_connection *c, struct problem *problem)
{
    const char *schema = c->store->schema;
    int64_t exists = 0;
    TRY(ask(c, "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1", 1, &schema,
        &exists, problem));
    if (exists == 0)
        TRY(exec(c, word(problem->arena, "CREATE SCHEMA \"%s\"", schema), problem));
    /* Only for the transaction: behind a pooler, another client uses the session next. */
    TRY(exec(c, word(problem->arena, "SET LOCAL search_path = \"%s\"", schema), problem));
    return exec(c,
        "CREATE TABLE IF NOT EXISTS schema_versions (version bigint NOT NULL PRIMARY KEY,"
        " name text NOT NULL, cairn_version text NOT NULL, applied_at bigint NOT NULL)",
        problem);
}

static enum error apply(struct pg_connection *c, const struct migration *m, struct problem *problem)
{
    TRY(exec(c, m->text[ENGINE_POSTGRES], problem));
    struct str record = arena_printf(problem->arena,
        "INSERT INTO schema_versions VALUES (%lld, '%s', '" CAIRN_VERSION "', %lld)",
        (long long)m->version, m->name, (long long)clock_wall_us());
    return exec(c, arena_cstr(problem->arena, record), problem);
}

static enum error apply_missing(struct pg_connection *c, struct problem *problem)
{
    int64_t unused, version = 0;
    const char *schema = c->store->schema;
    TRY(exec(c,
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0;"
        "SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '60s'",
        problem));
    TRY(ask(c, "SELECT 1 FROM pg_advisory_xact_lock(1667328366, hashtext($1))", 1, &schema, &unused,
        problem));
    /* A migration that waits for the lock of a table blocks all later queries of the table. */
    TRY(exec(c, "SET LOCAL lock_timeout = '1s'", problem));
    TRY(pg_schema_version(c, &version, problem));
    TRY(check_version(version, problem));
    if (version < (int64_t)store_migration_count)
        TRY(create_schema(c, problem));
    for (size_t i = (size_t)version; i < store_migration_count; i++)
        TRY(apply(c, &store_migrations[i], problem));
    return exec(c, "COMMIT", problem);
}

/* --- Rights of the role --------------------------------------------------------------------- */

static enum error check_encoding(struct pg_connection *c, struct problem *problem)
{
    const char *encoding = PQparameterStatus(c->conn, "server_encoding");
    if (encoding != NULL && strcmp(encoding, "UTF8") == 0)
        return OK;
    return problem_set(problem, ERR_UNAVAILABLE,
        "the database has the encoding %s, which cannot store every text: create one with CREATE "
        "DATABASE … ENCODING 'UTF8' TEMPLATE template0",
        encoding != NULL ? encoding : "unknown");
}

enum error pg_check_rights(struct pg_connection *c, struct problem *problem)
{
    const char *schema = c->store->schema;
    int64_t missing = 0, read_only = 0;
    TRY(ask(c, "SELECT (current_setting('transaction_read_only') = 'on')::int", 0, NULL, &read_only,
        problem));
    if (read_only != 0)
        return problem_set(problem, ERR_UNAVAILABLE,
            "the database is read-only for this role or is a standby: connect to the primary with "
            "a role that may write");
    TRY(ask(c,
        "SELECT count(*) FROM pg_catalog.pg_class AS t"
        " JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace"
        " WHERE n.nspname = $1 AND t.relname <> 'schema_versions'"
        " AND CASE t.relkind WHEN 'r' THEN NOT (has_schema_privilege(n.oid, 'USAGE')"
        "  AND has_table_privilege(t.oid, 'SELECT')"
        "  AND has_table_privilege(t.oid, 'INSERT') AND has_table_privilege(t.oid, 'UPDATE')"
        "  AND has_table_privilege(t.oid, 'DELETE'))"
        " WHEN 'S' THEN NOT (has_sequence_privilege(t.oid, 'USAGE')"
        "  AND has_sequence_privilege(t.oid, 'SELECT')) ELSE false END",
        1, &schema, &missing, problem));
    if (missing > 0)
        return problem_set(problem, ERR_UNAVAILABLE,
            "the role \"%s\" lacks rights on %lld tables or sequences of the schema \"%s\": grant "
            "it "
            "USAGE on the schema, SELECT, INSERT, UPDATE, DELETE on all its tables, and USAGE, "
            "SELECT on all its sequences",
            PQuser(c->conn), (long long)missing, schema);
    return OK;
}

enum error pg_migrate(struct pg_connection *c, struct problem *problem)
{
    int64_t version = 0;
    TRY(check_encoding(c, problem));
    TRY(pg_schema_version(c, &version, problem));
    TRY(check_version(version, problem));
    for (int i = 0; version < (int64_t)store_migration_count; i++) {
        enum error e = apply_missing(c, problem);
        if (e == OK)
            break;
        PQclear(PQexec(c->conn, "ROLLBACK"));
        if (!c->blocked || i == MAX_TRIES)
            return e;
        poll(NULL, 0, 500); /* serving nodes had locked the tables */
    }
    return pg_check_rights(c, problem);
}
