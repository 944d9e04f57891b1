/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/json/json_write.h"
#include "parsed.h"

static bool accepts(struct str text)
{
    CLEANUP(arena_deinit) struct arena a;
    struct json_doc doc;
    struct json_error error;
    arena_init(&a, TEST_ARENA_BYTES);
    return json_parse(&a, text, &doc, &error);
}

static void expect_accepted(const struct str *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!accepts(texts[i]))
            test_fail(__FILE__, __LINE__, "[%zu] \"%.*s\" was refused", i, STR_ARG(texts[i]));
}

static void expect_refused(const struct str *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (accepts(texts[i]))
            test_fail(__FILE__, __LINE__, "[%zu] \"%.*s\" was accepted", i, STR_ARG(texts[i]));
}

#define EXPECT_ACCEPTED(...)                           \
    expect_accepted((const struct str[]){__VA_ARGS__}, \
        sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))
#define EXPECT_REFUSED(...)                           \
    expect_refused((const struct str[]){__VA_ARGS__}, \
        sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

/* Refused, at this byte, for a reason that says this. */
static void expect_fault(struct str text, size_t offset, const char *part_of_rule, int line)
{
    CLEANUP(arena_deinit) struct arena a;
    struct json_doc doc;
    struct json_error error = {0};
    arena_init(&a, TEST_ARENA_BYTES);
    if (json_parse(&a, text, &doc, &error))
        test_fail(__FILE__, line, "\"%.*s\" was accepted", STR_ARG(text));
    else if (error.offset != offset || strstr(error.rule, part_of_rule) == NULL)
        test_fail(__FILE__, line, "\"%.*s\" is refused at %zu: %s", STR_ARG(text), error.offset,
            error.rule);
}

#define EXPECT_FAULT(literal, offset, part) expect_fault(STR(literal), offset, part, __LINE__)

/* ---- RFC 8259 section 13 ---- */

TEST(the_object_example_of_rfc_8259_is_read_in_full)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json root =
        PARSED(&a, "{\n"
                   "  \"Image\": {\n"
                   "      \"Width\":  800,\n"
                   "      \"Height\": 600,\n"
                   "      \"Title\":  \"View from 15th Floor\",\n"
                   "      \"Thumbnail\": {\n"
                   "          \"Url\":    \"http://www.example.com/image/481989943\",\n"
                   "          \"Height\": 125,\n"
                   "          \"Width\":  100\n"
                   "      },\n"
                   "      \"Animated\" : false,\n"
                   "      \"IDs\": [116, 943, 234, 38793]\n"
                   "    }\n"
                   "}\n");
    struct json image, thumbnail, value;
    int64_t number = 0;
    EXPECT(json_get(root, STR("Image"), &image));
    EXPECT_EQ(json_count(image), 6);
    EXPECT(json_get(image, STR("Thumbnail"), &thumbnail));
    EXPECT(json_get(thumbnail, STR("Url"), &value));
    EXPECT_STR(json_string(&a, value), STR("http://www.example.com/image/481989943"));
    EXPECT(json_get(image, STR("IDs"), &value) && json_at(value, 3, &value));
    EXPECT(json_to_i64(value, &number));
    EXPECT_EQ(number, 38793);
}

TEST(the_other_examples_of_rfc_8259_are_accepted)
{
    EXPECT_ACCEPTED(
        STR("[{\"precision\":\"zip\",\"Latitude\":37.7668,\"Longitude\":-122.3959,\"Address\":\"\","
            "\"City\":\"SAN FRANCISCO\",\"State\":\"CA\",\"Zip\":\"94107\",\"Country\":\"US\"},"
            "{\"precision\":\"zip\",\"Latitude\":37.371991,\"Longitude\":-122.026020,"
            "\"Address\":\"\",\"City\":\"SUNNYVALE\",\"State\":\"CA\",\"Zip\":\"94085\","
            "\"Country\":\"US\"}]"),
        STR("\"Hello world!\""), STR("42"), STR("true"));
}

/* ---- what is accepted ---- */

TEST(any_value_may_be_the_whole_text)
{
    EXPECT_ACCEPTED(STR("null"), STR("true"), STR("false"), STR("0"), STR("\"\""), STR("[]"),
        STR("{}"), STR(" \t\r\n0\n\r\t "));
}

