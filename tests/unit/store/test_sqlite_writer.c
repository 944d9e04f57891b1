/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>

#include "base/clock.h"
#include "faults.h"
#include "fixture.h"
#include "store/sqlite.h"
#include "store/sqlite_file.h"

/* --- Group commit --------------------------------------------------------------------------- */

static void submit_notes(struct fixture *f, struct step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        step_submit(f, &steps[i], STORE_WRITE, add_note);
}

TEST(jobs_that_are_queued_together_share_one_commit)
{
    enum { JOBS = 40 };
    struct fixture f;
    struct gate gate = {0};
    struct step steps[JOBS] = {0};
    fixture_begin(&f);
    gate_shut(&f, &gate);
    submit_notes(&f, steps, JOBS);
    struct store_stats before = store_stats(f.store);
    EXPECT_EQ(before.queued, JOBS);
    gate_open(&gate);
    for (size_t i = 0; i < JOBS; i++) {
        EXPECT_EQ(step_wait(&steps[i]), OK);
        EXPECT_EQ(steps[i].number, i + 1); /* in the order of submission */
    }
    struct store_stats after = store_stats(f.store);
    EXPECT_EQ(after.commits - before.commits, 2); /* the gate's, and theirs */
    EXPECT_EQ(after.writes - before.writes, JOBS + 1);
    EXPECT_EQ(after.queued, 0);
    EXPECT_EQ(fixture_count(&f), JOBS);
    step_wait(&gate.step);
    fixture_end(&f);
}

static struct sqlite_store *sqlite_of(struct fixture *f)
{
    return CONTAINER_OF(f->store, struct sqlite_store, base);
}

enum { LARGE_BYTES = 8 << 20, LARGE_PAGES = LARGE_BYTES / 4096 };

enum { PAGE_US = 1000 };

/* On the writer, which owns the costs. */
static enum error add_note_at_a_cost(struct step *step, struct tx *tx)
{
    struct sqlite_store *s = sqlite_of(step->f);
    s->page_write_ns = s->page_move_ns = 1000 * PAGE_US;
    return add_note(step, tx);
}

/* Returns the time that the job was charged. */
static int64_t add_large(struct fixture *f, enum error (*how)(struct step *step, struct tx *tx))
{
    struct step step = {.size_bytes = LARGE_BYTES};
    step_submit(f, &step, STORE_WRITE, how);
    EXPECT_EQ(step_wait(&step), OK);
    return step.job.used_us;
}

TEST(a_job_is_charged_for_its_pages)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    for (int i = 0; i < 3; i++) { /* the log starts over for some of them */
        /* One measurement changes a cost by a quarter at the most. */
        EXPECT(add_large(&f, add_note_at_a_cost) >= LARGE_PAGES * (PAGE_US - PAGE_US / 4));
    }
    fixture_end(&f);
}

TEST(each_large_write_is_followed_by_a_checkpoint_also_if_the_log_has_started_over)
{
    struct fixture f;
    fixture_begin(&f);
    for (uint64_t i = 1; i <= 4; i++) {
        add_large(&f, add_note);
        while (store_stats(f.store).checkpoints < i)
            usleep(1000);
        EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    }
    fixture_end(&f);
}

TEST(a_checkpoint_under_load_is_due_when_it_takes_long)
{
    EXPECT_EQ(sqlite_checkpoint_due(0), SQLITE_CHECKPOINT_BUSY_PAGES);
    EXPECT_EQ(sqlite_checkpoint_due(9999), SQLITE_CHECKPOINT_BUSY_US / 10);
    EXPECT_EQ(sqlite_checkpoint_due(INT64_C(1000000)), SQLITE_CHECKPOINT_PAGES);
}

/* On the writer, which owns the fields: from now on only a minute without jobs is idle, and moving
 * pages costs nothing. */
static enum error be_rarely_idle(struct step *step, struct tx *tx)
{
    struct sqlite_store *s = sqlite_of(step->f);
    s->idle_us = 60 * 1000 * 1000;
    s->page_move_ns = 0;
    return OK;
}

static enum error be_idle_soon(struct step *step, struct tx *tx)
{
    sqlite_of(step->f)->idle_us = SQLITE_IDLE_US;
    return OK;
}

static void run_step(struct fixture *f, enum error (*run)(struct step *step, struct tx *tx))
{
    struct step step = {0};
    step_submit(f, &step, STORE_WRITE, run);
    EXPECT_EQ(step_wait(&step), OK);
}

