/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_patch.h"

#include "base/json/json_pointer.h"
#include "base/json/json_tree.h"

/* RFC 6902. */
struct operation {
    const struct operation_kind *kind;
    struct str path;
    struct str from;
    struct json value;
};

/* The result of an operation: applied, or the member at fault. The rule is in the tree. */
enum outcome { APPLIED, FAULT_IN_PATH, FAULT_IN_FROM, FAULT_IN_VALUE };

struct operation_kind {
    struct str name;
    bool has_from;
    bool has_value;
    enum outcome (*apply)(struct json_tree *tree, const struct operation *op);
};

struct patcher {
    struct arena *arena;
    struct json_patch_error error;
};

static enum outcome apply_add(struct json_tree *tree, const struct operation *op)
{
    struct json_tree_value value = {.parsed = op->value};
    return json_tree_add(tree, op->path, value) ? APPLIED : FAULT_IN_PATH;
}

static enum outcome apply_remove(struct json_tree *tree, const struct operation *op)
{
    struct json_tree_value removed;
    return json_tree_remove(tree, op->path, &removed) ? APPLIED : FAULT_IN_PATH;
}

static enum outcome apply_replace(struct json_tree *tree, const struct operation *op)
{
    struct json_tree_value value = {.parsed = op->value};
    return json_tree_replace(tree, op->path, value) ? APPLIED : FAULT_IN_PATH;
}

static enum outcome apply_move(struct json_tree *tree, const struct operation *op)
{
    struct json_tree_value value;
    if (str_eq(op->from, op->path))
        return json_tree_get(tree, op->from, &value) ? APPLIED : FAULT_IN_FROM;
    if (str_starts_with(op->path, op->from) && op->path.ptr[op->from.len] == '/') {
        tree->rule = "a value cannot be moved into itself";
        return FAULT_IN_PATH;
    }
    if (!json_tree_remove(tree, op->from, &value))
        return FAULT_IN_FROM;
    return json_tree_add(tree, op->path, value) ? APPLIED : FAULT_IN_PATH;
}

static enum outcome apply_copy(struct json_tree *tree, const struct operation *op)
{
    struct json_tree_value value, copy;
    if (!json_tree_get(tree, op->from, &value) || !json_tree_copy(tree, value, &copy))
        return FAULT_IN_FROM;
    return json_tree_add(tree, op->path, copy) ? APPLIED : FAULT_IN_PATH;
}

static enum outcome apply_test(struct json_tree *tree, const struct operation *op)
{
    struct json_tree_value value;
    if (!json_tree_get(tree, op->path, &value))
        return FAULT_IN_PATH;
    return json_tree_test(tree, value, op->value) ? APPLIED : FAULT_IN_VALUE;
}

/* clang-format off */
static const struct operation_kind kinds[] = {
    /* name            from   value  apply */
    {{"add", 3},     false, true,  apply_add},
    {{"remove", 6},  false, false, apply_remove},
    {{"replace", 7}, false, true,  apply_replace},
    {{"move", 4},    true,  false, apply_move},
    {{"copy", 4},    true,  false, apply_copy},
    {{"test", 4},    false, true,  apply_test},
};
/* clang-format on */

