/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "store/transfer_side.h"

/* --- Differences between the engines -------------------------------------------------------- */

#define MADE_ANEW "the target builds its own index of words"

static const struct {
    const char *table;
    const char *why;
} NOT_MOVED[] = {
    {"blob_chunks", "only PostgreSQL has it: content is moved with its row in blobs"},
    {"blob_garbage", "only PostgreSQL has it: its content is already removed"},
    {"cairn_transfer", "it marks its own database as incomplete"},
    {"event_floor", "only SQLite has it; its last id is moved as a number"},
    {"event_index", "only SQLite has it, and builds it from the events"},
    {"message_words", MADE_ANEW},
    {"message_words_config", MADE_ANEW},
    {"message_words_content", MADE_ANEW},
    {"message_words_data", MADE_ANEW},
    {"message_words_idx", MADE_ANEW},
    {"store_words", MADE_ANEW},
    {"store_words_config", MADE_ANEW},
    {"store_words_content", MADE_ANEW},
    {"store_words_data", MADE_ANEW},
    {"store_words_idx", MADE_ANEW},
    {"uploads", "an unfinished upload is not content yet: clients start it again"},
    {"schema_versions", "each database records its own migrations"},
};

/* Tables whose order is not that of the primary key on both sides. */
static const struct {
    const char *table;
    const char *columns[2];
} KEYS[] = {
    /* SQLite stores events by id, PostgreSQL by thread and seq. Both have an index by id, which is
     * the order of commits. */
    {"events", {"tenant_id", "id"}},
    {"messages", {"tenant_id", "id"}},
    {"steps", {"tenant_id", "log_id"}},
    {"store_items", {"tenant_id", "number"}},
};

#define NO_NUMBER "CAST(NULL AS bigint)"

/* Values that one engine stores elsewhere. The target gets values that are right for both. */
static const struct {
    const char *table;
    const char *column;
    const char *text[ENGINE_COUNT]; /* NULL: unchanged */
} CANONICAL[] = {
    /* SQLite's one writer counts in memory; see 0001_foundation.sql. */
    {"threads", "last_seq",
        {"(SELECT l.last_seq FROM thread_last_seqs AS l"
         " WHERE l.tenant_id = t.tenant_id AND l.thread_id = t.id)",
            NULL}},
    /* The server builds the index of words: see NOT_MOVED. */
    {"messages", "is_searchable", {"0", "false"}},
    {"store_items", "is_searchable", {"0", "false"}},
    /* The target would count each copied row twice. The server counts at its start. */
    {"tenant_usage", "threads", {NO_NUMBER, NO_NUMBER}},
    {"tenant_usage", "bytes", {NO_NUMBER, NO_NUMBER}},
    /* On PostgreSQL the column covers only deleted threads; see event_bounds_tenant. */
    {"tenants", "pruned_event_id",
        {NULL, "greatest(t.pruned_event_id, (SELECT max(p.pruned_event_id) FROM threads AS p"
               " WHERE p.tenant_id = t.id AND p.pruned_event_id > 0))"}},
};

const char *plan_why_not_moved(const char *table)
{
    for (size_t i = 0; i < COUNT_OF(NOT_MOVED); i++)
        if (strcmp(NOT_MOVED[i].table, table) == 0)
            return NOT_MOVED[i].why;
    return NULL;
}

/* --- Catalogues ----------------------------------------------------------------------------- */

static enum error too_many(struct side *side, const char *what)
{
    return problem_set(side->problem, ERR_INTERNAL,
        "the %s has more %s than cairn migrate supports", side->name, what);
}

/* Returns the table of this name, which is the last one or a new one: rows are sorted by name. */
static struct catalogue_table *table_for(struct side *side, struct catalogue *c, struct str name)
{
    struct catalogue_table *last = c->n_tables > 0 ? &c->tables[c->n_tables - 1] : NULL;
    if (last != NULL && str_eq(str_of(last->name), name))
        return last;
    if (c->n_tables == TRANSFER_MAX_TABLES)
        return NULL;
    c->tables[c->n_tables].name = arena_cstr(side->arena, name);
    return &c->tables[c->n_tables++];
}

