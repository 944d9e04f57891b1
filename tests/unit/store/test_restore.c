/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/stat.h>

#include "backup_steps.h"
#include "faults.h"
#include "store/sqlite_file.h"

TEST(a_backup_that_is_replaced_has_a_hash_for_the_old_and_the_new_until_it_is_done)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 1);
    struct backup_report old = backup(&f, "copy.db");
    add_notes(&f, 1);
    struct backup_report new = backup(&f, "next.db");
    /* As a crash leaves it: the names of both, the file of one. */
    struct str both = arena_printf(&f.scratch.arena, "%.*s  copy.db\n%.*s  copy.db\n",
        STR_ARG(hex_of(&f, new.sha256)), STR_ARG(hex_of(&f, old.sha256)));
    write_file(cplace(&f, "copy.db.sha256"), both.ptr, both.len);
    struct restore what = plan(&f, "copy.db", "before");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "before"), 1);
    EXPECT_EQ(rename(cplace(&f, "next.db"), cplace(&f, "copy.db")), 0);
    what = plan(&f, "copy.db", "after");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "after"), 2);
    backup(&f, "copy.db");
    struct stat info = {0};
    EXPECT_EQ(stat(cplace(&f, "copy.db.sha256"), &info), 0);
    EXPECT_EQ(info.st_size, 64 + 2 + 7 + 1);
    fixture_end(&f);
}

/* Expects that it is refused and that nothing was made. */
static void expect_refusal(struct fixture *f, const struct restore *what, const char *part)
{
    struct backup_report report;
    EXPECT(restore(f, what, NULL) != OK);
    expect_told(f, part);
    EXPECT(!is_there(f, "other"));
    problem_init(&f->problem, &f->scratch.arena);
    EXPECT(restore_try(what, NULL, &f->problem, &report) != OK);
    expect_told(f, part);
    EXPECT(!is_there(f, "other"));
}

TEST(a_file_with_a_flipped_byte_is_refused_wherever_it_is)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 40);
    struct backup_report report = backup(&f, "copy.db");
    struct restore what = plan(&f, "copy.db", "other");
    for (off_t at = 17; at < (off_t)report.size_bytes; at += 9973) {
        flip_byte(cplace(&f, "copy.db"), at);
        expect_refusal(&f, &what, "is not the original backup");
        flip_byte(cplace(&f, "copy.db"), at);
    }
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    fixture_end(&f);
}

TEST(a_damaged_file_is_refused_also_when_its_hash_is_right)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 40);
    struct backup_report report = backup(&f, "copy.db");
    const char *path = cplace(&f, "copy.db");
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(truncate(path, (off_t)report.size_bytes - 4096), 0);
    what.sha256 = hex_of(&f, hash_of(path));
    expect_refusal(&f, &what, "is damaged");
    EXPECT_EQ(truncate(path, 1000), 0);
    what.sha256 = hex_of(&f, hash_of(path));
    expect_refusal(&f, &what, "copy.db");
    write_file(path, "a note about something else, of no use to anybody here", 54);
    what.sha256 = hex_of(&f, hash_of(path));
    expect_refusal(&f, &what, "is not a database");
    fixture_end(&f);
}

TEST(a_hash_is_needed_and_must_be_one)
{
    struct fixture f;
    fixture_begin(&f);
    backup(&f, "copy.db");
    struct restore what = plan(&f, "copy.db", "other");
    what.sha256 = STR("0000000000000000000000000000000000000000000000000000000000000000");
    expect_refusal(&f, &what, "is not the original backup");
    what.sha256 = STR("123");
    expect_refusal(&f, &what, "--sha256 must be 64 hexadecimal digits");
    what.sha256 = STR_NONE;
    write_file(cplace(&f, "copy.db.sha256"), "no hash\n", 8);
    expect_refusal(&f, &what, "contains no SHA-256");
    struct str line = arena_printf(
        &f.scratch.arena, "%.*s  next.db\n", STR_ARG(hex_of(&f, hash_of(cplace(&f, "copy.db")))));
    write_file(cplace(&f, "copy.db.sha256"), line.ptr, line.len);
    expect_refusal(&f, &what, "contains no SHA-256 of copy.db");
    EXPECT_EQ(unlink(cplace(&f, "copy.db.sha256")), 0);
    expect_refusal(&f, &what, "pass the hash of the backup with --sha256");
    what.file = place(&f, "missing.db");
    what.sha256 = STR("0000000000000000000000000000000000000000000000000000000000000000");
    expect_refusal(&f, &what, "No such file or directory");
    fixture_end(&f);
}

