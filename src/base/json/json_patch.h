/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RFC 7396 (Merge Patch), RFC 6902 (JSON Patch) and RFC 6901 (Pointer). Documents are never changed
 * in place: the result is new compact text in the arena. `max_bytes` bounds it at every step, so
 * that a patch which copies a value into itself over and over is refused rather than carried out;
 * so is one whose result would be nested past JSON_MAX_DEPTH, or which takes very much work or
 * memory.
 */
#ifndef BASE_JSON_JSON_PATCH_H
#define BASE_JSON_JSON_PATCH_H

#include "base/json/json.h"

struct json_patch_error {
    size_t operation;   /* its index in the patch; 0 for a Merge Patch */
    struct str pointer; /* where in the patch the fault is: "/2/path"; "" for the whole */
    struct str rule;    /* "the path leads to no value" */
    bool malformed;     /* the patch itself is not a patch, rather than one that does not apply */
};

MUST_CHECK bool json_merge_patch(struct arena *arena, struct json target, struct json patch,
    size_t max_bytes, struct str *out_text, struct json_patch_error *out_error);

MUST_CHECK bool json_patch(struct arena *arena, struct json target, struct json patch,
    size_t max_bytes, struct str *out_text, struct json_patch_error *out_error);

/* RFC 6901. False when the pointer is malformed or leads nowhere. */
MUST_CHECK bool json_pointer(struct json root, struct str pointer, struct json *out_value);
/* `parent` with one more reference token, escaped. */
struct str json_pointer_join(struct arena *arena, struct str parent, struct str token);

#endif
