/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of an archive, in one table for export and import: the members of the tar file that
 * hold rows, the fields of their lines, the statements that read and add the rows, and the rules
 * for each value. archive.members declares the members and their fields; this table and the
 * statements are generated from it. Private to archive*.c and their tests.
 *
 * A line is a JSON object with the fields in the order of the table. NULL is left out. The members
 * are in the order of the table: every row that a line refers to is in an earlier member, or in the
 * same one.
 */
#ifndef MODEL_UPKEEP_ARCHIVE_TABLES_H
#define MODEL_UPKEEP_ARCHIVE_TABLES_H

#include "model/context.h"
#include "model/upkeep/archive.h"
#include "model/upkeep/archive_member_ids.h"

enum {
    ARCHIVE_MAX_FIELDS = 64,
    ARCHIVE_LINE_MAX_BYTES = 16 * 1024 * 1024,
};

/* The types of objects that ids refer to, and their names in messages. */
#define ARCHIVE_SORTS(X)               \
    X(SORT_NONE, "")                   \
    X(SORT_AGENT, "agent")             \
    X(SORT_THREAD, "thread")           \
    X(SORT_PARTICIPANT, "participant") \
    X(SORT_RUN, "run")                 \
    X(SORT_MESSAGE, "message")         \
    X(SORT_FILE, "file")               \
    X(SORT_STATE, "state document")    \
    X(SORT_TURN, "turn")               \
    X(SORT_SNAPSHOT, "snapshot")       \
    X(SORT_HISTORY, "history entry")   \
    X(SORT_EVAL, "eval")               \
    X(SORT_NOTEBOOK, "notebook")

enum archive_sort {
#define ARCHIVE_SORT(sort, name) sort,
    ARCHIVE_SORTS(ARCHIVE_SORT)
#undef ARCHIVE_SORT
        SORT_COUNT,
};
extern const char *const archive_sort_names[SORT_COUNT];

enum archive_kind {
    KIND_ID, /* a UUID; `sort` is the type of the object */
    KIND_INT,
    KIND_TIME, /* RFC 3339 */
    KIND_BOOL,
    KIND_TEXT,
    KIND_PRINCIPAL, /* text; the principal of an agent contains the id of the agent */
    KIND_JSON,      /* any value */
    KIND_OBJECT,
    KIND_ARRAY,
    KIND_DOCUMENT, /* an object or an array */
    KIND_HASH,     /* SHA-256, in hexadecimal */
    KIND_BYTES,    /* base64url */
};

enum archive_field_flags {
    OWN = 1 << 0,     /* the id of the row itself */
    MAYBE = 1 << 1,   /* may be NULL */
    OR_NIL = 1 << 2,  /* the nil id is left out */
    LOOSE = 1 << 3,   /* the object may be outside of the archive, or deleted; then the id stays */
    KEY = 1 << 4,     /* the next page begins behind the last value */
    ORDERED = 1 << 5, /* lines rise by these fields; ids of other rows by the order of those rows */
    HIDDEN = 1 << 6,  /* selected, but not part of the line */
    OWNER = 1 << 7,   /* the row to which this row belongs; other references stay in its thread */
};

struct archive_field {
    const char *name;
    const char *after; /* of a KEY: the parameter for its value in the last row of a page */
    enum archive_kind kind;
    enum archive_sort sort;
    unsigned flags;
    /* The length of text, JSON and bytes; the value of numbers. max 0 means the default. */
    int64_t min;
    int64_t max;
    const char *const *choices; /* ends in NULL */
};

struct archive_member {
    const char *name;      /* "threads.jsonl" */
    const char *row;       /* "thread": a row, in messages */
    const char *tables[3]; /* the tables of the rows; ends in NULL */
    const struct archive_field *fields;
    size_t n_fields;
    int64_t page_rows;
    const struct sql_statement *select[ARCHIVE_WHAT_COUNT]; /* NULL: the archive has no rows */
    const struct sql_statement *add[2];
    /* Finds a row that conflicts with an imported one. Executed when ids are kept; if has_name is
     * set also for new ids, because the statement compares more than the id. */
    const struct sql_statement *taken;
    bool has_name;
    bool is_later; /* older archives do not have the member */
};
extern const struct archive_member archive_members[MEMBER_COUNT];

/* A table or column that is not archived, and why. The column NULL stands for the whole table, and
 * a table that ends in "_" for all tables whose names begin so. */
struct archive_omission {
    const char *table;
    const char *column;
    const char *why;
};
extern const struct archive_omission archive_omissions[];
extern const size_t archive_omission_count;

/*
 * The members of the payload in which Cairn's own events refer to an object by its id. Only events
 * whose kind is reserved for Cairn are searched. A text of SORT_AGENT may also be the principal of
 * the agent. Values that users wrote are nested deeper or have other names, and never change.
 */
struct archive_mention {
    const char *member;
    enum archive_sort sort;
};
extern const struct archive_mention archive_mentions[];
extern const size_t archive_mention_count;

/* One value of a row. */
struct archive_value {
    bool is_null;
    struct uuid id;
    int64_t number;
    struct str text;  /* decoded; JSON is compact */
    struct str bytes; /* of a hash, or of bytes */
};

/* Reads the current row of the member's select statement. */
void archive_read_row(const struct archive_member *m, struct query *q, struct archive_value *out);
/* Appends the line of a row and its newline. */
void archive_write_line(
    const struct archive_member *m, const struct archive_value *row, struct buf *out);
/* Decodes a line without its newline. ERR_INVALID if a value breaks a rule of the table. */
MUST_CHECK enum error archive_read_line(const struct archive_member *m, struct arena *arena,
    struct str line, struct problem *problem, struct archive_value *out);
/* Binds the values for which the statement has a parameter. */
void archive_bind_row(
    const struct archive_member *m, const struct archive_value *row, struct query *q);
/* Binds where the next page begins: behind this row. NULL begins with the first page. */
void archive_bind_after(
    const struct archive_member *m, const struct archive_value *row, struct query *q);

/* Returns the index of the field with this name. A member without such a field aborts. */
size_t archive_field(const struct archive_member *m, const char *name);

#endif
