/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Space reserved for a full disk: the file cairn.reserve in the data directory, which contains no
 * data. When the disk is full, the reserve is deleted, and its space is used to continue. It is
 * created again once there is enough free space beside it. Any thread, one at a time.
 */
#ifndef STORE_RESERVE_H
#define STORE_RESERVE_H

#include "base/macros.h"

#define RESERVE_NAME "cairn.reserve"

enum {
    RESERVE_BYTES = 16 * 1024 * 1024,
    RESERVE_SPARE_BYTES = 16 * 1024 * 1024, /* free space needed to create it */
};

enum reserve_made {
    RESERVE_MADE,
    RESERVE_NO_ROOM,
    RESERVE_IMPOSSIBLE, /* for another reason, in errno */
};

/* Free bytes on the disk of the directory, for a user without special rights. */
uint64_t reserve_free_bytes(int directory_fd);
/* Returns true if the reserve exists in its full size, with disk blocks behind it. */
bool reserve_is_whole(int directory_fd);
/* Creates the reserve; the caller syncs the directory if necessary. Only allocating shows whether
 * there is space: a quota is visible nowhere else. */
MUST_CHECK enum reserve_made reserve_make(int directory_fd);
void reserve_give_up(int directory_fd);

#endif
