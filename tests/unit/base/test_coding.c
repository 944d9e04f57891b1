/* SPDX-License-Identifier: Apache-2.0 */
#include "base/coding.h"

#include "test.h"

enum { SIZE = 100 * 1000 };

/* Text that compresses somewhat. */
static struct str sample(struct arena *arena, size_t size)
{
    char *text = arena_alloc(arena, size + 1);
    unsigned x = 1;
    for (size_t i = 0; i < size; i++) {
        x = x * 1103515245 + 12345;
        text[i] = (char)('a' + (x >> 16) % 7);
    }
    return (struct str){text, size};
}

enum { STEP = 30 * 1000 };

static struct str encoded(struct arena *arena, enum coding coding, struct str bytes)
{
    struct buf out CLEANUP(buf_deinit) = BUF_INIT(2 * SIZE);
    struct coding_encoder *e = coding_encoder_create(coding, bytes, &out);
    size_t steps = 1;
    while (coding_encoder_step(e, STEP))
        steps++;
    coding_encoder_destroy(e);
    EXPECT(!out.failed);
    EXPECT_EQ(steps, bytes.len > 0 ? (bytes.len + STEP - 1) / STEP : 1);
    return arena_str(arena, buf_str(&out));
}

TEST(encoded_bytes_come_back_up_to_the_limit)
{
    static const size_t sizes[] = {
        0, 1, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, STEP, STEP + 1, SIZE};
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, SIZE_MAX);
    for (enum coding c = CODING_GZIP; c < CODING_COUNT; c++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            struct str back, text = sample(&arena, sizes[i]);
            struct str body = encoded(&arena, c, text);
            EXPECT_EQ(coding_decode(&arena, c, body, text.len, &back), CODING_DONE);
            EXPECT_STR(back, text);
            if (text.len > 0)
                EXPECT_EQ(coding_decode(&arena, c, body, text.len - 1, &back), CODING_TOO_LARGE);
        }
}

TEST(damaged_bytes_are_rejected_or_different_and_take_no_more_than_the_limit)
{
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, SIZE_MAX);
    for (enum coding c = CODING_GZIP; c < CODING_COUNT; c++) {
        struct str back, text = sample(&arena, 2000);
        struct str body = encoded(&arena, c, text);
        for (size_t len = 0; len < body.len; len++)
            EXPECT_EQ(
                coding_decode(&arena, c, str_slice(body, 0, len), SIZE, &back), CODING_MALFORMED);
        for (size_t at = 0; at < body.len; at++) {
            char *copy = arena_alloc(&arena, body.len);
            memcpy(copy, body.ptr, body.len);
            copy[at] = (char)(copy[at] ^ 0x10);
            if (coding_decode(&arena, c, (struct str){copy, body.len}, SIZE, &back) == CODING_DONE)
                EXPECT(back.len <= SIZE);
        }
    }
}

TEST(bytes_above_the_limit_take_no_memory)
{
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, SIZE_MAX);
    char *zeros = arena_zalloc(&arena, SIZE);
    for (enum coding c = CODING_GZIP; c < CODING_COUNT; c++) {
        struct str back, body = encoded(&arena, c, (struct str){zeros, SIZE});
        size_t used = arena.used_bytes;
        EXPECT_EQ(coding_decode(&arena, c, body, SIZE / 2, &back), CODING_TOO_LARGE);
        EXPECT_EQ(arena.used_bytes, used);
    }
}

TEST(codings_have_names)
{
    EXPECT_EQ(coding_parse(STR("GZIP")), CODING_GZIP);
    EXPECT_EQ(coding_parse(STR("x-gzip")), CODING_GZIP);
    EXPECT_EQ(coding_parse(STR("zstd")), CODING_ZSTD);
    EXPECT_EQ(coding_parse(STR("br")), CODING_NONE);
    EXPECT_EQ(coding_parse(STR("")), CODING_NONE);
}

TEST(encoding_stops_when_the_output_is_full)
{
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, SIZE_MAX);
    for (enum coding c = CODING_GZIP; c < CODING_COUNT; c++) {
        struct str text = sample(&arena, SIZE);
        size_t needed = encoded(&arena, c, text).len;
        for (size_t less = 0; less < 2; less++) {
            CLEANUP(buf_deinit) struct buf out = BUF_INIT(needed - less);
            struct coding_encoder *e = coding_encoder_create(c, text, &out);
            while (coding_encoder_step(e, STEP))
                ;
            coding_encoder_destroy(e);
            EXPECT_EQ(out.failed, less > 0);
        }
        CLEANUP(buf_deinit) struct buf none = BUF_INIT(1);
        struct coding_encoder *abandoned = coding_encoder_create(c, text, &none);
        coding_encoder_destroy(abandoned);
    }
}

TEST(the_coding_of_an_answer_is_the_one_that_the_client_prefers)
{
    static const struct {
        const char *accept;
        enum coding best;
    } cases[] = {
        {"gzip", CODING_GZIP},
        {"zstd", CODING_ZSTD},
        {"gzip, deflate, br, zstd", CODING_ZSTD},
        {"gzip, deflate, br", CODING_GZIP},
        {"GZip", CODING_GZIP},
        {"x-gzip", CODING_GZIP},
        {"gzip;q=1.0, zstd;q=0.9", CODING_GZIP},
        {"zstd;q=0.001,gzip;q=0", CODING_ZSTD},
        {"gzip ; q=0.5 , identity;q=0.4", CODING_GZIP},
        {"gzip;q=0.5, identity;q=0.6", CODING_NONE},
        {"gzip;q=0.5, identity;q=0.5", CODING_GZIP},
        {"gzip;Q=0.5", CODING_GZIP},
        {"*", CODING_ZSTD},
        {"*;q=0.5, gzip", CODING_GZIP},
        {"zstd;q=0, *", CODING_GZIP},
        {"gzip, *;q=0", CODING_GZIP},
        {"identity;q=0, gzip;q=0.1", CODING_GZIP},
        {"identity;q=0", CODING_NONE},
        {"*;q=0", CODING_NONE},
        {"gzip;q=0", CODING_NONE},
        {"gzip;q=0.000", CODING_NONE},
        {"identity", CODING_NONE},
        {"br, deflate", CODING_NONE},
        {"", CODING_NONE},
        {",, gzip,", CODING_GZIP},
        {"gzip;q=1.001", CODING_NONE},
        {"gzip;q=2", CODING_NONE},
        {"gzip;q=-1", CODING_NONE},
        {"gzip;q=", CODING_NONE},
        {"gzip;q=0.5555", CODING_NONE},
        {"gzip;q=0x1", CODING_NONE},
        {"gzip;level=1", CODING_NONE},
        {"gzip;", CODING_NONE},
        {"gzips", CODING_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct coding_weights w;
        coding_weights_init(&w);
        EXPECT_EQ(coding_weights_best(&w), CODING_NONE);
        coding_weights_add(&w, str_of(cases[i].accept));
        EXPECT_EQ(coding_weights_best(&w), cases[i].best);
    }
}

TEST(the_lines_of_a_repeated_accept_encoding_are_one_list)
{
    struct coding_weights w;
    coding_weights_init(&w);
    coding_weights_add(&w, STR("gzip;q=0.5"));
    coding_weights_add(&w, STR("identity;q=0.7, zstd;q=0.6"));
    EXPECT_EQ(coding_weights_best(&w), CODING_NONE);
    coding_weights_add(&w, STR("zstd;q=0.8"));
    EXPECT_EQ(coding_weights_best(&w), CODING_ZSTD);
}
