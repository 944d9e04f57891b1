/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_dialect.h"

#include "base/buf.h"
#include "base/clock.h"
#include "fixture.h"

struct rewritten {
    const char *given;
    const char *expected; /* NULL: unchanged */
};

static void expect_rewritten(const struct rewritten *cases, size_t n)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(1 << 24);
    for (size_t i = 0; i < n; i++) {
        const char *expected = cases[i].expected != NULL ? cases[i].expected : cases[i].given;
        EXPECT_STR(sqlite_dialect_rewrite(&arena, str_of(cases[i].given)), str_of(expected));
    }
}

TEST(a_cast_becomes_a_call_around_its_whole_operand)
{
    static const struct rewritten cases[] = {
        {"SELECT a::bigint", "SELECT cairn_bigint(a)"},
        {"SELECT t.a::INT, 1", "SELECT cairn_integer(t.a), 1"},
        {"SELECT \"T\".\"a b\"::int8", "SELECT cairn_bigint(\"T\".\"a b\")"},
        {"ORDER BY (r->>'created_at')::bigint;", "ORDER BY cairn_bigint((r->>'created_at'));"},
        {"SELECT max(a, (b))::text", "SELECT CAST(max(a, (b)) AS TEXT)"},
        {"SELECT a :: double /* x */ precision AS d", "SELECT cairn_float(a) AS d"},
        {"SELECT a::text::int", "SELECT cairn_integer(CAST(a AS TEXT))"},
        {"SELECT -1::smallint + '2'::numeric", "SELECT -cairn_smallint(1) + cairn_float('2')"},
        {"SELECT ('{}'::jsonb)->>'a'", "SELECT (json('{}'))->>'a'"},
        {"WHERE id = '018F'::uuid AND (a)::date = b", "WHERE id = lower('018F') AND date((a)) = b"},
        {"SELECT left(a, 3)::int", "SELECT cairn_integer(\"left\"(a, 3))"},
    };
    expect_rewritten(cases, COUNT_OF(cases));
}

TEST(an_interval_is_added_to_the_time_before_it)
{
    static const struct rewritten cases[] = {
        {"WHERE a > NOW() - INTERVAL '7 days'", "WHERE a > cairn_add(NOW(), -1, '7 days')"},
        {"WHERE a > now()-interval '1 hour' + interval '2 min' AND b",
            "WHERE a > cairn_add(cairn_add(now(), -1, '1 hour'), 1, '2 min') AND b"},
        {"SELECT t.a + INTERVAL '1 mon -2 days'", "SELECT cairn_add(t.a, 1, '1 mon -2 days')"},
        {"SELECT INTERVAL '7 days'", NULL},
        {"SELECT NOW() - INTERVAL '7'", NULL},
        {"SELECT NOW() - INTERVAL '7' DAY", NULL},
        {"SELECT NOW() - INTERVAL '7 moons'", NULL},
        {"SELECT NOW() - INTERVAL '01:00:00'", NULL},
        {"SELECT NOW() - INTERVAL '1 day' * 2", NULL},
        {"SELECT b - a + INTERVAL '1 day'", NULL},
    };
    expect_rewritten(cases, COUNT_OF(cases));
}

