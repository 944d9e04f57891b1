/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_tree.h"

#include "base/json/json_keys.h"
#include "base/json/json_pointer.h"
#include "base/json/json_tape.h"

/* Less than half a second on current machines. */
enum { MAX_WORK = 1 << 26, CHILDREN_SHIFTED_PER_WORK = 8, BYTES_COMPARED_PER_WORK = 64 };

struct child {
    struct json key; /* of an object's member; unused in arrays */
    struct json_tree_value value;
};

struct json_tree_children {
    bool object;
    size_t count;
    size_t cap;
    struct child *items;
};

/* The size that a value adds to the document. */
struct extent {
    size_t len;
    size_t height; /* levels of arrays and objects in it */
};

void json_tree_init(
    struct json_tree *t, struct json document, size_t max_bytes, size_t memory_bytes)
{
    *t = (struct json_tree){
        .root = {.parsed = document},
        .len = json_compact_len(document),
        .max_bytes = max_bytes,
        .work_left = MAX_WORK,
    };
    arena_init(&t->memory, memory_bytes);
}

void json_tree_deinit(struct json_tree *t)
{
    arena_deinit(&t->memory);
}

static bool refuse(struct json_tree *t, const char *rule)
{
    t->rule = rule;
    return false;
}

static bool spend(struct json_tree *t, size_t work)
{
    if (work > t->work_left)
        return refuse(t, "the patch needs too much work");
    t->work_left -= work;
    return true;
}

static bool out_of_memory(struct json_tree *t)
{
    return refuse(t, "the patch needs more memory than a request may use");
}

static bool alloc_items(struct json_tree *t, size_t count, struct child **out_items)
{
    size_t size = count * sizeof(struct child);
    if (arena_is_over(&t->memory) || size > t->memory.budget_bytes - t->memory.used_bytes)
        return out_of_memory(t);
    *out_items = arena_alloc(&t->memory, size);
    return true;
}

static bool is_open(struct json_tree_value value)
{
    return value.children != NULL;
}

static bool open_value(struct json_tree *t, struct json_tree_value *value)
{
    if (is_open(*value))
        return true;
    if (json_type(value->parsed) < JSON_ARRAY)
        return refuse(t, "the path passes through a value without members or items");
    size_t count = json_count(value->parsed);
    struct child *items;
    if (!spend(t, count) || !alloc_items(t, count, &items))
        return false;
    struct json_iter it = json_iter(value->parsed);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct child){0};
        json_next(&it, &items[i].key, &items[i].value.parsed);
    }
    struct json_tree_children *children = ARENA_NEW(&t->memory, struct json_tree_children);
    *children = (struct json_tree_children){it.object, count, count, items};
    value->children = children;
    return true;
}

static bool find_child(
    struct json_tree *t, const struct json_tree_children *in, struct str token, size_t *out_index)
{
    size_t index;
    if (!in->object) {
        if (!json_pointer_index(token, &index) || index >= in->count)
            return refuse(t, "the path does not lead to a value");
        *out_index = index;
        return true;
    }
    for (index = 0; index < in->count; index++) {
        if (json_string_eq(in->items[index].key, token)) {
            *out_index = index;
            return spend(t, index);
        }
    }
    return spend(t, index) && refuse(t, "the path does not lead to a value");
}

/* Expands the values on the path, but not the last one. */
static bool walk(struct json_tree *t, struct str pointer, struct json_tree_value **out_value)
{
    struct json_tree_value *value = &t->root;
    struct str token;
    while (json_pointer_next(&t->memory, &pointer, &token)) {
        size_t index;
        if (!open_value(t, value) || !find_child(t, value->children, token, &index))
            return false;
        value = &value->children->items[index].value;
    }
    *out_value = value;
    return true;
}

static bool walk_to_parent(struct json_tree *t, struct str pointer,
    struct json_tree_children **out_children, struct str *out_token)
{
    struct str parent;
    struct json_tree_value *value;
    json_pointer_split(&t->memory, pointer, &parent, out_token);
    if (!walk(t, parent, &value) || !open_value(t, value))
        return false;
    *out_children = value->children;
    return true;
}

static size_t parsed_height(struct json v)
{
    const struct json_node *nodes = v.doc->nodes;
    uint32_t ends[JSON_MAX_DEPTH];
    size_t open = 0, height = 0;
    for (uint32_t i = v.at; i < nodes[v.at].next; i++) {
        while (open > 0 && i >= ends[open - 1])
            open--;
        if (nodes[i].type < JSON_ARRAY)
            continue;
        ends[open++] = nodes[i].next;
        height = open > height ? open : height;
    }
    return height;
}

