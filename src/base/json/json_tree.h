/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON document while a patch changes it. A value stays the slice of tape that it was parsed into
 * until an operation passes through it; only then is it opened, one level, into a list of children.
 * So an operation costs what it touches, not what the document holds. Every pointer given must be
 * valid. A change that breaks a rule returns false and leaves the rule in `rule`; the tree is of no
 * use afterwards. What can be spent is bounded three ways: the length of the text that the tree
 * stands for, the memory, and the number of children visited (a patch of some kilobytes may ask to
 * shift a large array thousands of times).
 */
#ifndef BASE_JSON_JSON_TREE_H
#define BASE_JSON_JSON_TREE_H

#include "base/json/json_write.h"

struct json_tree_children;

/* Either `children`, or, where that is NULL, `parsed`. */
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

/* The document must outlive the tree, as must every value that is put in. */
void json_tree_init(
    struct json_tree *t, struct json document, size_t max_bytes, size_t memory_bytes);
void json_tree_deinit(struct json_tree *t);

/* Borrowed until the next change. */
bool json_tree_get(struct json_tree *t, struct str pointer, struct json_tree_value *out_value);
bool json_tree_test(struct json_tree *t, struct json_tree_value value, struct json expected);
void json_tree_write(const struct json_tree *t, struct json_writer *w);

bool json_tree_copy(
    struct json_tree *t, struct json_tree_value value, struct json_tree_value *out_copy);
bool json_tree_add(struct json_tree *t, struct str pointer, struct json_tree_value value);
bool json_tree_replace(struct json_tree *t, struct str pointer, struct json_tree_value value);
bool json_tree_remove(struct json_tree *t, struct str pointer, struct json_tree_value *out_removed);

#endif
