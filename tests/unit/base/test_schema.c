/* SPDX-License-Identifier: Apache-2.0 */
#include "base/schema_fields.h"

#include "parsed.h"

struct limits {
    int64_t steps;
    bool strict;
    bool has_strict;
};

#define OF struct limits
static const struct field limits_fields[] = {
    FIELD(INT, steps, IN_BODY, .min = 1, .max = 100),
    FIELD(BOOL_OR_NONE, strict, IN_BODY, .hide_none = true),
};
#undef OF
static const struct schema limits_schema = SCHEMA("Limits", struct limits, limits_fields, IN_BODY);

#define MODES(X) X(MODE_FAST, "fast") X(MODE_SLOW, "slow")
ENUM_DECLARE(mode, MODE_NONE, modes, MODES);
ENUM_DEFINE(modes, MODES);

struct everything {
    struct uuid id;
    struct str name;
    enum mode mode;
    struct str any;
    struct str object;
    struct str array;
    struct str document;
    bool flag;
    int64_t count;
    bool has_count;
    int64_t due;
    bool has_due;
    struct uuid parent;
    bool has_parent;
    struct str_list tags;
    struct limits limits;
    bool has_limits;
    struct nested_list steps;
};

static const char *const colours[] = {"red", "green", NULL};

#define OF struct everything
static const struct field everything_fields[] = {
    FIELD(UUID, id, IN_BODY, .refused = true),
    FIELD(STRING, name, IN_BODY, .min = 1, .max = 8),
    FIELD(ENUM_OR_NONE, mode, IN_BODY, .choices = modes),
    FIELD(JSON_OR_NONE, any, IN_BODY),
    FIELD(OBJECT_OR_NULL, object, IN_BODY, .max = 20),
    FIELD(ARRAY_OR_NONE, array, IN_BODY),
    FIELD(DOCUMENT_OR_NONE, document, IN_BODY, .hide_none = true),
    FIELD(BOOL, flag, IN_BODY),
    FIELD(INT_OR_NONE, count, IN_BODY, .min = -5, .max = 5),
    FIELD(TIME_OR_NULL, due, IN_BODY),
    FIELD(UUID_OR_NONE, parent, IN_BODY, .hide_none = true),
    FIELD(STRINGS_OR_NONE, tags, IN_BODY, .max = 3, .choices = colours),
    FIELD(NESTED_OR_NONE, limits, IN_BODY, .nested = &limits_schema),
    FIELD(LIST_OR_NONE, steps, IN_BODY, .nested = &limits_schema, .max = 2, .hide_none = true),
};
#undef OF
static const struct schema everything_schema =
    SCHEMA("Everything", struct everything, everything_fields, IN_BODY);

static enum error decode(
    struct arena *a, struct str body, struct everything *out, struct problem *problem)
{
    problem_init(problem, a);
    return schema_decode(a, &everything_schema, parsed(a, body), out, problem);
}

TEST(a_full_body_becomes_the_struct)
{
    CLEANUP(arena_deinit) struct arena a;
    struct everything e;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_EQ(decode(&a,
                  STR("{\"name\":\"\\u0061bc\",\"mode\":\"slow\",\"any\":[ 1 ],"
                      "\"object\":{ \"a\" : 1 },\"array\":[ ],\"document\":{},\"flag\":true,"
                      "\"count\":-5,\"due\":\"1970-01-01T00:00:01Z\","
                      "\"parent\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\","
                      "\"tags\":[\"red\",\"green\"],\"limits\":{\"steps\":1e2,\"strict\":true},"
                      "\"steps\":[{\"steps\":1},{\"steps\":2,\"strict\":false}]}"),
                  &e, &problem),
        OK);
    EXPECT_STR(e.name, STR("abc"));
    EXPECT_EQ(e.mode, MODE_SLOW);
    EXPECT_STR(e.any, STR("[1]"));
    EXPECT_STR(e.object, STR("{\"a\":1}"));
    EXPECT_STR(e.array, STR("[]"));
    EXPECT_STR(e.document, STR("{}"));
    EXPECT(e.flag && e.has_count && e.has_due && e.has_parent && e.has_limits);
    EXPECT_EQ(e.count, -5);
    EXPECT_EQ(e.due, 1000000);
    EXPECT_EQ(e.parent.bytes[0], 0x01);
    EXPECT_EQ(e.tags.count, 2);
    EXPECT_STR(e.tags.items[1], STR("green"));
    EXPECT_EQ(e.limits.steps, 100);
    EXPECT(e.limits.strict && e.limits.has_strict);
    const struct limits *steps = e.steps.items;
    EXPECT_EQ(e.steps.count, 2);
    EXPECT_EQ(steps[1].steps, 2);
    EXPECT(!steps[0].has_strict && steps[1].has_strict && !steps[1].strict);
}

