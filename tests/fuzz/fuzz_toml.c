/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration. A file is accepted, or rejected with one of its lines and a rule; accepted
 * values are within their limits, and every key occurs once.
 */
#include "cli/toml.h"

#include "fuzz.h"

static unsigned count_lines(struct str text)
{
    unsigned lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

static bool is_same_path(const struct toml_entry *a, const struct toml_entry *b)
{
    if (a->depth != b->depth)
        return false;
    for (size_t i = 0; i < a->depth; i++)
        if (!str_eq(a->path[i], b->path[i]))
            return false;
    return true;
}

static void check_entries(const struct toml *toml, unsigned lines)
{
    FUZZ_CHECK(toml->n_entries <= TOML_MAX_ENTRIES);
    for (size_t i = 0; i < toml->n_entries; i++) {
        const struct toml_entry *e = &toml->entries[i];
        FUZZ_CHECK(e->depth >= 1 && e->depth <= TOML_MAX_DEPTH);
        FUZZ_CHECK(e->line >= 1 && e->line <= lines);
        FUZZ_CHECK(e->kind == TOML_STRINGS || (str_is_utf8(e->text) && !str_is_none(e->text)));
        for (size_t k = 0; k < e->n_items; k++)
            FUZZ_CHECK(str_is_utf8(e->items[k]));
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(!is_same_path(e, &toml->entries[k]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct toml toml;
    struct toml_error error;
    struct str text = {size > 0 ? (const char *)data : "", size};
    arena_init(&arena, SIZE_MAX);
    if (toml_parse(&arena, text, &toml, &error))
        check_entries(&toml, count_lines(text));
    else
        FUZZ_CHECK(error.line >= 1 && error.line <= count_lines(text) && error.rule.len > 0);
    arena_deinit(&arena);
    return 0;
}
