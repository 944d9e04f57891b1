/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

TEST(absent_differs_from_empty_though_both_have_no_bytes)
{
    EXPECT(str_is_none(STR_NONE));
    EXPECT(!str_is_none(STR("")));
    EXPECT(str_is_none(str_of(NULL)));
    EXPECT_EQ(str_of("abc").len, 3);
}

TEST(slices_are_clipped_to_the_string)
{
    EXPECT_STR(str_slice(STR("abcdef"), 2, 4), STR("cd"));
    EXPECT_STR(str_slice(STR("abcdef"), 4, 99), STR("ef"));
    EXPECT_STR(str_slice(STR("abcdef"), 99, 100), STR(""));
    EXPECT_STR(str_slice(STR("abcdef"), 4, 2), STR(""));
    EXPECT(str_is_none(str_slice(STR_NONE, 0, 5)));
}

TEST(trimming_takes_spaces_and_tabs_but_no_newlines)
{
    EXPECT_STR(str_trim_blanks(STR(" \t a b\t ")), STR("a b"));
    EXPECT_STR(str_trim_blanks(STR(" \t ")), STR(""));
    EXPECT_STR(str_trim_blanks(STR(" \na")), STR("\na"));
}

TEST(comparison_goes_byte_by_byte_and_then_by_length)
{
    EXPECT(str_eq(STR("a\0b"), STR("a\0b")));
    EXPECT(!str_eq(STR("a\0b"), STR("a\0c")));
    EXPECT(str_eq_nocase(STR("Content-Type"), STR("content-tYPE")));
    EXPECT(!str_eq_nocase(STR("ab"), STR("abc")));
    EXPECT(str_cmp(STR("ab"), STR("abc")) < 0);
    EXPECT(str_cmp(STR("b"), STR("abc")) > 0);
    EXPECT(str_cmp(STR("\xff"), STR("a")) > 0);
    EXPECT_EQ(str_cmp(STR(""), STR_NONE), 0);
}

TEST(a_prefix_may_be_the_whole_but_not_longer)
{
    EXPECT(str_starts_with(STR("abc"), STR("")));
    EXPECT(str_starts_with(STR("abc"), STR("abc")));
    EXPECT(!str_starts_with(STR("abc"), STR("abcd")));
    EXPECT(str_ends_with(STR("abc"), STR("")));
    EXPECT(str_ends_with(STR("abc"), STR("bc")));
    EXPECT(!str_ends_with(STR("abc"), STR("ab")));
    EXPECT(!str_ends_with(STR("abc"), STR("xabc")));
}

TEST(a_byte_that_does_not_occur_is_found_at_the_end)
{
    EXPECT_EQ(str_find(STR("a,b,c"), ','), 1);
    EXPECT_EQ(str_find(STR("abc"), ','), 3);
    EXPECT_EQ(str_find(STR_NONE, ','), 0);
    EXPECT(str_has_byte(STR("a\0b"), '\0'));
    EXPECT(!str_has_byte(STR("ab"), '\0'));
}

TEST(parts_between_separators_come_one_by_one_empty_ones_too)
{
    struct str rest = STR("a,,b,"), part;
    const struct str expected[] = {STR("a"), STR(""), STR("b"), STR("")};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        EXPECT(str_next_part(&rest, ',', &part));
        EXPECT_STR(part, expected[i]);
    }
    EXPECT(!str_next_part(&rest, ',', &part));
}

TEST(unsigned_integers_parse_up_to_their_limit_and_no_further)
{
    uint64_t value = 7;
    EXPECT(str_to_u64(STR("0"), &value) && value == 0);
    EXPECT(str_to_u64(STR("18446744073709551615"), &value) && value == UINT64_MAX);
    value = 7;
    const struct str refused[] = {STR(""), STR("18446744073709551616"), STR("99999999999999999999"),
        STR("100000000000000000000"), STR("00"), STR("01"), STR("-1"), STR("+1"), STR(" 1"),
        STR("1 "), STR("1a"), STR("0x1"), STR_NONE};
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (str_to_u64(refused[i], &value))
            test_fail(__FILE__, __LINE__, "\"%.*s\" was accepted", STR_ARG(refused[i]));
    EXPECT_EQ(value, 7);
}

TEST(signed_integers_parse_up_to_both_limits_and_no_further)
{
    int64_t value = 7;
    EXPECT(str_to_i64(STR("-9223372036854775808"), &value) && value == INT64_MIN);
    EXPECT(str_to_i64(STR("9223372036854775807"), &value) && value == INT64_MAX);
    EXPECT(str_to_i64(STR("-1"), &value) && value == -1);
    value = 7;
    EXPECT(!str_to_i64(STR("9223372036854775808"), &value));
    EXPECT(!str_to_i64(STR("-9223372036854775809"), &value));
    EXPECT(!str_to_i64(STR("-"), &value));
    EXPECT(!str_to_i64(STR("--1"), &value));
    EXPECT(!str_to_i64(STR("-01"), &value));
    EXPECT(!str_to_i64(STR("-0"), &value));
    EXPECT_EQ(value, 7);
}

TEST(utf8_is_checked_at_the_borders_of_every_length)
{
    const struct str good[] = {STR(""), STR("\x7f"), STR("\xc2\x80"), STR("\xdf\xbf"),
        STR("\xe0\xa0\x80"), STR("\xed\x9f\xbf"), STR("\xee\x80\x80"), STR("\xef\xbf\xbf"),
        STR("\xf0\x90\x80\x80"), STR("\xf4\x8f\xbf\xbf"), STR("a\0b")};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (!str_is_utf8(good[i]))
            test_fail(__FILE__, __LINE__, "good[%zu] was refused", i);
    const struct str bad[] = {STR("\x80"), STR("\xbf"), STR("\xc0\x80"), STR("\xc1\xbf"),
        STR("\xc2"), STR("\xc2\x41"), STR("\xe0\x9f\xbf"), STR("\xe0\xa0"), STR("\xed\xa0\x80"),
        STR("\xed\xbf\xbf"), STR("\xf0\x8f\xbf\xbf"), STR("\xf0\x90\x80"), STR("\xf4\x90\x80\x80"),
        STR("\xf5\x80\x80\x80"), STR("\xfe"), STR("\xff"), STR("a\xe2\x82"), STR("\xe2\x28\xa1")};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (str_is_utf8(bad[i]))
            test_fail(__FILE__, __LINE__, "bad[%zu] was accepted", i);
}
