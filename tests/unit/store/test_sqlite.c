/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "faults.h"
#include "fixture.h"

/* --- The data directory --------------------------------------------------------------------- */

/* Expects that the store refuses to open `dir`; the reason. */
static const char *refusal(struct fixture *f, struct str dir)
{
    struct store_config config = f->config;
    struct store *store = NULL;
    config.data_dir = dir;
    problem_init(&f->problem, &f->scratch.arena);
    EXPECT_EQ(store_open(&config, &f->problem, &store), ERR_UNAVAILABLE);
    EXPECT(store == NULL);
    return arena_cstr(&f->scratch.arena, f->problem.detail);
}

static void expect_part(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", text, part);
}

TEST(a_missing_data_directory_is_made_for_its_owner_alone)
{
    struct fixture f;
    struct stat info = {0};
    fixture_begin(&f);
    EXPECT_EQ(stat(arena_cstr(&f.scratch.arena, f.scratch.data_dir), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700);
    EXPECT(scratch_has_file(&f.scratch, "cairn.db"));
    fixture_end(&f);
}

TEST(a_second_store_on_the_same_directory_is_refused_until_the_first_is_closed)
{
    struct fixture f;
    fixture_begin(&f);
    expect_part(refusal(&f, f.scratch.data_dir), "another cairn process is using");
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    fixture_close(&f);
    fixture_open(&f);
    EXPECT_EQ(fixture_count(&f), 1);
    fixture_end(&f);
}

TEST(a_directory_inside_a_missing_one_is_refused_with_the_reason)
{
    struct fixture f;
    fixture_init(&f);
    struct str dir = arena_printf(&f.scratch.arena, "%.*s/no/such", STR_ARG(f.scratch.root));
    const char *reason = refusal(&f, dir);
    expect_part(reason, "cannot create the data directory");
    expect_part(reason, "/no/such: No such file or directory");
    fixture_end(&f);
}

TEST(a_file_in_place_of_the_data_directory_is_refused_with_the_reason)
{
    struct fixture f;
    fixture_init(&f);
    FILE *file = fopen(arena_cstr(&f.scratch.arena, f.scratch.data_dir), "w");
    fclose(file);
    expect_part(refusal(&f, f.scratch.data_dir), "cannot open the data directory");
    fixture_end(&f);
}

TEST(a_data_directory_that_cannot_be_written_is_refused_with_the_reason)
{
    struct fixture f;
    fixture_init(&f);
    EXPECT_EQ(chmod(arena_cstr(&f.scratch.arena, f.scratch.root), 0755), 0);
    EXPECT_EQ(mkdir(arena_cstr(&f.scratch.arena, f.scratch.data_dir), 0555), 0);
    /* Root may write everywhere, so it steps down for a moment. */
    bool root = geteuid() == 0;
    EXPECT(!root || seteuid(65534) == 0);
    const char *reason = refusal(&f, f.scratch.data_dir);
    EXPECT(!root || seteuid(0) == 0);
    expect_part(reason, "cannot write to the data directory");
    expect_part(reason, "Permission denied");
    fixture_end(&f);
}

TEST(an_engine_that_this_build_lacks_is_refused)
{
    struct fixture f;
    fixture_init(&f);
    f.config.engine = ENGINE_COUNT;
    EXPECT_EQ(store_open(&f.config, &f.problem, &f.store), ERR_BAD_REQUEST);
    EXPECT(f.problem.detail.len > 0);
    fixture_end(&f);
}

/* --- Durability ----------------------------------------------------------------------------- */

static enum error read_number(struct tx *tx, const struct sql_statement *statement, int64_t *out)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct query q;
    query_begin(&q, tx, statement, &arena);
    while (query_next(&q))
        *out = row_i64(&q);
    arena_deinit(&arena);
    return query_end(&q);
}

static enum error check_pragmas(void *data, struct tx *tx)
{
    struct arena *arena = data;
    int64_t synchronous = -1, foreign_keys = -1;
    EXPECT_EQ(read_number(tx, &SQL_PRAGMA_SYNCHRONOUS, &synchronous), OK);
    EXPECT_EQ(read_number(tx, &SQL_PRAGMA_FOREIGN_KEYS, &foreign_keys), OK);
    EXPECT_EQ(synchronous, 2); /* FULL */
    EXPECT_EQ(foreign_keys, 1);
    struct query q;
    query_begin(&q, tx, &SQL_PRAGMA_JOURNAL, arena);
    EXPECT(query_next(&q));
    EXPECT_STR(row_text(&q), STR("wal"));
    return query_end(&q);
}

