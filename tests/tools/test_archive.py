#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each archived column has one line in a .members file, or none if it may be NULL."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import gen_archive

MIGRATION = """
CREATE TABLE things (tenant_id {{uuid}} NOT NULL, id {{uuid}} NOT NULL, title TEXT NOT NULL,
    owner_id {{uuid}}, secret TEXT, PRIMARY KEY (tenant_id, id));
CREATE TABLE parts (tenant_id {{uuid}} NOT NULL, thing_id {{uuid}} NOT NULL,
    number {{int}} NOT NULL, name TEXT NOT NULL, PRIMARY KEY (tenant_id, thing_id, number));
"""

MEMBERS = """
member things: thing
table things AS t
of tenant
of thread: t.owner_id = :from
unique id
omit secret: it is a secret
    id           id of thread own key ordered
    title        1..TITLE_MAX
    owner_id     id of agent loose

member parts: part
table parts AS p
in things AS t ON p.thing_id = t.id
of tenant
    thing_id     id of thread owner key ordered
    number       1..NUMBER_MAX key ordered
    name
"""


class Members(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, gen_archive, "MIGRATIONS", gen_archive.MIGRATIONS)
        gen_archive.MIGRATIONS = Path(folder.name)
        self.migration = Path(folder.name) / "0001_things.sql"
        self.members = Path(folder.name) / "archive.members"
        self.migration.write_text(MIGRATION)
        self.members.write_text(MEMBERS)

    def add(self, sql):
        self.migration.write_text(MIGRATION + sql)

    def change(self, old, new):
        assert MEMBERS.count(old) == 1, f"{old!r} must occur once"
        self.members.write_text(MEMBERS.replace(old, new))

    def texts(self):
        """The texts for SQLite."""
        return {s.name: " ".join(s.texts[0].split())
                for s in gen_archive.read_statements(self.members)}

    def fault(self):
        with self.assertRaises(SystemExit) as caught:
            gen_archive.table_of(self.members)
        return str(caught.exception).removeprefix(f"{self.members.parent}/")

    def test_the_statements_name_each_field_in_the_same_order(self):
        texts = self.texts()
        self.assertEqual(texts["archive_things_of_tenant"],
                         "SELECT t.id, t.title, t.owner_id FROM things AS t WHERE t.tenant_id = ?1 "
                         "AND t.id > ?2 ORDER BY t.id LIMIT ?3")
        self.assertEqual(texts["archive_add_things"],
                         "INSERT INTO things (tenant_id, id, title, owner_id) "
                         "VALUES (?1, ?2, ?3, ?4)")
        self.assertEqual(texts["archive_taken_things"],
                         "SELECT id FROM things WHERE tenant_id = ?1 AND id = ?2")

    def test_pages_of_parts_continue_in_the_index_of_the_parent(self):
        self.assertEqual(self.texts()["archive_parts_of_tenant"],
                         "SELECT t.id, p.number, p.name FROM things AS t CROSS JOIN parts AS p "
                         "ON p.tenant_id = +t.tenant_id AND p.thing_id = +t.id "
                         "WHERE t.tenant_id = ?1 AND t.id >= ?2 "
                         "AND p.number > CASE WHEN t.id = ?2 THEN ?3 ELSE 0 END "
                         "ORDER BY t.id, t.rowid, p.number LIMIT ?4")

    def test_a_column_that_may_be_null_needs_no_line(self):
        self.add("ALTER TABLE things ADD COLUMN note TEXT;"
                 "ALTER TABLE things ADD COLUMN noted_at {{int}};")
        texts, table = self.texts(), "\n".join(gen_archive.table_of(self.members))
        self.assertIn("t.owner_id, t.note, t.noted_at FROM", texts["archive_things_of_thread"])
        self.assertIn("owner_id, note, noted_at) VALUES", texts["archive_add_things"])
        self.assertIn('{.name = "note", .kind = KIND_TEXT, .flags = MAYBE},', table)
        self.assertIn('{.name = "noted_at", .kind = KIND_TIME, .flags = MAYBE},', table)

    def test_any_other_column_must_be_declared_or_omitted(self):
        for column in ("size {{int}} NOT NULL DEFAULT 0", "other_id {{uuid}}"):
            self.add(f"ALTER TABLE things ADD COLUMN {column};")
            self.assertEqual(self.fault(), f"archive.members:2: error: things.{column.split()[0]} "
                                           "must be a field, or omitted")
        self.change("omit secret:", "omit secret, other_id:")
        self.assertNotIn("other_id", self.texts()["archive_add_things"])

    def test_every_table_must_be_archived_or_omitted(self):
        self.add("CREATE TABLE tokens (token TEXT);")
        self.assertEqual(self.fault(),
                         "archive.members: error: the table tokens must be either archived or omitted")
        self.change("member things", "omit table tokens: they are secrets\nmember things")
        self.assertIn('    {"tokens", NULL, "they are secrets"},', gen_archive.table_of(self.members))

    def test_a_generated_column_is_not_archived(self):
        self.add("ALTER TABLE things ADD COLUMN size {{int}} AS (length(title));")
        self.assertNotIn("size", self.texts()["archive_things_of_tenant"])

    def test_a_misspelled_column_is_rejected(self):
        self.change("title        1", "tittle       1")
        self.assertEqual(self.fault(), "archive.members:9: error: tittle is not a column; "
                                       "give its kind and its select")

    def test_a_kind_must_fit_the_type_of_the_column(self):
        self.change("title        1", "title        object 1")
        self.assertEqual(self.fault(),
                         "archive.members:9: error: object does not fit the column, which is TEXT")


if __name__ == "__main__":
    unittest.main()
