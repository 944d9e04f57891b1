/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side of a transfer: a connection of its own to a database, over which statements are run as
 * text. Private to src/store. Each side runs one statement at a time:
 *
 *   ask, next until there is no more                 rows come one by one
 *   insert_begin, insert …, insert_commit            rows of one table, in one transaction
 *
 * A row's values live until the next call. Failures are told in the side's problem; after one the
 * side can only be closed.
 */
#ifndef STORE_TRANSFER_SIDE_H
#define STORE_TRANSFER_SIDE_H

#include "store/transfer.h"

enum { TRANSFER_MAX_COLUMNS = 64, TRANSFER_MAX_TABLES = 256, TRANSFER_MAX_PARENTS = 512 };

/* What both engines have in common: a uuid is 16 bytes, a boolean is 0 or 1, JSON is its text. */
enum transfer_kind { VALUE_NULL, VALUE_INT, VALUE_TEXT, VALUE_BYTES };

struct transfer_value {
    enum transfer_kind kind;
    int64_t number;
    struct str bytes;
};

/* --- Catalogues (transfer_plan.c) ----------------------------------------------------------- */

struct catalogue_column {
    const char *name;
    enum transfer_kind kind; /* VALUE_NULL: a type that is not known here */
    uint32_t type;           /* PostgreSQL's number of it */
    unsigned key_place;      /* in the primary key, from 1; 0: not in it */
};

struct catalogue_table {
    const char *name;
    struct catalogue_column columns[TRANSFER_MAX_COLUMNS]; /* by name */
    size_t n_columns;
};

struct catalogue {
    struct catalogue_table *tables; /* by name */
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
    uint32_t type[2]; /* in the source, in the target */
};

struct transfer_table {
    const char *name;
    struct transfer_column columns[TRANSFER_MAX_COLUMNS];
    size_t n_columns;
    size_t key[TRANSFER_MAX_COLUMNS]; /* which columns, in order */
    size_t n_key;
    bool has_version;
};

struct transfer_plan {
    struct transfer_table *tables; /* parents before their children */
    size_t n_tables;
};

/* --- Sides ---------------------------------------------------------------------------------- */

enum side_role { SIDE_FROM, SIDE_TO };

struct side;

struct side_ops {
    /* Connects where there is something to connect to, and sets side->is_open. To write means to
     * make what is not there. */
    enum error (*open)(struct side *side);
    /* Creates the database, and brings an older one up to date. */
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
    /* After all of it was written. */
    enum error (*settle)(struct side *side, const struct transfer_plan *plan);
    /* Nobody serves it: looked at when it is opened, and once more when all is done. */
    enum error (*check_alone)(struct side *side);

    struct side_sql {
        char parameter;           /* before its number */
        const char *by_bytes;     /* makes the order of texts that of their bytes */
        const char *snapshot;     /* begins a transaction that reads */
        const char *columns;      /* table, column, kind, type, place in the key; by their names */
        const char *parents;      /* table, the table it refers to */
        const char *has_table;    /* of the parameter's name: whether there is one */
        const char *origin;       /* of a table's rows, a sum that every write changes; else 0 */
        const char *writes;       /* how much others wrote, if the rows do not tell; or NULL */
        const char *last_id;      /* the greatest id that an event ever had */
        const char *set_last_id;  /* to the parameter */
        const char *last_step_id; /* the same of steps */
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

/* The sides; freed by their close. */
struct side *sqlite_side_create(void);
struct side *postgres_side_create(void);

/* Numbers of PostgreSQL's types. */
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
/* What is moved and in which order. Fails when something is on one side only. */
MUST_CHECK enum error plan_make(const struct catalogue *from, const struct catalogue *to,
    struct arena *arena, struct problem *problem, struct transfer_plan *out_plan);
/* Whether a table belongs to the database it is in, and why it is not moved. */
const char *plan_why_not_moved(const char *table);

/* SELECT of all columns in their canonical form, by the key; after a key when told so. */
const char *plan_select(const struct side *side, const struct transfer_table *table, bool after);
/* SELECT of the greatest key. */
const char *plan_select_last_key(const struct side *side, const struct transfer_table *table);
const char *plan_insert(const struct side *side, const struct transfer_table *table);
/* SELECT of the numbers that change with the table: of rows, of versions, of their origin. */
enum { TRANSFER_COUNTS = 3 };
const char *plan_select_count(const struct side *side, const struct transfer_table *table);

#endif
