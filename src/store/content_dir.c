/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content in a directory: ROOT/<tenant>/<last byte of the id>/<id>, all in hexadecimal digits. A
 * file has its final name while it is being written: only a row makes it valid. Directories are
 * created on demand and stay.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "store/content_kind.h"
#include "store/content_place.h"
#include "store/reserve.h"

enum {
    /* After this many bytes the disk starts to write, so that the fsync at the end is short. */
    FLUSH_BYTES = 8 * 1024 * 1024,
};

static enum error error_of(int why)
{
    if (why == ENOSPC || why == EDQUOT || why == EFBIG)
        return ERR_STORAGE_FULL;
    LOG(LOG_ERROR, "the directory of files failed", LOG_STR("error", str_of(strerror(why))));
    return ERR_UNAVAILABLE;
}

/* After a failed fsync the kernel may have dropped what it could not write. */
static enum error sync_fd(struct content *c, int fd)
{
    if (fsync(fd) == 0)
        return OK;
    if (errno == ENOSPC || errno == EDQUOT)
        return ERR_STORAGE_FULL; /* reported late, as by network file systems */
    return store_break(c->store, "an fsync of a file's content failed");
}

/* --- The root ------------------------------------------------------------------------------- */

/* Creates the directory with the first content. Under the mutex. */
static enum error make_root(struct content *c)
{
    if (mkdirat(c->parent_fd, CONTENT_ROOT_NAME, 0700) != 0 && errno != EEXIST)
        return error_of(errno);
    int fd =
        openat(c->parent_fd, CONTENT_ROOT_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_of(errno);
    enum error e = sync_fd(c, c->parent_fd);
    if (e == OK)
        c->root_fd = fd;
    else
        close(fd);
    return e;
}

static enum error need_root(struct content *c)
{
    pthread_mutex_lock(&c->mutex);
    enum error e = c->root_fd >= 0 ? OK : make_root(c);
    pthread_mutex_unlock(&c->mutex);
    return e;
}

/* Returns false if nothing was ever written. */
static bool has_root(struct content *c)
{
    pthread_mutex_lock(&c->mutex);
    if (c->root_fd < 0)
        c->root_fd = openat(
            c->parent_fd, CONTENT_ROOT_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool has = c->root_fd >= 0;
    pthread_mutex_unlock(&c->mutex);
    return has;
}

/* --- Writing -------------------------------------------------------------------------------- */

/* Uploads stop before the database has no space left. */
static bool is_tight(const struct content *c)
{
    return !c->is_shared && reserve_free_bytes(c->root_fd) < CONTENT_SPARE_BYTES;
}

static bool make_directory(int root_fd, const char *name)
{
    return mkdirat(root_fd, name, 0700) == 0 || errno == EEXIST;
}

static enum error create(struct content_writer *w)
{
    struct content *c = w->content;
    const struct content_place p = content_place_of(w->tenant_id, w->id);
    TRY(need_root(c));
    if (is_tight(c))
        return ERR_STORAGE_FULL;
    if (!make_directory(c->root_fd, p.tenant) || !make_directory(c->root_fd, p.fan))
        return error_of(errno);
    w->fd = openat(c->root_fd, p.file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return w->fd >= 0 ? OK : error_of(errno);
}

/* Copies the kept bytes to a new file, which takes the name over: a file with other names too must
 * not be changed by this writer. A crash leaves content without a row. */
static enum error part(struct content_writer *w, const char *name)
{
    struct content *c = w->content;
    const struct content_place own = content_place_of(w->tenant_id, uuid_v7());
    if (!make_directory(c->root_fd, own.fan))
        return error_of(errno);
    int from = openat(c->root_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to =
        openat(c->root_fd, own.file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = from >= 0 && to >= 0;
    for (uint64_t left = w->size_bytes; good && left > 0;) {
        ssize_t n =
            copy_file_range(from, NULL, to, NULL, left < FLUSH_BYTES ? left : FLUSH_BYTES, 0);
        good = n > 0;
        left -= good ? (uint64_t)n : 0;
    }
    enum error e = good ? OK : error_of(errno);
    if (e == OK)
        e = sync_fd(c, to);
    if (e == OK && renameat(c->root_fd, own.file, c->root_fd, name) != 0)
        e = error_of(errno);
    fd_close(from);
    if (e == OK) {
        close(w->fd);
        w->fd = to;
        return OK;
    }
    if (to >= 0) {
        close(to);
        unlinkat(c->root_fd, own.file, 0);
    }
    return e;
}

static enum error reopen(struct content_writer *w)
{
    struct content *c = w->content;
    const struct content_place p = content_place_of(w->tenant_id, w->id);
    struct stat st;
    if (!has_root(c))
        return ERR_DAMAGED;
    w->fd = openat(c->root_fd, p.file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (w->fd < 0)
        return errno == ENOENT ? ERR_DAMAGED : error_of(errno);
    if (fstat(w->fd, &st) != 0)
        return error_of(errno);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < w->size_bytes)
        return ERR_DAMAGED;
    if (st.st_nlink > 1)
        TRY(part(w, p.file));
    w->flushed_bytes = w->size_bytes;
    return ftruncate(w->fd, (off_t)w->size_bytes) == 0 ? OK : error_of(errno);
}

static void begin_flush(struct content_writer *w, uint64_t end)
{
    if (end - w->flushed_bytes < FLUSH_BYTES)
        return;
#ifdef SYNC_FILE_RANGE_WRITE
    (void)!sync_file_range(
        w->fd, (off_t)w->flushed_bytes, (off_t)(end - w->flushed_bytes), SYNC_FILE_RANGE_WRITE);
#endif
    w->flushed_bytes = end;
}

static enum error append(struct content_writer *w, struct str bytes)
{
    uint64_t at = w->size_bytes;
    if (is_tight(w->content))
        return ERR_STORAGE_FULL;
    while (bytes.len > 0) {
        ssize_t n = pwrite(w->fd, bytes.ptr, bytes.len, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_of(n == 0 ? ENOSPC : errno);
        bytes = str_slice(bytes, (size_t)n, bytes.len);
        at += (uint64_t)n;
    }
    begin_flush(w, at);
    return OK;
}

static enum error sync_directory(struct content *c, const char *name)
{
    int fd CLEANUP(fd_closep) =
        openat(c->root_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? error_of(errno) : sync_fd(c, fd);
}

/* Syncs all parents each time: the process that created one may have died before it synced. */
static enum error sync_name(struct content *c, const struct content_place *p)
{
    TRY(sync_directory(c, p->fan));
    TRY(sync_directory(c, p->tenant));
    return sync_fd(c, c->root_fd);
}

static enum error sync_writer(struct content_writer *w)
{
    const struct content_place p = content_place_of(w->tenant_id, w->id);
    TRY(sync_fd(w->content, w->fd));
    return sync_name(w->content, &p);
}

static enum error seal(struct content_writer *w)
{
    struct content *c = w->content;
    const struct content_place p = content_place_of(w->tenant_id, w->id);
    const struct content_place sealed = content_place_of(w->tenant_id, w->sealed_id);
    if (!make_directory(c->root_fd, sealed.fan) ||
        linkat(c->root_fd, p.file, c->root_fd, sealed.file, 0) != 0)
        return error_of(errno);
    return sync_name(c, &sealed);
}

static void end(struct content_writer *w)
{
    fd_close(w->fd);
    w->fd = -1;
}

/* Not synced: content that reappears after a power loss is a leftover. */
static enum error erase(struct content *c, struct uuid tenant_id, struct uuid id)
{
    const struct content_place p = content_place_of(tenant_id, id);
    if (!has_root(c) || unlinkat(c->root_fd, p.file, 0) == 0 || errno == ENOENT)
        return OK;
    return error_of(errno);
}

/* Runs after the commit that deleted the row. While a process has the hold, the content stays:
 * content_look_again removes it later, and a restarted process finds it as a leftover. */
static enum error remove_content(struct content *c, struct uuid tenant_id, struct uuid id)
{
    int fd CLEANUP(fd_closep) = content_take_unheld(c->parent_fd);
    if (fd < 0) {
        struct content_held *held = MEM_NEW(struct content_held);
        pthread_mutex_lock(&c->mutex);
        *held = (struct content_held){c->held, tenant_id, id};
        c->held = held;
        pthread_mutex_unlock(&c->mutex);
        return OK;
    }
    return erase(c, tenant_id, id);
}

/* --- Reading -------------------------------------------------------------------------------- */

static enum error open_reader(struct content_reader *r)
{
    struct content *c = r->content;
    const struct content_place p = content_place_of(r->tenant_id, r->id);
    struct stat st;
    if (!has_root(c))
        return ERR_DAMAGED;
    r->fd = openat(c->root_fd, p.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (r->fd < 0)
        return errno == ENOENT ? ERR_DAMAGED : error_of(errno);
    if (fstat(r->fd, &st) != 0)
        return error_of(errno);
    return S_ISREG(st.st_mode) && (uint64_t)st.st_size == r->size_bytes ? OK : ERR_DAMAGED;
}

static enum error read_some(
    struct content_reader *r, uint64_t offset, char *place, size_t room, size_t *out_size)
{
    ssize_t n = fd_pread(r->fd, place, room, offset);
    if (n < 0)
        return error_of(errno);
    *out_size = (size_t)n;
    return OK;
}

static void close_reader(struct content_reader *r)
{
    fd_close(r->fd);
}

/* Without a directory for content. */
static int spool_apart(void)
{
    char name[PATH_MAX];
    const char *place = getenv("TMPDIR");
    if (place == NULL || place[0] == '\0')
        place = "/tmp";
    if (snprintf(name, sizeof name, "%s/cairn-spool-XXXXXX", place) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

bool content_spool_has_room(int fd, uint64_t bytes)
{
    struct statvfs st;
    if (fstatvfs(fd, &st) != 0 || st.f_blocks == 0)
        return true; /* the file system does not report its size, like tmpfs */
    uint64_t unused = (uint64_t)st.f_bavail * st.f_frsize;
    return unused >= CONTENT_SPARE_BYTES && unused - CONTENT_SPARE_BYTES >= bytes;
}

int content_dir_spool(struct content *c)
{
    if (c->parent_fd < 0)
        return spool_apart();
    if (need_root(c) != OK)
        return -1;
#ifdef O_TMPFILE
    int unnamed = openat(c->root_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0)
        return unnamed;
#endif
    char own[CONTENT_HEX_LEN + 1];
    struct uuid id = uuid_v7();
    content_name_write(own, id.bytes, sizeof id.bytes);
    int fd = openat(c->root_fd, own, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        unlinkat(c->root_fd, own, 0);
    return fd;
}

/* --- Leftovers ------------------------------------------------------------------------------ */

/* Content that this process writes, or has staged for an uncommitted row, has a greater id than the
 * first that it could give. For another node's upload the time of the file is more reliable; for a
 * copied directory, the id. */
static bool is_old(struct content *c, int directory_fd, const char *name, struct uuid id)
{
    struct stat st;
    int64_t before_us = clock_wall_us() - 2 * CONTENT_UPLOAD_MAX_US;
    if (!c->is_shared)
        return memcmp(id.bytes, c->first_id.bytes, sizeof id.bytes) < 0;
    return uuid_v7_ms(id) < (uint64_t)(before_us / 1000) &&
           fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_mtime < before_us / 1000000;
}

static DIR *open_directory(int at_fd, const char *name)
{
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (d == NULL)
        fd_close(fd);
    return d;
}

static enum error sweep_fan(struct content *c, struct content_broom *broom, struct uuid tenant_id,
    int at_fd, const char *fan)
{
    DIR *d CLEANUP(dir_closep) = open_directory(at_fd, fan);
    struct dirent *entry;
    struct uuid id;
    while (d != NULL && (entry = readdir(d)) != NULL && !content_is_closing(c))
        if (content_name_read(entry->d_name, id.bytes, sizeof id.bytes) &&
            is_old(c, dirfd(d), entry->d_name, id))
            TRY(content_sweep_one(c, broom, tenant_id, id));
    return OK;
}

static enum error sweep_tenant(struct content *c, struct content_broom *broom, const char *name)
{
    struct uuid tenant_id;
    uint8_t fan;
    if (!content_name_read(name, tenant_id.bytes, sizeof tenant_id.bytes))
        return OK;
    DIR *d CLEANUP(dir_closep) = open_directory(c->root_fd, name);
    if (d == NULL && errno == ENOTDIR && is_old(c, c->root_fd, name, tenant_id))
        unlinkat(c->root_fd, name, 0); /* a spooled file that lost its process */
    struct dirent *entry;
    while (d != NULL && (entry = readdir(d)) != NULL)
        if (content_name_read(entry->d_name, &fan, 1))
            TRY(sweep_fan(c, broom, tenant_id, dirfd(d), entry->d_name));
    return OK;
}

/* Does nothing while a process has the hold, since no content could be removed. */
static enum error sweep(struct content *c, struct content_broom *broom)
{
    int unheld_fd = has_root(c) ? content_take_unheld(c->parent_fd) : -1;
    if (unheld_fd < 0)
        return OK;
    close(unheld_fd);
    DIR *d CLEANUP(dir_closep) = open_directory(c->root_fd, ".");
    struct dirent *entry;
    while (d != NULL && (entry = readdir(d)) != NULL)
        TRY(sweep_tenant(c, broom, entry->d_name));
    return OK;
}

const struct content_kind content_dir = {
    .create = create,
    .reopen = reopen,
    .append = append,
    .sync = sync_writer,
    .seal = seal,
    .end = end,
    .erase = erase,
    .remove = remove_content,
    .open = open_reader,
    .read = read_some,
    .close = close_reader,
    .sweep = sweep,
};
