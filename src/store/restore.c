/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "store/backup.h"
#include "store/content_place.h"
#include "store/migrate.h"
#include "store/sidecar.h"
#include "store/sqlite.h"
#include "store/sqlite_file.h"

struct restoring {
    const struct restore *what;
    const char *file;
    const char *directory;
    const char *database;
    const char *copy; /* the new database until it is in place */
    int file_fd;
    int directory_fd;
    int lock_fd;
    bool has_lock; /* the directory is locked */
    bool made_directory;
    sqlite3 *old;     /* the previous database, which no other process can open meanwhile */
    int old_fd;       /* its file, closed after `old`: closing it drops SQLite's locks */
    const char *kept; /* its second name; NULL: none yet */
    bool is_placed;   /* the new database is in place */
    bool moved_parts; /* the other files of a damaged database were renamed */
    struct content_copier files;
    struct stat owner; /* of the directory */
    struct progress *progress;
    struct problem *problem;
};

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static const char *part(const struct restoring *r, const char *ending)
{
    return file_beside(r->problem->arena, r->database, ending);
}

/* --- The file ------------------------------------------------------------------------------- */

static enum error read_expected(const struct restoring *r, struct sidecar *out_expected)
{
    struct problem *problem = r->problem;
    if (!str_is_none(r->what->sha256)) {
        out_expected->count = 1;
        if (sha256_parse(r->what->sha256, &out_expected->hashes[0]))
            return OK;
        return problem_set(problem, ERR_INVALID,
            "--sha256 must be 64 hexadecimal digits, as sha256sum prints them");
    }
    enum error e = sidecar_read(r->file, problem, out_expected);
    if (e == ERR_NOT_FOUND)
        return problem_set(problem, e,
            "the file %s.sha256 does not exist: pass the hash of the backup with --sha256",
            r->file);
    return e;
}

static enum error open_file(struct restoring *r)
{
    struct stat info;
    r->file_fd = open(r->file, O_RDONLY | O_CLOEXEC);
    if (r->file_fd < 0 || fstat(r->file_fd, &info) != 0)
        return file_problem("cannot read", r->file, r->problem);
    if (!S_ISREG(info.st_mode))
        return problem_set(r->problem, ERR_INVALID, "%s is not a regular file", r->file);
    const char *wal = file_beside(r->problem->arena, r->file, "-wal");
    if (file_has_bytes(wal))
        return problem_set(r->problem, ERR_INVALID,
            "%s belongs to %s, which is a database in use and not a backup: cairn backup makes one",
            wal, r->file);
    return OK;
}

static enum error check_hash(
    const struct restoring *r, const struct sidecar *expected, const struct sha256 *found)
{
    struct arena *arena = r->problem->arena;
    if (sidecar_has(expected, found))
        return OK;
    struct str is = hex_encode(arena, (struct str){(const char *)found->bytes, SHA256_LEN});
    struct str not =
        hex_encode(arena, (struct str){(const char *)expected->hashes[0].bytes, SHA256_LEN});
    return problem_set(r->problem, ERR_INVALID,
        "%s is not the original backup: its SHA-256 is %.*s, not %.*s", r->file, STR_ARG(is),
        STR_ARG(not ));
}

static enum error check_version(const struct restoring *r, int64_t version)
{
    if (version == 0)
        return problem_set(r->problem, ERR_INVALID, "%s is not a Cairn database", r->file);
    if (version <= (int64_t)store_migration_count)
        return OK;
    return problem_set(r->problem, ERR_INVALID,
        "%s has schema version %lld, this cairn (" CAIRN_VERSION
        ") knows up to %zu: use a newer cairn",
        r->file, (long long)version, store_migration_count);
}

/* Verifies `path`, which is the file or our copy of it. Copies, or only compares, the content that
 * it refers to. */
static enum error inspect(struct restoring *r, const char *path, struct backup_report *report)
{
    sqlite3 *db CLEANUP(sqlite_file_close) = NULL;
    int64_t version = 0;
    enum error e = sqlite_file_open_still(path, r->problem, &db);
    if (e == ERR_INVALID)
        return problem_set(r->problem, e, "%s is damaged, or is not a database", r->file);
    TRY(e);
    sqlite_file_watch(db, r->progress);
    TRY(sqlite_file_schema_version(db, r->file, r->problem, &version));
    TRY(check_version(r, version));
    progress_report(r->progress, "checking", 0, 0);
    TRY(sqlite_file_expect_whole(db, r->file, r->problem));
    TRY(sqlite_file_contents(db, r->file, false, r->progress, r->problem, &report->contents));
    TRY(content_copy_all(&r->files, db, r->file));
    report->files = r->files.counts;
    return OK;
}

