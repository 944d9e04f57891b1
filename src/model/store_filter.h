/*
 * What a search asks of the members of a value: {"kind":"note"} that they are equal to something,
 * {"age":{"$gte":18}} that they compare to it. All must hold. Private to store_*.c.
 */
#ifndef MODEL_STORE_FILTER_H
#define MODEL_STORE_FILTER_H

#include "base/json.h"
#include "model/context.h"

enum { STORE_FILTER_MAX_MEMBERS = 32 };

struct store_filter;

/* NULL for STR_NONE and for an empty object. `at` is the pointer to the filter. */
MUST_CHECK enum error store_filter_parse(
    struct context *c, struct str text, struct str at, const struct store_filter **out_filter);
bool store_filter_holds(const struct store_filter *filter, struct json value);

#endif
