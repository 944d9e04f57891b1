/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the input. An accepted text must survive being written compactly and parsed again, and
 * must have the same meaning to jansson; jansson must reject a rejected text too. The two differ
 * only in a few limits, on purpose.
 */
#include "base/json/json_write.h"
#include "fuzz.h"
#include "oracle.h"

enum { ARENA_BYTES = 64 * 1024 * 1024 };

static bool same_value(struct arena *arena, struct json v, const struct oracle *other);

static bool same_number(struct json v, const struct oracle *other)
{
    int64_t integer;
    double real;
    if (oracle_type(other) == ORACLE_INTEGER)
        return json_to_i64(v, &integer) && integer == oracle_integer(other);
    return oracle_type(other) == ORACLE_REAL && json_to_double(v, &real) &&
           real == oracle_real(other);
}

static bool same_array(struct arena *arena, struct json v, const struct oracle *other)
{
    struct json_iter it = json_iter(v);
    struct json item;
    for (size_t i = 0; json_next(&it, NULL, &item); i++)
        if (!same_value(arena, item, oracle_item(other, i)))
            return false;
    return json_count(v) == oracle_count(other);
}

static bool same_object(struct arena *arena, struct json v, const struct oracle *other)
{
    struct json_iter it = json_iter(v);
    struct json key, value, found;
    while (json_next(&it, &key, &value)) {
        struct str name = json_string(arena, key);
        FUZZ_CHECK(json_get(v, name, &found) && found.at == value.at);
        if (!same_value(arena, value, oracle_member(other, name)))
            return false;
    }
    return json_count(v) == oracle_count(other);
}

static bool same_value(struct arena *arena, struct json v, const struct oracle *other)
{
    if (other == NULL)
        return false;
    switch (json_type(v)) {
    case JSON_NULL:
        return oracle_type(other) == ORACLE_NULL;
    case JSON_FALSE:
        return oracle_type(other) == ORACLE_FALSE;
    case JSON_TRUE:
        return oracle_type(other) == ORACLE_TRUE;
    case JSON_NUMBER:
        return same_number(v, other);
    case JSON_STRING:
        return oracle_type(other) == ORACLE_STRING &&
               str_eq(json_string(arena, v), oracle_string(other));
    case JSON_ARRAY:
        return oracle_type(other) == ORACLE_ARRAY && same_array(arena, v, other);
    default:
        return oracle_type(other) == ORACLE_OBJECT && same_object(arena, v, other);
    }
}

static void check_compact_form(struct arena *arena, struct json root)
{
    struct json_doc doc;
    struct json_error error;
    struct str compact = json_compact(arena, root);
    FUZZ_CHECK(compact.len == json_compact_len(root));
    FUZZ_CHECK(json_parse(arena, compact, &doc, &error));
    FUZZ_CHECK(json_equal(root, json_root(&doc)));
    FUZZ_CHECK(str_eq(json_compact(arena, json_root(&doc)), compact));
}

/* jansson accepts deeper nesting than Cairn, and ignores a NUL byte after a number. */
static bool may_refuse_alone(struct str text, const struct json_error *error)
{
    return strstr(error->rule, "nested too deeply") != NULL || str_has_byte(text, '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct str text = {(const char *)data, size};
    struct json_doc doc;
    struct json_error error = {0};
    bool by_design;
    arena_init(&arena, ARENA_BYTES);
    struct oracle *oracle = oracle_parse(text, &by_design);
    if (json_parse(&arena, text, &doc, &error)) {
        FUZZ_CHECK(by_design || same_value(&arena, json_root(&doc), oracle));
        check_compact_form(&arena, json_root(&doc));
    } else {
        FUZZ_CHECK(error.rule != NULL && error.offset <= size);
        FUZZ_CHECK(oracle == NULL || may_refuse_alone(text, &error));
    }
    oracle_destroy(oracle);
    return 0;
}