/* --- The directory -------------------------------------------------------------------------- */

bool restore_finds_database(struct str data_dir)
{
    static const char *const names[] = {"cairn.db", "cairn.db-wal", "cairn.db-journal"};
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(64 * 1024);
    const char *directory = file_beside(&arena, arena_cstr(&arena, data_dir), "/");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (exists(file_beside(&arena, directory, names[i])))
            return true;
    return false;
}

static enum error check_empty(const struct restoring *r)
{
    if (r->what->replaces || !restore_finds_database(r->what->data_dir))
        return OK;
    return problem_set(r->problem, ERR_CONFLICT,
        "%s already contains a database: --yes replaces it and keeps the old one", r->directory);
}

/* Files that root restores belong to the owner of the directory, who will serve them. Only for
 * files that we have created: of any other file we do not know the owner. */
static enum error give_to_owner(const struct restoring *r, int fd, const char *path)
{
    struct stat info;
    if (geteuid() != 0)
        return OK;
    if (fstat(r->directory_fd, &info) != 0 || fchown(fd, info.st_uid, info.st_gid) != 0)
        return file_problem("cannot change the owner of", path, r->problem);
    return OK;
}

static enum error take_directory(struct restoring *r)
{
    r->made_directory = !exists(r->directory);
    enum error e = sqlite_take_directory(r->directory, r->problem, &r->directory_fd, &r->lock_fd);
    r->has_lock = e == OK;
    return e == OK ? check_empty(r) : e;
}

/* The same without creating anything. */
static enum error try_directory(const struct restoring *r)
{
    struct stat info;
    if (stat(r->directory, &info) != 0)
        return errno == ENOENT
                   ? OK
                   : file_problem("cannot open the data directory", r->directory, r->problem);
    if (!S_ISDIR(info.st_mode))
        return problem_set(r->problem, ERR_INVALID, "%s is not a directory", r->directory);
    const char *lock = file_beside(r->problem->arena, r->directory, "/cairn.lock");
    int fd CLEANUP(fd_closep) = open(lock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        return file_problem("cannot open", lock, r->problem);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0)
        return problem_set(r->problem, ERR_UNAVAILABLE,
            "another cairn process is using the data directory %s", r->directory);
    return check_empty(r);
}

/* --- The copy ------------------------------------------------------------------------------- */

/* Adding content to the directory of files does not affect the existing database. */
static enum error place_files(struct restoring *r, struct backup_report *report)
{
    if (fstat(r->directory_fd, &r->owner) != 0)
        return file_problem("cannot inspect", r->directory, r->problem);
    r->files.to = file_beside(r->problem->arena, r->directory, "/" CONTENT_ROOT_NAME);
    r->files.owner = geteuid() == 0 ? &r->owner : NULL;
    return inspect(r, r->copy, report);
}

static enum error copy_file(
    struct restoring *r, const struct sidecar *expected, struct backup_report *report)
{
    int fd CLEANUP(fd_closep) = file_create(r->copy);
    if (fd < 0)
        return file_problem("cannot write", r->copy, r->problem);
    TRY(file_hash(r->file_fd, r->file, fd, r->copy, "copying", r->progress, r->problem,
        &report->sha256, &report->size_bytes));
    TRY(check_hash(r, expected, &report->sha256));
    TRY(give_to_owner(r, fd, r->copy));
    if (fsync(fd) != 0)
        return file_problem("cannot write", r->copy, r->problem);
    return place_files(r, report);
}

/* --- The database of before ----------------------------------------------------------------- */

static bool is_damage(int rc)
{
    int base = rc & 0xff;
    return base == SQLITE_CORRUPT || base == SQLITE_NOTADB || base == SQLITE_IOERR;
}

/* Columns: if the checkpoint was blocked, the pages of the log, the pages that were moved. */
static int take_checkpoint(void *is_moved, int n, char **values, char **names)
{
    *(bool *)is_moved = n == 3 && values[0] != NULL && strcmp(values[0], "0") == 0;
    return 0;
}

/*
 * Moves the rest of the WAL into the database, which then is one file, and keeps it locked while
 * `old` is open. No server uses it, so this checkpoint cannot lose a commit. A damaged database
 * stays as it is: out_whole is false.
 */
