/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/buf.h"
#include "test.h"

TEST(appended_pieces_stand_one_after_the_other)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 1000);
    buf_append(&b, STR("a"));
    buf_append_byte(&b, 'b');
    buf_append_u64(&b, UINT64_MAX);
    buf_append_byte(&b, ' ');
    buf_append_i64(&b, INT64_MIN);
    buf_printf(&b, " %d%s", 5, "x");
    EXPECT_STR(buf_str(&b), STR("ab18446744073709551615 -9223372036854775808 5x"));
}

TEST(integers_are_written_in_full_around_zero)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 100);
    const int64_t values[] = {0, -1, 1, -10, 10, INT64_MAX};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        buf_append_i64(&b, values[i]);
        buf_append_byte(&b, ' ');
    }
    EXPECT_STR(buf_str(&b), STR("0 -1 1 -10 10 9223372036854775807 "));
}

TEST(a_buffer_can_be_filled_to_its_maximum_exactly)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 5);
    buf_append(&b, STR("abc"));
    buf_printf(&b, "%d", 45);
    EXPECT(!b.failed);
    EXPECT_STR(buf_str(&b), STR("abc45"));
    buf_printf(&b, "%s", "");
    buf_append(&b, STR(""));
    EXPECT(!b.failed);
}

TEST(an_append_past_the_maximum_appends_nothing_and_ends_all_later_ones)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 5);
    buf_append(&b, STR("abc"));
    buf_append(&b, STR("def"));
    EXPECT(b.failed);
    buf_append_byte(&b, 'd');
    buf_printf(&b, "%d", 1);
    EXPECT_STR(buf_str(&b), STR("abc"));
    EXPECT(buf_reserve(&b, 1) == NULL);
    buf_reset(&b);
    buf_append(&b, STR("12345"));
    EXPECT_STR(buf_str(&b), STR("12345"));
    EXPECT(!b.failed);
}

TEST(formatted_text_past_the_maximum_appends_nothing)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 5);
    buf_printf(&b, "%d", 123456);
    EXPECT(b.failed);
    EXPECT_EQ(b.len, 0);
}

TEST(reserved_room_counts_only_when_it_is_advanced_over)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 1000);
    char *place = buf_reserve(&b, 100);
    memcpy(place, "hello", 5);
    EXPECT_EQ(b.len, 0);
    buf_advance(&b, 5);
    EXPECT_STR(buf_str(&b), STR("hello"));
}

TEST(consumed_bytes_leave_from_the_front)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 10);
    buf_append(&b, STR("abcdef"));
    buf_consume(&b, 2);
    EXPECT_STR(buf_str(&b), STR("cdef"));
    buf_consume(&b, 4);
    EXPECT_STR(buf_str(&b), STR(""));
    buf_append(&b, STR("0123456789"));
    EXPECT(!b.failed);
}

TEST(taken_memory_belongs_to_the_caller_and_the_buffer_starts_anew)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 10);
    buf_append(&b, STR("abc"));
    size_t len;
    CLEANUP(mem_freep) char *taken = buf_take(&b, &len);
    buf_append(&b, STR("new"));
    EXPECT_STR(((struct str){taken, len}), STR("abc"));
    EXPECT_STR(buf_str(&b), STR("new"));
}

TEST(a_buffer_grows_through_many_appends)
{
    CLEANUP(buf_deinit) struct buf b;
    buf_init(&b, 100000);
    for (int i = 0; i < 10000; i++)
        buf_append(&b, STR("0123456789"));
    EXPECT_EQ(b.len, 100000);
    EXPECT(!b.failed);
    EXPECT(b.cap <= b.max);
}