TEST(an_empty_queue_between_two_jobs_is_not_idle)
{
    struct fixture f;
    fixture_begin(&f);
    run_step(&f, be_rarely_idle);
    uint64_t before = store_stats(f.store).checkpoints;
    for (int i = 0; i < 3; i++) /* each makes an idle writer move the log */
        add_large(&f, add_note);
    EXPECT_EQ(store_stats(f.store).checkpoints, before);
    add_large(&f, add_note); /* the log is long enough under load too */
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    EXPECT_EQ(store_stats(f.store).checkpoints, before + 1);
    add_large(&f, add_note);
    run_step(&f, be_idle_soon);
    while (store_stats(f.store).checkpoints < before + 2)
        usleep(1000);
    fixture_end(&f);
}

static enum error sync_slowly(struct step *step, struct tx *tx)
{
    struct sqlite_store *s = sqlite_of(step->f);
    s->sync_us = INT64_C(3600) * 1000 * 1000;
    s->page_move_ns = 1000 * PAGE_US;
    return add_note(step, tx);
}

TEST(the_time_of_the_sync_is_no_cost_of_pages)
{
    struct fixture f;
    fixture_begin(&f);
    add_large(&f, sync_slowly);
    while (store_stats(f.store).checkpoints < 1)
        usleep(1000);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK); /* the writer is behind the checkpoint */
    EXPECT_EQ(sqlite_of(&f)->page_move_ns, 1000 * PAGE_US * 3 / 4);
    fixture_end(&f);
}

TEST(a_writer_that_waits_to_become_idle_still_stops)
{
    struct fixture f;
    fixture_begin(&f);
    run_step(&f, be_rarely_idle);
    add_large(&f, add_note);
    fixture_end(&f);
}

TEST(a_batch_has_a_limit_and_the_rest_follows_in_the_next)
{
    enum { JOBS = SQLITE_BATCH_MAX_JOBS + 10 };
    static struct step steps[JOBS];
    struct fixture f;
    struct gate gate = {0};
    memset(steps, 0, sizeof steps);
    fixture_begin(&f);
    gate_shut(&f, &gate);
    submit_notes(&f, steps, JOBS);
    uint64_t before = store_stats(f.store).commits;
    gate_open(&gate);
    for (size_t i = 0; i < JOBS; i++)
        EXPECT_EQ(step_wait(&steps[i]), OK);
    EXPECT_EQ(store_stats(f.store).commits - before, 3);
    expect_gapless(&f, UUID_NIL, JOBS);
    step_wait(&gate.step);
    fixture_end(&f);
}

TEST(a_failed_job_changes_nothing_and_its_neighbours_commit)
{
    enum { JOBS = 9 };
    struct fixture f;
    struct gate gate = {0};
    struct step steps[JOBS] = {0};
    fixture_begin(&f);
    gate_shut(&f, &gate);
    for (uint64_t i = 0; i < JOBS; i++) {
        steps[i].key = id_of(i);
        steps[i].answer = i % 3 == 1 ? ERR_INVALID : OK;
    }
    submit_notes(&f, steps, JOBS);
    struct store_stats before = store_stats(f.store);
    gate_open(&gate);
    for (uint64_t i = 0; i < JOBS; i++) {
        EXPECT_EQ(step_wait(&steps[i]), steps[i].answer);
        expect_gapless(&f, id_of(i), steps[i].answer == OK ? 1 : 0);
    }
    struct store_stats after = store_stats(f.store);
    EXPECT_EQ(after.rollbacks - before.rollbacks, 3);
    EXPECT_EQ(after.commits - before.commits, 2);
    step_wait(&gate.step);
    fixture_end(&f);
}

TEST(batches_after_one_that_was_torn_lose_and_double_nothing_either)
{
    enum { JOBS = 12, ROUNDS = SQLITE_CAREFUL_BATCHES + 3 };
    struct fixture f;
    fixture_begin(&f);
    for (int64_t round = 1; round <= ROUNDS; round++) {
        struct gate gate = {0};
        struct step steps[JOBS] = {0};
        gate_shut(&f, &gate);
        for (size_t i = 0; i < JOBS; i++) {
            steps[i].answer = i % 4 == 2 && round % 2 == 1 ? ERR_CONFLICT : OK;
            steps[i].publishes = true;
        }
        submit_notes(&f, steps, JOBS);
        gate_open(&gate);
        for (size_t i = 0; i < JOBS; i++)
            EXPECT_EQ(step_wait(&steps[i]), steps[i].answer);
        step_wait(&gate.step);
    }
    expect_gapless(&f, UUID_NIL, ROUNDS / 2 * JOBS + (ROUNDS + 1) / 2 * (JOBS - 3));
    EXPECT_EQ(atomic_load(&items_alive), 0);
    fixture_end(&f);
}

