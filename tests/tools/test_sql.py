#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The SQL tools reject what must not build: each test changes one word of a small project."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import gen_sql
import verify_sql

MIGRATION = """
CREATE TABLE things (tenant_id {{uuid}} NOT NULL, id {{uuid}} NOT NULL, title TEXT,
    PRIMARY KEY (tenant_id, id));
"""

STATEMENTS = """
-- types: tenant_id uuid, id uuid, title text, limit int

-- name: thing_get
SELECT title FROM things WHERE tenant_id = :tenant_id AND id = :id;

-- name: thing_list
SELECT id, title FROM things WHERE tenant_id = :tenant_id ORDER BY id LIMIT :limit;

-- name: thing_rename
UPDATE things SET title = :title WHERE tenant_id = :tenant_id AND id = :id;
"""

SOURCE = """
#include "model/things.sql.h"

static void bind_id(struct query *q, struct uuid id)
{
    query_uuid(q, id, id);
}

static enum error get(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_THING_GET);
    bind_id(&q, id);
    return query_run(&q);
}

static const struct sql_statement *choose(bool all)
{
    return all ? &SQL_THING_LIST : &SQL_THING_GET;
}

static enum error read(struct context *c, bool all, struct uuid id)
{
    struct query q;
    context_query(c, &q, choose(all));
    query_uuid(&q, tenant_id, c->tenant_id);
    if (all)
        query_i64(&q, limit, 10);
    else
        query_uuid(&q, id, id);
    return query_run(&q);
}

static enum error run_on(struct context *c, const struct sql_statement *statement, struct uuid id)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    return query_run(&q);
}

enum error thing_rename(struct context *c, struct uuid id)
{
    return run_on(c, &SQL_THING_RENAME, id);
}
"""

HEADER = """
struct sequence {
    const struct sql_statement *load; /* :tenant_id :id */
};
"""