TEST(a_hash_is_found_by_the_name_of_its_file_wherever_that_was)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 1);
    backup(&f, "next.db");
    add_notes(&f, 1);
    struct backup_report report = backup(&f, "copy.db");
    struct str lines = arena_printf(&f.scratch.arena,
        "%064d  a.db\n%064d  b.db\n%064d  c.db\n%.*s */mnt/backup/copy.db\n", 1, 2, 3,
        STR_ARG(hex_of(&f, report.sha256)));
    write_file(cplace(&f, "copy.db.sha256"), lines.ptr, lines.len);
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "other"), 2);
    fixture_end(&f);
}

TEST(a_file_of_a_newer_schema_or_of_no_schema_is_refused)
{
    struct fixture f;
    fixture_begin(&f);
    fixture_close(&f);
    scratch_exec(&f.scratch, "INSERT INTO schema_versions VALUES (9999, 'later', '9.9', 1)");
    backup(&f, "copy.db");
    struct restore what = plan(&f, "copy.db", "other");
    expect_refusal(&f, &what, "has schema version 9999");
    expect_told(&f, "use a newer cairn");
    scratch_exec(&f.scratch, "DELETE FROM schema_versions");
    EXPECT_EQ(try_backup(&f, "none.db"), ERR_INVALID);
    expect_told(&f, "is not a Cairn database");
    fixture_end(&f);
}

TEST(a_database_in_use_is_not_taken_for_a_backup)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 1);
    struct restore what = plan(&f, "data/cairn.db", "other");
    what.sha256 = STR("0000000000000000000000000000000000000000000000000000000000000000");
    expect_refusal(&f, &what, "which is a database in use and not a backup");
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    fixture_end(&f);
}

TEST(a_directory_that_is_served_or_has_a_database_is_left_alone)
{
    struct fixture f;
    struct backup_report report;
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    write_file(cplace(&f, "data/cairn.db.restoring"), "another's", 9);
    EXPECT_EQ(restore(&f, &what, NULL), ERR_UNAVAILABLE);
    expect_told(&f, "another cairn process is using the data directory");
    EXPECT(scratch_has_file(&f.scratch, "cairn.db.restoring"));
    EXPECT_EQ(restore_try(&what, NULL, &f.problem, &report), ERR_UNAVAILABLE);
    add_notes(&f, 1);
    fixture_close(&f);
    what.replaces = false;
    EXPECT(restore_finds_database(what.data_dir));
    EXPECT_EQ(restore(&f, &what, NULL), ERR_CONFLICT);
    expect_told(&f, "already contains a database: --yes replaces it");
    EXPECT_EQ(notes_in(&f, "data"), 5);
    fixture_end(&f);
}

TEST(a_database_that_somebody_reads_is_not_replaced)
{
    struct fixture f;
    sqlite3 *reader = NULL;
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    add_notes(&f, 1);
    fixture_close(&f);
    EXPECT_EQ(sqlite_file_open_live(f.scratch.database, &f.problem, &reader), OK);
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    EXPECT_EQ(restore(&f, &what, NULL), ERR_UNAVAILABLE);
    expect_told(&f, "wait until a running backup or check has finished");
    EXPECT(!scratch_has_file(&f.scratch, "cairn.db.restoring"));
    sqlite_file_close(&reader);
    EXPECT_EQ(notes_in(&f, "data"), 5);
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "data"), 4);
    fixture_end(&f);
}

