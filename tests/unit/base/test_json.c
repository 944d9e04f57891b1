/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "parsed.h"

TEST(each_value_knows_its_type_and_its_text)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    const struct {
        struct str text;
        enum json_type type;
        const char *name;
    } cases[] = {
        {STR("null"), JSON_NULL, "null"},
        {STR("false"), JSON_FALSE, "boolean"},
        {STR("true"), JSON_TRUE, "boolean"},
        {STR("-1.50e2"), JSON_NUMBER, "number"},
        {STR("\"\\u0061\""), JSON_STRING, "string"},
        {STR("[ 1 ]"), JSON_ARRAY, "array"},
        {STR("{ }"), JSON_OBJECT, "object"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct json v = parsed(&a, cases[i].text);
        EXPECT_EQ(json_type(v), cases[i].type);
        EXPECT_STR(json_raw(v), cases[i].text);
        EXPECT_STR(str_of(json_type_name(json_type(v))), str_of(cases[i].name));
    }
}

TEST(arrays_and_objects_are_walked_in_their_order)
{
    CLEANUP(arena_deinit) struct arena a;
    CLEANUP(buf_deinit) struct buf seen;
    arena_init(&a, TEST_ARENA_BYTES);
    buf_init(&seen, 1000);
    struct json_iter it = json_iter(PARSED(&a, "{\"b\":[1,[2]],\"a\":{\"x\":{}},\"\":3}"));
    struct json key, value;
    while (json_next(&it, &key, &value))
        buf_printf(&seen, "%.*s=%.*s ", STR_ARG(json_raw(key)), STR_ARG(json_raw(value)));
    it = json_iter(PARSED(&a, "[1,[2,3],{\"a\":4},5]"));
    while (json_next(&it, NULL, &value))
        buf_printf(&seen, "%.*s ", STR_ARG(json_raw(value)));
    EXPECT_STR(buf_str(&seen), STR("\"b\"=[1,[2]] \"a\"={\"x\":{}} \"\"=3 1 [2,3] {\"a\":4} 5 "));
}

TEST(only_arrays_and_objects_contain_anything)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_EQ(json_count(PARSED(&a, "[1,[2,3]]")), 2);
    EXPECT_EQ(json_count(PARSED(&a, "{\"a\":1,\"b\":2,\"c\":{}}")), 3);
    EXPECT_EQ(json_count(PARSED(&a, "\"abc\"")), 0);
    struct json_iter it = json_iter(PARSED(&a, "\"abc\""));
    struct json value;
    EXPECT(!json_next(&it, NULL, &value));
}

TEST(members_are_found_by_their_decoded_name)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json v = PARSED(&a, "{\"plain\":1,\"\\u00e9t\\u00e9\":2,\"\":3}"), found;
    EXPECT(json_get(v, STR("plain"), &found));
    EXPECT(json_get(v, STR("\xc3\xa9t\xc3\xa9"), &found));
    EXPECT_STR(json_raw(found), STR("2"));
    EXPECT(json_get(v, STR(""), &found));
    EXPECT_STR(json_raw(found), STR("3"));
    EXPECT(!json_get(v, STR("plai"), &found));
    EXPECT(!json_get(v, STR("\\u00e9t\\u00e9"), &found));
    EXPECT(!json_get(PARSED(&a, "[\"plain\"]"), STR("plain"), &found));
}

TEST(items_are_found_by_their_index)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json v = PARSED(&a, "[[1,2],3,{\"a\":4}]"), found;
    EXPECT(json_at(v, 2, &found));
    EXPECT_STR(json_raw(found), STR("{\"a\":4}"));
    EXPECT(!json_at(v, 3, &found));
    EXPECT(!json_at(PARSED(&a, "{\"0\":1}"), 0, &found));
}

TEST(strings_are_decoded_when_asked_for)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_STR(
        json_string(&a, PARSED(&a, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")), STR("\"\\/\b\f\n\r\t"));
    EXPECT_STR(json_string(&a, PARSED(&a, "\"\\u0041\\u00e9\\u20AC\\uD834\\uDD1E\\u0001.\"")),
        STR("A\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\1."));
    EXPECT_STR(json_string(&a, PARSED(&a, "\"\\udbff\\udfff\"")), STR("\xf4\x8f\xbf\xbf"));
    EXPECT_STR(json_string(&a, PARSED(&a, "\"a\\nb\"")), STR("a\nb"));
}

