/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_patch.h"

#include "base/buf.h"
#include "parsed.h"

enum { MAX_RESULT_BYTES = 1024 * 1024 };

struct patch_case {
    const char *name;
    struct str target;
    struct str patch;
    struct str result; /* none: refused */
    struct str pointer;
    struct str rule;
    bool malformed;
};

static void expect_case(const struct patch_case *c)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str result = STR_NONE;
    struct json_patch_error error = {0};
    bool applied = json_patch(
        &a, parsed(&a, c->target), parsed(&a, c->patch), MAX_RESULT_BYTES, &result, &error);
    if (applied != !str_is_none(c->result) || (applied && !str_eq(result, c->result)))
        test_fail(__FILE__, __LINE__, "%s: got %.*s %.*s, expected %.*s", c->name, STR_ARG(result),
            STR_ARG(error.rule), STR_ARG(c->result));
    if (applied || !str_is_none(c->result))
        return;
    if (!str_eq(error.pointer, c->pointer) || !str_eq(error.rule, c->rule) ||
        error.malformed != c->malformed)
        test_fail(__FILE__, __LINE__, "%s: refused at %.*s: %.*s (malformed: %d)", c->name,
            STR_ARG(error.pointer), STR_ARG(error.rule), error.malformed);
}

static const struct patch_case rfc_6902_appendix_a[] = {
    {"A.1 adding an object member", STR("{\"foo\":\"bar\"}"),
        STR("[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]"),
        .result = STR("{\"foo\":\"bar\",\"baz\":\"qux\"}")},
    {"A.2 adding an array element", STR("{\"foo\":[\"bar\",\"baz\"]}"),
        STR("[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]"),
        .result = STR("{\"foo\":[\"bar\",\"qux\",\"baz\"]}")},
    {"A.3 removing an object member", STR("{\"baz\":\"qux\",\"foo\":\"bar\"}"),
        STR("[{\"op\":\"remove\",\"path\":\"/baz\"}]"), .result = STR("{\"foo\":\"bar\"}")},
    {"A.4 removing an array element", STR("{\"foo\":[\"bar\",\"qux\",\"baz\"]}"),
        STR("[{\"op\":\"remove\",\"path\":\"/foo/1\"}]"),
        .result = STR("{\"foo\":[\"bar\",\"baz\"]}")},
    {"A.5 replacing a value", STR("{\"baz\":\"qux\",\"foo\":\"bar\"}"),
        STR("[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]"),
        .result = STR("{\"baz\":\"boo\",\"foo\":\"bar\"}")},
    {"A.6 moving a value",
        STR("{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}"),
        STR("[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]"),
        .result = STR("{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\","
                      "\"thud\":\"fred\"}}")},
    {"A.7 moving an array element", STR("{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}"),
        STR("[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]"),
        .result = STR("{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}")},
    {"A.8 testing a value, success", STR("{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}"),
        STR("[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
            "{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]"),
        .result = STR("{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}")},
    {"A.9 testing a value, error", STR("{\"baz\":\"qux\"}"),
        STR("[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]"), .pointer = STR("/0/value"),
        .rule = STR("the value at the path is not the expected one")},
    {"A.10 adding a nested member object", STR("{\"foo\":\"bar\"}"),
        STR("[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]"),
        .result = STR("{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}")},
    {"A.11 ignoring unrecognized elements", STR("{\"foo\":\"bar\"}"),
        STR("[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]"),
        .result = STR("{\"foo\":\"bar\",\"baz\":\"qux\"}")},
    {"A.12 adding to a nonexistent target", STR("{\"foo\":\"bar\"}"),
        STR("[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]"),
        .pointer = STR("/0/path"), .rule = STR("the path does not lead to a value")},
    {"A.14 escape ordering", STR("{\"/\":9,\"~1\":10}"),
        STR("[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]"),
        .result = STR("{\"/\":9,\"~1\":10}")},
    {"A.15 comparing strings and numbers", STR("{\"/\":9,\"~1\":10}"),
        STR("[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]"), .pointer = STR("/0/value"),
        .rule = STR("the value at the path is not the expected one")},
    {"A.16 adding an array value", STR("{\"foo\":[\"bar\"]}"),
        STR("[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]"),
        .result = STR("{\"foo\":[\"bar\",[\"abc\",\"def\"]]}")},
};

TEST(json_patches_give_what_rfc_6902_says)
{
    for (size_t i = 0; i < COUNT_OF(rfc_6902_appendix_a); i++)
        expect_case(&rfc_6902_appendix_a[i]);
}

