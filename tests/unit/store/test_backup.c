/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/stat.h>

#include "backup_steps.h"
#include "faults.h"
#include "store/fsck.h"

/* --- Backup --------------------------------------------------------------------------------- */

TEST(a_backup_beside_the_store_is_one_file_with_its_hash_for_its_owner_alone)
{
    struct fixture f;
    struct stat info = {0};
    fixture_begin(&f);
    add_notes(&f, 5);
    struct backup_report report = backup(&f, "copy.db");
    EXPECT_EQ(stat(cplace(&f, "copy.db"), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600);
    EXPECT_EQ(info.st_size, report.size_bytes);
    struct sha256 hash = hash_of(cplace(&f, "copy.db"));
    EXPECT_STR(hex_of(&f, report.sha256), hex_of(&f, hash));
    char line[200] = {0};
    int fd = open(cplace(&f, "copy.db.sha256"), O_RDONLY);
    EXPECT(read(fd, line, sizeof line - 1) > 0);
    close(fd);
    EXPECT_STR(
        str_of(line), arena_printf(&f.scratch.arena, "%.*s  copy.db\n", STR_ARG(hex_of(&f, hash))));
    EXPECT(!is_there(&f, "copy.db.partial") && !is_there(&f, "copy.db-wal") &&
           !is_there(&f, "copy.db-shm") && !is_there(&f, "copy.db.sha256.partial"));
    fixture_end(&f);
}

TEST(a_backup_counts_the_rows_of_each_table_and_two_of_the_same_state_have_the_same_digest)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 7);
    struct backup_report one = backup(&f, "one.db"), two = backup(&f, "two.db");
    bool counted = false;
    for (size_t i = 0; i < one.contents.n_tables; i++)
        if (str_eq(one.contents.tables[i].name, STR("notes"))) {
            EXPECT_EQ(one.contents.tables[i].rows, 7);
            counted = true;
        }
    EXPECT(counted);
    EXPECT(one.contents.rows > 7);
    EXPECT(one.contents.schema_version > 0);
    EXPECT_STR(hex_of(&f, one.contents.digest), hex_of(&f, two.contents.digest));
    add_notes(&f, 1);
    struct backup_report three = backup(&f, "three.db");
    EXPECT(!str_eq(hex_of(&f, one.contents.digest), hex_of(&f, three.contents.digest)));
    fixture_end(&f);
}

TEST(a_restored_backup_has_what_was_committed_and_goes_on)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 9);
    backup(&f, "copy.db");
    add_notes(&f, 3);
    struct restore what = plan(&f, "copy.db", "other");
    struct str kept = STR("");
    EXPECT_EQ(restore(&f, &what, &kept), OK);
    EXPECT(str_is_none(kept));
    EXPECT_EQ(notes_in(&f, "other"), 9);
    EXPECT_EQ(fixture_count(&f), 12);
    fixture_end(&f);
}

TEST(a_transaction_that_is_under_way_is_not_in_the_backup)
{
    struct fixture f;
    struct gate first = {0}, second = {0};
    struct step step = {0};
    fixture_begin(&f);
    add_notes(&f, 2);
    gate_shut(&f, &first);
    step_submit(&f, &step, STORE_WRITE, add_note);
    gate_submit(&f, &second, STORE_WRITE);
    gate_open(&first);
    gate_wait_entered(&second); /* the note is written, and not committed */
    backup(&f, "copy.db");
    gate_open(&second);
    EXPECT_EQ(step_wait(&step), OK);
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "other"), 2);
    EXPECT_EQ(step_wait(&first.step), OK);
    EXPECT_EQ(step_wait(&second.step), OK);
    fixture_end(&f);
}

TEST(a_backup_of_a_store_that_was_killed_has_what_is_in_its_log_and_leaves_both_alone)
{
    struct fixture f;
    fixture_init(&f);
    crash_with(&f, 20);
    EXPECT(scratch_has_file(&f.scratch, "cairn.db-wal"));
    struct sha256 database = hash_of(f.scratch.database);
    struct sha256 wal = hash_of(cplace(&f, "data/cairn.db-wal"));
    backup(&f, "copy.db");
    EXPECT_STR(hex_of(&f, hash_of(f.scratch.database)), hex_of(&f, database));
    EXPECT_STR(hex_of(&f, hash_of(cplace(&f, "data/cairn.db-wal"))), hex_of(&f, wal));
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "other"), 20);
    EXPECT_EQ(notes_in(&f, "data"), 20);
    fixture_end(&f);
}

