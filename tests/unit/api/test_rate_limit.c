/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/rate_limit.h"

#include "test.h"

static const int64_t MINUTE = 60000000;
static const int64_t START = 1700000000000000;

static struct uuid key_of(uint64_t n)
{
    return uuid_v7_from(5, 5, n);
}

TEST(a_key_may_spend_a_minutes_worth_at_once_and_no_more)
{
    struct rate_limiter *r = rate_limiter_create();
    for (int64_t left = 9; left >= 0; left--) {
        struct rate_verdict v = rate_limiter_take(r, key_of(1), rate_per_minute(10), START);
        EXPECT(v.allowed);
        EXPECT_EQ(v.limit, 10);
        EXPECT_EQ(v.remaining, left);
    }
    struct rate_verdict v = rate_limiter_take(r, key_of(1), rate_per_minute(10), START);
    EXPECT(!v.allowed);
    EXPECT_EQ(v.remaining, 0);
    EXPECT_EQ(v.reset_s, 6); /* one tenth of a minute */
    rate_limiter_destroy(r);
}

TEST(tokens_come_back_evenly)
{
    struct rate_limiter *r = rate_limiter_create();
    for (int i = 0; i < 10; i++)
        EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(10), START).allowed);
    EXPECT(!rate_limiter_take(r, key_of(1), rate_per_minute(10), START + 5999999).allowed);
    EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(10), START + 6000000).allowed);
    EXPECT(!rate_limiter_take(r, key_of(1), rate_per_minute(10), START + 6000000).allowed);
    /* A refused request costs nothing. */
    EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(10), START + 12000000).allowed);
    rate_limiter_destroy(r);
}

TEST(a_bucket_never_holds_more_than_a_minute)
{
    struct rate_limiter *r = rate_limiter_create();
    EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(3), START).allowed);
    for (int i = 0; i < 3; i++)
        EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(3), START + 100 * MINUTE).allowed);
    EXPECT(!rate_limiter_take(r, key_of(1), rate_per_minute(3), START + 100 * MINUTE).allowed);
    rate_limiter_destroy(r);
}

TEST(in_any_minute_the_limit_is_kept_up_to_one_buckets_worth)
{
    struct rate_limiter *r = rate_limiter_create();
    int allowed = 0;
    for (int64_t t = 0; t < 10 * MINUTE; t += 100000)
        allowed += rate_limiter_take(r, key_of(1), rate_per_minute(30), START + t).allowed;
    EXPECT(allowed >= 30 * 10);
    EXPECT(allowed <= 30 * 11);
    rate_limiter_destroy(r);
}

TEST(keys_have_buckets_of_their_own)
{
    struct rate_limiter *r = rate_limiter_create();
    EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(1), START).allowed);
    EXPECT(!rate_limiter_take(r, key_of(1), rate_per_minute(1), START).allowed);
    EXPECT(rate_limiter_take(r, key_of(2), rate_per_minute(1), START).allowed);
    rate_limiter_destroy(r);
}

TEST(the_smallest_and_the_greatest_limit_work)
{
    struct rate_limiter *r = rate_limiter_create();
    struct rate_verdict v = rate_limiter_take(r, key_of(1), rate_per_minute(1), START);
    EXPECT(v.allowed);
    EXPECT_EQ(v.remaining, 0);
    EXPECT_EQ(v.reset_s, 60);
    v = rate_limiter_take(r, key_of(1), rate_per_minute(1), START + MINUTE - 1);
    EXPECT(!v.allowed);
    EXPECT_EQ(v.reset_s, 1);
    v = rate_limiter_take(r, key_of(2), rate_per_minute(1000000), START);
    EXPECT(v.allowed);
    EXPECT_EQ(v.remaining, 999999);
    rate_limiter_destroy(r);
}

TEST(what_remains_is_never_more_than_the_limit)
{
    static const int64_t limits[] = {1, 2, 7, 60, 61, 1000, 59999, 333333, 700001, 999999, 1000000};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct rate_limiter *r = rate_limiter_create();
        struct rate_verdict v = rate_limiter_take(r, key_of(1), rate_per_minute(limits[i]), START);
        if (v.remaining != limits[i] - 1)
            test_fail(
                __FILE__, __LINE__, "of %d a minute %d remain", (int)limits[i], (int)v.remaining);
        rate_limiter_destroy(r);
    }
}

TEST(a_clock_that_steps_back_neither_gives_nor_takes_tokens)
{
    struct rate_limiter *r = rate_limiter_create();
    for (int i = 0; i < 10; i++)
        EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(10), START).allowed);
    EXPECT(!rate_limiter_take(r, key_of(1), rate_per_minute(10), START - MINUTE).allowed);
    EXPECT(rate_limiter_take(r, key_of(1), rate_per_minute(10), START - MINUTE + 6000000).allowed);
    rate_limiter_destroy(r);
}

TEST(more_keys_than_there_are_buckets_do_not_lock_anybody_out)
{
    struct rate_limiter *r = rate_limiter_create();
    for (uint64_t n = 0; n < 20000; n++)
        EXPECT(rate_limiter_take(r, key_of(n), rate_per_minute(1), START + (int64_t)n).allowed);
    rate_limiter_destroy(r);
}

TEST(a_rate_per_second_allows_twice_as_many_in_a_burst)
{
    struct rate_limiter *r = rate_limiter_create();
    for (int i = 0; i < 6; i++)
        EXPECT(rate_limiter_take(r, key_of(1), rate_per_second(3), START).allowed);
    struct rate_verdict v = rate_limiter_take(r, key_of(1), rate_per_second(3), START);
    EXPECT(!v.allowed);
    EXPECT_EQ(v.reset_s, 1);
    for (int i = 0; i < 3; i++)
        EXPECT(rate_limiter_take(r, key_of(1), rate_per_second(3), START + 1000000).allowed);
    EXPECT(!rate_limiter_take(r, key_of(1), rate_per_second(3), START + 1000000).allowed);
    EXPECT(!rate_limiter_take(r, key_of(2), rate_per_second(0), START).allowed);
    EXPECT(rate_limiter_take(r, key_of(3), rate_per_second(INT64_C(1) << 53), START).allowed);
    rate_limiter_destroy(r);
}