TEST(a_database_that_is_replaced_is_kept_with_what_was_in_its_log)
{
    struct fixture f;
    struct str kept = STR_NONE;
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    fixture_close(&f);
    crash_with(&f, 8);
    EXPECT(scratch_has_file(&f.scratch, "cairn.db-wal"));
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    EXPECT_EQ(restore(&f, &what, &kept), OK);
    EXPECT(!scratch_has_file(&f.scratch, "cairn.db-wal"));
    EXPECT(!scratch_has_file(&f.scratch, "cairn.db-shm"));
    EXPECT_EQ(notes_in(&f, "data"), 4);
    EXPECT(strstr(arena_cstr(&f.scratch.arena, kept), "/cairn.db.before-restore-20") != NULL);
    fixture_end(&f);
}

TEST(a_kept_database_is_restored_as_any_backup)
{
    struct fixture f;
    struct str kept = STR_NONE, again = STR_NONE;
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    fixture_close(&f);
    crash_with(&f, 8);
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    EXPECT_EQ(restore(&f, &what, &kept), OK);
    EXPECT_EQ(notes_in(&f, "data"), 4);
    crash_with(&f, 3); /* the new one has a log, which must not become the old one's */
    what.file = kept;
    EXPECT_EQ(restore(&f, &what, &again), OK);
    EXPECT_EQ(notes_in(&f, "data"), 12);
    what.file = again;
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "data"), 8); /* the backup's four, one that looked, and three */
    EXPECT_EQ(count_names(&f, "data", ".before-restore-"), 6);
    fixture_end(&f);
}

/* Takes the copy away just before it is to become the database. */
struct thief {
    struct progress progress;
    const char *copy;
};

static void remove_copy(struct progress *p, const char *stage, uint64_t done, uint64_t total)
{
    if (strcmp(stage, "copying") != 0)
        unlink(CONTAINER_OF(p, struct thief, progress)->copy);
}

static bool goes_on(struct progress *p)
{
    return false;
}

TEST(a_restore_that_fails_at_its_end_leaves_the_database_its_one_name)
{
    struct fixture f;
    struct backup_report report;
    struct stat info = {0};
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    add_notes(&f, 1);
    fixture_close(&f);
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    struct thief who = {{remove_copy, goes_on}, cplace(&f, "data/cairn.db.restoring")};
    EXPECT_EQ(restore_run(&what, &who.progress, &f.problem, &report), ERR_UNAVAILABLE);
    expect_told(&f, "cannot rename the new database");
    EXPECT_EQ(count_names(&f, "data", ".before-restore-"), 0);
    EXPECT_EQ(stat(f.scratch.database, &info), 0);
    EXPECT_EQ(info.st_nlink, 1);
    EXPECT_EQ(notes_in(&f, "data"), 5);
    fixture_end(&f);
}

TEST(a_restored_database_has_its_name_on_disk_before_success_is_reported)
{
    struct fixture f;
    struct stat info = {0};
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    fixture_close(&f);
    for (int replaces = 0; replaces <= 1; replaces++) {
        struct restore what = plan(&f, "copy.db", "new");
        what.replaces = replaces == 1;
        faults_watch_syncs(cplace(&f, "new/cairn.db"));
        EXPECT_EQ(restore(&f, &what, NULL), OK);
        EXPECT_EQ(stat(cplace(&f, "new/cairn.db"), &info), 0);
        EXPECT_EQ(faults_synced_inode(), info.st_ino);
    }
    faults_watch_syncs(NULL);
    fixture_end(&f);
}

TEST(a_second_name_that_a_killed_restore_has_left_goes_with_the_next)
{
    struct fixture f;
    struct stat info = {0};
    struct str kept = STR_NONE;
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    fixture_close(&f);
    const char *left = cplace(&f, "data/cairn.db.before-restore-2026-01-01T00-00-00.000000Z");
    const char *older = cplace(&f, "data/cairn.db.before-restore-2025-01-01T00-00-00.000000Z");
    EXPECT_EQ(link(f.scratch.database, left), 0);
    write_file(older, "another one", 11);
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    EXPECT_EQ(restore(&f, &what, &kept), OK);
    EXPECT_EQ(stat(arena_cstr(&f.scratch.arena, kept), &info), 0);
    EXPECT_EQ(info.st_nlink, 1);
    EXPECT(lstat(left, &info) != 0);
    EXPECT_EQ(stat(older, &info), 0);
    fixture_end(&f);
}

