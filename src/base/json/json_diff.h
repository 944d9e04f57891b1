/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two JSON values as a JSON Patch (RFC 6902) of add, remove and replace. Applied
 * to the first value, the patch gives the second, as json_equal compares them. Members are compared
 * by name. Two arrays keep their equal ends, and the items between are compared one by one: the
 * patch is always correct, and short if little has changed.
 */
#ifndef BASE_JSON_JSON_DIFF_H
#define BASE_JSON_JSON_DIFF_H

#include "base/json/json_write.h"

/*
 * Writes the operations into the array that is open in `w`, with paths that begin with `pointer`,
 * and returns their number. Temporary memory comes from the arena.
 */
size_t json_diff(struct arena *arena, struct str pointer, struct json from, struct json to,
    struct json_writer *w);

#endif
