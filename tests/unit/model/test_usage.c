/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/execution/usage.h"

static void put_price(struct fixture *f, const char *model, int64_t above)
{
    struct price price = {.model = str_of(model),
        .currency = STR("USD"),
        .rates = {3000000, 15000000, 3750000, 300000},
        .has_long_context = above > 0,
        .long_context_tokens = above,
        .long_rates = {6000000, 22500000, 7500000, 600000}};
    bool is_new;
    EXPECT_EQ(price_put(begin(f), &price, &is_new), OK);
    commit(f);
}

/* The call of the seed's example. */
static struct usage example(void)
{
    return (struct usage){.model = STR("claude-sonnet-4-5"),
        .provider = STR("anthropic"),
        .input_tokens = 1900,
        .output_tokens = 1300,
        .cache_creation_input_tokens = 200,
        .cache_read_input_tokens = 400};
}

static struct cost add(struct fixture *f, const struct run *run, struct usage usage)
{
    struct cost cost = {0};
    EXPECT_EQ(usage_add(begin(f), run, UUID_NIL, &usage, &cost), OK);
    commit(f);
    return cost;
}

static struct run child_of(struct fixture *f, const struct run *parent)
{
    struct run child = {
        .has_parent_run_id = true, .parent_run_id = parent->id, .dispatch = RUN_DIRECT};
    EXPECT_EQ(run_start(begin(f), parent->thread_id, RUN_POLICY_NONE, &child), OK);
    commit(f);
    return child;
}

static struct str document(struct fixture *f, const struct run *run)
{
    struct str json = STR_NONE;
    EXPECT_EQ(usage_cost_document(begin_reading(f), run, &json), OK);
    commit(f);
    return json;
}

TEST(the_seeds_example_costs_what_the_seed_says_to_the_last_digit)
{
    struct fixture f;
    fixture_begin(&f);
    put_price(&f, "claude-sonnet-4-5", 0);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct cost cost = add(&f, &run, example());
    EXPECT(cost.is_priced && !cost.long_context_applied);
    EXPECT_EQ(cost.total, 26070000000);
    EXPECT_EQ(cost.price_version, 1);
    EXPECT_STR(document(&f, &run),
        STR("{\"input_cost\":0.0057,\"output_cost\":0.0195,\"cache_write_cost\":0.00075,"
            "\"cache_read_cost\":0.00012,\"total_cost\":0.02607,\"total_input_tokens\":2500,"
            "\"total_output_tokens\":1300,\"total_cache_creation_tokens\":200,"
            "\"total_cache_read_tokens\":400,\"model_id\":\"claude-sonnet-4-5\","
            "\"long_context_applied\":false,\"currency\":\"USD\",\"llm_calls\":1,"
            "\"unpriced_calls\":0}"));
    fixture_end(&f);
}

TEST(above_its_tokens_the_whole_call_has_the_long_context_rates)
{
    struct fixture f;
    fixture_begin(&f);
    put_price(&f, "claude-sonnet-4-5", 2500);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct usage usage = example();
    EXPECT(!add(&f, &run, usage).long_context_applied);
    usage.cache_read_input_tokens++;
    struct cost cost = add(&f, &run, usage);
    EXPECT(cost.long_context_applied);
    EXPECT_EQ(cost.total, INT64_C(1900) * 6000000 + INT64_C(1300) * 22500000 +
                              INT64_C(200) * 7500000 + INT64_C(401) * 600000);
    fixture_end(&f);
}

