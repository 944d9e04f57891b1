/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_log.h"

#include <sqlite3.h>

#include "faults.h"
#include "scratch.h"

/* A database in WAL mode with two connections: the writer's joins its writes. */
struct pair {
    struct scratch scratch;
    sqlite3 *writer, *reader;
};

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void expect_runs(sqlite3 *db, const char *sql)
{
    if (run(db, sql) != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    EXPECT_EQ(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    EXPECT_EQ(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static void begin(struct pair *p)
{
    enum { FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE };
    faults_install();
    scratch_init(&p->scratch);
    struct arena *arena = &p->scratch.arena;
    const char *path =
        arena_cstr(arena, arena_printf(arena, "%.*s/log.db", STR_ARG(p->scratch.root)));
    EXPECT_EQ(sqlite3_open_v2(path, &p->writer, FLAGS, sqlite_log_vfs()), SQLITE_OK);
    EXPECT_EQ(sqlite3_open_v2(path, &p->reader, FLAGS, NULL), SQLITE_OK);
    expect_runs(p->writer,
        "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(id INTEGER PRIMARY KEY, x); BEGIN;"
        "INSERT INTO t VALUES (1, 0); COMMIT");
}

/* Checks the rows through the other connection, and that the database is whole. */
static void end(struct pair *p, int64_t rows)
{
    faults_clear();
    EXPECT_EQ(number(p->reader, "SELECT count(*) FROM t"), rows);
    EXPECT_EQ(number(p->reader, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    EXPECT_EQ(sqlite3_close(p->writer), SQLITE_OK);
    EXPECT_EQ(sqlite3_close(p->reader), SQLITE_OK);
    scratch_deinit(&p->scratch);
}

#define ADD_50                                                                             \
    "INSERT INTO t(x) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) " \
    "SELECT randomblob(3000) FROM n;"

TEST(the_frames_of_a_commit_are_written_in_few_writes)
{
    struct pair p;
    begin(&p);
    expect_runs(p.writer, "BEGIN; INSERT INTO t(x) VALUES (randomblob(30000))");
    faults_allow_writes(1);
    expect_runs(p.writer, "COMMIT");
    EXPECT_EQ(number(p.reader, "SELECT count(*) FROM t"), 2);
    faults_clear();
    expect_runs(p.writer, "BEGIN; INSERT INTO t(x) VALUES (zeroblob(1000000))");
    faults_allow_writes(11);
    expect_runs(p.writer, "COMMIT");
    end(&p, 3);
}

TEST(a_connection_sees_the_frames_that_its_cache_has_spilled)
{
    struct pair p;
    begin(&p);
    expect_runs(p.writer, "PRAGMA cache_size = 5; BEGIN;" ADD_50 "SAVEPOINT s;" ADD_50);
    EXPECT_EQ(number(p.writer, "SELECT sum(length(x)) FROM t WHERE id > 1"), 100 * 3000);
    expect_runs(p.writer, "UPDATE t SET x = randomblob(2000) WHERE id > 1 AND id % 7 = 0");
    expect_runs(p.writer, "ROLLBACK TO s");
    EXPECT_EQ(number(p.writer, "SELECT sum(length(x)) FROM t WHERE id > 1"), 50 * 3000);
    EXPECT_EQ(number(p.reader, "SELECT count(*) FROM t"), 1);
    expect_runs(p.writer, ADD_50 "UPDATE t SET x = randomblob(10) WHERE id % 3 = 0; COMMIT");
    expect_runs(p.writer, "BEGIN;" ADD_50 "ROLLBACK");
    expect_runs(p.writer, ADD_50);
    EXPECT_EQ(number(p.writer, "SELECT count(*) FROM t"), 151);
    expect_runs(p.writer, "PRAGMA wal_checkpoint(TRUNCATE);" ADD_50);
    end(&p, 201);
}

TEST(a_commit_that_finds_the_disk_full_leaves_nothing_and_later_ones_succeed)
{
    struct pair p;
    begin(&p);
    for (int allowed = 0; allowed < 4; allowed++) {
        expect_runs(p.writer, "BEGIN");
        expect_runs(p.writer, ADD_50 ADD_50);
        faults_allow_writes(allowed);
        int rc = run(p.writer, "COMMIT");
        EXPECT_EQ(rc, SQLITE_FULL);
        EXPECT(sqlite3_get_autocommit(p.writer));
        faults_clear();
        EXPECT_EQ(number(p.reader, "SELECT count(*) FROM t"), 1 + allowed);
        EXPECT_EQ(number(p.writer, "SELECT count(*) FROM t"), 1 + allowed);
        expect_runs(p.writer, "INSERT INTO t(x) VALUES (1)");
    }
    end(&p, 5);
}

TEST(what_a_failed_commit_has_left_does_not_prevent_a_checkpoint)
{
    struct pair p;
    begin(&p);
    expect_runs(p.writer, "BEGIN; INSERT INTO t(x) VALUES (2)");
    faults_allow_writes(0);
    EXPECT_EQ(run(p.writer, "COMMIT"), SQLITE_FULL);
    faults_allow_writes(2); /* for the pages of the database */
    expect_runs(p.writer, "PRAGMA wal_checkpoint(PASSIVE)");
    faults_clear();
    EXPECT_EQ(number(p.reader, "SELECT count(*) FROM t"), 1);
    expect_runs(p.writer, "INSERT INTO t(x) VALUES (3)");
    end(&p, 2);
}

TEST(a_spill_that_finds_the_disk_full_cannot_be_committed)
{
    struct pair p;
    begin(&p);
    expect_runs(p.writer, "PRAGMA cache_size = 5; BEGIN; INSERT INTO t(x) VALUES (2)");
    faults_allow_writes(0);
    EXPECT_EQ(run(p.writer, ADD_50 ADD_50), SQLITE_FULL);
    (void)run(p.writer, "COMMIT");
    faults_clear();
    if (!sqlite3_get_autocommit(p.writer))
        expect_runs(p.writer, "ROLLBACK");
    EXPECT_EQ(number(p.reader, "SELECT count(*) FROM t"), 1);
    expect_runs(p.writer, ADD_50);
    end(&p, 51);
}