/* A.13: the operation names itself twice. */
TEST(a_patch_with_a_duplicate_op_is_no_json_for_us)
{
    CLEANUP(arena_deinit) struct arena a;
    struct json_doc doc;
    struct json_error error;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT(!json_parse(&a,
        STR("[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"op\":\"remove\"}]"), &doc,
        &error));
}

static const struct patch_case more_that_apply[] = {
    {"no operations", STR(" { \"a\" : 1 } "), STR("[]"), .result = STR("{\"a\":1}")},
    {"add replaces a member that is there", STR("{\"a\":1,\"b\":2}"),
        STR("[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]"),
        .result = STR("{\"a\":null,\"b\":2}")},
    {"add at the end by index", STR("[1,2]"), STR("[{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]"),
        .result = STR("[1,2,3]")},
    {"add into empty", STR("{\"a\":[],\"o\":{}}"),
        STR("[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":1},"
            "{\"op\":\"add\",\"path\":\"/o/\",\"value\":2}]"),
        .result = STR("{\"a\":[1],\"o\":{\"\":2}}")},
    {"add the whole", STR("{\"a\":1}"), STR("[{\"op\":\"add\",\"path\":\"\",\"value\":[ 7 ]}]"),
        .result = STR("[7]")},
    {"replace the whole", STR("[1]"), STR("[{\"op\":\"replace\",\"path\":\"\",\"value\":7}]"),
        .result = STR("7")},
    {"a member called as an index", STR("{\"0\":1,\"-\":2}"),
        STR("[{\"op\":\"replace\",\"path\":\"/0\",\"value\":3},"
            "{\"op\":\"remove\",\"path\":\"/-\"}]"),
        .result = STR("{\"0\":3}")},
    {"names that need escapes", STR("{}"),
        STR("[{\"op\":\"add\",\"path\":\"/a~1b~0\\\"\\n\\u00e9\",\"value\":1}]"),
        .result = STR("{\"a/b~\\\"\\n\xc3\xa9\":1}")},
    {"a name written with escapes is found and kept", STR("{\"\\u0061\":{\"b\":1}}"),
        STR("[{\"op\":\"add\",\"path\":\"/a/c\",\"value\":2}]"),
        .result = STR("{\"\\u0061\":{\"b\":1,\"c\":2}}")},
    {"move onto itself", STR("{\"a\":1}"),
        STR("[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]"), .result = STR("{\"a\":1}")},
    {"move to a name that begins the same", STR("{\"a\":1,\"x\":0}"),
        STR("[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/ab\"}]"),
        .result = STR("{\"x\":0,\"ab\":1}")},
    {"move over a member that is there", STR("{\"a\":1,\"b\":[2]}"),
        STR("[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]"), .result = STR("{\"b\":1}")},
    {"move a child over the whole", STR("{\"a\":{\"b\":1}}"),
        STR("[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"\"}]"), .result = STR("{\"b\":1}")},
    {"copies are apart", STR("{\"a\":{\"x\":[1]}}"),
        STR("[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},"
            "{\"op\":\"add\",\"path\":\"/b/x/-\",\"value\":2},"
            "{\"op\":\"copy\",\"from\":\"/b\",\"path\":\"/c\"},"
            "{\"op\":\"replace\",\"path\":\"/b/x/0\",\"value\":9}]"),
        .result = STR("{\"a\":{\"x\":[1]},\"b\":{\"x\":[9,2]},\"c\":{\"x\":[1,2]}}")},
    {"copy the whole into itself", STR("{\"a\":1}"),
        STR("[{\"op\":\"copy\",\"from\":\"\",\"path\":\"/b\"},"
            "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/b/c\"}]"),
        .result = STR("{\"a\":1,\"b\":{\"a\":1,\"c\":{\"a\":1,\"b\":{\"a\":1}}}}")},
    {"test by value, not by text", STR("{\"n\":1.0,\"o\":{\"a\":1,\"b\":[2,\"\\u0063\"]}}"),
        STR("[{\"op\":\"test\",\"path\":\"/n\",\"value\":10e-1},"
            "{\"op\":\"test\",\"path\":\"/o\",\"value\":{\"b\":[2,\"c\"],\"a\":1}},"
            "{\"op\":\"test\",\"path\":\"\",\"value\":{\"o\":{\"b\":[2,\"c\"],\"a\":1},\"n\":1}}]"),
        .result = STR("{\"n\":1.0,\"o\":{\"a\":1,\"b\":[2,\"\\u0063\"]}}")},
    {"test what the patch has changed", STR("{\"a\":[1,2,3]}"),
        STR("[{\"op\":\"remove\",\"path\":\"/a/1\"},"
            "{\"op\":\"add\",\"path\":\"/b\",\"value\":{}},"
            "{\"op\":\"test\",\"path\":\"\",\"value\":{\"b\":{},\"a\":[1,3]}}]"),
        .result = STR("{\"a\":[1,3],\"b\":{}}")},
    {"down to nothing and up again", STR("[1]"),
        STR("[{\"op\":\"remove\",\"path\":\"/0\"},{\"op\":\"add\",\"path\":\"/-\",\"value\":2},"
            "{\"op\":\"add\",\"path\":\"/0\",\"value\":1}]"),
        .result = STR("[1,2]")},
    {"a scalar as the whole", STR("5"), STR("[{\"op\":\"test\",\"path\":\"\",\"value\":5}]"),
        .result = STR("5")},
};