TEST(absent_and_null_members_leave_nothing_in_the_struct)
{
    CLEANUP(arena_deinit) struct arena a;
    struct everything e;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    memset(&e, 0xff, sizeof e);
    EXPECT_EQ(
        decode(&a, STR("{\"name\":\"a\",\"flag\":false,\"object\":null,\"due\":null,\"any\":null}"),
            &e, &problem),
        OK);
    EXPECT(e.mode == MODE_NONE && str_is_none(e.any) && str_is_none(e.object));
    EXPECT(!e.flag && !e.has_count && !e.has_due && !e.has_parent && !e.has_limits);
    EXPECT(e.tags.items == NULL && e.steps.items == NULL);
    EXPECT(uuid_is_nil(e.id));
}

static const struct {
    struct str body;
    struct str pointer;
    struct str detail;
} faults[] = {
    {STR("[]"), STR(""), STR("must be an object, not array")},
    {STR("{\"flag\":true}"), STR("/name"), STR("must be given")},
    {STR("{\"name\":null,\"flag\":true}"), STR("/name"), STR("must be a string, not null")},
    {STR("{\"name\":5,\"flag\":true}"), STR("/name"), STR("must be a string, not number")},
    {STR("{\"name\":\"\",\"flag\":true}"), STR("/name"), STR("must have at least 1 bytes")},
    {STR("{\"name\":\"123456789\",\"flag\":true}"), STR("/name"), STR("must have at most 8 bytes")},
    {STR("{\"name\":\"a\",\"flag\":1}"), STR("/flag"), STR("must be a boolean, not number")},
    {STR("{\"name\":\"a\",\"flag\":true,\"x/y~\":1}"), STR("/x~1y~0"),
        STR("is not a member of Everything")},
    {STR("{\"name\":\"a\",\"flag\":true,\"id\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\"}"),
        STR("/id"), STR("is set by Cairn and must not be sent")},
    {STR("{\"name\":\"a\",\"flag\":true,\"mode\":\"Fast\"}"), STR("/mode"),
        STR("must be one of \"fast\", \"slow\"")},
    {STR("{\"name\":\"a\",\"flag\":true,\"object\":[]}"), STR("/object"), STR("must be an object")},
    {STR("{\"name\":\"a\",\"flag\":true,\"array\":{}}"), STR("/array"), STR("must be an array")},
    {STR("{\"name\":\"a\",\"flag\":true,\"document\":1}"), STR("/document"),
        STR("must be an object or an array")},
    {STR("{\"name\":\"a\",\"flag\":true,\"object\":{\"a\":\"123456789012345\"}}"), STR("/object"),
        STR("must have at most 20 bytes")},
    {STR("{\"name\":\"a\",\"flag\":true,\"count\":6}"), STR("/count"), STR("must be at most 5")},
    {STR("{\"name\":\"a\",\"flag\":true,\"count\":-6}"), STR("/count"), STR("must be at least -5")},
    {STR("{\"name\":\"a\",\"flag\":true,\"count\":1.5}"), STR("/count"),
        STR("must be a 64-bit integer")},
    {STR("{\"name\":\"a\",\"flag\":true,\"count\":null}"), STR("/count"),
        STR("must be a number, not null")},
    {STR("{\"name\":\"a\",\"flag\":true,\"due\":\"yesterday\"}"), STR("/due"),
        STR("must be an RFC 3339 time such as 2026-01-31T23:59:59Z")},
    {STR("{\"name\":\"a\",\"flag\":true,\"parent\":\"x\"}"), STR("/parent"),
        STR("must be a UUID, 8-4-4-4-12 hexadecimal digits")},
    {STR("{\"name\":\"a\",\"flag\":true,\"tags\":\"red\"}"), STR("/tags"),
        STR("must be an array, not string")},
    {STR("{\"name\":\"a\",\"flag\":true,\"tags\":[\"red\",7]}"), STR("/tags/1"),
        STR("must be a string, not number")},
    {STR("{\"name\":\"a\",\"flag\":true,\"tags\":[\"blue\"]}"), STR("/tags/0"),
        STR("must be one of \"red\", \"green\"")},
    {STR("{\"name\":\"a\",\"flag\":true,\"tags\":[\"red\",\"red\",\"red\",\"red\"]}"), STR("/tags"),
        STR("must have at most 3 items")},
    {STR("{\"name\":\"a\",\"flag\":true,\"limits\":{}}"), STR("/limits/steps"),
        STR("must be given")},
    {STR("{\"name\":\"a\",\"flag\":true,\"limits\":7}"), STR("/limits"),
        STR("must be an object, not number")},
    {STR("{\"name\":\"a\",\"flag\":true,\"steps\":[{\"steps\":1},{\"steps\":0}]}"),
        STR("/steps/1/steps"), STR("must be at least 1")},
};

