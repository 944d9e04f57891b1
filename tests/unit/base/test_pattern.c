/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonschema/pattern.h"
#include "parsed.h"

enum { STEPS = 1000 * 1000 };

static bool found(struct arena *arena, const char *pattern, const char *text)
{
    struct pattern *compiled;
    struct pattern_error error = {0};
    uint64_t steps = STEPS;
    bool is_found = false;
    if (!pattern_compile(arena, str_of(pattern), &compiled, &error))
        test_fail(__FILE__, __LINE__, "%s is refused: %s", pattern, error.rule);
    else
        EXPECT(pattern_search(compiled, str_of(text), &steps, &is_found));
    return is_found;
}

TEST(patterns_are_found_where_ecma_262_finds_them)
{
    static const struct {
        const char *pattern;
        const char *found_in;
        const char *not_in;
    } list[] = {
        {"", "", NULL},
        {"b", "abc", "acd"},
        {"^a", "ab", "ba"},
        {"a$", "ba", "ab"},
        {"^$", "", "a"},
        {"^(ab|c)*$", "abcab", "abca"},
        {"^a{2,3}$", "aaa", "aaaa"},
        {"^a{2}$", "aa", "a"},
        {"^a{2,}?$", "aaaaa", "a"},
        {"^(?:a?){3}$", "aa", "aaaa"},
        {"^[a-c\\d_-]+$", "a1-_", "d"},
        {"^[^a-c]$", "d", "b"},
        {"^[a-zb-c]$", "x", "1"},
        {"^[b-ca-z]$", "x", "1"},
        {"^[a-cb-d]$", "d", "e"},
        {"^[^a-zb-c]$", "1", "x"},
        {"^[a-cd-f]+$", "abcdef", "g"},
        {"^[^a-cd-f]$", "g", "d"},
        {"^[^a-ce-g]$", "d", "e"},
        {"^[]$|x", "x", ""},
        {"^[^]$", "\n", ""},
        {"^.$", "\xf0\x9f\x98\x80", "\n"},
        {"^\\w\\W\\s\\S$", "a- b", "a  b "},
        {"^\\D$", "a", "1"},
        {"\\bfoo\\b", "a foo b", "afoo"},
        {"a\\Bb", "ab", "a b"},
        {"^\\x41\\u0042\\u{43}\\cJ\\t\\/$", "ABC\n\t/", "ABC"},
        {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", "a"},
        {"^\\p{ASCII}+$", "a\x7f", "\xc3\xa9"},
        {"^\\p{gc=Lu}$", "A", "a"},
        {"^\\p{General_Category=Uppercase_Letter}$", "A", "a"},
        {"^\\p{LC}+$", "aA", "\xd7\x90"},
        {"^\\p{L}+$", "a\xc3\xa9\xd0\xb6", "a1"},
        {"^\\p{Lu}\\P{Lu}$", "Aa", "AA"},
        {"^[\\p{Nd}x]+$", "1x\xd9\xa1", "y"},
        {"^(?<year>\\d{4})$", "2026", "26"},
        {"^\\u00e9$", "\xc3\xa9", "e"},
        {"^(a*)*$", "aaa", "b"},
        {"(^a|b$)", "ac", "cac"},
    };
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        CLEANUP(arena_deinit) struct arena a;
        arena_init(&a, TEST_ARENA_BYTES);
        if (!found(&a, list[i].pattern, list[i].found_in))
            test_fail(__FILE__, __LINE__, "%s is not found", list[i].pattern);
        if (list[i].not_in != NULL && found(&a, list[i].pattern, list[i].not_in))
            test_fail(__FILE__, __LINE__, "%s is found", list[i].pattern);
    }
}