TEST(the_writer_syncs_every_commit_to_a_write_ahead_log)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(store_call(f.store, STORE_WRITE, check_pragmas, &f.scratch.arena), OK);
    fixture_end(&f);
}

TEST(closing_moves_the_log_into_the_database_file)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    EXPECT(scratch_has_file(&f.scratch, "cairn.db-wal"));
    fixture_close(&f);
    EXPECT(!scratch_has_file(&f.scratch, "cairn.db-wal"));
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM notes"), 1);
    fixture_end(&f);
}

/* Runs `work` in a process of its own; how that ended. */
static int in_child(struct fixture *f, void (*work)(struct fixture *f))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        work(f);
        _exit(99);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_and_die(struct fixture *f)
{
    fixture_open(f);
    for (int i = 0; i < 5; i++)
        if (fixture_add(f, UUID_NIL) != OK)
            _exit(1);
    _exit(0); /* nothing is closed */
}

TEST(what_was_acknowledged_survives_a_process_that_dies)
{
    struct fixture f;
    fixture_init(&f);
    EXPECT_EQ(in_child(&f, write_and_die), 0);
    fixture_open(&f);
    EXPECT_EQ(fixture_count(&f), 5);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    expect_gapless(&f, UUID_NIL, 6);
    fixture_end(&f);
}

/* --- A disk that fails ---------------------------------------------------------------------- */

enum { EXIT_FATAL = 42 };

static void exit_fatal(const char *what)
{
    _exit(strstr(what, "fsync") != NULL ? EXIT_FATAL : EXIT_FATAL + 1);
}

static void write_without_sync(struct fixture *f)
{
    faults_install();
    f->config.on_fatal = exit_fatal;
    fixture_open(f);
    if (fixture_add(f, UUID_NIL) != OK)
        _exit(1);
    faults_fail_syncs();
    (void)!fixture_add(f, UUID_NIL);
    _exit(2); /* the result was reported, which the test forbids */
}

TEST(a_failed_sync_stops_the_process_before_anything_is_told)
{
    struct fixture f;
    fixture_init(&f);
    EXPECT_EQ(in_child(&f, write_without_sync), EXIT_FATAL);
    fixture_end(&f);
}

static void open_damaged(struct fixture *f)
{
    f->config.on_fatal = exit_fatal;
    fixture_open(f);
    _exit(2);
}

TEST(a_file_that_is_no_database_is_fatal)
{
    struct fixture f;
    fixture_begin(&f);
    fixture_close(&f);
    FILE *file = fopen(f.scratch.database, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is not a database\n", file);
    fclose(file);
    EXPECT_EQ(in_child(&f, open_damaged), EXIT_FATAL + 1);
    fixture_end(&f);
}

/* Three jobs at once, of which the middle one does not fit; each must hear that the disk is full.
 */
static void expect_full(struct fixture *f)
{
    struct gate gate = {0};
    struct step steps[3] = {{.publishes = true}, {.size_bytes = 4000000}, {.publishes = true}};
    gate_shut(f, &gate);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        step_submit(f, &steps[i], STORE_WRITE, add_note);
    gate_open(&gate);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        EXPECT_EQ(step_wait(&steps[i]), ERR_STORAGE_FULL);
    step_wait(&gate.step);
    EXPECT_EQ(atomic_load(&items_alive), 0);
}

TEST(a_database_without_room_refuses_the_whole_batch_and_serves_again_with_room)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    EXPECT_EQ(fixture_run(&f, &SQL_PRAGMA_NO_SPACE), OK);
    expect_full(&f);
    EXPECT_EQ(fixture_count(&f), 1);
    EXPECT_EQ(fixture_run(&f, &SQL_PRAGMA_SPACE), OK);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    expect_gapless(&f, UUID_NIL, 2);
    fixture_end(&f);
}

TEST(a_full_disk_refuses_the_whole_batch_and_serves_again_when_space_returns)
{
    faults_install();
    /* The commit finds no space at its first write, at its second, at its third … */
    for (int writes = 0; writes < 6; writes++) {
        struct fixture f;
        fixture_begin(&f);
        EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
        faults_allow_writes(writes);
        expect_full(&f);
        faults_clear();
        EXPECT_EQ(fixture_count(&f), 1);
        EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
        expect_gapless(&f, UUID_NIL, 2);
        fixture_close(&f);
        EXPECT_STR(scratch_text(&f.scratch, "PRAGMA integrity_check"), STR("ok"));
        fixture_end(&f);
    }
}

TEST(readers_go_on_while_the_disk_is_full)
{
    struct fixture f;
    faults_install();
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    faults_allow_writes(0);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), ERR_STORAGE_FULL);
    EXPECT_EQ(fixture_count(&f), 1);
    faults_clear();
    fixture_end(&f);
}