TEST(each_fault_is_told_with_its_pointer)
{
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        CLEANUP(arena_deinit) struct arena a;
        struct everything e;
        struct problem problem;
        arena_init(&a, TEST_ARENA_BYTES);
        EXPECT_EQ(decode(&a, faults[i].body, &e, &problem), ERR_INVALID);
        EXPECT_EQ(problem.n_faults, 1);
        EXPECT_STR(problem.faults[0].pointer, faults[i].pointer);
        EXPECT_STR(problem.faults[0].detail, faults[i].detail);
    }
}

TEST(all_faults_of_a_body_are_told_at_once)
{
    CLEANUP(arena_deinit) struct arena a;
    struct everything e;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_EQ(
        decode(&a, STR("{\"count\":\"x\",\"extra\":1,\"tags\":[1,2]}"), &e, &problem), ERR_INVALID);
    EXPECT_EQ(problem.n_faults, 6);
    EXPECT_EQ(problem.code, ERR_INVALID);
}

TEST(faults_without_end_stay_within_bounds)
{
    CLEANUP(arena_deinit) struct arena a;
    struct everything e;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    CLEANUP(buf_deinit) struct buf body;
    buf_init(&body, 100000);
    buf_append(&body, STR("{\"name\":\"a\",\"flag\":true"));
    for (int i = 0; i < 1000; i++)
        buf_printf(&body, ",\"x%d\":1", i);
    buf_append_byte(&body, '}');
    EXPECT_EQ(decode(&a, buf_str(&body), &e, &problem), ERR_INVALID);
    EXPECT_EQ(problem.n_faults, PROBLEM_MAX_FAULTS);
    EXPECT_EQ(problem.n_faults_untold, 1000 - PROBLEM_MAX_FAULTS);
}

static struct str encoded(struct arena *a, const struct everything *e)
{
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    buf_init(&b, 10000);
    json_writer_init(&w, &b);
    schema_encode(&w, &everything_schema, e);
    return arena_str(a, buf_str(&b));
}

TEST(a_struct_with_nothing_in_it_shows_nulls_and_hides_what_is_to_be_hidden)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_STR(encoded(&a, &(struct everything){.name = STR("n")}),
        STR("{\"id\":\"00000000-0000-0000-0000-000000000000\",\"name\":\"n\",\"mode\":null,"
            "\"any\":null,\"object\":null,\"array\":null,\"flag\":false,\"count\":null,"
            "\"due\":null,\"tags\":[],\"limits\":null}"));
}

TEST(what_was_decoded_encodes_to_the_same)
{
    CLEANUP(arena_deinit) struct arena a;
    struct everything e;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_EQ(decode(&a,
                  STR("{\"steps\":[{\"steps\":3}],\"limits\":{\"steps\":4,\"strict\":false},"
                      "\"tags\":[\"red\"],\"parent\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\","
                      "\"due\":\"2026-01-31T23:59:59.5Z\",\"count\":0,\"flag\":true,"
                      "\"document\":[1],\"array\":[2],\"object\":{},\"any\":\"x\","
                      "\"mode\":\"fast\",\"name\":\"n\"}"),
                  &e, &problem),
        OK);
    EXPECT_STR(encoded(&a, &e),
        STR("{\"id\":\"00000000-0000-0000-0000-000000000000\",\"name\":\"n\",\"mode\":\"fast\","
            "\"any\":\"x\",\"object\":{},\"array\":[2],\"document\":[1],\"flag\":true,\"count\":0,"
            "\"due\":\"2026-01-31T23:59:59.500000Z\","
            "\"parent\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\",\"tags\":[\"red\"],"
            "\"limits\":{\"steps\":4,\"strict\":false},\"steps\":[{\"steps\":3}]}"));
}

