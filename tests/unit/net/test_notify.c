/* SPDX-License-Identifier: Apache-2.0 */
#include "net/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "test.h"

/* Binds a datagram socket to a name, "@…" for one outside of the file system. */
static int manager_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct str path = str_of(name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, path.ptr, path.len);
    if (path.ptr[0] == '@')
        address.sun_path[0] = '\0';
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.len);
    EXPECT_EQ(bind(fd, (struct sockaddr *)&address, len), 0);
    return fd;
}

static void expect_told(const char *name)
{
    char heard[64];
    int fd = manager_at(name);
    setenv("NOTIFY_SOCKET", name, 1);
    notify_send(STR("READY=1"));
    unsetenv("NOTIFY_SOCKET");
    ssize_t got = recv(fd, heard, sizeof heard, MSG_DONTWAIT);
    EXPECT_EQ(got, strlen("READY=1"));
    if (got > 0)
        EXPECT_STR(((struct str){heard, (size_t)got}), STR("READY=1"));
    close(fd);
}

TEST(the_service_manager_is_told_by_file_and_by_abstract_name)
{
    char folder[] = "/tmp/cairn-notify-XXXXXX", path[64], abstract[64];
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(abstract, sizeof abstract, "@%s", folder);
    expect_told(path);
    expect_told(abstract);
    unlink(path);
    rmdir(folder);
}

TEST(a_manager_that_is_not_there_does_no_harm)
{
    static const char *const names[] = {"", "x", "relative/name", "/nowhere/socket"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        setenv("NOTIFY_SOCKET", names[i], 1);
        notify_send(STR("READY=1"));
    }
    unsetenv("NOTIFY_SOCKET");
    notify_send(STR("READY=1"));
}