TEST(a_failed_job_that_is_alone_changes_nothing_and_is_no_commit)
{
    struct fixture f;
    struct step refused = {.answer = ERR_CONFLICT};
    fixture_begin(&f);
    uint64_t before = store_stats(f.store).commits;
    step_submit(&f, &refused, STORE_WRITE, add_note);
    EXPECT_EQ(step_wait(&refused), ERR_CONFLICT);
    EXPECT_EQ(fixture_count(&f), 0);
    EXPECT_EQ(store_stats(f.store).commits, before);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    fixture_end(&f);
}

TEST(success_is_told_only_after_a_reader_can_see_it)
{
    struct fixture f;
    struct gate first = {0}, second = {0};
    struct step note = {0};
    fixture_begin(&f);
    gate_shut(&f, &first);
    step_submit(&f, &note, STORE_WRITE, add_note);
    gate_submit(&f, &second, STORE_WRITE);
    gate_open(&first);
    /* Now the note is written, and its batch is held open by the job behind it. */
    gate_wait_entered(&second);
    EXPECT(!step_is_done(&note));
    EXPECT_EQ(fixture_count(&f), 0);
    gate_open(&second);
    EXPECT_EQ(step_wait(&note), OK);
    EXPECT_EQ(fixture_count(&f), 1);
    step_wait(&first.step);
    step_wait(&second.step);
    fixture_end(&f);
}

struct producer {
    struct fixture *f;
    struct uuid key;
    pthread_t thread;
};

enum { PRODUCERS = 8, NOTES_EACH = 40 };

static void *produce(void *data)
{
    struct producer *p = data;
    for (int i = 0; i < NOTES_EACH; i++) {
        EXPECT_EQ(fixture_add(p->f, p->key), OK);
        EXPECT(fixture_count(p->f) > i);
    }
    return NULL;
}

TEST(many_producers_on_one_key_get_numbers_without_gaps)
{
    struct fixture f;
    struct producer producers[PRODUCERS];
    fixture_begin(&f);
    for (size_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct producer){.f = &f, .key = id_of(i % 2)};
        pthread_create(&producers[i].thread, NULL, produce, &producers[i]);
    }
    for (size_t i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i].thread, NULL);
    expect_gapless(&f, id_of(0), PRODUCERS * NOTES_EACH / 2);
    expect_gapless(&f, id_of(1), PRODUCERS * NOTES_EACH / 2);
    fixture_end(&f);
}

TEST(closing_finishes_every_job_that_was_queued)
{
    enum { JOBS = 20 };
    struct fixture f;
    struct gate gate = {0};
    struct step steps[JOBS] = {0};
    fixture_begin(&f);
    gate_shut(&f, &gate);
    submit_notes(&f, steps, JOBS);
    gate_open(&gate);
    fixture_close(&f);
    for (size_t i = 0; i < JOBS; i++) {
        EXPECT(step_is_done(&steps[i]));
        EXPECT_EQ(step_wait(&steps[i]), OK);
    }
    fixture_open(&f);
    EXPECT_EQ(fixture_count(&f), JOBS);
    fixture_end(&f);
}

/* --- Published items ------------------------------------------------------------------------ */

static atomic_int wakes;

static void wake(struct hub_listener *listener)
{
    atomic_fetch_add(&wakes, 1);
}

static void listen(struct fixture *f, struct hub_listener *l)
{
    hub_listener_init(l, wake);
    atomic_store(&l->interest, 1);
    hub_add_listener(store_hub(f->store), l);
    atomic_store(&wakes, 0);
}

static void stop_listening(struct fixture *f, struct hub_listener *l)
{
    hub_remove_listener(store_hub(f->store), l);
    hub_listener_deinit(l);
    EXPECT_EQ(atomic_load(&items_alive), 0);
}

/* Checks that exactly these items arrive, in this order. */
static void expect_heard(struct hub_listener *l, const int *types, size_t n)
{
    struct hub_delivery d = hub_collect(l);
    EXPECT_EQ(d.n_items, n);
    for (size_t i = 0; i < d.n_items && i < n; i++)
        EXPECT_EQ(d.items[i]->type, types[i]);
    EXPECT(!d.lost);
    hub_delivery_deinit(&d);
}