TEST(json_patches_apply_in_the_corners_too)
{
    for (size_t i = 0; i < COUNT_OF(more_that_apply); i++)
        expect_case(&more_that_apply[i]);
}

static const struct patch_case that_do_not_apply[] = {
    {"remove what is not there", STR("{\"a\":1}"),
        STR("[{\"op\":\"add\",\"path\":\"/b\",\"value\":1},{\"op\":\"remove\",\"path\":\"/c\"}]"),
        .pointer = STR("/1/path"), .rule = STR("the path does not lead to a value")},
    {"replace what is not there", STR("{}"),
        STR("[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]"), .pointer = STR("/0/path"),
        .rule = STR("the path does not lead to a value")},
    {"remove the whole", STR("{}"), STR("[{\"op\":\"remove\",\"path\":\"\"}]"),
        .pointer = STR("/0/path"), .rule = STR("the whole document cannot be removed")},
    {"an index past the end", STR("[1]"), STR("[{\"op\":\"add\",\"path\":\"/2\",\"value\":1}]"),
        .pointer = STR("/0/path"),
        .rule = STR("the path is not an index at which the array can grow")},
    {"an index with a needless 0", STR("[1,2]"), STR("[{\"op\":\"remove\",\"path\":\"/01\"}]"),
        .pointer = STR("/0/path"), .rule = STR("the path does not lead to a value")},
    {"a name in an array", STR("[1]"), STR("[{\"op\":\"add\",\"path\":\"/a\",\"value\":1}]"),
        .pointer = STR("/0/path"),
        .rule = STR("the path is not an index at which the array can grow")},
    {"remove at the place after the last", STR("[1]"), STR("[{\"op\":\"remove\",\"path\":\"/-\"}]"),
        .pointer = STR("/0/path"), .rule = STR("the path does not lead to a value")},
    {"through a scalar", STR("{\"a\":1}"), STR("[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]"),
        .pointer = STR("/0/path"),
        .rule = STR("the path passes through a value without members or items")},
    {"move into itself", STR("{\"a\":{\"b\":1}}"),
        STR("[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]"), .pointer = STR("/0/path"),
        .rule = STR("a value cannot be moved into itself")},
    {"move the whole into itself", STR("{}"),
        STR("[{\"op\":\"move\",\"from\":\"\",\"path\":\"/a\"}]"), .pointer = STR("/0/path"),
        .rule = STR("a value cannot be moved into itself")},
    {"move from nowhere", STR("{}"), STR("[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]"),
        .pointer = STR("/0/from"), .rule = STR("the path does not lead to a value")},
    {"copy from nowhere", STR("{}"), STR("[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]"),
        .pointer = STR("/0/from"), .rule = STR("the path does not lead to a value")},
    {"test what is not there", STR("{}"), STR("[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]"),
        .pointer = STR("/0/path"), .rule = STR("the path does not lead to a value")},
    {"test finds one item more", STR("{\"a\":[1,2]}"),
        STR("[{\"op\":\"remove\",\"path\":\"/a/0\"},{\"op\":\"test\",\"path\":\"/a\","
            "\"value\":[1,2]}]"),
        .pointer = STR("/1/value"), .rule = STR("the value at the path is not the expected one")},
};

TEST(json_patches_that_do_not_apply_say_where_and_why)
{
    for (size_t i = 0; i < COUNT_OF(that_do_not_apply); i++)
        expect_case(&that_do_not_apply[i]);
}

#define MISSING STR("the operation must have this member")
#define NO_POINTER STR("this must be a JSON Pointer")

