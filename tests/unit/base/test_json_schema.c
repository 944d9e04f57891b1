/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonschema/json_schema.h"
#include "parsed.h"

/* Validates a value and returns a line per fault: "/a must be a string, not number\n". Faults of
 * the schema itself begin with "schema". */
static struct str judged(struct arena *arena, struct str schema_text, struct str value_text)
{
    struct problem *problem = ARENA_NEW(arena, struct problem);
    struct json_schema *schema;
    struct json value = parsed(arena, value_text);
    problem_init(problem, arena);
    enum error error =
        json_schema_compile(arena, parsed(arena, schema_text), STR("schema"), problem, &schema);
    if (error == OK)
        error = json_schema_validate(schema, value, STR(""), problem);
    EXPECT_EQ(error, problem->n_faults > 0 ? ERR_INVALID : OK);
    struct str faults = STR("");
    for (size_t i = 0; i < problem->n_faults; i++)
        faults = arena_printf(arena, "%.*s%.*s %.*s\n", STR_ARG(faults),
            STR_ARG(problem->faults[i].pointer), STR_ARG(problem->faults[i].detail));
    return faults;
}

struct judgement {
    const char *schema;
    const char *value;
    const char *faults; /* "": the value is valid */
};

static void expect_judgements(const struct judgement *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_deinit) struct arena a;
        arena_init(&a, TEST_ARENA_BYTES);
        struct str faults = judged(&a, str_of(list[i].schema), str_of(list[i].value));
        if (!str_eq(faults, str_of(list[i].faults)))
            test_fail(__FILE__, __LINE__, "%s of %s says\n%.*sexpected\n%s", list[i].schema,
                list[i].value, STR_ARG(faults), list[i].faults);
    }
}

#define EXPECT_JUDGEMENTS(list) expect_judgements((list), COUNT_OF(list))

TEST(a_fault_names_the_place_and_the_rule_of_the_value)
{
    static const struct judgement list[] = {
        {"{\"type\":\"string\"}", "\"x\"", ""},
        {"{\"type\":\"string\"}", "1", " must be a string, not number\n"},
        {"{\"type\":\"integer\"}", "1.5", " must be an integer, not a number with a fraction\n"},
        {"{\"type\":[\"string\",\"null\"]}", "1", " must be one of null, string, not number\n"},
        {"{\"enum\":[1,\"a\"]}", "2", " must be one of [1,\"a\"]\n"},
        {"{\"const\":{\"a\":1}}", "{\"a\":2}", " must be {\"a\":1}\n"},
        {"{\"minimum\":3}", "2", " must be at least 3\n"},
        {"{\"maximum\":3}", "3.1", " must be at most 3\n"},
        {"{\"exclusiveMinimum\":3}", "3.0", " must be above 3\n"},
        {"{\"exclusiveMaximum\":3}", "30e-1", " must be below 3\n"},
        {"{\"multipleOf\":0.01}", "0.005", " must be a multiple of 0.01\n"},
        {"{\"minLength\":2}", "\"é\"", " must have at least 2 characters\n"},
        {"{\"maxLength\":1}", "\"ab\"", " must have at most 1 character\n"},
        {"{\"pattern\":\"^a+$\"}", "\"ab\"", " must match the pattern ^a+$\n"},
        {"{\"format\":\"uuid\"}", "\"ab\"", " must be a UUID\n"},
        {"{\"uniqueItems\":true}", "[1,{\"a\":1,\"b\":2},{\"b\":2.0,\"a\":1}]",
            " must have distinct items: items 1 and 2 are equal\n"},
        {"{\"contains\":{\"type\":\"null\"}}", "[1]",
            " must have at least 1 item matching contains, not 0\n"},
        {"{\"required\":[\"a\"]}", "{}", " must have the property \"a\"\n"},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
            " must have the property \"b\", which \"a\" requires\n"},
        {"{\"maxProperties\":1}", "{\"a\":1,\"b\":1}", " must have at most 1 properties\n"},
        {"false", "1", " is not allowed\n"},
        {"{\"not\":{}}", "1", " must not match the schema of not\n"},
        {"{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":1},\"else\":{\"minimum\":1}}", "0",
            " must be at least 1\n"},
    };
    EXPECT_JUDGEMENTS(list);
}

