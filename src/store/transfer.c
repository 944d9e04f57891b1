/* SPDX-License-Identifier: Apache-2.0 */
#include "store/transfer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "store/migrate.h"
#include "store/transfer_state.h"

enum { BATCH_BYTES = 4 * 1024 * 1024 };

/* --- Sides ---------------------------------------------------------------------------------- */

static struct side *side_create(
    struct transfer *t, enum side_role role, const struct transfer_place *place)
{
    bool is_sqlite = place->engine == ENGINE_SQLITE;
    struct side *side = is_sqlite ? sqlite_side_create() : postgres_side_create();
    side->role = role;
    side->name = role == SIDE_FROM ? "source" : "target";
    side->option = role == SIDE_FROM ? "--from" : "--to";
    side->place = place;
    side->writes = role == SIDE_TO && t->config->mode == TRANSFER_MOVE;
    side->despite_sessions = t->config->despite_sessions;
    side->arena = t->arena;
    side->problem = t->problem;
    return side;
}

enum error transfer_ask_numbers(struct side *side, const char *sql,
    const struct transfer_value *param, uint32_t type, int64_t *out_numbers, size_t n)
{
    struct transfer_value values[TRANSFER_MAX_NUMBERS];
    bool found = true;
    assert(n <= COUNT_OF(values));
    TRY(side->ops->ask(side, sql, param, &type, param != NULL ? 1 : 0));
    while (found) {
        TRY(side->ops->next(side, values, n, &found));
        for (size_t i = 0; found && i < n; i++)
            out_numbers[i] = values[i].number;
    }
    return OK;
}

static enum error has_table(struct side *side, const char *name, bool *out_has)
{
    struct transfer_value param = {VALUE_TEXT, 0, str_of(name)};
    int64_t has = 0;
    TRY(transfer_ask_numbers(side, side->ops->sql.has_table, &param, PG_TEXT, &has, 1));
    *out_has = has != 0;
    return OK;
}

/* Returns version 0 if there is no schema. */
static enum error read_version(struct side *side, int64_t *out_version)
{
    bool exists;
    *out_version = 0;
    TRY(has_table(side, "schema_versions", &exists));
    if (exists)
        TRY(transfer_ask_numbers(side, "SELECT coalesce(max(version), 0) FROM schema_versions",
            NULL, 0, out_version, 1));
    return OK;
}

static enum error refuse_version(struct side *side, int64_t version, bool is_marked)
{
    if (version == 0)
        return problem_set(
            side->problem, ERR_NOT_FOUND, "the %s is not a Cairn database", side->name);
    bool is_newer = version > (int64_t)store_migration_count;
    return problem_set(side->problem, ERR_CONFLICT,
        "the %s has schema version %lld, this cairn (" CAIRN_VERSION ") moves version %zu: %s",
        side->name, (long long)version, store_migration_count,
        is_newer ? "use a newer cairn"
        : is_marked
            ? "finish with the version of cairn that began, or start again with an empty target"
            : "start this cairn on it once to migrate it, then stop it");
}

static enum error check_version(struct side *side, bool is_marked)
{
    int64_t version;
    TRY(read_version(side, &version));
    if (version == (int64_t)store_migration_count)
        return OK;
    return refuse_version(side, version, is_marked);
}

/* --- Looking at the source ------------------------------------------------------------------ */

static enum error open_source(struct transfer *t)
{
    bool is_marked = false;
    TRY(t->from->ops->open(t->from));
    if (!t->from->is_open)
        return problem_set(t->problem, ERR_NOT_FOUND, "the source %.*s is not a Cairn database",
            STR_ARG(t->config->from.data_dir));
    TRY(t->from->ops->exec(t->from, t->from->ops->sql.snapshot));
    TRY(check_version(t->from, false));
    TRY(has_table(t->from, "cairn_transfer", &is_marked));
    if (is_marked)
        return problem_set(t->problem, ERR_CONFLICT,
            "the source is itself the target of an unfinished cairn migrate: finish that first");
    return OK;
}

