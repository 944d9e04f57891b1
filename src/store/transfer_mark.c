/* SPDX-License-Identifier: Apache-2.0 */
#include "store/transfer_mark.h"

#include "store/sqlite_file.h"

static enum error refuse_marked(struct problem *problem)
{
    return problem_set(problem, ERR_UNAVAILABLE,
        "this database is being filled by cairn migrate; run it again to finish");
}

enum error transfer_check_sqlite(sqlite3 *db, struct problem *problem)
{
    int64_t is_marked = 0;
    int rc = sqlite_file_number(db,
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'cairn_transfer'", &is_marked);
    if (rc != SQLITE_OK)
        return problem_set(
            problem, ERR_UNAVAILABLE, "cannot read the database: %s", sqlite3_errmsg(db));
    return is_marked != 0 ? refuse_marked(problem) : OK;
}

/* pg_locks shows the bits of the second key as an unsigned number. */
static const char SQL_STATE[] =
    "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables"
    "  WHERE schemaname = $1 AND tablename = 'cairn_transfer')::int,"
    " EXISTS (SELECT 1 FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
    "  AND granted AND mode = 'ExclusiveLock' AND classid::bigint = 1667328367"
    "  AND objid::bigint = hashtext($1)::bigint & 4294967295 AND database = (SELECT oid"
    "   FROM pg_catalog.pg_database WHERE datname = current_database()))::int";
_Static_assert(TRANSFER_LOCK == 1667328367, "SQL_STATE says the same");

enum error transfer_check_postgres(PGconn *conn, const char *schema, struct problem *problem)
{
    PGresult *r = PQexecParams(conn, SQL_STATE, 1, NULL, &schema, NULL, NULL, 0);
    bool is_known = PQresultStatus(r) == PGRES_TUPLES_OK;
    bool is_marked = is_known && PQgetvalue(r, 0, 0)[0] == '1';
    bool is_used = is_known && PQgetvalue(r, 0, 1)[0] == '1';
    PQclear(r);
    if (!is_known)
        return problem_set(problem, ERR_UNAVAILABLE, "cannot inspect the schema \"%s\": %s", schema,
            PQstatus(conn) == CONNECTION_OK ? PQerrorMessage(conn) : "the connection was lost");
    if (is_marked)
        return refuse_marked(problem);
    if (is_used)
        return problem_set(problem, ERR_UNAVAILABLE,
            "cairn migrate is reading the schema \"%s\"; wait until it has finished", schema);
    return OK;
}
