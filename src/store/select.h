/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SELECT that a person wrote, on the views of one tenant, while the database is served or not.
 *
 * The statement is not trusted. It sees the views of docs/sql.md, with the rows of the tenant; no
 * table, no catalogue, no other tenant. It can call functions that compute, and none that read
 * files, change settings, write or wait. Time, rows, memory and output are limited. Two barriers
 * hold on each engine: the statement is checked before it runs, and what runs it could not do more.
 *
 *   SQLite      forms of PostgreSQL are rewritten (sqlite_dialect.h), and the statement is compiled
 *               against a database in memory that has nothing but tables with the names and
 *               columns of the views, then on a read-only connection on which the name of every
 *               table and view means the rows of the tenant; both with an authorizer
 *   PostgreSQL  the statement becomes a temporary view, and the relations, functions and operators
 *               that the database found in it are compared with those allowed; then it runs in a
 *               READ ONLY transaction for the tenant
 */
#ifndef STORE_SELECT_H
#define STORE_SELECT_H

#include "base/uuid.h"
#include "store/store.h"

enum {
    SELECT_TEXT_MAX_BYTES = 64 * 1024,
    SELECT_MAX_COLUMNS = 200,
    SELECT_MAX_ROWS = 100 * 1000,
    SELECT_MAX_BYTES = 64 * 1024 * 1024, /* of all rows as JSON */
    SELECT_MAX_TIMEOUT_S = 300,
    SELECT_MEMORY_BYTES = 256 * 1024 * 1024, /* SQLite: of the process */
};

/* Returns the document of a snapshot: its list of messages, or with `whole` all of it; STR_NONE if
 * there is none. */
typedef enum error select_document(struct tx *tx, struct arena *arena, struct uuid tenant_id,
    struct uuid id, bool whole, struct str *out_document);

struct select {
    /* Set by the caller. The rest is initially 0. */
    struct arena *arena; /* of the rows */
    struct str text;
    struct str tenant; /* its id or its name */
    int64_t timeout_ms;
    size_t max_rows;
    bool plan;                 /* return the plan of the statement instead of its rows */
    select_document *document; /* for cairn_document() */

    struct str *columns;
    size_t n_columns;
    struct str *rows; /* JSON objects */
    size_t n_rows;
    size_t bytes;
    bool has_more; /* than max_rows */
};

/* ERR_INVALID: the statement is refused or wrong. ERR_NOT_FOUND: the tenant does not exist. */
MUST_CHECK enum error store_select(
    const struct store_config *config, struct select *select, struct problem *problem);

/* For the engines. */
MUST_CHECK enum error sqlite_select(
    const struct store_config *config, struct select *select, struct problem *problem);
MUST_CHECK enum error postgres_select(
    const struct store_config *config, struct select *select, struct problem *problem);
/* Returns whether the text is a reference of a view to a document; *out_whole: to all of it. */
bool select_is_reference(
    struct arena *arena, struct str text, struct uuid *out_id, bool *out_whole);
/* Takes the names of the columns, which must differ. */
MUST_CHECK enum error select_take_columns(struct select *select,
    const char *(*name)(void *result, int i), void *result, int n, struct problem *problem);
/* Adds a row, unless there are enough; then *out_enough is set to true. */
MUST_CHECK enum error select_take_row(
    struct select *select, struct str row, struct problem *problem, bool *out_enough);

#endif
