/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/execution/prices.h"

static struct price sonnet(void)
{
    return (struct price){.model = STR("claude-sonnet-4-5"),
        .provider = STR("anthropic"),
        .currency = STR("USD"),
        .rates = {3000000, 15000000, 3750000, 300000}};
}

static void put(struct fixture *f, struct price *price)
{
    bool is_new;
    EXPECT_EQ(price_put(begin(f), price, &is_new), OK);
    commit(f);
}

TEST(every_change_of_a_price_is_a_version_and_the_same_again_is_none)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct price price = sonnet(), list[4], read;
    bool is_new = false, more;
    size_t n;
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), OK);
    commit(&f);
    EXPECT(is_new);
    EXPECT_EQ(price.version, 1);
    price = sonnet();
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), OK);
    commit(&f);
    EXPECT(!is_new);
    EXPECT_EQ(price.version, 1);
    price = sonnet();
    price.has_long_context = true;
    price.long_context_tokens = 200000;
    price.long_rates = (struct price_rates){6000000, 22500000, 7500000, 600000};
    put(&f, &price);
    EXPECT_EQ(price.version, 2);
    EXPECT_EQ(price_get(begin_reading(&f), STR("claude-sonnet-4-5"), &read), OK);
    commit(&f);
    EXPECT(read.has_long_context);
    EXPECT_EQ(read.long_rates.cache_read, 600000);
    page = (struct page){.limit = 1};
    EXPECT_EQ(price_version_list(begin_reading(&f), STR("claude-sonnet-4-5"), 0, &page, list), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(list[0].version, 2);
    EXPECT(more);
    EXPECT_STR(
        sql_text(&f, "SELECT action FROM audit_log ORDER BY seq DESC LIMIT 1"), STR("price.set"));
    fixture_end(&f);
}

TEST(a_deleted_price_is_gone_and_its_versions_stay)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct price price = sonnet(), list[4], read;
    bool found = true;
    size_t n;
    put(&f, &price);
    EXPECT_EQ(price_delete(begin(&f), price.model), OK);
    commit(&f);
    EXPECT_EQ(price_get(begin_reading(&f), price.model, &read), ERR_NOT_FOUND);
    commit(&f);
    EXPECT_EQ(price_find(begin_reading(&f), price.model, &read, &found), OK);
    commit(&f);
    EXPECT(!found);
    EXPECT_EQ(price_delete(begin(&f), price.model), ERR_NOT_FOUND);
    abandon(&f);
    page = (struct page){.limit = 4};
    EXPECT_EQ(price_list(begin_reading(&f), STR_NONE, &page, list), OK);
    n = page.count;
    commit(&f);
    EXPECT_EQ(n, 0);
    page = (struct page){.limit = 4};
    EXPECT_EQ(price_version_list(begin_reading(&f), price.model, 0, &page, list), OK);
    n = page.count;
    commit(&f);
    EXPECT_EQ(n, 2);
    EXPECT(list[0].deleted && !list[1].deleted);
    price = sonnet();
    put(&f, &price);
    EXPECT_EQ(price.version, 3);
    fixture_end(&f);
}

TEST(a_dated_name_has_the_price_of_the_undated_one_unless_it_has_its_own)
{
    static const struct {
        const char *model;
        const char *undated;
    } names[] = {
        {"claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
        {"claude-opus-4@20250514", "claude-opus-4"},
        {"gpt-4o-2024-08-06", "gpt-4o"},
    };
    static const char *const others[] = {"gpt-4o", "-20250929", "m-2025092", "m-2025x929", ""};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        EXPECT_STR(price_undated(str_of(names[i].model)), str_of(names[i].undated));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        EXPECT(str_is_none(price_undated(str_of(others[i]))));
    struct fixture f;
    fixture_begin(&f);
    struct price price = sonnet(), read;
    bool found = false;
    put(&f, &price);
    EXPECT_EQ(price_find(begin_reading(&f), STR("claude-sonnet-4-5-20250929"), &read, &found), OK);
    commit(&f);
    EXPECT(found);
    EXPECT_STR(read.model, STR("claude-sonnet-4-5"));
    price = sonnet();
    price.model = STR("claude-sonnet-4-5-20250929");
    price.rates.input = 1;
    put(&f, &price);
    EXPECT_EQ(price_find(begin_reading(&f), price.model, &read, &found), OK);
    commit(&f);
    EXPECT_EQ(read.rates.input, 1);
    EXPECT_EQ(price_delete(begin(&f), price.model), OK);
    commit(&f);
    EXPECT_EQ(price_find(begin_reading(&f), price.model, &read, &found), OK);
    commit(&f);
    EXPECT(found);
    EXPECT_EQ(read.rates.input, 3000000);
    fixture_end(&f);
}

TEST(all_prices_of_a_tenant_are_in_one_currency)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct price price = sonnet();
    bool is_new;
    put(&f, &price);
    price = sonnet();
    price.model = STR("mistral-large");
    price.currency = STR("EUR");
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/currency"));
    abandon(&f);
    EXPECT_EQ(price_put(begin_as(&f, other), &price, &is_new), OK);
    commit(&f);
    price = sonnet();
    price.currency = STR("EUR");
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), OK);
    commit(&f);
    price.currency = STR("usd");
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), ERR_INVALID);
    abandon(&f);
    fixture_end(&f);
}
