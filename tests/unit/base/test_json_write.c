/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "parsed.h"

TEST(commas_and_nesting_come_by_themselves)
{
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    buf_init(&b, 1000);
    json_writer_init(&w, &b);
    json_write_object(&w);
    json_write_key(&w, STR("a"));
    json_write_array(&w);
    json_write_i64(&w, -1);
    json_write_u64(&w, UINT64_MAX);
    json_write_array(&w);
    json_write_end(&w);
    json_write_object(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_key(&w, STR("b"));
    json_write_bool(&w, true);
    json_write_key(&w, STR("c"));
    json_write_null(&w);
    json_write_end(&w);
    EXPECT_STR(buf_str(&b), STR("{\"a\":[-1,18446744073709551615,[],{}],\"b\":true,\"c\":null}"));
}

static struct str written_string(struct arena *arena, struct str s)
{
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    buf_init(&b, 100000);
    json_writer_init(&w, &b);
    json_write_string(&w, s);
    return arena_str(arena, buf_str(&b));
}

TEST(strings_are_escaped_where_they_must_be_and_nowhere_else)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_STR(written_string(&a, STR("")), STR("\"\""));
    EXPECT_STR(written_string(&a, STR("a/b\x7f\xc3\xa9\xf0\x9d\x84\x9e")),
        STR("\"a/b\x7f\xc3\xa9\xf0\x9d\x84\x9e\""));
    EXPECT_STR(written_string(&a, STR("\"\\\b\f\n\r\t")), STR("\"\\\"\\\\\\b\\f\\n\\r\\t\""));
    EXPECT_STR(written_string(&a, STR("\0\x01\x1f")), STR("\"\\u0000\\u0001\\u001f\""));
    EXPECT_STR(written_string(&a, STR_NONE), STR("null"));
}

TEST(bytes_that_are_not_utf8_are_replaced)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_STR(written_string(&a, STR("a\377b")), STR("\"a\xef\xbf\275b\""));
    EXPECT_STR(written_string(&a, STR("\xe2\x82")), STR("\"\xef\xbf\xbd\xef\xbf\xbd\""));
    EXPECT_STR(written_string(&a, STR("\xc3\xa9\x80")), STR("\"\xc3\xa9\xef\xbf\xbd\""));
}

TEST(any_bytes_but_u_0000_make_a_string_that_parses)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    struct str ascii = {bytes + 1, 127}, all = {bytes + 1, 255}; /* all but U+0000 */
    EXPECT_STR(json_string(&a, parsed(&a, written_string(&a, ascii))), ascii);
    EXPECT_EQ(json_type(parsed(&a, written_string(&a, all))), JSON_STRING);
}

TEST(ids_and_times_are_written_as_strings)
{
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    buf_init(&b, 1000);
    json_writer_init(&w, &b);
    json_write_array(&w);
    json_write_uuid(&w, uuid_v7_from(0x017f22e279b0, 0xcc3, 0x18c4dc0c0c07398f));
    json_write_time(&w, 1);
    json_write_end(&w);
    EXPECT_STR(buf_str(&b),
        STR("[\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\",\"1970-01-01T00:00:00.000001Z\"]"));
}

static const struct {
    struct str text;
    struct str compact;
} compacted[] = {
    {STR(" 1.50E+2 "), STR("1.50E+2")},
    {STR("[ ]"), STR("[]")},
    {STR("{\n}"), STR("{}")},
    {STR("[ 1 , \"a b\" , [ ] , { } ]"), STR("[1,\"a b\",[],{}]")},
    {STR("{ \"a b\" : \" \\u0061 \\\" \" , \"c\" : [ true , null ] }"),
        STR("{\"a b\":\" \\u0061 \\\" \",\"c\":[true,null]}")},
    {STR("[[[1,2]], [3]]"), STR("[[[1,2]],[3]]")},
    {STR("{\"a\":{\"b\":[1, 2]},\"c\":3}"), STR("{\"a\":{\"b\":[1,2]},\"c\":3}")},
    {STR("\"x\""), STR("\"x\"")},
};

TEST(values_are_written_compact_with_strings_and_numbers_as_they_were)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    for (size_t i = 0; i < COUNT_OF(compacted); i++) {
        struct json v = parsed(&a, compacted[i].text);
        EXPECT_STR(json_compact(&a, v), compacted[i].compact);
        EXPECT_STR(json_compact_part(&a, v), compacted[i].compact);
        EXPECT_EQ(json_compact_len(v), compacted[i].compact.len);
    }
}

TEST(values_keys_and_raw_text_take_their_place_among_the_rest)
{
    CLEANUP(arena_deinit) struct arena a;
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    arena_init(&a, TEST_ARENA_BYTES);
    buf_init(&b, 1000);
    json_writer_init(&w, &b);
    json_write_object(&w);
    json_write_key_value(&w, PARSED(&a, "\"\\u0061\""));
    json_write_value(&w, PARSED(&a, "[ 1, 2 ]"));
    json_write_key(&w, STR("r"));
    json_write_raw(&w, STR("{\"x\":1}"));
    json_write_key(&w, STR("n"));
    json_write_raw(&w, STR_NONE);
    json_write_end(&w);
    EXPECT_STR(buf_str(&b), STR("{\"\\u0061\":[1,2],\"r\":{\"x\":1},\"n\":null}"));
}

TEST(a_compact_value_fits_a_buffer_of_exactly_its_size)
{
    CLEANUP(arena_deinit) struct arena a;
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json v = PARSED(&a, "[ 1 ,          2 ]");
    buf_init(&b, 5);
    json_writer_init(&w, &b);
    json_write_value(&w, v);
    EXPECT(!b.failed);
    EXPECT_STR(buf_str(&b), STR("[1,2]"));
}

TEST(writing_past_the_maximum_shows_at_the_end)
{
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    buf_init(&b, 10);
    json_writer_init(&w, &b);
    json_write_array(&w);
    for (int i = 0; i < 20; i++)
        json_write_i64(&w, i);
    json_write_end(&w);
    EXPECT(b.failed);
}
