/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_tree.h"

#include "base/hash.h"
#include "base/json/json_keys.h"
#include "base/json/json_pointer.h"
#include "base/json/json_tape.h"

/* About 20 ms on current machines: a patch runs on the writer, where all tenants wait for it. */
enum { MAX_WORK = 1 << 22, CHILDREN_SHIFTED_PER_WORK = 8, BYTES_COMPARED_PER_WORK = 8 };

struct child {
    struct json key; /* of an object's member; unused in arrays */
    struct json_tree_value value;
    bool is_removed; /* of an object's member, which keeps its slot */
};

/*
 * The items of an array have a gap, which moves to the place of each change: operations on
 * neighbouring items cost the same in an array of any size. The members of an object never move;
 * `slots` finds the last member of a name, once there are more members than a scan should visit.
 */
struct json_tree_children {
    bool object;
    size_t count; /* without removed members */
    size_t used;  /* places: in objects with removed members, in arrays the same as count */
    size_t cap;   /* places in `items` */
    size_t gap;   /* items before the gap of an array, which has cap - used places */
    struct child *items;
    uint32_t *slots; /* 1 + the place of a member; 0: free */
    size_t n_slots;
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
    *children = (struct json_tree_children){.object = it.object,
        .count = count,
        .used = count,
        .cap = count,
        .gap = count,
        .items = items};
    value->children = children;
    return true;
}

/* --- Children ------------------------------------------------------------------------------- */

static struct child *child_at(const struct json_tree_children *in, size_t place)
{
    return &in->items[place < in->gap || in->object ? place : place + in->cap - in->used];
}

/* Visits the children in order: *place is 0 at the start. Returns NULL after the last one. */
static const struct child *next_child(const struct json_tree_children *in, size_t *place)
{
    while (*place < in->used) {
        const struct child *child = child_at(in, (*place)++);
        if (!child->is_removed)
            return child;
    }
    return NULL;
}

static bool move_gap(struct json_tree *t, struct json_tree_children *in, size_t to)
{
    size_t free = in->cap - in->used;
    size_t moved = to < in->gap ? in->gap - to : to - in->gap;
    if (!spend(t, moved / CHILDREN_SHIFTED_PER_WORK))
        return false;
    if (to < in->gap)
        memmove(&in->items[to + free], &in->items[to], moved * sizeof *in->items);
    else
        memmove(&in->items[in->gap], &in->items[in->gap + free], moved * sizeof *in->items);
    in->gap = to;
    return true;
}

static bool grow(struct json_tree *t, struct json_tree_children *in)
{
    size_t cap = in->cap + in->cap / 2 + 4;
    size_t front = in->object ? in->used : in->gap, back = in->used - front;
    struct child *items;
    if (!spend(t, in->used) || !alloc_items(t, cap, &items))
        return false;
    if (front > 0)
        memcpy(items, in->items, front * sizeof *items);
    if (back > 0)
        memcpy(&items[cap - back], &in->items[in->cap - back], back * sizeof *items);
    in->items = items;
    in->cap = cap;
    return true;
}

/* Returns the slot of the name, or the free slot for it. */
static uint32_t *slot_of(const struct json_tree_children *in, struct str name)
{
    size_t at = (size_t)hash_bytes(name.ptr, name.len) & (in->n_slots - 1);
    while (in->slots[at] != 0 && !json_string_eq(in->items[in->slots[at] - 1].key, name))
        at = (at + 1) & (in->n_slots - 1);
    return &in->slots[at];
}

/* Makes slots for at least twice as many members as there are. */
static bool index_members(struct json_tree *t, struct json_tree_children *in)
{
    size_t n = 64;
    while (n < 4 * in->used)
        n *= 2;
    if (arena_is_over(&t->memory) ||
        n * sizeof *in->slots > t->memory.budget_bytes - t->memory.used_bytes)
        return out_of_memory(t);
    in->slots = ARENA_ARRAY(&t->memory, uint32_t, n);
    in->n_slots = n;
    for (size_t i = 0; i < in->used; i++)
        *slot_of(in, json_string(&t->memory, in->items[i].key)) = (uint32_t)i + 1;
    return spend(t, in->used);
}

/* Sets *out_place to `used` if there is no such member. */
static bool find_member(
    struct json_tree *t, struct json_tree_children *in, struct str name, size_t *out_place)
{
    size_t place = 0;
    if (in->used > JSON_KEYS_WALKED) {
        if (2 * in->used > in->n_slots && !index_members(t, in))
            return false;
        uint32_t found = *slot_of(in, name);
        place = found == 0 || in->items[found - 1].is_removed ? in->used : found - 1;
    } else {
        while (place < in->used &&
               (in->items[place].is_removed || !json_string_eq(in->items[place].key, name)))
            place++;
    }
    *out_place = place;
    return spend(t, 1);
}

