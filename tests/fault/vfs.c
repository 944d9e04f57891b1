/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { FDS_MAX = 1024, FILES_MAX = 4096 };

/* A descriptor of something below the root. */
struct watched {
    bool is_open, is_directory, is_memory;
    uint16_t file;
    char path[DISK_PATH_MAX];
};

static struct {
    pthread_mutex_t mutex;
    const char *root; /* NULL: nothing is watched */
    size_t root_len;
    struct vfs_plan plan;
    struct vfs_outcome *outcome;
    struct disk_log *log;
    struct watched fds[FDS_MAX];
    ino_t inodes[FILES_MAX]; /* by the file's number; of those that were made here */
    uint16_t n_files;
} vfs = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const struct {
    unsigned calls;
    int number;
} faults[] = {{0, 0},
#define VFS_ROW(name, calls, number) {calls, number},
    VFS_FAULTS(VFS_ROW)
#undef VFS_ROW
};

/* --- Names ---------------------------------------------------------------------------------- */

/* The path below the root, without slashes at its end; false: it is elsewhere. */
static bool inside(const char *path, char out[DISK_PATH_MAX])
{
    if (vfs.root == NULL || strncmp(path, vfs.root, vfs.root_len) != 0 ||
        (path[vfs.root_len] != '/' && path[vfs.root_len] != '\0'))
        return false;
    path += vfs.root_len;
    while (*path == '/')
        path++;
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    assert(len < DISK_PATH_MAX);
    memcpy(out, path, len);
    out[len] = '\0';
    return true;
}

static struct watched *watched(int fd)
{
    return fd >= 0 && fd < FDS_MAX && vfs.fds[fd].is_open ? &vfs.fds[fd] : NULL;
}

static bool ends_with(const char *path, const char *ending)
{
    size_t len = strlen(path), n = strlen(ending);
    return len >= n && strcmp(path + len - n, ending) == 0;
}

/* The index of the log is memory that has a name: no power loss leaves anything of it. */
#define MEMORY_ENDING "-shm"

static bool is_memory(const char *path)
{
    return ends_with(path, MEMORY_ENDING);
}

/* And content, without which a row of the database is worth nothing. */
static bool is_database(const char *path)
{
    return strcmp(path, "data/cairn.db") == 0 || strcmp(path, "data/cairn.db-wal") == 0 ||
           strncmp(path, "data/blobs", sizeof "data/blobs" - 1) == 0;
}

/* --- Failing -------------------------------------------------------------------------------- */

/* Whether the fault hits this call, which is one of these. */
static bool is_hit(unsigned calls)
{
    if ((faults[vfs.plan.fault].calls & calls) == 0)
        return false;
    unsigned n = atomic_fetch_add(&vfs.outcome->n_calls, 1) + 1;
    bool hit = vfs.plan.is_sticky ? n >= vfs.plan.at : n == vfs.plan.at;
    if (hit)
        atomic_store(&vfs.outcome->has_fired, true);
    return hit;
}

static bool fails(unsigned calls)
{
    if (vfs.plan.fault == VFS_FAULT_SHORT || !is_hit(calls))
        return false;
    errno = faults[vfs.plan.fault].number;
    return true;
}

/* How much of it the disk takes or gives. */
static size_t shortened(unsigned calls, size_t len)
{
    return vfs.plan.fault == VFS_FAULT_SHORT && len > 1 && is_hit(calls) ? len / 2 : len;
}

static void lock(void)
{
    pthread_mutex_lock(&vfs.mutex);
}

static int unlock(int result)
{
    int number = errno;
    pthread_mutex_unlock(&vfs.mutex);
    errno = number;
    return result;
}

/* --- Recording ------------------------------------------------------------------------------ */

static void record_path(enum disk_op_kind kind, uint16_t file, const char *path, const char *to)
{
    if (vfs.log != NULL && !is_memory(path))
        disk_log_path(vfs.log, (struct disk_op){.kind = kind, .file = file}, path, to);
}