TEST(a_string_without_escapes_is_borrowed_from_the_text)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str text = STR("\"plain\"");
    EXPECT(json_string(&a, parsed(&a, text)).ptr == text.ptr + 1);
}

TEST(strings_compare_with_decoded_text)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT(json_string_eq(PARSED(&a, "\"a\\u0062c\""), STR("abc")));
    EXPECT(!json_string_eq(PARSED(&a, "\"a\\u0062c\""), STR("ab")));
    EXPECT(!json_string_eq(PARSED(&a, "\"a\\u0062\""), STR("abc")));
    EXPECT(!json_string_eq(PARSED(&a, "\"a\\u0062c\""), STR("abd")));
    EXPECT(!json_string_eq(PARSED(&a, "null"), STR("null")));
}

static const struct {
    struct str text;
    int64_t value;
} integers[] = {
    {STR("0"), 0},
    {STR("-0"), 0},
    {STR("-0.0e5"), 0},
    {STR("0e99999999999999999999999"), 0},
    {STR("1.0"), 1},
    {STR("1e2"), 100},
    {STR("1.5e1"), 15},
    {STR("-12.50e+1"), -125},
    {STR("1000e-3"), 1},
    {STR("0.001e3"), 1},
    {STR("0.00000000000000000001e20"), 1},
    {STR("10000000000000000000000e-22"), 1},
    {STR("9223372036854775807"), INT64_MAX},
    {STR("-9223372036854775808"), INT64_MIN},
    {STR("9223372036854775807.000"), INT64_MAX},
    {STR("922337203685477580.7e1"), INT64_MAX},
};

TEST(numbers_that_are_integers_by_value_convert_exactly)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    for (size_t i = 0; i < COUNT_OF(integers); i++) {
        int64_t value = 42;
        if (!json_to_i64(parsed(&a, integers[i].text), &value) || value != integers[i].value)
            test_fail(__FILE__, __LINE__, "%.*s became %" PRId64, STR_ARG(integers[i].text), value);
    }
}

TEST(numbers_that_are_no_64_bit_integers_do_not_convert)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    const struct str refused[] = {STR("1.5"), STR("1180591620717411303424"), STR("1e-1"),
        STR("9223372036854775808"), STR("-9223372036854775809"), STR("1e19"), STR("1e400"),
        STR("-1e19"), STR("1e99999999999999999999999"), STR("1e-99999999999999999999999"),
        STR("0.1"), STR("\"1\""), STR("true"), STR("1e9223372036854775807"),
        STR("9223372036854775807.5"), STR("99999999999999999999"), STR("10.1e9223372036854775807")};
    int64_t value = 42;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (json_to_i64(parsed(&a, refused[i]), &value))
            test_fail(__FILE__, __LINE__, "%.*s was accepted", STR_ARG(refused[i]));
    EXPECT_EQ(value, 42);
}

TEST(numbers_convert_to_the_nearest_double_unless_beyond_its_range)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    double value = 42;
    EXPECT(json_to_double(PARSED(&a, "1.5e3"), &value) && value == 1500.0);
    EXPECT(json_to_double(PARSED(&a, "-0.1"), &value) && value == -0.1);
    EXPECT(json_to_double(PARSED(&a, "1.7976931348623157e308"), &value) && value > 1e308);
    EXPECT(json_to_double(PARSED(&a, "1e-400"), &value) && value == 0.0);
    value = 42;
    EXPECT(!json_to_double(PARSED(&a, "1e400"), &value));
    EXPECT(!json_to_double(PARSED(&a, "\"1\""), &value));
    EXPECT(value == 42);
}

static void expect_equality(struct str x, struct str y, bool expected, int line)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json v = parsed(&a, x), w = parsed(&a, y);
    if (json_equal(v, w) != expected || json_equal(w, v) != expected)
        test_fail(__FILE__, line, "%.*s and %.*s: expected %s", STR_ARG(x), STR_ARG(y),
            expected ? "equal" : "different");
}

