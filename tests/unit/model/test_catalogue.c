/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the schema in PostgreSQL's catalogue, and that PostgreSQL accepts every statement. */
#include "fixture.h"
#include "postgres.h"

static const Oid TYPE_OIDS[] = {[SQL_UUID] = 2950,
    [SQL_INT] = 20,
    [SQL_BOOL] = 16,
    [SQL_TEXT] = 25,
    [SQL_JSON] = 114,
    [SQL_BYTES] = 17};

/* The only tables that no tenant owns. */
#define SHARED_TABLES "('tenants', 'schema_versions')"
#define OURS "n.nspname = current_schema()"

static void expect_none(struct fixture *f, const char *what, const char *sql)
{
    struct str found = sql_text(f, sql);
    if (!str_is_none(found))
        test_fail(__FILE__, __LINE__, "%s: %.*s", what, STR_ARG(found));
}

static void prepare(PGconn *conn, const struct sql_statement *s)
{
    Oid types[64] = {0}; /* as many as the engine takes */
    for (unsigned i = 0; i < s->n_params && i < COUNT_OF(types); i++)
        types[i] = TYPE_OIDS[s->types[i]];
    PGresult *result = PQprepare(conn, s->name, s->text[ENGINE_POSTGRES], (int)s->n_params, types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", s->name, PQerrorMessage(conn));
    PQclear(result);
    result = PQdescribePrepared(conn, s->name);
    EXPECT_EQ(PQnparams(result), s->n_params);
    PQclear(result);
}

POSTGRES_ONLY(every_statement_prepares_on_postgres_with_its_types)
{
    struct fixture f;
    fixture_begin(&f);
    PGconn *conn = plain_connect(f.schema);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++)
        if (sql_statements[i]->text[ENGINE_POSTGRES] != NULL)
            prepare(conn, sql_statements[i]);
    PQfinish(conn);
    fixture_end(&f);
}

POSTGRES_ONLY(every_key_of_every_table_holds_the_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    expect_none(&f, "a primary or unique key without the tenant",
        "SELECT string_agg(i.indexrelid::regclass::text, ', ') FROM pg_index AS i "
        "JOIN pg_class AS t ON t.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace "
        "WHERE " OURS " AND i.indisunique AND t.relname NOT IN " SHARED_TABLES
        " AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = t.oid "
        "AND a.attname = 'tenant_id' AND a.attnum = i.indkey[0])");
    expect_none(&f, "a foreign key without the tenant",
        "SELECT string_agg(k.conname, ', ') FROM pg_constraint AS k "
        "JOIN pg_class AS t ON t.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace "
        "WHERE " OURS " AND k.contype = 'f' AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a "
        "WHERE a.attrelid = t.oid AND a.attname = 'tenant_id' AND a.attnum = k.conkey[1])");
    expect_none(&f, "a table without a primary key",
        "SELECT string_agg(t.relname, ', ') FROM pg_class AS t "
        "JOIN pg_namespace AS n ON n.oid = t.relnamespace WHERE " OURS " AND t.relkind = 'r' "
        "AND NOT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = t.oid AND i.indisprimary)");
    EXPECT(sql_i64(&f, "SELECT count(*) FROM pg_class AS t JOIN pg_namespace AS n "
                       "ON n.oid = t.relnamespace WHERE " OURS " AND t.relkind = 'r'") > 10);
    fixture_end(&f);
}

POSTGRES_ONLY(every_table_of_tenants_is_behind_row_level_security_also_for_its_owner)
{
    struct fixture f;
    fixture_begin(&f);
    expect_none(&f, "a table without it",
        "SELECT string_agg(t.relname, ', ') FROM pg_class AS t "
        "JOIN pg_namespace AS n ON n.oid = t.relnamespace "
        "WHERE " OURS " AND t.relkind = 'r' AND t.relname <> 'schema_versions' "
        "AND NOT (t.relrowsecurity AND t.relforcerowsecurity "
        "AND EXISTS (SELECT 1 FROM pg_policy AS p WHERE p.polrelid = t.oid))");
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM pg_roles WHERE rolname = current_user "
                          "AND (rolsuper OR rolbypassrls)"),
        0);
    fixture_end(&f);
}

/* --- Row-level security --------------------------------------------------------------------- */

/* Views report an error without a tenant: tests/api/postgres-schema.test.mjs. */
static const char *const TABLES[] = {"tenants", "api_keys", "audit_log", "idempotency_keys",
    "threads", "thread_documents", "thread_metadata", "runs", "run_documents", "run_undo",
    "events"};

