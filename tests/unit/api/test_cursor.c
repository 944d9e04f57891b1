/* SPDX-License-Identifier: Apache-2.0 */
/* The cursors of call.h (lists by id) and of events_api.h (positions in a stream). */
#include "api/threads/events_api.h"
#include "base/hash.h"
#include "fixture.h"

struct decoding {
    struct arena arena;
    struct http_request request;
    struct call call;
};

static void begin(struct decoding *d)
{
    *d = (struct decoding){0};
    arena_init(&d->arena, SIZE_MAX);
    call_init(&d->call, NULL, &d->arena, &d->request);
}

static void end(struct decoding *d)
{
    call_deinit(&d->call);
    arena_deinit(&d->arena);
}

/* --- Lists ---------------------------------------------------------------------------------- */

TEST(a_lists_cursor_names_the_same_id_when_it_comes_back)
{
    struct decoding d;
    begin(&d);
    struct uuid back = UUID_NIL;
    bool has = false;
    struct str cursor = cursor_from_uuid(&d.arena, DEFAULT_TENANT_ID);
    EXPECT_EQ(cursor.len, 22);
    EXPECT_EQ(cursor_to_uuid(&d.call, cursor, &has, &back), OK);
    EXPECT(has);
    EXPECT(uuid_eq(back, DEFAULT_TENANT_ID));
    end(&d);
}

TEST(without_a_cursor_a_list_starts_at_its_beginning)
{
    struct decoding d;
    begin(&d);
    /* Outputs that the caller has not initialised are set, too. */
    struct uuid id = DEFAULT_TENANT_ID;
    struct str text = STR("left over");
    int64_t number = 7;
    bool has = true;
    EXPECT_EQ(cursor_to_uuid(&d.call, STR_NONE, &has, &id), OK);
    EXPECT(!has);
    EXPECT(uuid_is_nil(id));
    EXPECT_EQ(cursor_to_text(&d.call, STR_NONE, &text), OK);
    EXPECT(str_is_none(text));
    EXPECT_EQ(cursor_to_number(&d.call, STR_NONE, &number), OK);
    EXPECT_EQ(number, 0);
    end(&d);
}

TEST(what_is_no_cursor_of_a_list_is_refused)
{
    static const char *const bad[] = {"", "x", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAA==", "AAAAAAAAAAAAAAAAAAAAA*", "AAAAAAAAAAAAAAAAAAAAAB",
        "018f0000-0000-7000-8000-000000000001", "AAAAAAAAAAAAAAAAAAAAAA "};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct decoding d;
        begin(&d);
        struct uuid id = DEFAULT_TENANT_ID;
        bool has = false;
        if (cursor_to_uuid(&d.call, str_of(bad[i]), &has, &id) != ERR_BAD_CURSOR)
            test_fail(__FILE__, __LINE__, "\"%s\" was accepted", bad[i]);
        EXPECT(!has);
        EXPECT(uuid_eq(id, DEFAULT_TENANT_ID));
        EXPECT_EQ(d.call.problem.code, ERR_BAD_CURSOR);
        EXPECT_STR(d.call.problem.faults[0].pointer, STR("cursor"));
        end(&d);
    }
}

/* --- Streams -------------------------------------------------------------------------------- */

TEST(a_streams_cursor_is_the_same_when_it_comes_back)
{
    static const struct {
        struct event_cursor cursor;
        const char *text;
    } cases[] = {
        {{0, 0}, "0"},
        {{7, 0}, "7"},
        {{7, 7}, "7"}, /* a gap that lies behind needs no word */
        {{7, 9}, "7~9"},
        {{0, INT64_MAX}, "0~9223372036854775807"},
        {{INT64_MAX, 0}, "9223372036854775807"},
    };
    struct decoding d;
    begin(&d);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str text = event_cursor_text(&d.arena, cases[i].cursor);
        EXPECT_STR(text, str_of(cases[i].text));
        struct event_cursor back = {-1, -1};
        EXPECT(event_cursor_parse(text, true, &back));
        EXPECT_EQ(back.position, cases[i].cursor.position);
        EXPECT_STR(event_cursor_text(&d.arena, back), text);
    }
    end(&d);
}

TEST(what_is_no_cursor_of_a_stream_is_refused_and_nothing_is_changed)
{
    static const char *const bad[] = {"", "-0", "-1", "+1", "01", "1.0", "1e3", " 1", "1 ", "abc",
        "~", "1~", "~1", "1~-1", "-1~1", "1~1", "2~1", "0~0", "1~x", "1~2~3", "9223372036854775808",
        "1~9223372036854775808", "0x1"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct event_cursor cursor = {42, 43};
        if (event_cursor_parse(str_of(bad[i]), true, &cursor))
            test_fail(__FILE__, __LINE__, "\"%s\" was accepted", bad[i]);
        EXPECT_EQ(cursor.position, 42);
        EXPECT_EQ(cursor.told_gap, 43);
    }
    struct event_cursor unchanged = {42, 43};
    EXPECT(!event_cursor_parse(STR_NONE, true, &unchanged));
}

TEST(only_the_tenants_stream_has_cursors_with_a_gap)
{
    struct event_cursor cursor = {42, 43};
    EXPECT(!event_cursor_parse(STR("1~2"), false, &cursor));
    EXPECT(event_cursor_parse(STR("1"), false, &cursor));
    EXPECT_EQ(cursor.position, 1);
    EXPECT_EQ(cursor.told_gap, 0);
    EXPECT(event_cursor_parse(STR("1~2"), true, &cursor));
    EXPECT_EQ(cursor.told_gap, 2);
}
