/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the part of TOML 1.0 that a configuration needs: tables, dotted and quoted keys, strings
 * on one line, integers, booleans, arrays of strings, comments. Everything else, and every key or
 * table that occurs twice, is an error with its line. All memory is in the arena.
 */
#ifndef CLI_TOML_H
#define CLI_TOML_H

#include "base/arena.h"

enum { TOML_MAX_DEPTH = 4, TOML_MAX_ENTRIES = 1000 };

enum toml_kind { TOML_STRING, TOML_INTEGER, TOML_BOOLEAN, TOML_STRINGS };

struct toml_entry {
    struct str path[TOML_MAX_DEPTH]; /* "profiles", "local", "url" */
    size_t depth;
    unsigned line;
    enum toml_kind kind;
    struct str text;   /* of an integer or a boolean: in its plain form, "-12", "true" */
    struct str *items; /* TOML_STRINGS */
    size_t n_items;
};

struct toml {
    struct toml_entry *entries; /* in the order of the file */
    size_t n_entries;
};

struct toml_error {
    unsigned line;
    struct str rule;
};

MUST_CHECK bool toml_parse(
    struct arena *arena, struct str text, struct toml *out_toml, struct toml_error *out_error);

#endif
