/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors and directory streams. The descriptor -1 and the stream NULL mean none. Failures
 * are in errno. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <dirent.h>
#include <sys/types.h>

#include "base/str.h"

/* Keeps errno, so that a message can still name an earlier failure. */
void fd_close(int fd);
/* For CLEANUP(). They keep errno too. */
void fd_closep(const int *fd);
void dir_closep(DIR **stream);

/* Like read and pread, but a signal does not interrupt them. */
ssize_t fd_read(int fd, char *place, size_t room);
ssize_t fd_pread(int fd, char *place, size_t room, uint64_t offset);
/* Returns false after a failure; some of the bytes may then have been written. */
bool fd_write_all(int fd, struct str bytes);

#endif
