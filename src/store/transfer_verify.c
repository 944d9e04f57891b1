/* SPDX-License-Identifier: Apache-2.0 */
#include "base/uuid.h"
#include "store/transfer_state.h"

/* --- The canonical form --------------------------------------------------------------------- */

void transfer_hash_u64(struct sha256_state *hash, uint64_t number)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(number >> (56 - 8 * i));
    sha256_add(hash, (struct str){bytes, sizeof bytes});
}

void transfer_hash_str(struct sha256_state *hash, struct str bytes)
{
    transfer_hash_u64(hash, bytes.len);
    sha256_add(hash, bytes);
}

static void hash_row(
    struct sha256_state *hash, const struct transfer_table *table, const struct transfer_value *row)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        char kind = (char)row[i].kind;
        sha256_add(hash, (struct str){&kind, 1});
        if (row[i].kind == VALUE_INT)
            transfer_hash_u64(hash, (uint64_t)row[i].number);
        else if (row[i].kind != VALUE_NULL)
            transfer_hash_str(hash, row[i].bytes);
    }
}

static struct sha256_state *hash_begin(const struct transfer_table *table)
{
    struct sha256_state *hash = sha256_create();
    transfer_hash_str(hash, str_of(table->name));
    transfer_hash_u64(hash, table->n_columns);
    for (size_t i = 0; i < table->n_columns; i++)
        transfer_hash_str(hash, str_of(table->columns[i].name));
    return hash;
}

enum error transfer_hash_table(
    struct side *side, const struct transfer_table *table, struct sha256 *out_hash)
{
    struct transfer_value row[TRANSFER_MAX_COLUMNS];
    struct sha256_state *hash CLEANUP(sha256_freep) = hash_begin(table);
    bool found = true;
    TRY(side->ops->ask(side, plan_select(side, table, false), NULL, NULL, 0));
    while (found) {
        TRY(transfer_next_row(side, table, row, &found));
        if (found)
            hash_row(hash, table, row);
    }
    *out_hash = sha256_so_far(hash);
    return OK;
}

/* --- Verifying ------------------------------------------------------------------------------ */

static bool values_eq(const struct transfer_value *a, const struct transfer_value *b)
{
    return a->kind == b->kind &&
           (a->kind == VALUE_INT ? a->number == b->number : str_eq(a->bytes, b->bytes));
}

static bool rows_eq(const struct transfer_table *table, const struct transfer_value *a,
    const struct transfer_value *b)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (!values_eq(&a[i], &b[i]))
            return false;
    return true;
}

/* Formats a value of a key for people. */
static struct str show(struct arena *arena, const struct transfer_value *value)
{
    struct uuid id;
    char text[UUID_TEXT_LEN];
    if (value->kind == VALUE_INT)
        return arena_printf(arena, "%lld", (long long)value->number);
    if (value->kind != VALUE_BYTES)
        return arena_printf(arena, "\"%.*s\"", STR_ARG(str_slice(value->bytes, 0, 80)));
    if (value->bytes.len != sizeof id)
        return hex_encode(arena, str_slice(value->bytes, 0, 32));
    memcpy(&id, value->bytes.ptr, sizeof id);
    uuid_format(id, text);
    return arena_str(arena, (struct str){text, sizeof text});
}

static struct str show_key(
    struct arena *arena, const struct transfer_table *table, const struct transfer_value *row)
{
    struct str text = STR("");
    for (size_t i = 0; i < table->n_key; i++)
        text = arena_printf(arena, "%.*s%s%s %.*s", STR_ARG(text), i > 0 ? ", " : "",
            table->columns[table->key[i]].name, STR_ARG(show(arena, &row[table->key[i]])));
    return text;
}

static void add_fault(struct transfer *t, const char *what, struct str where)
{
    bool first = str_is_none(t->faults);
    t->faults = arena_printf(
        t->arena, "%.*s%s%s (%.*s)", STR_ARG(t->faults), first ? "" : ", ", what, STR_ARG(where));
}

