/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "store/content_kind.h"
#include "store/migrate.h"
#include "store/sqlite.h"
#include "store/sqlite_file.h"
#include "store/sqlite_log.h"
#include "store/transfer_mark.h"

/* --- The data directory --------------------------------------------------------------------- */

static enum error fsync_or_fail(int fd, struct problem *problem, struct str what)
{
    if (fsync(fd) == 0)
        return OK;
    return problem_set(problem, ERR_UNAVAILABLE, "cannot fsync the directory %.*s: %s",
        STR_ARG(what), strerror(errno));
}

/* A new directory lasts only once its parent is synced. One that another process created may be in
 * a place that we cannot read, and that process must sync it. */
static enum error sync_parent(const char *dir, bool is_ours, struct problem *problem)
{
    struct str path = str_of(dir);
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    while (path.len > 0 && path.ptr[path.len - 1] != '/')
        path.len--;
    const char *parent = path.len == 0 ? "." : arena_cstr(problem->arena, path);
    int fd CLEANUP(fd_closep) = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && !is_ours)
        return OK;
    if (fd < 0)
        return problem_set(
            problem, ERR_UNAVAILABLE, "cannot open the directory %s: %s", parent, strerror(errno));
    return fsync_or_fail(fd, problem, str_of(parent));
}

/* Any user with write access to the directory could have replaced the lock file. */
static bool is_lock(int fd, const struct stat *directory)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
           (info.st_uid == geteuid() || info.st_uid == directory->st_uid);
}

/* A lock file that root creates gets the owner of the directory, who will serve it. An existing
 * file stays unchanged. */
static enum error open_lock(const char *dir, int directory_fd, struct problem *problem, int *out_fd)
{
    static const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat directory;
    if (fstat(directory_fd, &directory) != 0)
        return problem_set(problem, ERR_UNAVAILABLE, "cannot inspect the data directory %s: %s",
            dir, strerror(errno));
    int fd = openat(directory_fd, "cairn.lock", flags | O_CREAT | O_EXCL, 0600);
    bool is_new = fd >= 0;
    if (!is_new && errno == EEXIST)
        fd = openat(directory_fd, "cairn.lock", flags);
    *out_fd = fd;
    if (fd < 0 && errno != ELOOP)
        return problem_set(problem, ERR_UNAVAILABLE, "cannot write to the data directory %s: %s",
            dir, strerror(errno));
    if (fd < 0 || !is_lock(fd, &directory))
        return problem_set(problem, ERR_UNAVAILABLE,
            "%s/cairn.lock is not a regular file of the directory's owner: remove it", dir);
    if (is_new && geteuid() == 0 && fchown(fd, directory.st_uid, directory.st_gid) != 0 &&
        errno != EPERM) /* root without that right serves the directory itself */
        return problem_set(problem, ERR_UNAVAILABLE, "cannot change the owner of %s/cairn.lock: %s",
            dir, strerror(errno));
    return OK;
}

/* Syncs as long as there is no database: the process that created the directory may have died
 * before it synced. */
static enum error make_directory(const char *dir, struct problem *problem)
{
    bool is_new = mkdir(dir, 0700) == 0;
    if (!is_new && errno != EEXIST)
        return problem_set(problem, ERR_UNAVAILABLE, "cannot create the data directory %s: %s", dir,
            strerror(errno));
    const char *database =
        arena_cstr(problem->arena, arena_printf(problem->arena, "%s/cairn.db", dir));
    return is_new || access(database, F_OK) != 0 ? sync_parent(dir, is_new, problem) : OK;
}

enum error sqlite_take_directory(
    const char *dir, struct problem *problem, int *out_directory_fd, int *out_lock_fd)
{
    TRY(make_directory(dir, problem));
    *out_directory_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out_directory_fd < 0)
        return problem_set(problem, ERR_UNAVAILABLE, "cannot open the data directory %s: %s", dir,
            strerror(errno));
    TRY(open_lock(dir, *out_directory_fd, problem, out_lock_fd));
    if (flock(*out_lock_fd, LOCK_EX | LOCK_NB) != 0)
        return problem_set(
            problem, ERR_UNAVAILABLE, "another cairn process is using the data directory %s", dir);
    return OK;
}

/* --- Connections ---------------------------------------------------------------------------- */

