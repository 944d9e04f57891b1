/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_number.h"
#include "test.h"

TEST(numbers_are_in_the_order_of_their_exact_values)
{
    static const char *const ascending[] = {"-1e99999999999999999999", "-1e400", "-100", "-99.5",
        "-1e-99999999999999999999", "0", "1e-99999999999999999999", "1e-400", "0.1",
        "0.1000000000000000000000000000001", "1", "1.0000000000000000000001", "9007199254740992",
        "9007199254740993", "1e400", "1.1e400", "1e99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(ascending); i++) {
        for (size_t j = 0; j < COUNT_OF(ascending); j++) {
            int order = json_number_cmp(str_of(ascending[i]), str_of(ascending[j]));
            if ((order > 0) != (i > j) || (order < 0) != (i < j))
                test_fail(
                    __FILE__, __LINE__, "%s against %s: %d", ascending[i], ascending[j], order);
        }
    }
}

TEST(numbers_of_one_value_are_equal_however_they_are_written)
{
    static const char *const same[][2] = {{"1", "1.0"}, {"100", "1e2"}, {"0.5", "5e-1"},
        {"-0", "0.0e5"}, {"120", "1.20E+2"}, {"0.00120", "12e-4"}};
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 100000);
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct str x = str_of(same[i][0]), y = str_of(same[i][1]);
        EXPECT_EQ(json_number_cmp(x, y), 0);
        EXPECT_STR(json_number_canonical(&a, x), json_number_canonical(&a, y));
    }
}

TEST(integers_are_told_by_value_not_by_form)
{
    static const char *const integers[] = {"0", "-0.0", "1", "1.0", "1.5e1", "1e400", "-7e0"};
    static const char *const others[] = {"0.5", "1.05e1", "1e-1", "-0.1", "1e-400"};
    for (size_t i = 0; i < COUNT_OF(integers); i++)
        EXPECT(json_number_is_integer(str_of(integers[i])));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        EXPECT(!json_number_is_integer(str_of(others[i])));
}

TEST(multiples_are_exact_whatever_the_number_of_digits)
{
    static const char *const multiples[][2] = {{"0", "7"}, {"4.35", "0.01"}, {"0.1", "0.01"},
        {"1e308", "0.5"}, {"-9", "3"}, {"123456789123456789123456789", "9"}, {"0.0075", "0.0001"},
        {"12", "1.5"}};
    static const char *const others[][2] = {{"35", "1.5"}, {"0.00751", "0.0001"}, {"10", "3"},
        {"123456789123456789123456788", "9"}, {"1e-99999999999999999999", "1"}, {"0.1", "1"},
        {"1e400", "123e-5"}};
    for (size_t i = 0; i < COUNT_OF(multiples); i++)
        EXPECT(json_number_is_multiple(str_of(multiples[i][0]), str_of(multiples[i][1])));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        EXPECT(!json_number_is_multiple(str_of(others[i][0]), str_of(others[i][1])));
    EXPECT(json_number_is_divisor(STR("123456789012345678e-5")));
    EXPECT(!json_number_is_divisor(STR("0")));
    EXPECT(!json_number_is_divisor(STR("-1")));
    EXPECT(!json_number_is_divisor(STR("1234567890123456789")));
}
