/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_log.h"

#include <pthread.h>
#include <sqlite3.h>

#include "base/alloc.h"

/* Larger writes would gain nothing more. */
enum { BUFFER_BYTES = 96 * 1024 };

/* A write-ahead log; the file of the default VFS is behind it. */
struct log_file {
    sqlite3_file base;
    sqlite3_file *real;
    bool joins;
    sqlite3_int64 start; /* of the buffer in the file */
    int len;
    char *buffer;
};

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)(void *)file;
}

static int flush(struct log_file *log)
{
    if (log->len == 0)
        return SQLITE_OK;
    int rc = log->real->pMethods->xWrite(log->real, log->buffer, log->len, log->start);
    if (rc == SQLITE_OK)
        log->len = 0;
    return rc;
}

/* --- The methods of a log ------------------------------------------------------------------- */

/* SQLite has synced what it needs. */
static int log_close(sqlite3_file *file)
{
    struct log_file *log = log_of(file);
    mem_free(log->buffer);
    return log->real->pMethods->xClose(log->real);
}

static int log_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 offset)
{
    struct log_file *log = log_of(file);
    bool overlaps = offset < log->start + log->len && log->start < offset + len;
    int rc = overlaps ? flush(log) : SQLITE_OK;
    return rc == SQLITE_OK ? log->real->pMethods->xRead(log->real, bytes, len, offset) : rc;
}

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    struct log_file *log = log_of(file);
    if (!log->joins)
        return log->real->pMethods->xWrite(log->real, bytes, len, offset);
    assert(len > 0 && len <= BUFFER_BYTES);
    bool continues = offset >= log->start && offset <= log->start + log->len &&
                     offset + len <= log->start + BUFFER_BYTES;
    if (!continues) {
        int rc = flush(log);
        if (rc != SQLITE_OK)
            return rc;
        log->start = offset;
    }
    int at = (int)(offset - log->start);
    memcpy(log->buffer + at, bytes, (size_t)len);
    if (at + len > log->len)
        log->len = at + len;
    return SQLITE_OK;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct log_file *log = log_of(file);
    if (size < log->start + log->len)
        log->len = size > log->start ? (int)(size - log->start) : 0;
    int rc = flush(log);
    return rc == SQLITE_OK ? log->real->pMethods->xTruncate(log->real, size) : rc;
}

static int log_sync(sqlite3_file *file, int flags)
{
    struct log_file *log = log_of(file);
    int rc = flush(log);
    log->len = 0;
    return rc == SQLITE_OK ? log->real->pMethods->xSync(log->real, flags) : rc;
}

static int log_file_size(sqlite3_file *file, sqlite3_int64 *out_size)
{
    struct log_file *log = log_of(file);
    int rc = flush(log);
    return rc == SQLITE_OK ? log->real->pMethods->xFileSize(log->real, out_size) : rc;
}

/* SQLite does not lock a log. */
static int log_lock(sqlite3_file *file, int level)
{
    return SQLITE_OK;
}

static int log_check_lock(sqlite3_file *file, int *out_is_locked)
{
    *out_is_locked = 0;
    return SQLITE_OK;
}

static int log_control(sqlite3_file *file, int operation, void *argument)
{
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xFileControl(real, operation, argument);
}

static int log_sector_size(sqlite3_file *file)
{
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xSectorSize(real);
}

static int log_characteristics(sqlite3_file *file)
{
    sqlite3_file *real = log_of(file)->real;
    return real->pMethods->xDeviceCharacteristics(real);
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_file_size,
    .xLock = log_lock,
    .xUnlock = log_lock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

/* Otherwise SQLite pads the log after its sync, and publishes what it wrote there. */
static bool may_join(sqlite3_file *real)
{
    return (real->pMethods->xDeviceCharacteristics(real) & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
}

/* --- The VFS -------------------------------------------------------------------------------- */

/* One for each VFS that was the default when a connection was opened; never freed, because SQLite
 * keeps a registered VFS. The methods of the real one expect it as their first argument. */
struct joining {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    struct joining *next;
    char name[24];
};

static sqlite3_vfs *real_of(sqlite3_vfs *vfs)
{
    return CONTAINER_OF(vfs, struct joining, vfs)->real;
}

static int open_file(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    sqlite3_vfs *real = real_of(vfs);
    if (!(flags & SQLITE_OPEN_WAL))
        return real->xOpen(real, name, file, flags, out_flags);
    struct log_file *log = log_of(file);
    *log = (struct log_file){.real = (sqlite3_file *)(void *)(log + 1)};
    int rc = real->xOpen(real, name, log->real, flags, out_flags);
    if (rc != SQLITE_OK)
        return rc;
    log->joins = may_join(log->real);
    log->buffer = mem_alloc(BUFFER_BYTES);
    log->base.pMethods = &log_methods;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    return real_of(vfs)->xDelete(real_of(vfs), name, sync_directory);
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *out_result)
{
    return real_of(vfs)->xAccess(real_of(vfs), name, flags, out_result);
}

static int full_path(sqlite3_vfs *vfs, const char *name, int size, char *out_path)
{
    return real_of(vfs)->xFullPathname(real_of(vfs), name, size, out_path);
}

static int randomness(sqlite3_vfs *vfs, int size, char *out_bytes)
{
    return real_of(vfs)->xRandomness(real_of(vfs), size, out_bytes);
}

static int wait_us(sqlite3_vfs *vfs, int us)
{
    return real_of(vfs)->xSleep(real_of(vfs), us);
}

static int current_time(sqlite3_vfs *vfs, double *out_days)
{
    return real_of(vfs)->xCurrentTime(real_of(vfs), out_days);
}

static int last_error(sqlite3_vfs *vfs, int size, char *out_text)
{
    sqlite3_vfs *real = real_of(vfs);
    return real->xGetLastError != NULL ? real->xGetLastError(real, size, out_text) : 0;
}

/* SQLite loads extensions only if a program enables that: their methods are missing. */
static struct joining *create(sqlite3_vfs *real, unsigned number, struct joining *next)
{
    struct joining *made = MEM_NEW(struct joining);
    *made = (struct joining){.real = real,
        .next = next,
        .vfs = {.iVersion = 1,
            .szOsFile = (int)sizeof(struct log_file) + real->szOsFile,
            .mxPathname = real->mxPathname,
            .zName = made->name,
            .xOpen = open_file,
            .xDelete = delete_file,
            .xAccess = access_file,
            .xFullPathname = full_path,
            .xRandomness = randomness,
            .xSleep = wait_us,
            .xCurrentTime = current_time,
            .xGetLastError = last_error}};
    snprintf(made->name, sizeof made->name, "cairn-log-%u", number);
    sqlite3_vfs_register(&made->vfs, 0);
    return made;
}

const char *sqlite_log_vfs(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct joining *all;
    static unsigned count;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    pthread_mutex_lock(&mutex);
    struct joining *found = all;
    while (found != NULL && found->real != real)
        found = found->next;
    if (found == NULL)
        all = found = create(real, ++count, all);
    pthread_mutex_unlock(&mutex);
    return found->name;
}
