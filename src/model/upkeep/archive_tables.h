/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an archive holds, in one table for both directions: the members of the tar file that hold
 * rows, the fields of their lines, the statements that read and add them, which fields are ids and
 * of what, and the rules of each value. Private to the files archive*.c, and to their tests.
 *
 * A line is a JSON object with the fields in this order; what is NULL is left out. Members come in
 * the order of the table: whatever a row refers to comes before it, or is in the same member.
 */
#ifndef MODEL_UPKEEP_ARCHIVE_TABLES_H
#define MODEL_UPKEEP_ARCHIVE_TABLES_H

#include "model/context.h"
#include "model/upkeep/archive.h"

enum {
    ARCHIVE_MAX_FIELDS = 64,
    ARCHIVE_LINE_MAX_BYTES = 16 * 1024 * 1024,
};

/* What an id is the id of. */
enum archive_sort {
    SORT_NONE,
    SORT_AGENT,
    SORT_THREAD,
    SORT_PARTICIPANT,
    SORT_RUN,
    SORT_MESSAGE,
    SORT_FILE,
    SORT_STATE,
    SORT_TURN,
    SORT_SNAPSHOT,
    SORT_HISTORY,
    SORT_EVAL,
    SORT_NOTEBOOK,
    SORT_COUNT,
};
extern const char *const archive_sort_names[SORT_COUNT];

enum archive_kind {
    KIND_ID, /* a UUID; which sort of thing it names stands in `sort` */
    KIND_INT,
    KIND_TIME, /* RFC 3339 */
    KIND_BOOL,
    KIND_TEXT,
    KIND_PRINCIPAL, /* text; of an agent, its id is in it */
    KIND_JSON,      /* any value */
    KIND_OBJECT,
    KIND_ARRAY,
    KIND_DOCUMENT, /* an object or an array */
    KIND_HASH,     /* SHA-256, in hexadecimal */
    KIND_BYTES,    /* base64url */
};

enum archive_field_flags {
    OWN = 1 << 0,    /* the id of the row itself */
    MAYBE = 1 << 1,  /* may be NULL */
    OR_NIL = 1 << 2, /* left out for the nil id */
    LOOSE = 1 << 3,  /* what it names may be elsewhere, or gone; then it stays as it is */
    KEY = 1 << 4,    /* a page goes on behind it */
    ORDERED =
        1 << 5,      /* lines rise by these fields; an id of another row by the place of that row */
    HIDDEN = 1 << 6, /* selected for the sake of KEY, and not in the line */
    OWNER = 1 << 7,  /* the row that this one belongs to: what else it names belongs there too */
};

struct archive_field {
    const char *name;
    enum archive_kind kind;
    enum archive_sort sort;
    unsigned flags;
    /* Of text, JSON and bytes their length, of numbers their value; max 0: the default. */
    int64_t min;
    int64_t max;
    const char *const *choices; /* NULL at the end */
};

enum archive_member_id {
    MEMBER_AGENTS,
    MEMBER_AGENT_STORAGE,
    MEMBER_AGENT_VERSIONS,
    MEMBER_AGENT_ACTIVATIONS,
    MEMBER_AGENT_LINKS,
    MEMBER_THREADS,
    MEMBER_PARTICIPANTS,
    MEMBER_ITEMS,
    MEMBER_SNAPSHOTS,
    MEMBER_RUNS,
    MEMBER_RUN_UNDO,
    MEMBER_RUN_PHASES,
    MEMBER_TURNS,
    MEMBER_EVENTS,
    MEMBER_MESSAGES,
    MEMBER_MESSAGE_DEBUG,
    MEMBER_MESSAGE_VERSIONS,
    MEMBER_FILES,
    MEMBER_FILE_ENDS,
    MEMBER_FILE_VERSIONS,
    MEMBER_STATES,
    MEMBER_STATE_VERSIONS,
    MEMBER_STEPS,
    MEMBER_CHECKPOINTS,
    MEMBER_CHECKPOINT_WRITES,
    MEMBER_RESUMPTIONS,
    MEMBER_AWAITED_TOOLS,
    MEMBER_HISTORY,
    MEMBER_RUN_USAGE,
    MEMBER_PRICES,
    MEMBER_EVALS,
    MEMBER_NOTEBOOKS,
    MEMBER_NOTEBOOK_THREADS,
    MEMBER_STORE_ITEMS,
    MEMBER_STORE_VECTORS,
    MEMBER_COUNT,
};

struct archive_member {
    const char *name;      /* "threads.jsonl" */
    const char *row;       /* "thread": what one line is, for messages */
    const char *tables[3]; /* that its rows are in; NULL at the end */
    const struct archive_field *fields;
    size_t n_fields;
    int64_t page_rows;
    const struct sql_statement *select[ARCHIVE_WHAT_COUNT]; /* NULL: none of them */
    const struct sql_statement *add[2];
    /* Who is in the way of a row: looked for when ids are kept; and always, where a name is too. */
    const struct sql_statement *taken;
    bool has_name;
    bool is_later; /* archives of 0.6 and before do not have it */
};
extern const struct archive_member archive_members[MEMBER_COUNT];

/* Tables and columns that are in no archive, and why. A NULL column is the whole table. */
struct archive_omission {
    const char *table;
    const char *column;
    const char *why;
};
extern const struct archive_omission archive_omissions[];
extern const size_t archive_omission_count;

/*
 * Where Cairn's own events (those whose kind an application cannot use) name something by its id:
 * the members of their payload. Text of SORT_AGENT may also be its principal. What users wrote is
 * deeper in the payload, or under other names, and is never touched.
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
    struct str text;  /* decoded; JSON: compact */
    struct str bytes; /* of a hash, or of bytes */
};

/* The next row of the member's statement. */
void archive_read_row(const struct archive_member *m, struct query *q, struct archive_value *out);
/* Its line, with the end of the line. */
void archive_write_line(
    const struct archive_member *m, const struct archive_value *row, struct buf *out);
/* Decodes a line without its end; what breaks a rule of the table is told. */
MUST_CHECK enum error archive_read_line(const struct archive_member *m, struct arena *arena,
    struct str line, struct problem *problem, struct archive_value *out);
/* Binds what the statement has parameters for. */
void archive_bind_row(
    const struct archive_member *m, const struct archive_value *row, struct query *q);

/* The field of this name, which is there. */
size_t archive_field(const struct archive_member *m, const char *name);

#endif