static void record(
    const struct watched *w, enum disk_op_kind kind, off_t offset, size_t len, const void *bytes)
{
    const struct disk_op op = {
        .kind = kind, .file = w->file, .offset = (uint64_t)offset, .len = (uint32_t)len};
    if (vfs.log != NULL && !w->is_memory)
        disk_log_bytes(vfs.log, op, bytes);
}

/* The newest file with this inode: the system gives the numbers of files that are gone again. */
static uint16_t file_of(ino_t inode)
{
    uint16_t i = vfs.n_files;
    while (i > 0 && vfs.inodes[i - 1] != inode)
        i--;
    assert(i > 0); /* every file was made here */
    return (uint16_t)(i - 1);
}

static uint16_t file_made(ino_t inode)
{
    assert(vfs.n_files < FILES_MAX);
    vfs.inodes[vfs.n_files] = inode;
    return vfs.n_files++;
}

static void watch(int fd, const char *path, bool is_new)
{
    struct stat info;
    assert(fd < FDS_MAX && syscall(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH) == 0);
    struct watched *w = &vfs.fds[fd];
    *w = (struct watched){
        .is_open = true, .is_directory = S_ISDIR(info.st_mode), .is_memory = is_memory(path)};
    memcpy(w->path, path, strlen(path) + 1);
    if (vfs.log == NULL || w->is_directory || w->is_memory)
        return;
    w->file = is_new ? file_made(info.st_ino) : file_of(info.st_ino);
    if (is_new)
        record_path(DISK_NAME, w->file, path, NULL);
}

static bool exists(const char *path)
{
    return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

/* --- The calls ------------------------------------------------------------------------------ */

static int open_file(const char *path, int flags, mode_t mode)
{
    char below[DISK_PATH_MAX];
    if (!inside(path, below))
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    assert((flags & O_TRUNC) == 0);
    lock();
    if (fails(VFS_OTHER | (flags & O_CREAT ? VFS_SPACE : 0)))
        return unlock(-1);
    bool is_new = (flags & O_CREAT) != 0 && !exists(path);
    /* A file that never gets a name is lost in a power loss, with everything written to it. */
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0)
        watch(fd, is_nameless ? "nameless" MEMORY_ENDING : below, is_new);
    return unlock(fd);
}

static int close_file(int fd)
{
    lock();
    struct watched *w = watched(fd);
    if (w != NULL)
        w->is_open = false;
    return unlock((int)syscall(SYS_close, fd));
}

static ssize_t read_file(int fd, void *to, size_t len, off_t offset, bool has_offset)
{
    lock();
    bool counts = watched(fd) != NULL;
    if (counts && fails(VFS_READ))
        return unlock(-1);
    len = counts ? shortened(VFS_READ, len) : len;
    unlock(0);
    return has_offset ? syscall(SYS_pread64, fd, to, len, offset) : syscall(SYS_read, fd, to, len);
}

static ssize_t write_file(int fd, const void *from, size_t len, off_t offset, bool has_offset)
{
    lock();
    const struct watched *w = watched(fd);
    if (w == NULL) {
        unlock(0);
        return has_offset ? syscall(SYS_pwrite64, fd, from, len, offset)
                          : syscall(SYS_write, fd, from, len);
    }
    if (fails(VFS_WRITE | VFS_SPACE))
        return unlock(-1);
    len = shortened(VFS_WRITE, len);
    if (!has_offset)
        offset = lseek(fd, 0, SEEK_CUR);
    ssize_t n = has_offset ? syscall(SYS_pwrite64, fd, from, len, offset)
                           : syscall(SYS_write, fd, from, len);
    if (n > 0)
        record(w, DISK_WRITE, offset, (size_t)n, from);
    return unlock((int)n);
}

static int truncate_file(int fd, off_t size)
{
    lock();
    const struct watched *w = watched(fd);
    if (w != NULL && fails(VFS_SPACE | VFS_OTHER))
        return unlock(-1);
    int result = (int)syscall(SYS_ftruncate, fd, size);
    if (w != NULL && result == 0)
        record(w, DISK_TRUNCATE, size, 0, NULL);
    return unlock(result);
}

