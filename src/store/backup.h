/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backup and restore of the SQLite engine, as files.
 *
 * A backup runs while the database is served or not. It reads one snapshot, which contains every
 * write acknowledged before the backup began, and no later one. The copy is written to
 * FILE.partial, verified, hashed and synced before it is renamed to FILE; FILE.sha256 contains its
 * hash in the format of sha256sum. Whether the backup completes, fails, is cancelled or crashes,
 * FILE is either the old backup or the new one, and FILE.sha256 contains its hash.
 *
 * The content of files is copied to the directory FILE.blobs and compared with the hashes of the
 * rows in FILE. Nothing is removed there before FILE is the new backup, and no server removes
 * content while a backup runs. Unfinished uploads are not included.
 *
 * A restore copies FILE beside the database, verifies the copy and puts it in place with one
 * rename. Wherever it ends, the directory contains either the previous database or the new one. The
 * previous database is kept with its hash, like a backup.
 *
 * Strings of a report are in the problem's arena.
 */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "base/problem.h"
#include "base/progress.h"
#include "store/content_copy.h"
#include "store/contents.h"

struct backup_report {
    uint64_t size_bytes;
    struct sha256 sha256; /* of the file */
    struct contents contents;
    struct content_counts files;
    struct str kept; /* restore: where the previous database is now; STR_NONE: there was none */
};

/* `replaces`: an existing FILE may be replaced. */
MUST_CHECK enum error backup_create(struct str data_dir, struct str file, bool replaces,
    struct progress *progress, struct problem *problem, struct backup_report *out_report);

struct restore {
    struct str file;
    struct str sha256; /* hexadecimal; STR_NONE: read it from FILE.sha256 */
    struct str data_dir;
    bool replaces; /* an existing database may be moved aside */
};
/* Returns true if there is a database that would have to be moved aside. */
bool restore_finds_database(struct str data_dir);
/* Checks everything that can be checked in advance: the hash, that the file is intact and not of a
 * newer version, and that the directory is free. Changes nothing. */
MUST_CHECK enum error restore_try(const struct restore *restore, struct progress *progress,
    struct problem *problem, struct backup_report *out_report);
MUST_CHECK enum error restore_run(const struct restore *restore, struct progress *progress,
    struct problem *problem, struct backup_report *out_report);

#endif