TEST(elements_of_a_list_become_rows_of_json_each)
{
    static const struct rewritten cases[] = {
        {"SELECT r->>'a', left(r->>'b', 8) FROM s, jsonb_array_elements(runs) AS r"
         " WHERE r->>'c' = 'r' ORDER BY (r->>'d')::bigint",
            "SELECT r.value->>'a', \"left\"(r.value->>'b', 8) FROM s, json_each(cairn_list(runs)) "
            "AS r"
            " WHERE r.value->>'c' = 'r' ORDER BY cairn_bigint((r.value->>'d'))"},
        {"SELECT count(R) FROM s CROSS JOIN LATERAL jsonb_array_elements(s.runs) r",
            "SELECT count(R.value) FROM s CROSS JOIN json_each(cairn_list(s.runs)) r"},
        {"SELECT e->>'x', r.value, t.r FROM s AS t, jsonb_array_elements(runs) AS r,"
         " jsonb_array_elements(r->'events') AS e",
            "SELECT e.value->>'x', r.value, t.r FROM s AS t, json_each(cairn_list(runs)) AS r,"
            " json_each(cairn_list(r.value->'events')) AS e"},
        {"SELECT value->>'a' FROM s, json_array_elements(runs)",
            "SELECT value->>'a' FROM s, json_each(cairn_list(runs))"},
        {"SELECT x FROM (SELECT r->>'a' AS x FROM s, jsonb_array_elements(l) AS r) AS q"
         " UNION SELECT r FROM t",
            "SELECT x FROM (SELECT r.value->>'a' AS x FROM s, json_each(cairn_list(l)) AS r) AS q"
            " UNION SELECT r FROM t"},
        /* In its own argument the alias is a column, which PostgreSQL then reads everywhere. */
        {"SELECT count(*) c FROM s, jsonb_array_elements(runs) AS runs",
            "SELECT count(*) c FROM s, json_each(cairn_list(runs)) AS runs"},
        {"SELECT count(*) c FROM s JOIN jsonb_array_elements(left(RUNS, 9)) runs ON 1",
            "SELECT count(*) c FROM s JOIN json_each(cairn_list(\"left\"(RUNS, 9))) runs ON 1"},
        {"SELECT (SELECT count(*) FROM jsonb_array_elements(runs) runs), runs FROM s",
            "SELECT (SELECT count(*) FROM json_each(cairn_list(runs)) runs), runs FROM s"},
        {"SELECT s.runs, runs.value FROM s, jsonb_array_elements(s.runs) AS runs",
            "SELECT s.runs, runs.value FROM s, json_each(cairn_list(s.runs)) AS runs"},
        {"SELECT runs->>'a' FROM s, jsonb_array_elements(runs) AS runs", NULL},
        {"SELECT runs FROM s, jsonb_array_elements(s.runs) AS runs", NULL},
        {"SELECT 1 FROM s, jsonb_array_elements(runs) AS runs WHERE runs->>'a' = 'b'", NULL},
        {"SELECT r FROM s, jsonb_array_elements(runs) AS r WITH ORDINALITY", NULL},
        /* Not a table; with names of columns; the alias has another meaning, too. */
        {"SELECT a, jsonb_array_elements(runs) AS r FROM s", NULL},
        {"SELECT x FROM s, jsonb_array_elements(runs) AS r(x)", NULL},
        {"SELECT x FROM s, jsonb_array_elements(runs) WITH ORDINALITY", NULL},
        {"SELECT r->>'a' AS r FROM s, jsonb_array_elements(runs) AS r", NULL},
        {"SELECT r->>'a' r FROM s, jsonb_array_elements(runs) AS r", NULL},
        {"SELECT (SELECT r.id FROM runs r) FROM s, jsonb_array_elements(l) AS r", NULL},
    };
    expect_rewritten(cases, COUNT_OF(cases));
}

TEST(texts_names_comments_and_unknown_forms_stay_as_they_are)
{
    static const struct rewritten cases[] = {
        {"SELECT 'it''s a::int, left(', \"a::int\", [b::int], `c::int` -- d::int", NULL},
        {"SELECT /* NOW() - INTERVAL '7 days' ' */ x'00' -- ' a::int\n, 1e-5, .5", NULL},
        {"SELECT a FROM b LEFT JOIN c USING (d) RIGHT JOIN e", NULL},
        {"SELECT a::int[], b::varchar(9), c::money, d::timestamptz, e::", NULL},
        {"SELECT EXISTS (SELECT 1)::int, CASE WHEN a THEN b END::int", NULL},
        {"SELECT count(*) FILTER (WHERE a)::int, sum(a) OVER (ORDER BY b)::int", NULL},
        {"SELECT DATE '2026-01-01'::text, a.::int, )::int, ::int", NULL},
        {"SELECT 'a::int", NULL},
        {"SELECT \"a, b::int", NULL},
        {"SELECT $1::int, b::int", NULL},
        {"SELECT :a, b::int", NULL},
        {"SELECT a /* b::int", NULL},
        {"/* a */ SELECT -- b\n a::int -- c", "/* a */ SELECT -- b\n cairn_integer(a) -- c"},
        {"SELECT \xc3\xa9::int;;", "SELECT cairn_integer(\xc3\xa9);;"},
        {"", NULL},
        {" ", NULL},
    };
    expect_rewritten(cases, COUNT_OF(cases));
}

