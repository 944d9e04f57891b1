/* SPDX-License-Identifier: Apache-2.0 */
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

PGconn *plain_shared(const char *schema)
{
    static PGconn *conn;
    static char current[64];
    if (conn != NULL && PQtransactionStatus(conn) != PQTRANS_IDLE) {
        PQfinish(conn);
        conn = NULL;
    }
    if (conn == NULL) {
        conn = plain_connect(schema);
    } else if (strcmp(current, schema) != 0) {
        const char *values[] = {schema};
        PQclear(PQexecParams(
            conn, "SELECT set_config('search_path', $1, false)", 1, NULL, values, NULL, NULL, 0));
    }
    snprintf(current, sizeof current, "%s", schema);
    return conn;
}

void plain_drop_schema(const char *schema)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct str sql = arena_printf(&arena, "DROP SCHEMA IF EXISTS \"%s\" CASCADE", schema);
    PQclear(PQexec(plain_shared(schema), arena_cstr(&arena, sql)));
    arena_deinit(&arena);
}

/* --- Schemas that are used again ------------------------------------------------------------ */

static struct {
    char name[64]; /* of an emptied schema; "" when there is none */
    int taken;
    bool is_spoiled; /* one of those that are taken */
} kept;

/* A table that others refer to is emptied after them. */
static const char EMPTY[] =
    "DO $$ DECLARE t text; todo text[]; later text[]; BEGIN "
    "todo := ARRAY(SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    " AND tablename <> 'schema_versions'); "
    "WHILE todo <> '{}' LOOP later := '{}'; "
    "FOREACH t IN ARRAY todo LOOP BEGIN EXECUTE format('DELETE FROM %I', t); "
    "EXCEPTION WHEN foreign_key_violation OR restrict_violation THEN later := later || t; END; "
    "END LOOP; "
    "IF later = todo THEN RAISE EXCEPTION 'tables refer to each other: %', todo; END IF; "
    "todo := later; END LOOP; "
    "PERFORM setval(format('%I', sequencename), start_value, false) FROM pg_sequences"
    " WHERE schemaname = current_schema(); END $$";

static void drop_kept(void)
{
    if (kept.name[0] != '\0')
        plain_drop_schema(kept.name);
}

static bool empty(const char *schema)
{
    PGresult *result = PQexec(plain_shared(schema), EMPTY);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return good;
}

const char *plain_take_schema(struct arena *arena)
{
    kept.taken++;
    if (kept.name[0] == '\0')
        return plain_schema_name(arena);
    const char *name = arena_cstr(arena, str_of(kept.name));
    kept.name[0] = '\0';
    return name;
}

void plain_give_schema(const char *schema)
{
    static bool drops_at_exit;
    if (!drops_at_exit)
        atexit(drop_kept);
    drops_at_exit = true;
    if (kept.is_spoiled || kept.name[0] != '\0') {
        plain_drop_schema(schema);
    } else if (empty(schema)) {
        snprintf(kept.name, sizeof kept.name, "%s", schema);
    } else {
        plain_drop_schema(schema);
    }
    kept.is_spoiled = --kept.taken > 0 && kept.is_spoiled;
}

static void note_spoiling(const char *sql)
{
    static const char *const WORDS[] = {
        "CREATE ", "ALTER ", "DROP ", "GRANT ", "REVOKE ", "TRUNCATE ", "schema_versions"};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (strstr(sql, WORDS[i]) != NULL)
            kept.is_spoiled = true;
}

struct str plain_text(PGconn *conn, struct arena *arena, const char *sql)
{
    struct str text = STR_NONE;
    note_spoiling(sql);
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
