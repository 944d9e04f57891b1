/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backup and restore of the SQLite engine, by files.
 *
 * A backup is taken beside the server, or while none runs: it reads one snapshot, which holds every
 * write that was acknowledged before it began, each whole, and nothing of the later ones. It is
 * written to FILE.partial, checked, hashed and on the disk before it becomes FILE; FILE.sha256 says
 * its hash in the words of sha256sum. Wherever the work ends, by failure, by is_cancelled or by a
 * crash, FILE is what it was or the new backup, and its hash stands in FILE.sha256.
 *
 * The content of files goes to the directory FILE.blobs, each with the hash that its row in FILE
 * has; nothing is removed there before FILE is the new backup, and no server removes content while
 * a backup runs. Uploads that were under way are no part of it.
 *
 * A restore copies FILE beside the database, checks the copy, and puts it in place by one rename.
 * Wherever it ends, the directory holds the database of before, or the new one. The one of before
 * is kept with its hash, as a backup is.
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
    struct str kept; /* restore: what the database of before is now; STR_NONE: there was none */
};

/* `replaces`: an older FILE may go. */
MUST_CHECK enum error backup_create(struct str data_dir, struct str file, bool replaces,
    struct progress *progress, struct problem *problem, struct backup_report *out_report);

struct restore {
    struct str file;
    struct str sha256; /* hexadecimal; STR_NONE: what FILE.sha256 says */
    struct str data_dir;
    bool replaces; /* a database that is there may go aside */
};
/* Whether there is a database that would have to go aside. */
bool restore_finds_database(struct str data_dir);
/* Everything that can be known before: the hash, whether the file is whole and not of a newer
 * version, and whether the directory is free. Changes nothing. */
MUST_CHECK enum error restore_try(const struct restore *restore, struct progress *progress,
    struct problem *problem, struct backup_report *out_report);
MUST_CHECK enum error restore_run(const struct restore *restore, struct progress *progress,
    struct problem *problem, struct backup_report *out_report);

#endif