/* No real disk is synced: the power loss is simulated, and this machine keeps running. */
static int sync_file(int fd)
{
    lock();
    const struct watched *w = watched(fd);
    if (w == NULL)
        return unlock(0);
    bool failed = fails(VFS_SYNC);
    if (failed && is_database(w->path))
        atomic_store(&vfs.outcome->database_sync_failed, true);
    if (w->is_directory && !failed)
        record_path(DISK_SYNC_DIRECTORY, DISK_DIRECTORY, w->path, NULL);
    else if (!w->is_directory)
        record(w, failed ? DISK_SYNC_FAILED : DISK_SYNC, 0, 0, NULL);
    return unlock(failed ? -1 : 0);
}

static int unlink_file(const char *path)
{
    char below[DISK_PATH_MAX];
    if (!inside(path, below))
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    lock();
    if (fails(VFS_OTHER))
        return unlock(-1);
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (result == 0)
        record_path(DISK_UNNAME, 0, below, NULL);
    return unlock(result);
}

static int make_directory(const char *path, mode_t mode)
{
    char below[DISK_PATH_MAX];
    if (!inside(path, below))
        return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    lock();
    if (fails(VFS_OTHER | VFS_SPACE))
        return unlock(-1);
    int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0)
        record_path(DISK_NAME, DISK_DIRECTORY, below, NULL);
    return unlock(result);
}

static int remove_directory(const char *path)
{
    char below[DISK_PATH_MAX];
    bool counts = inside(path, below);
    lock();
    if (counts && fails(VFS_OTHER))
        return unlock(-1);
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
    if (counts && result == 0)
        record_path(DISK_UNNAME, 0, below, NULL);
    return unlock(result);
}

/* Returns true if a call that only reads or inspects may proceed. */
static bool may(unsigned calls, int fd, const char *path)
{
    char below[DISK_PATH_MAX];
    lock();
    bool counts = path != NULL ? inside(path, below) : watched(fd) != NULL;
    return unlock(!counts || !fails(calls));
}

/* --- SQLite's way in ------------------------------------------------------------------------ */

static int sqlite_open(const char *path, int flags, int mode)
{
    return open_file(path, flags, (mode_t)mode);
}

static ssize_t sqlite_read(int fd, void *to, size_t len)
{
    return read_file(fd, to, len, 0, false);
}

static ssize_t sqlite_pread(int fd, void *to, size_t len, off_t offset)
{
    return read_file(fd, to, len, offset, true);
}

static ssize_t sqlite_write(int fd, const void *from, size_t len)
{
    return write_file(fd, from, len, 0, false);
}

static ssize_t sqlite_pwrite(int fd, const void *from, size_t len, off_t offset)
{
    return write_file(fd, from, len, offset, true);
}

static int sqlite_fstat(int fd, struct stat *out)
{
    return may(VFS_OTHER, fd, NULL) ? (int)syscall(SYS_newfstatat, fd, "", out, AT_EMPTY_PATH) : -1;
}

static int sqlite_access(const char *path, int mode)
{
    return may(VFS_OTHER, -1, path) ? (int)syscall(SYS_faccessat, AT_FDCWD, path, mode) : -1;
}

static int sqlite_fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    /* To give a lock back does not fail. */
    bool takes = command == F_SETLK && ((const struct flock *)argument)->l_type != F_UNLCK;
    return !takes || may(VFS_LOCK, fd, NULL) ? (int)syscall(SYS_fcntl, fd, command, argument) : -1;
}

static void *sqlite_mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    return may(VFS_OTHER, fd, NULL) ? mmap(at, len, protection, flags, fd, offset) : MAP_FAILED;
}

