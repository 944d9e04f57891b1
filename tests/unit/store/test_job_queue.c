/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_queue.h"

#include "base/clock.h"
#include "fixture.h"

enum { BIG_MS = 30 };

static struct store_job jobs[64];

static struct store_job *put(struct job_queue *q, size_t i, uint64_t flow)
{
    jobs[i] = (struct store_job){.flow = flow};
    EXPECT(job_queue_put(q, &jobs[i]));
    return &jobs[i];
}

/* Takes one job, which then uses this time; returns its number. */
static size_t serve(struct job_queue *q, int64_t used_us)
{
    struct store_job *job = job_queue_take(q, 1);
    job->used_us = used_us;
    job_queue_end(q, job);
    return (size_t)(job - jobs);
}

static size_t length(const struct store_job *list)
{
    size_t n = 0;
    for (; list != NULL; list = list->next)
        n++;
    return n;
}

TEST(jobs_of_one_flow_keep_their_order)
{
    struct job_queue q;
    job_queue_init(&q, 0);
    for (size_t i = 0; i < 10; i++)
        put(&q, i, 1);
    for (size_t i = 0; i < 10; i++)
        EXPECT_EQ(serve(&q, i == 3 ? 5000 : 10), i);
    job_queue_deinit(&q);
}

TEST(a_flow_with_one_job_does_not_wait_for_a_flow_with_many)
{
    struct job_queue q;
    job_queue_init(&q, 0);
    for (size_t i = 0; i < 20; i++)
        put(&q, i, 1);
    put(&q, 20, 2);
    struct store_job *batch = job_queue_take(&q, 4);
    EXPECT_EQ(length(batch), 4);
    bool has_other = false;
    for (struct store_job *job = batch; job != NULL; job = job->next)
        has_other = has_other || job->flow == 2;
    EXPECT(has_other);
    job_queue_end(&q, batch);
    while (job_queue_count(&q) > 0)
        serve(&q, 1);
    job_queue_deinit(&q);
}

TEST(flows_share_time_and_not_jobs)
{
    struct job_queue q;
    job_queue_init(&q, 0);
    size_t served[3] = {0};
    for (size_t i = 0; i < 60; i++)
        put(&q, i, i < 10 ? 1 : 2);
    for (size_t i = 0; i < 44; i++) {
        struct store_job *job = job_queue_take(&q, 1);
        job->used_us = job->flow == 1 ? 10000 : 1000;
        served[job->flow]++;
        job_queue_end(&q, job);
    }
    EXPECT(served[1] >= 3 && served[1] <= 6);
    while (job_queue_count(&q) > 0)
        serve(&q, 1000);
    job_queue_deinit(&q);
}

TEST(a_long_job_is_taken_alone_while_others_wait)
{
    struct job_queue q;
    job_queue_init(&q, 0);
    for (size_t i = 0; i < 8; i++) { /* the average of flow 1 rises above the time of a batch */
        put(&q, i, 1);
        serve(&q, 10 * JOB_QUEUE_BATCH_US);
    }
    put(&q, 0, 1);
    put(&q, 1, 1);
    struct store_job *batch = job_queue_take(&q, 8); /* another flow may come while they run */
    EXPECT_EQ(length(batch), 1);
    job_queue_return(&q, batch);
    put(&q, 2, 2);
    for (uint64_t flow = 1; flow != 2;) {
        batch = job_queue_take(&q, 8);
        EXPECT_EQ(length(batch), 1);
        flow = batch->flow;
        batch->used_us = 10 * JOB_QUEUE_BATCH_US;
        job_queue_end(&q, batch);
    }
    EXPECT_EQ(job_queue_count(&q), 1); /* flow 2 waited for one job of flow 1 */
    serve(&q, 1);
    job_queue_deinit(&q);
}

