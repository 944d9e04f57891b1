/* SPDX-License-Identifier: Apache-2.0 */
#include "net/deadlines.h"
#include "test.h"

static struct deadlines wheel;
static unsigned served;
static struct deadline *last_served, *cleared_meanwhile;

static void on_due(struct deadline *d)
{
    served++;
    last_served = d;
    if (cleared_meanwhile != NULL)
        deadline_clear(&wheel, cleared_meanwhile);
}

static void begin(uint64_t now_ms)
{
    deadlines_init(&wheel, now_ms);
    served = 0;
    last_served = cleared_meanwhile = NULL;
}

TEST(a_deadline_is_met_soon_after_it_has_passed_and_never_before)
{
    begin(5000);
    struct deadline d = {0};
    deadline_set(&wheel, &d, 5450);
    for (uint64_t now = 5000; now < 5450; now += 7) {
        deadlines_serve(&wheel, now, on_due);
        EXPECT_EQ(served, 0);
    }
    deadlines_serve(&wheel, 5450 + 2 * DEADLINES_TICK_MS, on_due);
    EXPECT_EQ(served, 1);
    EXPECT(last_served == &d);
    EXPECT_EQ(wheel.count, 0);
}

TEST(a_deadline_that_is_put_off_is_met_at_the_later_time)
{
    begin(0);
    struct deadline d = {0};
    deadline_set(&wheel, &d, 300);
    deadline_set(&wheel, &d, 900);
    deadlines_serve(&wheel, 800, on_due);
    EXPECT_EQ(served, 0);
    deadlines_serve(&wheel, 1100, on_due);
    EXPECT_EQ(served, 1);
}

TEST(a_deadline_that_is_brought_forward_is_met_at_the_earlier_time)
{
    begin(0);
    struct deadline d = {0};
    deadline_set(&wheel, &d, 20000);
    deadline_set(&wheel, &d, 300);
    EXPECT_EQ(wheel.count, 1);
    deadlines_serve(&wheel, 500, on_due);
    EXPECT_EQ(served, 1);
}

TEST(a_deadline_beyond_the_wheel_is_met_in_its_own_time)
{
    begin(0);
    struct deadline d = {0};
    uint64_t far_ms = 10ull * DEADLINES_SLOTS * DEADLINES_TICK_MS + 50;
    deadline_set(&wheel, &d, far_ms);
    for (uint64_t now = 0; now < far_ms; now += 5000)
        deadlines_serve(&wheel, now, on_due);
    EXPECT_EQ(served, 0);
    deadlines_serve(&wheel, far_ms + 2 * DEADLINES_TICK_MS, on_due);
    EXPECT_EQ(served, 1);
}

TEST(a_wheel_that_slept_long_meets_every_deadline_once)
{
    begin(0);
    struct deadline many[50] = {0};
    for (size_t i = 0; i < COUNT_OF(many); i++)
        deadline_set(&wheel, &many[i], 100 + i * 3000);
    deadlines_serve(&wheel, 100000000, on_due);
    EXPECT_EQ(served, COUNT_OF(many));
    EXPECT_EQ(wheel.count, 0);
}

TEST(a_deadline_that_is_lifted_is_not_met_and_may_be_set_again)
{
    begin(0);
    struct deadline d = {0};
    deadline_set(&wheel, &d, 300);
    deadline_set(&wheel, &d, DEADLINE_NEVER);
    deadlines_serve(&wheel, 1000, on_due);
    EXPECT_EQ(served, 0);
    EXPECT_EQ(wheel.count, 0);
    deadlines_catch_up(&wheel, 900000);
    deadline_set(&wheel, &d, 900300);
    deadlines_serve(&wheel, 900200, on_due);
    EXPECT_EQ(served, 0);
    deadlines_serve(&wheel, 900500, on_due);
    EXPECT_EQ(served, 1);
}

TEST(a_deadline_may_be_cleared_while_its_slot_is_served)
{
    begin(0);
    struct deadline a = {0}, b = {0};
    deadline_set(&wheel, &a, 300);
    deadline_set(&wheel, &b, 300);
    cleared_meanwhile = &b;
    deadlines_serve(&wheel, 1000, on_due);
    EXPECT_EQ(served, 1);
    EXPECT(last_served == &a);
    EXPECT_EQ(wheel.count, 0);
}