/* ---- money ---- */

struct priced {
    int64_t cost;
    bool has_cost;
    int64_t share;
    bool has_share;
};
#define OF struct priced
static const struct field priced_fields[] = {
    FIELD(MONEY_OR_NULL, cost, IN_BODY, .max = 2000000000000),
    FIELD(MONEY_OR_NONE, share, IN_BODY, .max = 1000000000000, .places = 6, .hide_none = true),
};
#undef OF
static const struct schema priced_schema = SCHEMA("Priced", struct priced, priced_fields, IN_BODY);

TEST(money_is_exact_to_the_picodollar_in_both_directions)
{
    static const struct {
        const char *wire;
        int64_t pico;
    } same[] = {{"{\"cost\":0}", 0}, {"{\"cost\":1.5}", 1500000000000},
        {"{\"cost\":0.000000000001}", 1}, {"{\"cost\":2}", 2000000000000},
        {"{\"cost\":0.012345678901}", 12345678901}};
    CLEANUP(arena_deinit) struct arena a;
    struct priced priced;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        CLEANUP(buf_deinit) struct buf b;
        struct json_writer w;
        problem_init(&problem, &a);
        EXPECT_EQ(
            schema_decode(&a, &priced_schema, parsed(&a, str_of(same[i].wire)), &priced, &problem),
            OK);
        EXPECT_EQ(priced.cost, same[i].pico);
        buf_init(&b, 100);
        json_writer_init(&w, &b);
        schema_encode(&w, &priced_schema, &priced);
        EXPECT_STR(buf_str(&b), str_of(same[i].wire));
    }
}

TEST(money_is_rounded_to_the_digits_of_its_field)
{
    static const struct {
        const char *wire;
        int64_t cost, share;
    } sent[] = {
        {"0.30000000000000004", 300000000000, 300000000000},
        {"0.6666666666666666", 666666666667, 666667000000},
        {"0.0000004999", 499900, 0},
        {"0.0000005", 500000, 1000000},
        {"0.9999995", 999999500000, 1000000000000},
        {"1.0000000000000002", 1000000000000, 1000000000000},
        {"1e-99999999999999999999", 0, 0},
        {"-0.0000000000004", 0, 0},
        {"-0.0", 0, 0},
        {"4e-13", 0, 0},
        {"5E-13", 1, 0},
        {"0.001e3", 1000000000000, 1000000000000},
    };
    CLEANUP(arena_deinit) struct arena a;
    struct priced priced;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    for (size_t i = 0; i < COUNT_OF(sent); i++) {
        struct str body =
            arena_printf(&a, "{\"cost\":%s,\"share\":%s}", sent[i].wire, sent[i].wire);
        problem_init(&problem, &a);
        EXPECT_EQ(schema_decode(&a, &priced_schema, parsed(&a, body), &priced, &problem), OK);
        EXPECT_EQ(priced.cost, sent[i].cost);
        EXPECT_EQ(priced.share, sent[i].share);
    }
}

TEST(money_beyond_its_limits_is_refused)
{
    static const char *const refused[] = {"{\"cost\":\"1\"}", "{\"cost\":1e7}", "{\"cost\":-0.5}",
        "{\"cost\":2.000000000001}", "{\"cost\":2.0000000000005}", "{\"cost\":-5e-13}",
        "{\"cost\":1e99999999999999999999}", "{\"cost\":9999999999999999999e-12}",
        "{\"share\":1.0000005}", "{\"share\":-0.0000005}"};
    CLEANUP(arena_deinit) struct arena a;
    struct priced priced;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        problem_init(&problem, &a);
        EXPECT_EQ(
            schema_decode(&a, &priced_schema, parsed(&a, str_of(refused[i])), &priced, &problem),
            ERR_INVALID);
    }
}

