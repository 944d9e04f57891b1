/* SPDX-License-Identifier: Apache-2.0 */
#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "store/content_copy.h"
#include "store/content_place.h"
#include "store/inspect.h"
#include "store/sidecar.h"
#include "store/sqlite_file.h"

enum { SLICE_PAGES = 256 };

struct backup {
    const char *source;  /* the database */
    const char *file;    /* the final name */
    const char *partial; /* the name until it is complete */
    const char *blobs;   /* FILE.blobs, the directory for content */
    int fd;              /* of the partial file, locked: one backup to a FILE at a time */
    int hold_fd;
    struct content_copier copier;
    struct progress *progress;
    struct problem *problem;
};

/* --- The target ----------------------------------------------------------------------------- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* In any data directory these names belong to the server. */
static enum error check_place(struct backup *b, const char *data_dir)
{
    struct stat data, target;
    const char *directory = arena_cstr(b->problem->arena, file_directory(b->file));
    if (stat(directory, &target) != 0)
        return file_problem("cannot write to the directory", directory, b->problem);
    bool is_data = stat(data_dir, &data) == 0 && is_same_file(&data, &target);
    if (str_starts_with(file_name(b->file), STR("cairn.")) &&
        (is_data || sqlite_is_served(str_of(directory))))
        return problem_set(
            b->problem, ERR_INVALID, "FILE must not be a file of the data directory: %s", b->file);
    return OK;
}

/* SQLite would apply an existing log to the new file, and the old file would lose its log. */
static enum error check_beside(struct backup *b)
{
    static const char *const endings[] = {"-wal", "-journal"};
    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        const char *log = file_beside(b->problem->arena, b->file, endings[i]);
        if (file_has_bytes(log))
            return problem_set(b->problem, ERR_INVALID,
                "%s exists: %s is a database in use and not a backup, choose another FILE", log,
                b->file);
    }
    return OK;
}

static enum error check_file(struct backup *b, bool replaces)
{
    struct stat info;
    struct str name = file_name(b->file);
    if (name.len == 0 || str_has_byte(name, '\n') || str_has_byte(name, '\\'))
        return problem_set(b->problem, ERR_INVALID,
            "FILE must be a file name without a backslash or a line break");
    if (lstat(b->file, &info) != 0)
        return errno == ENOENT ? OK : file_problem("cannot inspect", b->file, b->problem);
    if (!S_ISREG(info.st_mode))
        return problem_set(b->problem, ERR_INVALID, "%s is not a regular file", b->file);
    if (!replaces)
        return problem_set(
            b->problem, ERR_CONFLICT, "%s already exists: --yes replaces it", b->file);
    return OK;
}

/* The locked file may have been renamed to FILE by another process since it was opened. */
static bool is_still_partial(const struct backup *b)
{
    struct stat opened, named;
    return fstat(b->fd, &opened) == 0 && lstat(b->partial, &named) == 0 &&
           is_same_file(&opened, &named);
}

static void remove_beside(const struct backup *b)
{
    unlink(file_beside(b->problem->arena, b->partial, "-wal"));
    unlink(file_beside(b->problem->arena, b->partial, "-journal"));
}

static enum error leave_partial(struct backup *b, enum error e)
{
    close(b->fd);
    b->fd = -1;
    return e;
}

/* A killed backup may have left the file. A file of another user would make the backup that
 * user's. */