TEST(the_time_of_a_batch_is_longer_while_only_one_flow_has_jobs)
{
    enum { HALF_US = JOB_QUEUE_BATCH_US * 6 / 10 };
    struct job_queue q;
    job_queue_init(&q, 0);
    for (size_t i = 0; i < 32; i++) { /* until the average is close */
        put(&q, i, 1);
        serve(&q, HALF_US);
    }
    for (size_t i = 0; i < 8; i++)
        put(&q, i, 1);
    struct store_job *batch = job_queue_take(&q, 8);
    EXPECT_EQ(length(batch), JOB_QUEUE_LONE_BATCH_US / HALF_US);
    EXPECT(!job_queue_is_used_up(&q, JOB_QUEUE_LONE_BATCH_US - 1));
    EXPECT(job_queue_is_used_up(&q, JOB_QUEUE_LONE_BATCH_US));
    job_queue_return(&q, batch);
    put(&q, 8, 2);
    EXPECT(!job_queue_is_used_up(&q, JOB_QUEUE_BATCH_US - 1));
    EXPECT(job_queue_is_used_up(&q, JOB_QUEUE_BATCH_US));
    batch = job_queue_take(&q, 8);
    EXPECT_EQ(length(batch), 2); /* one of each flow: a second one of flow 1 would be too long */
    job_queue_end(&q, batch);
    while (job_queue_count(&q) > 0)
        serve(&q, 1);
    job_queue_deinit(&q);
}

TEST(a_flow_uses_its_share_of_the_threads)
{
    struct job_queue q;
    job_queue_init(&q, 2);
    for (size_t i = 0; i < 4; i++)
        put(&q, i, 1);
    put(&q, 4, 2);
    struct store_job *taken = job_queue_take(&q, 8);
    EXPECT_EQ(length(taken), 3); /* two of flow 1, one of flow 2 */
    EXPECT_EQ(job_queue_count(&q), 2);
    job_queue_end(&q, taken);
    taken = job_queue_take(&q, 8);
    EXPECT_EQ(length(taken), 2);
    job_queue_end(&q, taken);
    for (size_t i = 0; i < 4; i++) /* Cairn's own work has no limit */
        put(&q, i, 0);
    taken = job_queue_take(&q, 8);
    EXPECT_EQ(length(taken), 4);
    job_queue_end(&q, taken);
    job_queue_deinit(&q);
}

TEST(jobs_that_are_returned_keep_their_place)
{
    struct job_queue q;
    job_queue_init(&q, 0);
    for (size_t i = 0; i < 6; i++)
        put(&q, i, 1);
    struct store_job *batch = job_queue_take(&q, 4), *rest = batch->next;
    batch->next = NULL;
    job_queue_end(&q, batch);
    job_queue_close(&q); /* they still run */
    job_queue_return(&q, rest);
    for (size_t i = 1; i < 6; i++)
        EXPECT_EQ(serve(&q, 1), i);
    EXPECT(job_queue_take(&q, 1) == NULL);
    EXPECT(!job_queue_put(&q, &jobs[0]));
    job_queue_deinit(&q);
}

TEST(a_job_that_is_put_back_is_behind_its_flow)
{
    struct job_queue q;
    job_queue_init(&q, 0);
    for (size_t i = 0; i < 3; i++)
        put(&q, i, 1);
    struct store_job *first = job_queue_take(&q, 1);
    job_queue_put_back(&q, first);
    EXPECT_EQ(serve(&q, 1), 1);
    EXPECT_EQ(serve(&q, 1), 2);
    EXPECT_EQ(serve(&q, 1), 0);
    job_queue_deinit(&q);
}

static void *close_queue(void *data)
{
    job_queue_close(data);
    return NULL;
}

TEST(a_wait_ends_with_a_job_with_the_end_of_the_queue_or_with_its_time)
{
    enum { LONG_US = 60 * 1000 * 1000 };
    struct job_queue q;
    pthread_t thread;
    job_queue_init(&q, 0);
    EXPECT(!job_queue_wait(&q, 1000));
    put(&q, 0, 1);
    EXPECT(job_queue_wait(&q, 0));
    EXPECT(job_queue_wait(&q, LONG_US));
    EXPECT_EQ(job_queue_count(&q), 1);
    serve(&q, 1);
    int64_t start_us = clock_steady_us();
    EXPECT_EQ(pthread_create(&thread, NULL, close_queue, &q), 0);
    EXPECT(job_queue_wait(&q, LONG_US));
    EXPECT(clock_steady_us() - start_us < LONG_US);
    pthread_join(thread, NULL);
    job_queue_deinit(&q);
}

