/* SPDX-License-Identifier: Apache-2.0 */
#include "base/enum.h"

#include "test.h"

#define LIGHTS(X)                                  \
    X(LIGHT_RED, "red", ENUM_BIT(LIGHT_GREEN))     \
    X(LIGHT_YELLOW, "yellow", ENUM_BIT(LIGHT_RED)) \
    X(LIGHT_GREEN, "green", ENUM_SET(LIGHT_YELLOW, LIGHT_RED))
ENUM_DECLARE(light, LIGHT_NONE, lights, LIGHTS);
ENUM_DEFINE(lights, LIGHTS);

TEST(a_word_and_its_value_are_found_by_each_other)
{
    EXPECT_EQ(light_parse(STR("green")), LIGHT_GREEN);
    EXPECT_STR(light_word(LIGHT_YELLOW), STR("yellow"));
    EXPECT(lights[3] == NULL);
}

TEST(no_value_and_an_unknown_word_are_none)
{
    EXPECT_EQ(light_parse(STR("blue")), LIGHT_NONE);
    EXPECT_EQ(light_parse(STR("re")), LIGHT_NONE);
    EXPECT_EQ(light_parse(STR_NONE), LIGHT_NONE);
    EXPECT(str_is_none(light_word(LIGHT_NONE)));
}

TEST(the_words_of_a_set_have_the_order_of_the_list)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 64 * 1024);
    const char *const *words = enum_words_of(&a, lights, ENUM_SET(LIGHT_GREEN, LIGHT_RED));
    EXPECT_STR(str_of(words[0]), STR("red"));
    EXPECT_STR(str_of(words[1]), STR("green"));
    EXPECT(words[2] == NULL);
    EXPECT(enum_words_of(&a, lights, 0)[0] == NULL);
}
