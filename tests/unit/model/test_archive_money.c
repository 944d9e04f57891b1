/* SPDX-License-Identifier: Apache-2.0 */
/* Prices, evals and notebooks are archived with their tenant. */
#include "archive_files.h"
#include "model/agents/agents.h"
#include "model/execution/evals.h"
#include "model/execution/prices.h"
#include "model/threads/notebooks.h"

/* Adds rows that only a tenant's archive has; more than a page of each. */
static void add_money(struct fixture *f)
{
    struct agent agent = {.name = STR("helper"), .metadata = STR("{}")};
    struct run run = {.dispatch = RUN_DIRECT};
    struct uuid thread = make_thread(f);
    static const char *const models[] = {"B", "a", "\xc3\xa4"};
    struct context *c = begin(f);
    struct uuid last = UUID_NIL;
    bool is_new;
    EXPECT_EQ(agent_create(c, &agent), OK);
    EXPECT_EQ(run_start(c, thread, RUN_POLICY_NONE, &run), OK);
    for (int i = 0; i < 150; i++) {
        struct price price = {.model = str_of(models[i % 3]),
            .currency = STR("AZN"),
            .rates = {i + 1, 2, 3, 4},
            .has_long_context = i % 2 == 0,
            .long_context_tokens = 200000,
            .long_rates = {5, 6, 7, 8}};
        EXPECT_EQ(price_put(c, &price, &is_new), OK);
    }
    EXPECT_EQ(price_delete(c, STR("a")), OK);
    for (int i = 0; i < 40; i++) {
        struct eval eval = {.name = STR("e"),
            .eval_type = STR("t"),
            .has_agent_id = i % 2 == 0,
            .agent_id = agent.id,
            .has_run_id = i % 2 == 1,
            .run_id = run.id,
            .has_passed = i % 3 != 0,
            .passed = i % 3 == 1,
            .has_score = i % 4 == 0,
            .score = 500000 * (int64_t)EVAL_SCORE_UNIT};
        struct notebook notebook = {.title = STR("n"), .instructions = STR("be brief")};
        struct notebook_session session;
        EXPECT_EQ(eval_create(c, &eval), OK);
        EXPECT_EQ(notebook_create(c, &notebook), OK);
        for (int k = 0; k < 4; k++)
            EXPECT_EQ(notebook_add_session(c, notebook.id, UUID_NIL, &session), OK);
        EXPECT_EQ(notebook_remove_session(c, notebook.id, session.thread_id), OK);
        if (i == 7)
            last = notebook.id;
    }
    EXPECT_EQ(notebook_delete(c, last), OK);
    commit(f);
}

TEST(prices_evals_and_notebooks_go_with_their_tenant_to_the_very_same_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    add_money(&f);
    struct str first = exported(&f, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_KEEP), OK);
    EXPECT_STR(exported(&f, other, OF_TENANT), first);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_KEEP), ERR_CONFLICT);
    fixture_end(&f);
}

static int64_t price_version(struct fixture *f, struct uuid tenant, const char *model)
{
    struct price price;
    EXPECT_EQ(price_get(begin_as(f, tenant), str_of(model), &price), OK);
    commit(f);
    return price.version;
}

TEST(prices_that_are_there_stay_and_notebooks_get_the_next_numbers)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    add_money(&f);
    struct str first = exported(&f, DEFAULT_TENANT_ID, OF_TENANT);
    struct notebook own = {.title = STR("own")};
    struct price price = {.model = STR("B"), .currency = STR("AZN"), .rates = {1, 2, 3, 4}};
    bool is_new;
    struct context *c = begin_as(&f, other);
    price.has_long_context = true;
    price.long_context_tokens = 200000;
    price.long_rates = (struct price_rates){5, 6, 7, 8};
    EXPECT_EQ(price_put(c, &price, &is_new), OK);
    EXPECT_EQ(notebook_create(c, &own), OK);
    commit(&f);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_REMAP), OK);
    EXPECT_EQ(price_version(&f, other, "B"), 50);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM notebook_records"), 39 + 40);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM notebook_threads"), 2 * 39 * 3);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM eval_runs AS v JOIN runs AS r"
                          " ON r.tenant_id = v.tenant_id AND r.id = v.run_id"),
        2 * 20);
    fixture_end(&f);
}

TEST(another_price_of_the_same_version_is_in_the_way_of_an_import)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct price price = {.model = STR("m"), .currency = STR("USD"), .rates = {1, 2, 3, 4}};
    bool is_new;
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), OK);
    commit(&f);
    struct str archive = exported(&f, DEFAULT_TENANT_ID, OF_TENANT);
    price.rates.output = 9;
    EXPECT_EQ(price_put(begin_as(&f, other), &price, &is_new), OK);
    commit(&f);
    EXPECT_EQ(imported(&f, other, archive, ARCHIVE_IDS_REMAP), ERR_CONFLICT);
    EXPECT_PART(told(&f), "another price for \"m\"");
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM prices"), 2);
    EXPECT_EQ(imported(&f, DEFAULT_TENANT_ID, archive, ARCHIVE_IDS_REMAP), OK);
    fixture_end(&f);
}
