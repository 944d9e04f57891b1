/* SPDX-License-Identifier: Apache-2.0 */
/* JSON for tests, parsed without ceremony: the text must be valid. */
#ifndef TESTS_UNIT_BASE_PARSED_H
#define TESTS_UNIT_BASE_PARSED_H

#include "base/json/json.h"
#include "test.h"

enum { TEST_ARENA_BYTES = 64 * 1024 * 1024 };

static inline struct json parsed(struct arena *arena, struct str text)
{
    struct json_doc *doc = ARENA_NEW(arena, struct json_doc);
    struct json_error error = {0};
    if (json_parse(arena, text, doc, &error))
        return json_root(doc);
    test_fail(__FILE__, __LINE__, "\"%.*s\" does not parse: %s at %zu", STR_ARG(text), error.rule,
        error.offset);
    return parsed(arena, STR("null"));
}

#define PARSED(arena, literal) parsed((arena), STR(literal))

/* `unit` over and over, `count` times. */
static inline struct str repeated(struct arena *arena, struct str unit, size_t count)
{
    char *text = arena_alloc(arena, unit.len * count);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * unit.len, unit.ptr, unit.len);
    return (struct str){text, unit.len * count};
}

#endif
