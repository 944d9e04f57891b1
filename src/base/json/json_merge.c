/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_keys.h"
#include "base/json/json_patch.h"
#include "base/json/json_write.h"

/* RFC 7396. The result is never nested deeper than the target and the patch. */
struct merge {
    struct json_writer *w;
    struct arena *scratch;
};

static void merge_value(struct merge *m, const struct json *target, struct json patch);

/* The members of the target: kept, removed by a null, or merged. */
static void merge_into_members(struct merge *m, struct json target, const struct json_keys *patch)
{
    struct json_iter it = json_iter(target);
    struct json key, value, change;
    while (json_next(&it, &key, &value)) {
        bool kept = !json_keys_find(patch, json_string(m->scratch, key), &change);
        if (!kept && json_type(change) == JSON_NULL)
            continue;
        json_write_key_value(m->w, key);
        if (kept)
            json_write_value(m->w, value);
        else
            merge_value(m, &value, change);
    }
}

/* The members of the patch that the target does not have. */
static void merge_new_members(struct merge *m, const struct json_keys *target, struct json patch)
{
    struct json_iter it = json_iter(patch);
    struct json key, value, known;
    while (json_next(&it, &key, &value)) {
        if (json_type(value) == JSON_NULL)
            continue;
        if (target != NULL && json_keys_find(target, json_string(m->scratch, key), &known))
            continue;
        json_write_key_value(m->w, key);
        merge_value(m, NULL, value);
    }
}

/* A target of NULL does not exist. */
static void merge_value(struct merge *m, const struct json *target, struct json patch)
{
    if (json_type(patch) != JSON_OBJECT) {
        json_write_value(m->w, patch);
        return;
    }
    json_write_object(m->w);
    if (target != NULL && json_type(*target) == JSON_OBJECT) {
        struct json_keys in_target, in_patch;
        json_keys_init(&in_target, m->scratch, *target);
        json_keys_init(&in_patch, m->scratch, patch);
        merge_into_members(m, *target, &in_patch);
        merge_new_members(m, &in_target, patch);
    } else {
        merge_new_members(m, NULL, patch);
    }
    json_write_end(m->w);
}

bool json_merge_patch(struct arena *arena, struct json target, struct json patch, size_t max_bytes,
    struct str *out_text, struct json_patch_error *out_error)
{
    struct buf out CLEANUP(buf_deinit) = BUF_INIT(max_bytes);
    struct arena scratch CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct json_writer w;
    json_writer_init(&w, &out);
    merge_value(&(struct merge){&w, &scratch}, &target, patch);
    struct str text = out.failed ? STR_NONE : arena_str(arena, buf_str(&out));
    if (out.failed || arena_is_over(arena)) {
        *out_error = (struct json_patch_error){
            .pointer = STR(""),
            .rule = out.failed ? STR("the result would be too large")
                               : STR("the patch needs more memory than a request may use"),
        };
        return false;
    }
    *out_text = text;
    return true;
}
