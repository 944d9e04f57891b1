/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/steps.h"

#include "fixture.h"
#include "model/execution/prices.h"

/* A run that has not started has no steps of Cairn. */
static struct run new_run(struct fixture *f)
{
    return make_run(f, make_thread(f), "queue");
}

/* Appends `n` steps to the run as it is now. */
static enum error append(struct fixture *f, struct uuid run_id, struct step *steps, size_t n)
{
    struct context *c = begin(f);
    struct run run;
    enum error e = run_get_head(c, run_id, &run);
    if (e == OK)
        e = step_append(c, &run, steps, n, STR("/steps"));
    if (e == OK)
        commit(f);
    else
        abandon(f);
    return e;
}

static struct step append_one(struct fixture *f, struct uuid run_id, const char *type)
{
    struct step step = {.action_type = str_of(type)};
    EXPECT_EQ(append(f, run_id, &step, 1), OK);
    return step;
}

static struct step read_step(struct fixture *f, struct uuid run_id, int64_t number)
{
    struct step step = {0};
    EXPECT_EQ(step_get(begin_reading(f), run_id, number, &step), OK);
    commit(f);
    return step;
}

/* Many steps at once, beside the model: `n` of the type acme.tick from time 1 on. */
static void fill(struct fixture *f, const struct run *run, int64_t n)
{
    struct str numbers = on_postgres()
                             ? arena_printf(f->arena, "generate_series(1, %lld)", (long long)n)
                             : arena_printf(f->arena,
                                   "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                                   " FROM n WHERE i < %lld) SELECT i FROM n)",
                                   (long long)n);
    sql_exec(f, arena_cstr(f->arena,
                    arena_printf(f->arena,
                        "INSERT INTO steps (tenant_id, run_id, number, thread_id, at, action_type,"
                        " action_data, created_at)"
                        " SELECT r.tenant_id, r.id, n.i, r.thread_id, n.i, 'acme.tick', '{}', 1"
                        " FROM runs AS r, %.*s AS n%s; UPDATE runs SET step_count = %lld",
                        STR_ARG(numbers), on_postgres() ? "(i)" : "", (long long)n)));
    EXPECT_EQ(get_run(f, run->id).step_count, n);
}

static struct step_page run_page(
    struct fixture *f, const struct step_run_filter *filter, size_t limit)
{
    struct step_page page = {.steps = ARENA_ARRAY(f->arena, struct step, limit)};
    page.page.limit = limit;
    EXPECT_EQ(step_list_run(begin_reading(f), filter, &page), OK);
    commit(f);
    return page;
}

static struct step_page page_of(struct fixture *f, const struct step_filter *filter, size_t limit)
{
    struct step_page page = {.steps = ARENA_ARRAY(f->arena, struct step, limit)};
    page.page.limit = limit;
    EXPECT_EQ(step_list(begin_reading(f), filter, &page), OK);
    commit(f);
    return page;
}

TEST(steps_of_a_run_are_numbered_without_gaps_and_one_event_tells_of_a_batch)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    struct step steps[3] = {{.action_type = STR("run_started")}, {.action_type = STR("compaction")},
        {.action_type = STR("acme.vote")}};
    EXPECT_EQ(append(&f, run.id, steps, 3), OK);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(steps[i].number, i + 1);
    EXPECT(steps[0].log_id > 0 && steps[1].log_id > steps[0].log_id);
    EXPECT(steps[2].log_id > steps[1].log_id);
    struct event told_of = last_event(&f, run.thread_id);
    EXPECT_STR(told_of.kind, STR("steps.appended"));
    EXPECT(uuid_eq(told_of.run_id, run.id));
    EXPECT_EQ(append_one(&f, run.id, "run_completed").number, 4);
    EXPECT_EQ(get_run(&f, run.id).step_count, 4);
    EXPECT_EQ(get_run(&f, run.id).version, run.version);
    EXPECT_STR(read_step(&f, run.id, 3).action_type, STR("acme.vote"));
    fixture_end(&f);
}

TEST(a_batch_with_a_bad_step_names_it_and_takes_no_number)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    struct step steps[2] = {{.action_type = STR("run_started")}, {.action_type = STR("dance")}};
    EXPECT_EQ(append(&f, run.id, steps, 2), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/steps/1/action_type"));
    EXPECT_EQ(append_one(&f, run.id, "run_started").number, 1);
    fixture_end(&f);
}

