/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_patch.h"
#include "parsed.h"

/* RFC 6901 section 5. */
static const struct str document = STR("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,"
                                       "\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,"
                                       "\"m~n\":8}");

static const struct {
    struct str pointer;
    struct str value;
} examples[] = {
    {STR("/foo"), STR("[\"bar\",\"baz\"]")},
    {STR("/foo/0"), STR("\"bar\"")},
    {STR("/foo/1"), STR("\"baz\"")},
    {STR("/"), STR("0")},
    {STR("/a~1b"), STR("1")},
    {STR("/c%d"), STR("2")},
    {STR("/e^f"), STR("3")},
    {STR("/g|h"), STR("4")},
    {STR("/i\\j"), STR("5")},
    {STR("/k\"l"), STR("6")},
    {STR("/ "), STR("7")},
    {STR("/m~0n"), STR("8")},
};

TEST(the_examples_of_rfc_6901_lead_where_it_says)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json root = parsed(&a, document), value;
    EXPECT(json_pointer(root, STR(""), &value));
    EXPECT_STR(json_raw(value), document);
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        if (json_pointer(root, examples[i].pointer, &value))
            EXPECT_STR(json_raw(value), examples[i].value);
        else
            test_fail(__FILE__, __LINE__, "%.*s leads nowhere", STR_ARG(examples[i].pointer));
    }
}

TEST(tilde_escapes_are_decoded_in_one_pass)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json root = PARSED(&a, "{\"~1\":1,\"/\":2,\"~01\":3}"), value;
    EXPECT(json_pointer(root, STR("/~01"), &value));
    EXPECT_STR(json_raw(value), STR("1"));
    EXPECT(json_pointer(root, STR("/~1"), &value));
    EXPECT_STR(json_raw(value), STR("2"));
    EXPECT(json_pointer(root, STR("/~001"), &value));
    EXPECT_STR(json_raw(value), STR("3"));
}

TEST(pointers_that_are_malformed_or_lead_nowhere_are_refused)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct json root = PARSED(&a, "{\"a\":[1,2,{\"b\":null}],\"~\":0,\"~2\":0}"), value = root;
    const struct str refused[] = {STR("a"), STR("a/0"), STR("/b"), STR("/a/3"), STR("/a/-"),
        STR("/a/-1"), STR("/a/00"), STR("/a/01"), STR("/a/+1"), STR("/a/1e0"), STR("/a/ 1"),
        STR("/a/"), STR("/a/2/b/"), STR("/a/2/b/0"), STR("/~"), STR("/~2"), STR("/a~"), STR("#/a"),
        STR("/a/99999999999999999999999"), STR("/a/18446744073709551616"), STR("/A")};
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (json_pointer(root, refused[i], &value))
            test_fail(__FILE__, __LINE__, "%.*s leads somewhere", STR_ARG(refused[i]));
    EXPECT_EQ(value.at, root.at);
}

TEST(a_joined_token_is_escaped_and_found_again)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    EXPECT_STR(json_pointer_join(&a, STR(""), STR("a")), STR("/a"));
    EXPECT_STR(json_pointer_join(&a, STR("/a"), STR("")), STR("/a/"));
    struct str pointer = json_pointer_join(&a, STR("/x"), STR("~1/~0"));
    EXPECT_STR(pointer, STR("/x/~01~1~00"));
    struct json value;
    EXPECT(json_pointer(PARSED(&a, "{\"x\":{\"~1/~0\":5}}"), pointer, &value));
    EXPECT_STR(json_raw(value), STR("5"));
}