static enum error add_column(
    struct side *side, struct catalogue *c, const struct transfer_value *row)
{
    struct catalogue_table *table = table_for(side, c, row[0].bytes);
    if (table == NULL || table->n_columns == TRANSFER_MAX_COLUMNS)
        return too_many(side, table == NULL ? "tables" : "columns in a table");
    table->columns[table->n_columns++] = (struct catalogue_column){
        .name = arena_cstr(side->arena, row[1].bytes),
        .kind = (enum transfer_kind)row[2].number,
        .type = (uint32_t)row[3].number,
        .key_place = (unsigned)row[4].number,
    };
    return OK;
}

static enum error read_columns(struct side *side, struct catalogue *c)
{
    struct transfer_value row[5];
    bool found = true;
    TRY(side->ops->ask(side, side->ops->sql.columns, NULL, NULL, 0));
    while (found) {
        TRY(side->ops->next(side, row, 5, &found));
        if (found)
            TRY(add_column(side, c, row));
    }
    return OK;
}

static enum error read_parents(struct side *side, struct catalogue *c)
{
    struct transfer_value row[2];
    bool found = true;
    TRY(side->ops->ask(side, side->ops->sql.parents, NULL, NULL, 0));
    while (found) {
        TRY(side->ops->next(side, row, 2, &found));
        if (!found)
            return OK;
        if (c->n_parents == TRANSFER_MAX_PARENTS)
            return too_many(side, "foreign keys");
        c->parents[c->n_parents].child = arena_cstr(side->arena, row[0].bytes);
        c->parents[c->n_parents++].parent = arena_cstr(side->arena, row[1].bytes);
    }
    return OK;
}

enum error catalogue_read(struct side *side, struct catalogue *out_catalogue)
{
    *out_catalogue = (struct catalogue){0};
    out_catalogue->tables = ARENA_ARRAY(side->arena, struct catalogue_table, TRANSFER_MAX_TABLES);
    TRY(read_columns(side, out_catalogue));
    return read_parents(side, out_catalogue);
}

static const struct catalogue_table *find_table(const struct catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->n_tables; i++)
        if (strcmp(c->tables[i].name, name) == 0)
            return &c->tables[i];
    return NULL;
}

static const struct catalogue_column *find_column(
    const struct catalogue_table *table, const char *name)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

/* --- One table ------------------------------------------------------------------------------ */

static enum error check_column(const struct catalogue_table *table,
    const struct catalogue_column *column, const struct catalogue_table *other, const char *only_in,
    struct problem *problem)
{
    const struct catalogue_column *twin = find_column(other, column->name);
    if (twin == NULL)
        return problem_set(problem, ERR_CONFLICT,
            "the column %s.%s exists only in the %s: both sides must have the same schema",
            table->name, column->name, only_in);
    if (column->kind == VALUE_NULL || column->kind != twin->kind)
        return problem_set(problem, ERR_CONFLICT,
            "the column %s.%s has a type that cannot be converted to the other side's type",
            table->name, column->name);
    return OK;
}

static enum error add_columns(struct transfer_table *out, const struct catalogue_table *from,
    const struct catalogue_table *to, struct problem *problem)
{
    for (size_t i = 0; i < to->n_columns; i++)
        TRY(check_column(to, &to->columns[i], from, "target", problem));
    for (size_t i = 0; i < from->n_columns; i++) {
        const struct catalogue_column *column = &from->columns[i];
        TRY(check_column(from, column, to, "source", problem));
        out->columns[out->n_columns++] = (struct transfer_column){.name = column->name,
            .kind = column->kind,
            .type = {column->type, find_column(to, column->name)->type}};
        out->has_version |= strcmp(column->name, "version") == 0 && column->kind == VALUE_INT;
    }
    return OK;
}