TEST(what_the_data_of_an_action_say_is_taken_from_there)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    struct step steps[4] = {
        {.action_type = STR("tool_execution"),
            .action_data =
                STR("{\"tool_name\":\"bash\",\"tool_use_id\":\"t1\",\"success\":false}")},
        {.action_type = STR("tool_execution"),
            .action_data = STR("{\"tool_name\":\"bash\",\"error\":\"no\"}"),
            .tool_name = STR("sh"),
            .outcome = STEP_SUCCESS},
        {.action_type = STR("compaction"), .action_data = STR("{\"tool_name\":\"bash\"}")},
        {.action_type = STR("tool_execution"), .action_data = STR("{\"tool_name\":7}")},
    };
    EXPECT_EQ(append(&f, run.id, steps, 4), OK);
    EXPECT_STR(read_step(&f, run.id, 1).tool_name, STR("bash"));
    EXPECT_STR(read_step(&f, run.id, 1).tool_use_id, STR("t1"));
    EXPECT_EQ(read_step(&f, run.id, 1).outcome, STEP_ERROR);
    EXPECT_STR(read_step(&f, run.id, 2).tool_name, STR("sh"));
    EXPECT_EQ(read_step(&f, run.id, 2).outcome, STEP_SUCCESS);
    EXPECT(str_is_none(read_step(&f, run.id, 3).tool_name));
    EXPECT_EQ(read_step(&f, run.id, 3).outcome, STEP_OUTCOME_NONE);
    EXPECT(str_is_none(read_step(&f, run.id, 4).tool_name));
    EXPECT_EQ(read_step(&f, run.id, 4).outcome, STEP_SUCCESS);
    fixture_end(&f);
}

TEST(an_answer_has_the_model_of_the_call_that_it_ends)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    struct step begun[2] = {{.action_type = STR("api_call_started"),
                                .action_data = STR("{\"model\":\"m1\"}"),
                                .provider = STR("p1")},
        {.action_type = STR("api_retry")}};
    EXPECT_EQ(append(&f, run.id, begun, 2), OK);
    struct step ended[2] = {{.action_type = STR("api_response_received"),
                                .action_data = STR("{\"usage\":{\"input_tokens\":3}}")},
        {.action_type = STR("api_response_received")}};
    EXPECT_EQ(append(&f, run.id, ended, 2), OK);
    EXPECT_STR(read_step(&f, run.id, 3).model, STR("m1"));
    EXPECT_STR(read_step(&f, run.id, 3).provider, STR("p1"));
    EXPECT_EQ(read_step(&f, run.id, 3).usage.input_tokens, 3);
    EXPECT(!read_step(&f, run.id, 3).usage.has_output_tokens);
    EXPECT(str_is_none(read_step(&f, run.id, 4).model));
    EXPECT_EQ(get_run(&f, run.id).usage.input_tokens, 3);
    fixture_end(&f);
}

TEST(a_call_begins_at_most_1000_steps_before_it_ends)
{
    for (int64_t n = STEP_CALL_SPAN; n <= STEP_CALL_SPAN + 1; n++) {
        struct fixture f;
        fixture_begin(&f);
        struct run run = new_run(&f);
        fill(&f, &run, n);
        sql_exec(&f, "UPDATE steps SET action_type = 'api_call_started', model = 'm1'"
                     " WHERE number = 1");
        append_one(&f, run.id, "api_response_received");
        struct str model = read_step(&f, run.id, n + 1).model;
        if (n == STEP_CALL_SPAN)
            EXPECT_STR(model, STR("m1"));
        else
            EXPECT(str_is_none(model));
        fixture_end(&f);
    }
}

TEST(a_call_of_a_model_with_a_price_has_its_cost_once_and_for_all)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    struct price price = {
        .model = STR("m"), .currency = STR("USD"), .rates = {.input = 3000000, .output = 15000000}};
    bool is_new;
    EXPECT_EQ(price_put(begin(&f), &price, &is_new), OK);
    commit(&f);
    struct step steps[3] = {
        {.action_type = STR("api_response_received"),
            .action_data = STR("{\"model\":\"m\",\"usage\":{\"input_tokens\":450,"
                               "\"output_tokens\":120}}")},
        {.action_type = STR("api_response_received"),
            .model = STR("of no price"),
            .has_usage = true,
            .usage = {.has_input_tokens = true, .input_tokens = 1}},
        {.action_type = STR("api_response_received"), .model = STR("m")}};
    EXPECT_EQ(append(&f, run.id, steps, 3), OK);
    struct step priced = read_step(&f, run.id, 1);
    EXPECT(priced.has_cost);
    EXPECT_EQ(priced.cost_pico, 450 * price.rates.input + 120 * price.rates.output);
    EXPECT_EQ(priced.price_version, price.version);
    EXPECT(!read_step(&f, run.id, 2).has_cost);
    EXPECT_EQ(get_run(&f, run.id).usage.cost_pico, priced.cost_pico);
    EXPECT_EQ(get_run(&f, run.id).usage.unpriced_calls, 1);
    EXPECT_EQ(get_run(&f, run.id).usage.llm_calls, 2); /* the third does not say what it used */
    fixture_end(&f);
}