TEST(blanks_may_stand_around_every_mark)
{
    EXPECT_ACCEPTED(STR(" [ ] "), STR("\t{\n}\r"), STR("[ 1 , 2 ]"),
        STR("{ \"a\" : 1 , \"b\" : 2 }"), STR("[[] ]"), STR("[\n\n\"a\"]"));
}

TEST(numbers_of_every_form_are_accepted)
{
    EXPECT_ACCEPTED(STR("0"), STR("-0"), STR("1"), STR("-1"), STR("10"), STR("1234567890"),
        STR("0.0"), STR("-0.0"), STR("0.5"), STR("1.5e3"), STR("1E3"), STR("1e+3"), STR("1e-3"),
        STR("0e0"), STR("0E+00"), STR("1e0001"), STR("123.456e78"), STR("1e99999"),
        STR("-1e-99999"), STR("100000000000000000000000000000000000000000000"),
        STR("0.00000000000000000000000000000000000000000000000000000000000001"),
        STR("[-0,0e1,20e1]"));
}

TEST(strings_of_every_form_are_accepted)
{
    EXPECT_ACCEPTED(STR("\"\""), STR("\"a\""), STR("\" \""), STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
        STR("\"\\u0001\""), STR("\"\\u00e9\\u00E9\""), STR("\"\\uD834\\uDd1e\""),
        STR("\"\\uDBFF\\uDFFF\""), STR("\"\\uFFFF\""), STR("\"\x7f\""), STR("\"\xc2\x80\""),
        STR("\"\xe2\x82\xac\""), STR("\"\xf0\x9d\x84\x9e\""), STR("\"\xf4\x8f\xbf\xbf\""),
        STR("\"\xef\xbb\xbf\""), STR("\"\xe2\x80\xa8\xe2\x80\xa9\""), STR("\"\\\\u0061\""),
        STR("\"/* no comment */\""), STR("\"12345678\""), STR("\"123456789012345\\n\""));
}

TEST(names_may_be_anything_that_a_string_may)
{
    EXPECT_ACCEPTED(STR("{\"\":0}"), STR("{\"a b\":0}"), STR("{\"\\u0001\":0}"),
        STR("{\"a\":0,\"A\":0,\"a \":0}"), STR("{\"a\":{\"a\":{\"a\":0}}}"),
        STR("[{\"a\":0},{\"a\":0}]"));
}

/* ---- what is refused ---- */

TEST(a_text_without_a_value_is_refused)
{
    EXPECT_REFUSED(
        STR_NONE, STR(""), STR(" "), STR("\n"), STR(","), STR(":"), STR("]"), STR("}"), STR("\0"));
}

TEST(anything_after_the_value_is_refused)
{
    EXPECT_REFUSED(STR("1 2"), STR("[] []"), STR("{}{}"), STR("null,"), STR("\"a\"x"), STR("1]"),
        STR("{}}"), STR("[]]"), STR("true\0"), STR("2 //"), STR("[1]\x01"), STR("truefalse"));
}

TEST(unfinished_or_misspelt_words_are_refused)
{
    EXPECT_REFUSED(STR("t"), STR("tru"), STR("nul"), STR("fals"), STR("True"), STR("TRUE"),
        STR("Null"), STR("truth"), STR("NaN"), STR("Infinity"), STR("-Infinity"), STR("undefined"),
        STR("[nul]"), STR("[tru"), STR("a"), STR("*"));
}

TEST(numbers_outside_the_grammar_are_refused)
{
    EXPECT_REFUSED(STR("-"), STR("+1"), STR("+"), STR("01"), STR("-01"), STR("00"), STR("1."),
        STR(".5"), STR("-.5"), STR("1.e1"), STR("1e"), STR("1E+"), STR("1e-"), STR("1e1.5"),
        STR("1e1e1"), STR("0x10"), STR("1_000"), STR("1,000"), STR("--1"), STR("- 1"), STR("1 .5"),
        STR("1.2.3"), STR("0.1.2"), STR("0e"), STR("-a"), STR("1a"), STR("[1 000]"),
        STR("\xef\xbc\x91"), STR("[-]"), STR("1e\xe2\x88\2221"));
}