class Project:
    """A folder of sources, in which the tests change words."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.src = Path(self.folder.name)
        self.write("store/migrations/0001_things.sql", MIGRATION)
        self.write("store/store.h", HEADER)
        self.write("model/things.sql", STATEMENTS)
        self.write("model/things.c", SOURCE)

    def write(self, name, text):
        path = self.src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def change(self, name, old, new):
        text = (self.src / name).read_text()
        assert text.count(old) == 1, f"{old!r} must occur once"
        self.write(name, text.replace(old, new))

    def faults(self):
        found, _, _ = verify_sql.verify(self.src)
        return [fault.replace(f"{self.src}/", "") for fault in found]


class Verify(unittest.TestCase):
    def setUp(self):
        self.project = Project()
        self.addCleanup(self.project.folder.cleanup)

    def expect(self, *faults):
        self.assertEqual(self.project.faults(), list(faults))

    def test_a_consistent_project_has_no_faults(self):
        self.expect()

    def test_a_parameter_of_another_statement_is_rejected(self):
        self.project.change("model/things.c", "query_i64(&q, limit, 10);\n    else",
                            "query_text(&q, title, t);\n    else")
        self.expect("model/things.c:28: error: thing_get, thing_list has no parameter :title "
                    "that query_text binds")

    def test_an_unconditional_bind_must_fit_each_statement(self):
        self.project.change("model/things.c", "query_uuid(&q, tenant_id, c->tenant_id);",
                            "query_i64(&q, limit, 1);")
        self.expect("model/things.c:26: error: thing_get has no parameter :limit "
                    "that query_i64 binds")

    def test_a_helper_that_binds_must_fit_the_statements_of_its_callers(self):
        self.project.change("model/things.c", "&q, &SQL_THING_GET", "&q, &SQL_THING_LIST")
        self.expect("model/things.c:6: error: thing_list has no parameter :id that query_uuid binds")

    def test_a_statement_is_followed_through_an_argument(self):
        self.project.change("model/things.c", "&SQL_THING_RENAME, id", "&SQL_THING_LIST, id")
        self.project.change("model/things.c", "&q, &SQL_THING_GET", "&q, &SQL_THING_RENAME")
        self.expect("model/things.c:38: error: thing_list has no parameter :id "
                    "that query_uuid binds")

    def test_a_wrong_type_is_rejected(self):
        self.project.change("model/things.sql", "-- name: thing_rename",
                            "-- name: thing_rename\n-- types: id text")
        self.expect("model/things.c:38: error: thing_rename has no parameter :id "
                    "that query_uuid binds")

    def test_a_misspelled_column_is_rejected(self):
        self.project.change("model/things.sql", "SELECT title FROM", "SELECT tittle FROM")
        self.expect("model/things.sql:4: error: thing_get: no such column: tittle")

    def test_a_misspelled_table_is_rejected(self):
        self.project.change("model/things.sql", "UPDATE things", "UPDATE thing")
        self.expect("model/things.sql:10: error: thing_rename: no such table: thing")

    def test_an_unused_statement_is_rejected(self):
        self.project.change("model/things.c", "&SQL_THING_RENAME, id", "&SQL_THING_GET, id")
        self.expect("model/things.sql:10: error: no source uses SQL_THING_RENAME")

    def test_an_unused_header_is_rejected(self):
        self.project.write("model/other.c", '#include "model/things.sql.h"\n')
        self.expect("model/other.c: error: uses no statement of model/things.sql")

    def test_a_statement_given_to_the_store_has_the_listed_parameters(self):
        self.project.write("model/given.c", "struct sequence s = {.load = &SQL_THING_GET};\n")
        self.expect()
        self.project.write("model/given.c", "struct sequence s = {.load = &SQL_THING_LIST};\n")
        self.expect("model/given.c:1: error: .load needs a statement with exactly the parameters "
                    ":tenant_id :id")

    def test_a_statement_has_words_of_closed_lists_only_as_tokens(self):
        self.project.change("model/things.sql", "AND id = :id;\n\n-- name: thing_list",
                            "AND id = :id AND title <> {{RUN_QUEUED}};\n\n-- name: thing_list")
        self.expect()
        self.project.change("model/things.sql", "{{RUN_QUEUED}}", "'queued'")
        self.expect("model/things.sql:5: error: 'queued' is a word of a closed list: write its "
                    "token, such as {{RUN_QUEUED}}")

    def test_a_migration_compares_columns_with_words_of_closed_lists(self):
        self.project.change("store/migrations/0001_things.sql", "PRIMARY KEY (tenant_id, id));",
                            "status TEXT, PRIMARY KEY (tenant_id, id));\n"
                            "CREATE INDEX done ON things (id) WHERE status IN ('failed', 'lost');")
        self.expect("store/migrations/0001_things.sql: error: 'lost' is in no list of src/model")

    def compile(self, bind):
        out = self.project.src / "model/things.sql.h"
        gen_sql.generate_header(self.project.src / "model/things.sql", out, out.with_suffix(".d"))
        self.project.write("bind.c", f'#include "model/things.sql.h"\nvoid bind(struct query *q);\n'
                           f"void bind(struct query *q)\n{{\n    {bind}\n}}\n")
        command = ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", f"-I{self.project.src}",
                   f"-I{TOOLS.parent}/src", self.project.src / "bind.c"]
        return subprocess.run(command, text=True, capture_output=True, check=False).stderr

    def test_a_misspelled_parameter_does_not_compile(self):
        self.assertEqual(self.compile("query_text(q, title, STR(\"x\"));"), "")
        self.assertIn("PARAM_TEXT_tittle", self.compile("query_text(q, tittle, STR(\"x\"));"))

    def test_a_parameter_of_another_type_does_not_compile(self):
        self.assertIn("PARAM_I64_title", self.compile("query_i64(q, title, 1);"))

    def declare_rows(self, member):
        self.project.write("model/things.h", '#include "store/query.h"\nstruct thing {\n'
                           f"    struct uuid id;\n    {member}\n}};\n")
        self.project.change("model/things.sql", "-- name: thing_get",
                            "-- reads thing_read: struct thing from id, t.title\n"
                            "-- binds thing_bind: struct thing for thing_rename\n"
                            "-- compares thing_differences: struct thing for thing_rename\n"
                            "--   | except id\n"
                            "\n-- name: thing_get")

    def test_rows_are_read_into_members_of_the_same_name(self):
        self.declare_rows("struct str title;")
        use = "struct thing t; thing_read(q, &t); thing_bind(q, &t);"
        self.assertEqual(self.compile(use), "")
        header = (self.project.src / "model/things.sql.h").read_text()
        self.assertIn("out->title = row_text(q);", header)
        self.assertIn('query_bind_text(q, "title", in->title);', header)

    def test_the_members_that_a_statement_writes_are_compared(self):
        self.declare_rows("struct str title;")
        use = ("struct thing t = {0}; const char *names[THING_DIFFERENCES_MAX];\n"
               "thing_differences(&t, &t, names);")
        self.assertEqual(self.compile(use), "")
        header = (self.project.src / "model/things.sql.h").read_text()
        self.assertIn("if (str_differs(a->title, b->title))", header)
        self.assertNotIn("uuid_eq", header)

    def test_a_column_without_a_member_is_rejected(self):
        self.declare_rows("struct str tittle;")
        with self.assertRaises(SystemExit) as caught:
            self.compile("")
        self.assertIn("struct thing has no member for the column title", str(caught.exception))


class Generate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def fault(self, text):
        path = Path(self.folder.name) / "things.sql"
        path.write_text(text)
        with self.assertRaises(SystemExit) as caught:
            gen_sql.read_statements(path)
        return str(caught.exception).removeprefix(f"{self.folder.name}/")

    def test_every_parameter_has_a_type_and_every_type_a_parameter(self):
        self.assertEqual(self.fault("-- name: a\nSELECT :id;\n"),
                         "things.sql:1: error: a: parameter :id has no type")
        self.assertEqual(self.fault("-- types: id uuid\n-- name: a\nSELECT 1;\n"),
                         "things.sql: error: declares a type for :id, which no statement uses")

    def test_an_unknown_token_is_rejected(self):
        self.assertEqual(self.fault("-- name: a\nSELECT {{blob}};\n"),
                         "things.sql:1: error: unknown token {{blob}}")
        self.assertEqual(self.fault("-- name: a\nSELECT {{RUN_LOST}};\n"),
                         "things.sql:1: error: unknown token {{RUN_LOST}}")

    def test_a_list_of_words_is_a_token(self):
        path = Path(self.folder.name) / "things.sql"
        path.write_text("-- name: a\nSELECT 'x' IN ({{PERMISSIONS}}), 'x' IN "
                        "({{FINAL_RUN_STATUSES}});\n")
        self.assertEqual(gen_sql.read_statements(path)[0].texts[0],
                         "SELECT 'x' IN ('read', 'read_write'), 'x' IN "
                         "('completed', 'failed', 'cancelled')")


if __name__ == "__main__":
    unittest.main()