/* Cairn does not read SQLite's memory statistics, and counting takes a lock at each allocation. */
void sqlite_own_process(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* SQLite returns the resulting mode, and reports no error if it is another one. */
static enum error use_wal(struct sqlite_connection *c)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(c->db, "PRAGMA journal_mode = WAL", -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return sqlite_error(c, rc);
    bool is_wal = sqlite3_step(stmt) == SQLITE_ROW &&
                  strcmp((const char *)sqlite3_column_text(stmt, 0), "wal") == 0;
    TRY(sqlite_error(c, sqlite3_finalize(stmt)));
    return !is_wal ? ERR_UNAVAILABLE : OK;
}

static enum error configure(struct sqlite_connection *c, bool writer)
{
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_timeout(c->db, SQLITE_BUSY_MS);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (writer)
        TRY(sqlite_exec(c, "PRAGMA page_size = 4096; PRAGMA journal_size_limit = 67108864"));
    if (writer)
        TRY(use_wal(c));
    return sqlite_exec(c, writer ? "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                                   "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -65536;"
                                   "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON"
                                 : "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0;"
                                   "PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY");
}

enum error sqlite_connect(
    struct sqlite_store *s, struct sqlite_connection *c, bool writer, struct problem *problem)
{
    c->store = s;
    c->statements = mem_zalloc(s->base.config.n_statements * sizeof(sqlite3_stmt *));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (writer ? SQLITE_OPEN_CREATE : 0);
    int rc = sqlite3_open_v2(s->path, &c->db, flags, writer ? sqlite_log_vfs() : NULL);
    if (rc != SQLITE_OK)
        return problem_set(
            problem, ERR_UNAVAILABLE, "cannot open %s: %s", s->path, sqlite3_errstr(rc));
    if (configure(c, writer) != OK)
        return problem_set(
            problem, ERR_UNAVAILABLE, "cannot set up %s: %s", s->path, sqlite3_errmsg(c->db));
    return OK;
}

/* --- Migrations ----------------------------------------------------------------------------- */

static enum error schema_version(struct sqlite_connection *c, int64_t *out_version)
{
    TRY(sqlite_exec(c, "CREATE TABLE IF NOT EXISTS schema_versions ("
                       "version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL,"
                       "cairn_version TEXT NOT NULL, applied_at INTEGER NOT NULL)"));
    return sqlite_error(
        c, sqlite_file_number(
               c->db, "SELECT coalesce(max(version), 0) FROM schema_versions", out_version));
}

static enum error apply(struct sqlite_connection *c, const struct migration *m)
{
    sqlite3_stmt *stmt = NULL;
    TRY(sqlite_exec(c, m->text[ENGINE_SQLITE]));
    int rc = sqlite3_prepare_v2(
        c->db, "INSERT INTO schema_versions VALUES (?1, ?2, ?3, ?4)", -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return sqlite_error(c, rc);
    sqlite3_bind_int64(stmt, 1, m->version);
    sqlite3_bind_text(stmt, 2, m->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, CAIRN_VERSION, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 4, clock_wall_us());
    sqlite3_step(stmt);
    return sqlite_error(c, sqlite3_finalize(stmt));
}

/* Runs all missing migrations in one transaction: a crash leaves the old schema or the new one. */
static enum error migrate(struct sqlite_connection *c, struct problem *problem)
{
    enum error e = sqlite_exec(c, "BEGIN EXCLUSIVE");
    int64_t version = 0;
    if (e == OK)
        e = schema_version(c, &version);
    if (e == OK && version > (int64_t)store_migration_count) {
        e = problem_set(problem, ERR_UNAVAILABLE,
            "the database has schema version %lld, this cairn (" CAIRN_VERSION
            ") knows up to %zu: start a newer cairn",
            (long long)version, store_migration_count);
        (void)!sqlite_exec(c, "ROLLBACK");
        return e;
    }
    for (size_t i = (size_t)version; e == OK && i < store_migration_count; i++)
        e = apply(c, &store_migrations[i]);
    if (e == OK)
        e = sqlite_exec(c, "COMMIT");
    if (e != OK)
        return problem_set(problem, e, "cannot migrate the database: %s", sqlite3_errmsg(c->db));
    return OK;
}

/* --- Open and close ------------------------------------------------------------------------- */

static bool write_again(int fd, char *bytes, size_t room, off_t at, ssize_t *out_done)
{
    ssize_t n = pread(fd, bytes, room, at);
    for (ssize_t done = 0, part; done < n; done += part) {
        part = pwrite(fd, bytes + done, (size_t)(n - done), at + done);
        if (part <= 0)
            return false;
    }
    *out_done = n;
    return n >= 0;
}

/* Writes the same bytes at the same places: readers see no difference, no space is needed, and the
 * fsync after it has to write them. SQLite holds no lock on this file that closing it ends. */
static enum error rewrite_log(struct sqlite_store *s, struct problem *problem)
{
    enum { PART_BYTES = 1 << 20 };
    int fd CLEANUP(fd_closep) =
        openat(s->directory_fd, "cairn.db-wal", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return OK;
    char *bytes CLEANUP(mem_freep) = mem_alloc(PART_BYTES);
    bool good = fd >= 0;
    off_t at = 0;
    for (ssize_t done = 1; good && done > 0; at += done)
        good = write_again(fd, bytes, PART_BYTES, at, &done);
    good = good && fsync(fd) == 0;
    return good ? OK
                : problem_set(problem, ERR_UNAVAILABLE, "cannot rewrite %s-wal: %s", s->path,
                      strerror(errno));
}

/*
 * Moves the log that the last process left into the database, and starts the log over. After a
 * failed fsync the kernel shows pages of the log which the disk may never have received, and which
 * no later fsync writes: a commit after them would be lost with them. A reader of another process,
 * a backup, or a full disk can prevent that; then the log is written again in place.
 */
static enum error empty_log(struct sqlite_store *s, struct problem *problem)
{
    struct sqlite_connection *c = &s->writer;
    sqlite3_busy_timeout(c->db, SQLITE_CHECKPOINT_WAIT_MS);
    int rc = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(c->db, SQLITE_BUSY_MS);
    s->wal_is_moved = rc == SQLITE_OK;
    enum error e = (rc & 0xff) == SQLITE_BUSY ? ERR_STORAGE_FULL : sqlite_error(c, rc);
    if (e == ERR_STORAGE_FULL)
        return rewrite_log(s, problem);
    return e == OK ? OK
                   : problem_set(problem, e, "cannot checkpoint the write-ahead log: %s",
                         sqlite3_errmsg(c->db));
}

static enum error open_all(struct sqlite_store *s, struct problem *problem)
{
    const char *dir = arena_cstr(problem->arena, s->base.config.data_dir);
    TRY(sqlite_take_directory(dir, problem, &s->directory_fd, &s->lock_fd));
    size_t size = s->base.config.data_dir.len + sizeof "/cairn.db";
    s->path = mem_alloc(size);
    snprintf(s->path, size, "%s/cairn.db", dir);
    space_before_connecting(s);
    TRY(sqlite_connect(s, &s->writer, true, problem));
    TRY(transfer_check_sqlite(s->writer.db, problem));
    TRY(empty_log(s, problem));
    TRY(migrate(&s->writer, problem));
    TRY(sqlite_readers_connect(s, problem));
    space_after_connecting(s);
    TRY(fsync_or_fail(s->directory_fd, problem, s->base.config.data_dir));
    s->base.content = content_setup(&s->base, s->directory_fd, false);
    return OK;
}

/* Readers first: the last connection to close moves the WAL into the database file. */
static void close_all(struct sqlite_store *s)
{
    sqlite_readers_deinit(s);
    if (s->writer.store != NULL)
        sqlite_disconnect(&s->writer);
    content_teardown(s->base.content);
    if (s->lock_fd >= 0) {
        flock(s->lock_fd, LOCK_UN); /* a child of this process may have the descriptor too */
        close(s->lock_fd);
    }
    fd_close(s->directory_fd);
    sequence_cache_deinit(&s->sequences);
    hub_destroy(s->base.hub);
    mem_free(s->path);
    mem_free(s);
}

static enum error start_threads(struct sqlite_store *s, struct problem *problem)
{
    TRY(sqlite_writer_start(s, problem));
    enum error e = sqlite_readers_start(s, problem);
    if (e != OK)
        sqlite_writer_stop(s);
    return e;
}

enum error sqlite_store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store)
{
    struct sqlite_store *s = MEM_NEW(struct sqlite_store);
    s->base = (struct store){.ops = &sqlite_ops,
        .config = *config,
        .hub = hub_create(),
        .settled_mutex = PTHREAD_MUTEX_INITIALIZER};
    s->directory_fd = s->lock_fd = -1;
    s->page_write_ns = s->page_move_ns = SQLITE_PAGE_NS;
    s->idle_us = SQLITE_IDLE_US;
    sqlite_readers_init(s);
    sequence_cache_init(&s->sequences);
    enum error e = open_all(s, problem);
    if (e == OK)
        e = start_threads(s, problem);
    if (e != OK) {
        close_all(s);
        return e;
    }
    *out_store = &s->base;
    return OK;
}

void sqlite_close(struct store *store)
{
    struct sqlite_store *s = CONTAINER_OF(store, struct sqlite_store, base);
    sqlite_readers_stop(s);
    sqlite_writer_stop(s);
    close_all(s);
}