TEST(a_backup_does_not_replace_a_file_unless_it_is_told_to)
{
    struct fixture f;
    fixture_begin(&f);
    write_file(cplace(&f, "copy.db"), "mine", 4);
    EXPECT_EQ(try_backup(&f, "copy.db"), ERR_CONFLICT);
    expect_told(&f, "already exists: --yes replaces it");
    struct stat info = {0};
    EXPECT_EQ(stat(cplace(&f, "copy.db"), &info), 0);
    EXPECT_EQ(info.st_size, 4);
    add_notes(&f, 1);
    backup(&f, "copy.db");
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "other"), 1);
    fixture_end(&f);
}

TEST(a_backup_refuses_places_that_are_not_its_own)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(try_backup(&f, "data/cairn.db-shm2"), ERR_INVALID);
    expect_told(&f, "must not be a file of the data directory");
    EXPECT_EQ(try_backup(&f, "no/such/copy.db"), ERR_UNAVAILABLE);
    expect_told(&f, "No such file or directory");
    EXPECT_EQ(try_backup(&f, "data"), ERR_INVALID);
    expect_told(&f, "is not a regular file");
    EXPECT_EQ(try_backup(&f, "a\\b"), ERR_INVALID);
    EXPECT_EQ(try_backup(&f, ""), ERR_INVALID);
    expect_told(&f, "FILE must be a file name");
    fixture_end(&f);
}

TEST(a_backup_does_not_replace_a_database_in_use)
{
    struct fixture f, other;
    struct backup_report report;
    fixture_begin(&f);
    other = f;
    other.config.data_dir = place(&f, "other");
    fixture_open(&other); /* its log is empty when it has just been opened again */
    fixture_close(&other);
    fixture_open(&other);
    EXPECT_EQ(backup_create(
                  f.scratch.data_dir, place(&f, "other/cairn.db"), true, NULL, &f.problem, &report),
        ERR_INVALID);
    expect_told(&f, "must not be a file of the data directory");
    fixture_close(&other);
    write_file(cplace(&f, "b.db"), "mine", 4);
    static const char *const logs[] = {"b.db-wal", "b.db-journal"};
    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        write_file(cplace(&f, logs[i]), "log", 3);
        EXPECT_EQ(
            backup_create(f.scratch.data_dir, place(&f, "b.db"), true, NULL, &f.problem, &report),
            ERR_INVALID);
        expect_told(&f, "is a database in use and not a backup");
        EXPECT_EQ(unlink(cplace(&f, logs[i])), 0);
    }
    expect_text(&f, "b.db", "mine");
    fixture_end(&f);
}

TEST(a_backup_takes_over_no_file_of_another)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 1);
    plant(&f, "copy.db.partial");
    EXPECT_EQ(try_backup(&f, "copy.db"), ERR_CONFLICT);
    expect_told(&f, "copy.db.partial exists and is not a regular file of this user");
    EXPECT_EQ(unlink(cplace(&f, "copy.db.partial")), 0);
    if (geteuid() == 0) {
        write_file(cplace(&f, "copy.db.partial"), "begun", 5);
        EXPECT_EQ(chown(cplace(&f, "copy.db.partial"), 65534, 65534), 0);
        EXPECT_EQ(try_backup(&f, "copy.db"), ERR_CONFLICT);
        expect_text(&f, "copy.db.partial", "begun");
        EXPECT_EQ(unlink(cplace(&f, "copy.db.partial")), 0);
    }
    EXPECT_EQ(link(cplace(&f, "theirs"), cplace(&f, "copy.db.sha256.partial")), 0);
    EXPECT_EQ(try_backup(&f, "copy.db"), OK);
    expect_text(&f, "theirs", "theirs");
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    fixture_end(&f);
}

