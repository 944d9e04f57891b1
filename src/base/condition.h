/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of a workflow's edges, as text. This module checks that a text is a condition, and
 * reports the byte at which it breaks the grammar.
 *
 *   condition  = and { "or" and }
 *   and        = not { "and" not }
 *   not        = "not" not | test
 *   test       = value [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
 *                      | [ "not" ] "in" ( list | path ) | "contains" value ]
 *   value      = path | string | number | "true" | "false" | "null" | "(" condition ")"
 *   list       = "[" [ literal { "," literal } ] "]"
 *   path       = name { "." name | "[" ( digits | string ) "]" }
 *   name       = ( letter | "_" ) { letter | digit | "_" }
 *
 * A string is quoted by " or ' and has the escapes of JSON, and \'. Numbers are those of JSON. A
 * condition that is only a string, a number or null has no truth value and is rejected, as is <
 * with true, false or null.
 */
#ifndef BASE_CONDITION_H
#define BASE_CONDITION_H

#include "base/str.h"

enum {
    CONDITION_MAX_BYTES = 4096,
    CONDITION_MAX_DEPTH = 32, /* of parentheses and of "not" */
};

struct condition_error {
    size_t offset;    /* of the byte that broke the rule */
    const char *rule; /* "a value is missing" */
};

MUST_CHECK bool condition_check(struct str text, struct condition_error *out_error);

#endif