static void add_key_column(struct transfer_table *out, const char *name)
{
    for (size_t i = 0; i < out->n_columns; i++)
        if (strcmp(out->columns[i].name, name) == 0)
            out->key[out->n_key++] = i;
}

/* The columns of the primary key have the same positions on both sides, unless KEYS has the
 * table. */
static enum error add_key(struct transfer_table *out, const struct catalogue_table *from,
    const struct catalogue_table *to, struct problem *problem)
{
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        if (strcmp(KEYS[i].table, out->name) != 0)
            continue;
        for (size_t k = 0; k < COUNT_OF(KEYS[i].columns); k++)
            add_key_column(out, KEYS[i].columns[k]);
        return OK;
    }
    for (unsigned place = 1; place <= from->n_columns; place++)
        for (size_t i = 0; i < from->n_columns; i++)
            if (from->columns[i].key_place == place)
                add_key_column(out, from->columns[i].name);
    for (size_t i = 0; i < from->n_columns; i++)
        if (from->columns[i].key_place != find_column(to, from->columns[i].name)->key_place)
            return problem_set(problem, ERR_CONFLICT,
                "the table %s has different primary keys in the source and in the target",
                out->name);
    if (out->n_key == 0)
        return problem_set(problem, ERR_CONFLICT, "the table %s has no primary key", out->name);
    return OK;
}

static enum error plan_table(struct transfer_table *out, const struct catalogue_table *from,
    const struct catalogue_table *to, struct problem *problem)
{
    *out = (struct transfer_table){.name = from->name};
    TRY(add_columns(out, from, to, problem));
    return add_key(out, from, to, problem);
}

/* --- All of them ---------------------------------------------------------------------------- */

static enum error check_tables(const struct catalogue *one, const struct catalogue *other,
    const char *only_in, struct problem *problem)
{
    for (size_t i = 0; i < one->n_tables; i++) {
        const char *name = one->tables[i].name;
        if (plan_why_not_moved(name) == NULL && find_table(other, name) == NULL)
            return problem_set(problem, ERR_CONFLICT,
                "the table %s exists only in the %s: both sides must have the same schema", name,
                only_in);
    }
    return OK;
}

static bool is_planned(const struct transfer_plan *plan, const char *table)
{
    for (size_t i = 0; i < plan->n_tables; i++)
        if (strcmp(plan->tables[i].name, table) == 0)
            return true;
    return false;
}

/* Returns true if all tables that this one refers to are already in the plan. */
static bool is_next(const struct catalogue *c, const struct transfer_plan *plan, const char *table)
{
    if (plan_why_not_moved(table) != NULL || is_planned(plan, table))
        return false;
    for (size_t i = 0; i < c->n_parents; i++)
        if (strcmp(c->parents[i].child, table) == 0 && strcmp(c->parents[i].parent, table) != 0 &&
            !is_planned(plan, c->parents[i].parent))
            return false;
    return true;
}

enum error plan_make(const struct catalogue *from, const struct catalogue *to, struct arena *arena,
    struct problem *problem, struct transfer_plan *out_plan)
{
    struct transfer_plan plan = {0};
    size_t n_left = 0;
    TRY(check_tables(from, to, "source", problem));
    TRY(check_tables(to, from, "target", problem));
    for (size_t i = 0; i < to->n_tables; i++)
        n_left += plan_why_not_moved(to->tables[i].name) == NULL;
    plan.tables = ARENA_ARRAY(arena, struct transfer_table, n_left);
    while (plan.n_tables < n_left) {
        size_t before = plan.n_tables;
        for (size_t i = 0; i < to->n_tables; i++) {
            const struct catalogue_table *table = &to->tables[i];
            if (is_next(to, &plan, table->name))
                TRY(plan_table(
                    &plan.tables[plan.n_tables++], find_table(from, table->name), table, problem));
        }
        if (plan.n_tables == before)
            return problem_set(
                problem, ERR_INTERNAL, "the foreign keys of the tables form a cycle");
    }
    *out_plan = plan;
    return OK;
}

/* --- Statements ----------------------------------------------------------------------------- */

