/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Space set aside for a full disk: the file cairn.reserve in the data directory, which holds
 * nothing. Whoever finds the disk full gives it up, and has that much to go on with. It is made
 * again once there is as much to spare beside it. Any thread; one at a time makes and gives up.
 */
#ifndef STORE_RESERVE_H
#define STORE_RESERVE_H

#include "base/macros.h"

#define RESERVE_NAME "cairn.reserve"

enum {
    RESERVE_BYTES = 16 * 1024 * 1024,
    RESERVE_SPARE_BYTES = 16 * 1024 * 1024, /* free beside it, when it is made */
};

enum reserve_made {
    RESERVE_MADE,
    RESERVE_NO_ROOM,
    RESERVE_IMPOSSIBLE, /* for another reason: errno */
};

/* What a user without special rights may still take of the disk that a directory is on. */
uint64_t reserve_free_bytes(int directory_fd);
/* Whether it is there, as large as it should be and with blocks of the disk behind it. */
bool reserve_is_whole(int directory_fd);
/* Makes it; the caller may sync the directory. Room is judged by taking it: a quota shows nowhere
 * else. */
MUST_CHECK enum reserve_made reserve_make(int directory_fd);
void reserve_give_up(int directory_fd);

#endif
