/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON document while a patch changes it. A value remains a slice of the tape until an operation
 * passes through it; only then is one level of it expanded into a list of children. So the cost of
 * an operation depends on the values that it touches, not on the size of the document. Every
 * pointer must be valid. A change that breaks a rule returns false and sets `rule`; the tree is
 * unusable afterwards. The length of the resulting text, the memory and the number of visited
 * children are limited, because a patch of a few kilobytes can visit or move all children of a
 * large value thousands of times.
 */
#ifndef BASE_JSON_JSON_TREE_H
#define BASE_JSON_JSON_TREE_H

#include "base/json/json_write.h"

struct json_tree_children;

/* Has `children`, or, if that is NULL, `parsed`. */
struct json_tree_value {
    struct json parsed;
    struct json_tree_children *children;
};

struct json_tree {
    struct json_tree_value root;
    size_t len; /* of the compact text */
    size_t max_bytes;
    size_t work_left;
    struct arena memory;
    const char *rule;
};

/* The document and all added values must outlive the tree. */
void json_tree_init(
    struct json_tree *t, struct json document, size_t max_bytes, size_t memory_bytes);
void json_tree_deinit(struct json_tree *t);

/* The value is borrowed until the next change. */
bool json_tree_get(struct json_tree *t, struct str pointer, struct json_tree_value *out_value);
bool json_tree_test(struct json_tree *t, struct json_tree_value value, struct json expected);
void json_tree_write(const struct json_tree *t, struct json_writer *w);

bool json_tree_copy(
    struct json_tree *t, struct json_tree_value value, struct json_tree_value *out_copy);
bool json_tree_add(struct json_tree *t, struct str pointer, struct json_tree_value value);
bool json_tree_replace(struct json_tree *t, struct str pointer, struct json_tree_value value);
bool json_tree_remove(struct json_tree *t, struct str pointer, struct json_tree_value *out_removed);

#endif
