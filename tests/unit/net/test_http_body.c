/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http.h"
#include "test.h"

struct outcome {
    enum http_parsed parsed;
    int status;
    size_t used;
    struct buf payload;
};

static void outcome_deinit(struct outcome *o)
{
    buf_deinit(&o->payload);
}

/* Feeds `bytes` in slices of at most `step`. */
static void feed(
    struct http_request request, uint64_t limit, struct str bytes, size_t step, struct outcome *out)
{
    struct http_body body;
    http_body_init(&body, &request, limit);
    *out = (struct outcome){.parsed = HTTP_MORE};
    buf_init(&out->payload, 1 << 20);
    size_t end = 0;
    do {
        struct str run;
        size_t used;
        struct http_refusal refusal;
        end = out->used + step < bytes.len ? out->used + step : bytes.len;
        struct str slice = str_slice(bytes, out->used, end);
        out->parsed = http_body_feed(&body, slice, &run, &used, &refusal);
        if (out->parsed == HTTP_REFUSED) {
            out->status = refusal.status;
            return;
        }
        buf_append(&out->payload, run);
        out->used += used;
    } while (out->parsed == HTTP_MORE && out->used < bytes.len);
}

static const struct http_request CHUNKED = {.chunked = true};

static void expect_body(struct http_request request, struct str bytes, struct str payload)
{
    for (size_t step = 1; step <= bytes.len + 1; step++) {
        struct outcome o CLEANUP(outcome_deinit);
        feed(request, 100, bytes, step, &o);
        EXPECT_EQ(o.parsed, HTTP_DONE);
        EXPECT_EQ(o.used, bytes.len);
        EXPECT_STR(buf_str(&o.payload), payload);
    }
}

TEST(a_body_is_the_same_however_it_is_cut_into_packets)
{
    struct http_request five = {.has_length = true, .content_length = 5};
    expect_body(five, STR("hello"), STR("hello"));
    expect_body(CHUNKED, STR("0\r\n\r\n"), STR(""));
    expect_body(CHUNKED, STR("5\r\nhello\r\n0\r\n\r\n"), STR("hello"));
    expect_body(CHUNKED, STR("5\r\nhello\r\n006\r\n world\r\n00\r\n\r\n"), STR("hello world"));
    expect_body(CHUNKED, STR("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"),
        STR("01234567890123456789"));
    expect_body(CHUNKED, STR("2\r\n\r\n\r\n0\r\n\r\n"), STR("\r\n"));
    expect_body(CHUNKED, STR("1\r\na\r\n0\r\nX: 1\r\nY:\r\n\r\n"), STR("a"));
    expect_body(CHUNKED, STR("1;a\r\nb\r\n0;c=\"d;e\"; f = g \r\n\r\n"), STR("b"));
    expect_body(CHUNKED, STR("1 \t; a=\"\xc3\xa9\\\"\"\r\nb\r\n0\r\n\r\n"), STR("b"));
}

TEST(a_body_leaves_what_follows_it_alone)
{
    struct outcome o CLEANUP(outcome_deinit);
    feed(CHUNKED, 100, STR("1\r\na\r\n0\r\n\r\nGET /"), 100, &o);
    EXPECT_EQ(o.parsed, HTTP_DONE);
    EXPECT_EQ(o.used, 11);
    struct outcome p CLEANUP(outcome_deinit);
    feed((struct http_request){.has_length = true, .content_length = 1}, 100, STR("aGET"), 9, &p);
    EXPECT_EQ(p.used, 1);
}

TEST(a_request_without_framing_has_no_body)
{
    struct outcome o CLEANUP(outcome_deinit);
    feed((struct http_request){0}, 0, STR("GET /"), 100, &o);
    EXPECT_EQ(o.parsed, HTTP_DONE);
    EXPECT_EQ(o.used, 0);
}