TEST(a_lock_or_a_copy_that_is_a_link_leaves_the_file_behind_it_alone)
{
    struct fixture f;
    struct backup_report report;
    struct stat info = {0};
    fixture_begin(&f);
    backup(&f, "copy.db");
    EXPECT_EQ(mkdir(cplace(&f, "other"), 0700), 0);
    if (geteuid() == 0)
        EXPECT_EQ(chown(cplace(&f, "other"), 65534, 65534), 0);
    struct restore what = plan(&f, "copy.db", "other");
    plant(&f, "other/cairn.lock");
    EXPECT_EQ(restore(&f, &what, NULL), ERR_UNAVAILABLE);
    expect_told(&f, "cairn.lock is not a regular file of the directory's owner");
    EXPECT_EQ(unlink(cplace(&f, "other/cairn.lock")), 0);
    EXPECT_EQ(symlink(cplace(&f, "theirs"), cplace(&f, "other/cairn.lock")), 0);
    EXPECT_EQ(restore(&f, &what, NULL), ERR_UNAVAILABLE);
    expect_told(&f, "cairn.lock is not a regular file of the directory's owner");
    EXPECT_EQ(restore_try(&what, NULL, &f.problem, &report), ERR_UNAVAILABLE);
    EXPECT_EQ(unlink(cplace(&f, "other/cairn.lock")), 0);
    EXPECT_EQ(link(cplace(&f, "theirs"), cplace(&f, "other/cairn.db.restoring")), 0);
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    expect_text(&f, "theirs", "theirs");
    EXPECT_EQ(stat(cplace(&f, "theirs"), &info), 0);
    EXPECT_EQ(info.st_uid, geteuid());
    EXPECT_EQ(stat(cplace(&f, "other/cairn.lock"), &info), 0);
    EXPECT_EQ(info.st_uid, geteuid() == 0 ? 65534 : geteuid());
    fixture_end(&f);
}

TEST(a_damaged_database_is_kept_as_it_is_and_its_log_does_not_touch_the_new_one)
{
    struct fixture f;
    struct str kept = STR_NONE;
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    fixture_close(&f);
    crash_with(&f, 300);
    for (off_t at = 0; at < 4096; at++)
        flip_byte(f.scratch.database, at);
    EXPECT_EQ(truncate(cplace(&f, "data/cairn.db-wal"), 100000), 0);
    flip_byte(cplace(&f, "data/cairn.db-wal"), 3); /* and of its log the beginning */
    struct sha256 before = hash_of(f.scratch.database);
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    EXPECT_EQ(restore(&f, &what, &kept), OK);
    EXPECT_EQ(notes_in(&f, "data"), 4);
    const char *kept_path = arena_cstr(&f.scratch.arena, kept);
    EXPECT_STR(hex_of(&f, hash_of(kept_path)), hex_of(&f, before));
    struct stat info = {0};
    EXPECT_EQ(
        stat(arena_cstr(&f.scratch.arena, arena_printf(&f.scratch.arena, "%s-wal", kept_path)),
            &info),
        0);
    EXPECT_EQ(info.st_size, 100000);
    fixture_end(&f);
}

TEST(a_log_without_its_database_goes_aside_too)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 4);
    backup(&f, "copy.db");
    fixture_close(&f);
    crash_with(&f, 30);
    EXPECT_EQ(unlink(f.scratch.database), 0);
    struct restore what = plan(&f, "copy.db", "data");
    EXPECT_EQ(restore(&f, &what, NULL), ERR_CONFLICT);
    what.replaces = true;
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "data"), 4);
    fixture_end(&f);
}
