/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_keys.h"

#include "base/hash.h"
#include "base/json/json_tape.h"

/* Open addressing with linear probing, at most half full. */
struct json_key_slot {
    struct str name; /* decoded; STR_NONE: the slot is free */
    uint32_t hash;
    uint32_t value_at;
};

static void init_slots(struct json_keys *keys, struct arena *arena, struct json object)
{
    size_t size = 8;
    while (size < 2 * json_count(object))
        size *= 2;
    keys->object = object;
    keys->slots = ARENA_ARRAY(arena, struct json_key_slot, size);
    keys->mask = size - 1;
}

/* Returns the slot of the name, or the free slot for it. */
static struct json_key_slot *probe(const struct json_keys *keys, struct str name, uint32_t hash)
{
    size_t i = hash & keys->mask;
    for (;;) {
        struct json_key_slot *slot = &keys->slots[i];
        if (str_is_none(slot->name) || (slot->hash == hash && str_eq(slot->name, name)))
            return slot;
        i = (i + 1) & keys->mask;
    }
}

/* Returns false if a member of this name exists. */
static bool insert(struct json_keys *keys, struct str name, struct json value)
{
    uint32_t hash = (uint32_t)hash_bytes(name.ptr, name.len);
    struct json_key_slot *slot = probe(keys, name, hash);
    if (!str_is_none(slot->name))
        return false;
    *slot = (struct json_key_slot){name, hash, value.at};
    return true;
}

void json_keys_init(struct json_keys *keys, struct arena *arena, struct json object)
{
    *keys = (struct json_keys){.object = object};
    if (json_count(object) <= JSON_KEYS_WALKED)
        return;
    init_slots(keys, arena, object);
    struct json_iter it = json_iter(object);
    struct json key, value;
    while (json_next(&it, &key, &value))
        insert(keys, json_string(arena, key), value);
}

bool json_keys_find(const struct json_keys *keys, struct str name, struct json *out_value)
{
    if (keys->slots == NULL)
        return json_get(keys->object, name, out_value);
    const struct json_key_slot *slot = probe(keys, name, (uint32_t)hash_bytes(name.ptr, name.len));
    if (str_is_none(slot->name))
        return false;
    *out_value = (struct json){keys->object.doc, slot->value_at};
    return true;
}

bool json_keys_duplicate(struct arena *arena, struct json object, struct json *out_key)
{
    struct json_keys keys;
    init_slots(&keys, arena, object);
    struct json_iter it = json_iter(object);
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        if (!insert(&keys, json_string(arena, key), value)) {
            *out_key = key;
            return true;
        }
    }
    return false;
}
