/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a named statement, on either engine. Parameters are bound by name, columns are read in
 * the order of the SELECT list. Errors stick: after the first one every call does nothing and
 * query_end returns it, so a caller checks once.
 *
 *   struct query q;
 *   query_begin(&q, tx, &SQL_THREAD_GET, arena);
 *   query_uuid(&q, "tenant_id", tenant);
 *   while (query_next(&q))
 *       thread_read(&q, &thread);
 *   return query_end(&q);
 *
 * Text and bytes that are read are copied into the arena given at the start. PostgreSQL may carry
 * out a statement without rows later: its error then comes with a later statement, or with the
 * commit, and fails the job all the same. query_run_counted waits for it.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "base/enum.h"
#include "base/error.h"
#include "base/uuid.h"

enum store_engine { ENGINE_SQLITE, ENGINE_POSTGRES, ENGINE_COUNT };

enum sql_type { SQL_UUID, SQL_INT, SQL_BOOL, SQL_TEXT, SQL_JSON, SQL_BYTES };

/* Generated from the .sql files; `index` is its place in the table of all statements. */
struct sql_statement {
    unsigned index;
    unsigned n_params;
    const char *name;
    const char *text[ENGINE_COUNT];
    const char *const *params;
    const enum sql_type *types; /* of the parameters */
    bool writes;
};

struct tx;

struct query {
    struct tx *tx;
    const struct sql_statement *statement;
    struct arena *arena;
    void *handle;
    unsigned column;
    unsigned next_param; /* probably */
    enum error error;
    /* Ids that were bound, for the engine: the query must not move until it ends. */
    unsigned n_small;
    char small[4 * sizeof(struct uuid)];
};

/* Whether it has a parameter of this name. */
bool statement_takes(const struct sql_statement *statement, const char *param);

void query_begin(
    struct query *q, struct tx *tx, const struct sql_statement *statement, struct arena *arena);

/* A parameter that is not bound is NULL; so is one bound to STR_NONE. Text must live until
 * query_end; bytes are copied. */
void query_text(struct query *q, const char *param, struct str value);
void query_bytes(struct query *q, const char *param, struct str value);
void query_i64(struct query *q, const char *param, int64_t value);
void query_bool(struct query *q, const char *param, bool value);
void query_uuid(struct query *q, const char *param, struct uuid value);
void query_i64_if(struct query *q, const char *param, bool has, int64_t value);
void query_uuid_if(struct query *q, const char *param, bool has, struct uuid value);

/* Sends it without waiting for its rows, where that is possible; query_next waits. Until then
 * nothing that was bound may go. */
void query_send(struct query *q);
/* True while there is a row to read. */
bool query_next(struct query *q);
MUST_CHECK enum error query_end(struct query *q);
/* For statements without rows: runs and ends it. */
MUST_CHECK enum error query_run(struct query *q);
/* The same, and tells how many rows were changed. */
MUST_CHECK enum error query_run_counted(struct query *q, int64_t *out_changed);

/* The next column of the current row. The _if forms return whether it was not NULL. */
struct str row_text(struct query *q);
struct str row_bytes(struct query *q);
int64_t row_i64(struct query *q);
bool row_bool(struct query *q);
struct uuid row_uuid(struct query *q);
bool row_i64_if(struct query *q, int64_t *out_value);
bool row_uuid_if(struct query *q, struct uuid *out_value);
/* The value of a word of the list (base/enum.h), 0 for NULL. A word that the list does not have is
 * ERR_DAMAGED. */
unsigned row_enum(struct query *q, const char *const *words);

#endif
