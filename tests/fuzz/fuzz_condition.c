/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input as a condition, and as a semantic version. An error names a byte of the text or its
 * end; a condition in parentheses, or joined to itself, is a condition, and invalid text is invalid
 * in parentheses; a version is written as it was read, and is not greater than itself.
 */
#include "base/condition.h"
#include "base/semver.h"
#include "fuzz.h"

static void check_condition(struct arena *arena, struct str text)
{
    struct condition_error error = {0}, unused;
    bool is_one = condition_check(text, &error);
    FUZZ_CHECK(is_one || (error.rule != NULL && error.offset <= text.len));
    if (text.len > CONDITION_MAX_BYTES / 3 || memchr(text.ptr, 0, text.len) != NULL)
        return;
    struct str nested = arena_printf(arena, "(%.*s)", STR_ARG(text));
    struct str joined = arena_printf(arena, "(%.*s) and (%.*s)", STR_ARG(text), STR_ARG(text));
    if (!is_one && memchr(text.ptr, ')', text.len) == NULL)
        FUZZ_CHECK(!condition_check(nested, &unused));
    if (is_one && condition_check(nested, &unused))
        FUZZ_CHECK(condition_check(joined, &unused));
}

static void check_version(struct arena *arena, struct str text)
{
    struct semver version, next;
    if (!semver_parse(text, &version))
        return;
    FUZZ_CHECK(str_eq(semver_format(arena, &version), text));
    FUZZ_CHECK(semver_compare(&version, &version) == 0);
    for (enum semver_bump bump = SEMVER_MAJOR; bump <= SEMVER_PATCH; bump++)
        if (semver_bump(&version, bump, &next))
            FUZZ_CHECK(semver_compare(&next, &version) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct str text = {size > 0 ? (const char *)data : "", size};
    arena_init(&arena, 1024 * 1024);
    check_condition(&arena, text);
    check_version(&arena, text);
    return 0;
}
