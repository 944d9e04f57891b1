/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite file as such: opened beside whoever serves it, or while nobody does, to be copied,
 * checked and counted. Private to src/store.
 *
 * Nothing here ever checkpoints a WAL (store/sqlite.h says why), and nothing stops the process: a
 * damaged file is an ordinary answer. A file must not be opened by itself in a process while SQLite
 * has it open: closing it again would drop SQLite's locks.
 */
#ifndef STORE_SQLITE_FILE_H
#define STORE_SQLITE_FILE_H

#include <sqlite3.h>

#include "base/problem.h"
#include "base/progress.h"
#include "store/contents.h"

/* A database that others may be writing. What is read until the connection is closed is one
 * snapshot, and of what was committed before this call nothing is missing. */
MUST_CHECK enum error sqlite_file_open_live(
    const char *path, struct problem *problem, sqlite3 **out_db);
/* A file that nobody changes. Nothing is put beside it, and what lies beside it is not looked at.
 */
MUST_CHECK enum error sqlite_file_open_still(
    const char *path, struct problem *problem, sqlite3 **out_db);
/* A file of ours that nobody else opens, to be written: without SQLite's locks, so that the caller
 * may hold one of his own on it. On a file system of the net the two would be one. */
MUST_CHECK enum error sqlite_file_open_unlocked(
    const char *path, struct problem *problem, sqlite3 **out_db);
/* For CLEANUP(). */
void sqlite_file_close(sqlite3 **db);

/* Says what SQLite refused about the file: `what` is "cannot read". */
enum error sqlite_file_problem(
    sqlite3 *db, int rc, const char *what, const char *path, struct problem *problem);

/* Tells the connection's long statements of the progress, and of its end. */
void sqlite_file_watch(sqlite3 *db, struct progress *progress);

/* One line of SQLite's for each fault that it found; OK also when there are some. */
typedef void sqlite_file_fault(void *data, const char *line);
MUST_CHECK enum error sqlite_file_fsck(sqlite3 *db, const char *path, bool quick,
    sqlite_file_fault *found, void *data, struct problem *problem);
/* The same, for one that must be whole. */
MUST_CHECK enum error sqlite_file_expect_whole(
    sqlite3 *db, const char *path, struct problem *problem);

/* Counts the rows of each table, and hashes them unless it is to be quick. */
MUST_CHECK enum error sqlite_file_contents(sqlite3 *db, const char *path, bool quick,
    struct progress *progress, struct problem *problem, struct contents *out_contents);
MUST_CHECK enum error sqlite_file_schema_version(
    sqlite3 *db, const char *path, struct problem *problem, int64_t *out_version);

#endif
