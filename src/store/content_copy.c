/* SPDX-License-Identifier: Apache-2.0 */
#include "store/content_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "store/content_place.h"
#include "store/sidecar.h"
#include "store/sqlite_file.h"

/* The content that this copier has written, the newest first. */
struct content_added {
    struct content_added *next;
    struct content_place place;
};

/* --- Names ---------------------------------------------------------------------------------- */

/* Returns false if the row does not have Cairn's format. */
static bool read_name(sqlite3_stmt *stmt, struct content_name *out)
{
    if (sqlite3_column_bytes(stmt, 0) != sizeof out->tenant_id ||
        sqlite3_column_bytes(stmt, 1) != sizeof out->id ||
        sqlite3_column_bytes(stmt, 3) != SHA256_LEN || sqlite3_column_int64(stmt, 2) < 0)
        return false;
    memcpy(&out->tenant_id, sqlite3_column_blob(stmt, 0), sizeof out->tenant_id);
    memcpy(&out->id, sqlite3_column_blob(stmt, 1), sizeof out->id);
    out->size_bytes = (uint64_t)sqlite3_column_int64(stmt, 2);
    memcpy(out->sha256.bytes, sqlite3_column_blob(stmt, 3), SHA256_LEN);
    return true;
}

/* Reports if the table exists: an older database does not have it. A failing query is an error, not
 * an answer. */
static int look_for_blobs(sqlite3 *db, int64_t *out_has)
{
    *out_has = 0;
    return sqlite_file_number(
        db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'blobs'", out_has);
}

enum error content_each(
    sqlite3 *db, const char *path, struct problem *problem, content_visit *visit, void *data)
{
    static const char sql[] =
        "SELECT tenant_id, id, size_bytes, sha256 FROM blobs ORDER BY tenant_id, id";
    sqlite3_stmt *stmt = NULL;
    enum error e = OK;
    int64_t has;
    int rc = look_for_blobs(db, &has);
    if (rc == SQLITE_OK && has == 0)
        return OK;
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && e == OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct content_name name;
        e = read_name(stmt, &name) ? visit(data, &name)
                                   : problem_set(problem, ERR_INVALID,
                                         "%s has a damaged row in the table blobs", path);
        rc = SQLITE_OK;
    }
    if (e == OK && rc != SQLITE_DONE)
        e = sqlite_file_problem(db, rc, "cannot read", path, problem);
    sqlite3_finalize(stmt);
    return e;
}

/* --- One file ------------------------------------------------------------------------------- */

static const char *path_in(struct arena *arena, const char *directory, const char *name)
{
    return file_beside(arena, file_beside(arena, directory, "/"), name);
}

static bool is_same(const struct content_name *name, const struct sha256 *hash, uint64_t size)
{
    return size == name->size_bytes && memcmp(hash->bytes, name->sha256.bytes, SHA256_LEN) == 0;
}

static enum error damaged(struct content_copier *c, const char *path, const char *what)
{
    return problem_set(c->problem, ERR_DAMAGED,
        "the file %s %s: cairn check --deep lists every damaged version", path, what);
}

static enum error open_source(struct content_copier *c, const char *path, int *out_fd)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? damaged(c, path, "does not exist")
                                                   : file_problem("cannot read", path, c->problem);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return damaged(c, path, "is not a regular file");
    }
    *out_fd = fd;
    return OK;
}

static enum error give(const struct content_copier *c, int fd, const char *path)
{
    if (c->owner == NULL || fchown(fd, c->owner->st_uid, c->owner->st_gid) == 0)
        return OK;
    return file_problem("cannot change the owner of", path, c->problem);
}

static enum error make_directory(struct content_copier *c, const char *path, bool *out_made)
{
    bool made = mkdir(path, 0700) == 0;
    if (!made && errno != EEXIST)
        return file_problem("cannot create the directory", path, c->problem);
    if (out_made != NULL)
        *out_made |= made;
    if (made && c->owner != NULL && lchown(path, c->owner->st_uid, c->owner->st_gid) != 0)
        return file_problem("cannot change the owner of", path, c->problem);
    return OK;
}

/* Returns true if the target already has the same content. */
static bool is_there(struct content_copier *c, const char *path, const struct content_name *name)
{
    struct stat info;
    struct sha256 hash;
    uint64_t size = 0;
    int fd CLEANUP(fd_closep) = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
           (uint64_t)info.st_size == name->size_bytes &&
           file_hash(fd, path, -1, NULL, "comparing files", c->progress, c->problem, &hash,
               &size) == OK &&
           is_same(name, &hash, size);
}

