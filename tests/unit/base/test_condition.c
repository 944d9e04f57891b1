/* SPDX-License-Identifier: Apache-2.0 */
#include "base/condition.h"

#include "base/arena.h"
#include "test.h"

TEST(conditions_compare_join_and_nest)
{
    static const char *const good[] = {
        "done",
        "state.score >= 0.5",
        "state.tool_calls[0].name == \"search\"",
        "output['final answer'] != null",
        "not failed and (retries < 3 or user.role in ['admin', \"owner\"])",
        "status not in [1, -2.5e3, true, null]",
        "role in state.roles",
        "state.tags contains 'urgent'",
        "  true  ",
        "not not done",
        "(a) == (b)",
        "inner.and.or == 1",
        "'it\\'s \\u00e9' == name",
        "x in []",
        "nothing == null",
    };
    struct condition_error error;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (!condition_check(str_of(good[i]), &error))
            test_fail(__FILE__, __LINE__, "%s: at %zu %s", good[i], error.offset, error.rule);
}

TEST(what_is_no_condition_is_told_with_the_byte_where_it_stops_being_one)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *rule;
    } bad[] = {
        {"", 0, "a value is missing"},
        {"   ", 3, "a value is missing"},
        {"a ==", 4, "a value is missing"},
        {"a = 1", 2, "and, or, or a comparison must follow, or the end"},
        {"a and", 5, "a value is missing"},
        {"and a", 0, "a value is missing before this word"},
        {"a == b == c", 7, "and, or, or a comparison must follow, or the end"},
        {"a b", 2, "and, or, or a comparison must follow, or the end"},
        {"(a", 0, "the ( is not closed"},
        {"a)", 1, "and, or, or a comparison must follow, or the end"},
        {"a.", 2, "a name must follow the dot"},
        {"a[", 2, "[ ] must contain an index or a string"},
        {"a[0", 1, "the [ is not closed"},
        {"a == 'x", 5, "the string does not end"},
        {"a == '\\x'", 6, "\\ must be followed by \" ' \\ / b f n r t or uXXXX"},
        {"a == '\\u12'", 6, "\\u must be followed by four hexadecimal digits"},
        {"a == 01", 5, "the number is malformed"},
        {"a == 1.", 5, "the number is malformed"},
        {"a == 1x", 5, "the number is malformed"},
        {"5", 0, "a value alone is not a condition: compare it with another value"},
        {"a and 'x'", 6, "a value alone is not a condition: compare it with another value"},
        {"not null", 4, "a value alone is not a condition: compare it with another value"},
        {"a < true", 4, "true, false and null are neither greater nor less than another value"},
        {"null <= a", 0, "true, false and null are neither greater nor less than another value"},
        {"a in 5", 5, "a list or a path must follow in"},
        {"a in [b]", 6, "a list may contain only strings, numbers, true, false and null"},
        {"a in [1 2]", 8, "a comma or ] must follow an item of a list"},
        {"a in [(b)]", 6, "a list may contain only strings, numbers, true, false and null"},
        {"a in [", 6, "a value is missing"},
        {"a in [1", 5, "a comma or ] must follow an item of a list"},
        {"a in [01]", 6, "the number is malformed"},
        {"a in", 4, "a value is missing"},
        {"a in 01", 5, "the number is malformed"},
        {"a['x", 2, "the string does not end"},
        {"a['\\x']", 3, "\\ must be followed by \" ' \\ / b f n r t or uXXXX"},
        {"a == 'x\ny'", 7, "a control character must be escaped"},
        {"a == 'x\x1f'", 7, "a control character must be escaped"},
        {"a == '\\u123", 6, "\\u must be followed by four hexadecimal digits"},
        {"not 'x'", 4, "a value alone is not a condition: compare it with another value"},
        {"not not 5", 8, "a value alone is not a condition: compare it with another value"},
        {"'x' and a", 0, "a value alone is not a condition: compare it with another value"},
        {"'x' or a", 0, "a value alone is not a condition: compare it with another value"},
        {"a not b", 2, "in must follow not here"},
        {"a && b", 2, "and, or, or a comparison must follow, or the end"},
        {"a\xC3\xA4", 1, "and, or, or a comparison must follow, or the end"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct condition_error error = {0};
        if (condition_check(str_of(bad[i].text), &error)) {
            test_fail(__FILE__, __LINE__, "%s was taken", bad[i].text);
            continue;
        }
        if (error.offset != bad[i].offset || strcmp(error.rule, bad[i].rule) != 0)
            test_fail(__FILE__, __LINE__, "%s: at %zu %s", bad[i].text, error.offset, error.rule);
    }
}

TEST(a_condition_has_a_greatest_length_and_depth)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 1024 * 1024);
    struct condition_error error;
    char *text = arena_alloc(&a, CONDITION_MAX_BYTES + 1);
    memset(text, 'a', CONDITION_MAX_BYTES + 1);
    EXPECT(condition_check((struct str){text, CONDITION_MAX_BYTES}, &error));
    EXPECT(!condition_check((struct str){text, CONDITION_MAX_BYTES + 1}, &error));
    memset(text, '(', CONDITION_MAX_DEPTH + 1);
    text[CONDITION_MAX_DEPTH + 1] = 'a';
    memset(text + CONDITION_MAX_DEPTH + 2, ')', CONDITION_MAX_DEPTH + 1);
    EXPECT(!condition_check((struct str){text, 2 * CONDITION_MAX_DEPTH + 3}, &error));
    EXPECT_EQ(error.offset, CONDITION_MAX_DEPTH);
    EXPECT(condition_check((struct str){text + 1, 2 * CONDITION_MAX_DEPTH + 1}, &error));
    for (size_t i = 0; i <= CONDITION_MAX_DEPTH; i++)
        memcpy(text + 4 * i, "not a", 5);
    EXPECT(!condition_check((struct str){text, 4 * CONDITION_MAX_DEPTH + 5}, &error));
    EXPECT(condition_check((struct str){text + 4, 4 * CONDITION_MAX_DEPTH + 1}, &error));
}
