/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fsck.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "store/content.h"
#include "store/content_place.h"
#include "store/engine.h"
#include "store/inspect.h"
#include "store/migrate.h"
#include "store/params.h"
#include "store/sidecar.h"
#include "store/sqlite.h"
#include "store/sqlite_file.h"

void fsck_found(struct fsck *fsck, const char *rule, struct str object, const char *fmt, ...)
{
    if (fsck->n_findings == FSCK_MAX_FINDINGS) {
        fsck->n_untold++;
        return;
    }
    va_list args;
    va_start(args, fmt);
    fsck->findings[fsck->n_findings++] = (struct fsck_finding){
        str_of(rule), arena_str(fsck->arena, object), arena_vprintf(fsck->arena, fmt, args)};
    va_end(args);
}

void fsck_count(struct fsck *fsck, const char *table, uint64_t rows)
{
    struct contents *contents = &fsck->contents;
    if (contents->tables == NULL)
        contents->tables = ARENA_ARRAY(fsck->arena, struct table_rows, CONTENTS_MAX_TABLES);
    assert(contents->n_tables < CONTENTS_MAX_TABLES);
    contents->tables[contents->n_tables++] = (struct table_rows){str_of(table), rows};
    contents->rows += rows;
}

static void forget(struct fsck *fsck)
{
    fsck->n_findings = fsck->n_untold = 0;
    fsck->contents = (struct contents){0};
}

static enum error fsck_version(int64_t version, const char *where, struct problem *problem)
{
    if (version == (int64_t)store_migration_count)
        return OK;
    if (version == 0)
        return problem_set(problem, ERR_INVALID, "%s is not a Cairn database", where);
    return problem_set(problem, ERR_INVALID,
        "%s has schema version %lld, this cairn (" CAIRN_VERSION ") checks version %zu: %s", where,
        (long long)version, store_migration_count,
        version > (int64_t)store_migration_count ? "use a newer cairn"
                                                 : "start the server once to migrate the database");
}

/* --- Content -------------------------------------------------------------------------------- */

static const char IS_MISSING[] = "it does not exist", IS_SHORT[] = "it has another size",
                  IS_CHANGED[] = "it differs from the stored content: its SHA-256 differs";

static enum error fsck_in_directory(
    struct fsck *fsck, const struct content_name *name, const char **out_wrong)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct problem problem = PROBLEM_INIT(&arena);
    const struct content_place place = content_place_of(name->tenant_id, name->id);
    struct stat info;
    struct sha256 hash;
    uint64_t size;
    const char *path = file_beside(&arena, file_beside(&arena, fsck->files, "/"), place.file);
    int fd CLEANUP(fd_closep) = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        *out_wrong = IS_MISSING;
    else if ((uint64_t)info.st_size != name->size_bytes)
        *out_wrong = IS_SHORT;
    else if (fsck->deep && (file_hash(fd, path, -1, NULL, "reading the content of files",
                                fsck->progress, &problem, &hash, &size) != OK ||
                               memcmp(&hash, &name->sha256, sizeof hash) != 0))
        *out_wrong = IS_CHANGED;
    return OK;
}

/* Reads the number of chunks, and their bytes. */
static enum error measure_chunks(
    struct tx *tx, const struct content_name *name, int64_t out_numbers[2])
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct query q;
    query_begin(&q, tx, tx->store->config.content_statements->size, &arena);
    query_uuid(&q, tenant_id, name->tenant_id);
    query_uuid(&q, blob_id, name->id);
    while (query_next(&q)) {
        out_numbers[0] = row_i64(&q);
        out_numbers[1] = row_i64(&q);
    }
    return query_end(&q);
}

static enum error hash_chunk(
    struct tx *tx, const struct content_name *name, int64_t n, struct sha256_state *hash)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct query q;
    query_begin(&q, tx, tx->store->config.content_statements->read, &arena);
    query_uuid(&q, tenant_id, name->tenant_id);
    query_uuid(&q, blob_id, name->id);
    query_i64(&q, n, n);
    query_i64(&q, from, 1);
    query_i64(&q, count, INT32_MAX - 1);
    while (query_next(&q))
        sha256_add(hash, row_bytes(&q));
    return query_end(&q);
}

static enum error fsck_in_database(struct fsck *fsck, struct tx *tx,
    const struct content_name *name, struct problem *problem, const char **out_wrong)
{
    int64_t numbers[2] = {0, 0};
    TRY(measure_chunks(tx, name, numbers));
    if ((uint64_t)numbers[1] != name->size_bytes)
        *out_wrong = numbers[0] == 0 ? IS_MISSING : IS_SHORT;
    if (!fsck->deep || *out_wrong != NULL)
        return OK;
    struct sha256_state *state CLEANUP(sha256_freep) = sha256_create();
    for (int64_t n = 0; n < numbers[0]; n++) {
        TRY(hash_chunk(tx, name, n, state));
        if (progress_is_cancelled(fsck->progress))
            return problem_set(problem, ERR_CANCELLED, "called off");
    }
    struct sha256 hash = sha256_so_far(state);
    if (memcmp(&hash, &name->sha256, sizeof hash) != 0)
        *out_wrong = IS_CHANGED;
    return OK;
}

