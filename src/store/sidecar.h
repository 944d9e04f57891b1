/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files around a backup: their hashes, in FILE.sha256 in the format of sha256sum, and durable file
 * operations. Private to src/store.
 */
#ifndef STORE_SIDECAR_H
#define STORE_SIDECAR_H

#include <sys/stat.h>

#include "base/hash.h"
#include "base/problem.h"
#include "base/progress.h"

enum { SIDECAR_MAX_HASHES = 2 };

/* Two hashes while one backup replaces another: FILE has one of them. */
struct sidecar {
    struct sha256 hashes[SIDECAR_MAX_HASHES];
    size_t count;
};

/* Reads the entries of FILE in FILE.sha256. ERR_NOT_FOUND if FILE.sha256 does not exist. */
MUST_CHECK enum error sidecar_read(
    const char *file, struct problem *problem, struct sidecar *out_sidecar);
/* Writes FILE.sha256 atomically and durably. The file belongs to `owner`; NULL: to this process.
 * One writer at a time. */
MUST_CHECK enum error sidecar_write(const char *file, const struct sidecar *sidecar,
    const struct stat *owner, struct problem *problem);
bool sidecar_has(const struct sidecar *sidecar, const struct sha256 *hash);
MUST_CHECK bool sha256_parse(struct str hex, struct sha256 *out_hash);

/* Creates a new file with mode 0600. Anything else of that name, for example a link, is
 * replaced. */
int file_create(const char *path);
/* Returns true if the file exists and is not empty. */
bool file_has_bytes(const char *path);

/* Reports why the last system call failed; `what` is, for example, "cannot write". */
enum error file_problem(const char *what, const char *path, struct problem *problem);
/* Returns the path with an ending appended. */
const char *file_beside(struct arena *arena, const char *path, const char *ending);
struct str file_directory(const char *path);
struct str file_name(const char *path);
/* Makes the entries of the file's directory durable. */
MUST_CHECK enum error file_sync_directory(const char *path, struct problem *problem);

/* Reads and hashes the whole file, and copies it to `to` unless that is -1. */
MUST_CHECK enum error file_hash(int fd, const char *path, int to, const char *to_path,
    const char *stage, struct progress *progress, struct problem *problem, struct sha256 *out_hash,
    uint64_t *out_size);

#endif