static enum error open_partial(struct backup *b)
{
    struct stat info;
    b->fd = open(b->partial, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (b->fd < 0 || fstat(b->fd, &info) != 0)
        return file_problem("cannot write", b->partial, b->problem);
    if (!S_ISREG(info.st_mode) || info.st_nlink > 1 || info.st_uid != geteuid())
        return leave_partial(
            b, problem_set(b->problem, ERR_CONFLICT,
                   "%s exists and is not a regular file of this user: remove it", b->partial));
    if (flock(b->fd, LOCK_EX | LOCK_NB) != 0 || !is_still_partial(b))
        return leave_partial(
            b, problem_set(b->problem, ERR_CONFLICT, "another backup is writing %s", b->partial));
    remove_beside(b); /* files of a killed backup */
    if (ftruncate(b->fd, 0) != 0 || fchmod(b->fd, 0600) != 0)
        return file_problem("cannot write", b->partial, b->problem);
    return OK;
}

/* --- The copy ------------------------------------------------------------------------------- */

static enum error copy_slices(struct backup *b, sqlite3_backup *copy)
{
    int rc = SQLITE_OK;
    while (rc == SQLITE_OK) {
        if (progress_is_cancelled(b->progress))
            return problem_set(b->problem, ERR_CANCELLED, "called off");
        rc = sqlite3_backup_step(copy, SLICE_PAGES);
        int total = sqlite3_backup_pagecount(copy);
        progress_report(b->progress, "copying pages",
            (uint64_t)(total - sqlite3_backup_remaining(copy)), (uint64_t)total);
    }
    if (rc == SQLITE_DONE)
        return OK;
    return sqlite_file_problem(NULL, rc, "cannot copy the database to", b->partial, b->problem);
}

/* No other process sees the file yet, and it is fsynced when it is complete. */
static const char PREPARE[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF";

/* The source has a snapshot, so the copy never starts over. */
static enum error copy_between(struct backup *b, sqlite3 *from, sqlite3 *to)
{
    int rc = sqlite3_exec(to, PREPARE, NULL, NULL, NULL);
    sqlite3_backup *copy = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
    if (copy == NULL)
        return sqlite_file_problem(to, sqlite3_errcode(to), "cannot write", b->partial, b->problem);
    enum error e = copy_slices(b, copy);
    rc = sqlite3_backup_finish(copy);
    if (e == OK && rc != SQLITE_OK)
        e = sqlite_file_problem(to, rc, "cannot write", b->partial, b->problem);
    return e;
}

/* Marks the file as one without a WAL in its header (fileformat2, 1.3.3), so that the file alone is
 * complete. SQLite would change that only under locks. */
static enum error leave_wal(const struct backup *b)
{
    enum { FORMAT_AT = 18 };
    static const unsigned char legacy = 1;
    bool written = pwrite(b->fd, &legacy, 1, FORMAT_AT) == 1 &&   /* to write */
                   pwrite(b->fd, &legacy, 1, FORMAT_AT + 1) == 1; /* to read */
    return written ? OK : file_problem("cannot write", b->partial, b->problem);
}

/* The content of an unfinished upload may be deleted before the backup could copy it. */
static enum error forget_uploads(struct backup *b)
{
    sqlite3 *db CLEANUP(sqlite_file_close) = NULL;
    TRY(sqlite_file_open_unlocked(b->partial, b->problem, &db));
    int rc = sqlite3_table_column_metadata(db, NULL, "uploads", NULL, NULL, NULL, NULL, NULL, NULL);
    if (rc != SQLITE_OK) /* an older database without the table */
        return OK;
    rc = sqlite3_exec(db, PREPARE, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "DELETE FROM uploads", NULL, NULL, NULL);
    return rc == SQLITE_OK ? OK
                           : sqlite_file_problem(db, rc, "cannot write", b->partial, b->problem);
}

static enum error copy(struct backup *b)
{
    sqlite3 *from CLEANUP(sqlite_file_close) = NULL;
    sqlite3 *to = NULL;
    TRY(sqlite_file_open_live(b->source, b->problem, &from));
    int64_t version;
    TRY(sqlite_file_schema_version(from, b->source, b->problem, &version));
    if (version == 0)
        return problem_set(b->problem, ERR_INVALID, "%s is not a Cairn database", b->source);
    TRY(sqlite_file_open_unlocked(b->partial, b->problem, &to));
    enum error e = copy_between(b, from, to);
    int rc = sqlite3_close(to);
    TRY(e);
    if (rc != SQLITE_OK)
        return sqlite_file_problem(NULL, rc, "cannot write", b->partial, b->problem);
    TRY(leave_wal(b));
    return forget_uploads(b);
}

/* --- The proof ------------------------------------------------------------------------------ */

/* Pages are copied unchanged, so damage in the copy is damage in the source. */
static enum error inspect(struct backup *b, struct contents *out_contents)
{
    sqlite3 *db CLEANUP(sqlite_file_close) = NULL;
    TRY(sqlite_file_open_still(b->partial, b->problem, &db));
    sqlite_file_watch(db, b->progress);
    progress_report(b->progress, "checking", 0, 0);
    TRY(sqlite_file_expect_whole(db, b->source, b->problem));
    TRY(sqlite_file_contents(db, b->source, false, b->progress, b->problem, out_contents));
    return content_copy_all(&b->copier, db, b->partial);
}

/* Deletes content of the previous backup that this one does not contain. */
static void prune(struct backup *b)
{
    sqlite3 *db CLEANUP(sqlite_file_close) = NULL;
    if (sqlite_file_open_still(b->file, b->problem, &db) == OK)
        content_prune(b->blobs, db);
}

/* --- The new name --------------------------------------------------------------------------- */

/* Reads the hash of the older file. Unless FILE.sha256 contains exactly one, the file is hashed:
 * there may be none, or two left by a backup that was killed here. */
static enum error read_old_hash(struct backup *b, struct sha256 *out_hash)
{
    struct sidecar old;
    uint64_t size;
    if (sidecar_read(b->file, b->problem, &old) == OK && old.count == 1) {
        *out_hash = old.hashes[0];
        return OK;
    }
    int fd CLEANUP(fd_closep) = open(b->file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return file_problem("cannot read", b->file, b->problem);
    return file_hash(
        fd, b->file, -1, NULL, "hashing the old file", b->progress, b->problem, out_hash, &size);
}

/* FILE.sha256 has the new hash before FILE is replaced, and the old hash until then. */
static enum error publish(struct backup *b, const struct sha256 *hash)
{
    struct stat info;
    struct sidecar one = {.hashes = {*hash}, .count = 1}, both = one;
    bool replaces = lstat(b->file, &info) == 0;
    TRY(replaces ? read_old_hash(b, &both.hashes[both.count++]) : OK);
    TRY(sidecar_write(b->file, &both, NULL, b->problem));
    if (rename(b->partial, b->file) != 0) {
        enum error e = file_problem("cannot rename the backup to", b->file, b->problem);
        if (!replaces)
            unlink(file_beside(b->problem->arena, b->file, ".sha256"));
        return e;
    }
    TRY(file_sync_directory(b->file, b->problem));
    return both.count > 1 ? sidecar_write(b->file, &one, NULL, b->problem) : OK;
}

static enum error create(
    struct backup *b, const char *directory, bool replaces, struct backup_report *report)
{
    TRY(check_place(b, directory));
    TRY(check_beside(b));
    TRY(check_file(b, replaces));
    TRY(open_partial(b));
    TRY(content_hold(directory, b->problem, &b->hold_fd));
    TRY(copy(b));
    TRY(inspect(b, &report->contents));
    report->files = b->copier.counts;
    TRY(file_hash(b->fd, b->partial, -1, NULL, "hashing", b->progress, b->problem, &report->sha256,
        &report->size_bytes));
    if (fsync(b->fd) != 0)
        return file_problem("cannot write", b->partial, b->problem);
    TRY(publish(b, &report->sha256));
    prune(b);
    return OK;
}

static void end(struct backup *b, enum error e)
{
    if (e != OK && b->fd >= 0 && is_still_partial(b)) {
        content_copy_undo(&b->copier);
        remove_beside(b);
        unlink(b->partial);
    }
    fd_close(b->hold_fd);
    fd_close(b->fd);
}

enum error backup_create(struct str data_dir, struct str file, bool replaces,
    struct progress *progress, struct problem *problem, struct backup_report *out_report)
{
    struct arena *arena = problem->arena;
    const char *directory = arena_cstr(arena, data_dir);
    struct backup b = {.source = file_beside(arena, directory, "/cairn.db"),
        .file = arena_cstr(arena, file),
        .fd = -1,
        .hold_fd = -1,
        .progress = progress,
        .problem = problem};
    struct backup_report report = {.kept = STR_NONE};
    b.partial = file_beside(arena, b.file, ".partial");
    b.blobs = file_beside(arena, b.file, ".blobs");
    b.copier = (struct content_copier){.from = file_beside(arena, directory, "/blobs"),
        .to = b.blobs,
        .progress = progress,
        .problem = problem};
    enum error e = create(&b, directory, replaces, &report);
    end(&b, e);
    if (e == OK)
        *out_report = report;
    return e;
}
