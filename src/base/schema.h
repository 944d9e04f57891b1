/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field tables: one description of a JSON object and the C struct it becomes. schema_decode reads a
 * parsed body into the struct and reports every fault with its JSON Pointer; schema_encode writes
 * the struct as JSON; the OpenAPI document is made from the same rows.
 *
 * What a kind fills in at `offset`:
 *   FIELD_STRING, FIELD_ENUM   struct str, decoded; absent or null is STR_NONE
 *   FIELD_JSON, FIELD_OBJECT, FIELD_ARRAY, FIELD_DOCUMENT
 *                              struct str, the value as compact JSON text; absent or null is
 * STR_NONE FIELD_BOOL                 bool FIELD_INT, FIELD_TIME      int64_t (FIELD_TIME:
 * microseconds since 1970, RFC 3339 on the wire) FIELD_UUID                 struct uuid
 *   FIELD_MONEY                int64_t, picodollars; a number of dollars on the wire, exact
 *   FIELD_STRINGS              struct str_list
 *   FIELD_NESTED               a struct of its own, described by `nested`
 *   FIELD_NESTED_LIST          struct nested_list, its items in the arena, described by `nested`
 * FIELD_BOOL, FIELD_INT, FIELD_TIME, FIELD_MONEY, FIELD_UUID and FIELD_NESTED have no value that
 * means "absent": rows that are FIELD_OPTIONAL or FIELD_NULLABLE give the offset of a bool in
 * `has_offset`, true when a value is there. Without FIELD_OPTIONAL a decoded object must have the
 * member.
 */
#ifndef BASE_SCHEMA_H
#define BASE_SCHEMA_H

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
    FIELD_OPTIONAL = 1 << 0,  /* may be missing from a body */
    FIELD_NULLABLE = 1 << 1,  /* may be null */
    FIELD_READ_ONLY = 1 << 2, /* written by Cairn: in answers, refused in bodies */
    FIELD_HIDE_NONE = 1 << 3, /* left out of an answer when absent, instead of null or [] */
};

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
    /* STRING: bytes of the decoded text. INT: value. STRINGS, NESTED_LIST: items.
     * OBJECT, ARRAY, DOCUMENT, JSON: bytes of compact text. max 0 means the default of the kind,
     * which for INT is INT64_MAX; min 0 means 0, so that an INT which may be negative says so. */
    int64_t min;
    int64_t max;
    const char *const *choices; /* ENUM, and each item of STRINGS when given; ends in NULL */
    /* ARRAY: what an item looks like, or its type, for the OpenAPI document alone; any unless told
     */
    const struct schema *nested;
    const char *items;
    const char *summary; /* one line for the OpenAPI document */
};

struct schema {
    const char *name; /* "ThreadCreate" */
    const struct field *fields;
    size_t n_fields;
    size_t struct_bytes;
};

enum {
    SCHEMA_DEFAULT_STRING_BYTES = 1024 * 1024,
    SCHEMA_DEFAULT_JSON_BYTES = 4 * 1024 * 1024,
    SCHEMA_DEFAULT_LIST_ITEMS = 1000,
};

/*
 * Zeroes `out` first. Reports unknown members, missing ones, wrong types, broken limits, NUL inside
 * text. Returns OK or ERR_INVALID with one fault each in `problem`.
 */
MUST_CHECK enum error schema_decode(struct arena *arena, const struct schema *schema,
    struct json body, void *out, struct problem *problem);

/* The same for an object inside a body: faults begin with its pointer. */
MUST_CHECK enum error schema_decode_at(struct arena *arena, const struct schema *schema,
    struct str pointer, struct json object, void *out, struct problem *problem);

/* One whole object. */
void schema_encode(struct json_writer *w, const struct schema *schema, const void *in);
/* The members alone, into an object that is already open. */
void schema_encode_members(struct json_writer *w, const struct schema *schema, const void *in);

#endif