static const struct patch_case malformed[] = {
    {"no array", STR("{}"), STR("{\"op\":\"remove\",\"path\":\"/a\"}"), .pointer = STR(""),
        .rule = STR("a JSON Patch must be an array of operations"), .malformed = true},
    {"no object", STR("{}"), STR("[5]"), .pointer = STR("/0"),
        .rule = STR("an operation must be an object"), .malformed = true},
    {"no op", STR("{}"), STR("[{\"path\":\"/a\"}]"), .pointer = STR("/0/op"), .rule = MISSING,
        .malformed = true},
    {"unknown op", STR("{}"), STR("[{\"op\":\"spam\",\"path\":\"/a\"}]"), .pointer = STR("/0/op"),
        .rule =
            STR("this must be \"add\", \"remove\", \"replace\", \"move\", \"copy\" or \"test\""),
        .malformed = true},
    {"no path", STR("{}"), STR("[{\"op\":\"remove\"}]"), .pointer = STR("/0/path"), .rule = MISSING,
        .malformed = true},
    {"path of another type", STR("{}"), STR("[{\"op\":\"remove\",\"path\":0}]"),
        .pointer = STR("/0/path"), .rule = STR("a JSON Pointer must be a string"),
        .malformed = true},
    {"path without a slash", STR("{}"), STR("[{\"op\":\"remove\",\"path\":\"a\"}]"),
        .pointer = STR("/0/path"), .rule = NO_POINTER, .malformed = true},
    {"path with a bad escape", STR("{}"), STR("[{\"op\":\"remove\",\"path\":\"/~2\"}]"),
        .pointer = STR("/0/path"), .rule = NO_POINTER, .malformed = true},
    {"no value", STR("{}"), STR("[{\"op\":\"add\",\"path\":\"/a\"}]"), .pointer = STR("/0/value"),
        .rule = MISSING, .malformed = true},
    {"no from", STR("{}"), STR("[{\"op\":\"copy\",\"path\":\"/a\"}]"), .pointer = STR("/0/from"),
        .rule = MISSING, .malformed = true},
    {"malformed comes before what does not apply", STR("{}"),
        STR("[{\"op\":\"remove\",\"path\":\"/nowhere\"},{\"op\":\"remove\",\"path\":\"x\"}]"),
        .pointer = STR("/1/path"), .rule = NO_POINTER, .malformed = true},
};

TEST(what_is_no_json_patch_is_told_from_one_that_does_not_apply)
{
    for (size_t i = 0; i < COUNT_OF(malformed); i++)
        expect_case(&malformed[i]);
}

/* ---- limits ---- */

static struct str rule_of_refusal(
    struct arena *a, struct str target, struct str patch, size_t max_bytes, size_t *out_operation)
{
    struct str result;
    struct json_patch_error error = {.rule = STR("applied")};
    if (!json_patch(a, parsed(a, target), parsed(a, patch), max_bytes, &result, &error))
        *out_operation = error.operation;
    return error.rule;
}

static struct str many_times(struct arena *a, struct str operation, size_t count)
{
    struct str repeats = repeated(a, arena_printf(a, "%.*s,", STR_ARG(operation)), count);
    return arena_printf(a, "[%.*s]", STR_ARG(str_slice(repeats, 0, repeats.len - 1)));
}

TEST(a_result_may_fill_its_limit_and_not_pass_it)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    size_t operation = 99;
    struct str patch = STR("[{\"op\":\"add\",\"path\":\"/b\",\"value\":[ 2 ]}]");
    EXPECT_STR(rule_of_refusal(&a, STR("{\"a\": 1}"), patch, 15, &operation), STR("applied"));
    EXPECT_STR(rule_of_refusal(&a, STR("{\"a\": 1}"), patch, 14, &operation),
        STR("the result would be too large"));
    EXPECT_EQ(operation, 0);
    EXPECT_STR(rule_of_refusal(&a, STR("[1,2,3]"), STR("[]"), 6, &operation),
        STR("the result would be too large"));
}

TEST(a_document_over_the_limit_may_be_patched_down_to_it)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    size_t operation;
    EXPECT_STR(rule_of_refusal(
                   &a, STR("[1,2,3]"), STR("[{\"op\":\"remove\",\"path\":\"/0\"}]"), 5, &operation),
        STR("applied"));
}