TEST(strings_outside_the_grammar_are_refused)
{
    EXPECT_REFUSED(STR("\""), STR("\"a"), STR("\"\\"), STR("\"\\\""), STR("'a'"), STR("\"\\a\""),
        STR("\"\\x41\""), STR("\"\\0\""), STR("\"\\'\""), STR("\"\\U0041\""), STR("\"\\u\""),
        STR("\"\\u12\""), STR("\"\\u123"), STR("\"\\u123g\""), STR("\"\\u 123\""),
        STR("\"\\u+123\""), STR("\"\n\""), STR("\"\t\""), STR("\"\x1f\""), STR("\"\0\""),
        STR("\"12345678\x01\""), STR("\"\\\n\""), STR("\"\\\0\""), STR("\\u0041"), STR("\"a\"b\""));
}

TEST(lone_or_swapped_surrogates_are_refused)
{
    EXPECT_REFUSED(STR("\"\\ud800\""), STR("\"\\udc00\""), STR("\"\\udbff\""), STR("\"\\udfff\""),
        STR("\"\\ud800a\""), STR("\"\\ud800\\n\""), STR("\"\\ud800\\u0041\""),
        STR("\"\\ud800\\ud800\""), STR("\"\\udc00\\ud800\""), STR("\"\\ud834\\ud834\\udd1e\""),
        STR("\"\\ud800\\udc0\""), STR("\"\\ud800\\"), STR("\"\\ud800\\\\udc00\""),
        STR("{\"\\ud800\":1}"));
}

TEST(invalid_utf8_is_refused_inside_strings_and_outside)
{
    EXPECT_REFUSED(STR("\"\x80\""), STR("\"\xbf\""), STR("\"\xc0\xaf\""), STR("\"\xc1\xbf\""),
        STR("\"\xc2\""), STR("\"\xc3\x28\""), STR("\"\xe0\x80\xaf\""), STR("\"\xe2\x82\""),
        STR("\"\xe2\x28\xa1\""), STR("\"\xed\xa0\x80\""), STR("\"\xed\xbf\xbf\""),
        STR("\"\xf0\x80\x80\xaf\""), STR("\"\xf0\x9d\x84\""), STR("\"\xf4\x90\x80\x80\""),
        STR("\"\xf8\x88\x80\x80\x80\""), STR("\"\xfe\""), STR("\"\xff\""), STR("\xe9"),
        STR("[\xff]"), STR("{\"\xff\":1}"), STR("\"12345678\37712345678\""), STR("\"\xe2\x82"));
}

TEST(a_byte_order_mark_is_refused_as_are_other_encodings)
{
    EXPECT_REFUSED(STR("\xef\xbb\xbf{}"), STR("\xef\xbb\xbf"), STR("\xff\xfe[\0]\0"), STR("\0[\0]"),
        STR("[\0]\0"));
    EXPECT_FAULT("\xef\xbb\xbf{}", 0, "byte-order mark");
}

TEST(blanks_other_than_the_four_are_refused)
{
    EXPECT_REFUSED(STR("[\f]"), STR("[\v]"), STR("\xc2\xa0[]"), STR("[\xe2\x80\x83]"),
        STR("[\xe2\x81\xa0]"), STR("[\b]"));
}

TEST(comments_are_refused)
{
    EXPECT_REFUSED(STR("/**/1"), STR("1/**/"), STR("[1//\n]"), STR("{\"a\":/*x*/1}"), STR("#1"),
        STR("{}#"), STR("<!-- -->1"));
}

TEST(arrays_outside_the_grammar_are_refused)
{
    EXPECT_REFUSED(STR("["), STR("[1"), STR("[1,"), STR("[1,]"), STR("[,1]"), STR("[,]"),
        STR("[1,,2]"), STR("[1 2]"), STR("[1}"), STR("[1;2]"), STR("[\"a\":1]"), STR("[\"a\""),
        STR("[1,\n1\n,1"), STR("[[]"), STR("[1:2]"), STR("[<null>]"), STR("[*]"), STR("[}"));
}

TEST(objects_outside_the_grammar_are_refused)
{
    EXPECT_REFUSED(STR("{"), STR("{\"a\""), STR("{\"a\":"), STR("{\"a\":1"), STR("{\"a\":1,"),
        STR("{\"a\":1,}"), STR("{,\"a\":1}"), STR("{\"a\"}"), STR("{\"a\",1}"), STR("{\"a\":}"),
        STR("{:1}"), STR("{a:1}"), STR("{'a':1}"), STR("{1:1}"), STR("{null:1}"), STR("{[]:1}"),
        STR("{\"a\":1 \"b\":2}"), STR("{\"a\":1,,\"b\":2}"), STR("{\"a\"::1}"), STR("{\"a\":1]"),
        STR("{\"a\" 1}"), STR("{\"a\":\"b\"}#"), STR("{\"a\":1;}"), STR("{\"a\":1:2}"), STR("{]"),
        STR("{\"a\":/1}"));
}