static const struct {
    const char *name;
    sqlite3_syscall_ptr call;
} overrides[] = {
    {"open", (sqlite3_syscall_ptr)sqlite_open},
    {"close", (sqlite3_syscall_ptr)close_file},
    {"access", (sqlite3_syscall_ptr)sqlite_access},
    {"fstat", (sqlite3_syscall_ptr)sqlite_fstat},
    {"ftruncate", (sqlite3_syscall_ptr)truncate_file},
    {"fcntl", (sqlite3_syscall_ptr)sqlite_fcntl},
    {"read", (sqlite3_syscall_ptr)sqlite_read},
    {"pread", (sqlite3_syscall_ptr)sqlite_pread},
    {"pread64", (sqlite3_syscall_ptr)sqlite_pread},
    {"write", (sqlite3_syscall_ptr)sqlite_write},
    {"pwrite", (sqlite3_syscall_ptr)sqlite_pwrite},
    {"pwrite64", (sqlite3_syscall_ptr)sqlite_pwrite},
    {"unlink", (sqlite3_syscall_ptr)unlink_file},
    {"mmap", (sqlite3_syscall_ptr)sqlite_mmap},
};

/* libsqlite3's own, which is looked up in the program first. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    return sync_file(fd);
}

/* --- Cairn's way in: --wrap ----------------------------------------------------------------- */

/* clang-format off */
#define WRAPPED(result, name, ...)                  \
    result __wrap_##name(__VA_ARGS__);              \
    result __wrap_##name(__VA_ARGS__)
/* clang-format on */

static mode_t mode_argument(int flags, va_list args)
{
    return flags & O_CREAT ? va_arg(args, mode_t) : 0;
}

WRAPPED(int, open64, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_argument(flags, args);
    va_end(args);
    return open_file(path, flags, mode);
}

/* Cairn names a file by its directory's descriptor where nothing may take its place. */
static bool path_at(int fd, const char *name, char out[DISK_PATH_MAX])
{
    lock();
    const struct watched *w = watched(fd);
    if (w == NULL)
        return unlock(false);
    int n = snprintf(out, DISK_PATH_MAX, "%s/%s/%s", vfs.root, w->path, name);
    return unlock(n < DISK_PATH_MAX);
}

WRAPPED(int, openat64, int directory, const char *name, int flags, ...)
{
    char path[DISK_PATH_MAX];
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_argument(flags, args);
    va_end(args);
    return path_at(directory, name, path) ? open_file(path, flags, mode)
                                          : (int)syscall(SYS_openat, directory, name, flags, mode);
}

WRAPPED(int, unlinkat, int directory, const char *name, int flags)
{
    char path[DISK_PATH_MAX];
    assert(flags == 0);
    return path_at(directory, name, path) ? unlink_file(path)
                                          : (int)syscall(SYS_unlinkat, directory, name, flags);
}

WRAPPED(int, mkdirat, int directory, const char *name, mode_t mode)
{
    char path[DISK_PATH_MAX];
    return path_at(directory, name, path) ? make_directory(path, mode)
                                          : (int)syscall(SYS_mkdirat, directory, name, mode);
}

WRAPPED(int, fstatat64, int directory, const char *name, struct stat *out, int flags)
{
    char path[DISK_PATH_MAX];
    if (path_at(directory, name, path) && !may(VFS_OTHER, -1, path))
        return -1;
    return (int)syscall(SYS_newfstatat, directory, name, out, flags);
}

int __real_closedir(DIR *directory);

/* It closes a descriptor that was opened here. */
WRAPPED(int, closedir, DIR *directory)
{
    lock();
    struct watched *w = watched(dirfd(directory));
    if (w != NULL)
        w->is_open = false;
    return unlock(__real_closedir(directory));
}

WRAPPED(int, close, int fd)
{
    return close_file(fd);
}

WRAPPED(ssize_t, read, int fd, void *to, size_t len)
{
    return read_file(fd, to, len, 0, false);
}

WRAPPED(ssize_t, pread64, int fd, void *to, size_t len, off_t offset)
{
    return read_file(fd, to, len, offset, true);
}

WRAPPED(ssize_t, write, int fd, const void *from, size_t len)
{
    return write_file(fd, from, len, 0, false);
}

WRAPPED(ssize_t, pwrite64, int fd, const void *from, size_t len, off_t offset)
{
    return write_file(fd, from, len, offset, true);
}

WRAPPED(int, ftruncate64, int fd, off_t size)
{
    return truncate_file(fd, size);
}

WRAPPED(int, fsync, int fd)
{
    return sync_file(fd);
}

