/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of an object by name. json_get scans the members each time, which is quadratic when
 * many names are looked up in a large object from a client. The index lives in the arena; small
 * objects are scanned and need no memory.
 */
#ifndef BASE_JSON_JSON_KEYS_H
#define BASE_JSON_JSON_KEYS_H

#include "base/json/json.h"

enum { JSON_KEYS_WALKED = 16 }; /* largest number of members for which a scan is faster */

struct json_key_slot;

struct json_keys {
    struct json object;
    struct json_key_slot *slots; /* NULL: the object is scanned */
    size_t mask;
};

void json_keys_init(struct json_keys *keys, struct arena *arena, struct json object);
bool json_keys_find(const struct json_keys *keys, struct str name, struct json *out_value);

/* Finds the first key that decodes to the same name as an earlier one. */
bool json_keys_duplicate(struct arena *arena, struct json object, struct json *out_key);

#endif
