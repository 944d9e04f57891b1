/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/examples.h"
#include "api/http/openapi.h"

#include "api/http/call.h"
#include "base/json/json_pointer.h"
#include "base/parsed.h"

/* The document, parsed. */
struct document {
    struct arena arena;
    struct buf text;
    struct json root;
};

static void begin(struct document *d)
{
    arena_init(&d->arena, SIZE_MAX);
    buf_init(&d->text, 16 * 1024 * 1024);
    openapi_write(&d->text);
    EXPECT(!d->text.failed);
    d->root = parsed(&d->arena, buf_str(&d->text));
}

static void end(struct document *d)
{
    buf_deinit(&d->text);
    arena_deinit(&d->arena);
}

static struct json member(struct document *d, struct json object, const char *name)
{
    struct json value = object;
    if (!json_get(object, str_of(name), &value))
        test_fail(__FILE__, __LINE__, "there is no member \"%s\"", name);
    return value;
}

static struct json operation(struct document *d, const struct route *r)
{
    char method[8];
    size_t len = strlen(r->method);
    for (size_t i = 0; i <= len; i++)
        method[i] = (char)(r->method[i] == '\0' ? '\0' : r->method[i] | 0x20);
    return member(d, member(d, member(d, d->root, "paths"), r->path), method);
}

TEST(the_document_is_openapi_3_1_and_names_cairn)
{
    struct document d;
    begin(&d);
    EXPECT(json_string_eq(member(&d, d.root, "openapi"), STR("3.1.0")));
    struct json info = member(&d, d.root, "info");
    EXPECT(json_string_eq(member(&d, info, "title"), STR("Cairn")));
    EXPECT(json_string_eq(member(&d, info, "version"), STR(CAIRN_VERSION)));
    end(&d);
}

TEST(every_route_is_in_the_document_with_its_summary_and_its_success)
{
    struct document d;
    begin(&d);
    size_t operations = 0;
    struct json_iter it = json_iter(member(&d, d.root, "paths"));
    struct json key, path;
    while (json_next(&it, &key, &path))
        operations += json_count(path);
    EXPECT_EQ(operations, route_count);
    for (size_t i = 0; i < route_count; i++) {
        struct json op = operation(&d, &routes[i]);
        EXPECT(json_string_eq(member(&d, op, "summary"), str_of(routes[i].summary)));
        char status[16];
        snprintf(status, sizeof status, "%d", routes[i].status);
        struct json answers = member(&d, op, "responses");
        member(&d, answers, status);
        member(&d, answers, "default");
    }
    end(&d);
}

TEST(operation_ids_are_unique)
{
    struct document d;
    begin(&d);
    struct str *ids = ARENA_ARRAY(&d.arena, struct str, route_count);
    for (size_t i = 0; i < route_count; i++) {
        ids[i] = json_string(&d.arena, member(&d, operation(&d, &routes[i]), "operationId"));
        for (size_t k = 0; k < i; k++)
            if (str_eq(ids[i], ids[k]))
                test_fail(__FILE__, __LINE__, "%.*s is there twice", STR_ARG(ids[i]));
    }
    end(&d);
}

TEST(the_parameters_of_a_path_are_declared)
{
    struct document d;
    begin(&d);
    for (size_t i = 0; i < route_count; i++) {
        struct json params = member(&d, operation(&d, &routes[i]), "parameters"), param;
        for (size_t k = 0; !str_is_none(route_param_name(&routes[i], k)); k++) {
            EXPECT(json_at(params, k, &param));
            EXPECT(json_string_eq(member(&d, param, "name"), route_param_name(&routes[i], k)));
            EXPECT(json_string_eq(member(&d, param, "in"), STR("path")));
            EXPECT_EQ(json_type(member(&d, param, "required")), JSON_TRUE);
        }
    }
    end(&d);
}

/* --- Examples ------------------------------------------------------------------------------- */

TEST(every_body_has_an_example_that_the_route_takes)
{
    struct document d;
    begin(&d);
    for (size_t i = 0; i < route_count; i++) {
        const struct schema *body = routes[i].body;
        const char *example = body != NULL ? example_of_body(body) : "";
        if (example == NULL)
            test_fail(__FILE__, __LINE__, "%s has no example in api/http/examples.c", body->name);
        if (body == NULL || example == NULL)
            continue;
        struct json_doc doc;
        struct json_error bad;
        struct problem problem;
        problem_init(&problem, &d.arena);
        EXPECT(json_parse(&d.arena, str_of(example), &doc, &bad));
        void *input = arena_zalloc(&d.arena, body->struct_bytes);
        if (schema_decode(&d.arena, body, json_root(&doc), input, &problem) != OK)
            test_fail(
                __FILE__, __LINE__, "%s: %.*s", body->name, STR_ARG(problem.faults[0].detail));
    }
    end(&d);
}

/* --- References ----------------------------------------------------------------------------- */

static bool resolves(struct document *d, struct str reference)
{
    struct str rest = reference, part;
    struct json at = d->root;
    if (!str_next_part(&rest, '/', &part) || !str_eq(part, STR("#")))
        return false;
    while (str_next_part(&rest, '/', &part))
        if (!json_get(at, part, &at))
            return false;
    return json_type(at) == JSON_OBJECT;
}

/* Walks the whole document; how many references it holds. */
static size_t check_references(struct document *d, struct json v)
{
    size_t n = 0;
    bool object = json_type(v) == JSON_OBJECT;
    if (!object && json_type(v) != JSON_ARRAY)
        return 0;
    struct json_iter it = json_iter(v);
    struct json key = v, value;
    while (json_next(&it, &key, &value)) {
        n += check_references(d, value);
        if (!object || !json_string_eq(key, STR("$ref")))
            continue;
        struct str reference = json_string(&d->arena, value);
        n++;
        if (!resolves(d, reference))
            test_fail(__FILE__, __LINE__, "%.*s leads nowhere", STR_ARG(reference));
    }
    return n;
}

TEST(every_reference_resolves)
{
    struct document d;
    begin(&d);
    EXPECT(check_references(&d, d.root) > route_count);
    end(&d);
}

TEST(every_schema_names_only_members_that_it_has_as_required)
{
    struct document d;
    begin(&d);
    struct json_iter schemas = json_iter(member(&d, member(&d, d.root, "components"), "schemas"));
    struct json name, schema, item, unused;
    while (json_next(&schemas, &name, &schema)) {
        struct json_iter required = json_iter(member(&d, schema, "required"));
        struct json properties = member(&d, schema, "properties");
        while (json_next(&required, NULL, &item))
            EXPECT(json_get(properties, json_string(&d.arena, item), &unused));
    }
    end(&d);
}

TEST(what_needs_no_key_says_so_and_what_needs_one_names_its_scope)
{
    struct document d;
    begin(&d);
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        struct json op = operation(&d, r), value;
        bool public = r->mode == ROUTE_STATIC || (r->flags & ROUTE_PUBLIC) != 0;
        EXPECT_EQ(json_get(op, STR("security"), &value), public);
        if (!public)
            EXPECT(json_string_eq(member(&d, op, "x-cairn-scope"), str_of(scope_name(r->scope))));
    }
    end(&d);
}