TEST(a_directory_without_a_database_cannot_be_backed_up)
{
    struct fixture f;
    fixture_init(&f);
    EXPECT_EQ(try_backup(&f, "copy.db"), ERR_NOT_FOUND);
    expect_told(&f, "does not exist");
    EXPECT_EQ(mkdir(arena_cstr(&f.scratch.arena, f.scratch.data_dir), 0700), 0);
    write_file(f.scratch.database, "this is no database at all, though it is long enough", 52);
    EXPECT_EQ(try_backup(&f, "copy.db"), ERR_INVALID);
    expect_told(&f, "is not a database");
    EXPECT(!is_there(&f, "copy.db") && !is_there(&f, "copy.db.partial"));
    fixture_end(&f);
}

struct impatient {
    struct progress progress;
    int patience;
    int reports;
};

static void note_report(struct progress *p, const char *stage, uint64_t done, uint64_t total)
{
    struct impatient *who = CONTAINER_OF(p, struct impatient, progress);
    EXPECT(total == 0 || done <= total);
    who->reports++;
}

static bool has_no_patience(struct progress *p)
{
    return CONTAINER_OF(p, struct impatient, progress)->patience-- <= 0;
}

TEST(work_that_is_called_off_leaves_nothing_whenever_that_is)
{
    struct fixture f;
    struct backup_report report;
    fixture_begin(&f);
    add_notes(&f, 3);
    enum error e = ERR_CANCELLED;
    int patience = 0;
    for (; e != OK && patience < 1000; patience++) {
        struct impatient who = {{note_report, has_no_patience}, patience, 0};
        e = backup_create(
            f.scratch.data_dir, place(&f, "copy.db"), false, &who.progress, &f.problem, &report);
        EXPECT(e == OK || e == ERR_CANCELLED);
        EXPECT_EQ(is_there(&f, "copy.db"), e == OK);
        EXPECT(!is_there(&f, "copy.db.partial"));
    }
    EXPECT(patience > 2 && e == OK);
    struct restore what = plan(&f, "copy.db", "other");
    e = ERR_CANCELLED;
    for (patience = 0; e != OK && patience < 1000; patience++) {
        struct impatient who = {{note_report, has_no_patience}, patience, 0};
        e = restore_run(&what, &who.progress, &f.problem, &report);
        EXPECT(e == OK || e == ERR_CANCELLED);
        EXPECT_EQ(is_there(&f, "other"), e == OK);
    }
    EXPECT(patience > 1 && e == OK);
    EXPECT_EQ(notes_in(&f, "other"), 3);
    fixture_end(&f);
}

/* Looks at the file from outside while it is written. */
struct onlooker {
    struct progress progress;
    const char *path;
    int looks;
};

static void look_for_locks(struct progress *p, const char *stage, uint64_t done, uint64_t total)
{
    struct onlooker *who = CONTAINER_OF(p, struct onlooker, progress);
    if (strcmp(stage, "copying pages") != 0)
        return;
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(who->path, O_RDWR);
    EXPECT_EQ(fcntl(fd, F_OFD_GETLK, &range), 0);
    EXPECT_EQ(range.l_type, F_UNLCK);
    close(fd);
    who->looks++;
}

static bool goes_on(struct progress *p)
{
    return false;
}

/* There flock() is a lock of the whole range, which SQLite's own would run into. */
TEST(a_backup_has_but_one_kind_of_lock_on_its_file_as_a_file_system_of_the_net_needs_it)
{
    struct fixture f;
    struct backup_report report;
    fixture_begin(&f);
    add_notes(&f, 2);
    struct onlooker who = {{look_for_locks, goes_on}, cplace(&f, "copy.db.partial"), 0};
    EXPECT_EQ(backup_create(f.scratch.data_dir, place(&f, "copy.db"), false, &who.progress,
                  &f.problem, &report),
        OK);
    EXPECT(who.looks > 0);
    fixture_end(&f);
}

struct quitter {
    struct progress progress;
    const char *stage; /* where it gives up */
    bool is_there;
};