WRAPPED(int, syncfs, int fd)
{
    lock();
    const struct watched *w = watched(fd);
    if (w == NULL)
        return unlock(0);
    bool failed = fails(VFS_SYNC);
    if (!failed)
        record_path(DISK_SYNC_ALL, DISK_DIRECTORY, w->path, NULL);
    return unlock(failed ? -1 : 0);
}

WRAPPED(int, unlink, const char *path)
{
    return unlink_file(path);
}

WRAPPED(int, mkdir, const char *path, mode_t mode)
{
    return make_directory(path, mode);
}

WRAPPED(int, rmdir, const char *path)
{
    return remove_directory(path);
}

/* Both names are below the root, or none is. */
static int two_names(const char *from, const char *to, bool is_rename)
{
    struct stat info = {0};
    char below[DISK_PATH_MAX], new_below[DISK_PATH_MAX];
    bool counts = inside(from, below) && inside(to, new_below);
    lock();
    if (counts && fails(VFS_OTHER | VFS_SPACE))
        return unlock(-1);
    syscall(SYS_newfstatat, AT_FDCWD, from, &info, 0);
    int result = is_rename ? (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to)
                           : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (counts && result == 0 && vfs.log != NULL)
        record_path(is_rename ? DISK_RENAME : DISK_NAME, file_of(info.st_ino),
            is_rename ? below : new_below, is_rename ? new_below : NULL);
    return unlock(result);
}

WRAPPED(int, rename, const char *from, const char *to)
{
    return two_names(from, to, true);
}

WRAPPED(int, link, const char *from, const char *to)
{
    return two_names(from, to, false);
}

WRAPPED(int, linkat, int from_directory, const char *from, int directory, const char *to, int flags)
{
    char path[DISK_PATH_MAX], new_path[DISK_PATH_MAX];
    assert(flags == 0);
    return path_at(from_directory, from, path) && path_at(directory, to, new_path)
               ? two_names(path, new_path, false)
               : (int)syscall(SYS_linkat, from_directory, from, directory, to, flags);
}

WRAPPED(int, access, const char *path, int mode)
{
    return sqlite_access(path, mode);
}

WRAPPED(int, fstat64, int fd, struct stat *out)
{
    return sqlite_fstat(fd, out);
}

WRAPPED(int, stat64, const char *path, struct stat *out)
{
    return may(VFS_OTHER, -1, path) ? (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, 0) : -1;
}

WRAPPED(int, lstat64, const char *path, struct stat *out)
{
    return may(VFS_OTHER, -1, path)
               ? (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW)
               : -1;
}

WRAPPED(int, flock, int fd, int operation)
{
    bool takes = (operation & LOCK_UN) == 0;
    return !takes || may(VFS_LOCK, fd, NULL) ? (int)syscall(SYS_flock, fd, operation) : -1;
}

WRAPPED(int, fchown, int fd, uid_t user, gid_t group)
{
    return may(VFS_OTHER, fd, NULL) ? (int)syscall(SYS_fchown, fd, user, group) : -1;
}

WRAPPED(int, fchmod, int fd, mode_t mode)
{
    return may(VFS_OTHER, fd, NULL) ? (int)syscall(SYS_fchmod, fd, mode) : -1;
}

/* --- Life ----------------------------------------------------------------------------------- */

void vfs_install(const char *root, const struct vfs_plan *plan, struct vfs_outcome *outcome,
    struct disk_log *log)
{
    sqlite3_vfs *unix_vfs = sqlite3_vfs_find("unix");
    for (size_t i = 0; i < COUNT_OF(overrides); i++)
        if (unix_vfs->xGetSystemCall(unix_vfs, overrides[i].name) != NULL)
            unix_vfs->xSetSystemCall(unix_vfs, overrides[i].name, overrides[i].call);
    vfs.root = root;
    vfs.root_len = strlen(root);
    vfs.plan = *plan;
    vfs.outcome = outcome;
    vfs.log = log;
}

uint32_t vfs_position(void)
{
    lock();
    uint32_t position = vfs.log == NULL ? 0 : vfs.log->n_ops;
    unlock(0);
    return position;
}
