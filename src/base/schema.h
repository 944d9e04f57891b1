/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field tables describe JSON objects and the C structs that hold them. schema_decode reads a parsed
 * body into a struct and reports every fault with its JSON Pointer; schema_encode writes a struct
 * as JSON; query parameters, patches, the command line and the OpenAPI document use the same rows.
 *
 * A table has one row for each member of a struct (base/schema_fields.h has the macros). Each row
 * names the schemas that include it, as a mask of IN_ bits; a schema is a filter over a table.
 *
 * Storage of each kind at `offset`:
 *   STRING                         struct str, decoded; absent or null is STR_NONE
 *   ENUM                           an enum of base/enum.h; absent or null is 0
 *   JSON, OBJECT, ARRAY, DOCUMENT  struct str, compact JSON text; absent or null is STR_NONE
 *   BOOL                           bool
 *   INT                            int64_t
 *   TIME                           int64_t, microseconds since 1970; RFC 3339 on the wire
 *   MONEY                          int64_t, picodollars; an exact number of dollars on the wire
 *   UUID                           struct uuid
 *   STRINGS                        struct str_list
 *   NESTED                         a struct described by the schema `nested`
 *   NESTED_LIST                    struct nested_list, items in the arena, described by `nested`
 * BOOL, INT, TIME, MONEY, UUID and NESTED have no value that means "absent": optional or nullable
 * rows of these kinds have a bool at `has_offset`, true when the object has a value.
 */
#ifndef BASE_SCHEMA_H
#define BASE_SCHEMA_H

#include "base/enum.h"
#include "base/json/json_write.h"
#include "base/problem.h"

enum field_kind {
    FIELD_STRING,
    FIELD_ENUM,
    FIELD_JSON,     /* any JSON value, null included */
    FIELD_OBJECT,   /* a JSON object of any shape */
    FIELD_ARRAY,    /* a JSON array of any shape */
    FIELD_DOCUMENT, /* an object or an array of any shape */
    FIELD_BOOL,
    FIELD_INT,
    FIELD_TIME,
    FIELD_MONEY, /* min and max are picodollars */
    FIELD_UUID,
    FIELD_STRINGS,
    FIELD_NESTED,
    FIELD_NESTED_LIST,
};

enum field_flags {
    FIELD_OPTIONAL = 1 << 0, /* may be missing from a body */
    FIELD_NULLABLE = 1 << 1, /* may be null */
};

/*
 * The schemas of a table. Clients send the lower 16, Cairn answers the upper 16. A table whose
 * schemas have other names defines them as IN_SENT(n) and IN_SHOWN(n). The mask of a schema may
 * have several bits: it includes the rows of each.
 */
enum field_in {
    IN_QUERY = 1 << 0,
    IN_BODY = 1 << 1, /* creates, replaces or changes an object */
    IN_PATCH = 1 << 2,
    IN_BATCH = 1 << 3, /* beside IN_BODY, where a route takes one item or a list of items */
    IN_ANY_SENT = 0xffff,
    IN_READ = 1 << 16,    /* the object as routes answer it */
    IN_CREATED = 1 << 17, /* beside IN_READ: the answer of the route that creates the object */
};
#define IN_SENT(n) (1 << (4 + (n)))   /* n from 0 to 11 */
#define IN_SHOWN(n) (1 << (18 + (n))) /* n from 0 to 12 */

struct str_list {
    struct str *items;
    size_t count;
};

struct nested_list {
    void *items;
    size_t count;
};

struct schema;

