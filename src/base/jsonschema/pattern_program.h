/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled pattern; only for the pattern modules of base. */
#ifndef BASE_JSONSCHEMA_PATTERN_PROGRAM_H
#define BASE_JSONSCHEMA_PATTERN_PROGRAM_H

#include "base/jsonschema/pattern.h"

enum { CODE_POINT_MAX = 0x10ffff };

/* Code points, both ends inclusive. */
struct pattern_range {
    uint32_t low;
    uint32_t high;
};

/* In ascending order; ranges neither overlap nor touch. */
struct pattern_set {
    const struct pattern_range *ranges;
    size_t count;
};

enum pattern_op {
    PATTERN_RANGE, /* one code point from x to y */
    PATTERN_SET,   /* one code point of the set */
    PATTERN_SPLIT, /* continues at x and at y */
    PATTERN_JUMP,  /* continues at x */
    PATTERN_BEGIN, /* ^ */
    PATTERN_END,   /* $ */
    PATTERN_EDGE,  /* \b */
    PATTERN_INNER, /* \B */
    PATTERN_MATCH,
};

struct pattern_state {
    enum pattern_op op;
    uint32_t x;
    uint32_t y;
    const struct pattern_set *set;
};

struct pattern {
    const struct pattern_state *states;
    size_t n_states;
    size_t cost; /* the number of states plus the size of the sets */
};

/* --- Parsed form, between the parser and the writer of the program ---------------------------- */

enum pattern_kind {
    PATTERN_NODE_RANGE, /* x to y */
    PATTERN_NODE_SET,
    PATTERN_NODE_ASSERT, /* op */
    PATTERN_NODE_SEQUENCE,
    PATTERN_NODE_CHOICE,
    PATTERN_NODE_REPEAT, /* the child x to y times; y is PATTERN_NO_END for no limit */
};

enum { PATTERN_NO_END = UINT32_MAX };

struct pattern_node {
    enum pattern_kind kind;
    enum pattern_op op;
    uint32_t x;
    uint32_t y;
    struct pattern_set set;
    struct pattern_node *children;
    struct pattern_node *next; /* the sibling */
};

/* The parsed form lives in `scratch`. Returns NULL if the text breaks a rule. */
struct pattern_node *pattern_parse(
    struct arena *scratch, struct str text, struct pattern_error *out_error);

/* --- Sets ------------------------------------------------------------------------------------- */

/* A set under construction: ranges in any order, which may overlap. */
struct pattern_ranges {
    struct arena *arena;
    struct pattern_range *items;
    size_t count;
    size_t cap;
};

void pattern_ranges_add(struct pattern_ranges *r, uint32_t low, uint32_t high);
/* Adds every code point that is not in the set. */
void pattern_ranges_add_others(struct pattern_ranges *r, struct pattern_set set);
struct pattern_set pattern_ranges_take(struct pattern_ranges *r);

/* Adds the code points of \p{name}. Returns false if there is no such general category. */
bool pattern_property(struct pattern_ranges *r, struct str name);

#endif