/* ---- duplicate names ---- */

TEST(duplicate_key_is_refused_where_the_second_stands)
{
    EXPECT_FAULT("{\"a\":1,\"b\":2,\"a\":1}", 13, "two members of the same name");
    EXPECT_FAULT("[0,{\"x\":{\"\":1,\"\":2}}]", 14, "two members of the same name");
}

TEST(u_0000_is_refused_in_values_and_in_names)
{
    EXPECT_FAULT("\"\\u0000\"", 1, "\\u0000 is not allowed");
    EXPECT_FAULT("{\"a\":[\"bc\\u0000d\"]}", 9, "\\u0000 is not allowed");
    EXPECT_FAULT("{\"a\\u0000\":1}", 3, "\\u0000 is not allowed");
    EXPECT_ACCEPTED(STR("\"\\\\u0000\""), STR("\"\\u0001\""), STR("\"\\u0010\""));
}

TEST(duplicate_key_written_with_escapes_is_refused)
{
    EXPECT_REFUSED(STR("{\"a\":1,\"\\u0061\":2}"), STR("{\"\\u0061\":1,\"a\":2}"),
        STR("{\"\\u00e9\":1,\"\xc3\xa9\":2}"), STR("{\"\\u00E9\":1,\"\\u00e9\":2}"),
        STR("{\"\\ud834\\udd1e\":1,\"\xf0\x9d\x84\x9e\":2}"), STR("{\"/\":1,\"\\/\":2}"),
        STR("{\"\\n\":1,\"\\u000a\":2}"), STR("{\"\\\"\":1,\"\\u0022\":2}"),
        STR("{\"a\\u0001\":1,\"a\\u0001\":2}"));
    EXPECT_ACCEPTED(STR("{\"a\":1,\"\\\\u0061\":2}"), STR("{\"\\u0001\":1,\"\":2}"),
        STR("{\"a\\u0001b\":1,\"a\\u0001c\":2}"), STR("{\"\\n\":1,\"n\":2}"));
}

/* {"k0":0,"k1":0,…} with `last` as the last name. */
static struct str object_of_many(struct arena *arena, int count, const char *last)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, TEST_ARENA_BYTES);
    buf_append_byte(&b, '{');
    for (int i = 0; i < count; i++)
        buf_printf(&b, "\"k%d\":0,", i);
    buf_printf(&b, "\"%s\":0}", last);
    return arena_str(arena, buf_str(&b));
}

TEST(duplicate_key_is_found_at_every_place_around_the_size_where_the_method_changes)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    for (int count = 1; count < 40; count++) {
        EXPECT(accepts(object_of_many(&a, count, "other")));
        for (int i = 0; i < count; i++) {
            const char *plain = arena_cstr(&a, arena_printf(&a, "k%d", i));
            const char *escaped = arena_cstr(&a, arena_printf(&a, "\\u006b%d", i));
            EXPECT(!accepts(object_of_many(&a, count, plain)));
            EXPECT(!accepts(object_of_many(&a, count, escaped)));
        }
    }
}

TEST(an_object_of_very_many_names_is_checked_too)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT(accepts(object_of_many(&a, 200000, "other")));
    EXPECT(!accepts(object_of_many(&a, 200000, "k123456")));
}

/* ---- limits ---- */

static bool accepts_nested(size_t times, struct str open, struct str inner, struct str close)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    return accepts(arena_printf(&a, "%.*s%.*s%.*s", STR_ARG(repeated(&a, open, times)),
        STR_ARG(inner), STR_ARG(repeated(&a, close, times))));
}

TEST(nesting_is_accepted_up_to_the_limit_and_not_one_level_deeper)
{
    EXPECT(accepts_nested(JSON_MAX_DEPTH, STR("["), STR("0"), STR("]")));
    EXPECT(!accepts_nested(JSON_MAX_DEPTH, STR("["), STR("[]"), STR("]")));
    EXPECT(accepts_nested(JSON_MAX_DEPTH / 2, STR("[{\"a\":"), STR("0"), STR("}]")));
    EXPECT(!accepts_nested(JSON_MAX_DEPTH / 2, STR("[{\"a\":"), STR("{}"), STR("}]")));
    EXPECT(!accepts_nested(100000, STR("["), STR(""), STR("")));
    EXPECT(!accepts_nested(100000, STR("{\"a\":"), STR(""), STR("")));
}