TEST(money_below_zero_keeps_its_sign_and_its_digits)
{
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    buf_init(&b, 100);
    json_writer_init(&w, &b);
    json_write_array(&w);
    json_write_money(&w, -1);
    json_write_money(&w, INT64_MIN);
    json_write_money(&w, INT64_MAX);
    json_write_end(&w);
    EXPECT_STR(buf_str(&b), STR("[-0.000000000001,-9223372.036854775808,9223372.036854775807]"));
}

struct account {
    struct uuid id;
    struct str name;
    struct str secret;
};

#define OF struct account
static const struct field account_fields[] = {
    FIELD(UUID, id, IN_READ | IN_CREATED),
    FIELD(STRING, name, IN_BODY | IN_PATCH | IN_READ | IN_CREATED, "as people know it",
        .optional_in = IN_PATCH, .max = 8),
    FIELD(STRING_OR_NULL, secret, IN_CREATED, .once = true),
};
#undef OF

static struct str names_of(struct arena *a, unsigned in)
{
    const struct schema schema = SCHEMA("Account", struct account, account_fields, in);
    struct str names = STR("");
    for (const struct field *f = NULL; (f = schema_next(&schema, f)) != NULL;)
        names = arena_printf(a, "%.*s %s", STR_ARG(names), f->name);
    return names;
}

TEST(a_schema_has_the_rows_that_name_it)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_STR(names_of(&a, IN_BODY), STR(" name"));
    EXPECT_STR(names_of(&a, IN_READ), STR(" id name"));
    EXPECT_STR(names_of(&a, IN_CREATED), STR(" id name secret"));
    EXPECT_STR(names_of(&a, IN_SENT(0)), STR(""));
    EXPECT(schema_next(NULL, NULL) == NULL);
    EXPECT_STR(str_of(account_fields[1].summary), STR("as people know it"));
}

TEST(a_row_can_be_required_by_one_schema_and_not_by_another)
{
    CLEANUP(arena_deinit) struct arena a;
    struct account account;
    struct problem problem;
    const struct schema body = SCHEMA("AccountBody", struct account, account_fields, IN_BODY);
    const struct schema patch = SCHEMA("AccountPatch", struct account, account_fields, IN_PATCH);
    arena_init(&a, TEST_ARENA_BYTES);
    problem_init(&problem, &a);
    EXPECT_EQ(schema_decode(&a, &patch, parsed(&a, STR("{}")), &account, &problem), OK);
    EXPECT_EQ(schema_decode(&a, &body, parsed(&a, STR("{}")), &account, &problem), ERR_INVALID);
    EXPECT_STR(problem.faults[0].pointer, STR("/name"));
    EXPECT_STR(problem.faults[0].detail, STR("must be given"));
}

TEST(a_row_that_no_body_has_is_read_only_and_cannot_be_given)
{
    CLEANUP(arena_deinit) struct arena a;
    struct account account;
    struct problem problem;
    const struct schema body = SCHEMA("AccountBody", struct account, account_fields, IN_BODY);
    struct json given;
    arena_init(&a, TEST_ARENA_BYTES);
    problem_init(&problem, &a);
    given = parsed(&a, STR("{\"name\":\"x\",\"secret\":\"y\"}"));
    EXPECT_EQ(schema_decode(&a, &body, given, &account, &problem), ERR_INVALID);
    EXPECT_STR(problem.faults[0].detail, STR("is not a member of AccountBody"));
    EXPECT(schema_is_read_only(&body, &account_fields[0]));
    EXPECT(!schema_is_read_only(&body, &account_fields[1]));
}

TEST(a_secret_that_is_shown_once_is_left_out_of_replays)
{
    CLEANUP(buf_deinit) struct buf b;
    struct json_writer w;
    const struct account account = {.name = STR("x"), .secret = STR("s")};
    const struct schema read = SCHEMA("Account", struct account, account_fields, IN_READ);
    const struct schema created =
        SCHEMA("AccountCreated", struct account, account_fields, IN_READ | IN_CREATED);
    buf_init(&b, 1000);
    json_writer_init(&w, &b);
    EXPECT(!schema_encode(&w, &read, &account));
    buf_reset(&b);
    json_writer_init(&w, &b);
    EXPECT(schema_encode(&w, &created, &account));
    EXPECT_STR(buf_str(&b), STR("{\"id\":\"00000000-0000-0000-0000-000000000000\","
                                "\"name\":\"x\",\"secret\":\"s\"}"));
    buf_reset(&b);
    json_writer_init(&w, &b);
    schema_encode_without_secrets(&w, &created, &account);
    EXPECT_STR(buf_str(&b), STR("{\"id\":\"00000000-0000-0000-0000-000000000000\","
                                "\"name\":\"x\",\"secret\":null}"));
}

