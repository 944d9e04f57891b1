/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "test.h"

TEST(all_bytes_are_written_and_read_back)
{
    char path[] = "/tmp/cairn-fd-XXXXXX", bytes[16];
    int fd CLEANUP(fd_closep) = mkstemp(path);
    EXPECT(fd >= 0);
    unlink(path);
    EXPECT(fd_write_all(fd, STR("some bytes")));
    EXPECT(fd_write_all(fd, STR("")));
    EXPECT_EQ(fd_pread(fd, bytes, sizeof bytes, 5), 5);
    EXPECT_STR(((struct str){bytes, 5}), STR("bytes"));
    EXPECT_EQ(fd_read(fd, bytes, sizeof bytes), 0);
}

TEST(a_write_that_fails_is_reported)
{
    int fd CLEANUP(fd_closep) = open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT(!fd_write_all(fd, STR("x")));
    EXPECT_EQ(errno, EBADF);
}

TEST(closing_keeps_the_earlier_failure)
{
    errno = ENOSPC;
    fd_close(-1);
    fd_close(1 << 20); /* not open: close sets errno */
    EXPECT_EQ(errno, ENOSPC);
}
