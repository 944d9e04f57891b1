/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_diff.h"

#include "base/json/json_patch.h"
#include "parsed.h"

static struct str diff(struct arena *a, struct str from, struct str to, size_t *out_count)
{
    struct json_text text;
    json_text_init(&text, 1024 * 1024);
    json_write_array(&text.w);
    *out_count = json_diff(a, STR(""), parsed(a, from), parsed(a, to), &text.w);
    json_write_end(&text.w);
    return json_text_take(&text, a);
}

TEST(a_difference_names_what_was_added_removed_and_replaced)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    size_t n;
    EXPECT_STR(diff(&a, STR("{\"a\":1,\"b\":{\"c\":[1,2,3],\"d\":4},\"x/y\":0}"),
                   STR("{\"b\":{\"c\":[1,9,3],\"d\":4.0},\"e\":null,\"x/y\":1}"), &n),
        STR("[{\"op\":\"remove\",\"path\":\"/a\"},"
            "{\"op\":\"replace\",\"path\":\"/b/c/1\",\"value\":9},"
            "{\"op\":\"replace\",\"path\":\"/x~1y\",\"value\":1},"
            "{\"op\":\"add\",\"path\":\"/e\",\"value\":null}]"));
    EXPECT_EQ(n, 4);
    EXPECT_STR(diff(&a, STR("[1,2,3,4,5]"), STR("[1,4,5]"), &n),
        STR("[{\"op\":\"remove\",\"path\":\"/2\"},{\"op\":\"remove\",\"path\":\"/1\"}]"));
    EXPECT_STR(diff(&a, STR("[1,5]"), STR("[1,2,3,5]"), &n),
        STR("[{\"op\":\"add\",\"path\":\"/1\",\"value\":2},"
            "{\"op\":\"add\",\"path\":\"/2\",\"value\":3}]"));
    EXPECT_STR(diff(&a, STR("{\"a\":[1e2]}"), STR("{\"a\":[100]}"), &n), STR("[]"));
    EXPECT_EQ(n, 0);
}

TEST(the_patch_of_two_values_turns_the_one_into_the_other)
{
    static const char *const values[] = {"null", "1", "\"a\"", "[]", "{}", "[1,[2,3],{\"a\":4}]",
        "[{\"a\":4},[3],1]", "{\"a\":{\"b\":[1,2,3]},\"\":0}", "{\"a\":{\"b\":[3,2,1,0]},\"~\":[]}",
        "{\"a\":[],\"\":null,\"~\":{\"a\":1}}"};
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    for (size_t i = 0; i < COUNT_OF(values); i++)
        for (size_t k = 0; k < COUNT_OF(values); k++) {
            struct str from = str_of(values[i]), to = str_of(values[k]), result = STR_NONE;
            struct json_patch_error error;
            size_t n;
            struct str patch = diff(&a, from, to, &n);
            EXPECT_EQ(n == 0, i == k);
            if (!json_patch(&a, parsed(&a, from), parsed(&a, patch), 4096, &result, &error) ||
                !json_equal(parsed(&a, result), parsed(&a, to)))
                test_fail(
                    __FILE__, __LINE__, "%s to %s by %.*s", values[i], values[k], STR_ARG(patch));
        }
}
