/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

void fd_close(int fd)
{
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
}

void fd_closep(const int *fd)
{
    fd_close(*fd);
}

void dir_closep(DIR **stream)
{
    int why = errno;
    if (*stream != NULL)
        closedir(*stream);
    errno = why;
}

ssize_t fd_read(int fd, char *place, size_t room)
{
    ssize_t n;
    do {
        n = read(fd, place, room);
    } while (n < 0 && errno == EINTR);
    return n;
}

ssize_t fd_pread(int fd, char *place, size_t room, uint64_t offset)
{
    ssize_t n;
    do {
        n = pread(fd, place, room, (off_t)offset);
    } while (n < 0 && errno == EINTR);
    return n;
}

bool fd_write_all(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
    return true;
}