TEST(copying_a_value_into_itself_over_and_over_is_refused_at_the_limit)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    size_t operation = 0;
    struct str doubling =
        many_times(&a, STR("{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}"), 100);
    EXPECT_STR(rule_of_refusal(&a, STR("{\"a\":[0]}"), doubling, MAX_RESULT_BYTES, &operation),
        STR("the result would be too large"));
    EXPECT(operation > 10 && operation < 20);
}

static struct str nested(struct arena *a, size_t depth)
{
    return arena_printf(a, "%.*s%.*s", STR_ARG(repeated(a, STR("["), depth)),
        STR_ARG(repeated(a, STR("]"), depth)));
}

TEST(a_result_is_never_nested_deeper_than_json_may_be)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    size_t operation = 0;
    struct str add = arena_printf(&a, "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":%.*s}]",
        STR_ARG(nested(&a, JSON_MAX_DEPTH - 2)));
    EXPECT_STR(
        rule_of_refusal(&a, STR("{\"a\":{}}"), add, MAX_RESULT_BYTES, &operation), STR("applied"));
    struct str deeper = arena_printf(&a, "[{\"op\":\"add\",\"path\":\"/a/b/c\",\"value\":%.*s}]",
        STR_ARG(nested(&a, JSON_MAX_DEPTH - 2)));
    EXPECT_STR(rule_of_refusal(&a, STR("{\"a\":{\"b\":{}}}"), deeper, MAX_RESULT_BYTES, &operation),
        STR("the result would be nested too deeply"));
    struct str growing =
        many_times(&a, STR("{\"op\":\"copy\",\"from\":\"\",\"path\":\"/0\"}"), 300);
    EXPECT_STR(rule_of_refusal(&a, nested(&a, 120), growing, SIZE_MAX / 4, &operation),
        STR("the result would be nested too deeply"));
}

TEST(a_result_as_deep_as_json_may_be_parses_again)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str patch = arena_printf(&a, "[{\"op\":\"add\",\"path\":\"/0/0\",\"value\":%.*s}]",
        STR_ARG(nested(&a, JSON_MAX_DEPTH - 2)));
    struct str result = STR("0");
    struct json_patch_error error;
    EXPECT(
        json_patch(&a, PARSED(&a, "[[]]"), parsed(&a, patch), MAX_RESULT_BYTES, &result, &error));
    EXPECT_STR(result, nested(&a, JSON_MAX_DEPTH));
    EXPECT_EQ(json_type(parsed(&a, result)), JSON_ARRAY);
}

TEST(a_patch_that_moves_a_large_array_again_and_again_is_refused)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, SIZE_MAX / 2);
    size_t operation = 0;
    struct str zeros = repeated(&a, STR("0,"), 300000);
    struct str target = arena_printf(&a, "[%.*s0]", STR_ARG(zeros));
    struct str patch = many_times(&a,
        STR("{\"op\":\"add\",\"path\":\"/0\",\"value\":1},"
            "{\"op\":\"add\",\"path\":\"/-\",\"value\":1}"),
        1000);
    EXPECT_STR(rule_of_refusal(&a, target, patch, 2 * target.len, &operation),
        STR("the patch needs too much work"));
}

TEST(changes_of_neighbouring_items_cost_the_same_in_an_array_of_any_size)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, SIZE_MAX / 2);
    size_t operation = 0;
    struct str zeros = repeated(&a, STR("0,"), 300000);
    struct str target = arena_printf(&a, "[%.*s0]", STR_ARG(zeros));
    struct str patch = many_times(&a,
        STR("{\"op\":\"add\",\"path\":\"/7\",\"value\":1},{\"op\":\"remove\",\"path\":\"/3\"}"),
        5000);
    EXPECT_STR(rule_of_refusal(&a, target, patch, 2 * target.len, &operation), STR("applied"));
}

TEST(changes_of_members_cost_the_same_in_an_object_of_any_size)
{
    enum { MEMBERS = 20000, CHANGES = 5000 };
    CLEANUP(arena_deinit) struct arena a;
    CLEANUP(buf_deinit) struct buf target, patch;
    arena_init(&a, SIZE_MAX / 2);
    buf_init(&target, TEST_ARENA_BYTES);
    buf_init(&patch, TEST_ARENA_BYTES);
    size_t operation = 0;
    for (int i = 0; i < MEMBERS; i++)
        buf_printf(&target, "%c\"k%d\":0", i == 0 ? '{' : ',', i);
    buf_append_byte(&target, '}');
    for (int i = 0; i < CHANGES; i++)
        buf_printf(&patch,
            "%c{\"op\":\"remove\",\"path\":\"/k%d\"},"
            "{\"op\":\"add\",\"path\":\"/new%d\",\"value\":1}",
            i == 0 ? '[' : ',', MEMBERS - 1 - i, i);
    buf_append_byte(&patch, ']');
    EXPECT_STR(rule_of_refusal(&a, buf_str(&target), buf_str(&patch), 1 << 20, &operation),
        STR("applied"));
}

