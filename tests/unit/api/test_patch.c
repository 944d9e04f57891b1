/* SPDX-License-Identifier: Apache-2.0 */
#include "base/schema_fields.h"
#include "fixture.h"

struct thing {
    struct str name;
    struct str document;
    bool has_count;
    int64_t count;
};
#define OF struct thing
static const struct field FIELDS[] = {
    FIELD(STRING, name, IN_BODY, .min = 1, .max = 8),
    FIELD(OBJECT_OR_NONE, document, IN_BODY),
    FIELD(INT_OR_NULL, count, IN_BODY),
};
#undef OF
static const struct schema THING = SCHEMA("Thing", struct thing, FIELDS, IN_BODY);
static const struct route ROUTE = {
    .method = "PATCH", .path = "/thing", .flags = ROUTE_PATCH, .body = &THING};

static const struct thing BEFORE = {
    .name = {"old", 3}, .document = {"{\"a\":1,\"b\":[1,2]}", 17}, .has_count = true, .count = 5};

struct patching {
    struct arena arena;
    struct http_request request;
    struct context context; /* of no job: nothing is rehearsed */
    struct call call;
    struct thing after;
    enum error error;
};

static void patch(struct patching *p, bool json_patch, const char *body)
{
    struct json_error bad;
    *p = (struct patching){0};
    arena_init(&p->arena, SIZE_MAX);
    call_init(&p->call, NULL, &p->arena, &p->request);
    p->call.context = &p->context;
    p->call.route = &ROUTE;
    p->call.request.is_json_patch = json_patch;
    EXPECT(json_parse(&p->arena, str_of(body), &p->call.request.doc, &bad));
    p->error = call_apply_patch(&p->call, &BEFORE, &p->after);
}

static void end(struct patching *p)
{
    call_deinit(&p->call);
    arena_deinit(&p->arena);
}

TEST(a_merge_patch_changes_what_it_names_and_keeps_the_rest)
{
    struct patching p;
    patch(&p, false, "{\"name\":\"new\",\"document\":{\"a\":null,\"c\":{\"d\":2}}}");
    EXPECT_EQ(p.error, OK);
    EXPECT_STR(p.after.name, STR("new"));
    EXPECT_STR(p.after.document, STR("{\"b\":[1,2],\"c\":{\"d\":2}}"));
    EXPECT(p.after.has_count && p.after.count == 5);
    end(&p);
}

TEST(null_in_a_merge_patch_takes_an_optional_member_away)
{
    struct patching p;
    patch(&p, false, "{\"count\":null,\"document\":null}");
    EXPECT_EQ(p.error, OK);
    EXPECT(!p.after.has_count);
    EXPECT(str_is_none(p.after.document));
    end(&p);
}

TEST(an_empty_patch_of_either_kind_changes_nothing)
{
    for (int kind = 0; kind < 2; kind++) {
        struct patching p;
        patch(&p, kind == 1, kind == 1 ? "[]" : "{}");
        EXPECT_EQ(p.error, OK);
        EXPECT_STR(p.after.name, BEFORE.name);
        EXPECT_STR(p.after.document, BEFORE.document);
        EXPECT_EQ(p.after.count, 5);
        end(&p);
    }
}

TEST(a_json_patch_works_through_its_operations_in_order)
{
    struct patching p;
    patch(&p, true,
        "[{\"op\":\"test\",\"path\":\"/name\",\"value\":\"old\"},"
        "{\"op\":\"add\",\"path\":\"/document/b/-\",\"value\":3},"
        "{\"op\":\"remove\",\"path\":\"/document/a\"},"
        "{\"op\":\"replace\",\"path\":\"/count\",\"value\":6}]");
    EXPECT_EQ(p.error, OK);
    EXPECT_STR(p.after.document, STR("{\"b\":[1,2,3]}"));
    EXPECT_EQ(p.after.count, 6);
    end(&p);
}

static void expect_refused(bool json_patch, const char *body, enum error e, const char *pointer)
{
    struct patching p;
    patch(&p, json_patch, body);
    if (p.error != e || p.call.problem.code != e || p.call.problem.n_faults == 0)
        test_fail(__FILE__, __LINE__, "%s: error %d", body, p.error);
    else
        EXPECT_STR(p.call.problem.faults[0].pointer, str_of(pointer));
    end(&p);
}

TEST(a_patch_whose_result_breaks_a_rule_is_refused_at_the_member)
{
    expect_refused(false, "{\"name\":\"much too long\"}", ERR_INVALID, "/name");
    expect_refused(false, "{\"name\":null}", ERR_INVALID, "/name");
    expect_refused(false, "{\"other\":1}", ERR_INVALID, "/other");
    expect_refused(false, "{\"count\":\"5\"}", ERR_INVALID, "/count");
    expect_refused(false, "{\"document\":[1]}", ERR_INVALID, "/document");
    expect_refused(
        true, "[{\"op\":\"add\",\"path\":\"/other\",\"value\":1}]", ERR_INVALID, "/other");
    expect_refused(true, "[{\"op\":\"remove\",\"path\":\"/name\"}]", ERR_INVALID, "/name");
}

TEST(a_patch_that_does_not_apply_differs_from_one_that_is_malformed)
{
    expect_refused(true, "[{\"op\":\"test\",\"path\":\"/name\",\"value\":\"other\"}]",
        ERR_PATCH_FAILED, "/0/value");
    expect_refused(
        true, "[{\"op\":\"remove\",\"path\":\"/nothing\"}]", ERR_PATCH_FAILED, "/0/path");
    expect_refused(true, "[{\"op\":\"dance\",\"path\":\"/name\"}]", ERR_INVALID, "/0/op");
    expect_refused(true, "[{\"op\":\"remove\"}]", ERR_INVALID, "/0/path");
    expect_refused(true, "{\"op\":\"remove\",\"path\":\"/count\"}", ERR_INVALID, "");
}

TEST(a_merge_patch_that_is_no_object_is_refused)
{
    struct patching p;
    static const char *const bodies[] = {"null", "1", "[]", "\"x\""};
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        patch(&p, false, bodies[i]);
        EXPECT_EQ(p.error, ERR_INVALID);
        EXPECT(p.call.problem.n_faults > 0);
        end(&p);
    }
}