static void note_stage(struct progress *p, const char *stage, uint64_t done, uint64_t total)
{
    struct quitter *who = CONTAINER_OF(p, struct quitter, progress);
    who->is_there = who->is_there || strcmp(stage, who->stage) == 0;
}

static bool has_quit(struct progress *p)
{
    return CONTAINER_OF(p, struct quitter, progress)->is_there;
}

TEST(a_file_without_a_hash_is_replaced_only_after_it_was_hashed_itself)
{
    struct fixture f;
    struct backup_report report;
    fixture_begin(&f);
    write_file(cplace(&f, "copy.db"), "mine", 4);
    struct quitter who = {{note_stage, has_quit}, "hashing the old file", false};
    EXPECT_EQ(backup_create(f.scratch.data_dir, place(&f, "copy.db"), true, &who.progress,
                  &f.problem, &report),
        ERR_CANCELLED);
    expect_text(&f, "copy.db", "mine");
    EXPECT(!is_there(&f, "copy.db.sha256") && !is_there(&f, "copy.db.partial"));
    fixture_end(&f);
}

TEST(a_full_disk_ends_a_backup_with_nothing_left_behind_and_the_store_goes_on)
{
    struct fixture f;
    faults_install();
    fixture_begin(&f);
    add_notes(&f, 10);
    for (int writes = 0; writes < 12; writes += 3) {
        faults_allow_writes(writes);
        EXPECT_EQ(try_backup(&f, "copy.db"), ERR_STORAGE_FULL);
        expect_told(&f, "the disk is full");
        faults_clear();
        EXPECT(!is_there(&f, "copy.db") && !is_there(&f, "copy.db.partial") &&
               !is_there(&f, "copy.db.sha256"));
        add_notes(&f, 1);
    }
    backup(&f, "copy.db");
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "other"), 14);
    fixture_end(&f);
}

TEST(what_a_killed_backup_has_left_is_in_nobodys_way)
{
    struct fixture f;
    fixture_begin(&f);
    add_notes(&f, 2);
    write_file(cplace(&f, "copy.db.partial"), "rubbish", 7);
    write_file(cplace(&f, "copy.db.partial-wal"), "rubbish", 7);
    write_file(cplace(&f, "copy.db.sha256.partial"), "rubbish", 7);
    EXPECT_EQ(try_backup(&f, "copy.db"), OK);
    EXPECT(!is_there(&f, "copy.db.partial") && !is_there(&f, "copy.db.partial-wal") &&
           !is_there(&f, "copy.db.sha256.partial"));
    struct restore what = plan(&f, "copy.db", "other");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    EXPECT_EQ(notes_in(&f, "other"), 2);
    fixture_end(&f);
}

/* --- Check ---------------------------------------------------------------------------------- */

static enum error find_nothing(struct fsck *fsck, struct tx *tx, struct problem *problem)
{
    struct step step = {0};
    return count_notes(&step, tx);
}

TEST(a_check_of_a_directory_at_rest_puts_nothing_beside_the_database)
{
    struct fixture f;
    static struct fsck fsck;
    fixture_begin(&f);
    add_notes(&f, 3);
    fixture_close(&f);
    EXPECT_EQ(count_names(&f, "data", "cairn."), 3);
    fsck = (struct fsck){.arena = &f.scratch.arena};
    EXPECT_EQ(store_fsck(&f.config, find_nothing, &fsck, &f.problem), OK);
    EXPECT_EQ(fsck.n_findings, 0);
    EXPECT(fsck.contents.rows > 3);
    EXPECT_EQ(count_names(&f, "data", "cairn."), 3);
    crash_with(&f, 2); /* now it has a log, which is a part of it */
    fsck = (struct fsck){.arena = &f.scratch.arena};
    EXPECT_EQ(store_fsck(&f.config, find_nothing, &fsck, &f.problem), OK);
    for (size_t i = 0; i < fsck.contents.n_tables; i++)
        if (str_eq(fsck.contents.tables[i].name, STR("notes")))
            EXPECT_EQ(fsck.contents.tables[i].rows, 5);
    fixture_end(&f);
}