static size_t key_len(const struct child *child)
{
    return json_raw(child->key).len + 1;
}

static bool measure(struct json_tree *t, struct json_tree_value value, struct extent *out_extent)
{
    if (!is_open(value)) {
        *out_extent = (struct extent){json_compact_len(value.parsed), parsed_height(value.parsed)};
        return spend(t, json_node(value.parsed)->next - value.parsed.at);
    }
    const struct json_tree_children *in = value.children;
    struct extent sum = {.len = 2 + (in->count > 0 ? in->count - 1 : 0)};
    for (size_t i = 0; i < in->count; i++) {
        struct extent part;
        if (!measure(t, in->items[i].value, &part))
            return false;
        sum.len += part.len + (in->object ? key_len(&in->items[i]) : 0);
        sum.height = part.height > sum.height ? part.height : sum.height;
    }
    sum.height++;
    *out_extent = sum;
    return spend(t, in->count);
}

/* Checks that the value may be placed at the pointer, and counts its size. */
static bool count_in(struct json_tree *t, struct str pointer, struct json_tree_value value)
{
    struct extent extent;
    if (!measure(t, value, &extent))
        return false;
    if (json_pointer_depth(pointer) + extent.height > JSON_MAX_DEPTH)
        return refuse(t, "the result would be nested too deeply");
    t->len += extent.len;
    return true;
}

static bool count_out(struct json_tree *t, struct json_tree_value value)
{
    struct extent extent;
    if (!measure(t, value, &extent))
        return false;
    t->len -= extent.len;
    return true;
}

static bool check_len(struct json_tree *t)
{
    return t->len <= t->max_bytes || refuse(t, "the result would be too large");
}

bool json_tree_get(struct json_tree *t, struct str pointer, struct json_tree_value *out_value)
{
    struct json_tree_value *value;
    if (!walk(t, pointer, &value))
        return false;
    *out_value = *value;
    return true;
}

static bool equal(struct json_tree *t, struct json_tree_value value, struct json expected);

static bool children_equal(
    struct json_tree *t, const struct json_tree_children *in, struct json expected)
{
    struct json_keys keys;
    json_keys_init(&keys, &t->memory, expected);
    struct json_iter it = json_iter(expected);
    for (size_t i = 0; i < in->count; i++) {
        struct json other;
        if (in->object) {
            struct str name = json_string(&t->memory, in->items[i].key);
            if (!json_keys_find(&keys, name, &other))
                return false;
        } else {
            json_next(&it, NULL, &other);
        }
        if (!equal(t, in->items[i].value, other))
            return false;
    }
    return true;
}

static bool equal(struct json_tree *t, struct json_tree_value value, struct json expected)
{
    if (!is_open(value))
        return spend(t, json_raw(value.parsed).len / BYTES_COMPARED_PER_WORK) &&
               json_equal(value.parsed, expected);
    const struct json_tree_children *in = value.children;
    return json_type(expected) == (in->object ? JSON_OBJECT : JSON_ARRAY) &&
           json_count(expected) == in->count && children_equal(t, in, expected);
}

bool json_tree_test(struct json_tree *t, struct json_tree_value value, struct json expected)
{
    t->rule = NULL;
    if (equal(t, value, expected))
        return true;
    return t->rule != NULL ? false : refuse(t, "the value at the path is not the expected one");
}

static void write_value(struct json_writer *w, struct json_tree_value value)
{
    if (!is_open(value)) {
        json_write_value(w, value.parsed);
        return;
    }
    const struct json_tree_children *in = value.children;
    if (in->object)
        json_write_object(w);
    else
        json_write_array(w);
    for (size_t i = 0; i < in->count; i++) {
        if (in->object)
            json_write_key_value(w, in->items[i].key);
        write_value(w, in->items[i].value);
    }
    json_write_end(w);
}

void json_tree_write(const struct json_tree *t, struct json_writer *w)
{
    write_value(w, t->root);
}

