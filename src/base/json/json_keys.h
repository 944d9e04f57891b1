/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object's members by name. json_get walks the members each time; where many names are looked up
 * in objects that a client made as large as it liked, that would be quadratic. Lives in the arena
 * given; small objects cost nothing and are walked.
 */
#ifndef BASE_JSON_JSON_KEYS_H
#define BASE_JSON_JSON_KEYS_H

#include "base/json/json.h"

enum { JSON_KEYS_WALKED = 16 }; /* members up to which walking is the faster way */

struct json_key_slot;

struct json_keys {
    struct json object;
    struct json_key_slot *slots; /* NULL: the object is walked */
    size_t mask;
};

void json_keys_init(struct json_keys *keys, struct arena *arena, struct json object);
bool json_keys_find(const struct json_keys *keys, struct str name, struct json *out_value);

/* The first key that says the same as one before it, however the two are written. */
bool json_keys_duplicate(struct arena *arena, struct json object, struct json *out_key);

#endif