TEST(a_statement_with_too_many_forms_is_rewritten_up_to_the_limit)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(1 << 24);
    struct buf text CLEANUP(buf_deinit);
    buf_init(&text, 64 * 1024);
    buf_append_byte(&text, 'a');
    for (int i = 0; i < SQLITE_DIALECT_MAX_TRIES + 1; i++)
        buf_append(&text, STR("::int"));
    struct str out = sqlite_dialect_rewrite(&arena, buf_str(&text));
    EXPECT(str_starts_with(out, STR("cairn_integer(cairn_integer(")));
    EXPECT(str_ends_with(out, STR("))::int")));
}

/* The value of an expression as text; "!" and the message if it fails. */
static struct str value_of(struct arena *arena, sqlite3 *db, const char *expression)
{
    sqlite3_stmt *stmt = NULL;
    struct str sql = sqlite_dialect_rewrite(arena, arena_printf(arena, "SELECT %s", expression));
    struct str value = STR_NONE;
    EXPECT_EQ(sqlite3_prepare_v2(db, sql.ptr, (int)sql.len, &stmt, NULL), SQLITE_OK);
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW)
        value = arena_printf(arena, "!%s", sqlite3_errmsg(db));
    else if (sqlite3_column_text(stmt, 0) != NULL)
        value = arena_str(arena, str_of((const char *)sqlite3_column_text(stmt, 0)));
    sqlite3_finalize(stmt);
    return value;
}

struct computed {
    const char *expression;
    const char *value; /* NULL: null */
};

/* On a database with a table s, which has a list of two elements. */
static void expect_values(const struct computed *cases, size_t n)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(1 << 24);
    sqlite3 *db = NULL;
    int64_t now_us;
    EXPECT(clock_parse(STR("2026-01-02T03:04:05.000006Z"), &now_us));
    EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
    EXPECT_EQ(sqlite_dialect_add_functions(db, &now_us), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(db, "CREATE TABLE s AS SELECT '[1, 2]' AS runs", NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < n; i++) {
        struct str value = value_of(&arena, db, cases[i].expression);
        EXPECT_EQ(str_is_none(value), cases[i].value == NULL);
        if (cases[i].value != NULL)
            EXPECT_STR(value, str_of(cases[i].value));
    }
    sqlite3_close(db);
}

TEST(the_functions_compute_like_those_of_postgresql)
{
    static const struct computed cases[] = {
        {"left('h\xc3\xa9llo', 2)", "h\xc3\xa9"},
        {"left('h\xc3\xa9llo', -4)", "h"},
        {"left('ab', -9)", ""},
        {"left('ab', 9)", "ab"},
        {"left(NULL, 1)", NULL},
        {"right('h\xc3\xa9llo', 4)", "\xc3\xa9llo"},
        {"right('h\xc3\xa9llo', -2)", "llo"},
        {"jsonb_array_length('[1, [2, 3]]')", "2"},
        {"jsonb_array_length(NULL)", NULL},
        {"jsonb_array_length('{}')",
            "!cannot get the array length of a value that is no array: \"{}\""},
        {"jsonb_array_length('[')", "!invalid JSON: \"[\""},
        {"'12'::bigint", "12"},
        {"' -7 '::int", "-7"},
        {"1.5::int", "2"},
        {"NULL::int", NULL},
        {"'1.5'::int", "!no whole number in the range of the type: \"1.5\""},
        {"'x'::bigint", "!no whole number in the range of the type: \"x\""},
        {"32768::smallint", "!no whole number in the range of the type: \"32768\""},
        {"9e18::int", "!no whole number in the range of the type: \"9.0e+18\""},
        {"9223372036854775808::bigint",
            "!no whole number in the range of the type: \"9.22337203685478e+18\""},
        {"'0.5'::numeric", "0.5"},
        {"3::float8 / 2", "1.5"},
        {"'y'::float", "!no number: \"y\""},
        {"1::text", "1"},
        {"left('ab', -9223372036854775807 - 1)", ""},
        {"right('ab', 9223372036854775807)", "ab"},
        {"right('ab', -9223372036854775807 - 1)", ""},
        {"left(x'', 1)", ""},
        {"right(x'ff80', 1)", "\xff\x80"},
        {"(-9223372036854775807 - 1)::bigint", "-9223372036854775808"},
        {"(-9.3e18)::bigint", "!no whole number in the range of the type: \"-9.3e+18\""},
        {"(9e999)::smallint", "!no whole number in the range of the type: \"Inf\""},
    };
    expect_values(cases, COUNT_OF(cases));
}

