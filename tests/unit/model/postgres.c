#include "postgres.h"

#include <unistd.h>

const char *plain_url(void)
{
    return getenv("CAIRN_TEST_POSTGRES");
}

const char *plain_schema_name(struct arena *arena)
{
    static int count;
    return arena_cstr(arena, arena_printf(arena, "unit_%d_%d", (int)getpid(), ++count));
}

PGconn *plain_connect(const char *schema)
{
    PGconn *conn = PQconnectdb(plain_url());
    if (PQstatus(conn) != CONNECTION_OK) {
        fprintf(stderr, "%s", PQerrorMessage(conn));
        abort();
    }
    const char *values[] = {schema};
    PGresult *set = PQexecParams(conn,
        "SELECT set_config('search_path', $1, false), set_config('cairn.tenant', '*', false),"
        "set_config('client_min_messages', 'warning', false)",
        1, NULL, values, NULL, NULL, 0);
    EXPECT_EQ(PQresultStatus(set), PGRES_TUPLES_OK);
    PQclear(set);
    return conn;
}

void plain_drop_schema(const char *schema)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    PGconn *conn = plain_connect(schema);
    struct str sql = arena_printf(&arena, "DROP SCHEMA IF EXISTS \"%s\" CASCADE", schema);
    plain_exec(conn, arena_cstr(&arena, sql));
    PQfinish(conn);
    arena_deinit(&arena);
}

struct str plain_text(PGconn *conn, struct arena *arena, const char *sql)
{
    struct str text = STR_NONE;
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, PQerrorMessage(conn));
    int rows = PQntuples(result);
    if (rows > 0 && !PQgetisnull(result, rows - 1, 0)) {
        text = str_of(PQgetvalue(result, rows - 1, 0));
        if (PQftype(result, 0) == 16) /* bool */
            text = str_eq(text, STR("t")) ? STR("1") : STR("0");
        text = arena_str(arena, text);
    }
    PQclear(result);
    return text;
}

int64_t plain_i64(PGconn *conn, const char *sql)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    int64_t number = INT64_MIN;
    if (!str_to_i64(plain_text(conn, &arena, sql), &number))
        test_fail(__FILE__, __LINE__, "%s: no number", sql);
    arena_deinit(&arena);
    return number;
}

void plain_exec(PGconn *conn, const char *sql)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    plain_text(conn, &arena, sql);
    arena_deinit(&arena);
}
