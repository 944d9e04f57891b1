/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a schema and the rest a value. Compiling gives the same answer each time, a
 * fault is at a place that is there, and what is said of a value does not depend on the order of
 * its members.
 */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "base/jsonschema/json_schema.h"
#include "fuzz.h"
#include "split.h"

enum { ARENA_BYTES = 256 * 1024 * 1024, MAX_INPUT_BYTES = 16 * 1024 };

/* The same value with the members of every object in the opposite order. */
static void write_turned(struct json_writer *w, struct arena *arena, struct json v)
{
    size_t count = json_count(v);
    bool is_object = json_type(v) == JSON_OBJECT;
    if (!is_object && json_type(v) != JSON_ARRAY) {
        json_write_value(w, v);
        return;
    }
    struct json *keys = ARENA_ARRAY(arena, struct json, count + 1);
    struct json *items = ARENA_ARRAY(arena, struct json, count + 1);
    struct json_iter it = json_iter(v);
    for (size_t i = 0; i < count; i++)
        json_next(&it, &keys[i], &items[i]);
    if (is_object)
        json_write_object(w);
    else
        json_write_array(w);
    for (size_t i = 0; i < count; i++) {
        if (is_object)
            json_write_key_value(w, keys[count - 1 - i]);
        write_turned(w, arena, items[is_object ? count - 1 - i : i]);
    }
    json_write_end(w);
}

static struct json turned(struct arena *arena, struct json v)
{
    struct json_text text;
    struct json_error error;
    struct json_doc *doc = ARENA_NEW(arena, struct json_doc);
    json_text_init(&text, ARENA_BYTES);
    write_turned(&text.w, arena, v);
    FUZZ_CHECK(json_parse(arena, json_text_take(&text, arena), doc, &error));
    return json_root(doc);
}

static void check_faults(const struct problem *problem, struct json document)
{
    struct json place;
    FUZZ_CHECK(problem->n_faults > 0);
    for (size_t i = 0; i < problem->n_faults; i++) {
        FUZZ_CHECK(problem->faults[i].detail.len > 0);
        FUZZ_CHECK(json_pointer(document, problem->faults[i].pointer, &place));
    }
}

static struct json_schema *compile(struct arena *arena, struct json schema, struct problem *problem)
{
    struct json_schema *compiled = NULL;
    problem_init(problem, arena);
    if (json_schema_compile(arena, schema, STR(""), problem, &compiled) == OK)
        return compiled;
    check_faults(problem, schema);
    return NULL;
}

enum verdict { VALID, INVALID, GAVE_UP };

static enum verdict validate(
    struct arena *arena, const struct json_schema *schema, struct json value)
{
    struct problem *problem = ARENA_NEW(arena, struct problem);
    problem_init(problem, arena);
    if (json_schema_validate(schema, value, STR(""), problem) == OK)
        return VALID;
    check_faults(problem, value);
    struct str last = problem->faults[problem->n_faults - 1].detail;
    bool gave_up = str_starts_with(last, STR("must be validated within")) ||
                   str_starts_with(last, STR("must not pass through"));
    return gave_up || problem->n_faults_untold > 0 ? GAVE_UP : INVALID;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct two_docs docs;
    arena_init(&arena, ARENA_BYTES);
    if (size > MAX_INPUT_BYTES ||
        !split_docs(&arena, (struct str){(const char *)data, size}, &docs))
        return 0;
    struct problem *first = ARENA_NEW(&arena, struct problem);
    struct problem *second = ARENA_NEW(&arena, struct problem);
    struct json_schema *schema = compile(&arena, json_root(&docs.first), first);
    struct json_schema *again = compile(&arena, json_root(&docs.first), second);
    FUZZ_CHECK((schema == NULL) == (again == NULL));
    FUZZ_CHECK(first->n_faults == second->n_faults);
    for (size_t i = 0; i < first->n_faults; i++)
        FUZZ_CHECK(str_eq(first->faults[i].pointer, second->faults[i].pointer));
    if (schema == NULL)
        return 0;
    struct json value = json_root(&docs.second);
    enum verdict verdict = validate(&arena, schema, value);
    FUZZ_CHECK(verdict == validate(&arena, again, value));
    enum verdict other = validate(&arena, schema, turned(&arena, value));
    FUZZ_CHECK(verdict == other || verdict == GAVE_UP || other == GAVE_UP);
    return 0;
}
