/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of tar files (POSIX ustar) as Cairn's archives use them: only plain files, without an
 * owner and with the time 0, so that the same content gives the same bytes. A member is a header of
 * one block, its bytes, and zeros up to the next block; two blocks of zeros end the file. A size of
 * 8 GiB or more does not fit into the digits of ustar and is written in base 256, which GNU tar,
 * bsdtar and others read.
 *
 * Reading is as strict as writing: tar_read rejects a header that tar_write would not have written,
 * so links, devices, absolute names and extensions never reach the caller. Nothing is allocated.
 */
#ifndef BASE_TAR_H
#define BASE_TAR_H

#include "base/str.h"

enum {
    TAR_BLOCK_BYTES = 512,
    TAR_NAME_MAX_BYTES = 99,
    TAR_END_BYTES = 2 * TAR_BLOCK_BYTES,
};

/* The largest size of a member; readers have lower limits of their own. */
#define TAR_SIZE_MAX_BYTES ((uint64_t)1 << 50)

struct tar_header {
    char name[TAR_NAME_MAX_BYTES + 1]; /* ends in NUL */
    uint64_t size_bytes;
};

/* Letters, digits, '_', '-', '.' and '/'; no part is empty, "." or "..". */
bool tar_is_name(struct str name);

void tar_write(struct str name, uint64_t size_bytes, char out_block[TAR_BLOCK_BYTES]);
/* Returns NULL if the block is a header, else the fault, worded to follow a name: "has no header of
 * …". */
MUST_CHECK const char *tar_read(const char block[TAR_BLOCK_BYTES], struct tar_header *out_header);
/* Returns true if every byte of the block is zero. */
bool tar_is_zero(const char block[TAR_BLOCK_BYTES]);
/* The number of zeros after the bytes of a member. */
size_t tar_padding(uint64_t size_bytes);

#endif
