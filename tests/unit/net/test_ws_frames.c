/* SPDX-License-Identifier: Apache-2.0 */
#include "net/ws_frames.h"
#include "test.h"

/* The results of a sequence of frames, as text: "T:hello P:x C:1000 B:1002". */
struct story {
    struct ws_reader *spare;
    struct ws_input input;
    struct buf text;
};

static void story_init(struct story *s, size_t limit)
{
    *s = (struct story){0};
    ws_input_init(&s->input, limit, &s->spare);
    buf_init(&s->text, 1 << 20);
}

static void story_deinit(struct story *s)
{
    ws_input_deinit(&s->input);
    ws_reader_destroy(s->spare);
    buf_deinit(&s->text);
}

static void tell(struct story *s, const struct ws_event *e)
{
    static const char kinds[] = {[WS_EVENT_PING] = 'P',
        [WS_EVENT_PONG] = 'O',
        [WS_EVENT_CLOSE] = 'C',
        [WS_EVENT_BROKEN] = 'B'};
    if (s->text.len > 0)
        buf_append_byte(&s->text, ' ');
    if (e->kind == WS_EVENT_CLOSE || e->kind == WS_EVENT_BROKEN)
        buf_printf(&s->text, "%c:%u", kinds[e->kind], e->code);
    else if (e->kind == WS_EVENT_MESSAGE)
        buf_printf(&s->text, "%c:%.*s", e->text ? 'T' : 'N', STR_ARG(e->payload));
    else
        buf_printf(&s->text, "%c:%.*s", kinds[e->kind], STR_ARG(e->payload));
}

static void feed(struct story *s, struct str bytes)
{
    for (;;) {
        struct ws_event e = ws_input_next(&s->input, &bytes);
        if (e.kind == WS_EVENT_MORE)
            break;
        tell(s, &e);
    }
    EXPECT_EQ(bytes.len, 0);
}

/* Whole, and byte by byte: the events must be the same. */
static void expect_story(struct str bytes, size_t limit, struct str expected)
{
    struct story whole CLEANUP(story_deinit), split CLEANUP(story_deinit);
    story_init(&whole, limit);
    story_init(&split, limit);
    feed(&whole, bytes);
    for (size_t i = 0; i < bytes.len; i++)
        feed(&split, str_slice(bytes, i, i + 1));
    EXPECT_STR(buf_str(&whole.text), expected);
    EXPECT_STR(buf_str(&split.text), expected);
}

/* Frames masked with zeros, so that the payload can be read here. */
#define MASK "\0\0\0\0"

TEST(messages_and_control_frames_come_out_in_order)
{
    expect_story(STR("\x81\x85" MASK "hello"), 100, STR("T:hello"));
    expect_story(STR("\x82\x80" MASK), 100, STR("N:"));
    expect_story(STR("\x81\x81" MASK "a\x89\x81" MASK "x\x8a\x80" MASK), 100, STR("T:a P:x O:"));
    expect_story(STR("\x81\x85\x01\x02\x03\x04\x69\x67\x6f\x68\x6e"), 100, STR("T:hello"));
}

TEST(a_fragmented_message_may_have_control_frames_inside)
{
    expect_story(STR("\x01\x82" MASK "he\x89\x81" MASK "p\x00\x82" MASK "ll\x80\x81" MASK "o"), 100,
        STR("P:p T:hello"));
    expect_story(STR("\x01\x80" MASK "\x80\x80" MASK), 100, STR("T:"));
}

TEST(text_must_be_utf8_also_across_fragments)
{
    expect_story(STR("\x01\x81" MASK "\xc3\x80\x81" MASK "\xa9"), 100, STR("T:\xc3\xa9"));
    expect_story(STR("\x01\x81" MASK "\xc3\x80\x81" MASK "a"), 100, STR("B:1007"));
    expect_story(STR("\x81\x82" MASK "\xff\xfe"), 100, STR("B:1007"));
    expect_story(STR("\x81\x83" MASK "\xed\xa0\x80"), 100, STR("B:1007"));
    expect_story(STR("\x82\x81" MASK "\xff"), 100, STR("N:\xff"));
}