static enum error make_file(
    struct content_copier *c, const struct content_place *place, const char **out_path, int *out_fd)
{
    const char *path = path_in(c->paths, c->to, place->file);
    TRY(make_directory(c, c->to, &c->made_to));
    TRY(make_directory(c, path_in(c->paths, c->to, place->tenant), NULL));
    TRY(make_directory(c, path_in(c->paths, c->to, place->fan), NULL));
    int fd = file_create(path);
    if (fd < 0)
        return file_problem("cannot write", path, c->problem);
    struct content_added *added = ARENA_NEW(c->problem->arena, struct content_added);
    *added = (struct content_added){c->added, *place};
    c->added = added;
    *out_path = path;
    *out_fd = fd;
    return give(c, fd, path);
}

enum error content_make_file(const char *directory, struct uuid tenant_id, struct uuid id,
    struct problem *problem, const char **out_path, int *out_fd)
{
    struct content_copier c = {.to = directory, .problem = problem, .paths = problem->arena};
    const struct content_place place = content_place_of(tenant_id, id);
    return make_file(&c, &place, out_path, out_fd);
}

static enum error copy_open(struct content_copier *c, const struct content_name *name,
    const struct content_place *place, int from_fd, const char *from)
{
    const char *to = NULL;
    struct sha256 hash;
    uint64_t size = 0;
    int fd CLEANUP(fd_closep) = -1;
    TRY(c->to != NULL ? make_file(c, place, &to, &fd) : OK);
    TRY(file_hash(from_fd, from, fd, to, c->to != NULL ? "copying files" : "comparing files",
        c->progress, c->problem, &hash, &size));
    if (!is_same(name, &hash, size))
        return damaged(c, from, "differs from the stored content");
    return OK;
}

static enum error copy_one(struct content_copier *c, const struct content_name *name)
{
    const struct content_place place = content_place_of(name->tenant_id, name->id);
    const char *from = path_in(c->paths, c->from, place.file);
    int fd CLEANUP(fd_closep) = -1;
    if (c->to != NULL && is_there(c, path_in(c->paths, c->to, place.file), name))
        return OK;
    TRY(open_source(c, from, &fd));
    return copy_open(c, name, &place, fd, from);
}

enum error content_copy_one(struct content_copier *c, const struct content_name *name)
{
    struct arena paths CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    c->paths = &paths;
    enum error e = copy_one(c, name);
    c->paths = NULL;
    if (progress_is_cancelled(c->progress)) /* the comparison may have been cancelled too */
        e = problem_set(c->problem, ERR_CANCELLED, "called off");
    c->counts.n_files += e == OK;
    c->counts.n_bytes += e == OK ? name->size_bytes : 0;
    return e;
}

/* --- All of them ---------------------------------------------------------------------------- */

static enum error copy_visited(void *data, const struct content_name *name)
{
    return content_copy_one(data, name);
}

/* One call for all files and directories. */
enum error content_make_last(const char *directory, struct problem *problem)
{
    int fd CLEANUP(fd_closep) = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return file_problem("cannot open the directory", directory, problem);
    if (syncfs(fd) != 0)
        return file_problem("cannot write", directory, problem);
    return file_sync_directory(directory, problem);
}

enum error content_copy_all(struct content_copier *c, sqlite3 *db, const char *path)
{
    TRY(content_each(db, path, c->problem, copy_visited, c));
    return c->added != NULL ? content_make_last(c->to, c->problem) : OK;
}

void content_copy_undo(struct content_copier *c)
{
    struct arena paths CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    c->paths = &paths;
    for (const struct content_added *added = c->added; added != NULL; added = added->next) {
        unlink(path_in(c->paths, c->to, added->place.file));
        rmdir(path_in(c->paths, c->to, added->place.fan)); /* removes only empty directories */
        rmdir(path_in(c->paths, c->to, added->place.tenant));
    }
    if (c->made_to)
        rmdir(c->to);
    c->paths = NULL;
    c->added = NULL;
}

/* --- Directories ---------------------------------------------------------------------------- */

/* Calls `act` for each file of content. */
struct walk {
    const char *root;
    struct arena *arena;
    enum error (*act)(void *data, struct uuid tenant_id, struct uuid id);
    void *data;
};