TEST(levels_that_are_closed_again_do_not_count)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str many = repeated(&a, STR("[{}],"), 1000);
    EXPECT(accepts(arena_printf(&a, "[%.*s0]", STR_ARG(many))));
}

TEST(a_text_with_more_values_than_the_budget_holds_is_refused)
{
    CLEANUP(arena_deinit) struct arena a, texts;
    struct json_doc doc = {0};
    struct json_error error = {0};
    arena_init(&texts, TEST_ARENA_BYTES);
    struct str text = arena_printf(&texts, "[%.*s0]", STR_ARG(repeated(&texts, STR("0,"), 9998)));
    arena_init(&a, 16 * 10000);
    EXPECT(json_parse(&a, text, &doc, &error));
    EXPECT(!arena_is_over(&a));
    EXPECT(!json_parse(&a, STR("0"), &doc, &error));
    EXPECT_EQ(doc.n_nodes, 10000);
    arena_clear(&a);
    arena_init(&a, 16 * 10000 - 1);
    EXPECT(!json_parse(&a, text, &doc, &error));
    EXPECT(strstr(error.rule, "more values") != NULL);
    EXPECT(!arena_is_over(&a));
}

TEST(a_text_of_four_gigabytes_is_refused_unread)
{
    CLEANUP(arena_deinit) struct arena a;
    struct json_doc doc;
    struct json_error error = {0};
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT(!json_parse(&a, (struct str){"0", (size_t)UINT32_MAX + 1}, &doc, &error));
    EXPECT(strstr(error.rule, "too long") != NULL);
}

/* ---- what an error says ---- */

TEST(errors_name_the_byte_and_the_rule)
{
    EXPECT_FAULT("", 0, "ends where a value must be");
    EXPECT_FAULT("[1 2]", 3, "a comma or ]");
    EXPECT_FAULT("[1,]", 3, "a value must be here");
    EXPECT_FAULT("{\"a\" 1}", 5, "a colon");
    EXPECT_FAULT("{\"a\":1 \"b\"}", 7, "a comma or }");
    EXPECT_FAULT("{1:2}", 1, "name must be a string");
    EXPECT_FAULT("[\"ab\x01\"]", 4, "control character");
    EXPECT_FAULT("[\"a\\q\"]", 3, "must not contain this escape");
    EXPECT_FAULT("[\"a\\ud800\"]", 3, "surrogate");
    EXPECT_FAULT("\"\xff\"", 1, "UTF-8");
    EXPECT_FAULT("[012]", 1, "leading zeros");
    EXPECT_FAULT("1 x", 2, "nothing may follow");
    EXPECT_FAULT("\"abc", 4, "quotation mark");
    EXPECT_FAULT("[tru]", 1, "true, false or null");
}

/* Every prefix of a good text but the whole is bad, and none is read past its end. */
TEST(no_prefix_of_a_document_is_a_document)
{
    struct str whole =
        STR("{\"a\\u0041\\ud834\\udd1e\":[-1.5e+3,true,null,\"\xe2\x82\xac\"],\"b\":{}}");
    for (size_t len = 0; len < whole.len; len++) {
        char *exact = malloc(len > 0 ? len : 1);
        memcpy(exact, whole.ptr, len);
        EXPECT(!accepts((struct str){exact, len}));
        free(exact);
    }
    EXPECT(accepts(whole));
}

/* The scan processes words of eight bytes: it must find a special byte at every position. */
TEST(a_bad_byte_is_found_at_every_place_in_a_string)
{
    const char odd[] = {'\x01', '\x1f', '\x80', '\xff', '\0', '\n'};
    for (size_t len = 1; len < 40; len++) {
        for (size_t at = 0; at < len; at++) {
            char text[48];
            memset(text, 'x', sizeof text);
            text[0] = '"';
            text[len + 1] = '"';
            EXPECT(accepts((struct str){text, len + 2}));
            for (size_t i = 0; i < sizeof odd; i++) {
                text[at + 1] = odd[i];
                EXPECT(!accepts((struct str){text, len + 2}));
            }
            text[at + 1] = '"';
            EXPECT(!accepts((struct str){text, len + 2}));
        }
    }
}
