/* SPDX-License-Identifier: Apache-2.0 */
/* READ_LONG jobs: beside the other readers, at one snapshot, with a time limit for each page. */
#include "fixture.h"
#include "store/sqlite.h"

TEST(long_reads_occupy_no_reader)
{
    struct fixture f;
    struct gate gates[STORE_LONG_READERS] = {0};
    struct step waiting = {0};
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    for (int i = 0; i < STORE_LONG_READERS; i++) {
        gate_submit(&f, &gates[i], STORE_READ_LONG);
        gate_wait_entered(&gates[i]);
    }
    EXPECT_EQ(fixture_count(&f), 1);
    step_submit(&f, &waiting, STORE_READ_LONG, count_notes);
    EXPECT_EQ(fixture_count(&f), 1);
    EXPECT(!step_is_done(&waiting)); /* all threads for long reads are in the gates */
    for (int i = 0; i < STORE_LONG_READERS; i++)
        gate_open(&gates[i]);
    for (int i = 0; i < STORE_LONG_READERS; i++)
        EXPECT_EQ(step_wait(&gates[i].step), OK);
    EXPECT_EQ(step_wait(&waiting), OK);
    EXPECT_EQ(waiting.number, 1);
    fixture_end(&f);
}

TEST(long_reads_run_while_all_readers_are_busy)
{
    struct fixture f;
    struct gate gates[3] = {0};
    struct step step = {0};
    fixture_begin(&f);
    for (int i = 0; i < 3; i++) {
        gate_submit(&f, &gates[i], STORE_READ);
        gate_wait_entered(&gates[i]);
    }
    step_submit(&f, &step, STORE_READ_LONG, count_notes);
    EXPECT_EQ(step_wait(&step), OK);
    for (int i = 0; i < 3; i++)
        gate_open(&gates[i]);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(step_wait(&gates[i].step), OK);
    fixture_end(&f);
}

struct snapshot {
    struct step step;
    sem_t counted, go_on;
};

static enum error count_around_a_pause(struct step *step, struct tx *tx)
{
    struct snapshot *s = CONTAINER_OF(step, struct snapshot, step);
    struct step before = {0}, after = {0};
    EXPECT_EQ(count_notes(&before, tx), OK);
    sem_post(&s->counted);
    while (sem_wait(&s->go_on) != 0) {
    }
    tx_extend(tx);
    EXPECT_EQ(count_notes(&after, tx), OK);
    EXPECT_EQ(before.number, after.number);
    return OK;
}

TEST(all_pages_of_a_long_read_are_of_one_moment)
{
    struct fixture f;
    struct snapshot s = {0};
    fixture_begin(&f);
    sem_init(&s.counted, 0, 0);
    sem_init(&s.go_on, 0, 0);
    step_submit(&f, &s.step, STORE_READ_LONG, count_around_a_pause);
    sem_wait(&s.counted);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    sem_post(&s.go_on);
    EXPECT_EQ(step_wait(&s.step), OK);
    EXPECT_EQ(fixture_count(&f), 1);
    fixture_end(&f);
}

/* --- The limit ------------------------------------------------------------------------------ */

static int64_t *limit_of(struct fixture *f)
{
    return &CONTAINER_OF(f->store, struct sqlite_store, base)->read_limit_us;
}

static enum error count_far(struct tx *tx)
{
    struct arena arena = ARENA_INIT(SIZE_MAX);
    struct query q;
    query_begin(&q, tx, &SQL_COUNT_FAR, &arena);
    enum error e = query_run(&q);
    arena_deinit(&arena);
    return e;
}

static enum error read_one_page(struct step *step, struct tx *tx)
{
    return count_far(tx);
}

/* The limit of the second page is another one, so that no speed of the machine matters. */
static enum error read_two_pages(struct step *step, struct tx *tx)
{
    *limit_of(step->f) = SQLITE_READ_LIMIT_US;
    tx_extend(tx);
    return count_far(tx);
}

TEST(a_page_that_takes_too_long_fails_the_job)
{
    struct fixture f;
    struct step step = {0}, next = {0};
    fixture_begin(&f);
    *limit_of(&f) = 0;
    step_submit(&f, &step, STORE_READ_LONG, read_one_page);
    EXPECT_EQ(step_wait(&step), ERR_UNAVAILABLE);
    *limit_of(&f) = SQLITE_READ_LIMIT_US;
    step_submit(&f, &next, STORE_READ_LONG, read_one_page);
    EXPECT_EQ(step_wait(&next), OK);
    fixture_end(&f);
}

TEST(each_page_has_the_whole_limit)
{
    struct fixture f;
    struct step step = {0};
    fixture_begin(&f);
    *limit_of(&f) = 0;
    step_submit(&f, &step, STORE_READ_LONG, read_two_pages);
    EXPECT_EQ(step_wait(&step), OK);
    fixture_end(&f);
}

TEST(long_reads_that_wait_are_completed_when_the_store_closes)
{
    struct fixture f;
    struct gate gates[STORE_LONG_READERS] = {0};
    struct step step = {0};
    fixture_begin(&f);
    for (int i = 0; i < STORE_LONG_READERS; i++) {
        gate_submit(&f, &gates[i], STORE_READ_LONG);
        gate_wait_entered(&gates[i]);
    }
    step_submit(&f, &step, STORE_READ_LONG, count_notes);
    for (int i = 0; i < STORE_LONG_READERS; i++)
        gate_open(&gates[i]);
    fixture_end(&f);
    EXPECT_EQ(step_wait(&step), OK);
}