/* A row of the default tenant in every table. */
static void fill(struct fixture *f)
{
    struct str scope = STR("admin");
    struct api_key key = {.name = STR("k"), .scopes = {&scope, 1}};
    struct thread thread = {.metadata = STR("{\"a\":\"b\"}")};
    struct run run = {.dispatch = RUN_DIRECT};
    struct sha256 hash = {{0}};
    struct stored_answer answer = {.status = 200, .headers = STR("{}"), .body = STR("{}")};
    struct context *c = begin(f);
    EXPECT_EQ(key_create(c, DEFAULT_TENANT_ID, &key), OK);
    EXPECT_EQ(thread_create(c, &thread), OK);
    EXPECT_EQ(run_start(c, thread.id, RUN_POLICY_NONE, &run), OK);
    EXPECT_EQ(thread_get(c, thread.id, &thread), OK);
    struct thread changed = thread;
    changed.context = STR("{\"x\":1}");
    EXPECT_EQ(thread_update(c, &thread, &changed), OK);
    EXPECT_EQ(idempotency_store(c, STR("r"), STR("k"), hash, &answer), OK);
    commit(f);
}

static void expect_rows(PGconn *conn, const char *tenant, bool expected)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SET cairn.tenant = '%s'", tenant);
    plain_exec(conn, sql);
    for (size_t i = 0; i < COUNT_OF(TABLES); i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) > 0 FROM %s", TABLES[i]);
        if (plain_i64(conn, sql) != expected)
            test_fail(
                __FILE__, __LINE__, "%s shows rows to \"%s\": %d", TABLES[i], tenant, !expected);
    }
}

POSTGRES_ONLY(a_statement_without_a_where_sees_no_row_of_another_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    PGconn *conn = plain_connect(f.schema);
    expect_rows(conn, "*", true);
    expect_rows(conn, "018f0000-0000-7000-8000-000000000001", true);
    expect_rows(conn, "018f0000-0000-7000-8000-000000000002", false);
    expect_rows(conn, "", false);
    plain_exec(conn, "RESET cairn.tenant");
    EXPECT_EQ(plain_i64(conn, "SELECT count(*) FROM threads"), 0);
    EXPECT_EQ(plain_i64(conn, "WITH gone AS (DELETE FROM threads RETURNING 1) "
                              "SELECT count(*) FROM gone"),
        0);
    PQfinish(conn);
    fixture_end(&f);
}

POSTGRES_ONLY(a_row_of_another_tenant_cannot_be_written)
{
    struct fixture f;
    fixture_begin(&f);
    PGconn *conn = plain_connect(f.schema);
    plain_exec(conn, "SET cairn.tenant = '018f0000-0000-7000-8000-000000000002'");
    PGresult *result =
        PQexec(conn, "INSERT INTO event_garbage VALUES ('018f0000-0000-7000-8000-000000000001',"
                     "'018f0000-0000-7000-8000-000000000003', 1)");
    EXPECT_EQ(strcmp(PQresultErrorField(result, PG_DIAG_SQLSTATE), "42501"), 0);
    PQclear(result);
    PQfinish(conn);
    fixture_end(&f);
}

POSTGRES_ONLY(a_number_that_postgres_has_no_room_for_breaks_no_view)
{
    struct fixture f;
    fixture_begin(&f);
    struct thread thread = {.context = STR("{\"x\":1e200000}")};
    EXPECT_EQ(thread_create(begin(&f), &thread), OK);
    commit(&f);
    EXPECT_STR(thread.context, STR("{\"x\":1e200000}"));
    EXPECT_STR(sql_text(&f, "SELECT context #>> '{}' FROM workflows"), STR("{\"x\":1e200000}"));
    fixture_end(&f);
}

POSTGRES_ONLY(the_memoria_views_have_documents_that_can_be_asked_into)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    EXPECT_STR(sql_text(&f, "SELECT context ->> 'x' FROM workflows"), STR("1"));
    EXPECT_STR(sql_text(&f, "SELECT pg_typeof(state) FROM workflow_runs"), STR("jsonb"));
    EXPECT_STR(sql_text(&f, "SELECT payload ->> 'change' FROM workflow_events ORDER BY id LIMIT 1"),
        STR("thread.created"));
    EXPECT_STR(sql_text(&f, "SELECT pg_typeof(created_at) FROM workflow_events LIMIT 1"),
        STR("timestamp with time zone"));
    fixture_end(&f);
}
