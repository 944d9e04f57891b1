/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "store/content.h"
#include "store/content_place.h"
#include "store/engine.h"
#include "store/inspect.h"
#include "store/migrate.h"
#include "store/params.h"
#include "store/sidecar.h"
#include "store/sqlite.h"
#include "store/sqlite_file.h"

void check_found(struct check *check, const char *rule, struct str object, const char *fmt, ...)
{
    if (check->n_findings == CHECK_MAX_FINDINGS) {
        check->n_untold++;
        return;
    }
    va_list args;
    va_start(args, fmt);
    check->findings[check->n_findings++] = (struct check_finding){
        str_of(rule), arena_str(check->arena, object), arena_vprintf(check->arena, fmt, args)};
    va_end(args);
}

void check_count(struct check *check, const char *table, uint64_t rows)
{
    struct contents *contents = &check->contents;
    if (contents->tables == NULL)
        contents->tables = ARENA_ARRAY(check->arena, struct table_rows, CONTENTS_MAX_TABLES);
    assert(contents->n_tables < CONTENTS_MAX_TABLES);
    contents->tables[contents->n_tables++] = (struct table_rows){str_of(table), rows};
    contents->rows += rows;
}

static void forget(struct check *check)
{
    check->n_findings = check->n_untold = 0;
    check->contents = (struct contents){0};
}

static enum error check_version(int64_t version, const char *where, struct problem *problem)
{
    if (version == (int64_t)store_migration_count)
        return OK;
    if (version == 0)
        return problem_set(problem, ERR_INVALID, "%s is not a database of Cairn's", where);
    return problem_set(problem, ERR_INVALID,
        "%s has schema version %lld, this cairn (" CAIRN_VERSION ") checks version %zu: %s", where,
        (long long)version, store_migration_count,
        version > (int64_t)store_migration_count ? "use a newer cairn"
                                                 : "start it once, which migrates the database");
}

/* --- Content -------------------------------------------------------------------------------- */

static const char IS_MISSING[] = "it is not there", IS_SHORT[] = "it has another size",
                  IS_CHANGED[] = "it is not what was stored: its SHA-256 differs";

static enum error check_in_directory(
    struct check *check, const struct content_name *name, const char **out_wrong)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct problem problem;
    const struct content_place place = content_place_of(name->tenant_id, name->id);
    struct stat info;
    struct sha256 hash;
    uint64_t size;
    arena_init(&arena, SIZE_MAX);
    problem_init(&problem, &arena);
    const char *path = file_beside(&arena, file_beside(&arena, check->files, "/"), place.file);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        *out_wrong = IS_MISSING;
    else if ((uint64_t)info.st_size != name->size_bytes)
        *out_wrong = IS_SHORT;
    else if (check->deep && (file_hash(fd, path, -1, NULL, "reading the content of files",
                                 check->progress, &problem, &hash, &size) != OK ||
                                memcmp(&hash, &name->sha256, sizeof hash) != 0))
        *out_wrong = IS_CHANGED;
    if (fd >= 0)
        close(fd);
    return OK;
}

