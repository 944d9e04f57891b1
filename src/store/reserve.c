/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"

enum { STAT_BLOCK_BYTES = 512 };

uint64_t reserve_free_bytes(int directory_fd)
{
    struct statvfs st;
    return fstatvfs(directory_fd, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize : 0;
}

/* In a copied data directory the reserve may be a sparse file. */
bool reserve_is_whole(int directory_fd)
{
    struct stat st;
    return fstatat(directory_fd, RESERVE_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && st.st_size == RESERVE_BYTES &&
           (uint64_t)st.st_blocks * STAT_BLOCK_BYTES >= RESERVE_BYTES;
}

/* Returns 0 or an errno. */
static int fill(int fd)
{
    int why = posix_fallocate(fd, 0, RESERVE_BYTES + RESERVE_SPARE_BYTES);
    if (why != 0)
        return why;
    return ftruncate(fd, RESERVE_BYTES) == 0 && fsync(fd) == 0 ? 0 : errno;
}

enum reserve_made reserve_make(int directory_fd)
{
    if (reserve_free_bytes(directory_fd) < RESERVE_BYTES + RESERVE_SPARE_BYTES)
        return RESERVE_NO_ROOM;
    unlinkat(directory_fd, RESERVE_NAME, 0);
    int fd = openat(
        directory_fd, RESERVE_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : fill(fd);
    fd_close(fd);
    if (why == 0)
        return RESERVE_MADE;
    unlinkat(directory_fd, RESERVE_NAME, 0);
    errno = why;
    return why == ENOSPC || why == EDQUOT || why == EFBIG ? RESERVE_NO_ROOM : RESERVE_IMPOSSIBLE;
}

/* Some file systems reuse blocks only after the deletion is durable. */
void reserve_give_up(int directory_fd)
{
    if (unlinkat(directory_fd, RESERVE_NAME, 0) == 0)
        (void)!fsync(directory_fd);
}
