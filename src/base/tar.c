/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tar.h"

/* The offsets of the fields of a header; all other bytes are zero. */
enum {
    AT_NAME = 0,
    AT_MODE = 100,
    AT_UID = 108,
    AT_GID = 116,
    AT_SIZE = 124,
    AT_MTIME = 136,
    AT_CHECKSUM = 148,
    AT_TYPE = 156,
    AT_MAGIC = 257,
    AT_DEVICES = 329,
    SIZE_BYTES = 12,
    SIZE_DIGITS = 11,
    CHECKSUM_DIGITS = 6,
};

#define OCTAL_LIMIT ((uint64_t)1 << (3 * SIZE_DIGITS))

static bool is_name_byte(char b)
{
    return is_letter(b) || is_digit(b) || b == '_' || b == '-' || b == '.';
}

static bool is_part(struct str part)
{
    for (size_t i = 0; i < part.len; i++)
        if (!is_name_byte(part.ptr[i]))
            return false;
    return part.len > 0 && !str_eq(part, STR(".")) && !str_eq(part, STR(".."));
}

bool tar_is_name(struct str name)
{
    struct str rest = name, part;
    if (name.len == 0 || name.len > TAR_NAME_MAX_BYTES || name.ptr[name.len - 1] == '/')
        return false;
    while (str_next_part(&rest, '/', &part))
        if (!is_part(part))
            return false;
    return true;
}

static void put_octal(char *field, size_t digits, uint64_t value)
{
    for (size_t i = digits; i > 0; i--) {
        field[i - 1] = (char)('0' + (value & 7));
        value >>= 3;
    }
}

static void put_size(char *field, uint64_t size)
{
    if (size < OCTAL_LIMIT) {
        put_octal(field, SIZE_DIGITS, size);
        return;
    }
    field[0] = (char)0x80;
    for (size_t i = SIZE_BYTES - 1; i > 0; i--) {
        field[i] = (char)(size & 0xff);
        size >>= 8;
    }
}

/* The sum of all bytes, with blanks in place of the checksum itself. */
static uint64_t checksum(const char block[TAR_BLOCK_BYTES])
{
    uint64_t sum = 8 * ' ';
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++)
        if (i < AT_CHECKSUM || i >= AT_CHECKSUM + 8)
            sum += (unsigned char)block[i];
    return sum;
}

void tar_write(struct str name, uint64_t size_bytes, char out_block[TAR_BLOCK_BYTES])
{
    assert(tar_is_name(name) && size_bytes <= TAR_SIZE_MAX_BYTES);
    memset(out_block, 0, TAR_BLOCK_BYTES);
    memcpy(out_block + AT_NAME, name.ptr, name.len);
    put_octal(out_block + AT_MODE, 7, 0644);
    put_octal(out_block + AT_UID, 7, 0);
    put_octal(out_block + AT_GID, 7, 0);
    put_size(out_block + AT_SIZE, size_bytes);
    put_octal(out_block + AT_MTIME, 11, 0);
    out_block[AT_TYPE] = '0';
    memcpy(out_block + AT_MAGIC, "ustar\00000", 8);
    put_octal(out_block + AT_DEVICES, 7, 0);
    put_octal(out_block + AT_DEVICES + 8, 7, 0);
    put_octal(out_block + AT_CHECKSUM, CHECKSUM_DIGITS, checksum(out_block));
    out_block[AT_CHECKSUM + CHECKSUM_DIGITS] = '\0';
    out_block[AT_CHECKSUM + CHECKSUM_DIGITS + 1] = ' ';
}

/* --- Reading -------------------------------------------------------------------------------- */

static bool get_size(const char *field, uint64_t *out_size)
{
    uint64_t size = 0;
    if ((unsigned char)field[0] == 0x80) {
        for (size_t i = 1; i < SIZE_BYTES; i++) {
            if (size >> 56 != 0)
                return false;
            size = size << 8 | (unsigned char)field[i];
        }
    } else {
        for (size_t i = 0; i < SIZE_DIGITS; i++) {
            if (field[i] < '0' || field[i] > '7')
                return false;
            size = size << 3 | (uint64_t)(field[i] - '0');
        }
    }
    *out_size = size;
    return size <= TAR_SIZE_MAX_BYTES;
}

static bool has_checksum(const char block[TAR_BLOCK_BYTES])
{
    char digits[CHECKSUM_DIGITS];
    put_octal(digits, sizeof digits, checksum(block));
    return memcmp(digits, block + AT_CHECKSUM, sizeof digits) == 0;
}

const char *tar_read(const char block[TAR_BLOCK_BYTES], struct tar_header *out_header)
{
    char canonical[TAR_BLOCK_BYTES];
    struct str name = {block, strnlen(block, TAR_NAME_MAX_BYTES + 1)};
    uint64_t size;
    if (memcmp(block + AT_MAGIC, "ustar\00000", 8) != 0)
        return "has no header of a POSIX ustar archive";
    if (!has_checksum(block))
        return "has a checksum that does not match its header";
    if (block[AT_TYPE] != '0')
        return "must be a plain file: no link, directory, device or extension";
    if (!tar_is_name(name))
        return "must have a relative path as its name, of letters, digits, '_', '-' and '.'";
    if (!get_size(block + AT_SIZE, &size))
        return "has a malformed size";
    tar_write(name, size, canonical);
    if (memcmp(canonical, block, TAR_BLOCK_BYTES) != 0)
        return "has an owner, a time, a mode or a prefix that Cairn does not write: was it packed "
               "by another program?";
    *out_header = (struct tar_header){.size_bytes = size};
    memcpy(out_header->name, name.ptr, name.len);
    return NULL;
}

bool tar_is_zero(const char block[TAR_BLOCK_BYTES])
{
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++)
        if (block[i] != 0)
            return false;
    return true;
}

size_t tar_padding(uint64_t size_bytes)
{
    return (size_t)((TAR_BLOCK_BYTES - size_bytes % TAR_BLOCK_BYTES) % TAR_BLOCK_BYTES);
}
