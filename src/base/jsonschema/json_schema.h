/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Schema 2020-12. Compiling a schema reports every fault in it; a compiled schema validates
 * values. Schemas and values come from clients, so everything is limited: a schema in its
 * subschemas and the states of its patterns, a validation in its depth and its steps (every
 * keyword, member, item and pattern state counts). Exceeding a limit is reported as a fault.
 * Keywords that are not part of 2020-12 and references to other documents are rejected, never
 * ignored. docs/json-schema.md lists the supported keywords. A compiled schema lives in its arena,
 * borrows from the document of the schema, and may be used by several threads at once.
 */
#ifndef BASE_JSONSCHEMA_JSON_SCHEMA_H
#define BASE_JSONSCHEMA_JSON_SCHEMA_H

#include "base/json/json.h"
#include "base/problem.h"

enum {
    JSON_SCHEMA_MAX_SUBSCHEMAS = 20000,
    JSON_SCHEMA_MAX_STATES = 40000, /* all patterns together */
    JSON_SCHEMA_MAX_DEPTH = 512, /* nested or referenced schemas during validation; a value itself
                                    has up to 128 levels */
    JSON_SCHEMA_MAX_STEPS = 500 * 1000,
};

struct json_schema;

/* Reports one fault for each bad place of the schema, as `prefix` and its JSON Pointer. */
MUST_CHECK enum error json_schema_compile(struct arena *arena, struct json schema,
    struct str prefix, struct problem *problem, struct json_schema **out_schema);

/* Reports one fault for each bad place of the value. */
MUST_CHECK enum error json_schema_validate(const struct json_schema *schema, struct json value,
    struct str prefix, struct problem *problem);

#endif
