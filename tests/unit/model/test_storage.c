/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/agents/agents.h"
#include "model/agents/storage.h"

static struct uuid make_agent(struct fixture *f, const char *name)
{
    struct agent agent = {.name = str_of(name)};
    EXPECT_EQ(agent_create(begin(f), &agent), OK);
    commit(f);
    return agent.id;
}

static struct storage_item store_json(
    struct fixture *f, struct uuid agent, const char *key, const char *value)
{
    struct storage_item item = {
        .key = str_of(key), .content_type = STR("application/json"), .value = str_of(value)};
    bool is_new;
    EXPECT_EQ(storage_put(begin(f), agent, &item, &is_new), OK);
    commit(f);
    return item;
}

TEST(json_and_bytes_are_read_back_as_they_were_stored)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a");
    struct storage_item json = store_json(&f, agent, "plan", "[1.50,null]"), read;
    EXPECT_EQ(json.version, 1);
    EXPECT_EQ(json.size_bytes, 11);
    struct storage_item bytes = {
        .key = STR("blob"), .content_type = STR("image/png"), .bytes = STR("\0\xff\n")};
    bool is_new = false;
    EXPECT_EQ(storage_put(begin(&f), agent, &bytes, &is_new), OK);
    commit(&f);
    EXPECT(is_new);
    struct context *c = begin_reading(&f);
    EXPECT_EQ(storage_get(c, agent, STR("plan"), &read), OK);
    EXPECT_STR(read.value, STR("[1.50,null]"));
    EXPECT(str_is_none(read.bytes));
    EXPECT_EQ(storage_get(c, agent, STR("blob"), &read), OK);
    EXPECT(str_is_none(read.value));
    EXPECT_STR(read.bytes, STR("\0\xff\n"));
    EXPECT_STR(read.content_type, STR("image/png"));
    EXPECT_EQ(storage_get(c, agent, STR("other"), &read), ERR_NOT_FOUND);
    commit(&f);
    fixture_end(&f);
}

TEST(empty_bytes_are_a_value)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a");
    struct storage_item item = {.key = STR("k"), .content_type = STR("a/b"), .bytes = STR("")};
    bool is_new;
    EXPECT_EQ(storage_put(begin(&f), agent, &item, &is_new), OK);
    commit(&f);
    EXPECT_EQ(storage_get(begin_reading(&f), agent, STR("k"), &item), OK);
    commit(&f);
    EXPECT(!str_is_none(item.bytes));
    EXPECT_EQ(item.bytes.len, 0);
    fixture_end(&f);
}

TEST(a_write_that_names_a_version_is_refused_when_there_is_another)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a");
    struct storage_item item = store_json(&f, agent, "k", "1"), again = item;
    bool is_new = true;
    struct context *c = begin(&f);
    c->match_none = true;
    EXPECT_EQ(storage_put(c, agent, &again, &is_new), ERR_STALE);
    c->match_none = false;
    context_match_only(c, 2);
    EXPECT_EQ(storage_put(c, agent, &again, &is_new), ERR_STALE);
    EXPECT_EQ(storage_delete(c, agent, STR("k")), ERR_STALE);
    again.key = STR("none");
    EXPECT_EQ(storage_put(c, agent, &again, &is_new), ERR_STALE);
    abandon(&f);
    c = begin(&f);
    context_match_only(c, 1);
    again = (struct storage_item){
        .key = STR("k"), .content_type = STR("application/json"), .value = STR("2")};
    EXPECT_EQ(storage_put(c, agent, &again, &is_new), OK);
    commit(&f);
    EXPECT(!is_new);
    EXPECT_EQ(again.version, 2);
    fixture_end(&f);
}

static size_t list(struct fixture *f, struct uuid agent, const char *prefix, struct str after,
    size_t limit, struct storage_item *out, bool *out_more)
{
    struct page page = {.limit = limit};
    const struct storage_filter filter = {
        .prefix = prefix != NULL ? str_of(prefix) : STR_NONE, .after = after};
    EXPECT_EQ(storage_list(begin_reading(f), agent, &filter, &page, out), OK);
    commit(f);
    *out_more = page.more;
    return page.count;
}

