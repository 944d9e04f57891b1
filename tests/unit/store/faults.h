/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that can fail: SQLite's own VFS with writes that find no space, and syncs that fail, on
 * demand. Once installed it is the default of the process; no call fails until a test asks for it.
 */
#ifndef TESTS_UNIT_STORE_FAULTS_H
#define TESTS_UNIT_STORE_FAULTS_H

#include "base/arena.h"

void faults_install(void);

/* That many writes go through, all later ones find the disk full. */
void faults_allow_writes(int count);
/* Writes find the disk full as long as this file is there, in the directory. */
void faults_fill_until_gone(struct arena *arena, struct str directory, const char *name);
/* Every sync fails. */
void faults_fail_syncs(void);
/* From now on fsync of a directory notes the inode that this path has then; 0: none. */
void faults_watch_syncs(const char *path);
unsigned long long faults_synced_inode(void);
/* The disk is well again. */
void faults_clear(void);

#endif