enum error fsck_content(struct fsck *fsck, struct tx *tx, const struct content_name *name,
    struct problem *problem, const char **out_wrong)
{
    return fsck->files != NULL ? fsck_in_directory(fsck, name, out_wrong)
                               : fsck_in_database(fsck, tx, name, problem, out_wrong);
}

/* While this file is open no content is removed, even if a server is running. */
static enum error hold_files(
    struct fsck *fsck, const char *directory, bool is_live, struct problem *problem, int *out_fd)
{
    fsck->files =
        file_beside(fsck->arena, file_beside(fsck->arena, directory, "/"), CONTENT_ROOT_NAME);
    *out_fd = -1;
    return is_live ? content_hold(directory, problem, out_fd) : OK;
}

/* --- SQLite --------------------------------------------------------------------------------- */

static void take_fault(void *data, const char *line)
{
    fsck_found(data, "integrity", STR("database"), "%s", line);
}

static void note_nothing(const char *what)
{
}

/* Runs the model's statements on a connection that does not belong to a store. */
static enum error run_rules(const struct store_config *config, sqlite3 *db, const char *path,
    fsck_rules *rules, struct fsck *fsck, struct problem *problem)
{
    struct sqlite_store s = {.base = {.ops = &sqlite_ops, .config = *config}};
    struct sqlite_connection c = {.db = db,
        .store = &s,
        .statements = mem_zalloc(config->n_statements * sizeof(sqlite3_stmt *))};
    struct tx tx;
    s.base.config.on_fatal = note_nothing;
    tx_init(&tx, &s.base, &c, false);
    enum error e = rules(fsck, &tx, problem);
    for (size_t i = 0; i < config->n_statements; i++)
        sqlite3_finalize(c.statements[i]);
    mem_free(c.statements);
    if (atomic_load(&s.is_broken)) {
        fsck_found(fsck, "integrity", STR("database"), "a page of %s cannot be read", path);
        return OK;
    }
    return e;
}

static enum error fsck_file(const struct store_config *config, bool is_live, fsck_rules *rules,
    struct fsck *fsck, struct problem *problem)
{
    const char *directory = arena_cstr(problem->arena, config->data_dir);
    const char *path = file_beside(problem->arena, directory, "/cairn.db");
    sqlite3 *db CLEANUP(sqlite_file_close) = NULL;
    int hold_fd CLEANUP(fd_closep) = -1;
    int64_t version = 0;
    forget(fsck);
    TRY(hold_files(fsck, directory, is_live, problem, &hold_fd));
    enum error e = sqlite_file_open(path, is_live, problem, &db);
    if (e == ERR_INVALID) { /* too damaged to be read at all */
        fsck_found(fsck, "integrity", STR("database"), "%.*s", STR_ARG(problem->detail));
        return OK;
    }
    if (e != OK)
        return e;
    sqlite_file_watch(db, fsck->progress);
    progress_report(fsck->progress, "checking the file", 0, 0);
    e = sqlite_file_fsck(db, path, fsck->quick, take_fault, fsck, problem);
    if (e != OK || fsck->n_findings > 0)
        return e;
    TRY(sqlite_file_schema_version(db, path, problem, &version));
    TRY(fsck_version(version, path, problem));
    TRY(sqlite_file_contents(db, path, fsck->quick, fsck->progress, problem, &fsck->contents));
    return run_rules(config, db, path, rules, fsck, problem);
}

static enum error fsck_sqlite(const struct store_config *config, fsck_rules *rules,
    struct fsck *fsck, struct problem *problem)
{
    bool was_served = sqlite_is_served(config->data_dir);
    enum error e = fsck_file(config, was_served, rules, fsck, problem);
    /* A server that started meanwhile may have written while the file was read without locks. */
    if (!was_served && sqlite_is_served(config->data_dir))
        e = fsck_file(config, true, rules, fsck, problem);
    return e;
}

/* --- PostgreSQL ----------------------------------------------------------------------------- */

struct shared_check {
    fsck_rules *rules;
    struct fsck *fsck;
    struct problem *problem;
};

static enum error run_shared(void *data, struct tx *tx)
{
    const struct shared_check *shared = data;
    forget(shared->fsck);
    return shared->rules(shared->fsck, tx, shared->problem);
}

static enum error fsck_postgres(const struct store_config *config, fsck_rules *rules,
    struct fsck *fsck, struct problem *problem)
{
    struct store *store = NULL;
    struct shared_check shared = {rules, fsck, problem};
    struct store_config reading = *config;
    reading.inspects = true;
    reading.writers = reading.readers = 1;
    int hold_fd CLEANUP(fd_closep) = -1;
    if (!str_is_none(config->files_dir))
        TRY(hold_files(
            fsck, arena_cstr(problem->arena, config->files_dir), true, problem, &hold_fd));
    TRY(store_open(&reading, problem, &store));
    problem_set(problem, OK, "%s", "");
    enum error e = store_call(store, STORE_READ, run_shared, &shared);
    fsck->contents.schema_version = (int64_t)store_migration_count;
    store_close(store);
    if (e != OK && problem->detail.len == 0)
        return problem_set(problem, e, "the database could not be read completely");
    return e;
}

enum error store_fsck(const struct store_config *config, fsck_rules *rules, struct fsck *fsck,
    struct problem *problem)
{
    return config->engine == ENGINE_SQLITE ? fsck_sqlite(config, rules, fsck, problem)
                                           : fsck_postgres(config, rules, fsck, problem);
}
