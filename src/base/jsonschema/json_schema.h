/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Schema 2020-12: a schema is compiled once, which finds every fault in it, and then judges
 * values. Schemas and values come from clients, so that all is bounded: a schema in the subschemas
 * and the states of its patterns, a check in its depth and in its steps (every keyword, member,
 * item and state of a pattern counts); what passes a bound is refused with a fault that says so.
 * A keyword that is not of 2020-12 is refused, never ignored, and so is a reference to another
 * document. What is supported stands in docs/json-schema.md. A compiled schema lives in its arena,
 * borrows from the schema's document, and may be used by several threads at once.
 */
#ifndef BASE_JSONSCHEMA_JSON_SCHEMA_H
#define BASE_JSONSCHEMA_JSON_SCHEMA_H

#include "base/json/json.h"
#include "base/problem.h"

enum {
    JSON_SCHEMA_MAX_SUBSCHEMAS = 20000,
    JSON_SCHEMA_MAX_STATES = 40000, /* of all patterns together */
    JSON_SCHEMA_MAX_DEPTH = 512,    /* of schemas within or behind each other while a value is
                                       checked; a value has up to 128 levels itself */
    JSON_SCHEMA_MAX_STEPS = 500 * 1000,
};

struct json_schema;

/* One fault a bad place of the schema, at `prefix` and the JSON Pointer to it. */
MUST_CHECK enum error json_schema_compile(struct arena *arena, struct json schema,
    struct str prefix, struct problem *problem, struct json_schema **out_schema);

/* One fault a bad place of the value. */
MUST_CHECK enum error json_schema_validate(const struct json_schema *schema, struct json value,
    struct str prefix, struct problem *problem);

#endif