TEST(all_faults_of_a_value_are_told_each_at_its_pointer)
{
    static const struct judgement list[] = {
        {"{\"properties\":{\"a/b\":{\"items\":{\"type\":\"string\"}},\"n\":{\"type\":\"null\"}}}",
            "{\"a/b\":[\"x\",1,2],\"n\":3}",
            "/a~1b/1 must be a string, not number\n/a~1b/2 must be a string, not number\n"
            "/n must be null, not number\n"},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1,\"b\":1}",
            "/b is not a property of the schema\n"},
        {"{\"allOf\":[{\"properties\":{\"a\":{}}}],\"unevaluatedProperties\":false}",
            "{\"a\":1,\"b\":1}", "/b is not a property of the schema\n"},
        {"{\"prefixItems\":[{}],\"unevaluatedItems\":false}", "[1,2]",
            "/1 is not an item of the schema\n"},
        {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}",
            "/ab its name must have at most 1 character\n"},
    };
    EXPECT_JUDGEMENTS(list);
}

TEST(a_choice_that_only_one_schema_can_be_meant_in_is_explained_by_it)
{
    static const struct judgement list[] = {
        {"{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\",\"required\":[\"a\"]}]}", "{}",
            " must have the property \"a\"\n"},
        {"{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\"}]}", "1",
            " must match at least one of the 2 schemas of anyOf\n"},
        {"{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3",
            " must match exactly one of the 2 schemas of oneOf, not 2\n"},
    };
    EXPECT_JUDGEMENTS(list);
}

TEST(what_a_schema_must_not_say_is_refused_at_its_place)
{
    static const struct judgement list[] = {
        {"1", "1", "schema must be a schema: an object, true or false\n"},
        {"{\"properties\":{\"a\":{\"type\":\"text\"}}}", "1",
            "schema/properties/a/type must be one of null, boolean, integer, number, string, array "
            "and object, or an array of distinct names of types\n"},
        {"{\"minLenght\":1}", "1",
            "schema/minLenght is not a keyword of JSON Schema 2020-12 that Cairn supports\n"},
        {"{\"definitions\":{}}", "1",
            "schema/definitions belongs to an older draft: use $defs of JSON Schema 2020-12\n"},
        {"{\"minLength\":-1,\"maxItems\":1.5,\"minItems\":2.0}", "1",
            "schema/minLength must be an integer of at least 0\n"
            "schema/maxItems must be an integer of at least 0\n"},
        {"{\"required\":[\"a\",\"a\"]}", "1",
            "schema/required must be an array of distinct strings\n"},
        {"{\"format\":\"colour\"}", "1",
            "schema/format must be a format of JSON Schema 2020-12, such as date-time, email or "
            "uuid\n"},
        {"{\"multipleOf\":0}", "1", "schema/multipleOf must be above 0\n"},
        {"{\"multipleOf\":1234567890123456789}", "1",
            "schema/multipleOf must have at most 18 significant digits\n"},
        {"{\"patternProperties\":{\"(\":true}}", "1",
            "schema/patternProperties/( must be an ECMA-262 regular expression that Cairn "
            "supports: a group must end in ) (byte 1)\n"},
        {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}", "1",
            "schema/$schema must be https://json-schema.org/draft/2020-12/schema\n"},
        {"{\"allOf\":[]}", "1", "schema/allOf must have at least one schema\n"},
    };
    EXPECT_JUDGEMENTS(list);
}

TEST(references_lead_to_places_in_the_same_schema_alone)
{
    static const struct judgement list[] = {
        {"{\"$defs\":{\"a b\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/a%20b\"}", "1",
            " must be null, not number\n"},
        {"{\"$defs\":{\"a\":{\"$anchor\":\"x\",\"type\":\"null\"}},\"$ref\":\"#x\"}", "1",
            " must be null, not number\n"},
        {"{\"$id\":\"http://h/a/b\",\"$defs\":{\"a\":{\"$id\":\"../c\",\"type\":\"null\"}},"
         "\"$ref\":\"http://h/c\"}",
            "1", " must be null, not number\n"},
        {"{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"additionalProperties\":false}",
            "{\"a\":{\"a\":{\"b\":1}}}", "/a/a/b is not a property of the schema\n"},
        {"{\"$ref\":\"http://h/x\"}", "1",
            "schema/$ref must refer to a part of this schema: Cairn never fetches another "
            "document\n"},
        {"{\"$ref\":\"#/$defs/a\"}", "1", "schema/$ref must refer to a schema\n"},
        {"{\"const\":{\"a\":{}},\"$ref\":\"#/const/a\"}", "1",
            "schema/$ref must refer to a schema\n"},
        {"{\"$ref\":\"#a\"}", "1", "schema/$ref must name an anchor of this schema\n"},
        {"{\"$ref\":\"a b\"}", "1", "schema/$ref must be a URI reference\n"},
        {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}", "1",
            "schema/$defs/a/$anchor must differ from the other anchors under the same $id\n"},
    };
    EXPECT_JUDGEMENTS(list);
}