struct field {
    const char *name;
    enum field_kind kind;
    unsigned flags;
    size_t offset;
    size_t has_offset;
    unsigned in;         /* the schemas that include the row */
    const char *summary; /* one line for the OpenAPI document and the help of commands */
    /* STRING: bytes of the decoded text. INT: value. STRINGS, NESTED_LIST: items.
     * OBJECT, ARRAY, DOCUMENT, JSON: bytes of compact text. max 0 means the default of the kind,
     * which for INT is INT64_MAX; min 0 means 0, so an INT that may be negative states its min. */
    int64_t min;
    int64_t max;
    int places; /* MONEY: the digits after the point, to which a body is rounded; 0 means 12 */
    const char *const *choices; /* ENUM, and each item of STRINGS when given; ends in NULL */
    /* ARRAY: the schema or the type of an item, only for the OpenAPI document; any if not given */
    const struct schema *nested;
    const char *items;
    unsigned optional_in; /* schemas that do not require it, although others of the table do */
    bool refused;         /* in a body only so that a clear message rejects it */
    bool hide_none;       /* left out of an answer when absent, instead of null or [] */
    bool once; /* a secret: shown by the route that creates the object, and never again */
};

struct schema {
    const char *name; /* "ThreadCreate" */
    const struct field *fields;
    size_t n_fields;
    size_t struct_bytes;
    unsigned in; /* the schema has the rows that share a bit with it */
    /* The first member, an ENUM, selects the schema of the whole object, in the order of its
     * choices; the rows of this schema only describe the object. NULL: no variants. */
    const struct schema *variants;
};

/* Which members an object had, by the position of their rows in the table. */
enum { SCHEMA_MAX_FIELDS = 64 };
struct presence {
    uint64_t given; /* with a value, or null */
    uint64_t null;
};
enum member_state { MEMBER_ABSENT, MEMBER_NULL, MEMBER_GIVEN };

enum {
    SCHEMA_DEFAULT_STRING_BYTES = 1024 * 1024,
    SCHEMA_DEFAULT_JSON_BYTES = 4 * 1024 * 1024,
    SCHEMA_DEFAULT_LIST_ITEMS = 1000,
};

/*
 * Iterates over the rows that a schema includes, in the order of the table: NULL begins, and NULL
 * ends. A schema that is NULL has no rows.
 *
 *     for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;)
 */
const struct field *schema_next(const struct schema *schema, const struct field *previous);
/* Returns NULL if the schema has no field of this name. */
const struct field *schema_find(const struct schema *schema, struct str name);
/* Returns true if a body of this schema must have the member. */
bool schema_requires(const struct schema *schema, const struct field *f);

/* Returns true if Cairn alone writes the member: clients send others of the table, not this one. */
bool schema_is_read_only(const struct schema *schema, const struct field *f);

/*
 * Zeroes `out` first. Reports unknown members, missing ones, wrong types, broken limits, NUL inside
 * text. Returns OK or ERR_INVALID with one fault each in `problem`.
 */
MUST_CHECK enum error schema_decode(struct arena *arena, const struct schema *schema,
    struct json body, void *out, struct problem *problem);

/* The same, and reports which members the body had. */
MUST_CHECK enum error schema_decode_presence(struct arena *arena, const struct schema *schema,
    struct json body, void *out, struct presence *out_presence, struct problem *problem);
/* The members of an object that is not decoded, such as a merge patch. */
struct presence schema_presence(const struct schema *schema, struct json object);
/* The schema must have the member. */
enum member_state schema_member(
    const struct schema *schema, const struct presence *presence, const char *name);
/* Returns true if the body has a value for a member other than this one. */
bool schema_gives_others(
    const struct schema *schema, const struct presence *presence, const char *name);
/* Copies the members that a body left out from `before` to `after`. */
void schema_keep_absent(
    const struct schema *schema, const struct presence *presence, const void *before, void *after);

/* The same for an object inside a body: faults begin with its pointer. */
MUST_CHECK enum error schema_decode_at(struct arena *arena, const struct schema *schema,
    struct str pointer, struct json object, void *out, struct problem *problem);

/* Writes one whole object. Returns true if it has a member that is shown once. */
bool schema_encode(struct json_writer *w, const struct schema *schema, const void *in);
/* The same, with null for members that are shown once. */
void schema_encode_without_secrets(
    struct json_writer *w, const struct schema *schema, const void *in);
/* Writes only ids, times, numbers and flags: the answer to a write by a client that may not read.
 */
void schema_encode_receipt(struct json_writer *w, const struct schema *schema, const void *in);

#endif