TEST(members_of_a_large_object_keep_their_order_through_removals_and_additions)
{
    CLEANUP(arena_deinit) struct arena a;
    CLEANUP(buf_deinit) struct buf target, expected;
    arena_init(&a, TEST_ARENA_BYTES);
    buf_init(&target, TEST_ARENA_BYTES);
    buf_init(&expected, TEST_ARENA_BYTES);
    for (int i = 0; i < 100; i++)
        buf_printf(&target, "%c\"k%d\":%d", i == 0 ? '{' : ',', i, i);
    buf_append_byte(&target, '}');
    for (int i = 0; i < 100; i++)
        if (i != 50)
            buf_printf(&expected, "%c\"k%d\":%d", i == 0 ? '{' : ',', i, i);
    buf_append(&expected, STR(",\"k50\":[1]}"));
    struct str result = STR_NONE;
    struct json_patch_error error;
    EXPECT(json_patch(&a, parsed(&a, buf_str(&target)),
        PARSED(&a, "[{\"op\":\"remove\",\"path\":\"/k50\"},"
                   "{\"op\":\"add\",\"path\":\"/k50\",\"value\":[]},"
                   "{\"op\":\"add\",\"path\":\"/k50/0\",\"value\":1},"
                   "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/copy\"},"
                   "{\"op\":\"test\",\"path\":\"/copy/k50\",\"value\":[1]},"
                   "{\"op\":\"remove\",\"path\":\"/copy\"}]"),
        MAX_RESULT_BYTES, &result, &error));
    EXPECT_STR(result, buf_str(&expected));
}

TEST(a_patch_has_a_limited_number_of_operations)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, SIZE_MAX / 2);
    size_t operation = 0;
    struct str test = STR("{\"op\":\"test\",\"path\":\"\",\"value\":0}");
    EXPECT_STR(rule_of_refusal(&a, STR("0"), many_times(&a, test, JSON_PATCH_OPERATIONS_MAX),
                   MAX_RESULT_BYTES, &operation),
        STR("applied"));
    EXPECT_STR(rule_of_refusal(&a, STR("0"), many_times(&a, test, JSON_PATCH_OPERATIONS_MAX + 1),
                   MAX_RESULT_BYTES, &operation),
        STR("must have at most 10000 operations"));
}

TEST(a_patch_that_needs_more_memory_than_the_request_has_is_refused)
{
    CLEANUP(arena_deinit) struct arena docs, a;
    arena_init(&docs, TEST_ARENA_BYTES);
    struct str zeros = repeated(&docs, STR("0,"), 10000), result;
    struct json target = parsed(&docs, arena_printf(&docs, "[%.*s0]", STR_ARG(zeros)));
    struct json patch = PARSED(&docs, "[{\"op\":\"remove\",\"path\":\"/0\"}]");
    struct json_patch_error error;
    arena_init(&a, 100000);
    EXPECT(!json_patch(&a, target, patch, MAX_RESULT_BYTES, &result, &error));
    EXPECT_STR(error.rule, STR("the patch needs more memory than a request may use"));
    EXPECT(!arena_is_over(&a));
}

TEST(a_patch_of_many_operations_builds_a_large_document)
{
    CLEANUP(arena_deinit) struct arena a;
    CLEANUP(buf_deinit) struct buf patch, expected;
    arena_init(&a, TEST_ARENA_BYTES);
    buf_init(&patch, TEST_ARENA_BYTES);
    buf_init(&expected, TEST_ARENA_BYTES);
    for (int i = 0; i < 2000; i++) {
        buf_printf(
            &patch, "%c{\"op\":\"add\",\"path\":\"/k%d\",\"value\":%d}", i == 0 ? '[' : ',', i, i);
        buf_printf(&expected, "%c\"k%d\":%d", i == 0 ? '{' : ',', i, i);
    }
    buf_append_byte(&patch, ']');
    buf_append_byte(&expected, '}');
    struct str result = STR_NONE;
    struct json_patch_error error;
    EXPECT(json_patch(
        &a, PARSED(&a, "{}"), parsed(&a, buf_str(&patch)), MAX_RESULT_BYTES, &result, &error));
    EXPECT_STR(result, buf_str(&expected));
}
