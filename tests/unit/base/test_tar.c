/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tar.h"
#include "test.h"

static void resum(char block[TAR_BLOCK_BYTES])
{
    unsigned sum = 8 * ' ';
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++)
        sum += i >= 148 && i < 156 ? 0 : (unsigned char)block[i];
    for (size_t i = 6; i > 0; i--, sum >>= 3)
        block[147 + i] = (char)('0' + (sum & 7));
}

TEST(a_header_is_read_as_it_was_written)
{
    static const uint64_t sizes[] = {0, 1, 511, 512, 8589934591, 8589934592, TAR_SIZE_MAX_BYTES};
    char block[TAR_BLOCK_BYTES];
    struct tar_header header;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        tar_write(STR("blobs/0f"), sizes[i], block);
        EXPECT(tar_read(block, &header) == NULL);
        EXPECT_STR(str_of(header.name), STR("blobs/0f"));
        EXPECT_EQ(header.size_bytes, sizes[i]);
        EXPECT_EQ((sizes[i] + tar_padding(sizes[i])) % TAR_BLOCK_BYTES, 0);
    }
}

TEST(any_changed_byte_of_a_header_is_refused_also_with_its_checksum_put_right)
{
    char good[TAR_BLOCK_BYTES], block[TAR_BLOCK_BYTES];
    struct tar_header header;
    tar_write(STR("threads.jsonl"), 1000, good);
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++) {
        memcpy(block, good, sizeof block);
        block[i] ^= 1;
        EXPECT(tar_read(block, &header) != NULL);
        bool is_content = i < 13 || (i >= 124 && i < 135);
        resum(block);
        if (!is_content && (i < 148 || i >= 156) && tar_read(block, &header) == NULL)
            test_fail(__FILE__, __LINE__, "byte %zu", i);
    }
}

TEST(a_size_has_octal_digits_or_fits_in_64_bits)
{
    static const char *const refused[] = {"0000000000/", "00000000008", "/0000000000",
        "80000000000", "\x80\1\0\0\1\1\1\1\1\1\1\1", "\x80\0\0\1\1\1\1\1\1\1\1\1",
        "\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"};
    char block[TAR_BLOCK_BYTES];
    struct tar_header header;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        tar_write(STR("a"), 1, block);
        memcpy(block + 124, refused[i], refused[i][0] == '\x80' ? 12 : 11);
        resum(block);
        if (tar_read(block, &header) == NULL)
            test_fail(__FILE__, __LINE__, "size %zu was accepted", i);
    }
}

TEST(only_plain_files_are_taken)
{
    char block[TAR_BLOCK_BYTES];
    struct tar_header header;
    for (const char *type = "1234567xgLKSVDMNX\x00"; *type != '\0'; type++) {
        tar_write(STR("a"), 0, block);
        block[156] = *type;
        resum(block);
        EXPECT(tar_read(block, &header) != NULL);
    }
}

TEST(names_that_lead_elsewhere_are_none)
{
    const struct str refused[] = {STR(""), STR("/"), STR("/a"), STR("a/"), STR("a//b"), STR("."),
        STR(".."), STR("../a"), STR("a/../b"), STR("a/."), STR("a b"), STR("a\\b"), STR("a\nb"),
        STR("\xc3\xa4"), STR("C:a"), STR("a\0b")};
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (tar_is_name(refused[i]))
            test_fail(__FILE__, __LINE__, "\"%.*s\" was accepted", STR_ARG(refused[i]));
    EXPECT(tar_is_name(STR("blobs/..a")));
    EXPECT(tar_is_name(STR("a.jsonl")));
    char block[TAR_BLOCK_BYTES];
    struct tar_header header;
    tar_write(STR("aa/b"), 0, block);
    memcpy(block, "../b", 4);
    resum(block);
    EXPECT(tar_read(block, &header) != NULL);
}

TEST(a_name_of_all_the_room_there_is_ends_where_it_ends)
{
    char block[TAR_BLOCK_BYTES], name[TAR_NAME_MAX_BYTES + 1];
    struct tar_header header;
    memset(name, 'a', sizeof name);
    EXPECT(!tar_is_name((struct str){name, sizeof name}));
    tar_write((struct str){name, TAR_NAME_MAX_BYTES}, 7, block);
    EXPECT(tar_read(block, &header) == NULL);
    EXPECT_EQ(strlen(header.name), TAR_NAME_MAX_BYTES);
}

TEST(a_block_of_zeros_is_the_end)
{
    char block[TAR_BLOCK_BYTES] = {0};
    struct tar_header header;
    EXPECT(tar_is_zero(block));
    EXPECT(tar_read(block, &header) != NULL);
    block[511] = 1;
    EXPECT(!tar_is_zero(block));
}
