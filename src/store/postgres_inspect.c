/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "store/inspect.h"
#include "store/postgres.h"

/* Reads one row; the caller clears it. */
static enum error ask(
    struct pg_connection *c, const char *sql, struct problem *problem, PGresult **out_row)
{
    PGresult *r = PQexec(c->conn, sql);
    if (PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1) {
        *out_row = r;
        return OK;
    }
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    enum error e = problem_set(problem, ERR_UNAVAILABLE, "cannot query the database: %s",
        message != NULL ? message : "the connection was lost");
    PQclear(r);
    return e;
}

static bool is_true(const PGresult *r, int column)
{
    return PQgetvalue(r, 0, column)[0] == 't';
}

static enum error read_settings(
    struct pg_connection *c, struct problem *problem, struct postgres_inspection *out)
{
    PGresult *r = NULL;
    TRY(ask(c,
        "SELECT current_setting('server_version'), current_setting('fsync') = 'off',"
        " current_setting('full_page_writes') = 'off', (SELECT rolsuper OR rolbypassrls"
        "  FROM pg_catalog.pg_roles WHERE rolname = current_user), pg_is_in_recovery(),"
        " pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
        "  ELSE pg_current_wal_lsn() END, '0/0')::bigint",
        problem, &r));
    out->server_version = arena_str(problem->arena, str_of(PQgetvalue(r, 0, 0)));
    out->may_lose_commits = is_true(r, 1);
    out->may_be_damaged = is_true(r, 2);
    out->ignores_row_security = is_true(r, 3);
    out->is_standby = is_true(r, 4);
    out->log_position = strtoll(PQgetvalue(r, 0, 5), NULL, 10);
    PQclear(r);
    return OK;
}

/* The server read its clock between the query and the answer. */
static enum error read_clock(
    struct pg_connection *c, struct problem *problem, struct postgres_inspection *out)
{
    PGresult *r = NULL;
    int64_t asked_us = clock_wall_us();
    TRY(ask(c, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", problem, &r));
    int64_t halfway_us = asked_us + (clock_wall_us() - asked_us) / 2;
    out->clock_ahead_us = strtoll(PQgetvalue(r, 0, 0), NULL, 10) - halfway_us;
    PQclear(r);
    return OK;
}

static enum error read_schema(
    struct pg_connection *c, struct problem *problem, struct postgres_inspection *out)
{
    struct problem lacking;
    problem_init(&lacking, problem->arena);
    TRY(pg_schema_version(c, &out->schema_version, problem));
    if (pg_check_rights(c, &lacking) != OK)
        out->lacking = lacking.detail;
    return OK;
}

static enum error inspect(
    struct pg_connection *c, struct problem *problem, struct postgres_inspection *out)
{
    struct postgres_inspection found = {.lacking = STR_NONE};
    TRY(pg_connect(c, problem));
    if (PQexitPipelineMode(c->conn) != 1 || PQsetnonblocking(c->conn, 0) != 0)
        return problem_set(problem, ERR_UNAVAILABLE, "the connection to the database was lost");
    TRY(read_settings(c, problem, &found));
    TRY(read_clock(c, problem, &found));
    if (!c->target->replica)
        TRY(read_schema(c, problem, &found));
    *out = found;
    return OK;
}

enum error postgres_inspect(struct str url, struct str schema, bool replica, const char *option,
    struct problem *problem, struct postgres_inspection *out)
{
    struct pg_store store = {.base.config.schema = schema};
    store.schema = (char *)arena_cstr(problem->arena, schema);
    struct pg_connection c;
    TRY(pg_target_init(&store.primary, url, replica, option, problem));
    pg_connection_init(&c, &store, &store.primary);
    enum error e = inspect(&c, problem, out);
    pg_connection_deinit(&c);
    pg_target_deinit(&store.primary);
    return e;
}
