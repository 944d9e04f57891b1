/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over every file of the folders given, without libFuzzer. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "fuzz.h"

/* The copy has no slack, so that a sanitizer sees a read past the input's end. */
static bool replay_file(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        return false;
    size_t size = (size_t)info.st_size;
    CLEANUP(mem_freep) uint8_t *data = mem_alloc(size);
    ssize_t got = read(fd, data, size);
    close(fd);
    if (got != info.st_size)
        return false;
    LLVMFuzzerTestOneInput(data, size);
    return true;
}

/* The number of files replayed, or -1. */
static int replay_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return -1;
    int count = 0;
    for (struct dirent *entry; count >= 0 && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (replay_file(dirfd(dir), entry->d_name)) {
            count++;
        } else {
            fprintf(stderr, "cannot read %s/%s\n", path, entry->d_name);
            count = -1;
        }
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = replay_folder(argv[i]);
        if (count <= 0) {
            fprintf(stderr, "no inputs replayed from %s\n", argv[i]);
            return 1;
        }
        total += count;
    }
    printf("%d inputs replayed\n", total);
    return total == 0;
}
