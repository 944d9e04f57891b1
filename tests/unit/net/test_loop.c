/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include "base/alloc.h"
#include "test.h"

enum { POSTERS = 4, POSTS = 5000 };

struct numbered_task {
    struct loop_task task;
    struct tally *tally;
    unsigned poster;
    unsigned number;
};

/* Touched by the loop's thread alone until it has stopped. */
struct tally {
    struct loop *loop;
    unsigned next[POSTERS];
    unsigned out_of_order;
    unsigned off_thread;
};

struct poster {
    struct tally *tally;
    unsigned index;
    uv_thread_t thread;
};

static void run_numbered(struct loop_task *task)
{
    struct numbered_task *t = CONTAINER_OF(task, struct numbered_task, task);
    struct tally *tally = t->tally;
    tally->out_of_order += t->number != tally->next[t->poster]++;
    tally->off_thread += !loop_is_current(tally->loop);
    mem_free(t);
}

static void post_many(void *arg)
{
    struct poster *p = arg;
    for (unsigned i = 0; i < POSTS; i++) {
        struct numbered_task *t = MEM_NEW(struct numbered_task);
        *t = (struct numbered_task){{NULL, run_numbered}, p->tally, p->index, i};
        loop_post(p->tally->loop, &t->task);
    }
}

TEST(tasks_of_many_threads_all_run_on_the_loop_in_the_order_of_posting)
{
    struct tally tally = {.loop = loop_create()};
    struct poster posters[POSTERS];
    loop_start(tally.loop);
    for (unsigned i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){.tally = &tally, .index = i};
        uv_thread_create(&posters[i].thread, post_many, &posters[i]);
    }
    for (unsigned i = 0; i < POSTERS; i++)
        uv_thread_join(&posters[i].thread);
    loop_stop(tally.loop);
    for (unsigned i = 0; i < POSTERS; i++)
        EXPECT_EQ(tally.next[i], POSTS);
    EXPECT_EQ(tally.out_of_order, 0);
    EXPECT_EQ(tally.off_thread, 0);
    loop_destroy(tally.loop);
}

TEST(what_was_posted_before_the_start_runs_after_it)
{
    struct tally tally = {.loop = loop_create()};
    struct poster early = {.tally = &tally};
    post_many(&early);
    EXPECT_EQ(tally.next[0], 0);
    loop_start(tally.loop);
    loop_stop(tally.loop);
    EXPECT_EQ(tally.next[0], POSTS);
    loop_destroy(tally.loop);
}

TEST(a_loop_that_was_never_started_can_be_destroyed)
{
    struct loop *loop = loop_create();
    EXPECT(!loop_is_current(loop));
    loop_stop(loop);
    loop_destroy(loop);
}
