/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "test.h"

static struct str hex_of(struct arena *arena, struct sha256 digest)
{
    return hex_encode(arena, (struct str){(const char *)digest.bytes, SHA256_LEN});
}

/* FIPS 180-4's examples. */
static const struct {
    struct str text;
    struct str digest;
} sha256_vectors[] = {
    {STR(""), STR("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")},
    {STR("abc"), STR("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")},
    {STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
        STR("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")},
};

TEST(sha256_of_the_published_examples)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 10000);
    for (size_t i = 0; i < COUNT_OF(sha256_vectors); i++)
        EXPECT_STR(hex_of(&a, sha256_of(sha256_vectors[i].text)), sha256_vectors[i].digest);
}

TEST(sha256_of_a_million_letters_added_piece_by_piece)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 10000);
    struct sha256_state *state = sha256_create();
    for (int i = 0; i < 100000; i++)
        sha256_add(state, STR("aaaaaaaaaa"));
    sha256_add(state, STR(""));
    EXPECT_STR(hex_of(&a, sha256_finish(state)),
        STR("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

TEST(sha1_and_base64_answer_the_websocket_handshake_of_rfc_6455)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 10000);
    uint8_t digest[20];
    sha1_of(STR("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"), digest);
    EXPECT_STR(base64_encode(&a, (struct str){(const char *)digest, sizeof digest}),
        STR("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}

TEST(secrets_are_equal_only_in_every_byte)
{
    EXPECT(bytes_eq_secret("abcd", "abcd", 4));
    EXPECT(!bytes_eq_secret("abcd", "abce", 4));
    EXPECT(!bytes_eq_secret("xbcd", "abcd", 4));
    EXPECT(bytes_eq_secret("a", "b", 0));
}

TEST(random_bytes_fill_the_whole_and_differ_each_time)
{
    static uint8_t a[10000], b[10000];
    random_bytes(a, sizeof a);
    random_bytes(b, sizeof b);
    EXPECT(memcmp(a, b, sizeof a) != 0);
    /* Eight zeros at the end by chance: once in 2^64. */
    EXPECT(memcmp(a + sizeof a - 8, "\0\0\0\0\0\0\0\0", 8) != 0);
}

TEST(hexadecimal_digits_are_read_in_one_case_or_both)
{
    static const char *const both[] = {"09", "af", "AF", "Af", "9a"};
    static const unsigned char values[] = {0x09, 0xaf, 0xaf, 0xaf, 0x9a};
    static const char *const neither[] = {"", "0", "000", "0/", "0:", "0@", "0G", "0`", "0g", "/0",
        ":0", "@0", "G0", "`0", "g0", "0x"};
    unsigned char byte;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        bool is_lower = strpbrk(both[i], "AF") == NULL;
        byte = 0;
        EXPECT(hex_decode(str_of(both[i]), &byte, 1));
        EXPECT_EQ(byte, values[i]);
        byte = 0;
        EXPECT_EQ(hex_decode_lower(str_of(both[i]), &byte, 1), is_lower);
        EXPECT_EQ(byte, is_lower ? values[i] : 0);
    }
    for (size_t i = 0; i < COUNT_OF(neither); i++) {
        byte = 7;
        EXPECT(!hex_decode(str_of(neither[i]), &byte, 1));
        EXPECT(!hex_decode_lower(str_of(neither[i]), &byte, 1));
        EXPECT_EQ(byte, 7);
    }
}

TEST(bytes_are_written_in_hexadecimal)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 10000);
    EXPECT_STR(hex_encode(&a, STR("\x00\x7f\x80\xff")), STR("007f80ff"));
    EXPECT_STR(hex_encode(&a, STR("")), STR(""));
}

static const struct {
    struct str bytes;
    struct str padded;
    struct str url;
} base64_vectors[] = {
    {STR(""), STR(""), STR("")},
    {STR("f"), STR("Zg=="), STR("Zg")},
    {STR("fo"), STR("Zm8="), STR("Zm8")},
    {STR("foo"), STR("Zm9v"), STR("Zm9v")},
    {STR("foob"), STR("Zm9vYg=="), STR("Zm9vYg")},
    {STR("fooba"), STR("Zm9vYmE="), STR("Zm9vYmE")},
    {STR("foobar"), STR("Zm9vYmFy"), STR("Zm9vYmFy")},
    {STR("\xfb\xff\xfe"), STR("+//+"), STR("-__-")},
};

TEST(base64_of_rfc_4648s_vectors_in_both_alphabets)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 10000);
    for (size_t i = 0; i < COUNT_OF(base64_vectors); i++) {
        struct str decoded = STR("not decoded");
        EXPECT_STR(base64_encode(&a, base64_vectors[i].bytes), base64_vectors[i].padded);
        EXPECT_STR(base64url_encode(&a, base64_vectors[i].bytes), base64_vectors[i].url);
        EXPECT(base64url_decode(&a, base64_vectors[i].url, &decoded));
        EXPECT_STR(decoded, base64_vectors[i].bytes);
    }
}

TEST(base64url_with_padding_other_letters_or_stray_bits_is_refused)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 10000);
    const struct str refused[] = {STR("Zg=="), STR("Z"), STR("Zm9vY"), STR("Zh"), STR("Zm9"),
        STR("+//+"), STR("Zm 9"), STR("Zm9v\n"), STR("Z\0009v"), STR("Zm9\xff")};
    struct str decoded = STR("untouched");
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (base64url_decode(&a, refused[i], &decoded))
            test_fail(__FILE__, __LINE__, "\"%.*s\" was accepted", STR_ARG(refused[i]));
    EXPECT_STR(decoded, STR("untouched"));
}

/* CPython 3.11's hashes of bytes 0, 1, 2 … under PYTHONHASHSEED=0, which is a key of zeros. */
static const struct {
    size_t len;
    uint64_t hash;
} siphash_vectors[] = {
    {1, 0x68a914128e01e473},
    {7, 0x2f098ab0c751325a},
    {8, 0xead411e67ebe2eea},
    {9, 0x75927f9d95124362},
    {15, 0xf30eb725bb91c9ea},
    {16, 0x8972188433a5c5b7},
    {63, 0x385d3e39e5f37359},
};

TEST(siphash_agrees_with_another_implementation)
{
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    for (size_t i = 0; i < COUNT_OF(siphash_vectors); i++)
        EXPECT_EQ(siphash13((const uint64_t[]){0, 0}, bytes, siphash_vectors[i].len),
            siphash_vectors[i].hash);
}

TEST(hashes_agree_within_the_process_and_tell_bytes_apart)
{
    EXPECT(hash_bytes("abc", 3) == hash_bytes("abc", 3));
    EXPECT(hash_bytes("abc", 3) != hash_bytes("abd", 3));
    EXPECT(hash_bytes("abc", 3) != hash_bytes("abc", 2));
}
