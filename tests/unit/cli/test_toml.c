/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/toml.h"

#include "base/buf.h"
#include "test.h"

static bool parse(struct arena *arena, struct str text, struct toml *out, struct toml_error *error)
{
    arena_init(arena, 16 * 1024 * 1024);
    return toml_parse(arena, text, out, error);
}

TEST(tables_keys_and_values_are_read_in_their_order)
{
    struct arena arena CLEANUP(arena_deinit);
    struct toml t;
    struct toml_error error;
    EXPECT(parse(&arena,
        STR("# a comment\r\n"
            "default_profile = \"local\" # another\n"
            "\n"
            "[profiles . local]\n"
            "url='http://127.0.0.1' \n"
            "\"api_key\" = \"a\\tb\\u00e4\\U0001F600\\\"\"\n"
            "  [profiles.\"a.b\"]\n"
            "x.y = -12\n"
            "[serve]\n"
            "on = true\n"
            "off = false\n"
            "hosts = [ # names\n  \"one\", 'two',\n]\n"
            "none = []"),
        &t, &error));
    EXPECT_EQ(t.n_entries, 8);
    EXPECT_STR(t.entries[0].text, STR("local"));
    EXPECT_EQ(t.entries[0].line, 2);
    EXPECT_EQ(t.entries[1].depth, 3);
    EXPECT_STR(t.entries[1].path[1], STR("local"));
    EXPECT_STR(t.entries[1].text, STR("http://127.0.0.1"));
    EXPECT_STR(t.entries[2].text, STR("a\tbä😀\""));
    EXPECT_STR(t.entries[3].path[1], STR("a.b"));
    EXPECT_STR(t.entries[3].path[3], STR("y"));
    EXPECT_EQ(t.entries[3].kind, TOML_INTEGER);
    EXPECT_STR(t.entries[3].text, STR("-12"));
    EXPECT_EQ(t.entries[4].kind, TOML_BOOLEAN);
    EXPECT_STR(t.entries[5].text, STR("false"));
    EXPECT_EQ(t.entries[6].kind, TOML_STRINGS);
    EXPECT_EQ(t.entries[6].n_items, 2);
    EXPECT_STR(t.entries[6].items[1], STR("two"));
    EXPECT_EQ(t.entries[7].n_items, 0);
    EXPECT_EQ(t.entries[7].line, 15);
}

TEST(many_items_of_an_array_are_kept)
{
    struct arena arena CLEANUP(arena_deinit);
    struct toml t;
    struct toml_error error;
    struct buf text CLEANUP(buf_deinit);
    buf_init(&text, 1024 * 1024);
    buf_append(&text, STR("a = ["));
    for (unsigned i = 0; i < 100; i++)
        buf_printf(&text, "'%u',", i);
    buf_append(&text, STR("]\n"));
    EXPECT(parse(&arena, buf_str(&text), &t, &error));
    EXPECT_EQ(t.entries[0].n_items, 100);
    EXPECT_STR(t.entries[0].items[0], STR("0"));
    EXPECT_STR(t.entries[0].items[99], STR("99"));
}

TEST(what_is_wrong_is_told_with_its_line)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *rule;
    } faults[] = {
        {"a = 1\nb\n", 2, "a key must be followed by = and a value"},
        {"a = 1\n\n= 2\n", 3, "a key must be letters, digits, _ and -, or be quoted"},
        {"a = \"x\n", 1, "a string does not end on its line"},
        {"a = 'x", 1, "a string does not end on its line"},
        {"a = \"\\q\"", 1, "a string has an unknown escape"},
        {"a = \"\\u12\"", 1, "\\u needs 4 hexadecimal digits, \\U 8"},
        {"a = \"\\ud800\"", 1, "an escape names a character that does not exist"},
        {"a = \"\\u0000\"", 1, "an escape names a character that does not exist"},
        {"a = \"\x01\"", 1, "a string contains a control character"},
        {"a = \"\"\"x\"\"\"", 1, "strings of several lines are not supported"},
        {"a = 1.5", 1,
            "a value must be a string in quotes, a whole number, true, false or an array"},
        {"a = bare", 1,
            "a value must be a string in quotes, a whole number, true, false or an array"},
        {"a =", 1, "a value must be a string in quotes, a whole number, true, false or an array"},
        {"a = 2026-01-31", 1,
            "a value must be a string in quotes, a whole number, true, false or an array"},
        {"a = {b = 1}", 1, "inline tables are not supported; write [table]"},
        {"[[a]]", 1, "arrays of tables are not supported"},
        {"[a", 1, "a table's name must be followed by ]"},
        {"[]", 1, "a key must be letters, digits, _ and -, or be quoted"},
        {"a = 1 2", 1, "there is text after the value"},
        {"[a] b", 1, "there is text after the value"},
        {"a = [1]", 1, "an array must contain strings"},
        {"a = ['x' 'y']", 1, "a comma or ] must follow an array's item"},
        {"a = ['x',\n\n", 3, "an array must contain strings"},
        {"a = 1\na = 2", 2, "the key exists already, in line 1"},
        {"a = 1\n\"a\" = 2", 2, "the key exists already, in line 1"},
        {"a = 1\n[a]\nb = 2", 3, "the key exists already, in line 1"},
        {"[a]\nx = 1\n[a]\ny = 1", 3, "the table exists already"},
        {"a.b.c.d.e = 1", 1, "keys are nested too deeply"},
        {"a = \"\xff\"", 1, "the file is not UTF-8 text"},
    };
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        struct arena arena CLEANUP(arena_deinit);
        struct toml t;
        struct toml_error error = {0};
        EXPECT(!parse(&arena, str_of(faults[i].text), &t, &error));
        EXPECT_EQ(error.line, faults[i].line);
        EXPECT_STR(error.rule, str_of(faults[i].rule));
    }
}

TEST(every_prefix_of_a_file_is_read_or_refused_without_harm)
{
    struct str whole = STR("a = \"x\\u00e4\"\n[t.\"q\"]\nb = [ 'x', \"y\" ]\nc = -1 # c\n");
    for (size_t len = 0; len <= whole.len; len++) {
        struct arena arena CLEANUP(arena_deinit);
        struct toml t = {0};
        struct toml_error error = {0};
        char *exact = malloc(len + 1); /* a read past the end is seen by the sanitizer */
        memcpy(exact, whole.ptr, len);
        bool fine = parse(&arena, (struct str){len > 0 ? exact : "", len}, &t, &error);
        EXPECT(fine || error.rule.len > 0);
        free(exact);
    }
}