bool json_tree_copy(
    struct json_tree *t, struct json_tree_value value, struct json_tree_value *out_copy)
{
    if (!is_open(value)) {
        *out_copy = value;
        return true;
    }
    const struct json_tree_children *from = value.children;
    struct child *items;
    if (!spend(t, from->count) || !alloc_items(t, from->count, &items))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        items[i].key = from->items[i].key;
        if (!json_tree_copy(t, from->items[i].value, &items[i].value))
            return false;
    }
    struct json_tree_children *copy = ARENA_NEW(&t->memory, struct json_tree_children);
    *copy = (struct json_tree_children){from->object, from->count, from->count, items};
    *out_copy = (struct json_tree_value){value.parsed, copy};
    return true;
}

static bool insert_child(
    struct json_tree *t, struct json_tree_children *in, size_t index, struct child child)
{
    if (in->count == in->cap) {
        size_t cap = in->cap + in->cap / 2 + 4;
        struct child *items;
        if (!spend(t, in->count) || !alloc_items(t, cap, &items))
            return false;
        if (in->count > 0)
            memcpy(items, in->items, in->count * sizeof *items);
        in->items = items;
        in->cap = cap;
    }
    size_t after = in->count - index;
    memmove(&in->items[index + 1], &in->items[index], after * sizeof child);
    in->items[index] = child;
    t->len += in->count > 0 ? 1 : 0;
    in->count++;
    return spend(t, after / CHILDREN_SHIFTED_PER_WORK);
}

/* A member name from a pointer becomes a document of its own. */
static bool make_key(struct json_tree *t, struct str name, struct json *out_key)
{
    struct buf text CLEANUP(buf_deinit) = BUF_INIT(6 * name.len + 2);
    struct json_writer w;
    json_writer_init(&w, &text);
    json_write_string(&w, name);
    struct json_doc *doc = ARENA_NEW(&t->memory, struct json_doc);
    struct json_error error;
    if (!json_parse(&t->memory, arena_str(&t->memory, buf_str(&text)), doc, &error))
        return out_of_memory(t);
    *out_key = json_root(doc);
    return true;
}

static bool set_value(
    struct json_tree *t, struct json_tree_value *place, struct json_tree_value value)
{
    if (!count_out(t, *place))
        return false;
    *place = value;
    return check_len(t);
}

static bool add_item(struct json_tree *t, struct json_tree_children *in, struct str token,
    struct json_tree_value value)
{
    size_t index = in->count;
    if (!str_eq(token, STR("-")) && (!json_pointer_index(token, &index) || index > in->count))
        return refuse(t, "the path is not an index at which the array can grow");
    return insert_child(t, in, index, (struct child){.value = value}) && check_len(t);
}

static bool add_member(struct json_tree *t, struct json_tree_children *in, struct str name,
    struct json_tree_value value)
{
    size_t index;
    for (index = 0; index < in->count; index++)
        if (json_string_eq(in->items[index].key, name))
            break;
    if (!spend(t, index))
        return false;
    if (index < in->count)
        return set_value(t, &in->items[index].value, value);
    struct child child = {.value = value};
    if (!make_key(t, name, &child.key))
        return false;
    t->len += key_len(&child);
    return insert_child(t, in, index, child) && check_len(t);
}

bool json_tree_add(struct json_tree *t, struct str pointer, struct json_tree_value value)
{
    if (pointer.len == 0)
        return json_tree_replace(t, pointer, value);
    struct json_tree_children *in;
    struct str token;
    if (!count_in(t, pointer, value) || !walk_to_parent(t, pointer, &in, &token))
        return false;
    return in->object ? add_member(t, in, token, value) : add_item(t, in, token, value);
}

bool json_tree_replace(struct json_tree *t, struct str pointer, struct json_tree_value value)
{
    struct json_tree_value *place;
    return walk(t, pointer, &place) && count_in(t, pointer, value) && set_value(t, place, value);
}

bool json_tree_remove(struct json_tree *t, struct str pointer, struct json_tree_value *out_removed)
{
    if (pointer.len == 0)
        return refuse(t, "the whole document cannot be removed");
    struct json_tree_children *in;
    struct str token;
    size_t index;
    if (!walk_to_parent(t, pointer, &in, &token) || !find_child(t, in, token, &index))
        return false;
    struct child child = in->items[index];
    size_t after = in->count - index - 1;
    if (!count_out(t, child.value) || !spend(t, after / CHILDREN_SHIFTED_PER_WORK))
        return false;
    memmove(&in->items[index], &in->items[index + 1], after * sizeof child);
    in->count--;
    t->len -= (in->object ? key_len(&child) : 0) + (in->count > 0 ? 1 : 0);
    *out_removed = child.value;
    return true;
}
