/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/json/json_patch.h"
#include "parsed.h"

static const struct {
    struct str target;
    struct str patch;
    struct str result;
} merges[] = {
    /* RFC 7396 section 3 and appendix A. */
    {STR("{\"a\":\"b\",\"c\":{\"d\":\"e\",\"f\":\"g\"}}"), STR("{\"a\":\"z\",\"c\":{\"f\":null}}"),
        STR("{\"a\":\"z\",\"c\":{\"d\":\"e\"}}")},
    {STR("{\"a\":\"b\"}"), STR("{\"a\":\"c\"}"), STR("{\"a\":\"c\"}")},
    {STR("{\"a\":\"b\"}"), STR("{\"b\":\"c\"}"), STR("{\"a\":\"b\",\"b\":\"c\"}")},
    {STR("{\"a\":\"b\"}"), STR("{\"a\":null}"), STR("{}")},
    {STR("{\"a\":\"b\",\"b\":\"c\"}"), STR("{\"a\":null}"), STR("{\"b\":\"c\"}")},
    {STR("{\"a\":[\"b\"]}"), STR("{\"a\":\"c\"}"), STR("{\"a\":\"c\"}")},
    {STR("{\"a\":\"c\"}"), STR("{\"a\":[\"b\"]}"), STR("{\"a\":[\"b\"]}")},
    {STR("{\"a\":{\"b\":\"c\"}}"), STR("{\"a\":{\"b\":\"d\",\"c\":null}}"),
        STR("{\"a\":{\"b\":\"d\"}}")},
    {STR("{\"a\":[{\"b\":\"c\"}]}"), STR("{\"a\":[1]}"), STR("{\"a\":[1]}")},
    {STR("[\"a\",\"b\"]"), STR("[\"c\",\"d\"]"), STR("[\"c\",\"d\"]")},
    {STR("{\"a\":\"b\"}"), STR("[\"c\"]"), STR("[\"c\"]")},
    {STR("{\"a\":\"foo\"}"), STR("null"), STR("null")},
    {STR("{\"a\":\"foo\"}"), STR("\"bar\""), STR("\"bar\"")},
    {STR("{\"e\":null}"), STR("{\"a\":1}"), STR("{\"e\":null,\"a\":1}")},
    {STR("[1,2]"), STR("{\"a\":\"b\",\"c\":null}"), STR("{\"a\":\"b\"}")},
    {STR("{}"), STR("{\"a\":{\"bb\":{\"ccc\":null}}}"), STR("{\"a\":{\"bb\":{}}}")},
    /* And ours: names written differently, order, blanks, nulls inside arrays. */
    {STR("{\"a\":1,\"b\":2}"), STR("{\"\\u0061\":null}"), STR("{\"b\":2}")},
    {STR("{\"\\u0061\":1}"), STR("{\"a\":{\"x\":null}}"), STR("{\"\\u0061\":{}}")},
    {STR("{ \"z\" : 1 , \"y\" : [ 1 , 2 ] }"), STR("{ \"a\" : [ null ] }"),
        STR("{\"z\":1,\"y\":[1,2],\"a\":[null]}")},
    {STR("{\"a\":1}"), STR("{}"), STR("{\"a\":1}")},
    {STR("{\"a\":1.50}"), STR("{\"b\":1E400}"), STR("{\"a\":1.50,\"b\":1E400}")},
};

TEST(merge_patches_give_what_rfc_7396_says)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    for (size_t i = 0; i < COUNT_OF(merges); i++) {
        struct str result = STR_NONE;
        struct json_patch_error error;
        EXPECT(json_merge_patch(
            &a, parsed(&a, merges[i].target), parsed(&a, merges[i].patch), 1000, &result, &error));
        EXPECT_STR(result, merges[i].result);
    }
}

/* {"k0":0,…}, or with null for each value. */
static struct str object_of_many(struct arena *arena, int count, const char *value)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, TEST_ARENA_BYTES);
    for (int i = 0; i < count; i++)
        buf_printf(&b, "%c\"k%d\":%s", i == 0 ? '{' : ',', i, value);
    buf_append_byte(&b, '}');
    return arena_str(arena, buf_str(&b));
}

TEST(large_objects_merge_member_by_member)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str zeros = object_of_many(&a, 30000, "0"), ones = object_of_many(&a, 30000, "1");
    struct str nulls = object_of_many(&a, 29999, "null"), result = STR_NONE;
    struct json_patch_error error;
    EXPECT(json_merge_patch(&a, parsed(&a, zeros), parsed(&a, ones), zeros.len, &result, &error));
    EXPECT_STR(result, ones);
    EXPECT(json_merge_patch(&a, parsed(&a, zeros), parsed(&a, nulls), zeros.len, &result, &error));
    EXPECT_STR(result, STR("{\"k29999\":0}"));
}

TEST(a_merge_may_fill_its_limit_and_not_pass_it)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json target = PARSED(&a, "{\"a\":1}"), patch = PARSED(&a, "{\"b\":2}");
    struct str result = STR("untouched");
    struct json_patch_error error = {.malformed = true};
    EXPECT(!json_merge_patch(&a, target, patch, 12, &result, &error));
    EXPECT_STR(result, STR("untouched"));
    EXPECT(!error.malformed);
    EXPECT_STR(error.pointer, STR(""));
    EXPECT_STR(error.rule, STR("the result would be too large"));
    EXPECT(json_merge_patch(&a, target, patch, 13, &result, &error));
    EXPECT_STR(result, STR("{\"a\":1,\"b\":2}"));
}

TEST(a_merge_past_the_budget_of_the_request_is_refused)
{
    CLEANUP(arena_deinit) struct arena docs, small;
    arena_init(&docs, TEST_ARENA_BYTES);
    arena_init(&small, 8);
    struct str result;
    struct json_patch_error error;
    EXPECT(!json_merge_patch(
        &small, PARSED(&docs, "{\"a\":1}"), PARSED(&docs, "{\"b\":2}"), 1000, &result, &error));
    EXPECT_STR(error.rule, STR("the patch needs more memory than a request may use"));
}
