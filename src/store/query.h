/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One execution of a named statement, on either engine. Parameters are bound by name and columns
 * are read in the order of the SELECT list. Errors are sticky: after the first one every call does
 * nothing and query_end returns it, so the caller checks once.
 *
 *   #include "model/threads/threads.sql.h"
 *
 *   struct query q;
 *   query_begin(&q, tx, &SQL_THREAD_GET, arena);
 *   query_uuid(&q, tenant_id, tenant);
 *   while (query_next(&q))
 *       thread_read(&q, &thread);
 *   return query_end(&q);
 *
 * Text and bytes that are read are copied into the arena given to query_begin. PostgreSQL may
 * execute a statement without rows later: a later statement or the commit then reports its error,
 * and the job fails all the same. query_run_counted waits for the result.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "base/enum.h"
#include "base/error.h"
#include "base/uuid.h"

enum store_engine { ENGINE_SQLITE, ENGINE_POSTGRES, ENGINE_COUNT };

enum sql_type { SQL_UUID, SQL_INT, SQL_BOOL, SQL_TEXT, SQL_JSON, SQL_BYTES };

/* Generated from the .sql files; `index` is the position in the table of all statements. */
struct sql_statement {
    unsigned index;
    unsigned n_params;
    const char *name;
    const char *text[ENGINE_COUNT];
    const char *const *params;
    const enum sql_type *types; /* of the parameters */
    bool writes;
    bool is_page; /* its first column is the size of the row: see model/page.h */
};

struct tx;

struct query {
    struct tx *tx;
    const struct sql_statement *statement;
    struct arena *arena;
    void *handle;
    unsigned column;
    unsigned next_param; /* a guess: most callers bind in the order of the statement */
    enum error error;
    /* Bound ids, to which the engine points: the query must not move until it ends. */
    unsigned n_small;
    char small[4 * sizeof(struct uuid)];
};

void query_begin(
    struct query *q, struct tx *tx, const struct sql_statement *statement, struct arena *arena);

/*
 * Binds a parameter. The name is written without quotes: the header generated from the .sql file
 * defines PARAM_UUID_tenant_id for a parameter :tenant_id of type uuid, so a misspelled name or
 * a wrong type does not compile. A parameter that is not bound is NULL, and so is one bound to
 * STR_NONE. Text must live until query_end; bytes are copied. The _if forms bind if `has` is true.
 */
#define query_text(q, param, ...) query_bind_text(q, PARAM_TEXT_##param, __VA_ARGS__)
#define query_bytes(q, param, ...) query_bind_bytes(q, PARAM_BYTES_##param, __VA_ARGS__)
#define query_i64(q, param, ...) query_bind_i64(q, PARAM_I64_##param, __VA_ARGS__)
#define query_bool(q, param, ...) query_bind_bool(q, PARAM_BOOL_##param, __VA_ARGS__)
#define query_uuid(q, param, ...) query_bind_uuid(q, PARAM_UUID_##param, __VA_ARGS__)
/* (q, param, has, value) */
#define query_i64_if(q, param, ...) query_bind_i64_if(q, PARAM_I64_##param, __VA_ARGS__)
#define query_uuid_if(q, param, ...) query_bind_uuid_if(q, PARAM_UUID_##param, __VA_ARGS__)
/* Returns true if the statement has this parameter. */
#define statement_takes(statement, param) statement_has_param(statement, PARAM_##param)

/* The same for names that are known only at run time. Binding a parameter that the statement does
 * not have, or that has another type, aborts. */
void query_bind_text(struct query *q, const char *param, struct str value);
void query_bind_bytes(struct query *q, const char *param, struct str value);
void query_bind_i64(struct query *q, const char *param, int64_t value);
void query_bind_bool(struct query *q, const char *param, bool value);
void query_bind_uuid(struct query *q, const char *param, struct uuid value);
void query_bind_i64_if(struct query *q, const char *param, bool has, int64_t value);
void query_bind_uuid_if(struct query *q, const char *param, bool has, struct uuid value);
bool statement_has_param(const struct sql_statement *statement, const char *param);

/* Sends the statement without waiting for its rows, where the engine can; query_next waits. The
 * bound values must live until then. */
void query_send(struct query *q);
/* Returns true if there is another row to read. */
bool query_next(struct query *q);
MUST_CHECK enum error query_end(struct query *q);
/* For statements without rows: executes the statement and ends the query. */
MUST_CHECK enum error query_run(struct query *q);
/* The same, and returns the number of changed rows. */
MUST_CHECK enum error query_run_counted(struct query *q, int64_t *out_changed);

/* Return the next column of the current row. The _if forms return false if it is NULL. */
struct str row_text(struct query *q);
struct str row_bytes(struct query *q);
int64_t row_i64(struct query *q);
bool row_bool(struct query *q);
struct uuid row_uuid(struct query *q);
bool row_i64_if(struct query *q, int64_t *out_value);
bool row_uuid_if(struct query *q, struct uuid *out_value);
bool row_bool_if(struct query *q, bool *out_value);
/* The value of a word of the list (base/enum.h), 0 for NULL. A word that the list does not have is
 * ERR_DAMAGED. */
unsigned row_enum(struct query *q, const char *const *words);

#endif
