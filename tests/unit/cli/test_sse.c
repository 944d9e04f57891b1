/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sse.h"

#include "test.h"

static struct str stream(void)
{
    return STR(": hello\n\nid: 1\ndata: {\"a\":1}\n\n"
               "event: gap\r\ndata: x\r\ndata:y\r\n\r\n"
               "id: 9\n\n" /* no data: no event */
               "data: last\n\nid: 10\ndata: unfinished\n");
}

static void expect_events(struct sse *s, size_t *n)
{
    static const struct {
        const char *name, *id, *data;
    } expected[] = {{"", "1", "{\"a\":1}"}, {"gap", NULL, "x\ny"}, {"", NULL, "last"}};
    struct sse_event e;
    while (sse_next(s, &e)) {
        EXPECT(*n < COUNT_OF(expected));
        if (*n >= COUNT_OF(expected))
            return;
        EXPECT_STR(e.name, str_of(expected[*n].name));
        EXPECT_EQ(str_is_none(e.id), expected[*n].id == NULL);
        EXPECT_STR(e.id, str_of(expected[*n].id));
        EXPECT_STR(e.data, str_of(expected[*n].data));
        ++*n;
    }
}

TEST(events_are_found_however_the_stream_is_cut)
{
    for (size_t step = 1; step <= stream().len; step++) {
        struct sse s CLEANUP(sse_deinit);
        size_t n = 0;
        sse_init(&s);
        for (size_t at = 0; at < stream().len; at += step) {
            EXPECT(sse_feed(&s, str_slice(stream(), at, at + step)));
            expect_events(&s, &n);
        }
        EXPECT_EQ(n, 3);
    }
}

TEST(what_a_lost_connection_left_is_forgotten)
{
    struct sse s CLEANUP(sse_deinit);
    struct sse_event e;
    sse_init(&s);
    EXPECT(sse_feed(&s, STR("id: 1\ndata: half")));
    EXPECT(!sse_next(&s, &e));
    sse_reset(&s);
    EXPECT(sse_feed(&s, STR("data: whole\n\n")));
    EXPECT(sse_next(&s, &e));
    EXPECT_STR(e.data, STR("whole"));
    EXPECT(str_is_none(e.id));
    EXPECT(!sse_next(&s, &e));
}

TEST(an_event_without_an_end_is_refused)
{
    struct sse s CLEANUP(sse_deinit);
    bool taken = true;
    char piece[64 * 1024];
    memset(piece, 'x', sizeof piece);
    sse_init(&s);
    for (size_t i = 0; i < 100 && taken; i++)
        taken = sse_feed(&s, (struct str){piece, sizeof piece});
    EXPECT(!taken);
}