TEST(a_message_over_the_limit_is_too_big_also_in_fragments)
{
    expect_story(STR("\x81\x83" MASK "abc"), 3, STR("T:abc"));
    expect_story(STR("\x81\x84" MASK "abcd"), 3, STR("B:1009"));
    expect_story(STR("\x01\x82" MASK "ab\x80\x82" MASK "cd"), 3, STR("B:1009"));
    expect_story(STR("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff" MASK "a"), 3, STR("B:1009"));
}

TEST(what_breaks_the_protocol_is_told_so)
{
    expect_story(STR("\x81\x05hello"), 100, STR("B:1002"));     /* unmasked */
    expect_story(STR("\xc1\x81" MASK "a"), 100, STR("B:1002")); /* RSV1 */
    expect_story(STR("\x83\x81" MASK "a"), 100, STR("B:1002")); /* opcode 3 */
    expect_story(STR("\x8b\x80" MASK), 100, STR("B:1002"));     /* opcode 11 */
    expect_story(STR("\x80\x81" MASK "a"), 100, STR("B:1002")); /* nothing to continue */
    expect_story(STR("\x01\x80" MASK "\x81\x80" MASK), 100, STR("B:1002")); /* not continued */
    expect_story(STR("\x09\x80" MASK), 100, STR("B:1002"));                 /* fragmented ping */
    expect_story(STR("\x89\xfe\x00\x7e" MASK), 100, STR("B:1002"));         /* long ping */
    expect_story(STR("\x81\xfe\x00\x05" MASK "hello"), 100, STR("B:1002")); /* long-winded length */
    expect_story(STR("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff" MASK), 100, STR("B:1002"));
}

TEST(close_frames_are_checked)
{
    expect_story(STR("\x88\x80" MASK), 100, STR("C:0"));
    expect_story(STR("\x88\x82" MASK "\x03\xe8"), 100, STR("C:1000"));
    expect_story(STR("\x88\x85" MASK "\x0f\xa0"
                     "bye"),
        100, STR("C:4000"));
    expect_story(STR("\x88\x81" MASK "\x03"), 100, STR("B:1002"));
    expect_story(STR("\x88\x82" MASK "\x03\xed"), 100, STR("B:1002")); /* 1005 */
    expect_story(STR("\x88\x82" MASK "\x03\xee"), 100, STR("B:1002")); /* 1006 */
    expect_story(STR("\x88\x82" MASK "\x03\xf7"), 100, STR("B:1002")); /* 1015 */
    expect_story(STR("\x88\x82" MASK "\x03\xe7"), 100, STR("B:1002")); /* 999 */
    expect_story(STR("\x88\x82" MASK "\x07\xd0"), 100, STR("B:1002")); /* 2000 */
    expect_story(STR("\x88\x83" MASK "\x03\xe8\xff"), 100, STR("B:1007"));
    expect_story(STR("\x88\x80" MASK "\x81\x81" MASK "a"), 100, STR("C:0"));
}

TEST(a_connection_between_frames_holds_no_reader)
{
    struct story s CLEANUP(story_deinit);
    story_init(&s, 100);
    feed(&s, STR("\x81\x81" MASK "a"));
    EXPECT(s.input.reader == NULL);
    EXPECT(s.spare != NULL);
    feed(&s, STR("\x81\x82" MASK "b"));
    EXPECT(s.input.reader != NULL);
    feed(&s, STR("c\x01"));
    EXPECT(s.input.reader != NULL);
    feed(&s, STR("\x81" MASK "d"));
    EXPECT(s.input.reader == NULL);
    EXPECT(s.input.message.len == 1);
    EXPECT_STR(buf_str(&s.text), STR("T:a T:bc"));
}

TEST(a_frame_header_takes_the_shortest_form)
{
    char header[WS_HEADER_BYTES_MAX];
    EXPECT_EQ(ws_frame_header(WS_TEXT, 125, header), 2);
    EXPECT_EQ(memcmp(header, "\x81\x7d", 2), 0);
    EXPECT_EQ(ws_frame_header(WS_TEXT, 126, header), 4);
    EXPECT_EQ(memcmp(header, "\x81\x7e\x00\x7e", 4), 0);
    EXPECT_EQ(ws_frame_header(WS_BINARY, 65536, header), 10);
    EXPECT_EQ(memcmp(header, "\x82\x7f\0\0\0\0\0\1\0\0", 10), 0);
}
