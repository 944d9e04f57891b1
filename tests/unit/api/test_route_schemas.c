/* SPDX-License-Identifier: Apache-2.0 */
/* The field tables of all routes: what each row and each schema must satisfy. */
#include "api/http/route.h"

#include "test.h"

typedef void visit_fn(
    const struct route *route, const struct schema *schema, const struct field *f, void *data);

enum { DEPTH_MAX = 8 };

static void visit_schema(const struct route *route, const struct schema *schema, unsigned depth,
    visit_fn *visit, void *data)
{
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        visit(route, schema, f, data);
        if (depth < DEPTH_MAX)
            visit_schema(route, f->nested, depth + 1, visit, data);
    }
}

static void visit_answers(visit_fn *visit, void *data)
{
    for (size_t i = 0; i < route_count; i++) {
        visit_schema(&routes[i], routes[i].answer, 0, visit, data);
        visit_schema(&routes[i], routes[i].answer_to_many, 0, visit, data);
    }
}

static void visit_all(visit_fn *visit, void *data)
{
    for (size_t i = 0; i < route_count; i++) {
        visit_schema(&routes[i], routes[i].query, 0, visit, data);
        visit_schema(&routes[i], routes[i].body, 0, visit, data);
    }
    visit_answers(visit, data);
}

/* --- Secrets -------------------------------------------------------------------------------- */

enum { SECRETS_MAX = 16 };
struct secrets {
    const struct field *rows[SECRETS_MAX];
    size_t count;
};

static void collect_secret(
    const struct route *route, const struct schema *schema, const struct field *f, void *data)
{
    struct secrets *secrets = data;
    if (!f->once)
        return;
    if (route->mode != ROUTE_WRITE || strcmp(route->method, "POST") != 0 || route->status != 201)
        test_fail(__FILE__, __LINE__, "%s %s does not create an object, but %s shows \"%s\"",
            route->method, route->path, schema->name, f->name);
    EXPECT(f->kind == FIELD_STRING && (f->flags & FIELD_NULLABLE) != 0);
    EXPECT(secrets->count < SECRETS_MAX);
    secrets->rows[secrets->count++] = f;
}

static void expect_no_secret(
    const struct route *route, const struct schema *schema, const struct field *f, void *data)
{
    const struct secrets *secrets = data;
    for (size_t i = 0; !f->once && i < secrets->count; i++)
        if (strcmp(f->name, secrets->rows[i]->name) == 0)
            test_fail(__FILE__, __LINE__, "%s of %s %s has \"%s\" without .once", schema->name,
                route->method, route->path, f->name);
}

TEST(a_secret_is_shown_only_by_the_route_that_creates_it)
{
    struct secrets secrets = {0};
    visit_answers(collect_secret, &secrets);
    EXPECT(secrets.count >= 3); /* keys, first keys of tenants, shares */
    visit_answers(expect_no_secret, &secrets);
}

/* --- Rows ----------------------------------------------------------------------------------- */

static size_t size_of(const struct field *f)
{
    switch (f->kind) {
    case FIELD_BOOL:
        return sizeof(bool);
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_MONEY:
        return sizeof(int64_t);
    case FIELD_NESTED:
        return f->nested->struct_bytes;
    case FIELD_ENUM:
        return sizeof(unsigned);
    default:
        return sizeof(struct str); /* as large as a UUID and each list */
    }
}

static void expect_sound(
    const struct route *route, const struct schema *schema, const struct field *f, void *data)
{
    const char *name = f->name;
    bool sound = f->offset + size_of(f) <= schema->struct_bytes &&
                 f->has_offset < schema->struct_bytes && schema->n_fields <= SCHEMA_MAX_FIELDS &&
                 (f->kind != FIELD_ENUM || f->choices != NULL) &&
                 ((f->kind != FIELD_NESTED && f->kind != FIELD_NESTED_LIST) || f->nested != NULL) &&
                 schema_find(schema, str_of(name)) == f; /* once in the schema */
    if (!sound)
        test_fail(__FILE__, __LINE__, "\"%s\" of %s (%s %s)", name, schema->name, route->method,
            route->path);
}

TEST(every_row_fits_its_struct_and_is_once_in_its_schema)
{
    visit_all(expect_sound, NULL);
}

TEST(bodies_select_rows_that_clients_send_and_answers_rows_that_cairn_shows)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        EXPECT(r->query == NULL || (r->query->in & ~(unsigned)IN_ANY_SENT) == 0);
        EXPECT(r->body == NULL || (r->body->in & ~(unsigned)IN_ANY_SENT) == 0);
        EXPECT(r->answer == NULL || (r->answer->in & IN_ANY_SENT) == 0);
        EXPECT(r->answer_to_many == NULL || (r->answer_to_many->in & IN_ANY_SENT) == 0);
        for (const struct field *f = NULL; (f = schema_next(r->query, f)) != NULL;)
            EXPECT(!schema_requires(r->query, f));
    }
}
