/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http.h"
#include "test.h"

static bool decodes_to(struct str encoded, bool query, struct str expected)
{
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 4096);
    struct str decoded = STR_NONE;
    return http_decode_percent(&arena, encoded, query, &decoded) && str_eq(decoded, expected);
}

static bool is_refused(struct str encoded)
{
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 4096);
    struct str decoded = STR("untouched");
    return !http_decode_percent(&arena, encoded, true, &decoded) &&
           str_eq(decoded, STR("untouched"));
}

TEST(percent_encoding_is_decoded)
{
    EXPECT(decodes_to(STR(""), false, STR("")));
    EXPECT(decodes_to(STR("a%20b%2F%c3%A9"), false, STR("a b/\xc3\xa9")));
    EXPECT(decodes_to(STR("a+b"), false, STR("a+b")));
    EXPECT(decodes_to(STR("a+b%2B"), true, STR("a b+")));
}

TEST(malformed_percent_encoding_is_refused)
{
    EXPECT(is_refused(STR("%")));
    EXPECT(is_refused(STR("a%2")));
    EXPECT(is_refused(STR("%2g")));
    EXPECT(is_refused(STR("%%20")));
    EXPECT(is_refused(STR("%00")));
    EXPECT(is_refused(STR("%ff")));
    EXPECT(is_refused(STR("%c3")));
    EXPECT(is_refused(STR("%ed%a0%80")));
}

TEST(every_status_in_use_has_a_reason)
{
    EXPECT_STR(str_of(http_reason(200)), STR("OK"));
    EXPECT_STR(str_of(http_reason(431)), STR("Request Header Fields Too Large"));
    EXPECT_STR(str_of(http_reason(299)), STR(""));
}
