/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions of ECMA-262 with its `u` flag, as far as they are regular: literals, `.`,
 * classes, \d \w \s \p{…} (general categories), ^ $ \b \B, groups, alternatives and quantifiers.
 * Backreferences and lookaround are refused, and so is whatever `u` makes a syntax error. The text
 * is searched by a Thompson automaton over code points: the work is at most the states times the
 * length, whatever the pattern. A pattern lives in the arena it was compiled into and is read only.
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
    bool unsupported; /* it may well be a regular expression of ECMA-262 */
};

MUST_CHECK bool pattern_compile(struct arena *arena, struct str text, struct pattern **out_pattern,
    struct pattern_error *out_error);
/* What the pattern costs to keep; at most PATTERN_MAX_STATES. */
size_t pattern_states(const struct pattern *p);

/* Whether the pattern occurs anywhere in the text, which is UTF-8. Takes the states visited from
 * `steps`; false when these did not suffice. */
MUST_CHECK bool pattern_search(
    const struct pattern *p, struct str text, uint64_t *steps, bool *out_found);

#endif