/* The number of chunks, and their bytes. */
static enum error measure_chunks(
    struct tx *tx, const struct content_name *name, int64_t out_numbers[2])
{
    CLEANUP(arena_deinit) struct arena arena;
    struct query q;
    arena_init(&arena, SIZE_MAX);
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
    CLEANUP(arena_deinit) struct arena arena;
    struct query q;
    arena_init(&arena, SIZE_MAX);
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

static enum error check_in_database(struct check *check, struct tx *tx,
    const struct content_name *name, struct problem *problem, const char **out_wrong)
{
    int64_t numbers[2] = {0, 0};
    enum error e = measure_chunks(tx, name, numbers);
    if (e != OK)
        return e;
    if ((uint64_t)numbers[1] != name->size_bytes)
        *out_wrong = numbers[0] == 0 ? IS_MISSING : IS_SHORT;
    if (!check->deep || *out_wrong != NULL)
        return OK;
    struct sha256_state *state = sha256_create();
    for (int64_t n = 0; e == OK && n < numbers[0]; n++) {
        e = hash_chunk(tx, name, n, state);
        if (e == OK && progress_is_cancelled(check->progress))
            e = problem_set(problem, ERR_CANCELLED, "called off");
    }
    struct sha256 hash = sha256_finish(state);
    if (e == OK && memcmp(&hash, &name->sha256, sizeof hash) != 0)
        *out_wrong = IS_CHANGED;
    return e;
}

enum error check_content(struct check *check, struct tx *tx, const struct content_name *name,
    struct problem *problem, const char **out_wrong)
{
    return check->files != NULL ? check_in_directory(check, name, out_wrong)
                                : check_in_database(check, tx, name, problem, out_wrong);
}

/* Content stays as long as this is open, beside whoever serves it. */
static enum error hold_files(
    struct check *check, const char *directory, bool is_live, struct problem *problem, int *out_fd)
{
    check->files =
        file_beside(check->arena, file_beside(check->arena, directory, "/"), CONTENT_ROOT_NAME);
    return is_live ? content_hold(directory, problem, out_fd) : OK;
}

static void close_hold(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* --- SQLite --------------------------------------------------------------------------------- */

static void take_fault(void *data, const char *line)
{
    check_found(data, "integrity", STR("database"), "%s", line);
}

static void note_nothing(const char *what)
{
}

/* The model's statements on a connection that is no store's. */
static enum error run_rules(const struct store_config *config, sqlite3 *db, const char *path,
    check_rules *rules, struct check *check, struct problem *problem)
{
    struct sqlite_store s = {.base = {.ops = &sqlite_ops, .config = *config}};
    struct sqlite_connection c = {.db = db,
        .store = &s,
        .statements = mem_zalloc(config->n_statements * sizeof(sqlite3_stmt *))};
    struct tx tx;
    s.base.config.on_fatal = note_nothing;
    tx_init(&tx, &s.base, &c, false);
    enum error e = rules(check, &tx, problem);
    for (size_t i = 0; i < config->n_statements; i++)
        sqlite3_finalize(c.statements[i]);
    mem_free(c.statements);
    if (atomic_load(&s.is_broken)) {
        check_found(check, "integrity", STR("database"), "a page of %s cannot be read", path);
        return OK;
    }
    return e;
}

/* At rest the file is read as it stands and nothing is put beside it; with a server, or a log that
 * nobody has replayed, as any reader does it. */
static enum error open_database(
    const char *path, bool is_live, struct problem *problem, sqlite3 **out_db)
{
    if (is_live || access(path, F_OK) != 0 ||
        file_has_bytes(file_beside(problem->arena, path, "-wal")) ||
        file_has_bytes(file_beside(problem->arena, path, "-journal")))
        return sqlite_file_open_live(path, problem, out_db);
    return sqlite_file_open_still(path, problem, out_db);
}

static enum error check_file(const struct store_config *config, bool is_live, check_rules *rules,
    struct check *check, struct problem *problem)
{
    const char *directory = arena_cstr(problem->arena, config->data_dir);
    const char *path = file_beside(problem->arena, directory, "/cairn.db");
    sqlite3 *db CLEANUP(sqlite_file_close) = NULL;
    int hold_fd CLEANUP(close_hold) = -1;
    int64_t version = 0;
    forget(check);
    enum error e = hold_files(check, directory, is_live, problem, &hold_fd);
    if (e == OK)
        e = open_database(path, is_live, problem, &db);
    if (e == ERR_INVALID) { /* so damaged that nothing can be read */
        check_found(check, "integrity", STR("database"), "%.*s", STR_ARG(problem->detail));
        return OK;
    }
    if (e != OK)
        return e;
    sqlite_file_watch(db, check->progress);
    progress_report(check->progress, "checking the file", 0, 0);
    e = sqlite_file_check(db, path, check->quick, take_fault, check, problem);
    if (e != OK || check->n_findings > 0)
        return e;
    e = sqlite_file_schema_version(db, path, problem, &version);
    if (e == OK)
        e = check_version(version, path, problem);
    if (e == OK)
        e = sqlite_file_contents(
            db, path, check->quick, check->progress, problem, &check->contents);
    return e == OK ? run_rules(config, db, path, rules, check, problem) : e;
}

static enum error check_sqlite(const struct store_config *config, check_rules *rules,
    struct check *check, struct problem *problem)
{
    bool was_served = sqlite_is_served(config->data_dir);
    enum error e = check_file(config, was_served, rules, check, problem);
    /* What a server began to write meanwhile was read without its locks. */
    if (!was_served && sqlite_is_served(config->data_dir))
        e = check_file(config, true, rules, check, problem);
    return e;
}

/* --- PostgreSQL ----------------------------------------------------------------------------- */

struct shared_check {
    check_rules *rules;
    struct check *check;
    struct problem *problem;
};

static enum error run_shared(void *data, struct tx *tx)
{
    const struct shared_check *shared = data;
    forget(shared->check);
    return shared->rules(shared->check, tx, shared->problem);
}

static enum error check_postgres(const struct store_config *config, check_rules *rules,
    struct check *check, struct problem *problem)
{
    struct store *store = NULL;
    struct shared_check shared = {rules, check, problem};
    struct store_config reading = *config;
    reading.inspects = true;
    reading.writers = reading.readers = 1;
    int hold_fd CLEANUP(close_hold) = -1;
    enum error e = OK;
    if (!str_is_none(config->files_dir))
        e = hold_files(
            check, arena_cstr(problem->arena, config->files_dir), true, problem, &hold_fd);
    if (e == OK)
        e = store_open(&reading, problem, &store);
    if (e != OK)
        return e;
    problem_set(problem, OK, "%s", "");
    e = store_call(store, STORE_READ, run_shared, &shared);
    check->contents.schema_version = (int64_t)store_migration_count;
    store_close(store);
    if (e != OK && problem->detail.len == 0)
        return problem_set(problem, e, "the database could not be read to its end");
    return e;
}

enum error store_check(const struct store_config *config, check_rules *rules, struct check *check,
    struct problem *problem)
{
    return config->engine == ENGINE_SQLITE ? check_sqlite(config, rules, check, problem)
                                           : check_postgres(config, rules, check, problem);
}
