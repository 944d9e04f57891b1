/* SPDX-License-Identifier: Apache-2.0 */
#include "store/query.h"

#include "store/engine.h"

bool statement_has_param(const struct sql_statement *statement, const char *param)
{
    for (unsigned i = 0; i < statement->n_params; i++)
        if (strcmp(statement->params[i], param) == 0)
            return true;
    return false;
}

static const struct engine_ops *ops_of(const struct query *q)
{
    return q->tx->store->ops;
}

void query_begin(
    struct query *q, struct tx *tx, const struct sql_statement *statement, struct arena *arena)
{
    q->tx = tx;
    q->statement = statement;
    q->arena = arena;
    q->handle = NULL;
    q->column = 0;
    q->error = OK;
    q->next_param = 0;
    q->n_small = 0;
    if (tx->rehearses && statement->writes)
        q->error = ERR_CANCELLED;
    else
        ops_of(q)->begin(q);
}

/* The compiler has checked names and types of literal parameters, and tools/verify_sql.py has
 * checked them against the statements that it can determine. This is the check for all others. */
static unsigned param_index(struct query *q, const char *param, unsigned types)
{
    const struct sql_statement *s = q->statement;
    /* Equal literals usually have the same address, so that most binds compare one pointer. */
    for (unsigned n = 0, i = q->next_param; n < s->n_params; n++, i++) {
        i = i < s->n_params ? i : 0;
        bool is_same = s->params[i] == param || strcmp(s->params[i], param) == 0;
        if (is_same && (types & (1u << s->types[i])) != 0) {
            q->next_param = i + 1;
            return i;
        }
    }
    fprintf(stderr, "statement %s has no parameter :%s of this type\n", s->name, param);
    abort();
}

void query_bind_text(struct query *q, const char *param, struct str value)
{
    unsigned index = param_index(q, param, 1u << SQL_TEXT | 1u << SQL_JSON);
    if (q->error == OK && !str_is_none(value))
        ops_of(q)->bind_text(q, index, value);
}

static void bind_bytes_at(struct query *q, unsigned index, struct str value)
{
    if (q->error == OK && !str_is_none(value))
        ops_of(q)->bind_bytes(q, index, value);
}

static void bind_i64_at(struct query *q, unsigned index, int64_t value)
{
    if (q->error == OK)
        ops_of(q)->bind_i64(q, index, value);
}

void query_bind_bytes(struct query *q, const char *param, struct str value)
{
    bind_bytes_at(q, param_index(q, param, 1u << SQL_BYTES), value);
}

void query_bind_i64(struct query *q, const char *param, int64_t value)
{
    bind_i64_at(q, param_index(q, param, 1u << SQL_INT), value);
}

void query_bind_bool(struct query *q, const char *param, bool value)
{
    bind_i64_at(q, param_index(q, param, 1u << SQL_BOOL), value);
}

void query_bind_uuid(struct query *q, const char *param, struct uuid value)
{
    bind_bytes_at(q, param_index(q, param, 1u << SQL_UUID),
        (struct str){(const char *)value.bytes, sizeof value.bytes});
}

void query_bind_i64_if(struct query *q, const char *param, bool has, int64_t value)
{
    if (has)
        query_bind_i64(q, param, value);
}

void query_bind_uuid_if(struct query *q, const char *param, bool has, struct uuid value)
{
    if (has)
        query_bind_uuid(q, param, value);
}

void query_send(struct query *q)
{
    if (q->error == OK && ops_of(q)->send != NULL)
        ops_of(q)->send(q);
}

bool query_next(struct query *q)
{
    q->column = 0;
    return q->error == OK && ops_of(q)->next(q);
}

enum error query_end(struct query *q)
{
    if (q->handle != NULL)
        ops_of(q)->end(q);
    q->handle = NULL;
    return q->error;
}

enum error query_run(struct query *q)
{
    if (q->error == OK)
        ops_of(q)->run(q);
    return query_end(q);
}

enum error query_run_counted(struct query *q, int64_t *out_changed)
{
    while (query_next(q)) {
    }
    if (q->error == OK)
        *out_changed = ops_of(q)->changed(q);
    return query_end(q);
}

struct str row_text(struct query *q)
{
    unsigned column = q->column++;
    if (ops_of(q)->is_null(q, column))
        return STR_NONE;
    return arena_str(q->arena, ops_of(q)->get_text(q, column));
}

struct str row_bytes(struct query *q)
{
    unsigned column = q->column++;
    if (ops_of(q)->is_null(q, column))
        return STR_NONE;
    return arena_str(q->arena, ops_of(q)->get_bytes(q, column));
}

int64_t row_i64(struct query *q)
{
    return ops_of(q)->get_i64(q, q->column++);
}

bool row_bool(struct query *q)
{
    return row_i64(q) != 0;
}

struct uuid row_uuid(struct query *q)
{
    struct uuid id = UUID_NIL;
    row_uuid_if(q, &id);
    return id;
}

bool row_i64_if(struct query *q, int64_t *out_value)
{
    unsigned column = q->column++;
    if (ops_of(q)->is_null(q, column))
        return false;
    *out_value = ops_of(q)->get_i64(q, column);
    return true;
}

bool row_bool_if(struct query *q, bool *out_value)
{
    unsigned column = q->column++;
    if (ops_of(q)->is_null(q, column))
        return false;
    *out_value = ops_of(q)->get_i64(q, column) != 0;
    return true;
}

bool row_uuid_if(struct query *q, struct uuid *out_value)
{
    unsigned column = q->column++;
    if (ops_of(q)->is_null(q, column))
        return false;
    struct str bytes = ops_of(q)->get_bytes(q, column);
    if (bytes.len != sizeof out_value->bytes)
        return false;
    memcpy(out_value->bytes, bytes.ptr, bytes.len);
    return true;
}

unsigned row_enum(struct query *q, const char *const *words)
{
    unsigned column = q->column++;
    if (ops_of(q)->is_null(q, column))
        return 0;
    unsigned value = enum_parse(words, ops_of(q)->get_text(q, column));
    if (value == 0 && q->error == OK) {
        tx_note_damage(q->tx);
        q->error = ERR_DAMAGED;
    }
    return value;
}