TEST(published_items_are_heard_after_the_commit_and_before_success_is_told)
{
    struct fixture f;
    struct hub_listener l;
    struct gate first = {0}, second = {0};
    struct step note = {.publishes = true, .ear = &l};
    fixture_begin(&f);
    listen(&f, &l);
    gate_shut(&f, &first);
    step_submit(&f, &note, STORE_WRITE, add_note);
    gate_submit(&f, &second, STORE_WRITE);
    gate_open(&first);
    gate_wait_entered(&second);
    expect_heard(&l, NULL, 0);
    EXPECT_EQ(atomic_load(&wakes), 0);
    gate_open(&second);
    EXPECT_EQ(step_wait(&note), OK);
    EXPECT_EQ(note.heard, 1); /* when it was done, the item was there */
    EXPECT_EQ(atomic_load(&wakes), 1);
    step_wait(&first.step);
    step_wait(&second.step);
    stop_listening(&f, &l);
    fixture_end(&f);
}

TEST(published_items_come_in_the_order_of_commits_and_none_of_a_failed_job)
{
    static const int expected[] = {1, 2, 3, 4};
    struct fixture f;
    struct hub_listener l;
    struct gate gate = {0};
    struct step steps[6] = {0};
    fixture_begin(&f);
    listen(&f, &l);
    gate_shut(&f, &gate);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        steps[i].publishes = true;
        steps[i].answer = i == 1 || i == 4 ? ERR_INVALID : OK;
    }
    submit_notes(&f, steps, COUNT_OF(steps));
    gate_open(&gate);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        EXPECT_EQ(step_wait(&steps[i]), steps[i].answer);
    expect_heard(&l, expected, COUNT_OF(expected));
    step_wait(&gate.step);
    stop_listening(&f, &l);
    fixture_end(&f);
}

TEST(a_failed_job_that_is_alone_publishes_nothing)
{
    struct fixture f;
    struct hub_listener l;
    struct step refused = {.publishes = true, .answer = ERR_INVALID};
    fixture_begin(&f);
    listen(&f, &l);
    step_submit(&f, &refused, STORE_WRITE, add_note);
    EXPECT_EQ(step_wait(&refused), ERR_INVALID);
    expect_heard(&l, NULL, 0);
    EXPECT_EQ(atomic_load(&wakes), 0);
    stop_listening(&f, &l);
    fixture_end(&f);
}

TEST(a_batch_that_fails_whole_publishes_nothing)
{
    struct fixture f;
    struct hub_listener l;
    struct gate gate = {0};
    struct step steps[3] = {{.publishes = true}, {.publishes = true}, {.publishes = true}};
    faults_install();
    fixture_begin(&f);
    listen(&f, &l);
    gate_shut(&f, &gate);
    submit_notes(&f, steps, COUNT_OF(steps));
    faults_allow_writes(0);
    gate_open(&gate);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        EXPECT_EQ(step_wait(&steps[i]), ERR_STORAGE_FULL);
    faults_clear();
    expect_heard(&l, NULL, 0);
    EXPECT_EQ(atomic_load(&wakes), 0);
    step_wait(&gate.step);
    stop_listening(&f, &l);
    fixture_end(&f);
}

/* --- Damage --------------------------------------------------------------------------------- */

static atomic_int fatals;

static void count_fatal(const char *what)
{
    atomic_fetch_add(&fatals, 1);
}

static enum error meet_damage(struct step *step, struct tx *tx)
{
    return sqlite_error(tx->connection, SQLITE_CORRUPT_INDEX);
}

TEST(nothing_of_a_batch_in_which_a_job_met_damage_is_written)
{
    struct fixture f;
    struct gate gate = {0};
    struct step before = {0}, damaged = {0}, after = {0};
    fixture_init(&f);
    f.config.on_fatal = count_fatal;
    atomic_store(&fatals, 0);
    fixture_open(&f);
    gate_shut(&f, &gate);
    step_submit(&f, &before, STORE_WRITE, add_note);
    step_submit(&f, &damaged, STORE_WRITE, meet_damage);
    step_submit(&f, &after, STORE_WRITE, add_note);
    gate_open(&gate);
    EXPECT_EQ(step_wait(&gate.step), OK);
    EXPECT_EQ(step_wait(&before), ERR_UNAVAILABLE);
    EXPECT(step_wait(&damaged) != OK);
    EXPECT_EQ(step_wait(&after), ERR_UNAVAILABLE);
    EXPECT_EQ(after.number, 0); /* it was not even begun */
    EXPECT_EQ(atomic_load(&fatals), 1);
    fixture_close(&f);
    fixture_open(&f);
    EXPECT_EQ(fixture_count(&f), 0);
    fixture_end(&f);
}

/* --- Readers -------------------------------------------------------------------------------- */

struct snapshot {
    struct step step;
    sem_t counted, go_on;
};

