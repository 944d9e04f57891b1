/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What turns one JSON value into another, as a JSON Patch (RFC 6902) of add, remove and replace.
 * Applied to the first value the patch gives the second, as json_equal sees it. Members are
 * compared by name; of two arrays the ends that are the same are left alone, and what is between is
 * compared item by item: the patch is right, and short where little has changed.
 */
#ifndef BASE_JSON_JSON_DIFF_H
#define BASE_JSON_JSON_DIFF_H

#include "base/json/json_write.h"

/*
 * Writes the operations into the array that is open in `w`; their paths begin with `pointer`.
 * Returns how many there are. What is needed on the way is in the arena.
 */
size_t json_diff(struct arena *arena, struct str pointer, struct json from, struct json to,
    struct json_writer *w);

#endif
