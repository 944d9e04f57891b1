/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "store/inspect.h"
#include "store/postgres.h"

/* Reads one row; the caller clears the result, also after a failure. */
static enum error ask(
    struct pg_connection *c, const char *sql, struct problem *problem, PGresult **out_row)
{
    *out_row = PQexec(c->conn, sql);
    if (PQresultStatus(*out_row) == PGRES_TUPLES_OK && PQntuples(*out_row) == 1)
        return OK;
    const char *message = PQresultErrorField(*out_row, PG_DIAG_MESSAGE_PRIMARY);
    return problem_set(problem, ERR_UNAVAILABLE, "cannot query the database: %s",
        message != NULL ? message : "the connection was lost");
}

static bool is_true(const PGresult *r, int column)
{
    return PQgetvalue(r, 0, column)[0] == 't';
}

static enum error read_settings(
    struct pg_connection *c, struct problem *problem, struct postgres_inspection *out)
{
    PGresult *r CLEANUP(pg_clearp) = NULL;
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
    return OK;
}

/* The server read its clock between the query and the answer. */
static enum error read_clock(
    struct pg_connection *c, struct problem *problem, struct postgres_inspection *out)
{
    PGresult *r CLEANUP(pg_clearp) = NULL;
    int64_t asked_us = clock_wall_us();
    TRY(ask(c, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", problem, &r));
    int64_t halfway_us = asked_us + (clock_wall_us() - asked_us) / 2;
    out->clock_ahead_us = strtoll(PQgetvalue(r, 0, 0), NULL, 10) - halfway_us;
    return OK;
}

static enum error read_schema(
    struct pg_connection *c, struct problem *problem, struct postgres_inspection *out)
{
    struct problem lacking = PROBLEM_INIT(problem->arena);
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
    struct pg_target target CLEANUP(pg_target_deinit) = {0};
    TRY(pg_target_init(&target, url, replica, option, problem));
    struct pg_connection c CLEANUP(pg_connection_deinit);
    pg_connection_init(&c, &store, &target);
    return inspect(&c, problem, out);
}
