/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include "base/arena.h"
#include "test.h"

/* The words with a bar between them. */
static struct str cut(struct arena *arena, struct str text)
{
    struct words w;
    struct str all = STR("");
    words_init(&w, text);
    while (words_next(&w)) {
        struct str word = words_word(&w);
        all =
            arena_printf(arena, "%.*s%s%.*s", STR_ARG(all), all.len > 0 ? "|" : "", STR_ARG(word));
    }
    return all;
}

#define EXPECT_CUT(text, expected)                     \
    do {                                               \
        struct arena a;                                \
        arena_init(&a, SIZE_MAX);                      \
        EXPECT_STR(cut(&a, STR(text)), STR(expected)); \
        arena_deinit(&a);                              \
    } while (0)

TEST(words_are_runs_of_letters_and_numbers_whatever_stands_between)
{
    EXPECT_CUT("", "");
    EXPECT_CUT(" .,;#*\"'()-_ \n", "");
    EXPECT_CUT("Hello, big-World_42!", "hello|big|world|42");
    EXPECT_CUT("x=1;y=2", "x|1|y|2");
    EXPECT_CUT("#t0123 #oabc", "t0123|oabc");
}

TEST(words_have_no_case_and_no_diacritics_in_any_script)
{
    EXPECT_CUT("MÜLLER Müller muller", "muller|muller|muller");
    EXPECT_CUT("Mu\xcc\x88ller", "muller"); /* the same in decomposed form */
    EXPECT_CUT("Straße STRASSE", "strasse|strasse");
    EXPECT_CUT("Привет МИР Ёлка", "привет|мир|елка");
    EXPECT_CUT("Αθήνα ΑΘΗΝΑ", "αθηνα|αθηνα");
    EXPECT_CUT("\xef\xac\x81sch Ｗｉｄｅ ２", "fisch|wide|2");
}

TEST(scripts_without_blanks_give_a_word_for_each_character)
{
    EXPECT_CUT("日本語abc", "日|本|語|abc");
    EXPECT_CUT("한국어 학교", "한|국|어|학|교");
    EXPECT_CUT("カタカナ", "カ|タ|カ|ナ");
}

TEST(a_word_tells_where_it_stands_in_the_text)
{
    struct words w;
    words_init(&w, STR("  ÄB, c"));
    EXPECT(words_next(&w));
    EXPECT_EQ(w.start, 2);
    EXPECT_EQ(w.at, 5);
    EXPECT(words_next(&w));
    EXPECT_EQ(w.start, 7);
    EXPECT(!words_next(&w));
    EXPECT(!words_next(&w));
}

TEST(a_word_without_end_is_cut_between_characters)
{
    char text[1000];
    struct words w;
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "ж", 2);
    text[0] = 'a';
    text[1] = 'b';
    text[2] = 'c'; /* what follows is half a character: skipped */
    words_init(&w, (struct str){text, sizeof text});
    EXPECT(words_next(&w));
    EXPECT_STR(words_word(&w), STR("abc"));
    EXPECT(words_next(&w));
    EXPECT(w.len <= WORD_MAX_BYTES && w.len > WORD_MAX_BYTES - 2);
    EXPECT(str_is_utf8(words_word(&w)));
    EXPECT(!words_next(&w));
}
