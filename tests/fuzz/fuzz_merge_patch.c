/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a target and the rest a merge patch. The result must be that of the pseudo-code
 * in RFC 7396, member by member, and applying the patch again must change nothing more.
 */
#include "base/json/json_patch.h"
#include "fuzz.h"
#include "split.h"

enum { ARENA_BYTES = 64 * 1024 * 1024, MAX_RESULT_BYTES = 1024 * 1024 };

/* A target of NULL is one that is not there. */
static void check_merged(
    struct arena *arena, const struct json *target, struct json patch, struct json result)
{
    if (json_type(patch) != JSON_OBJECT) {
        FUZZ_CHECK(json_equal(patch, result));
        return;
    }
    FUZZ_CHECK(json_type(result) == JSON_OBJECT);
    bool has_target = target != NULL && json_type(*target) == JSON_OBJECT;
    size_t expected_count = has_target ? json_count(*target) : 0;
    struct json_iter it = json_iter(patch);
    struct json key, change, before, after;
    while (json_next(&it, &key, &change)) {
        struct str name = json_string(arena, key);
        bool was = has_target && json_get(*target, name, &before);
        bool is = json_get(result, name, &after);
        FUZZ_CHECK(is == (json_type(change) != JSON_NULL));
        expected_count = expected_count + is - was;
        if (is)
            check_merged(arena, was ? &before : NULL, change, after);
    }
    it = json_iter(has_target ? *target : patch);
    while (has_target && json_next(&it, &key, &before)) {
        struct str name = json_string(arena, key);
        if (!json_get(patch, name, &change))
            FUZZ_CHECK(json_get(result, name, &after) && json_equal(before, after));
    }
    FUZZ_CHECK(json_count(result) == expected_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct two_docs docs;
    arena_init(&arena, ARENA_BYTES);
    if (!split_docs(&arena, (struct str){(const char *)data, size}, &docs))
        return 0;
    struct json target = json_root(&docs.first), patch = json_root(&docs.second);
    struct str text, again, tight;
    struct json_doc result;
    struct json_patch_error error;
    struct json_error parse_error;
    FUZZ_CHECK(json_merge_patch(&arena, target, patch, MAX_RESULT_BYTES, &text, &error));
    FUZZ_CHECK(json_parse(&arena, text, &result, &parse_error));
    check_merged(&arena, &target, patch, json_root(&result));
    FUZZ_CHECK(
        json_merge_patch(&arena, json_root(&result), patch, MAX_RESULT_BYTES, &again, &error));
    FUZZ_CHECK(str_eq(text, again));
    FUZZ_CHECK(json_merge_patch(&arena, target, patch, text.len, &tight, &error));
    FUZZ_CHECK(!json_merge_patch(&arena, target, patch, text.len - 1, &tight, &error));
    return 0;
}
