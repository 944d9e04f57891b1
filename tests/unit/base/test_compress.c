/* SPDX-License-Identifier: Apache-2.0 */
#include "base/compress.h"

#include "base/buf.h"
#include "test.h"

static struct str sample(struct arena *arena, size_t i)
{
    return arena_printf(arena,
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Answer %zu: the file "
        "src/part_%zu.c has %zu lines\"}],\"stop_reason\":\"end_turn\",\"model\":\"some-model\"}",
        i, i * 7919 % 1000, i * 104729 % 10007);
}

static struct str train(struct arena *arena, size_t n)
{
    struct buf all CLEANUP(buf_deinit);
    size_t *sizes = ARENA_ARRAY(arena, size_t, n);
    struct str bytes = STR("");
    buf_init(&all, 16 * 1024 * 1024);
    for (size_t i = 0; i < n; i++) {
        struct str one = sample(arena, i);
        buf_append(&all, one);
        sizes[i] = one.len;
    }
    EXPECT(dictionary_train(arena, buf_str(&all), sizes, n, 16 * 1024, &bytes));
    return bytes;
}

TEST(what_is_compressed_comes_back_with_a_dictionary_much_shorter)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct compressor *work = compressor_create();
    arena_init(&arena, SIZE_MAX);
    struct dictionary *d = dictionary_create(train(&arena, 500), COMPRESS_FAST);
    struct str compressed, text = sample(&arena, 123456);
    char *back = arena_alloc(&arena, text.len);
    EXPECT(!compress_bytes(work, &arena, text, NULL, COMPRESS_FAST, &compressed));
    EXPECT(compress_bytes(work, &arena, text, d, COMPRESS_FAST, &compressed));
    EXPECT(compressed.len * 2 < text.len);
    EXPECT(decompress_bytes(work, compressed, text.len, d, back));
    EXPECT_STR(((struct str){back, text.len}), text);
    EXPECT(!decompress_bytes(work, compressed, text.len, NULL, back));
    dictionary_destroy(d);
    dictionary_destroy(NULL);
    compressor_destroy(work);
}

TEST(what_would_not_be_shorter_is_not_compressed)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct compressor *work = compressor_create();
    arena_init(&arena, SIZE_MAX);
    struct str out;
    EXPECT(!compress_bytes(work, &arena, STR("abcdefghij"), NULL, COMPRESS_FAST, &out));
    EXPECT(!compress_bytes(work, &arena, STR(""), NULL, COMPRESS_FAST, &out));
    compressor_destroy(work);
}

TEST(bytes_that_are_no_compressed_text_of_that_length_are_refused)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct compressor *work = compressor_create();
    arena_init(&arena, SIZE_MAX);
    struct str one = sample(&arena, 1), compressed;
    struct str text = arena_printf(&arena, "[%.*s,%.*s]", STR_ARG(one), STR_ARG(one));
    char *back = arena_alloc(&arena, text.len + 1);
    EXPECT(compress_bytes(work, &arena, text, NULL, COMPRESS_WELL, &compressed));
    EXPECT(!decompress_bytes(work, compressed, text.len - 1, NULL, back));
    EXPECT(!decompress_bytes(work, compressed, text.len + 1, NULL, back));
    EXPECT(!decompress_bytes(work, text, text.len, NULL, back));
    for (size_t len = 0; len < compressed.len; len++)
        EXPECT(!decompress_bytes(work, str_slice(compressed, 0, len), text.len, NULL, back));
    compressor_destroy(work);
}

TEST(too_few_samples_make_no_dictionary)
{
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, SIZE_MAX);
    const size_t size = 5;
    struct str out;
    EXPECT(!dictionary_train(&arena, STR("hello"), &size, 1, 16 * 1024, &out));
}
