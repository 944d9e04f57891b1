/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side of a transfer: its own connection to a database, which executes statements as text.
 * Private to src/store. A side executes one statement at a time:
 *
 *   ask, next until there is no row                  reads rows one by one
 *   insert_begin, insert …, insert_commit            inserts rows of one table, in one transaction
 *
 * The values of a row live until the next call. Errors are reported in the side's problem; after
 * one, the side can only be closed.
 */
#ifndef STORE_TRANSFER_SIDE_H
#define STORE_TRANSFER_SIDE_H

#include "store/transfer.h"

enum { TRANSFER_MAX_COLUMNS = 64, TRANSFER_MAX_TABLES = 256, TRANSFER_MAX_PARENTS = 512 };

/* The types that both engines have: a uuid is 16 bytes, a boolean is 0 or 1, JSON is text. */
enum transfer_kind { VALUE_NULL, VALUE_INT, VALUE_TEXT, VALUE_BYTES };

struct transfer_value {
    enum transfer_kind kind;
    int64_t number;
    struct str bytes;
};

/* --- Catalogues (transfer_plan.c) ----------------------------------------------------------- */

struct catalogue_column {
    const char *name;
    enum transfer_kind kind; /* VALUE_NULL: unknown type */
    uint32_t type;           /* OID on PostgreSQL */
    unsigned key_place;      /* position in the primary key, from 1; 0: not in the key */
};

struct catalogue_table {
    const char *name;
    struct catalogue_column columns[TRANSFER_MAX_COLUMNS]; /* sorted by name */
    size_t n_columns;
};

struct catalogue {
    struct catalogue_table *tables; /* sorted by name */
    size_t n_tables;
    struct {
        const char *child;
        const char *parent;
    } parents[TRANSFER_MAX_PARENTS];
    size_t n_parents;
};

struct transfer_column {
    const char *name;
    enum transfer_kind kind;
    uint32_t type[2]; /* of the source and of the target */
};

struct transfer_table {
    const char *name;
    struct transfer_column columns[TRANSFER_MAX_COLUMNS];
    size_t n_columns;
    size_t key[TRANSFER_MAX_COLUMNS]; /* column indexes, in order */
    size_t n_key;
    bool has_version;
};

struct transfer_plan {
    struct transfer_table *tables; /* parents before children */
    size_t n_tables;
};

/* --- Sides ---------------------------------------------------------------------------------- */

enum side_role { SIDE_FROM, SIDE_TO };

struct side;

struct side_ops {
    /* Connects if the database exists, and sets side->is_open. A writing side creates what is
     * missing. */
    enum error (*open)(struct side *side);
    /* Creates the database, or migrates an older one. */
    enum error (*create)(struct side *side);
    void (*close)(struct side *side);

    enum error (*exec)(struct side *side, const char *sql);
    enum error (*ask)(struct side *side, const char *sql, const struct transfer_value *params,
        const uint32_t *types, size_t n_params);
    enum error (*next)(
        struct side *side, struct transfer_value *out_values, size_t n, bool *out_found);

    enum error (*insert_begin)(struct side *side, const struct transfer_table *table);
    enum error (*insert)(struct side *side, const struct transfer_value *values);
    enum error (*insert_commit)(struct side *side);
    /* Called after all data is written. */
    enum error (*settle)(struct side *side, const struct transfer_plan *plan);
    /* Fails if a server uses the database; called after the open, and at the end. */
    enum error (*check_alone)(struct side *side);

    struct side_sql {
        char parameter;        /* the prefix of a parameter's number */
        const char *by_bytes;  /* collation that sorts text by bytes */
        const char *snapshot;  /* begins a reading transaction */
        const char *columns;   /* table, column, kind, type, position in the key; sorted by names */
        const char *parents;   /* table, referenced table */
        const char *has_table; /* whether a table with the parameter's name exists */
        const char *origin;    /* a sum over a table's rows that every write changes; else 0 */
        const char *writes;    /* how much others wrote, if the rows do not show it; or NULL */
        const char *last_id;   /* the greatest event id ever used */
        const char *set_last_id;  /* sets it to the parameter */
        const char *last_step_id; /* the same for steps */
        const char *set_last_step_id;
    } sql;
};

extern const struct side_ops sqlite_side_ops, postgres_side_ops;

struct side {
    const struct side_ops *ops;
    enum side_role role;
    const char *name;   /* "source", "target" */
    const char *option; /* "--from", "--to" */
    const struct transfer_place *place;
    bool writes;
    bool despite_sessions;
    struct arena *arena;
    struct problem *problem;
    bool is_open;
};

/* Create a side; its close frees it. */
struct side *sqlite_side_create(void);
struct side *postgres_side_create(void);

/* OIDs of PostgreSQL's types. */
enum {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_NAME = 19,
    PG_INT8 = 20,
    PG_INT4 = 23,
    PG_TEXT = 25,
    PG_JSON = 114,
    PG_UUID = 2950
};

/* --- Plans (transfer_plan.c) ---------------------------------------------------------------- */

MUST_CHECK enum error catalogue_read(struct side *side, struct catalogue *out_catalogue);
/* Determines the tables to move and their order. Fails if a table or column exists on one side
 * only. */
MUST_CHECK enum error plan_make(const struct catalogue *from, const struct catalogue *to,
    struct arena *arena, struct problem *problem, struct transfer_plan *out_plan);
/* Returns why a table belongs to its database and is not moved, or NULL if it is moved. */
const char *plan_why_not_moved(const char *table);

/* SELECT of all columns in canonical form, in the order of the key; `after`: only after a key. */
const char *plan_select(const struct side *side, const struct transfer_table *table, bool after);
/* SELECT of the greatest key. */
const char *plan_select_last_key(const struct side *side, const struct transfer_table *table);
const char *plan_insert(const struct side *side, const struct transfer_table *table);
/* SELECT of numbers that change with the table: of rows, of versions, of their origin. */
enum { TRANSFER_COUNTS = 3 };
const char *plan_select_count(const struct side *side, const struct transfer_table *table);

#endif
