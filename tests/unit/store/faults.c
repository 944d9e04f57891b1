/* SPDX-License-Identifier: Apache-2.0 */
#include "faults.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static sqlite3_vfs disk;
static sqlite3_vfs *real;
/* SQLite has a set of methods for each way of locking; reading and writing are the same in all. */
static struct {
    const sqlite3_io_methods *real;
    sqlite3_io_methods failing;
} methods[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static atomic_bool writes_are_counted;
static atomic_int writes_left;
static atomic_bool syncs_fail;
static _Atomic(const char *) hindrance;

static int write_file(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    if (atomic_load(&writes_are_counted) && atomic_fetch_sub(&writes_left, 1) <= 0)
        return SQLITE_FULL;
    const char *file_in_the_way = atomic_load(&hindrance);
    if (file_in_the_way != NULL && access(file_in_the_way, F_OK) == 0)
        return SQLITE_FULL;
    return methods[0].real->xWrite(file, bytes, len, offset);
}

static int sync_file(sqlite3_file *file, int flags)
{
    return atomic_load(&syncs_fail) ? SQLITE_IOERR_FSYNC : methods[0].real->xSync(file, flags);
}

static _Atomic(const char *) watched;
static atomic_ullong synced_inode;

/* Replaces the system's function, which the store calls for files and directories. */
int fsync(int fd)
{
    struct stat info;
    const char *path = atomic_load(&watched);
    int result = (int)syscall(SYS_fsync, fd);
    if (path != NULL && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        atomic_store(&synced_inode, stat(path, &info) == 0 ? info.st_ino : 0);
    return result;
}

void faults_watch_syncs(const char *path)
{
    atomic_store(&synced_inode, 0);
    atomic_store(&watched, path);
}

unsigned long long faults_synced_inode(void)
{
    return atomic_load(&synced_inode);
}

static const sqlite3_io_methods *failing(const sqlite3_io_methods *whole)
{
    size_t i = 0;
    pthread_mutex_lock(&mutex);
    while (methods[i].real != NULL && methods[i].real != whole)
        i++;
    assert(i < COUNT_OF(methods) - 1);
    if (methods[i].real == NULL) {
        methods[i].real = whole;
        methods[i].failing = *whole;
        methods[i].failing.xWrite = write_file;
        methods[i].failing.xSync = sync_file;
    }
    pthread_mutex_unlock(&mutex);
    assert(whole->xWrite == methods[0].real->xWrite && whole->xSync == methods[0].real->xSync);
    return &methods[i].failing;
}

static int open_file(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    int rc = real->xOpen(real, name, file, flags, out_flags);
    if (rc == SQLITE_OK && file->pMethods != NULL)
        file->pMethods = failing(file->pMethods);
    return rc;
}

void faults_install(void)
{
    if (real != NULL)
        return;
    real = sqlite3_vfs_find(NULL);
    disk = *real;
    disk.zName = "faults";
    disk.xOpen = open_file;
    sqlite3_vfs_register(&disk, 1);
}

void faults_allow_writes(int count)
{
    atomic_store(&writes_left, count);
    atomic_store(&writes_are_counted, true);
}

void faults_fill_until_gone(struct arena *arena, struct str directory, const char *name)
{
    struct str path = arena_printf(arena, "%.*s/%s", STR_ARG(directory), name);
    atomic_store(&hindrance, arena_cstr(arena, path));
}

void faults_fail_syncs(void)
{
    atomic_store(&syncs_fail, true);
}

void faults_clear(void)
{
    atomic_store(&writes_are_counted, false);
    atomic_store(&hindrance, NULL);
    atomic_store(&syncs_fail, false);
}