TEST(each_list_of_messages_builds_on_the_one_before)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    struct step steps[2] = {
        {.action_type = STR("api_call_started"), .messages_snapshot = STR("[{\"role\":\"user\"}]")},
        {.action_type = STR("api_call_started"),
            .messages_snapshot = STR("[{\"role\":\"user\"},{\"role\":\"assistant\"}]")}};
    EXPECT_EQ(append(&f, run.id, steps, 2), OK);
    struct step third = {.action_type = STR("compaction"), .messages_snapshot = STR("[]")};
    EXPECT_EQ(append(&f, run.id, &third, 1), OK);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots WHERE base_id IS NULL"), 1);
    EXPECT_STR(read_step(&f, run.id, 1).messages_snapshot, STR("[{\"role\":\"user\"}]"));
    EXPECT_STR(read_step(&f, run.id, 2).messages_snapshot,
        STR("[{\"role\":\"user\"},{\"role\":\"assistant\"}]"));
    EXPECT_STR(read_step(&f, run.id, 3).messages_snapshot, STR("[]"));
    EXPECT_EQ(read_step(&f, run.id, 2).messages_count, 2);
    fixture_end(&f);
}

TEST(a_log_id_is_not_given_again_when_the_newest_steps_are_gone)
{
    struct fixture f;
    fixture_begin(&f);
    struct run gone = new_run(&f);
    int64_t last = append_one(&f, gone.id, "run_started").log_id;
    sql_exec(&f, "DELETE FROM steps");
    fixture_close(&f);
    fixture_open(&f);
    struct run run = new_run(&f);
    EXPECT(append_one(&f, run.id, "run_started").log_id > last);
    fixture_end(&f);
}

TEST(a_page_of_a_run_with_a_filter_looks_only_so_far_and_says_where_to_go_on)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    fill(&f, &run, STEP_SCAN_MAX + 10);
    append_one(&f, run.id, "run_completed");
    struct step_run_filter filter = {.run_id = run.id,
        .action_type = STR("run_completed"),
        .from = INT64_MIN,
        .before = INT64_MAX};
    struct step_page page = run_page(&f, &filter, 5);
    EXPECT_EQ(page.page.count, 0);
    EXPECT(page.page.more);
    EXPECT_EQ(page.next_number, STEP_SCAN_MAX);
    filter.after = 10; /* the last step is the first one behind the page */
    page = run_page(&f, &filter, 5);
    EXPECT_EQ(page.page.count, 0);
    EXPECT(page.page.more);
    EXPECT_EQ(page.next_number, STEP_SCAN_MAX + 10);
    filter.after = 11; /* the last step is the last one of the page */
    page = run_page(&f, &filter, 5);
    EXPECT_EQ(page.page.count, 1);
    EXPECT(!page.page.more);
    fixture_end(&f);
}

TEST(a_page_across_runs_with_several_filters_looks_only_so_far_and_goes_on_there)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    fill(&f, &run, STEP_SCAN_MAX + 10);
    sql_exec(&f, "UPDATE steps SET action_type = 'error' WHERE number <= 2");
    struct step_filter filter = {.has_thread_id = true,
        .thread_id = run.thread_id,
        .action_type = STR("error"),
        .from = INT64_MIN,
        .before = INT64_MAX};
    struct step_page page = page_of(&f, &filter, 5);
    EXPECT_EQ(page.page.count, 0);
    EXPECT(page.page.more);
    EXPECT_EQ(page.next_at, 11);
    filter.has_cursor = true;
    filter.cursor_at = page.next_at;
    filter.cursor_id = page.next_id;
    page = page_of(&f, &filter, 5);
    EXPECT_EQ(page.page.count, 2);
    EXPECT_EQ(page.steps[0].number, 2);
    EXPECT(!page.page.more);
    /* A single filter uses its index. */
    struct step_filter one = {.action_type = STR("error"), .from = INT64_MIN, .before = INT64_MAX};
    EXPECT_EQ(page_of(&f, &one, 5).page.count, 2);
    fixture_end(&f);
}

TEST(a_page_of_steps_ends_when_it_has_become_large)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = new_run(&f);
    enum { BYTES = 200 * 1024, N = 30 };
    char *text = arena_alloc(f.arena, BYTES);
    memset(text, 'x', BYTES);
    struct str data = arena_printf(f.arena, "{\"x\":\"%.*s\"}", BYTES, text);
    struct step steps[N];
    for (int i = 0; i < N; i++)
        steps[i] = (struct step){.action_type = STR("acme.tick"), .action_data = data};
    EXPECT_EQ(append(&f, run.id, steps, N), OK);
    struct step_run_filter filter = {.run_id = run.id, .from = INT64_MIN, .before = INT64_MAX};
    struct step_page page = run_page(&f, &filter, N);
    EXPECT_EQ(page.page.count, PAGE_MAX_BYTES / BYTES + 1);
    EXPECT(page.page.more);
    filter.after = page.next_number;
    EXPECT_EQ(run_page(&f, &filter, N).page.count, N - page.page.count);
    struct step_filter all = {.from = INT64_MIN, .before = INT64_MAX};
    page = page_of(&f, &all, N);
    EXPECT_EQ(page.page.count, PAGE_MAX_BYTES / BYTES + 1);
    EXPECT_EQ(page.steps[0].number, N);
    EXPECT(page.page.more);
    fixture_end(&f);
}
