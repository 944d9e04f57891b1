/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a JSON Pointer (RFC 6901); what else is known of it is in base/json_patch.h. */
#ifndef BASE_JSON_JSON_POINTER_H
#define BASE_JSON_JSON_POINTER_H

#include "base/json/json_patch.h"

bool json_pointer_is_valid(struct str pointer);
/* How many levels below the root the pointer leads. */
size_t json_pointer_depth(struct str pointer);

/* Cuts the first token off a valid pointer, and decodes it. False at the end. */
bool json_pointer_next(struct arena *arena, struct str *rest, struct str *out_token);
/* Parts a valid pointer that is not empty into what leads to the parent, and the last token. */
void json_pointer_split(
    struct arena *arena, struct str pointer, struct str *out_parent, struct str *out_token);
/* Digits without a needless 0 in front; "-" is none. */
bool json_pointer_index(struct str token, size_t *out_index);

#endif
