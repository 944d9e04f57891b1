/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files around a backup: their hashes, in FILE.sha256 as sha256sum writes and checks it, and what
 * it takes that a file lasts. Private to src/store.
 */
#ifndef STORE_SIDECAR_H
#define STORE_SIDECAR_H

#include <sys/stat.h>

#include "base/hash.h"
#include "base/problem.h"
#include "base/progress.h"

enum { SIDECAR_MAX_HASHES = 2 };

/* Two while a backup takes the place of another: each is that of one of them. */
struct sidecar {
    struct sha256 hashes[SIDECAR_MAX_HASHES];
    size_t count;
};

/* What FILE.sha256 says of FILE, not of other names; ERR_NOT_FOUND when there is no such file. */
MUST_CHECK enum error sidecar_read(
    const char *file, struct problem *problem, struct sidecar *out_sidecar);
/* Atomically, and so that it lasts. It belongs to `owner`, or with NULL to us. One writes at a
 * time. */
MUST_CHECK enum error sidecar_write(const char *file, const struct sidecar *sidecar,
    const struct stat *owner, struct problem *problem);
bool sidecar_has(const struct sidecar *sidecar, const struct sha256 *hash);
MUST_CHECK bool sha256_parse(struct str hex, struct sha256 *out_hash);

/* Makes the file anew, 0600 and ours: whatever had the name, a link for example, has gone. */
int file_create(const char *path);
/* Whether there is such a file, with something in it. */
bool file_has_bytes(const char *path);

/* Says why the last call of the system failed: `what` is "cannot write". */
enum error file_problem(const char *what, const char *path, struct problem *problem);
/* The file's name with something at its end. */
const char *file_beside(struct arena *arena, const char *path, const char *ending);
struct str file_directory(const char *path);
struct str file_name(const char *path);
/* The directory's entries last from here on. */
MUST_CHECK enum error file_sync_directory(const char *path, struct problem *problem);

/* Reads the whole file from its beginning, and copies it to `to` unless that is -1. */
MUST_CHECK enum error file_hash(int fd, const char *path, int to, const char *to_path,
    const char *stage, struct progress *progress, struct problem *problem, struct sha256 *out_hash,
    uint64_t *out_size);

#endif
