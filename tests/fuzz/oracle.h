/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jansson, behind names of our own: its header and ours both claim json_equal, JSON_NULL and more,
 * so that no file can include the two.
 */
#ifndef TESTS_FUZZ_ORACLE_H
#define TESTS_FUZZ_ORACLE_H

#include "base/str.h"

enum oracle_type {
    ORACLE_NULL,
    ORACLE_FALSE,
    ORACLE_TRUE,
    ORACLE_INTEGER,
    ORACLE_REAL,
    ORACLE_STRING,
    ORACLE_ARRAY,
    ORACLE_OBJECT,
};

struct oracle; /* one value */

/*
 * Returns NULL if the text is rejected; `out_by_design`: because of a limit of jansson, not of
 * JSON.
 */
struct oracle *oracle_parse(struct str text, bool *out_by_design);
void oracle_destroy(struct oracle *root);

enum oracle_type oracle_type(const struct oracle *v);
int64_t oracle_integer(const struct oracle *v);
double oracle_real(const struct oracle *v);
struct str oracle_string(const struct oracle *v);
size_t oracle_count(const struct oracle *v);
/* NULL when there is none. */
const struct oracle *oracle_item(const struct oracle *array, size_t index);
const struct oracle *oracle_member(const struct oracle *object, struct str name);

#endif
