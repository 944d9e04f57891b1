/* SPDX-License-Identifier: Apache-2.0 */
#include "store/migrate.h"

#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"
#include "fixture.h"

TEST(migrations_are_numbered_from_one_without_gaps_and_have_a_text_for_both_engines)
{
    EXPECT(store_migration_count > 0);
    for (size_t i = 0; i < store_migration_count; i++) {
        EXPECT_EQ(store_migrations[i].version, i + 1);
        for (size_t engine = 0; engine < ENGINE_COUNT; engine++)
            EXPECT(strlen(store_migrations[i].text[engine]) > 0);
    }
}

TEST(a_new_database_records_each_migration_once)
{
    struct fixture f;
    fixture_begin(&f);
    fixture_close(&f);
    const char *count = "SELECT count(*) FROM schema_versions";
    EXPECT_EQ(scratch_i64(&f.scratch, count), store_migration_count);
    EXPECT_EQ(
        scratch_i64(&f.scratch, "SELECT max(version) FROM schema_versions"), store_migration_count);
    EXPECT_STR(scratch_text(&f.scratch, "SELECT name FROM schema_versions WHERE version = 1"),
        STR("foundation"));
    EXPECT_STR(
        scratch_text(&f.scratch, "SELECT cairn_version FROM schema_versions"), STR(CAIRN_VERSION));
    struct str applied = scratch_text(&f.scratch, "SELECT group_concat(applied_at) FROM "
                                                  "schema_versions");
    fixture_open(&f);
    fixture_close(&f);
    EXPECT_EQ(scratch_i64(&f.scratch, count), store_migration_count);
    EXPECT_STR(
        scratch_text(&f.scratch, "SELECT group_concat(applied_at) FROM schema_versions"), applied);
    fixture_end(&f);
}

/* Expects that the store refuses to open, and gives the reason. */
static struct str refusal(struct fixture *f, enum error expected)
{
    struct store *untouched = (struct store *)f;
    struct store *store = untouched;
    problem_init(&f->problem, &f->scratch.arena);
    EXPECT_EQ(store_open(&f->config, &f->problem, &store), expected);
    EXPECT(store == untouched);
    return f->problem.detail;
}

TEST(a_database_of_a_newer_cairn_is_refused_and_left_alone)
{
    struct fixture f;
    fixture_begin(&f);
    fixture_close(&f);
    scratch_exec(&f.scratch, "INSERT INTO schema_versions VALUES (9999, 'future', '99.0', 1)");
    struct str reason = refusal(&f, ERR_UNAVAILABLE);
    EXPECT(contains(reason, "schema version 9999"));
    EXPECT(contains(reason, "start a newer cairn"));
    EXPECT_EQ(
        scratch_i64(&f.scratch, "SELECT count(*) FROM schema_versions"), store_migration_count + 1);
    scratch_exec(&f.scratch, "DELETE FROM schema_versions WHERE version = 9999");
    fixture_open(&f);
    fixture_end(&f);
}

static int64_t objects(struct fixture *f)
{
    return scratch_i64(&f->scratch, "SELECT count(*) FROM sqlite_schema");
}

static void make_data_dir(struct fixture *f)
{
    EXPECT_EQ(mkdir(arena_cstr(&f->scratch.arena, f->scratch.data_dir), 0700), 0);
}

TEST(a_migration_that_fails_half_way_leaves_nothing_behind)
{
    struct fixture f;
    fixture_init(&f);
    make_data_dir(&f);
    /* The tables before this one are made, and then must go again. */
    scratch_exec(&f.scratch, "CREATE TABLE runs (in_the_way)");
    struct str reason = refusal(&f, ERR_INTERNAL);
    EXPECT(contains(reason, "cannot migrate the database: table runs already exists"));
    EXPECT_EQ(objects(&f), 1);
    scratch_exec(&f.scratch, "DROP TABLE runs");
    fixture_open(&f);
    fixture_end(&f);
}

TEST(a_table_of_versions_that_is_not_ours_is_refused)
{
    struct fixture f;
    fixture_init(&f);
    make_data_dir(&f);
    scratch_exec(&f.scratch, "CREATE TABLE schema_versions (version INTEGER)");
    EXPECT(contains(refusal(&f, ERR_INTERNAL), "cannot migrate the database"));
    EXPECT_EQ(objects(&f), 1);
    fixture_end(&f);
}

/* The disk fills at the first write, at the second … until the migration has all it needs. There
 * are hundreds, and each is a start: of the later ones one in STRIDE is taken, others in another
 * run. */
enum { FIRST_WRITES = 16, STRIDE = 41 };

TEST(a_disk_that_fills_during_the_migration_leaves_the_old_schema_or_the_new_one)
{
    struct fixture f;
    fixture_init(&f);
    faults_install();
    unsigned refusals = 0;
    const int offset = (int)getpid() % STRIDE;
    for (int n = 0;; n++) {
        int writes = n < FIRST_WRITES ? n : n + offset + (n - FIRST_WRITES) * (STRIDE - 1);
        faults_allow_writes(writes);
        problem_init(&f.problem, &f.scratch.arena);
        enum error e = store_open(&f.config, &f.problem, &f.store);
        faults_clear();
        if (e == OK)
            break;
        refusals++;
        EXPECT(f.problem.detail.len > 0);
        int64_t found = objects(&f);
        if (found != 0)
            test_fail(__FILE__, __LINE__, "after %d writes %d objects exist", writes, (int)found);
    }
    EXPECT(refusals > 2);
    EXPECT_EQ(fixture_run(&f, &SQL_NOTE_CREATE), OK);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    fixture_end(&f);
}
