/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges values by JSON Schemas. Each line of the input is {"schema":…,"values":[…]}, each answer
 *   {"valid":[true,…]}                        one a value
 *   {"refused":[[POINTER,RULE],…]}            the schema's faults
 * or, for {"pattern":…,"texts":[…]}, {"found":[true,…]} or
 *   {"refused":RULE,"unsupported":true|false}.
 */
#include "base/json/json_write.h"
#include "base/jsonschema/json_schema.h"
#include "base/jsonschema/pattern.h"

enum { ARENA_BYTES = 256 * 1024 * 1024 };

static struct json member(struct json object, const char *name)
{
    struct json value;
    if (!json_get(object, str_of(name), &value)) {
        fprintf(stderr, "schema: \"%s\" is missing\n", name);
        exit(EXIT_FAILURE);
    }
    return value;
}

static void write_faults(struct json_writer *w, const struct problem *problem)
{
    json_write_name(w, "refused");
    json_write_array(w);
    for (size_t i = 0; i < problem->n_faults; i++) {
        json_write_array(w);
        json_write_string(w, problem->faults[i].pointer);
        json_write_string(w, problem->faults[i].detail);
        json_write_end(w);
    }
    json_write_end(w);
}

static void judge_values(struct arena *arena, struct json line, struct json_writer *w)
{
    struct problem *problem = ARENA_NEW(arena, struct problem);
    struct json_schema *schema;
    problem_init(problem, arena);
    if (json_schema_compile(arena, member(line, "schema"), STR(""), problem, &schema) != OK) {
        write_faults(w, problem);
        return;
    }
    json_write_name(w, "valid");
    json_write_array(w);
    struct json_iter it = json_iter(member(line, "values"));
    struct json value;
    while (json_next(&it, NULL, &value)) {
        problem_init(problem, arena);
        json_write_bool(w, json_schema_validate(schema, value, STR(""), problem) == OK);
    }
    json_write_end(w);
}

static void judge_texts(struct arena *arena, struct json line, struct json_writer *w)
{
    struct pattern *pattern;
    struct pattern_error error = {0};
    struct str text = json_string(arena, member(line, "pattern"));
    if (!pattern_compile(arena, text, &pattern, &error)) {
        json_write_name(w, "refused");
        json_write_string(w, str_of(error.rule));
        json_write_name(w, "unsupported");
        json_write_bool(w, error.unsupported);
        return;
    }
    json_write_name(w, "found");
    json_write_array(w);
    struct json_iter it = json_iter(member(line, "texts"));
    struct json value;
    while (json_next(&it, NULL, &value)) {
        uint64_t steps = JSON_SCHEMA_MAX_STEPS;
        bool found, done = pattern_search(pattern, json_string(arena, value), &steps, &found);
        json_write_bool(w, done && found);
    }
    json_write_end(w);
}

static void answer(struct str text)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct json_doc doc;
    struct json_error error;
    struct json_text out;
    struct json unused;
    arena_init(&arena, ARENA_BYTES);
    if (!json_parse(&arena, text, &doc, &error)) {
        fprintf(stderr, "schema: byte %zu: %s\n", error.offset, error.rule);
        exit(EXIT_FAILURE);
    }
    json_text_init(&out, ARENA_BYTES);
    json_write_object(&out.w);
    if (json_get(json_root(&doc), STR("pattern"), &unused))
        judge_texts(&arena, json_root(&doc), &out.w);
    else
        judge_values(&arena, json_root(&doc), &out.w);
    json_write_end(&out.w);
    struct str line = json_text_take(&out, &arena);
    printf("%.*s\n", STR_ARG(line));
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t len; (len = getline(&line, &cap, stdin)) > 0;)
        answer((struct str){line, (size_t)len});
    free(line);
    return EXIT_SUCCESS;
}
