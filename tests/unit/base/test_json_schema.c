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

TEST(schemas_that_apply_to_the_same_value_nest_512_deep)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    for (int last = 510; last <= 511; last++) {
        struct str text = STR("{\"$ref\":\"#/$defs/a0\",\"$defs\":{");
        for (int i = 0; i < last; i++)
            text = arena_printf(
                &a, "%.*s\"a%d\":{\"$ref\":\"#/$defs/a%d\"},", STR_ARG(text), i, i + 1);
        text = arena_printf(&a, "%.*s\"a%d\":{}}}", STR_ARG(text), last);
        bool is_refused = contains(
            judged(&a, text, STR("1")), "must not be nested in more than 512 other schemas");
        EXPECT_EQ(is_refused, last == 511);
    }
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

/* --- Keywords with values of each type -------------------------------------------------------- */

enum { NULLS = 1, FLAGS = 2, NUMBERS = 4, TEXTS = 8, ARRAYS = 16, OBJECTS = 32 };
enum { SCHEMAS = FLAGS | OBJECTS, ANYTHING = 63 };

static const struct {
    unsigned type;
    const char *value;
} VALUES[] = {
    {NULLS, "null"},
    {FLAGS, "true"},
    {FLAGS, "false"},
    {NUMBERS, "1"},
    {TEXTS, "\"x\""},
    {ARRAYS, "[true]"},
    {OBJECTS, "{}"},
};

static const struct {
    const char *keyword;
    unsigned accepted;
    const char *rule;
} KEYWORDS[] = {
    {"$id", TEXTS, "must be a URI reference"},
    {"$anchor", TEXTS, "must be a string"},
    {"$dynamicAnchor", TEXTS, "must be a string"},
    {"$defs", OBJECTS, "must be an object whose values are schemas"},
    {"$comment", TEXTS, "must be a string"},
    {"enum", ARRAYS, "must be an array of the allowed values"},
    {"const", ANYTHING, ""},
    {"minimum", NUMBERS, "must be a number"},
    {"maximum", NUMBERS, "must be a number"},
    {"exclusiveMinimum", NUMBERS, "must be a number"},
    {"exclusiveMaximum", NUMBERS, "must be a number"},
    {"multipleOf", NUMBERS, "must be a number"},
    {"minLength", NUMBERS, "must be an integer of at least 0"},
    {"maxLength", NUMBERS, "must be an integer of at least 0"},
    {"pattern", TEXTS, "must be a string"},
    {"minItems", NUMBERS, "must be an integer of at least 0"},
    {"maxItems", NUMBERS, "must be an integer of at least 0"},
    {"uniqueItems", FLAGS, "must be true or false"},
    {"minContains", NUMBERS, "must be an integer of at least 0"},
    {"maxContains", NUMBERS, "must be an integer of at least 0"},
    {"prefixItems", ARRAYS, "must be an array of schemas"},
    {"items", SCHEMAS, "must be a schema: an object, true or false"},
    {"contains", SCHEMAS, "must be a schema: an object, true or false"},
    {"unevaluatedItems", SCHEMAS, "must be a schema: an object, true or false"},
    {"minProperties", NUMBERS, "must be an integer of at least 0"},
    {"maxProperties", NUMBERS, "must be an integer of at least 0"},
    {"required", 0, "must be an array of distinct strings"},
    {"properties", OBJECTS, "must be an object whose values are schemas"},
    {"patternProperties", OBJECTS, "must be an object whose values are schemas"},
    {"additionalProperties", SCHEMAS, "must be a schema: an object, true or false"},
    {"propertyNames", SCHEMAS, "must be a schema: an object, true or false"},
    {"dependentRequired", OBJECTS, "must be an object whose values are arrays of strings"},
    {"dependentSchemas", OBJECTS, "must be an object whose values are schemas"},
    {"unevaluatedProperties", SCHEMAS, "must be a schema: an object, true or false"},
    {"allOf", ARRAYS, "must be an array of schemas"},
    {"anyOf", ARRAYS, "must be an array of schemas"},
    {"oneOf", ARRAYS, "must be an array of schemas"},
    {"not", SCHEMAS, "must be a schema: an object, true or false"},
    {"if", SCHEMAS, "must be a schema: an object, true or false"},
    {"then", SCHEMAS, "must be a schema: an object, true or false"},
    {"else", SCHEMAS, "must be a schema: an object, true or false"},
    {"title", TEXTS, "must be a string"},
    {"description", TEXTS, "must be a string"},
    {"default", ANYTHING, ""},
    {"deprecated", FLAGS, "must be true or false"},
    {"readOnly", FLAGS, "must be true or false"},
    {"writeOnly", FLAGS, "must be true or false"},
    {"examples", ARRAYS, "must be an array"},
    {"contentEncoding", TEXTS, "must be a string"},
    {"contentMediaType", TEXTS, "must be a string"},
    {"contentSchema", SCHEMAS, "must be a schema: an object, true or false"},
};

