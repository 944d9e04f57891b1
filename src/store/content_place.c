/* SPDX-License-Identifier: Apache-2.0 */
#include "store/content_place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "store/sidecar.h"

void content_name_write(char *text, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    text[2 * n] = '\0';
}

struct content_place content_place_of(struct uuid tenant_id, struct uuid id)
{
    struct content_place p;
    char name[CONTENT_HEX_LEN + 1], last[CONTENT_FAN_LEN + 1];
    content_name_write(p.tenant, tenant_id.bytes, sizeof tenant_id.bytes);
    content_name_write(name, id.bytes, sizeof id.bytes);
    content_name_write(last, id.bytes + sizeof id.bytes - 1, 1);
    snprintf(p.fan, sizeof p.fan, "%s/%s", p.tenant, last);
    snprintf(p.file, sizeof p.file, "%s/%s", p.fan, name);
    return p;
}

bool content_name_read(const char *name, uint8_t *out_bytes, size_t n)
{
    return hex_decode_lower(str_of(name), out_bytes, n);
}

/* --- The hold ------------------------------------------------------------------------------- */

/* A file that root creates belongs to the owner of the directory, who serves it. */
static int open_hold(int directory_fd)
{
    static const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat directory;
    int fd = openat(directory_fd, CONTENT_HOLD_NAME, flags | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return errno == EEXIST ? openat(directory_fd, CONTENT_HOLD_NAME, flags) : -1;
    if (geteuid() == 0 && fstat(directory_fd, &directory) == 0)
        (void)!fchown(fd, directory.st_uid, directory.st_gid);
    return fd;
}

enum error content_hold(const char *directory, struct problem *problem, int *out_fd)
{
    int directory_fd CLEANUP(fd_closep) = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0 || faccessat(directory_fd, CONTENT_ROOT_NAME, F_OK, 0) != 0) {
        *out_fd = -1;
        return OK;
    }
    int fd = open_hold(directory_fd);
    if (fd < 0)
        return file_problem("cannot write " CONTENT_HOLD_NAME " in", directory, problem);
    while (flock(fd, LOCK_SH) != 0) {
        if (errno == EINTR)
            continue;
        close(fd);
        return file_problem("cannot lock " CONTENT_HOLD_NAME " in", directory, problem);
    }
    *out_fd = fd;
    return OK;
}

int content_take_unheld(int directory_fd)
{
    int fd = open_hold(directory_fd);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    fd_close(fd);
    return -1;
}
