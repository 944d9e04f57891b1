/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "store/inspect.h"
#include "store/migrate.h"
#include "store/sidecar.h"
#include "store/sqlite_file.h"

int64_t store_known_schema(void)
{
    return (int64_t)store_migration_count;
}

static const char *path_in(struct arena *arena, struct str dir, const char *name)
{
    return arena_cstr(arena, arena_printf(arena, "%.*s/%s", STR_ARG(dir), name));
}

/* Takes the lock and releases it at once. */
bool sqlite_is_served(struct str data_dir)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(8192);
    int fd CLEANUP(fd_closep) = open(path_in(&arena, data_dir, "cairn.lock"), O_RDONLY | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

struct first_fault {
    struct arena *arena;
    const char *path;
    struct str *damage;
};

static void keep_first(void *data, const char *line)
{
    struct first_fault *first = data;
    if (str_is_none(*first->damage))
        *first->damage = arena_printf(first->arena, "%s is damaged: %s", first->path, line);
}

/* Without a server the file is read without locks and no file is added beside it; with a server, or
 * a log that was not replayed, it is opened like any reader does. */
static enum error inspect_once(
    struct str data_dir, struct problem *problem, struct sqlite_inspection *out)
{
    struct sqlite_inspection found = {.is_served = sqlite_is_served(data_dir), .damage = STR_NONE};
    const char *path = path_in(problem->arena, data_dir, "cairn.db");
    bool is_live =
        found.is_served || file_has_bytes(path_in(problem->arena, data_dir, "cairn.db-wal"));
    struct first_fault first = {problem->arena, path, &found.damage};
    sqlite3 *db CLEANUP(sqlite_file_close) = NULL;
    enum error e = is_live ? sqlite_file_open_live(path, problem, &db)
                           : sqlite_file_open_still(path, problem, &db);
    if (e == OK)
        e = sqlite_file_schema_version(db, path, problem, &found.schema_version);
    if (e == OK)
        e = sqlite_file_fsck(db, path, true, keep_first, &first, problem);
    if (e == OK)
        (void)sqlite_file_number(
            db, "SELECT coalesce(max(applied_at), 0) FROM schema_versions", &found.migrated_us);
    if (e == ERR_INVALID) /* too damaged to be opened */
        found.damage = problem->detail;
    else if (e != OK)
        return e;
    *out = found;
    return OK;
}

enum error sqlite_inspect(
    struct str data_dir, struct problem *problem, struct sqlite_inspection *out)
{
    struct stat st;
    if (stat(path_in(problem->arena, data_dir, "cairn.db"), &st) != 0 && errno == ENOENT)
        return problem_set(
            problem, ERR_NOT_FOUND, "there is no database in %.*s yet", STR_ARG(data_dir));
    bool was_served = sqlite_is_served(data_dir);
    enum error e = inspect_once(data_dir, problem, out);
    /* A server that started meanwhile may have written while the file was read without locks. */
    if (!was_served && sqlite_is_served(data_dir))
        e = inspect_once(data_dir, problem, out);
    return e;
}