#define EXPECT_EQUAL(x, y) expect_equality(STR(x), STR(y), true, __LINE__)
#define EXPECT_DIFFERENT(x, y) expect_equality(STR(x), STR(y), false, __LINE__)

TEST(numbers_are_equal_by_value_to_the_last_digit)
{
    EXPECT_EQUAL("1", "1.0");
    EXPECT_EQUAL("100", "1e2");
    EXPECT_EQUAL("0", "-0.000e7");
    EXPECT_EQUAL("0.015", "1.5e-2");
    EXPECT_EQUAL("12345678901234567890123", "1.2345678901234567890123e22");
    EXPECT_EQUAL("1e99999999999999999999", "1e99999999999999999999");
    EXPECT_EQUAL("0e99999999999999999999", "0");
    EXPECT_DIFFERENT("1", "-1");
    EXPECT_DIFFERENT("1", "10");
    EXPECT_DIFFERENT("0.1", "0.01");
    EXPECT_DIFFERENT("9007199254740993", "9007199254740992");
    EXPECT_DIFFERENT("1.0000000000000000000001", "1");
    EXPECT_DIFFERENT("1e400", "1e401");
    EXPECT_DIFFERENT("12.3", "1.24e1");
    EXPECT_DIFFERENT("1", "\"1\"");
    EXPECT_DIFFERENT("1e99999999999999999999", "1");
}

TEST(strings_are_equal_by_what_they_say)
{
    EXPECT_EQUAL("\"abc\"", "\"\\u0061b\\u0063\"");
    EXPECT_EQUAL("\"\\u00e9\"", "\"\\u00E9\"");
    EXPECT_EQUAL("\"\\ud834\\udd1e\"", "\"\xf0\x9d\x84\x9e\"");
    EXPECT_DIFFERENT("\"a\"", "\"b\"");
    EXPECT_DIFFERENT("\"a\"", "\"a\\u0001\"");
    EXPECT_DIFFERENT("\"\\n\"", "\"\\t\"");
    EXPECT_DIFFERENT("\"\"", "null");
}

TEST(arrays_are_equal_in_order_and_objects_in_any)
{
    EXPECT_EQUAL("[1,[2,{}]]", " [ 1 , [ 2.0 , { } ] ] ");
    EXPECT_EQUAL("{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"\\u0061\":1e0}");
    EXPECT_DIFFERENT("[1,2]", "[2,1]");
    EXPECT_DIFFERENT("[1,2]", "[1,2,3]");
    EXPECT_DIFFERENT("{\"a\":1}", "{\"a\":2}");
    EXPECT_DIFFERENT("{\"a\":1}", "{\"b\":1}");
    EXPECT_DIFFERENT("{\"a\":1}", "{\"a\":1,\"b\":2}");
    EXPECT_DIFFERENT("[]", "{}");
    EXPECT_DIFFERENT("true", "false");
    EXPECT_DIFFERENT("null", "false");
}

TEST(large_objects_are_compared_whatever_their_order)
{
    CLEANUP(arena_deinit) struct arena a;
    CLEANUP(buf_deinit) struct buf up, down;
    enum { COUNT = 50000 };
    arena_init(&a, TEST_ARENA_BYTES);
    buf_init(&up, TEST_ARENA_BYTES);
    buf_init(&down, TEST_ARENA_BYTES);
    buf_append_byte(&up, '{');
    buf_append_byte(&down, '{');
    for (int i = 0; i < COUNT; i++) {
        buf_printf(&up, "%s\"k%d\":%d", i == 0 ? "" : ",", i, i);
        buf_printf(&down, "%s\"\\u006b%d\":%d", i == 0 ? "" : ",", COUNT - 1 - i, COUNT - 1 - i);
    }
    buf_append_byte(&up, '}');
    buf_append_byte(&down, '}');
    EXPECT(json_equal(parsed(&a, buf_str(&up)), parsed(&a, buf_str(&down))));
    down.ptr[down.len - 2] = '1'; /* the last value, 0 */
    EXPECT(!json_equal(parsed(&a, buf_str(&up)), parsed(&a, buf_str(&down))));
}
