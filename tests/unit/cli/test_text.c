/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/text.h"

#include "test.h"

#define ARENA(name)                          \
    struct arena name CLEANUP(arena_deinit); \
    arena_init(&name, 1024 * 1024)

TEST(text_from_elsewhere_cannot_drive_the_terminal)
{
    ARENA(arena);
    EXPECT_STR(text_clean(&arena, STR("plain äöü 世界")), STR("plain äöü 世界"));
    EXPECT_STR(text_clean(&arena, STR("\033[31mred\033[0m")), STR("\\e[31mred\\e[0m"));
    EXPECT_STR(text_clean(&arena, STR("a\tb\nc\rd")), STR("a\\tb\\nc\\rd"));
    EXPECT_STR(text_clean(&arena, STR("\x07\x7f")), STR("\\u0007\\u007f"));
    EXPECT_STR(text_clean(&arena, STR("\xc2\x9b"
                                      "31m")),
        STR("\\u009b31m"));
    EXPECT_STR(text_clean(&arena, STR("\xe2\x80\xae"
                                      "abc")),
        STR("\\u202eabc"));
    EXPECT_STR(text_clean(&arena, STR("a\xff"
                                      "b")),
        STR("a\xef\xbf\xbd"
            "b"));
    EXPECT_STR(text_clean(&arena, STR("")), STR(""));
}

TEST(columns_are_counted_as_a_terminal_does)
{
    EXPECT_EQ(text_columns(STR("abc")), 3);
    EXPECT_EQ(text_columns(STR("äöü")), 3);
    EXPECT_EQ(text_columns(STR("世界")), 4);
    EXPECT_EQ(text_columns(STR("e\xcc\x81")), 1);
    EXPECT_EQ(text_columns(STR("😀")), 2);
}

TEST(text_is_cut_to_its_columns_and_says_so)
{
    ARENA(arena);
    EXPECT_STR(text_cut(&arena, STR("hello"), 5), STR("hello"));
    EXPECT_STR(text_cut(&arena, STR("hello"), 4), STR("hel…"));
    EXPECT_STR(text_cut(&arena, STR("äöüäöü"), 6), STR("äöüäöü"));
    EXPECT_STR(text_cut(&arena, STR("世界世界"), 8), STR("世界世界"));
    EXPECT_STR(text_cut(&arena, STR("世界世界"), 6), STR("世界…"));
    EXPECT_STR(text_cut(&arena, STR("世界世界"), 1), STR("…"));
}

TEST(times_are_told_from_now)
{
    ARENA(arena);
    const int64_t now = 1700000000LL * 1000000, second = 1000000;
    EXPECT_STR(text_relative_time(&arena, now, now), STR("just now"));
    EXPECT_STR(text_relative_time(&arena, now - 3 * second, now), STR("3 s ago"));
    EXPECT_STR(text_relative_time(&arena, now - 179 * second, now), STR("2 m ago"));
    EXPECT_STR(text_relative_time(&arena, now - 3600 * second, now), STR("1 h ago"));
    EXPECT_STR(text_relative_time(&arena, now - 59 * 86400 * second, now), STR("59 d ago"));
    EXPECT_STR(text_relative_time(&arena, now + 7200 * second, now), STR("in 2 h"));
    EXPECT_STR(text_relative_time(&arena, now - 60 * 86400 * second, now), STR("2023-09-15"));
}

TEST(sizes_have_one_decimal)
{
    ARENA(arena);
    EXPECT_STR(text_bytes(&arena, 0), STR("0 B"));
    EXPECT_STR(text_bytes(&arena, 1023), STR("1023 B"));
    EXPECT_STR(text_bytes(&arena, 1536), STR("1.5 KiB"));
    EXPECT_STR(text_bytes(&arena, 1024 * 1024 - 1), STR("1.0 MiB"));
    EXPECT_STR(text_bytes(&arena, 5ULL * 1024 * 1024 * 1024), STR("5.0 GiB"));
}
