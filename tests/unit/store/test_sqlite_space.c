/* SPDX-License-Identifier: Apache-2.0 */
/* A full disk, and the reserve that leads out of it. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "faults.h"
#include "fixture.h"
#include "store/reserve.h"

static bool has_reserve(struct fixture *f)
{
    struct stat st;
    struct str path =
        arena_printf(&f->scratch.arena, "%.*s/" RESERVE_NAME, STR_ARG(f->scratch.data_dir));
    return stat(arena_cstr(&f->scratch.arena, path), &st) == 0 && st.st_size == RESERVE_BYTES &&
           st.st_blocks * 512 >= RESERVE_BYTES;
}

static enum error add_as(struct fixture *f, enum store_on_full on_full)
{
    struct step step = {.on_full = on_full};
    step_submit(f, &step, STORE_WRITE, add_note);
    return step_wait(&step);
}

static void remove_reserve(struct fixture *f, const char *instead)
{
    struct str path =
        arena_printf(&f->scratch.arena, "%.*s/" RESERVE_NAME, STR_ARG(f->scratch.data_dir));
    const char *name = arena_cstr(&f->scratch.arena, path);
    EXPECT_EQ(unlink(name), 0);
    if (instead == NULL)
        return;
    FILE *file = fopen(name, "w");
    fputs(instead, file);
    fclose(file);
}

TEST(a_store_has_a_reserve_from_its_first_start_and_makes_one_that_is_not_whole_anew)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT(has_reserve(&f));
    EXPECT(store_stats(f.store).has_reserve);
    fixture_close(&f);
    EXPECT(has_reserve(&f));
    remove_reserve(&f, NULL);
    fixture_open(&f);
    EXPECT(has_reserve(&f));
    fixture_close(&f);
    remove_reserve(&f, "a crash left this");
    fixture_open(&f);
    EXPECT(has_reserve(&f));
    EXPECT(!store_stats(f.store).is_full);
    fixture_end(&f);
}

/* In one batch: an ordinary job, one that frees, one that is refused by itself. */
TEST(of_a_batch_that_met_a_full_disk_what_frees_space_runs_again_from_the_reserve)
{
    struct fixture f;
    struct gate gate = {0};
    struct step ordinary = {.publishes = true};
    struct step frees = {.publishes = true, .on_full = STORE_ON_FULL_FREES};
    struct step refused = {.answer = ERR_INVALID, .on_full = STORE_ON_FULL_FREES};
    faults_install();
    fixture_begin(&f);
    gate_shut(&f, &gate);
    step_submit(&f, &ordinary, STORE_WRITE, add_note);
    step_submit(&f, &frees, STORE_WRITE, add_note);
    step_submit(&f, &refused, STORE_WRITE, add_note);
    faults_fill_until_gone(&f.scratch.arena, f.scratch.data_dir, RESERVE_NAME);
    gate_open(&gate);
    EXPECT_EQ(step_wait(&ordinary), ERR_STORAGE_FULL);
    EXPECT_EQ(step_wait(&refused), ERR_INVALID);
    EXPECT_EQ(step_wait(&frees), OK);
    EXPECT_EQ(frees.number, 1);
    faults_clear();
    step_wait(&gate.step);
    EXPECT_EQ(fixture_count(&f), 1);
    EXPECT_EQ(atomic_load(&items_alive), 0);
    fixture_end(&f);
}

TEST(a_disk_that_stays_full_refuses_at_once_and_serves_again_when_it_has_space)
{
    struct fixture f;
    faults_install();
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    faults_allow_writes(0);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), ERR_STORAGE_FULL);
    EXPECT(!has_reserve(&f));
    EXPECT(store_stats(f.store).is_full);
    EXPECT_EQ(add_as(&f, STORE_ON_FULL_FREES), ERR_STORAGE_FULL);
    EXPECT_EQ(fixture_count(&f), 1);
    faults_clear();
    /* The first look found space, and the write after it none: the next look takes its time. */
    for (int i = 0; i < 200 && store_stats(f.store).is_full; i++) {
        usleep(10000);
        EXPECT_EQ(add_as(&f, STORE_ON_FULL_FREES), OK);
    }
    EXPECT(!store_stats(f.store).is_full);
    EXPECT(has_reserve(&f));
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    fixture_end(&f);
}

/* --- A limit of file sizes ------------------------------------------------------------------ */

enum { LIMIT_BYTES = 40 * 1024 * 1024 };

static int meet_limit(struct fixture *f)
{
    const struct rlimit limit = {LIMIT_BYTES, LIMIT_BYTES};
    enum error e = OK;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    fixture_open(f);
    for (int i = 0; e == OK && i < 200; i++) {
        struct step step = {.size_bytes = 1000000};
        step_submit(f, &step, STORE_WRITE, add_note);
        e = step_wait(&step);
    }
    if (e != ERR_STORAGE_FULL || fixture_count(f) < 10)
        return 1;
    return add_as(f, STORE_ON_FULL_FREES) == OK ? 0 : 2;
}

TEST(a_limit_of_file_sizes_is_a_full_disk)
{
    struct fixture f;
    int status = 0;
    fixture_init(&f);
    pid_t child = fork();
    if (child == 0)
        _exit(meet_limit(&f));
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    fixture_end(&f);
}