enum { MAX_SQL_BYTES = 64 * 1024 };

static const char *take_sql(const struct side *side, struct buf *sql)
{
    assert(!sql->failed);
    const char *text = arena_cstr(side->arena, buf_str(sql));
    buf_deinit(sql);
    return text;
}

static void write_column(struct buf *sql, const struct side *side,
    const struct transfer_table *table, const char *column)
{
    for (size_t i = 0; i < COUNT_OF(CANONICAL); i++) {
        const char *text = CANONICAL[i].text[side->place->engine];
        if (text != NULL && strcmp(CANONICAL[i].table, table->name) == 0 &&
            strcmp(CANONICAL[i].column, column) == 0) {
            buf_append(sql, str_of(text));
            return;
        }
    }
    buf_printf(sql, "t.\"%s\"", column);
}

/* Writes the columns of the key with the collation that defines their order. */
static void write_key(struct buf *sql, const struct side *side, const struct transfer_table *table,
    const char *direction)
{
    for (size_t i = 0; i < table->n_key; i++) {
        const struct transfer_column *column = &table->columns[table->key[i]];
        buf_printf(sql, "%st.\"%s\"%s%s", i > 0 ? ", " : "", column->name,
            column->kind == VALUE_TEXT ? side->ops->sql.by_bytes : "", direction);
    }
}

static void write_parameters(struct buf *sql, const struct side *side, size_t n)
{
    for (size_t i = 1; i <= n; i++)
        buf_printf(sql, "%s%c%zu", i > 1 ? ", " : "", side->ops->sql.parameter, i);
}

const char *plan_select(const struct side *side, const struct transfer_table *table, bool after)
{
    struct buf sql = BUF_INIT(MAX_SQL_BYTES);
    for (size_t i = 0; i < table->n_columns; i++) {
        buf_append(&sql, str_of(i == 0 ? "SELECT " : ", "));
        write_column(&sql, side, table, table->columns[i].name);
    }
    buf_printf(&sql, " FROM \"%s\" AS t", table->name);
    if (after) {
        buf_append(&sql, STR(" WHERE ("));
        write_key(&sql, side, table, "");
        buf_append(&sql, STR(") > ("));
        write_parameters(&sql, side, table->n_key);
        buf_append(&sql, STR(")"));
    }
    buf_append(&sql, STR(" ORDER BY "));
    write_key(&sql, side, table, "");
    return take_sql(side, &sql);
}

const char *plan_select_last_key(const struct side *side, const struct transfer_table *table)
{
    struct buf sql = BUF_INIT(MAX_SQL_BYTES);
    buf_append(&sql, STR("SELECT "));
    write_key(&sql, side, table, "");
    buf_printf(&sql, " FROM \"%s\" AS t ORDER BY ", table->name);
    write_key(&sql, side, table, " DESC");
    buf_append(&sql, STR(" LIMIT 1"));
    return take_sql(side, &sql);
}

const char *plan_insert(const struct side *side, const struct transfer_table *table)
{
    struct buf sql = BUF_INIT(MAX_SQL_BYTES);
    buf_printf(&sql, "INSERT INTO \"%s\" (", table->name);
    for (size_t i = 0; i < table->n_columns; i++)
        buf_printf(&sql, "%s\"%s\"", i > 0 ? ", " : "", table->columns[i].name);
    buf_append(&sql, STR(") VALUES ("));
    write_parameters(&sql, side, table->n_columns);
    buf_append(&sql, STR(")"));
    return take_sql(side, &sql);
}

const char *plan_select_count(const struct side *side, const struct transfer_table *table)
{
    struct buf sql = BUF_INIT(MAX_SQL_BYTES);
    buf_printf(&sql, "SELECT count(*), CAST(%s AS bigint), CAST(%s AS bigint) FROM \"%s\" AS t",
        table->has_version ? "coalesce(sum(t.version), 0)" : "0", side->ops->sql.origin,
        table->name);
    return take_sql(side, &sql);
}