static const struct operation_kind *kind_named(struct json name)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (json_string_eq(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

/* `member` is STR_NONE if the fault is in the operation as a whole. */
static bool refuse(
    struct patcher *p, size_t operation, struct str member, const char *rule, bool malformed)
{
    struct str pointer = arena_printf(p->arena, "/%zu", operation);
    if (!str_is_none(member))
        pointer = json_pointer_join(p->arena, pointer, member);
    p->error = (struct json_patch_error){operation, pointer, str_of(rule), malformed};
    return false;
}

static bool read_pointer(
    struct patcher *p, size_t at, struct json op, struct str member, struct str *out_pointer)
{
    struct json value;
    if (!json_get(op, member, &value))
        return refuse(p, at, member, "the operation must have this member", true);
    if (json_type(value) != JSON_STRING)
        return refuse(p, at, member, "a JSON Pointer must be a string", true);
    struct str pointer = json_string(p->arena, value);
    if (!json_pointer_is_valid(pointer))
        return refuse(p, at, member, "this must be a JSON Pointer", true);
    *out_pointer = pointer;
    return true;
}

static bool read_operation(
    struct patcher *p, size_t at, struct json item, struct operation *out_operation)
{
    struct operation op = {.value = item};
    struct json name;
    if (json_type(item) != JSON_OBJECT)
        return refuse(p, at, STR_NONE, "an operation must be an object", true);
    if (!json_get(item, STR("op"), &name))
        return refuse(p, at, STR("op"), "the operation must have this member", true);
    op.kind = kind_named(name);
    if (op.kind == NULL)
        return refuse(p, at, STR("op"),
            "this must be \"add\", \"remove\", \"replace\", \"move\", \"copy\" or \"test\"", true);
    if (!read_pointer(p, at, item, STR("path"), &op.path))
        return false;
    if (op.kind->has_from && !read_pointer(p, at, item, STR("from"), &op.from))
        return false;
    if (op.kind->has_value && !json_get(item, STR("value"), &op.value))
        return refuse(p, at, STR("value"), "the operation must have this member", true);
    *out_operation = op;
    return true;
}

/* Checks the whole patch before any operation is applied: its validity does not depend on the
 * target. */
static bool check_patch(struct patcher *p, struct json patch)
{
    if (json_type(patch) != JSON_ARRAY) {
        p->error = (struct json_patch_error){
            .pointer = STR(""),
            .rule = STR("a JSON Patch must be an array of operations"),
            .malformed = true,
        };
        return false;
    }
    if (json_count(patch) > JSON_PATCH_OPERATIONS_MAX) {
        p->error = (struct json_patch_error){
            .pointer = STR(""),
            .rule = arena_printf(
                p->arena, "must have at most %d operations", JSON_PATCH_OPERATIONS_MAX),
            .malformed = true,
        };
        return false;
    }
    struct json_iter it = json_iter(patch);
    struct json item;
    struct operation op;
    for (size_t at = 0; json_next(&it, NULL, &item); at++)
        if (!read_operation(p, at, item, &op))
            return false;
    return true;
}

static struct str member_at_fault(enum outcome outcome)
{
    switch (outcome) {
    case FAULT_IN_PATH:
        return STR("path");
    case FAULT_IN_FROM:
        return STR("from");
    default:
        return STR("value");
    }
}

static bool apply_all(struct patcher *p, struct json patch, struct json_tree *tree)
{
    struct json_iter it = json_iter(patch);
    struct json item;
    struct operation op;
    for (size_t at = 0; json_next(&it, NULL, &item); at++) {
        if (!read_operation(p, at, item, &op))
            return false;
        enum outcome outcome = op.kind->apply(tree, &op);
        if (outcome != APPLIED)
            return refuse(p, at, member_at_fault(outcome), tree->rule, false);
    }
    return true;
}

static bool write_result(
    struct patcher *p, const struct json_tree *tree, size_t max_bytes, struct str *out_text)
{
    struct buf out CLEANUP(buf_deinit) = BUF_INIT(max_bytes);
    struct json_writer w;
    json_writer_init(&w, &out);
    json_tree_write(tree, &w);
    struct str text = out.failed ? STR_NONE : arena_str(p->arena, buf_str(&out));
    if (out.failed || arena_is_over(p->arena)) {
        p->error = (struct json_patch_error){
            .pointer = STR(""),
            .rule = out.failed ? STR("the result would be too large")
                               : STR("the patch needs more memory than a request may use"),
        };
        return false;
    }
    assert(text.len == tree->len);
    *out_text = text;
    return true;
}

bool json_patch(struct arena *arena, struct json target, struct json patch, size_t max_bytes,
    struct str *out_text, struct json_patch_error *out_error)
{
    struct patcher p = {.arena = arena};
    size_t memory = arena_is_over(arena) ? 0 : arena->budget_bytes - arena->used_bytes;
    CLEANUP(json_tree_deinit) struct json_tree tree;
    json_tree_init(&tree, target, max_bytes, memory);
    if (check_patch(&p, patch) && apply_all(&p, patch, &tree) &&
        write_result(&p, &tree, max_bytes, out_text))
        return true;
    *out_error = p.error;
    return false;
}
