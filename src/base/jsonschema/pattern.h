/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The regular subset of ECMA-262 expressions with the `u` flag: literals, `.`, classes, \d \w \s
 * \p{…} (general categories), ^ $ \b \B, groups, alternatives and quantifiers. Backreferences,
 * lookaround and everything that `u` makes a syntax error are rejected. A Thompson automaton over
 * code points searches the text: the work is at most the states times the length, whatever the
 * pattern. A pattern is read-only and lives in the arena in which it was compiled.
 */
#ifndef BASE_JSONSCHEMA_PATTERN_H
#define BASE_JSONSCHEMA_PATTERN_H

#include "base/arena.h"

enum {
    PATTERN_MAX_BYTES = 4096,
    PATTERN_MAX_STATES = 4096,
    PATTERN_MAX_REPEAT = 1000, /* in {n,m} */
    PATTERN_MAX_NESTING = 64,  /* of groups */
};

struct pattern;

struct pattern_error {
    size_t offset;    /* of the byte that broke the rule */
    const char *rule; /* "a group must end in )" */
    bool unsupported; /* ECMA-262 may allow it, but this module does not */
};

MUST_CHECK bool pattern_compile(struct arena *arena, struct str text, struct pattern **out_pattern,
    struct pattern_error *out_error);
/* The size of the compiled pattern; at most PATTERN_MAX_STATES. */
size_t pattern_states(const struct pattern *p);

/* Searches the text, which must be UTF-8, for the pattern. Subtracts the visited states from
 * `steps` and returns false if there were not enough steps. */
MUST_CHECK bool pattern_search(
    const struct pattern *p, struct str text, uint64_t *steps, bool *out_found);

#endif