/*
 * Identifies a source and its state without hashing all of it: its tenants, how many rows each
 * table has and how often those with a version were changed, and the last ids of events and steps;
 * on PostgreSQL also the transactions that wrote the rows, which every write changes. The
 * verification finds any other change between two runs.
 */
static enum error identify_source(struct transfer *t, struct str *out_source)
{
    struct sha256_state *hash CLEANUP(sha256_freep) = sha256_create();
    TRY(transfer_ask_numbers(
        t->from, t->from->ops->sql.last_id, NULL, 0, &t->result.last_event_id, 1));
    TRY(transfer_ask_numbers(
        t->from, t->from->ops->sql.last_step_id, NULL, 0, &t->result.last_step_id, 1));
    transfer_hash_u64(hash, (uint64_t)t->result.last_event_id);
    transfer_hash_u64(hash, (uint64_t)t->result.last_step_id);
    t->result.rows = 0;
    for (size_t i = 0; i < t->plan.n_tables; i++) {
        const struct transfer_table *table = &t->plan.tables[i];
        int64_t counts[TRANSFER_COUNTS] = {0};
        TRY(transfer_ask_numbers(
            t->from, plan_select_count(t->from, table), NULL, 0, counts, TRANSFER_COUNTS));
        t->result.tables[i].rows = (uint64_t)counts[0];
        t->result.rows += (uint64_t)counts[0];
        transfer_hash_str(hash, str_of(table->name));
        for (size_t k = 0; k < TRANSFER_COUNTS; k++)
            transfer_hash_u64(hash, (uint64_t)counts[k]);
        if (strcmp(table->name, "tenants") == 0) {
            struct sha256 tenants;
            TRY(transfer_hash_table(t->from, table, &tenants));
            transfer_hash_str(
                hash, (struct str){(const char *)tenants.bytes, sizeof tenants.bytes});
        }
    }
    struct sha256 source = sha256_so_far(hash);
    *out_source =
        hex_encode(t->arena, (struct str){(const char *)source.bytes, sizeof source.bytes});
    return OK;
}

/* Counts the writes of other connections, if the rows themselves do not show them. */
static enum error count_writes(struct side *side, int64_t *out_count)
{
    const char *sql = side->ops->sql.writes;
    *out_count = 0;
    return sql != NULL ? transfer_ask_numbers(side, sql, NULL, 0, out_count, 1) : OK;
}

static enum error refuse_written(struct transfer *t)
{
    const struct transfer_place *to = &t->config->to;
    struct str how =
        to->engine == ENGINE_SQLITE
            ? arena_printf(t->arena, "remove the directory %.*s", STR_ARG(to->data_dir))
            : arena_printf(t->arena, "DROP SCHEMA \"%.*s\" CASCADE", STR_ARG(to->schema));
    return problem_set(t->problem, ERR_CONFLICT,
        "the source was written to during the move, and the target lacks these writes: stop every "
        "server that uses the source, empty the target (%.*s), and run the same command again",
        STR_ARG(how));
}

/* The copy and the comparison are those of one snapshot. The source must not have changed since. */
static enum error check_unchanged(struct transfer *t)
{
    struct side *from = t->from;
    struct str source = STR_NONE;
    int64_t n_writes = 0;
    progress_report(t->progress, "verifying the source again", t->n_done, t->result.rows);
    TRY(from->ops->exec(from, "COMMIT"));
    TRY(from->ops->exec(from, from->ops->sql.snapshot));
    TRY(identify_source(t, &source));
    TRY(count_writes(from, &n_writes));
    return str_eq(source, t->source) && n_writes == t->n_writes ? OK : refuse_written(t);
}

/* --- Looking at the target ------------------------------------------------------------------ */

static enum error read_mark(struct transfer *t, struct str *out_source)
{
    struct transfer_value value;
    bool found = true;
    TRY(t->to->ops->ask(t->to, "SELECT source FROM cairn_transfer", NULL, NULL, 0));
    while (found) {
        TRY(t->to->ops->next(t->to, &value, 1, &found));
        if (found)
            *out_source = arena_str(t->arena, value.bytes);
    }
    return OK;
}

