/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content as files, without a store: from one directory to another, each file compared with the
 * hash that a row of `blobs` has for it. For backup, restore and migrate; private to src/store.
 *
 * The directories are `blobs` of a data directory, or what stands beside a backup as FILE.blobs.
 * What is there already under the same name and with the same hash stays. Content never changes, so
 * adding files harms no database that uses the directory; whoever fails takes back what he added.
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
    const char *to;           /* NULL: what is at `from` is only compared */
    const struct stat *owner; /* of what is made; NULL: whoever we are */
    struct progress *progress;
    struct problem *problem;
    /* Starts out as 0. */
    struct content_counts counts;
    struct content_added *added;
    struct arena *paths; /* of the file at hand */
    bool made_to;
};

/* Every content that the database's rows name; none when it is older than files. */
typedef enum error content_visit(void *data, const struct content_name *name);
MUST_CHECK enum error content_each(
    sqlite3 *db, const char *path, struct problem *problem, content_visit *visit, void *data);

/* ERR_DAMAGED when the content is not what the row says. */
MUST_CHECK enum error content_copy_one(struct content_copier *c, const struct content_name *name);
/* All that the database names, and so that it lasts. */
MUST_CHECK enum error content_copy_all(struct content_copier *c, sqlite3 *db, const char *path);
/* What was added goes again. */
void content_copy_undo(struct content_copier *c);

/* An empty file for content, with the directories that it needs; out_path is in the problem's
 * arena. */
MUST_CHECK enum error content_make_file(const char *directory, struct uuid tenant_id,
    struct uuid id, struct problem *problem, const char **out_path, int *out_fd);
/* All that was written there lasts from here on. */
MUST_CHECK enum error content_make_last(const char *directory, struct problem *problem);

/* The same content under a second name each: ERR_UNAVAILABLE where that cannot be. Nothing happens
 * when there is no directory `from`. */
MUST_CHECK enum error content_link_all(
    const char *from, const char *to, const struct stat *owner, struct problem *problem);
/* Removes every content of the directory that the database does not name, and what is empty then;
 * with NULL all of it. As well as it can. */
void content_prune(const char *directory, sqlite3 *db);

#endif