TEST(what_is_no_pattern_is_refused_with_the_rule)
{
    static const struct {
        const char *pattern;
        const char *rule;
        bool unsupported;
    } list[] = {
        {"(", "a group must end in )", false},
        {")", "a ) must have a matching (", false},
        {"[a", "a class must end in ]", false},
        {"[b-a]", "a range in a class must be in ascending order", false},
        {"[\\d-z]", "a range in a class must have a character at each end", false},
        {"*", "a repetition must follow an expression", false},
        {"^*", "an anchor must not be repeated", false},
        {"a{", "a repetition must be {n}, {n,} or {n,m}", false},
        {"a{2,1}", "the numbers of a repetition must be in ascending order", false},
        {"a{1001}", "a repetition must be at most 1000 times", true},
        {"]", "an unmatched bracket or brace must be escaped", false},
        {"\\_", "this escape is not defined", false},
        {"\\", "a character must follow the backslash", false},
        {"\\x1", "two hexadecimal digits must follow \\x", false},
        {"\\u{110000}", "a code point must be at most 10FFFF", false},
        {"(a)\\1", "backreferences are not supported", true},
        {"(?<a>x)\\k<a>", "backreferences are not supported", true},
        {"(?=a)", "lookahead and lookbehind are not supported", true},
        {"(?<!a)", "lookahead and lookbehind are not supported", true},
        {"(?i:a)", "this kind of group is not defined", false},
        {"(?:a{1000}){1000}", "the pattern needs more than 4096 states", true},
        {"(?:(?:(?:){1000}){1000}){1000}", "the pattern needs more than 4096 states", true},
    };
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        CLEANUP(arena_deinit) struct arena a;
        struct pattern *compiled;
        struct pattern_error error = {0};
        arena_init(&a, TEST_ARENA_BYTES);
        EXPECT(!pattern_compile(&a, str_of(list[i].pattern), &compiled, &error));
        EXPECT_STR(str_of(error.rule), str_of(list[i].rule));
        EXPECT_EQ(error.unsupported, list[i].unsupported);
    }
}

TEST(a_pattern_has_a_greatest_length_nesting_and_number_of_properties)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    const struct {
        struct str most;
        struct str more;
        const char *rule;
    } list[] = {
        {arena_printf(&a, "[%.*s]", STR_ARG(repeated(&a, STR("a"), PATTERN_MAX_BYTES - 2))),
            arena_printf(&a, "[%.*s]", STR_ARG(repeated(&a, STR("a"), PATTERN_MAX_BYTES - 1))),
            "a pattern must have at most 4096 bytes"},
        {repeated(&a, STR("\\p{L}"), 64), repeated(&a, STR("\\p{L}"), 65),
            "a pattern must have at most 64 \\p"},
        {arena_printf(&a, "%.*s%.*s", STR_ARG(repeated(&a, STR("("), PATTERN_MAX_NESTING)),
             STR_ARG(repeated(&a, STR(")"), PATTERN_MAX_NESTING))),
            arena_printf(&a, "%.*s%.*s", STR_ARG(repeated(&a, STR("("), PATTERN_MAX_NESTING + 1)),
                STR_ARG(repeated(&a, STR(")"), PATTERN_MAX_NESTING + 1))),
            "groups are nested too deeply"},
    };
    struct pattern *unused;
    struct pattern_error error;
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        EXPECT(pattern_compile(&a, list[i].most, &unused, &error));
        EXPECT(!pattern_compile(&a, list[i].more, &unused, &error));
        EXPECT_STR(str_of(error.rule), str_of(list[i].rule));
        EXPECT(error.unsupported);
    }
}

/* Each construct that writes a state stops at the limit. */
TEST(a_pattern_of_too_many_states_is_refused_whatever_it_is_made_of)
{
    static const char *const list[] = {"(?:[a-c]{1000}){100}", "(?:(?:a|b){1000}){100}",
        "(?:(?:a*){1000}){100}", "(?:(?:a?){1000}){100}", "(?:(?:a{0,1000}){100}){10}",
        "(?:(?:\\p{L}){1000}){10}", "(?:(?:^|$){1000}){100}", "(?:(?:ab|cd*|e?){999}){99}"};
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        CLEANUP(arena_deinit) struct arena a;
        struct pattern *unused;
        struct pattern_error error;
        arena_init(&a, TEST_ARENA_BYTES);
        if (pattern_compile(&a, str_of(list[i]), &unused, &error))
            test_fail(__FILE__, __LINE__, "%s was accepted", list[i]);
        EXPECT(error.unsupported);
    }
}

TEST(patterns_that_ruin_backtracking_take_linear_steps)
{
    CLEANUP(arena_deinit) struct arena a;
    struct pattern *pattern;
    struct pattern_error error;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str text = repeated(&a, STR("a"), 10000);
    static const char *const patterns[] = {"^(a+)+$b", "(a|aa)*b", "(.*)*x"};
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        bool is_found = true;
        uint64_t steps = STEPS;
        EXPECT(pattern_compile(&a, str_of(patterns[i]), &pattern, &error));
        EXPECT(pattern_search(pattern, text, &steps, &is_found));
        EXPECT(!is_found);
    }
    bool is_found;
    uint64_t steps = 100;
    EXPECT(!pattern_search(pattern, text, &steps, &is_found));
    EXPECT_EQ(steps, 0);
}