TEST(what_a_run_used_is_in_the_totals_of_all_its_ancestors)
{
    struct fixture f;
    fixture_begin(&f);
    put_price(&f, "claude-sonnet-4-5", 0);
    struct run root = make_run(&f, make_thread(&f), "direct");
    struct run child = child_of(&f, &root), grandchild = child_of(&f, &child);
    add(&f, &root, example());
    add(&f, &grandchild, example());
    add(&f, &grandchild, example());
    EXPECT_EQ(sql_i64(&f, "SELECT llm_calls FROM runs WHERE depth = 0"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT total_llm_calls FROM runs WHERE depth = 0"), 3);
    EXPECT_EQ(sql_i64(&f, "SELECT total_cost_pico FROM runs WHERE depth = 0"), 78210000000);
    EXPECT_EQ(sql_i64(&f, "SELECT llm_calls FROM runs WHERE depth = 1"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT total_cache_read_input_tokens FROM runs WHERE depth = 1"), 800);
    EXPECT_EQ(sql_i64(&f, "SELECT cost_pico FROM runs WHERE depth = 2"), 52140000000);
    EXPECT_EQ(sql_i64(&f, "SELECT total_input_tokens FROM runs WHERE depth = 2"), 3800);
    struct cost_document total;
    struct nested_list models;
    EXPECT_EQ(usage_of_run(begin_reading(&f), root.id, &total, &models), OK);
    commit(&f);
    EXPECT_EQ(total.total_cost, 78210000000);
    EXPECT_EQ(models.count, 1);
    fixture_end(&f);
}

TEST(a_call_without_a_price_is_told_and_never_counted_as_free)
{
    struct fixture f;
    fixture_begin(&f);
    put_price(&f, "claude-sonnet-4-5", 0);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct usage usage = example();
    add(&f, &run, usage);
    usage.model = STR("nobody-knows");
    struct cost cost = add(&f, &run, usage);
    EXPECT(!cost.is_priced);
    EXPECT_EQ(cost.total, 0);
    struct cost_document total;
    struct nested_list models;
    EXPECT_EQ(usage_of_run(begin_reading(&f), run.id, &total, &models), OK);
    commit(&f);
    EXPECT(!total.has_costs && total.has_priced_cost);
    EXPECT_EQ(total.priced_cost, 26070000000);
    EXPECT_EQ(total.unpriced_calls, 1);
    EXPECT(str_is_none(total.model_id));
    EXPECT_EQ(total.models.count, 2);
    EXPECT_EQ(sql_i64(&f, "SELECT total_unpriced_calls FROM runs"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT cost_pico FROM runs"), 26070000000);
    fixture_end(&f);
}

TEST(a_price_that_changes_later_changes_no_cost_of_before)
{
    struct fixture f;
    fixture_begin(&f);
    put_price(&f, "claude-sonnet-4-5", 0);
    struct run run = make_run(&f, make_thread(&f), "direct");
    add(&f, &run, example());
    put_price(&f, "claude-sonnet-4-5", 1);
    EXPECT_EQ(add(&f, &run, example()).price_version, 2);
    EXPECT_EQ(sql_i64(&f, "SELECT input_cost_pico + output_cost_pico + cache_write_cost_pico "
                          "+ cache_read_cost_pico FROM run_usage WHERE price_version = 1"),
        26070000000);
    EXPECT_EQ(sql_i64(&f, "SELECT long_context_calls FROM run_usage WHERE price_version = 2"), 1);
    fixture_end(&f);
}

TEST(no_sum_of_costs_goes_beyond_what_a_number_holds)
{
    struct fixture f;
    fixture_begin(&f);
    struct price price = {.model = STR("gold"),
        .currency = STR("USD"),
        .rates = {PRICE_RATE_MAX_PICO, PRICE_RATE_MAX_PICO, 0, 0}};
    bool is_new;
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), OK);
    commit(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct usage usage = {.model = STR("gold"), .input_tokens = USAGE_TOKENS_MAX};
    struct cost cost;
    EXPECT_EQ(usage_add(begin(&f), &run, UUID_NIL, &usage, &cost), ERR_INVALID);
    abandon(&f);
    usage.input_tokens = 1000000;
    for (int i = 0; i < 9; i++)
        add(&f, &run, usage);
    EXPECT_EQ(usage_add(begin(&f), &run, UUID_NIL, &usage, &cost), ERR_CONFLICT);
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT total_cost_pico FROM runs"), INT64_C(9000000000000000000));
    usage.input_tokens = -1;
    EXPECT_EQ(usage_add(begin(&f), &run, UUID_NIL, &usage, &cost), ERR_INVALID);
    abandon(&f);
    fixture_end(&f);
}

TEST(tokens_outside_of_their_limits_are_rejected_whoever_counts_them)
{
    static const struct {
        size_t member;
        const char *pointer;
    } members[] = {
        {offsetof(struct usage, input_tokens), "/input_tokens"},
        {offsetof(struct usage, output_tokens), "/output_tokens"},
        {offsetof(struct usage, cache_creation_input_tokens), "/cache_creation_input_tokens"},
        {offsetof(struct usage, cache_read_input_tokens), "/cache_read_input_tokens"},
    };
    static const int64_t wrong[] = {-1, USAGE_TOKENS_MAX + 1}, right[] = {0, USAGE_TOKENS_MAX};
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    for (size_t i = 0; i < COUNT_OF(members); i++)
        for (size_t k = 0; k < COUNT_OF(wrong); k++) {
            struct usage usage = {.model = STR("m"), .provider = STR("p")};
            int64_t *tokens = (int64_t *)(void *)((char *)&usage + members[i].member);
            struct cost cost;
            *tokens = wrong[k];
            EXPECT_EQ(usage_add(begin(&f), &run, UUID_NIL, &usage, &cost), ERR_INVALID);
            EXPECT_STR(f.problem.faults[0].pointer, str_of(members[i].pointer));
            abandon(&f);
            *tokens = right[k];
            add(&f, &run, usage);
        }
    fixture_end(&f);
}

TEST(a_turn_must_be_one_of_the_run)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct usage usage = example();
    struct cost cost;
    EXPECT_EQ(usage_add(begin(&f), &run, uuid_v7(), &usage, &cost), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/turn_id"));
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT llm_calls FROM runs"), 0);
    fixture_end(&f);
}

/* --- By day ------------------------------------------------------------------------------------
 */

static struct usage_filter all_days(void)
{
    return (struct usage_filter){.from_day = 0, .to_day = 1000000, .by_day = true};
}

static struct usage_sums total_of(struct fixture *f)
{
    struct usage_filter filter = all_days();
    struct usage_sums sums = {0};
    EXPECT_EQ(usage_total(begin_reading(f), &filter, &sums), OK);
    commit(f);
    return sums;
}

TEST(days_tell_of_runs_and_calls_by_any_combination_of_what_they_are)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    put_price(&f, "claude-sonnet-4-5", 0);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct usage usage = example();
    add(&f, &run, usage);
    usage.model = STR("nobody-knows");
    add(&f, &run, usage);
    struct usage_filter filter = all_days();
    struct usage_group groups[4];
    size_t n;
    bool more;
    filter.by_day = false;
    filter.by_model = true;
    filter.provider = STR("anthropic");
    page = (struct page){.limit = 1};
    EXPECT_EQ(usage_report(begin_reading(&f), &filter, NULL, &page, groups), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT(more);
    EXPECT_STR(groups[0].key.model, STR("claude-sonnet-4-5"));
    EXPECT_EQ(groups[0].sums.cost, 26070000000);
    struct usage_key after = groups[0].key;
    page = (struct page){.limit = 4};
    EXPECT_EQ(usage_report(begin_reading(&f), &filter, &after, &page, groups), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT(!more);
    EXPECT_STR(groups[0].key.model, STR("nobody-knows"));
    EXPECT_EQ(groups[0].sums.unpriced_calls, 1);
    filter = all_days();
    page = (struct page){.limit = 4};
    EXPECT_EQ(usage_report(begin_reading(&f), &filter, NULL, &page, groups), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(groups[0].sums.llm_calls, 2);
    fixture_end(&f);
}

TEST(days_keep_what_happened_when_the_thread_is_deleted)
{
    struct fixture f;
    fixture_begin(&f);
    put_price(&f, "claude-sonnet-4-5", 0);
    struct uuid thread_id = make_thread(&f);
    struct run run = make_run(&f, thread_id, "direct");
    add(&f, &run, example());
    EXPECT_EQ(usage_count_started(begin(&f), &run), OK);
    commit(&f);
    struct usage_sums before = total_of(&f);
    EXPECT_EQ(delete_thread(begin(&f), thread_id), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM run_usage"), 0);
    struct usage_sums after = total_of(&f);
    EXPECT_EQ(after.cost, before.cost);
    EXPECT_EQ(after.runs_started, before.runs_started);
    EXPECT(after.runs_started > 0);
    fixture_end(&f);
}

TEST(a_tenant_sees_its_own_days_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct run run = make_run(&f, make_thread(&f), "direct");
    add(&f, &run, example());
    struct usage_filter filter = all_days();
    struct usage_sums sums;
    EXPECT_EQ(usage_total(begin_as(&f, other), &filter, &sums), OK);
    commit(&f);
    EXPECT_EQ(sums.llm_calls, 0);
    EXPECT_EQ(total_of(&f).llm_calls, 1);
    fixture_end(&f);
}

/* Each node adds while the other's transaction is open: neither waits, and no count is lost. */
POSTGRES_ONLY(two_nodes_count_at_once_without_waiting_for_each_other)
{
    struct fixture first, second;
    fixture_begin(&first);
    fixture_join(&second, &first);
    put_price(&first, "claude-sonnet-4-5", 0);
    struct run a = make_run(&first, make_thread(&first), "direct");
    struct run b = make_run(&second, make_thread(&second), "direct");
    struct usage usage = example();
    struct cost cost;
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(usage_add(begin(&first), &a, UUID_NIL, &usage, &cost), OK);
        EXPECT_EQ(usage_add(begin(&second), &b, UUID_NIL, &usage, &cost), OK);
        commit(&first);
        commit(&second);
    }
    struct usage_sums sums = total_of(&first);
    EXPECT_EQ(sums.llm_calls, 40);
    EXPECT_EQ(sums.cost, 40 * INT64_C(26070000000));
    fixture_end(&second);
    fixture_end(&first);
}
