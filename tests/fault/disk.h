/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record of every call to a disk, from which the disk after a power loss can be made for every
 * moment (image.h). The record is in memory that is shared with the processes which are
 * forked later: one writes, and its parent reads when it has ended.
 *
 * Files are numbers, since a file may lose its name and keep its bytes. Paths are relative to the
 * root of what is watched, without a slash in front.
 */
#ifndef TESTS_FAULT_DISK_H
#define TESTS_FAULT_DISK_H

#include "base/macros.h"

enum { DISK_MAX_OPS = 1 << 16, DISK_MAX_BYTES = 128 << 20, DISK_PATH_MAX = 160 };
enum { DISK_DIRECTORY = UINT16_MAX }; /* in the place of a file's number */

enum disk_op_kind {
    DISK_WRITE,
    DISK_TRUNCATE,
    DISK_SYNC,
    DISK_SYNC_FAILED, /* the kernel forgets that the pages were dirty */
    DISK_NAME,        /* a file or a directory is made, or a file gets one more name */
    DISK_UNNAME,
    DISK_RENAME,
    DISK_SYNC_DIRECTORY,
    DISK_SYNC_ALL,
};

struct disk_op {
    enum disk_op_kind kind;
    uint16_t file;
    uint64_t offset; /* of a truncation the new size */
    uint32_t len;
    uint32_t at; /* in `bytes`: what is written, or the path; of a rename both, each ended by NUL */
};

struct disk_log {
    uint32_t n_ops, n_bytes;
    struct disk_op ops[DISK_MAX_OPS];
    char bytes[DISK_MAX_BYTES];
};

/* Memory that stays shared across fork; never freed. */
void *shared_memory(size_t size);

void disk_log_bytes(
    struct disk_log *log, struct disk_op op, const void *bytes); /* op.len of them */
void disk_log_path(struct disk_log *log, struct disk_op op, const char *path, const char *to);

#endif
