/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the tests of backup and restore, on a fixture's store and the files around it. Names of
 * files and directories are relative to the test's own place, of which "data" is the store's.
 */
#ifndef TESTS_UNIT_STORE_BACKUP_STEPS_H
#define TESTS_UNIT_STORE_BACKUP_STEPS_H

#include "fixture.h"
#include "store/backup.h"

/* A path in the test's own place. */
struct str place(struct fixture *f, const char *name);
const char *cplace(struct fixture *f, const char *name);
bool is_there(struct fixture *f, const char *name);

/* One that must succeed and may replace a file, and one that may not. */
struct backup_report backup(struct fixture *f, const char *name);
enum error try_backup(struct fixture *f, const char *name);
struct restore plan(struct fixture *f, const char *file, const char *directory);
/* out_kept may be NULL. */
enum error restore(struct fixture *f, const struct restore *what, struct str *out_kept);

/* How many notes a store in that directory has; they must be numbered without a gap. */
int64_t notes_in(struct fixture *f, const char *directory);
void add_notes(struct fixture *f, int count);
/* A store that was killed: its last writes are in the WAL alone. */
void crash_with(struct fixture *f, int notes);
/* The problem says so. */
void expect_told(struct fixture *f, const char *part);

void write_file(const char *path, const void *bytes, size_t len);
void flip_byte(const char *path, off_t at);
struct sha256 hash_of(const char *path);
struct str hex_of(struct fixture *f, struct sha256 hash);
void expect_text(struct fixture *f, const char *name, const char *text);
/* Creates an unrelated file with a second name, which must not be touched. */
void plant(struct fixture *f, const char *name);
/* How many files of the directory have such a name. */
int count_names(struct fixture *f, const char *directory, const char *part);

#endif