TEST(debt_is_limited_and_idle_flows_save_nothing_up)
{
    struct job_queue q;
    job_queue_init(&q, 0);
    put(&q, 0, 1);
    serve(&q, (int64_t)3600 * 1000 * 1000); /* an hour: flow 1 owes a second */
    put(&q, 0, 1);
    size_t turns = 0;
    for (;; turns++) {
        put(&q, 1, 2);
        if (serve(&q, 100 * 1000) == 0)
            break;
    }
    EXPECT(turns >= 9 && turns <= 12);
    while (job_queue_count(&q) > 0)
        serve(&q, 1);
    /* Flow 3 was idle all the time; flow 2 still has every second turn. */
    for (size_t i = 0; i < 20; i++)
        put(&q, i, i % 2 == 0 ? 2 : 3);
    size_t of_2 = 0;
    for (size_t i = 0; i < 10; i++)
        of_2 += jobs[serve(&q, 1000)].flow == 2;
    EXPECT(of_2 >= 4 && of_2 <= 6);
    while (job_queue_count(&q) > 0)
        serve(&q, 1);
    job_queue_deinit(&q);
}

TEST(many_flows_are_served_in_turn)
{
    enum { FLOWS = 1000 };
    static struct store_job many[FLOWS][2];
    struct job_queue q;
    job_queue_init(&q, 0);
    for (size_t turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < FLOWS; i++) {
            many[i][turn] = (struct store_job){.flow = i + 1};
            EXPECT(job_queue_put(&q, &many[i][turn]));
        }
    for (size_t turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < FLOWS; i++) {
            struct store_job *job = job_queue_take(&q, 1);
            EXPECT(job == &many[job->flow - 1][turn]);
            job->used_us = 100;
            job_queue_end(&q, job);
        }
    job_queue_deinit(&q);
}

/* --- The writer ----------------------------------------------------------------------------- */

/* Uses more time than a batch has. */
static enum error add_slowly(struct step *step, struct tx *tx)
{
    int64_t end_us = clock_steady_us() + BIG_MS * 1000;
    while (clock_steady_us() < end_us) {
    }
    return add_note(step, tx);
}

TEST(a_batch_ends_with_a_long_job_if_another_flow_waits)
{
    struct fixture f;
    struct gate gate = {0};
    struct step slow[3] = {0}, small = {0};
    fixture_begin(&f);
    gate_shut(&f, &gate);
    small.flow = 2;
    for (size_t i = 0; i < COUNT_OF(slow); i++) {
        slow[i].flow = 1;
        slow[i].key = id_of(1);
        step_submit(&f, &slow[i], STORE_WRITE, add_slowly);
    }
    step_submit(&f, &small, STORE_WRITE, add_note);
    uint64_t before = store_stats(f.store).commits;
    gate_open(&gate);
    for (size_t i = 0; i < COUNT_OF(slow); i++)
        EXPECT_EQ(step_wait(&slow[i]), OK);
    EXPECT_EQ(step_wait(&small), OK);
    /* The gate; one slow job; the small one at the latest with the next; the rest. */
    EXPECT(store_stats(f.store).commits - before >= 3);
    for (size_t i = 0; i < COUNT_OF(slow); i++)
        EXPECT_EQ(slow[i].number, i + 1);
    expect_gapless(&f, id_of(1), COUNT_OF(slow));
    step_wait(&gate.step);
    fixture_end(&f);
}

TEST(a_reader_remains_for_other_flows)
{
    struct fixture f;
    fixture_begin(&f);
    struct gate gates[4] = {0};
    struct step small = {.flow = 2};
    for (size_t i = 0; i < COUNT_OF(gates); i++) { /* more than there are readers */
        gates[i].step.flow = 1;
        gate_submit(&f, &gates[i], STORE_READ);
    }
    gate_wait_entered(&gates[0]);
    step_submit(&f, &small, STORE_READ, count_notes);
    EXPECT_EQ(step_wait(&small), OK);
    for (size_t i = 0; i < COUNT_OF(gates); i++)
        gate_open(&gates[i]);
    for (size_t i = 0; i < COUNT_OF(gates); i++)
        step_wait(&gates[i].step);
    fixture_end(&f);
}
