#include "store/check.h"

#include "base/memory.h"
#include "store/inspect.h"
#include "store/migrate.h"
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
    int64_t version = 0;
    forget(check);
    enum error e = open_database(path, is_live, problem, &db);
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
    enum error e = store_open(&reading, problem, &store);
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
