#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sampler of mutants: what its operators change, what they leave alone, and its order."""
import sys
import tempfile
import unittest
from itertools import islice
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import mutants

C = """
static const struct limit limits[] = {
    {1, 2 > 1},
};
/* a < b */
enum error thing_put(struct context *c, const struct thing *t)
{
    log_info("a < %d", t->n < 3);
    TRY(check_name(c, t->name,
        NAME_MAX_BYTES));
    if (t->n > THING_MAX || t->n < 0)
        return problem_fault(c->problem, STR("/n"), "must be < 3");
    if (fstat(t->fd, &info) != 0)
        return problem_set(c->problem, ERR_UNAVAILABLE, "%s", strerror(errno));
    for (int i = 0; i < t->n; i++)
        thing_note(c, i);
    page->next = last - 1;
    mem_free(t->copy);
    TRY(audit_record(c, "thing.put", "thing", t->id, STR_NONE));
    return OK;
}
"""

SQL = """
-- types: tenant_id uuid, id uuid, limit int, after uuid
-- define of_thing: tenant_id = :tenant_id AND id = :id
-- name: thing_list
SELECT a <> b FROM things WHERE tenant_id = :tenant_id AND owner = :id AND kind IN ('x AND y')
    AND id > :after ORDER BY id LIMIT :limit;
"""


def changes(path, source, kind):
    """The lines that the mutants of this kind have instead of the original ones."""
    found = []
    for mutant in mutants.mutants_of(path, source):
        if mutant.kind == kind:
            before, after = source.split("\n"), mutant.apply(source).split("\n")
            at = mutant.line(source) - 1
            assert before != after
            found.append((before[at].strip(), after[at].strip()))
    return found


class Operators(unittest.TestCase):
    def test_comparisons_change_outside_of_loops_tables_comments_strings_and_logs(self):
        self.assertEqual([after for _, after in changes("src/a/x.c", C, "comparison")], [
            "if (t->n >= THING_MAX || t->n < 0)", "if (t->n > THING_MAX || t->n <= 0)",
            "if (fstat(t->fd, &info) == 0)"])
        self.assertEqual([after for _, after in changes("src/a/x.c", C, "boolean")],
                         ["if (t->n > THING_MAX && t->n < 0)"])

    def test_checks_are_dropped_whole_but_not_those_of_system_calls(self):
        dropped = [m for m in mutants.mutants_of("src/a/x.c", C) if m.kind == "check"]
        self.assertEqual(len(dropped), 2)
        self.assertNotIn("check_name", dropped[0].apply(C))
        self.assertNotIn("NAME_MAX_BYTES", dropped[0].apply(C))
        self.assertNotIn("must be < 3", dropped[1].apply(C))
        self.assertEqual(dropped[1].apply(C).count("{"), C.count("{"))

    def test_limits_move_by_one(self):
        (_, after), = changes("src/a/x.c", C, "limit")
        self.assertRegex(after, r"t->n > \(THING_MAX [+-] 1\)")

    def test_effects_are_dropped_and_memory_is_still_freed(self):
        self.assertEqual([before for before, _ in changes("src/a/x.c", C, "effect")], [
            "thing_note(c, i);",
            'TRY(audit_record(c, "thing.put", "thing", t->id, STR_NONE));'])

    def test_cursors_lose_their_one(self):
        self.assertEqual(changes("src/a/x.c", C, "cursor"),
                         [("page->next = last - 1;", "page->next = last;")])

    def test_terms_of_a_where_become_true_and_keep_their_parameters(self):
        texts = [m.apply(SQL) for m in mutants.mutants_of("src/a/x.sql", SQL)
                 if m.kind == "predicate"]
        self.assertEqual(len(texts), 5)
        self.assertIn("define of_thing: tenant_id = :tenant_id AND (:id IS NULL OR 1 = 1)\n",
                      texts[0])
        self.assertIn("WHERE (:tenant_id IS NULL OR 1 = 1) AND owner = :id", texts[1])
        self.assertIn("AND (:id IS NULL OR 1 = 1) AND kind IN", texts[2])
        self.assertIn("AND 1 = 1\n    AND id > :after", texts[3])
        self.assertIn("AND (:after IS NULL OR 1 = 1) ORDER BY", texts[4])

    def test_cursors_and_orders_of_statements_are_turned(self):
        (_, cursor), = changes("src/a/x.sql", SQL, "cursor")
        self.assertEqual(cursor, "AND id >= :after ORDER BY id LIMIT :limit;")
        (_, order), = changes("src/a/x.sql", SQL, "order")
        self.assertEqual(order, "AND id > :after ORDER BY id DESC LIMIT :limit;")


class Sample(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for name in ("model/things.c", "model/things.sql", "api/routes.c",
                     "store/migrations/0001_things.sql"):
            path = self.root / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SQL if name.endswith(".sql") else C)

    def take(self, seed, **options):
        return list(islice(mutants.sample(self.root, seed, **options), 100))

    def test_a_seed_gives_the_same_order_and_every_place_once(self):
        first = self.take(7)
        self.assertEqual(first, self.take(7))
        self.assertNotEqual(first, self.take(8))
        self.assertEqual(len(set(first)), len(first))

    def test_tables_and_migrations_are_left_alone(self):
        self.assertEqual({m.path for m in self.take(7)},
                         {"src/model/things.c", "src/model/things.sql"})
        self.assertEqual(self.take(7, layer="api"), [])

    def test_the_real_sources_have_mutants_of_every_kind_in_every_layer(self):
        found = list(islice(mutants.sample(mutants.ROOT, 1), 2000))
        self.assertEqual({m.kind for m in found}, set(mutants.KINDS))
        # The order is random, so the first of all may have none of a small layer.
        for layer in mutants.BROAD:
            found = next(mutants.sample(mutants.ROOT, 1, layer=layer))
            self.assertEqual(found.layer, layer)


class Tests(unittest.TestCase):
    FILES = [f.name.split(".")[0] for f in (mutants.ROOT / "tests/api").glob("*.test.mjs")]

    def names(self, path):
        return [part.name for part in mutants.parts_for(path, self.FILES)]

    def test_every_named_test_exists(self):
        named = " ".join([tests for _, tests in mutants.API_TESTS] + list(mutants.BROAD.values())
                         + [mutants.POSTGRES_TESTS, *mutants.PROGRAMS])
        self.assertEqual(set(named.split()) - set(self.FILES), set())

    def test_the_tests_of_the_resource_come_first(self):
        self.assertEqual(self.names("src/model/threads/notebooks.c")[0], "notebooks (sqlite)")
        self.assertIn("unit_model", self.names("src/model/threads/notebooks.c"))
        self.assertEqual(self.names("src/base/str.c")[0], "unit_base")
        self.assertIn("postgres-nodes (postgres)", self.names("src/store/postgres.c"))
        locking = mutants.parts_for("src/model/tenancy/keys.c", self.FILES, "context_lock_x(c);")
        self.assertIn("keys (postgres)", [part.name for part in locking])

    def test_every_source_has_tests(self):
        for path in mutants.sources(mutants.ROOT):
            self.assertGreater(len(self.names(path)), 1, path)


class Report(unittest.TestCase):
    def test_the_score_leaves_out_what_was_not_built(self):
        mutant = mutants.Mutant("check", "src/api/x.c", 0, 1, "")
        lines = mutants.summary([(mutant, "detected"), (mutant, "detected"), (mutant, "survived"),
                                 (mutant, "not built")]).split("\n")
        self.assertEqual(lines[0].split(), "api 2 detected, 1 survived, 1 not built; 67 %".split())


if __name__ == "__main__":
    unittest.main()
