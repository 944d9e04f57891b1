/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <sys/mman.h>

void *shared_memory(size_t size)
{
    void *at =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        abort();
    }
    return at;
}

static void add_bytes(struct disk_log *log, const void *bytes, size_t len)
{
    assert(len <= DISK_MAX_BYTES - log->n_bytes);
    memcpy(log->bytes + log->n_bytes, bytes, len);
    log->n_bytes += (uint32_t)len;
}

static void add_op(struct disk_log *log, struct disk_op op)
{
    assert(log->n_ops < DISK_MAX_OPS);
    log->ops[log->n_ops++] = op;
}

void disk_log_bytes(struct disk_log *log, struct disk_op op, const void *bytes)
{
    op.at = log->n_bytes;
    if (op.kind == DISK_WRITE)
        add_bytes(log, bytes, op.len);
    add_op(log, op);
}

void disk_log_path(struct disk_log *log, struct disk_op op, const char *path, const char *to)
{
    op.at = log->n_bytes;
    add_bytes(log, path, strlen(path) + 1);
    if (to != NULL)
        add_bytes(log, to, strlen(to) + 1);
    add_op(log, op);
}