/* Reads a row of a side that has another one. */
static enum error advance(struct side *side, const struct transfer_table *table,
    struct sha256_state *hash, struct transfer_value *row, bool *more)
{
    if (!*more)
        return OK;
    TRY(transfer_next_row(side, table, row, more));
    if (*more)
        hash_row(hash, table, row);
    return OK;
}

/* Reads both sides in step, to name the first row that differs. */
static enum error compare_rows(struct transfer *t, const struct transfer_table *table,
    struct sha256_state *hashes[2], struct str *out_where)
{
    struct transfer_value rows[2][TRANSFER_MAX_COLUMNS];
    bool more[2] = {true, true};
    enum error e = OK;
    for (uint64_t n = 0; e == OK && (more[0] || more[1]); n++) {
        if (n % TRANSFER_BATCH_ROWS == 0) {
            transfer_report(t, "verifying", table);
            if (progress_is_cancelled(t->progress))
                return transfer_cancelled(t);
        }
        e = advance(t->from, table, hashes[0], rows[0], &more[0]);
        if (e == OK)
            e = advance(t->to, table, hashes[1], rows[1], &more[1]);
        t->n_done += e == OK && more[0];
        if (e != OK || !str_is_none(*out_where) || (!more[0] && !more[1]))
            continue;
        if (more[0] != more[1] || !rows_eq(table, rows[0], rows[1]))
            *out_where = arena_printf(t->arena, "first at %.*s",
                STR_ARG(show_key(t->arena, table, rows[more[0] ? 0 : 1])));
    }
    return e;
}

static enum error verify_table(struct transfer *t, size_t index)
{
    const struct transfer_table *table = &t->plan.tables[index];
    struct sha256_state *states[2] = {hash_begin(table), hash_begin(table)};
    struct str where = STR_NONE;
    enum error e = t->from->ops->ask(t->from, plan_select(t->from, table, false), NULL, NULL, 0);
    if (e == OK)
        e = t->to->ops->ask(t->to, plan_select(t->to, table, false), NULL, NULL, 0);
    if (e == OK)
        e = compare_rows(t, table, states, &where);
    struct sha256 hashes[2] = {sha256_finish(states[0]), sha256_finish(states[1])};
    if (e == OK && memcmp(&hashes[0], &hashes[1], sizeof hashes[0]) != 0)
        add_fault(t, table->name, str_is_none(where) ? STR("its rows") : where);
    t->result.tables[index].hash = hashes[0];
    return e;
}

static enum error verify_last_id(
    struct transfer *t, const char *sql, const char *what, int64_t expected)
{
    int64_t last_id = 0;
    TRY(transfer_ask_numbers(t->to, sql, NULL, 0, &last_id, 1));
    if (last_id != expected)
        add_fault(t, what,
            arena_printf(
                t->arena, "%lld instead of %lld", (long long)last_id, (long long)expected));
    return OK;
}

static struct sha256 hash_all(const struct transfer_result *result)
{
    struct sha256_state *hash = sha256_create();
    transfer_hash_u64(hash, (uint64_t)result->last_event_id);
    transfer_hash_u64(hash, (uint64_t)result->last_step_id);
    for (size_t i = 0; i < result->n_tables; i++) {
        const struct transfer_count *table = &result->tables[i];
        transfer_hash_str(hash, str_of(table->table));
        transfer_hash_str(
            hash, (struct str){(const char *)table->hash.bytes, sizeof table->hash.bytes});
    }
    return sha256_finish(hash);
}

enum error transfer_verify(struct transfer *t)
{
    t->n_done = 0;
    for (size_t i = 0; i < t->plan.n_tables; i++)
        TRY(verify_table(t, i));
    TRY(verify_last_id(t, t->to->ops->sql.last_id, "the last event id", t->result.last_event_id));
    TRY(verify_last_id(t, t->to->ops->sql.last_step_id, "the last log_id", t->result.last_step_id));
    if (!str_is_none(t->faults))
        return problem_set(t->problem, ERR_CONFLICT,
            "the verification failed, the target differs in: %.*s", STR_ARG(t->faults));
    t->result.hash = hash_all(&t->result);
    return transfer_verify_files(t);
}