TEST(a_keyword_accepts_values_of_its_types_and_rejects_all_others)
{
    for (size_t i = 0; i < COUNT_OF(KEYWORDS); i++)
        for (size_t j = 0; j < COUNT_OF(VALUES); j++) {
            CLEANUP(arena_deinit) struct arena a;
            arena_init(&a, TEST_ARENA_BYTES);
            struct problem problem;
            struct json_schema *schema;
            problem_init(&problem, &a);
            struct str text = arena_printf(&a, "{\"%s\":%s}", KEYWORDS[i].keyword, VALUES[j].value);
            bool is_accepted = (KEYWORDS[i].accepted & VALUES[j].type) != 0;
            enum error error =
                json_schema_compile(&a, parsed(&a, text), STR(""), &problem, &schema);
            if (is_accepted != (error == OK))
                test_fail(__FILE__, __LINE__, "%.*s is %s", STR_ARG(text),
                    error == OK ? "accepted" : "rejected");
            if (!is_accepted) {
                EXPECT_EQ(problem.n_faults, 1);
                EXPECT_STR(problem.faults[0].detail, str_of(KEYWORDS[i].rule));
            }
        }
}

TEST(a_keyword_names_the_part_of_its_value_that_is_wrong)
{
    static const struct judgement list[] = {
        {"{\"$schema\":1}", "1", "schema/$schema must be a string\n"},
        {"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema#\"}", "1", ""},
        {"{\"not\":{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"}}", "1",
            "schema/not/$schema must be at the root of a schema or beside an $id\n"},
        {"{\"$ref\":1}", "1", "schema/$ref must be a string\n"},
        {"{\"$dynamicRef\":1}", "1", "schema/$dynamicRef must be a string\n"},
        {"{\"$dynamicRef\":\"a b\"}", "1", "schema/$dynamicRef must be a URI reference\n"},
        {"{\"format\":1}", "1", "schema/format must be a string\n"},
        {"{\"$id\":\"a b\"}", "1", "schema/$id must be a URI reference\n"},
        {"{\"$id\":\"a#b\"}", "1", "schema/$id must not have a fragment\n"},
        {"{\"$id\":\"a#\"}", "null", ""},
        {"{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}", "1",
            "schema/$defs/b/$id must differ from every other $id\n"},
        {"{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"y\"}}}", "1", ""},
        {"{\"$anchor\":\"a-b.c_9\"}", "1", ""},
        {"{\"$anchor\":\"_\"}", "1", ""},
        {"{\"$anchor\":\"\"}", "1",
            "schema/$anchor must begin with a letter or _ and otherwise contain only letters, "
            "digits, _, - and .\n"},
        {"{\"$anchor\":\"9\"}", "1",
            "schema/$anchor must begin with a letter or _ and otherwise contain only letters, "
            "digits, _, - and .\n"},
        {"{\"$anchor\":\"-a\"}", "1",
            "schema/$anchor must begin with a letter or _ and otherwise contain only letters, "
            "digits, _, - and .\n"},
        {"{\"$anchor\":\"a b\"}", "1",
            "schema/$anchor must begin with a letter or _ and otherwise contain only letters, "
            "digits, _, - and .\n"},
        {"{\"type\":[]}", "1",
            "schema/type must be one of null, boolean, integer, number, string, array and object, "
            "or an array of distinct names of types\n"},
        {"{\"type\":[\"null\",\"null\"]}", "1",
            "schema/type must be one of null, boolean, integer, number, string, array and object, "
            "or an array of distinct names of types\n"},
        {"{\"type\":[\"null\",1]}", "1",
            "schema/type must be one of null, boolean, integer, number, string, array and object, "
            "or an array of distinct names of types\n"},
        {"{\"required\":[\"a\",1]}", "1", "schema/required must be an array of distinct strings\n"},
        {"{\"required\":[\"b\",\"a\",\"b\"]}", "1",
            "schema/required must be an array of distinct strings\n"},
        {"{\"required\":[]}", "1", ""},
        {"{\"dependentRequired\":{\"a\":1}}", "1",
            "schema/dependentRequired/a must be an array of distinct strings\n"},
        {"{\"properties\":{\"a\":1}}", "1",
            "schema/properties/a must be a schema: an object, true or false\n"},
        {"{\"patternProperties\":{\"a\":1}}", "1",
            "schema/patternProperties/a must be a schema: an object, true or false\n"},
        {"{\"anyOf\":[true,1]}", "1",
            "schema/anyOf/1 must be a schema: an object, true or false\n"},
        {"{\"multipleOf\":-1}", "1", "schema/multipleOf must be above 0\n"},
        {"{\"multipleOf\":123456789012345678}", "0", ""},
        {"{\"pattern\":\"(\"}", "1",
            "schema/pattern must be an ECMA-262 regular expression that Cairn supports: a group "
            "must end in ) (byte 1)\n"},
        {"{\"minLength\":0,\"maxLength\":100000000000000000000}", "\"\"", ""},
        {"{\"dependencies\":{}}", "1",
            "schema/dependencies belongs to an older draft: use dependentRequired and "
            "dependentSchemas of JSON Schema 2020-12\n"},
    };
    EXPECT_JUDGEMENTS(list);
}