static enum error walk_fan(const struct walk *w, struct uuid tenant_id, const char *path)
{
    DIR *d CLEANUP(dir_closep) = opendir(path);
    const struct dirent *entry;
    struct uuid id;
    while (d != NULL && (entry = readdir(d)) != NULL)
        if (content_name_read(entry->d_name, id.bytes, sizeof id.bytes))
            TRY(w->act(w->data, tenant_id, id));
    return OK;
}

static enum error walk_tenant(const struct walk *w, struct uuid tenant_id, const char *path)
{
    DIR *d CLEANUP(dir_closep) = opendir(path);
    const struct dirent *entry;
    uint8_t fan;
    while (d != NULL && (entry = readdir(d)) != NULL)
        if (content_name_read(entry->d_name, &fan, 1))
            TRY(walk_fan(w, tenant_id, path_in(w->arena, path, entry->d_name)));
    return OK;
}

static enum error walk_all(const struct walk *w)
{
    DIR *d CLEANUP(dir_closep) = opendir(w->root);
    const struct dirent *entry;
    struct uuid tenant_id;
    while (d != NULL && (entry = readdir(d)) != NULL)
        if (content_name_read(entry->d_name, tenant_id.bytes, sizeof tenant_id.bytes))
            TRY(walk_tenant(w, tenant_id, path_in(w->arena, w->root, entry->d_name)));
    return OK;
}

static enum error link_one(void *data, struct uuid tenant_id, struct uuid id)
{
    struct arena paths CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct content_copier *c = data;
    const struct content_place place = content_place_of(tenant_id, id);
    c->paths = &paths;
    const char *to = path_in(c->paths, c->to, place.file);
    TRY(make_directory(c, c->to, &c->made_to));
    TRY(make_directory(c, path_in(c->paths, c->to, place.tenant), NULL));
    TRY(make_directory(c, path_in(c->paths, c->to, place.fan), NULL));
    if (link(path_in(c->paths, c->from, place.file), to) != 0)
        return file_problem("cannot keep a file as", to, c->problem);
    return OK;
}

enum error content_link_all(
    const char *from, const char *to, const struct stat *owner, struct problem *problem)
{
    struct content_copier c = {.from = from, .to = to, .owner = owner, .problem = problem};
    const struct walk walk = {from, problem->arena, link_one, &c};
    enum error e = walk_all(&walk);
    if (e == OK && c.made_to)
        e = content_make_last(to, problem);
    if (e != OK)
        content_prune(to, NULL);
    return e;
}

struct pruning {
    const char *directory;
    sqlite3_stmt *find; /* NULL: no row refers to content */
    struct arena arena;
};

static bool is_named(struct pruning *p, struct uuid tenant_id, struct uuid id)
{
    if (p->find == NULL)
        return false;
    sqlite3_bind_blob(p->find, 1, tenant_id.bytes, sizeof tenant_id.bytes, SQLITE_STATIC);
    sqlite3_bind_blob(p->find, 2, id.bytes, sizeof id.bytes, SQLITE_STATIC);
    bool found = sqlite3_step(p->find) != SQLITE_DONE; /* also if the query fails */
    sqlite3_reset(p->find);
    return found;
}

static enum error prune_one(void *data, struct uuid tenant_id, struct uuid id)
{
    struct arena paths CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct pruning *p = data;
    const struct content_place place = content_place_of(tenant_id, id);
    if (is_named(p, tenant_id, id))
        return OK;
    unlink(path_in(&paths, p->directory, place.file));
    rmdir(path_in(&paths, p->directory, place.fan));
    rmdir(path_in(&paths, p->directory, place.tenant));
    return OK;
}

void content_prune(const char *directory, sqlite3 *db)
{
    static const char sql[] = "SELECT 1 FROM blobs WHERE tenant_id = ?1 AND id = ?2";
    struct pruning p = {.directory = directory};
    int64_t has;
    /* If the query fails, nothing is removed. */
    if (db != NULL &&
        (look_for_blobs(db, &has) != SQLITE_OK ||
            (has != 0 && sqlite3_prepare_v2(db, sql, -1, &p.find, NULL) != SQLITE_OK)))
        return;
    arena_init(&p.arena, SIZE_MAX);
    const struct walk walk = {directory, &p.arena, prune_one, &p};
    (void)!walk_all(&walk);
    rmdir(directory);
    sqlite3_finalize(p.find);
    arena_deinit(&p.arena);
}