static enum error refuse_target(struct transfer *t, const char *what)
{
    return problem_set(t->problem, ERR_CONFLICT,
        "the target %s: name an empty one, or one that does not exist and will be created", what);
}

static enum error check_no_rows(struct transfer *t)
{
    struct catalogue catalogue;
    TRY(catalogue_read(t->to, &catalogue));
    for (size_t i = 0; i < catalogue.n_tables; i++) {
        const char *table = catalogue.tables[i].name;
        int64_t has_rows = 0;
        if (plan_why_not_moved(table) != NULL)
            continue;
        const char *sql = arena_cstr(
            t->arena, arena_printf(t->arena, "SELECT EXISTS (SELECT 1 FROM \"%s\")", table));
        TRY(transfer_ask_numbers(t->to, sql, NULL, 0, &has_rows, 1));
        if (has_rows != 0)
            return refuse_target(t, "already contains data");
    }
    return OK;
}

/* For any version: a target that is not empty is rejected before anything is changed. */
static enum error check_empty(struct transfer *t)
{
    int64_t version, last_id = 0, last_step_id = 0;
    bool has_steps = false;
    TRY(read_version(t->to, &version));
    if (version > (int64_t)store_migration_count)
        return refuse_version(t->to, version, false);
    TRY(check_no_rows(t));
    if (version > 0)
        TRY(transfer_ask_numbers(t->to, t->to->ops->sql.last_id, NULL, 0, &last_id, 1));
    if (last_id != 0)
        return refuse_target(t, "has contained events");
    if (version > 0)
        TRY(has_table(t->to, "steps", &has_steps));
    if (has_steps)
        TRY(transfer_ask_numbers(t->to, t->to->ops->sql.last_step_id, NULL, 0, &last_step_id, 1));
    return last_step_id != 0 ? refuse_target(t, "has contained steps") : OK;
}

/* In a move, creates or migrates the target's schema, unless the target is being filled. */
static enum error open_target(struct transfer *t, bool *out_exists)
{
    bool exists = false;
    TRY(t->to->ops->open(t->to));
    if (t->to->is_open)
        TRY(has_table(t->to, "schema_versions", &exists));
    if (exists)
        TRY(has_table(t->to, "cairn_transfer", &t->is_marked));
    if (exists && !t->is_marked && t->config->mode != TRANSFER_VERIFY)
        TRY(check_empty(t));
    if (t->config->mode == TRANSFER_MOVE && !t->is_marked) {
        TRY(t->to->ops->create(t->to));
        exists = true;
    }
    if (t->config->mode == TRANSFER_VERIFY && !exists)
        return problem_set(t->problem, ERR_NOT_FOUND, "the target is not a Cairn database");
    if (exists)
        TRY(check_version(t->to, t->is_marked));
    *out_exists = exists;
    return OK;
}

static enum error make_plan(struct transfer *t, bool target_exists)
{
    struct catalogue from, to;
    TRY(catalogue_read(t->from, &from));
    if (target_exists)
        TRY(catalogue_read(t->to, &to));
    TRY(plan_make(&from, target_exists ? &to : &from, t->arena, t->problem, &t->plan));
    t->result.n_tables = t->plan.n_tables;
    t->result.tables = ARENA_ARRAY(t->arena, struct transfer_count, t->plan.n_tables);
    for (size_t i = 0; i < t->plan.n_tables; i++)
        t->result.tables[i].table = t->plan.tables[i].name;
    return OK;
}

/* A target that is being filled must have the mark of this same source. */
static enum error check_mark(struct transfer *t)
{
    struct str source = STR_NONE;
    TRY(read_mark(t, &source));
    if (!str_eq(source, t->source))
        return refuse_target(t, "is being filled from another source, or the source has changed "
                                "since that began");
    t->result.is_resumed = true;
    return OK;
}

/* --- The mark ------------------------------------------------------------------------------- */