/* References are resolved against the $id of the schema around them (RFC 3986, section 5.4). */
TEST(a_reference_is_resolved_as_rfc_3986_says)
{
    static const struct {
        const char *reference;
        const char *target;
    } list[] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"http:g", "http:g"},
        {"g+1.x-y:h", "g+1.x-y:h"},
    };
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        CLEANUP(arena_deinit) struct arena a;
        arena_init(&a, TEST_ARENA_BYTES);
        struct str schema = arena_printf(&a,
            "{\"$defs\":{\"from\":{\"$id\":\"http://a/b/c/d;p?q\",\"items\":{\"$ref\":\"%s\"}},"
            "\"to\":{\"$id\":\"%s\",\"type\":\"null\"}}}",
            list[i].reference, list[i].target);
        struct str faults = judged(&a, schema, STR("1"));
        bool is_own = list[i].reference[0] == '\0';
        if (is_own ? faults.len == 0 : faults.len > 0)
            test_fail(__FILE__, __LINE__, "%s is not %s: %.*s", list[i].reference, list[i].target,
                STR_ARG(faults));
    }
}

TEST(pointers_and_escapes_of_references_lead_to_their_target)
{
    static const struct judgement list[] = {
        {"{\"$defs\":{\"a/b\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/a~1b\"}", "1",
            " must be null, not number\n"},
        {"{\"$defs\":{\"ab\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/%61%62\"}", "1",
            " must be null, not number\n"},
        {"{\"anyOf\":[{\"type\":\"null\"},true],\"items\":{\"$ref\":\"#/anyOf/0\"}}", "[1]",
            "/0 must be null, not number\n"},
        {"{\"anyOf\":[true],\"items\":{\"$ref\":\"#/anyOf/1\"}}", "1",
            "schema/items/$ref must refer to a schema\n"},
        {"{\"anyOf\":[true],\"items\":{\"$ref\":\"#/anyOf/a\"}}", "1",
            "schema/items/$ref must refer to a schema\n"},
        {"{\"title\":\"x\",\"items\":{\"$ref\":\"#/title/0\"}}", "1",
            "schema/items/$ref must refer to a schema\n"},
        {"{\"items\":{\"$ref\":\"#/~2\"}}", "1", "schema/items/$ref must refer to a schema\n"},
        {"{\"$defs\":{\"a\":{\"$id\":\"x\",\"$defs\":{\"b\":{\"$anchor\":\"n\",\"type\":\"null\"}}}"
         "},"
         "\"items\":{\"$ref\":\"x#n\"}}",
            "[1]", "/0 must be null, not number\n"},
        {"{\"$defs\":{\"a\":{\"$id\":\"x\",\"$defs\":{\"b\":{\"$anchor\":\"n\",\"type\":\"null\"}}}"
         "},"
         "\"items\":{\"$ref\":\"#n\"}}",
            "[1]", "schema/items/$ref must name an anchor of this schema\n"},
        {"{\"$defs\":{\"a\":{\"$id\":\"x\",\"$anchor\":\"n\"},\"b\":{\"$anchor\":\"n\"}}}", "1",
            ""},
        {"{\"$defs\":{\"a\":{\"$dynamicAnchor\":\"n\"},\"b\":{\"$dynamicAnchor\":\"n\"}}}", "1",
            "schema/$defs/a/$dynamicAnchor must differ from the other anchors under the same "
            "$id\n"},
    };
    EXPECT_JUDGEMENTS(list);
}
