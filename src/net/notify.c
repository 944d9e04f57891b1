/* SPDX-License-Identifier: Apache-2.0 */
#include "net/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

void notify_send(struct str state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct str path = str_of(getenv("NOTIFY_SOCKET"));
    bool abstract = path.len > 0 && path.ptr[0] == '@';
    if (path.len < 2 || path.len >= sizeof address.sun_path || (path.ptr[0] != '/' && !abstract))
        return;
    memcpy(address.sun_path, path.ptr, path.len);
    if (abstract) /* the name of an abstract socket begins with NUL */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.len);
    /* Delivery is not checked: a server that cannot notify its manager still serves. */
    (void)!sendto(fd, state.ptr, state.len, MSG_NOSIGNAL, (const struct sockaddr *)&address, len);
    close(fd);
}
