/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a JSON Pointer (RFC 6901); base/json/json_patch.h evaluates pointers. */
#ifndef BASE_JSON_JSON_POINTER_H
#define BASE_JSON_JSON_POINTER_H

#include "base/json/json_patch.h"

bool json_pointer_is_valid(struct str pointer);
/* The number of reference tokens. */
size_t json_pointer_depth(struct str pointer);

/* Removes the first token of a valid pointer and decodes it. Returns false at the end. */
bool json_pointer_next(struct arena *arena, struct str *rest, struct str *out_token);
/* Splits a valid pointer, which must not be empty, into the pointer of the parent and the last
 * token. */
void json_pointer_split(
    struct arena *arena, struct str pointer, struct str *out_parent, struct str *out_token);
/* Accepts digits without leading zeros; "-" is not an index. */
bool json_pointer_index(struct str token, size_t *out_index);

#endif