static enum error count_twice(struct step *step, struct tx *tx)
{
    struct snapshot *s = CONTAINER_OF(step, struct snapshot, step);
    struct step once = {0}, again = {0};
    EXPECT_EQ(count_notes(&once, tx), OK);
    sem_post(&s->counted);
    while (sem_wait(&s->go_on) != 0) {
    }
    EXPECT_EQ(count_notes(&again, tx), OK);
    EXPECT_EQ(once.number, 1);
    EXPECT_EQ(again.number, 1);
    return OK;
}

TEST(a_reader_sees_one_moment_however_long_it_reads)
{
    struct fixture f;
    struct snapshot s = {0};
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    sem_init(&s.counted, 0, 0);
    sem_init(&s.go_on, 0, 0);
    step_submit(&f, &s.step, STORE_READ, count_twice);
    sem_wait(&s.counted);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    EXPECT_EQ(fixture_count(&f), 2); /* another reader, another moment */
    sem_post(&s.go_on);
    EXPECT_EQ(step_wait(&s.step), OK);
    EXPECT_EQ(fixture_count(&f), 2);
    fixture_end(&f);
}

TEST(readers_work_while_the_writer_is_busy)
{
    struct fixture f;
    struct gate gate = {0};
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    gate_shut(&f, &gate);
    uint64_t before = store_stats(f.store).reads;
    EXPECT_EQ(fixture_count(&f), 1);
    EXPECT_EQ(store_stats(f.store).reads - before, 1);
    gate_open(&gate);
    step_wait(&gate.step);
    fixture_end(&f);
}

/* --- Checkpoints ---------------------------------------------------------------------------- */

static enum error add_megabyte(struct step *step, struct tx *tx)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct query q;
    query_begin(&q, tx, &SQL_NOTE_ADD_LARGE, &arena);
    query_i64(&q, size, 1000000);
    arena_deinit(&arena);
    return query_run(&q);
}

/* Five megabytes, more than the log may hold when nothing is to do. */
static void write_megabytes(struct fixture *f)
{
    struct step steps[5] = {0};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        step_submit(f, &steps[i], STORE_WRITE, add_megabyte);
        EXPECT_EQ(step_wait(&steps[i]), OK);
    }
}

/* Success is reported before the checkpoint, so that one may still follow. */
static bool checkpoints_exceed(struct fixture *f, uint64_t count)
{
    for (int i = 0; i < 5000; i++) {
        if (store_stats(f->store).checkpoints > count)
            return true;
        usleep(1000);
    }
    return false;
}

TEST(a_log_that_has_grown_is_moved_into_the_database_and_started_over)
{
    enum { ROUNDS = 4 };
    struct fixture f;
    struct stat wal = {0};
    fixture_begin(&f);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t before = store_stats(f.store).checkpoints;
        write_megabytes(&f);
        EXPECT(checkpoints_exceed(&f, before));
    }
    struct str path = arena_printf(&f.scratch.arena, "%s-wal", f.scratch.database);
    EXPECT_EQ(stat(arena_cstr(&f.scratch.arena, path), &wal), 0);
    EXPECT(wal.st_size < 15 * 1000 * 1000); /* of the twenty that were written */
    EXPECT_EQ(fixture_count(&f), ROUNDS * 5);
    fixture_close(&f);
    EXPECT_STR(scratch_text(&f.scratch, "PRAGMA integrity_check"), STR("ok"));
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM notes"), ROUNDS * 5);
    fixture_end(&f);
}

/* As a backup does. The log passes the size at which it is waited for readers. */
TEST(a_reader_that_stays_lets_the_log_grow_and_holds_no_writer_up)
{
    enum { MEGABYTES = 280, WRITES = 40 };
    struct fixture f;
    struct gate gate = {0};
    sqlite3 *reader = NULL;
    static struct step steps[MEGABYTES];
    memset(steps, 0, sizeof steps);
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    EXPECT_EQ(sqlite_file_open_live(f.scratch.database, &f.problem, &reader), OK);
    gate_shut(&f, &gate);
    for (size_t i = 0; i < MEGABYTES; i++)
        step_submit(&f, &steps[i], STORE_WRITE, add_megabyte);
    gate_open(&gate);
    for (size_t i = 0; i < MEGABYTES; i++)
        EXPECT_EQ(step_wait(&steps[i]), OK);
    int64_t start_us = clock_steady_us();
    for (int i = 0; i < WRITES; i++)
        EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    EXPECT(clock_steady_us() - start_us < 4 * 1000 * 1000);
    sqlite_file_close(&reader);
    expect_gapless(&f, UUID_NIL, 1 + WRITES);
    EXPECT_EQ(step_wait(&gate.step), OK);
    fixture_end(&f);
}