TEST(a_schema_that_applies_itself_to_the_same_value_is_refused)
{
    static const struct judgement list[] = {
        {"{\"$ref\":\"#\"}", "1",
            "schema/$ref must not refer back to this schema for the same value in an infinite "
            "loop\n"},
        {"{\"allOf\":[{\"$ref\":\"#/$defs/a\"}],\"$defs\":{\"a\":{\"not\":{\"$ref\":\"#\"}}}}", "1",
            "schema/$defs/a/not/$ref must not refer back to this schema for the same value in an "
            "infinite loop\n"},
    };
    EXPECT_JUDGEMENTS(list);
}

TEST(dynamic_references_without_end_are_refused_when_they_are_met)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str faults = judged(
        &a, STR("{\"$dynamicAnchor\":\"x\",\"allOf\":[{\"$dynamicRef\":\"#x\"}]}"), STR("1"));
    EXPECT_STR(faults, STR(" must not pass through more than 512 nested schemas\n"));
}

/* $defs a0 … an, each of which applies the next twice. */
static struct str doubling(struct arena *arena, int n)
{
    struct str text = STR("{\"$ref\":\"#/$defs/a0\",\"$defs\":{");
    for (int i = 0; i < n; i++)
        text = arena_printf(arena,
            "%.*s\"a%d\":{\"allOf\":[{\"$ref\":\"#/$defs/a%d\"},{\"$ref\":\"#/$defs/a%d\"}]},",
            STR_ARG(text), i, i + 1, i + 1);
    return arena_printf(arena, "%.*s\"a%d\":{\"type\":\"null\"}}}", STR_ARG(text), n);
}

TEST(a_check_that_would_take_exponential_time_is_refused)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_STR(judged(&a, doubling(&a, 10), STR("null")), STR(""));
    EXPECT_STR(judged(&a, doubling(&a, 100), STR("null")),
        STR(" must be validated within 500000 steps\n"));
}

TEST(an_ordinary_document_of_a_mebibyte_is_far_from_the_limit)
{
    enum { RECORDS = 9500 };
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str record = STR("{\"id\":17,\"name\":\"Somebody with a name of some length\",\"tags\":"
                            "[\"one\",\"two\",\"three\"],\"done\":false,\"at\":\"2026-11-16\"},");
    struct str document =
        arena_printf(&a, "[%.*s{\"id\":1,\"name\":\"x\"}]", STR_ARG(repeated(&a, record, RECORDS)));
    EXPECT(document.len > 1000 * 1000);
    struct str schema = STR(
        "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"id\",\"name\"],"
        "\"properties\":{\"id\":{\"type\":\"integer\",\"minimum\":1},\"name\":{\"type\":\"string\","
        "\"maxLength\":100},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"done\":"
        "{"
        "\"type\":\"boolean\"},\"at\":{\"type\":\"string\"}},\"additionalProperties\":false}}");
    EXPECT_STR(judged(&a, schema, document), STR(""));
}

TEST(a_schema_has_a_bounded_number_of_subschemas_and_states)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str many = repeated(&a, STR("{},"), JSON_SCHEMA_MAX_SUBSCHEMAS);
    struct str schema = arena_printf(&a, "{\"allOf\":[%.*s{}]}", STR_ARG(many));
    EXPECT_STR(judged(&a, schema, STR("1")),
        STR("schema/allOf/19999 exceeds the limit of 20000 subschemas in a schema\n"));
    many = repeated(&a, STR("{\"pattern\":\"a{1000}\"},"), 60);
    schema = arena_printf(&a, "{\"allOf\":[%.*s{}]}", STR_ARG(many));
    EXPECT(contains(judged(&a, schema, STR("1")),
        "/pattern must keep the patterns of the schema within 40000 states in total\n"));
}

TEST(faults_are_bounded_in_number_and_the_rest_is_counted)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct problem problem;
    struct json_schema *schema;
    problem_init(&problem, &a);
    struct str items = repeated(&a, STR("1,"), 99);
    struct json value = parsed(&a, arena_printf(&a, "[%.*s1]", STR_ARG(items)));
    EXPECT_EQ(json_schema_compile(
                  &a, PARSED(&a, "{\"items\":{\"type\":\"null\"}}"), STR(""), &problem, &schema),
        OK);
    EXPECT_EQ(json_schema_validate(schema, value, STR("/data"), &problem), ERR_INVALID);
    EXPECT_EQ(problem.n_faults, PROBLEM_MAX_FAULTS);
    EXPECT_EQ(problem.n_faults_untold, 100 - PROBLEM_MAX_FAULTS);
    EXPECT_STR(problem.faults[3].pointer, STR("/data/3"));
}
