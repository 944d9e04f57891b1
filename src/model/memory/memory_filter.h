/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of a search: conditions on the members of a value, which must all hold.
 * {"kind":"note"} requires equality, {"age":{"$gte":18}} a comparison. Private to memory_*.c.
 */
#ifndef MODEL_MEMORY_MEMORY_FILTER_H
#define MODEL_MEMORY_MEMORY_FILTER_H

#include "base/json/json.h"
#include "model/context.h"

enum { MEMORY_FILTER_MAX_MEMBERS = 32 };

struct memory_filter;

/* Returns NULL for STR_NONE and for an empty object. `at` is the pointer of the filter. */
MUST_CHECK enum error memory_filter_parse(
    struct context *c, struct str text, struct str at, const struct memory_filter **out_filter);
bool memory_filter_holds(const struct memory_filter *filter, struct json value);

#endif
