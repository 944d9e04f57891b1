/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies content as files, without a store, from one directory to another, and compares each file
 * with the hash in its row of `blobs`. For backup, restore and migrate; private to src/store.
 *
 * The directories are `blobs` of a data directory, or FILE.blobs beside a backup. An existing file
 * with the same name and hash stays. Content never changes, so added files do not harm a database
 * that uses the directory; a failed copy removes the files that it added.
 */
#ifndef STORE_CONTENT_COPY_H
#define STORE_CONTENT_COPY_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/problem.h"
#include "base/progress.h"
#include "base/uuid.h"

struct content_name {
    struct uuid tenant_id;
    struct uuid id;
    uint64_t size_bytes;
    struct sha256 sha256;
};

struct content_counts {
    uint64_t n_files;
    uint64_t n_bytes;
};

struct content_added;

struct content_copier {
    const char *from;         /* the directories */
    const char *to;           /* NULL: the files at `from` are only verified */
    const struct stat *owner; /* of created files; NULL: this process */
    struct progress *progress;
    struct problem *problem;
    /* Initially 0. */
    struct content_counts counts;
    struct content_added *added;
    struct arena *paths; /* of the current file */
    bool made_to;
};

/* Calls `visit` for every content that the database refers to; for none if the database is older
 * than files. */
typedef enum error content_visit(void *data, const struct content_name *name);
MUST_CHECK enum error content_each(
    sqlite3 *db, const char *path, struct problem *problem, content_visit *visit, void *data);

/* ERR_DAMAGED if the content does not match its row. */
MUST_CHECK enum error content_copy_one(struct content_copier *c, const struct content_name *name);
/* Copies all content that the database refers to, durably. */
MUST_CHECK enum error content_copy_all(struct content_copier *c, sqlite3 *db, const char *path);
/* Removes the files that were added. */
void content_copy_undo(struct content_copier *c);

/* Creates an empty file for content and its directories; out_path is in the problem's arena. */
MUST_CHECK enum error content_make_file(const char *directory, struct uuid tenant_id,
    struct uuid id, struct problem *problem, const char **out_path, int *out_fd);
/* Makes everything that was written there durable. */
MUST_CHECK enum error content_make_last(const char *directory, struct problem *problem);

/* Gives each content a second name with hard links; ERR_UNAVAILABLE where links are impossible.
 * Does nothing if there is no directory `from`. */
MUST_CHECK enum error content_link_all(
    const char *from, const char *to, const struct stat *owner, struct problem *problem);
/* Removes all content of the directory that the database does not refer to (with NULL, all
 * content), and empty directories. Best effort. */
void content_prune(const char *directory, sqlite3 *db);

#endif
