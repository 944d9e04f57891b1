/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "test.h"

static struct str formatted(int64_t unix_us, char out_text[CLOCK_TEXT_LEN])
{
    clock_format(unix_us, out_text);
    return (struct str){out_text, CLOCK_TEXT_LEN};
}

/* clang-format off */
static const struct {
    struct str text;
    int64_t unix_us;
} same_time[] = {
    {STR("1970-01-01T00:00:00.000000Z"),                   0},
    {STR("1969-12-31T23:59:59.999999Z"),                  -1},
    {STR("1985-04-12T23:20:50.520000Z"),    482196050520000},
    {STR("2000-02-29T00:00:00.000000Z"),    951782400000000},
    {STR("2000-03-01T00:00:00.000000Z"),    951868800000000},
    {STR("1900-02-28T23:59:59.000000Z"),  -2203891201000000},
    {STR("1900-03-01T00:00:00.000000Z"),  -2203891200000000},
    {STR("2024-02-29T12:00:00.000001Z"),   1709208000000001},
    {STR("2038-01-19T03:14:08.000000Z"),   2147483648000000},
    {STR("2100-03-01T00:00:00.000000Z"),   4107542400000000},
    {STR("0000-01-01T00:00:00.000000Z"), -62167219200000000},
    {STR("0000-03-01T00:00:00.000000Z"), -62162035200000000},
    {STR("9999-12-31T23:59:59.999999Z"), 253402300799999999},
};
/* clang-format on */

TEST(times_format_and_parse_to_each_other)
{
    for (size_t i = 0; i < COUNT_OF(same_time); i++) {
        char text[CLOCK_TEXT_LEN];
        int64_t parsed = 0;
        EXPECT_STR(formatted(same_time[i].unix_us, text), same_time[i].text);
        EXPECT(clock_parse(same_time[i].text, &parsed));
        EXPECT_EQ(parsed, same_time[i].unix_us);
    }
}

TEST(every_day_of_four_centuries_formats_and_parses_to_itself)
{
    const int64_t day_us = INT64_C(86400000000);
    for (int64_t day = -25567; day < 146097 - 25567; day++) {
        char text[CLOCK_TEXT_LEN];
        int64_t parsed = 0;
        if (!clock_parse(formatted(day * day_us, text), &parsed) || parsed != day * day_us) {
            test_fail(__FILE__, __LINE__, "day %" PRId64 " became %.27s", day, text);
            return;
        }
    }
}

TEST(examples_of_rfc_3339_parse)
{
    int64_t a = 0, b = 0;
    EXPECT(clock_parse(STR("1985-04-12T23:20:50.52Z"), &a));
    EXPECT_EQ(a, 482196050520000);
    EXPECT(clock_parse(STR("1996-12-19T16:39:57-08:00"), &a));
    EXPECT(clock_parse(STR("1996-12-20T00:39:57Z"), &b));
    EXPECT_EQ(a, b);
    EXPECT(clock_parse(STR("1990-12-31T23:59:60Z"), &a));
    EXPECT(clock_parse(STR("1990-12-31T15:59:60-08:00"), &b));
    EXPECT_EQ(a, b);
    EXPECT(clock_parse(STR("1937-01-01T12:00:27.87+00:20"), &a));
    EXPECT_EQ(a, -1041337172130000);
}

TEST(a_leap_second_counts_as_the_second_after_it)
{
    int64_t leap = 0, next = 0;
    EXPECT(clock_parse(STR("2016-12-31T23:59:60.25Z"), &leap));
    EXPECT(clock_parse(STR("2017-01-01T00:00:00.25Z"), &next));
    EXPECT_EQ(leap, next);
    EXPECT(clock_parse(STR("2015-06-30T23:59:60Z"), &leap));
}

TEST(decimals_past_six_are_cut)
{
    int64_t us = 0;
    EXPECT(clock_parse(STR("1970-01-01T00:00:00.123456789Z"), &us));
    EXPECT_EQ(us, 123456);
    EXPECT(clock_parse(STR("1970-01-01T00:00:00.1Z"), &us));
    EXPECT_EQ(us, 100000);
    EXPECT(clock_parse(STR("1969-12-31T23:59:59.9999999Z"), &us));
    EXPECT_EQ(us, -1);
}

TEST(letters_may_be_small_and_the_offset_unknown)
{
    int64_t us = 0;
    EXPECT(clock_parse(STR("1970-01-01t00:00:01z"), &us));
    EXPECT_EQ(us, 1000000);
    EXPECT(clock_parse(STR("1970-01-01T00:00:01-00:00"), &us));
    EXPECT_EQ(us, 1000000);
    EXPECT(clock_parse(STR("1970-01-01T23:59:00+23:59"), &us));
    EXPECT_EQ(us, 0);
}

TEST(times_that_are_none_are_refused)
{
    const struct str refused[] = {STR(""), STR("2026"), STR("2026-01-01"),
        STR("2026-01-01T00:00:00"), STR("2026-01-01T00:00Z"), STR("2026-01-01 00:00:00Z"),
        STR("2026-1-01T00:00:00Z"), STR("26-01-01T00:00:00Z"), STR("2026-00-01T00:00:00Z"),
        STR("2026-13-01T00:00:00Z"), STR("2026-01-00T00:00:00Z"), STR("2026-01-32T00:00:00Z"),
        STR("2026-04-31T00:00:00Z"), STR("2026-02-29T00:00:00Z"), STR("1900-02-29T00:00:00Z"),
        STR("2024-02-30T00:00:00Z"), STR("2026-01-01T24:00:00Z"), STR("2026-01-01T00:60:00Z"),
        STR("2026-01-01T00:00:61Z"), STR("2026-01-01T00:00:60Z"), STR("2026-01-01T23:59:60Z"),
        STR("2016-12-31T23:59:60+01:00"), STR("2026-01-01T00:00:00."), STR("2026-01-01T00:00:00.Z"),
        STR("2026-01-01T00:00:00,5Z"), STR("2026-01-01T00:00:00.0123456789Z"),
        STR("2026-01-01T00:00:00+0100"), STR("2026-01-01T00:00:00+01"),
        STR("2026-01-01T00:00:00+24:00"), STR("2026-01-01T00:00:00+01:60"),
        STR("2026-01-01T00:00:00 +01:00"), STR("2026-01-01T00:00:00Z "),
        STR(" 2026-01-01T00:00:00Z"), STR("2026-01-01T00:00:00ZZ"), STR("+2026-01-01T00:00:00Z"),
        STR("-026-01-01T00:00:00Z"), STR("2026-01-01T00:00:-1Z"), STR("0000-01-01T00:00:00+00:01"),
        STR("9999-12-31T23:59:59-00:01"), STR_NONE};
    int64_t us = 42;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (clock_parse(refused[i], &us))
            test_fail(__FILE__, __LINE__, "\"%.*s\" was accepted", STR_ARG(refused[i]));
    EXPECT_EQ(us, 42);
}

TEST(the_clocks_tell_plausible_times_and_go_forward)
{
    int64_t wall = clock_wall_us(), lease = clock_lease_us(), steady = clock_steady_us();
    EXPECT(wall > INT64_C(1600000000) * 1000000);
    EXPECT(lease > wall - 60 * 1000000 && lease < wall + 60 * 1000000);
    EXPECT(clock_steady_us() >= steady);
    EXPECT(clock_lease_us() >= lease);
}
