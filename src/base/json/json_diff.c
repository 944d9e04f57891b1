/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_diff.h"

#include "base/json/json_keys.h"
#include "base/json/json_patch.h"

struct differ {
    struct arena *arena;
    struct json_writer *w;
    size_t operations;
};

static void compare(struct differ *d, struct str pointer, struct json from, struct json to);

static void operation(struct differ *d, struct str op, struct str pointer, const struct json *value)
{
    json_write_object(d->w);
    json_write_text_member(d->w, "op", op);
    json_write_text_member(d->w, "path", pointer);
    if (value != NULL) {
        json_write_name(d->w, "value");
        json_write_value(d->w, *value);
    }
    json_write_end(d->w);
    d->operations++;
}

static struct str member_pointer(struct differ *d, struct str parent, struct json key)
{
    return json_pointer_join(d->arena, parent, json_string(d->arena, key));
}

static struct str item_pointer(struct differ *d, struct str parent, size_t index)
{
    return arena_printf(d->arena, "%.*s/%zu", STR_ARG(parent), index);
}

static void compare_objects(struct differ *d, struct str pointer, struct json from, struct json to)
{
    struct json_keys old_keys, new_keys;
    struct json key, value, other;
    json_keys_init(&old_keys, d->arena, from);
    json_keys_init(&new_keys, d->arena, to);
    for (struct json_iter it = json_iter(from); json_next(&it, &key, &value);)
        if (!json_keys_find(&new_keys, json_string(d->arena, key), &other))
            operation(d, STR("remove"), member_pointer(d, pointer, key), NULL);
        else if (!json_equal(value, other))
            compare(d, member_pointer(d, pointer, key), value, other);
    for (struct json_iter it = json_iter(to); json_next(&it, &key, &value);)
        if (!json_keys_find(&old_keys, json_string(d->arena, key), &other))
            operation(d, STR("add"), member_pointer(d, pointer, key), &value);
}

static struct json *items_of(struct differ *d, struct json array)
{
    struct json *items = ARENA_ARRAY(d->arena, struct json, json_count(array) + 1), item;
    size_t n = 0;
    for (struct json_iter it = json_iter(array); json_next(&it, NULL, &item);)
        items[n++] = item;
    return items;
}

static void compare_arrays(struct differ *d, struct str pointer, struct json from, struct json to)
{
    const struct json *old_items = items_of(d, from), *new_items = items_of(d, to);
    size_t old_end = json_count(from), new_end = json_count(to), at = 0;
    while (at < old_end && at < new_end && json_equal(old_items[at], new_items[at]))
        at++;
    while (
        old_end > at && new_end > at && json_equal(old_items[old_end - 1], new_items[new_end - 1]))
        old_end--, new_end--;
    for (; at < old_end && at < new_end; at++)
        if (!json_equal(old_items[at], new_items[at]))
            compare(d, item_pointer(d, pointer, at), old_items[at], new_items[at]);
    while (old_end > at)
        operation(d, STR("remove"), item_pointer(d, pointer, --old_end), NULL);
    for (; at < new_end; at++)
        operation(d, STR("add"), item_pointer(d, pointer, at), &new_items[at]);
}

/* Compares two values that differ. */
static void compare(struct differ *d, struct str pointer, struct json from, struct json to)
{
    enum json_type type = json_type(from);
    if (type == json_type(to) && type == JSON_OBJECT)
        compare_objects(d, pointer, from, to);
    else if (type == json_type(to) && type == JSON_ARRAY)
        compare_arrays(d, pointer, from, to);
    else
        operation(d, STR("replace"), pointer, &to);
}

size_t json_diff(struct arena *arena, struct str pointer, struct json from, struct json to,
    struct json_writer *w)
{
    struct differ d = {.arena = arena, .w = w};
    if (!json_equal(from, to))
        compare(&d, pointer, from, to);
    return d.operations;
}
