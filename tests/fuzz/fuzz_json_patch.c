/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a target and the rest a JSON Patch. Applied whole, it must give what the same
 * operations give applied one at a time, each to the parsed result of the one before: the tree that
 * one call keeps between operations may not show.
 */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "fuzz.h"
#include "split.h"

enum { ARENA_BYTES = 64 * 1024 * 1024, MAX_RESULT_BYTES = 64 * 1024, MAX_OPERATIONS = 64 };

struct step {
    bool applied;
    struct str text;
    struct json_patch_error error;
};

static struct step apply(struct arena *arena, struct str target, struct str patch)
{
    struct json_doc target_doc, patch_doc;
    struct json_error error;
    struct step step = {.text = target};
    FUZZ_CHECK(json_parse(arena, target, &target_doc, &error));
    FUZZ_CHECK(json_parse(arena, patch, &patch_doc, &error));
    step.applied = json_patch(arena, json_root(&target_doc), json_root(&patch_doc),
        MAX_RESULT_BYTES, &step.text, &step.error);
    return step;
}

static void check_step_by_step(
    struct arena *arena, struct str target, struct json patch, const struct step *whole)
{
    struct json_iter it = json_iter(patch);
    struct json operation;
    struct step step = {.applied = true, .text = target};
    size_t index = 0;
    while (step.applied && json_next(&it, NULL, &operation)) {
        struct str one = arena_printf(arena, "[%.*s]", STR_ARG(json_raw(operation)));
        step = apply(arena, step.text, one);
        index++;
    }
    FUZZ_CHECK(step.applied == whole->applied);
    if (step.applied) {
        FUZZ_CHECK(str_eq(step.text, whole->text));
        return;
    }
    FUZZ_CHECK(whole->error.operation == index - 1);
    FUZZ_CHECK(str_eq(step.error.rule, whole->error.rule));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct two_docs docs;
    arena_init(&arena, ARENA_BYTES);
    if (size > MAX_RESULT_BYTES ||
        !split_docs(&arena, (struct str){(const char *)data, size}, &docs))
        return 0;
    struct str target = json_compact(&arena, json_root(&docs.first));
    struct json patch = json_root(&docs.second);
    struct step whole = apply(&arena, target, json_raw(patch));
    if (!whole.applied) {
        struct json place;
        FUZZ_CHECK(whole.error.rule.len > 0);
        FUZZ_CHECK(whole.error.malformed || json_pointer(patch, whole.error.pointer, &place));
    }
    if (whole.error.malformed || json_count(patch) == 0 || json_count(patch) > MAX_OPERATIONS)
        return 0;
    check_step_by_step(&arena, target, patch, &whole);
    return 0;
}