static const struct {
    int status;
    struct str bytes;
} MALFORMED[] = {
#define BAD(status, text)          \
    {                              \
        status,                    \
        {                          \
            text, sizeof(text) - 1 \
        }                          \
    }
    BAD(400, "\r\n"),
    BAD(400, "x\r\n"),
    BAD(400, "0x5\r\nhello"),
    BAD(400, "+5\r\nhello"),
    BAD(400, "-5\r\nhello"),
    BAD(400, " 5\r\nhello"),
    BAD(400, "5 \r\nhello"),
    BAD(400, "5\t\r\nhello"),
    BAD(400, "5 a\r\nhello"),
    BAD(400, "5;\r\nhello"),
    BAD(400, "5; \r\nhello"),
    BAD(400, "5;=b\r\nhello"),
    BAD(400, "5;a=\0\r\nhello"),
    BAD(400, "5;a\nhello"),
    BAD(400, "5;a\r\r\nhello"),
    BAD(400, ";a\r\nhello"),
    BAD(400, "5\nhello"),
    BAD(400, "5\rhello"),
    BAD(400, "5\r\rhello"),
    BAD(400, "\0005\r\nhello"),
    BAD(400, "5\r\nhelloX\r\n"),
    BAD(400, "5\r\nhello\n"),
    BAD(400, "5\r\nhello\r5"),
    BAD(400, "5\r\nhello0\r\n\r\n"),
    BAD(400, "00000000000000001\r\na"),
    BAD(400, "10000000000000005\r\nhello"),
    BAD(413, "fffffffffffffffe\r\nhello"),
    BAD(413, "65\r\n"),
    BAD(413, "32\r\n01234567890123456789012345678901234567890123456789\r\n33\r\n"),
    BAD(400, "0\r\n\n"),
    BAD(400, "0\r\n\rX"),
    BAD(400, "0\r\n X: 1\r\n"),
    BAD(400, "0\r\nX: 1\r\n fold\r\n"),
    BAD(400, "0\r\nX : 1\r\n"),
    BAD(400, "0\r\n: 1\r\n"),
    BAD(400, "0\r\nX\r\n"),
    BAD(400, "0\r\nX: \0\r\n"),
    BAD(400, "0\r\nX: 1\n"),
};

TEST(every_malformed_chunk_is_refused_with_its_status_however_it_is_cut)
{
    for (size_t i = 0; i < COUNT_OF(MALFORMED); i++)
        for (size_t step = 1; step <= MALFORMED[i].bytes.len; step++) {
            struct outcome o CLEANUP(outcome_deinit);
            feed(CHUNKED, 100, MALFORMED[i].bytes, step, &o);
            if (o.parsed != HTTP_REFUSED || o.status != MALFORMED[i].status)
                test_fail(__FILE__, __LINE__, "case %zu, step %zu: parsed %d, status %d", i, step,
                    (int)o.parsed, o.status);
        }
}

/* 4096 bytes of extensions, and as many more as there is payload. */
TEST(chunk_extensions_are_limited_by_the_payload)
{
    enum { EXTENSION = 4096 };
    struct buf bytes CLEANUP(buf_deinit);
    buf_init(&bytes, 1 << 20);
    for (int more = 0; more <= 1; more++) {
        buf_reset(&bytes);
        buf_append(&bytes, STR("4\r\nbody\r\n1;"));
        for (int i = 0; i < EXTENSION + 4 - 1 + more; i++) /* the semicolon is not counted */
            buf_append(&bytes, STR("x"));
        buf_append(&bytes, STR("\r\n!\r\n0\r\n\r\n"));
        struct outcome o CLEANUP(outcome_deinit);
        feed(CHUNKED, 100, buf_str(&bytes), bytes.len, &o);
        EXPECT_EQ(o.parsed, more ? HTTP_REFUSED : HTTP_DONE);
        if (more)
            EXPECT_EQ(o.status, 431);
    }
}

TEST(trailers_without_end_are_refused)
{
    struct buf bytes CLEANUP(buf_deinit);
    buf_init(&bytes, 1 << 20);
    buf_append(&bytes, STR("0\r\n"));
    for (int i = 0; i < 1000; i++)
        buf_append(&bytes, STR("X: 123\r\n"));
    struct outcome o CLEANUP(outcome_deinit);
    feed(CHUNKED, 100, buf_str(&bytes), 1000, &o);
    EXPECT_EQ(o.parsed, HTTP_REFUSED);
    EXPECT_EQ(o.status, 431);
}

TEST(a_length_over_the_limit_is_refused_before_a_byte_of_it_is_read)
{
    struct outcome o CLEANUP(outcome_deinit);
    feed((struct http_request){.has_length = true, .content_length = 101}, 100, STR(""), 1, &o);
    EXPECT_EQ(o.parsed, HTTP_REFUSED);
    EXPECT_EQ(o.status, 413);
}
