/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include "cli/commands.h"
#include "cli/derive.h"
#include "test.h"

TEST(the_distance_counts_inserted_dropped_replaced_and_swapped_letters)
{
    EXPECT_EQ(suggest_distance(STR("list"), STR("list")), 0);
    EXPECT_EQ(suggest_distance(STR(""), STR("list")), 4);
    EXPECT_EQ(suggest_distance(STR("lst"), STR("list")), 1);
    EXPECT_EQ(suggest_distance(STR("liist"), STR("list")), 1);
    EXPECT_EQ(suggest_distance(STR("lost"), STR("list")), 1);
    EXPECT_EQ(suggest_distance(STR("lsit"), STR("list")), 1);
    EXPECT_EQ(suggest_distance(STR("kitten"), STR("sitting")), 3);
}

TEST(a_word_that_is_too_long_is_like_no_other)
{
    char word[SUGGEST_MAX_LEN + 1];
    memset(word, 'a', sizeof word);
    EXPECT(suggest_distance((struct str){word, sizeof word}, STR("a")) == SIZE_MAX);
    EXPECT(str_is_none(command_suggest_noun((struct str){word, sizeof word})));
}

TEST(the_nearest_command_verb_and_option_are_found)
{
    EXPECT_STR(command_suggest_noun(STR("tread")), STR("thread"));
    EXPECT_STR(command_suggest_noun(STR("theads")), STR("thread"));
    EXPECT_STR(command_suggest_verb(STR("run"), STR("cancle")), STR("cancel"));
    EXPECT_STR(command_suggest_verb(STR("run"), STR("star")), STR("start"));
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    const struct command *list = command_complete(&arena, command_find(STR("run"), STR("list")));
    EXPECT_STR(command_suggest_option(list, STR("staus")), STR("status"));
    EXPECT_STR(command_suggest_option(list, STR("api-key")), STR("api-key-file"));
    arena_deinit(&arena);
}

TEST(what_resembles_nothing_gets_no_suggestion)
{
    EXPECT(str_is_none(command_suggest_noun(STR("xyzzy"))));
    EXPECT(str_is_none(command_suggest_noun(STR(""))));
    EXPECT(str_is_none(command_suggest_verb(STR("nothing"), STR("list"))));
}
