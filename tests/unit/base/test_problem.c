/* SPDX-License-Identifier: Apache-2.0 */
#include "base/problem.h"
#include "test.h"

TEST(a_problem_keeps_its_code_and_detail)
{
    CLEANUP(arena_deinit) struct arena a;
    struct problem p;
    arena_init(&a, 100000);
    problem_init(&p, &a);
    EXPECT_EQ(p.code, OK);
    EXPECT_EQ(problem_set(&p, ERR_NOT_FOUND, "no thread %d", 7), ERR_NOT_FOUND);
    EXPECT_EQ(p.code, ERR_NOT_FOUND);
    EXPECT_STR(p.detail, STR("no thread 7"));
}

TEST(faults_keep_a_copy_of_their_pointer)
{
    CLEANUP(arena_deinit) struct arena a;
    struct problem p;
    arena_init(&a, 100000);
    problem_init(&p, &a);
    char pointer[] = "/name";
    EXPECT_EQ(problem_fault(&p, str_of(pointer), "must be %s", "short"), ERR_INVALID);
    pointer[1] = 'x';
    EXPECT_EQ(p.n_faults, 1);
    EXPECT_STR(p.faults[0].pointer, STR("/name"));
    EXPECT_STR(p.faults[0].detail, STR("must be short"));
}

TEST(faults_past_the_maximum_are_counted_and_not_kept)
{
    CLEANUP(arena_deinit) struct arena a;
    struct problem p;
    arena_init(&a, 100000);
    problem_init(&p, &a);
    for (int i = 0; i < PROBLEM_MAX_FAULTS + 5; i++)
        problem_fault(&p, STR("/x"), "fault %d", i);
    EXPECT_EQ(p.n_faults, PROBLEM_MAX_FAULTS);
    EXPECT_EQ(p.n_faults_untold, 5);
    EXPECT_STR(p.faults[PROBLEM_MAX_FAULTS - 1].detail, STR("fault 31"));
}