static enum error set_mark(struct transfer *t)
{
    static const uint32_t TYPES[] = {PG_TEXT, PG_TEXT, PG_INT8};
    struct side *to = t->to;
    const struct transfer_value row[] = {{VALUE_TEXT, 0, t->source},
        {VALUE_TEXT, 0, STR(CAIRN_VERSION)}, {VALUE_INT, clock_wall_us(), STR_NONE}};
    char p = to->ops->sql.parameter;
    const char *insert = arena_cstr(t->arena,
        arena_printf(t->arena, "INSERT INTO cairn_transfer VALUES (%c1, %c2, %c3)", p, p, p));
    bool found;
    TRY(to->ops->exec(to, "BEGIN"));
    TRY(to->ops->exec(to, "CREATE TABLE cairn_transfer (source text NOT NULL,"
                          " cairn_version text NOT NULL, started_at bigint NOT NULL)"));
    TRY(to->ops->ask(to, insert, row, TYPES, COUNT_OF(row)));
    TRY(to->ops->next(to, NULL, 0, &found));
    return to->ops->exec(to, "COMMIT");
}

/* --- Copying -------------------------------------------------------------------------------- */

enum error transfer_cancelled(struct transfer *t)
{
    return problem_set(t->problem, ERR_CANCELLED, "was cancelled before it finished");
}

void transfer_report(struct transfer *t, const char *doing, const struct transfer_table *table)
{
    char stage[128];
    snprintf(stage, sizeof stage, "%s %s", doing, table->name);
    progress_report(t->progress, stage, t->n_done, t->result.rows);
}

/* Only SQLite can have a value of another type than its column's, and only if edited by hand. */
enum error transfer_next_row(struct side *side, const struct transfer_table *table,
    struct transfer_value *out_values, bool *out_found)
{
    TRY(side->ops->next(side, out_values, table->n_columns, out_found));
    for (size_t i = 0; *out_found && i < table->n_columns; i++)
        if (out_values[i].kind != VALUE_NULL && out_values[i].kind != table->columns[i].kind)
            return problem_set(side->problem, ERR_CONFLICT,
                "the %s has a value of another type than the column's in %s.%s", side->name,
                table->name, table->columns[i].name);
    return OK;
}

/* Reads the greatest key of the table in the target; out_found is false if there are no rows. */
static enum error find_last_key(struct transfer *t, const struct transfer_table *table,
    struct transfer_value *out_key, bool *out_found)
{
    struct transfer_value key[TRANSFER_MAX_COLUMNS];
    bool found = true;
    *out_found = false;
    TRY(t->to->ops->ask(t->to, plan_select_last_key(t->to, table), NULL, NULL, 0));
    while (found) {
        TRY(t->to->ops->next(t->to, key, table->n_key, &found));
        for (size_t i = 0; found && i < table->n_key; i++) {
            out_key[i] = key[i];
            if (key[i].kind != VALUE_INT)
                out_key[i].bytes = arena_str(t->arena, key[i].bytes);
            *out_found = true;
        }
    }
    return OK;
}

static enum error begin_reading(struct transfer *t, const struct transfer_table *table)
{
    struct transfer_value key[TRANSFER_MAX_COLUMNS];
    uint32_t types[TRANSFER_MAX_COLUMNS];
    bool after;
    TRY(find_last_key(t, table, key, &after));
    for (size_t i = 0; i < table->n_key; i++)
        types[i] = table->columns[table->key[i]].type[SIDE_FROM];
    return t->from->ops->ask(
        t->from, plan_select(t->from, table, after), key, types, after ? table->n_key : 0);
}

static size_t row_size(const struct transfer_table *table, const struct transfer_value *row)
{
    size_t size = 0;
    for (size_t i = 0; i < table->n_columns; i++)
        size += sizeof(int64_t) + row[i].bytes.len;
    return size;
}

/* Writes `row`, which has been read, and the rows that follow, and reads the next one. */
static enum error copy_batch(struct transfer *t, const struct transfer_table *table,
    struct transfer_value *row, uint64_t *out_count, bool *out_more)
{
    size_t size = 0;
    uint64_t count = 0;
    bool more = true;
    TRY(t->to->ops->insert_begin(t->to, table));
    while (more && count < TRANSFER_BATCH_ROWS && size < BATCH_BYTES) {
        size += row_size(table, row);
        TRY(t->to->ops->insert(t->to, row));
        count++;
        TRY(transfer_next_row(t->from, table, row, &more));
    }
    TRY(t->to->ops->insert_commit(t->to));
    *out_count = count;
    *out_more = more;
    return OK;
}