static bool find_child(
    struct json_tree *t, struct json_tree_children *in, struct str token, size_t *out_place)
{
    size_t place;
    if (in->object) {
        if (!find_member(t, in, token, &place))
            return false;
    } else if (!json_pointer_index(token, &place)) {
        place = in->used;
    }
    if (place >= in->used)
        return refuse(t, "the path does not lead to a value");
    *out_place = place;
    return true;
}

static bool insert_item(
    struct json_tree *t, struct json_tree_children *in, size_t place, struct json_tree_value value)
{
    if ((in->used == in->cap && !grow(t, in)) || !move_gap(t, in, place))
        return false;
    in->items[in->gap++] = (struct child){.value = value};
    in->used++;
    return true;
}

static bool append_member(
    struct json_tree *t, struct json_tree_children *in, struct str name, const struct child *member)
{
    if (in->used == in->cap && !grow(t, in))
        return false;
    if (in->n_slots > 0)
        *slot_of(in, name) = (uint32_t)in->used + 1;
    in->items[in->used++] = *member;
    return true;
}

static bool drop_child(struct json_tree *t, struct json_tree_children *in, size_t place)
{
    if (in->object) {
        in->items[place].is_removed = true;
        in->count--;
        return true;
    }
    if (!move_gap(t, in, place + 1))
        return false;
    in->gap--;
    in->used--;
    in->count--;
    return true;
}

/* --- Values --------------------------------------------------------------------------------- */

/* Expands the values on the path, but not the last one. */
static bool walk(struct json_tree *t, struct str pointer, struct json_tree_value **out_value)
{
    struct json_tree_value *value = &t->root;
    struct str token;
    while (json_pointer_next(&t->memory, &pointer, &token)) {
        size_t place;
        if (!open_value(t, value) || !find_child(t, value->children, token, &place))
            return false;
        value = &child_at(value->children, place)->value;
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
    const struct child *child;
    for (size_t place = 0; (child = next_child(in, &place)) != NULL;) {
        struct extent part;
        if (!measure(t, child->value, &part))
            return false;
        sum.len += part.len + (in->object ? key_len(child) : 0);
        sum.height = part.height > sum.height ? part.height : sum.height;
    }
    sum.height++;
    *out_extent = sum;
    return spend(t, in->used);
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
    const struct child *child;
    for (size_t place = 0; (child = next_child(in, &place)) != NULL;) {
        struct json other;
        if (in->object) {
            struct str name = json_string(&t->memory, child->key);
            if (!json_keys_find(&keys, name, &other))
                return false;
        } else {
            json_next(&it, NULL, &other);
        }
        if (!equal(t, child->value, other))
            return false;
    }
    return spend(t, in->used);
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
    const struct child *child;
    for (size_t place = 0; (child = next_child(in, &place)) != NULL;) {
        if (in->object)
            json_write_key_value(w, child->key);
        write_value(w, child->value);
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
    if (!spend(t, from->used) || !alloc_items(t, from->count, &items))
        return false;
    const struct child *child;
    size_t n = 0;
    for (size_t place = 0; (child = next_child(from, &place)) != NULL; n++) {
        items[n] = (struct child){.key = child->key};
        if (!json_tree_copy(t, child->value, &items[n].value))
            return false;
    }
    struct json_tree_children *copy = ARENA_NEW(&t->memory, struct json_tree_children);
    *copy = (struct json_tree_children){
        .object = from->object, .count = n, .used = n, .cap = n, .gap = n, .items = items};
    *out_copy = (struct json_tree_value){value.parsed, copy};
    return true;
}

/* Counts a new child and the comma before it. */
static void count_child(struct json_tree *t, struct json_tree_children *in)
{
    t->len += in->count > 0 ? 1 : 0;
    in->count++;
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
    if (!insert_item(t, in, index, value))
        return false;
    count_child(t, in);
    return check_len(t);
}

static bool add_member(struct json_tree *t, struct json_tree_children *in, struct str name,
    struct json_tree_value value)
{
    size_t place;
    if (!find_member(t, in, name, &place))
        return false;
    if (place < in->used)
        return set_value(t, &in->items[place].value, value);
    struct child member = {.value = value};
    if (!make_key(t, name, &member.key) || !append_member(t, in, name, &member))
        return false;
    t->len += key_len(&member);
    count_child(t, in);
    return check_len(t);
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
    size_t place;
    if (!walk_to_parent(t, pointer, &in, &token) || !find_child(t, in, token, &place))
        return false;
    struct child child = *child_at(in, place);
    if (!count_out(t, child.value) || !drop_child(t, in, place))
        return false;
    t->len -= (in->object ? key_len(&child) : 0) + (in->count > 0 ? 1 : 0);
    *out_removed = child.value;
    return true;
}