TEST(times_are_computed_within_the_years_0_to_9999)
{
    static const struct computed cases[] = {
        {"now()", "2026-01-02T03:04:05.000006Z"},
        {"now() - INTERVAL '7 days'", "2025-12-26T03:04:05.000006Z"},
        {"now() + INTERVAL '1 month -1 microsecond'", "2026-02-02T03:04:05.000005Z"},
        {"'2024-03-31' - INTERVAL '1 month'", "2024-02-29T00:00:00.000000Z"},
        {"'2024-02-29T12:00:00Z' + INTERVAL '1 year'", "2025-02-28T12:00:00.000000Z"},
        {"'2026-01-01 10:00:00' + INTERVAL '90 mins'", "2026-01-01T11:30:00.000000Z"},
        {"NULL + INTERVAL '1 day'", NULL},
        {"'soon' + INTERVAL '1 day'", "!no time: \"soon\""},
        {"cairn_add('2026-01-01', 9223372036854775807, '3 days')",
            "!no sign of an interval: \"9223372036854775807\""},
        {"cairn_add('2026-01-01', 0, '3 days')", "!no sign of an interval: \"0\""},
        {"cairn_add('2026-01-01', NULL, '3 days')", "!no sign of an interval: \"\""},
        {"cairn_add('2026-01-01', 1.5, '3 days')", "!no sign of an interval: \"1.5\""},
        {"cairn_add('2026-01-01', 1, NULL)", "!no interval: \"\""},
        {"cairn_add('2026-01-01', 1, '9223372036854775807 days')",
            "!no interval: \"9223372036854775807 days\""},
        {"cairn_add('0000-01-01', -1, '1 microsecond')",
            "!the time is not in the years 0 to 9999: \"0000-01-01\""},
        {"cairn_add('9999-12-31', -1, '-999999 years -999999 weeks')",
            "!the time is not in the years 0 to 9999: \"9999-12-31\""},
        {"now() - INTERVAL '9999 years'",
            "!the time is not in the years 0 to 9999: \"2026-01-02T03:04:05.000006Z\""},
        {"now() + INTERVAL '999999 weeks'",
            "!the time is not in the years 0 to 9999: \"2026-01-02T03:04:05.000006Z\""},
    };
    expect_values(cases, COUNT_OF(cases));
}

TEST(the_elements_are_those_of_a_list)
{
    static const struct computed cases[] = {
        {"(SELECT group_concat(r) FROM jsonb_array_elements(' [1, \"a\"]') AS r)", "1,a"},
        {"(SELECT count(*) FROM jsonb_array_elements('[[1], 2]') AS r)", "2"},
        {"(SELECT count(*) FROM jsonb_array_elements(NULL) AS r)", "0"},
        {"count(*) FROM s, jsonb_array_elements(runs) AS runs", "2"},
        {"count(*) FROM s JOIN jsonb_array_elements(runs) runs ON true", "2"},
        {"(SELECT count(*) FROM jsonb_array_elements(runs) AS runs) FROM s", "2"},
        {"(SELECT count(*) FROM jsonb_array_elements('{\"a\":1}') AS r)",
            "!cannot extract elements from a value that is no array: \"{\"a\":1}\""},
        {"(SELECT count(*) FROM jsonb_array_elements('1') AS r)",
            "!cannot extract elements from a value that is no array: \"1\""},
        {"(SELECT count(*) FROM jsonb_array_elements('[1') AS r)", "!malformed JSON"},
    };
    expect_values(cases, COUNT_OF(cases));
}
