/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of a tar file (POSIX ustar), as archives of Cairn have them: plain files alone, owned by
 * nobody, of the time 0, so that the same content gives the same bytes. A member is a header of one
 * block, its bytes, and zeros up to the next block; two blocks of zeros end the file. A size of 8
 * GiB or more, for which ustar has no digits, is written in base 256, as GNU tar, bsdtar and others
 * read it.
 *
 * Reading is as strict as writing: a header that tar_write would not have made is refused, so
 * links, devices, absolute names and extensions never come further than here. Nothing is allocated.
 */
#ifndef BASE_TAR_H
#define BASE_TAR_H

#include "base/str.h"

enum {
    TAR_BLOCK_BYTES = 512,
    TAR_NAME_MAX_BYTES = 99,
    TAR_END_BYTES = 2 * TAR_BLOCK_BYTES,
};

/* What a member may have; whoever reads has a limit of its own. */
#define TAR_SIZE_MAX_BYTES ((uint64_t)1 << 50)

struct tar_header {
    char name[TAR_NAME_MAX_BYTES + 1]; /* ends in NUL */
    uint64_t size_bytes;
};

/* Letters, digits, '_', '-', '.' and '/'; no part is empty, "." or "..". */
bool tar_is_name(struct str name);

void tar_write(struct str name, uint64_t size_bytes, char out_block[TAR_BLOCK_BYTES]);
/* NULL: it is one; else what is wrong with it, to follow a name: "has no header of …". */
MUST_CHECK const char *tar_read(const char block[TAR_BLOCK_BYTES], struct tar_header *out_header);
/* Whether the block is of zeros alone. */
bool tar_is_zero(const char block[TAR_BLOCK_BYTES]);
/* How many zeros follow the bytes of a member. */
size_t tar_padding(uint64_t size_bytes);

#endif