TEST(keys_are_listed_by_prefix_whatever_comes_behind_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a"), other = make_agent(&f, "b");
    static const char *const keys[] = {"a", "a/1", "a/2", "a/\xf4\x8f\xbf\xbf", "a0", "b%_",
        "\xed\x9f\xbf", "\xed\x9f\xbf/x", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf"};
    static const struct {
        const char *prefix;
        size_t count;
    } cases[] = {{NULL, 10}, {"", 10}, {"a", 5}, {"a/", 3}, {"a/1", 1}, {"b", 1}, {"b%", 1},
        {"_", 0}, {"c", 0}, {"\xed\x9f\xbf", 2}, {"\xf4\x8f\xbf\xbf", 2},
        {"a/\xf4\x8f\xbf\xbf", 1}};
    struct storage_item items[20];
    bool more;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        store_json(&f, agent, keys[i], "1");
    store_json(&f, other, "a/3", "1");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t n = list(&f, agent, cases[i].prefix, STR_NONE, 20, items, &more);
        if (n != cases[i].count)
            test_fail(__FILE__, __LINE__, "%zu keys begin with %zu: %zu", cases[i].count, i, n);
        EXPECT(!more);
    }
    fixture_end(&f);
}

TEST(a_list_goes_on_behind_a_key_and_holds_values_when_asked)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a");
    struct storage_item items[20];
    bool more;
    for (const char *const *k = (const char *const[]){"p/1", "p/2", "p/3", "q", NULL}; *k; k++)
        store_json(&f, agent, *k, "[1]");
    EXPECT_EQ(list(&f, agent, "p/", STR_NONE, 2, items, &more), 2);
    EXPECT(more);
    EXPECT(str_is_none(items[1].value));
    EXPECT_EQ(list(&f, agent, "p/", STR("p/2"), 2, items, &more), 1);
    EXPECT(!more);
    EXPECT_STR(items[0].key, STR("p/3"));
    EXPECT_EQ(list(&f, agent, "p/", STR("a"), 2, items, &more), 2);
    EXPECT_STR(items[0].key, STR("p/1"));
    const struct storage_filter whole = {.with_values = true};
    size_t n;
    page = (struct page){.limit = 20};
    EXPECT_EQ(storage_list(begin_reading(&f), agent, &whole, &page, items), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 4);
    EXPECT_STR(items[3].value, STR("[1]"));
    fixture_end(&f);
}

TEST(a_page_with_values_ends_with_the_one_that_makes_it_larger_than_its_limit)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a");
    char *bytes = arena_zalloc(f.arena, 3 * 1024 * 1024);
    struct storage_item items[4];
    bool more;
    struct context *c = begin(&f);
    for (int i = 0; i < 4; i++) {
        struct storage_item item = {.key = arena_printf(f.arena, "%d", i),
            .content_type = STR("a/b"),
            .bytes = {bytes, 3 * 1024 * 1024}};
        EXPECT_EQ(storage_put(c, agent, &item, &more), OK);
    }
    commit(&f);
    const struct storage_filter whole = {.with_values = true};
    size_t n;
    page = (struct page){.limit = 4};
    EXPECT_EQ(storage_list(begin_reading(&f), agent, &whole, &page, items), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 2);
    EXPECT(more);
    fixture_end(&f);
}

TEST(what_is_stored_goes_with_its_key_and_with_its_agent_and_is_of_one_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a"), other = make_tenant(&f, "other");
    struct storage_item unused;
    store_json(&f, agent, "k", "1");
    store_json(&f, agent, "l", "1");
    EXPECT_EQ(storage_get(begin_as(&f, other), agent, STR("k"), &unused), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(storage_delete(begin(&f), agent, STR("k")), OK);
    commit(&f);
    EXPECT_EQ(storage_delete(begin(&f), agent, STR("k")), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(delete_agent(begin(&f), agent), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_storage"), 0);
    fixture_end(&f);
}
