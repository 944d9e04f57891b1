/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RFC 7396 (Merge Patch), RFC 6902 (JSON Patch) and RFC 6901 (Pointer). Documents are never changed
 * in place: the result is new compact text in the arena. `max_bytes` limits the result after every
 * operation, so a patch that copies a value into itself again and again is rejected early. A patch
 * is also rejected if its result would be nested past JSON_MAX_DEPTH, or if it has too many
 * operations or needs too much work or memory.
 */
#ifndef BASE_JSON_JSON_PATCH_H
#define BASE_JSON_JSON_PATCH_H

#include "base/json/json.h"

enum { JSON_PATCH_OPERATIONS_MAX = 10 * 1000 };

struct json_patch_error {
    size_t operation;   /* its index in the patch; 0 for a Merge Patch */
    struct str pointer; /* of the fault in the patch: "/2/path"; "" for the whole patch */
    struct str rule;    /* "the path does not lead to a value" */
    bool malformed;     /* the document is not a patch at all; else the patch does not apply */
};

MUST_CHECK bool json_merge_patch(struct arena *arena, struct json target, struct json patch,
    size_t max_bytes, struct str *out_text, struct json_patch_error *out_error);

MUST_CHECK bool json_patch(struct arena *arena, struct json target, struct json patch,
    size_t max_bytes, struct str *out_text, struct json_patch_error *out_error);

/* RFC 6901. Returns false if the pointer is malformed or its value does not exist. */
MUST_CHECK bool json_pointer(struct json root, struct str pointer, struct json *out_value);
/* Appends one reference token, escaped, to `parent`. */
struct str json_pointer_join(struct arena *arena, struct str parent, struct str token);

#endif
