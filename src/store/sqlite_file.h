/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on a SQLite file outside a store: to copy, verify and count it, while a server uses it
 * or not. Private to src/store.
 *
 * None of these functions checkpoints a WAL (store/sqlite.h says why), and none ends the process:
 * damage is an ordinary result. While SQLite has a file open, the process must not open the file
 * itself: closing it would release SQLite's locks.
 */
#ifndef STORE_SQLITE_FILE_H
#define STORE_SQLITE_FILE_H

#include <sqlite3.h>

#include "base/problem.h"
#include "base/progress.h"
#include "store/contents.h"

/* Opens a database that other processes may be writing. All reads until the close see one snapshot,
 * which includes everything committed before this call. */
MUST_CHECK enum error sqlite_file_open_live(
    const char *path, struct problem *problem, sqlite3 **out_db);
/* Opens a file that does not change. Creates no files beside it and ignores existing ones. */
MUST_CHECK enum error sqlite_file_open_still(
    const char *path, struct problem *problem, sqlite3 **out_db);
/* Opens a database that a server may be using. Without a server the file is read without locks and
 * no file is added beside it; with a server, or a log that was not replayed, it is opened like any
 * reader does. */
MUST_CHECK enum error sqlite_file_open(
    const char *path, bool is_live, struct problem *problem, sqlite3 **out_db);
/* Opens a private file for writing, without SQLite's locks, so that the caller may hold its own
 * lock on it. On a network file system the two locks would be the same. */
MUST_CHECK enum error sqlite_file_open_unlocked(
    const char *path, struct problem *problem, sqlite3 **out_db);
/* For CLEANUP(). */
void sqlite_file_close(sqlite3 **db);

/* Reports SQLite's error about the file; `what` is, for example, "cannot read". */
enum error sqlite_file_problem(
    sqlite3 *db, int rc, const char *what, const char *path, struct problem *problem);

/* Lets long statements of the connection report progress, and be cancelled. */
void sqlite_file_watch(sqlite3 *db, struct progress *progress);

/* Calls the function with a line from SQLite for each fault; returns OK even if there are
 * faults. */
typedef void sqlite_file_fault(void *data, const char *line);
MUST_CHECK enum error sqlite_file_fsck(sqlite3 *db, const char *path, bool quick,
    sqlite_file_fault *found, void *data, struct problem *problem);
/* The same, but a fault is an error. */
MUST_CHECK enum error sqlite_file_expect_whole(
    sqlite3 *db, const char *path, struct problem *problem);

/* Counts the rows of each table and, unless `quick`, hashes them. */
MUST_CHECK enum error sqlite_file_contents(sqlite3 *db, const char *path, bool quick,
    struct progress *progress, struct problem *problem, struct contents *out_contents);
/* Reads the first column of the first row; without a row the number stays. Returns SQLite's code.
 */
int sqlite_file_number(sqlite3 *db, const char *sql, int64_t *out_number);
MUST_CHECK enum error sqlite_file_schema_version(
    sqlite3 *db, const char *path, struct problem *problem, int64_t *out_version);

#endif