static enum error make_single(struct restoring *r, bool *out_whole)
{
    bool is_moved = false;
    int rc =
        sqlite3_open_v2(r->database, &r->old, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(r->old, 1000);
        sqlite3_db_config(r->old, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        rc = sqlite3_exec(r->old,
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT",
            NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(
            r->old, "PRAGMA wal_checkpoint(TRUNCATE)", take_checkpoint, &is_moved, NULL);
    *out_whole = rc == SQLITE_OK && is_moved;
    if (*out_whole)
        return OK;
    if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY)
        return problem_set(r->problem, ERR_UNAVAILABLE,
            "another process has the database %s open: wait until a running backup or check has "
            "finished",
            r->database);
    if (!is_damage(rc))
        return sqlite_file_problem(
            r->old, rc, "cannot close the database", r->database, r->problem);
    sqlite3_close(r->old);
    r->old = NULL;
    return OK;
}

#define KEPT_NAME "cairn.db.before-restore-"

/* cairn.db.before-restore-2026-01-31T23-59-59.123456Z */
static const char *new_name(const struct restoring *r)
{
    char now[CLOCK_TEXT_LEN];
    clock_format(clock_wall_us(), now);
    for (size_t i = 0; i < sizeof now; i++)
        now[i] = now[i] == ':' ? '-' : now[i];
    struct str name = arena_printf(r->problem->arena, "/" KEPT_NAME "%.*s", CLOCK_TEXT_LEN, now);
    return file_beside(r->problem->arena, r->directory, arena_cstr(r->problem->arena, name));
}

/* Deletes a second name of the current database, with its hash; names of older ones stay. */
static void drop_second_name(const struct restoring *r, const char *kept)
{
    struct stat database, second;
    if (lstat(r->database, &database) != 0 || lstat(kept, &second) != 0 ||
        database.st_dev != second.st_dev || database.st_ino != second.st_ino)
        return;
    unlink(file_beside(r->problem->arena, kept, ".sha256.partial"));
    unlink(file_beside(r->problem->arena, kept, ".sha256"));
    content_prune(file_beside(r->problem->arena, kept, ".blobs"), NULL);
    unlink(kept);
}

/* A restore that was killed before its rename has left the database with two names. If the log was
 * already renamed, both stay. */
static void drop_second_names(const struct restoring *r)
{
    struct arena *arena = r->problem->arena;
    DIR *entries CLEANUP(dir_closep) = opendir(r->directory);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (!str_starts_with(str_of(entry->d_name), STR(KEPT_NAME)))
            continue;
        const char *kept = file_beside(arena, file_beside(arena, r->directory, "/"), entry->d_name);
        if (!exists(file_beside(arena, kept, "-wal")) &&
            !exists(file_beside(arena, kept, "-journal")))
            drop_second_name(r, kept);
    }
}

static enum error move_part(
    const struct restoring *r, const char *from, const char *to, const char *ending)
{
    const char *file = file_beside(r->problem->arena, from, ending);
    if (!exists(file) || rename(file, file_beside(r->problem->arena, to, ending)) == 0)
        return OK;
    return file_problem("cannot move aside", file, r->problem);
}

/* Moves the files that belong to a database to its new name. */
static enum error move_parts(const struct restoring *r, const char *from, const char *to)
{
    TRY(move_part(r, from, to, "-wal"));
    return move_part(r, from, to, "-journal");
}

/* Nothing writes to the file, so this is also the hash of the kept database. */
static enum error hash_old(struct restoring *r, struct sidecar *out_sidecar)
{
    uint64_t size;
    r->old_fd = open(r->database, O_RDONLY | O_CLOEXEC);
    if (r->old_fd < 0)
        return file_problem("cannot read", r->database, r->problem);
    out_sidecar->count = 1;
    return file_hash(r->old_fd, r->database, -1, NULL, "hashing the old database", r->progress,
        r->problem, &out_sidecar->hashes[0], &size);
}

static enum error write_hash(const struct restoring *r, const struct sidecar *sidecar)
{
    struct stat owner;
    if (fstat(r->directory_fd, &owner) != 0)
        return file_problem("cannot inspect", r->directory, r->problem);
    return sidecar_write(r->kept, sidecar, geteuid() == 0 ? &owner : NULL, r->problem);
}

/*
 * The old database gets a second name, under which it stays, and its hash, so that it can be
 * restored like any backup. A damaged one cannot be made a single file: its other files are moved
 * first, since SQLite would take them for parts of the new database.
 */
static enum error keep_old(struct restoring *r)
{
    const char *kept = new_name(r);
    struct sidecar sidecar;
    bool has_database = exists(r->database), whole = false;
    drop_second_names(r);
    if (has_database)
        TRY(make_single(r, &whole));
    if (whole)
        TRY(hash_old(r, &sidecar));
    if (exists(kept))
        return problem_set(r->problem, ERR_CONFLICT, "%s already exists: try again", kept);
    r->kept = kept;
    r->moved_parts = !whole;
    if (!whole)
        TRY(move_parts(r, r->database, kept));
    if (has_database && link(r->database, kept) != 0)
        return file_problem("cannot keep the old database as", kept, r->problem);
    if (whole)
        TRY(write_hash(r, &sidecar));
    if (has_database)
        TRY(content_link_all(r->files.to, file_beside(r->problem->arena, kept, ".blobs"),
            r->files.owner, r->problem));
    unlink(part(r, "-wal"));
    unlink(part(r, "-shm")); /* SQLite builds this index again */
    unlink(part(r, "-journal"));
    return fsync(r->directory_fd) == 0
               ? OK
               : file_problem("cannot fsync the directory", r->directory, r->problem);
}

/* After a failure the previous database gets its name back, unless the new one is in place. */
static void undo_keep(struct restoring *r)
{
    if (r->kept == NULL || r->is_placed)
        return;
    drop_second_name(r, r->kept);
    if (r->moved_parts)
        (void)!move_parts(r, r->kept, r->database);
}

static enum error put_in_place(struct restoring *r)
{
    if (rename(r->copy, r->database) != 0)
        return file_problem("cannot rename the new database to", r->database, r->problem);
    r->is_placed = true;
    if (fsync(r->directory_fd) != 0)
        return file_problem("cannot fsync the directory", r->directory, r->problem);
    return OK;
}

/* --- All of it ------------------------------------------------------------------------------ */

static void begin(struct restoring *r, const struct restore *restore, struct progress *progress,
    struct problem *problem)
{
    struct arena *arena = problem->arena;
    *r = (struct restoring){.what = restore,
        .file = arena_cstr(arena, restore->file),
        .directory = arena_cstr(arena, restore->data_dir),
        .file_fd = -1,
        .directory_fd = -1,
        .lock_fd = -1,
        .old_fd = -1,
        .progress = progress,
        .problem = problem};
    r->database = file_beside(arena, r->directory, "/cairn.db");
    r->copy = file_beside(arena, r->database, ".restoring");
    r->files = (struct content_copier){
        .from = file_beside(arena, r->file, ".blobs"), .progress = progress, .problem = problem};
}

/* Undoes a failed restore, including a directory that was created for it. */
static void end(struct restoring *r, enum error e)
{
    sqlite3_close(r->old);
    fd_close(r->old_fd);
    if (e != OK)
        undo_keep(r);
    if (e != OK && r->has_lock && !r->is_placed)
        content_copy_undo(&r->files);
    if (e != OK && r->has_lock)
        unlinkat(r->directory_fd, "cairn.db.restoring", 0);
    if (e != OK && r->has_lock && r->made_directory) {
        unlinkat(r->directory_fd, "cairn.lock", 0);
        rmdir(r->directory);
    }
    fd_close(r->file_fd);
    fd_close(r->lock_fd);
    fd_close(r->directory_fd);
}

static enum error only_check(
    struct restoring *r, const struct sidecar *expected, struct backup_report *report)
{
    TRY(try_directory(r));
    TRY(file_hash(r->file_fd, r->file, -1, NULL, "hashing", r->progress, r->problem,
        &report->sha256, &report->size_bytes));
    TRY(check_hash(r, expected, &report->sha256));
    return inspect(r, r->file, report);
}

static enum error replace(
    struct restoring *r, const struct sidecar *expected, struct backup_report *report)
{
    TRY(take_directory(r));
    TRY(copy_file(r, expected, report));
    if (restore_finds_database(r->what->data_dir))
        TRY(keep_old(r));
    TRY(put_in_place(r));
    if (r->kept != NULL)
        report->kept = str_of(r->kept);
    return OK;
}

/* Opens the file and does one of the two above with it. */
static enum error with_file(const struct restore *restore, struct progress *progress,
    struct problem *problem,
    enum error (*act)(
        struct restoring *r, const struct sidecar *expected, struct backup_report *report),
    struct backup_report *out_report)
{
    struct restoring r;
    struct sidecar expected;
    struct backup_report report = {.kept = STR_NONE};
    begin(&r, restore, progress, problem);
    enum error e = read_expected(&r, &expected);
    if (e == OK)
        e = open_file(&r);
    if (e == OK)
        e = act(&r, &expected, &report);
    end(&r, e);
    if (e == OK)
        *out_report = report;
    return e;
}

enum error restore_try(const struct restore *restore, struct progress *progress,
    struct problem *problem, struct backup_report *out_report)
{
    return with_file(restore, progress, problem, only_check, out_report);
}

enum error restore_run(const struct restore *restore, struct progress *progress,
    struct problem *problem, struct backup_report *out_report)
{
    return with_file(restore, progress, problem, replace, out_report);
}