TEST(decoding_tells_absent_null_and_given_apart)
{
    CLEANUP(arena_deinit) struct arena a;
    struct everything e, before = {.object = STR("{}"), .has_count = true, .count = 3};
    struct problem problem;
    struct presence presence;
    arena_init(&a, TEST_ARENA_BYTES);
    problem_init(&problem, &a);
    struct json body =
        parsed(&a, STR("{\"name\":\"x\",\"flag\":true,\"due\":null,\"object\":null}"));
    EXPECT_EQ(schema_decode_presence(&a, &everything_schema, body, &e, &presence, &problem), OK);
    EXPECT_EQ(schema_member(&everything_schema, &presence, "name"), MEMBER_GIVEN);
    EXPECT_EQ(schema_member(&everything_schema, &presence, "due"), MEMBER_NULL);
    EXPECT_EQ(schema_member(&everything_schema, &presence, "count"), MEMBER_ABSENT);
    EXPECT(schema_gives_others(&everything_schema, &presence, "name"));
    struct presence flag_only =
        schema_presence(&everything_schema, parsed(&a, STR("{\"flag\":true,\"due\":null}")));
    EXPECT(!schema_gives_others(&everything_schema, &flag_only, "flag"));
    struct presence again = schema_presence(&everything_schema, body);
    EXPECT(again.given == presence.given && again.null == presence.null);

    schema_keep_absent(&everything_schema, &presence, &before, &e);
    EXPECT_STR(e.name, STR("x"));
    EXPECT(e.has_count && e.count == 3);
    EXPECT(str_is_none(e.object)); /* null removes */
}

#define SHAPES(X) X(SHAPE_CIRCLE, "circle") X(SHAPE_SQUARE, "square")
ENUM_DECLARE(shape_kind, SHAPE_NONE, shapes, SHAPES);
ENUM_DEFINE(shapes, SHAPES);

struct shape {
    enum shape_kind kind;
    int64_t radius;
    int64_t width;
};
enum { IN_CIRCLE = IN_SENT(0), IN_SQUARE = IN_SENT(1) };

#define OF struct shape
static const struct field shape_fields[] = {
    FIELD(ENUM, kind, IN_BODY, .choices = shapes),
    FIELD(INT, radius, IN_CIRCLE),
    FIELD(INT, width, IN_SQUARE),
};
#undef OF
static const struct schema shape_schemas[] = {
    SCHEMA("a circle", struct shape, shape_fields, IN_BODY | IN_CIRCLE),
    SCHEMA("a square", struct shape, shape_fields, IN_BODY | IN_SQUARE),
};
static const struct schema shape_schema = {.name = "Shape",
    .fields = shape_fields,
    .n_fields = COUNT_OF(shape_fields),
    .struct_bytes = sizeof(struct shape),
    .in = IN_BODY,
    .variants = shape_schemas};

TEST(the_first_member_selects_the_schema_of_an_object_with_variants)
{
    CLEANUP(arena_deinit) struct arena a;
    struct shape shape;
    struct problem problem;
    arena_init(&a, TEST_ARENA_BYTES);
    problem_init(&problem, &a);
    struct json square = parsed(&a, STR("{\"width\":2,\"kind\":\"square\"}"));
    struct json wrong = parsed(&a, STR("{\"kind\":\"circle\",\"width\":2}"));
    struct json unknown = parsed(&a, STR("{\"kind\":\"line\"}"));
    EXPECT_EQ(schema_decode(&a, &shape_schema, square, &shape, &problem), OK);
    EXPECT_EQ(shape.width, 2);
    EXPECT_EQ(schema_decode(&a, &shape_schema, wrong, &shape, &problem), ERR_INVALID);
    EXPECT_STR(problem.faults[0].detail, STR("is not a member of a circle"));
    EXPECT_STR(problem.faults[1].detail, STR("must be given"));
    EXPECT_EQ(schema_decode(&a, &shape_schema, unknown, &shape, &problem), ERR_INVALID);
    EXPECT_STR(problem.faults[2].pointer, STR("/kind"));
}