static enum error copy_table(struct transfer *t, size_t index)
{
    const struct transfer_table *table = &t->plan.tables[index];
    struct transfer_value row[TRANSFER_MAX_COLUMNS];
    bool more = true;
    TRY(begin_reading(t, table));
    TRY(transfer_next_row(t->from, table, row, &more));
    while (more) {
        uint64_t count;
        transfer_report(t, "copying", table);
        if (progress_is_cancelled(t->progress))
            return transfer_cancelled(t);
        TRY(copy_batch(t, table, row, &count, &more));
        t->result.tables[index].moved += count;
        t->result.moved += count;
        t->n_done += count;
    }
    return OK;
}

/* Rows that an earlier run has moved count as done. */
static enum error count_done(struct transfer *t)
{
    for (size_t i = 0; t->result.is_resumed && i < t->plan.n_tables; i++) {
        int64_t counts[TRANSFER_COUNTS] = {0};
        TRY(transfer_ask_numbers(
            t->to, plan_select_count(t->to, &t->plan.tables[i]), NULL, 0, counts, TRANSFER_COUNTS));
        t->n_done += (uint64_t)counts[0];
    }
    return OK;
}

static enum error copy_all(struct transfer *t)
{
    struct transfer_value last_id = {VALUE_INT, t->result.last_event_id, STR_NONE};
    struct transfer_value last_step_id = {VALUE_INT, t->result.last_step_id, STR_NONE};
    int64_t unused;
    TRY(count_done(t));
    for (size_t i = 0; i < t->plan.n_tables; i++)
        TRY(copy_table(t, i));
    TRY(transfer_ask_numbers(t->to, t->to->ops->sql.set_last_id, &last_id, PG_INT8, &unused, 1));
    TRY(transfer_ask_numbers(
        t->to, t->to->ops->sql.set_last_step_id, &last_step_id, PG_INT8, &unused, 1));
    TRY(transfer_move_files(t));
    return t->to->ops->settle(t->to, &t->plan);
}

/* --- All of it ------------------------------------------------------------------------------ */

static enum error look(struct transfer *t)
{
    bool exists = false;
    TRY(open_source(t));
    TRY(open_target(t, &exists));
    t->result.must_be_created = !exists;
    TRY(make_plan(t, exists));
    TRY(identify_source(t, &t->source));
    TRY(count_writes(t->from, &t->n_writes));
    TRY(transfer_count_files(t));
    if (t->is_marked && t->config->mode != TRANSFER_VERIFY)
        TRY(check_mark(t));
    return OK;
}

static enum error move(struct transfer *t)
{
    if (!t->is_marked)
        TRY(set_mark(t));
    TRY(copy_all(t));
    TRY(transfer_verify(t));
    TRY(t->from->ops->check_alone(t->from));
    TRY(t->to->ops->check_alone(t->to));
    TRY(check_unchanged(t));
    return t->to->ops->exec(t->to, "DROP TABLE cairn_transfer");
}

static enum error run(struct transfer *t)
{
    TRY(look(t));
    switch (t->config->mode) {
    case TRANSFER_MOVE:
        return move(t);
    case TRANSFER_VERIFY:
        return transfer_verify(t);
    case TRANSFER_DRY_RUN:
        break;
    }
    return OK;
}

enum error transfer_run(const struct transfer_config *config, struct progress *progress,
    struct arena *arena, struct problem *problem, struct transfer_result *out_result)
{
    struct transfer t = {
        .config = config, .progress = progress, .arena = arena, .problem = problem};
    t.from = side_create(&t, SIDE_FROM, &config->from);
    t.to = side_create(&t, SIDE_TO, &config->to);
    enum error e = run(&t);
    t.from->ops->close(t.from);
    t.to->ops->close(t.to);
    if (e == OK)
        *out_result = t.result;
    return e;
}
