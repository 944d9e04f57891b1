/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/turns.h"

#include "fixture.h"

static struct turn hello(void)
{
    return (struct turn){.input = STR("{\"message\":\"hello\"}")};
}

static struct turn begin_turn(struct fixture *f, struct uuid run_id, struct turn turn)
{
    struct run run = {0};
    struct context *c = begin(f);
    EXPECT_EQ(run_get_head(c, run_id, &run), OK);
    EXPECT_EQ(turn_begin(c, &run, &turn, NULL), OK);
    commit(f);
    return turn;
}

static enum error try_begin(struct fixture *f, struct uuid run_id, struct turn turn)
{
    struct run run = {0};
    struct context *c = begin(f);
    EXPECT_EQ(run_get_head(c, run_id, &run), OK);
    enum error e = turn_begin(c, &run, &turn, NULL);
    abandon(f);
    return e;
}

static struct turn get_turn(struct fixture *f, const struct turn *turn)
{
    struct turn found = {0};
    EXPECT_EQ(turn_get(begin_reading(f), turn->run_id, turn->id, &found), OK);
    abandon(f);
    return found;
}

TEST(turns_are_numbered_without_gaps_and_one_at_a_time_is_running)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct turn first = begin_turn(&f, run.id, hello());
    EXPECT_EQ(first.number, 1);
    EXPECT_EQ(first.status, TURN_RUNNING);
    EXPECT_STR(last_event(&f, run.thread_id).kind, STR("turn.created"));
    EXPECT_EQ(try_begin(&f, run.id, hello()), ERR_CONFLICT);
    EXPECT_STR(told(&f), STR("turn 1 of the run is still running: complete it first"));
    struct turn after = first;
    after.status = TURN_AWAITING_TOOL;
    EXPECT_EQ(turn_update(begin(&f), &run, &first, &after, NULL), OK);
    commit(&f);
    EXPECT_STR(last_event(&f, run.thread_id).kind, STR("turn.updated"));
    struct turn second = begin_turn(&f, run.id, hello());
    EXPECT_EQ(second.number, 2);
    EXPECT_EQ(get_run(&f, run.id).turn_count, 2);
    fixture_end(&f);
}

TEST(every_change_of_a_turns_status_goes_as_its_table_says)
{
    static const char *const allowed[][2] = {{"running", "complete"}, {"running", "awaiting_tool"},
        {"running", "awaiting_human"}, {"running", "failed"}, {"running", "cancelled"},
        {"awaiting_tool", "complete"}, {"awaiting_tool", "failed"}, {"awaiting_tool", "cancelled"},
        {"awaiting_human", "complete"}, {"awaiting_human", "failed"},
        {"awaiting_human", "cancelled"}};
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct turn turn = begin_turn(&f, run.id, hello());
    for (size_t from = 0; turn_statuses[from] != NULL; from++)
        for (size_t to = 0; turn_statuses[to] != NULL; to++) {
            struct str sql =
                arena_printf(f.arena, "UPDATE turns SET status = '%s'", turn_statuses[from]);
            sql_exec(&f, arena_cstr(f.arena, sql));
            bool may = from == to;
            for (size_t i = 0; i < COUNT_OF(allowed); i++)
                may = may || (strcmp(allowed[i][0], turn_statuses[from]) == 0 &&
                                 strcmp(allowed[i][1], turn_statuses[to]) == 0);
            struct turn before = get_turn(&f, &turn), after = before;
            after.status = turn_status_parse(str_of(turn_statuses[to]));
            enum error e = turn_update(begin(&f), &run, &before, &after, NULL);
            if (e != (may ? OK : ERR_TRANSITION))
                test_fail(__FILE__, __LINE__, "from %s to %s: error %d", turn_statuses[from],
                    turn_statuses[to], e);
            abandon(&f);
        }
    fixture_end(&f);
}

TEST(output_tells_how_a_turn_ended)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct turn turn = hello();
    turn.output = STR("{\"message\":\"hi\"}");
    turn = begin_turn(&f, run.id, turn);
    EXPECT_EQ(turn.status, TURN_COMPLETE);
    EXPECT(turn.has_finished_at);
    struct turn waits = hello();
    waits.output = STR("{\"tool_calls\":[],\"status\":\"awaiting_tool\"}");
    waits = begin_turn(&f, run.id, waits);
    EXPECT_EQ(waits.status, TURN_AWAITING_TOOL);
    EXPECT(!waits.has_finished_at);
    struct turn wrong = hello();
    wrong.output = STR("{\"status\":\"dreaming\"}");
    EXPECT_EQ(try_begin(&f, run.id, wrong), ERR_INVALID);
    told(&f);
    wrong.output = STR("{\"status\":\"complete\"}");
    wrong.status = TURN_FAILED;
    EXPECT_EQ(try_begin(&f, run.id, wrong), ERR_INVALID);
    told(&f);
    struct turn after = turn;
    after.output = STR("{\"message\":\"other\"}");
    EXPECT_EQ(turn_update(begin(&f), &run, &turn, &after, NULL), ERR_CONFLICT);
    abandon(&f);
    after = waits;
    after.status = TURN_COMPLETE;
    EXPECT_EQ(turn_update(begin(&f), &run, &waits, &after, NULL), OK);
    EXPECT(after.has_finished_at);
    commit(&f);
    fixture_end(&f);
}

TEST(new_output_completes_a_running_turn_unless_a_status_says_otherwise)
{
    static const struct {
        const char *output;
        enum turn_status given, expected;
    } cases[] = {{"{\"message\":\"hi\"}", TURN_STATUS_NONE, TURN_COMPLETE},
        {"{\"status\":\"awaiting_human\"}", TURN_STATUS_NONE, TURN_AWAITING_HUMAN},
        {"{\"message\":\"so far\"}", TURN_RUNNING, TURN_RUNNING},
        {NULL, TURN_STATUS_NONE, TURN_RUNNING}};
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run run = make_run(&f, make_thread(&f), "direct");
        struct turn turn = begin_turn(&f, run.id, hello()), after = turn;
        after.output = cases[i].output == NULL ? STR_NONE : str_of(cases[i].output);
        after.status = cases[i].given;
        EXPECT_EQ(turn_update(begin(&f), &run, &turn, &after, NULL), OK);
        commit(&f);
        EXPECT_EQ(after.status, cases[i].expected);
        EXPECT_EQ(after.has_finished_at, cases[i].expected == TURN_COMPLETE);
    }
    fixture_end(&f);
}

TEST(a_turn_that_waits_is_complete_when_the_next_one_begins)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct turn first = hello();
    first.output = STR("{\"status\":\"awaiting_human\"}");
    first = begin_turn(&f, run.id, first);
    struct turn second = begin_turn(&f, run.id, hello());
    EXPECT_EQ(second.number, 2);
    EXPECT_EQ(get_turn(&f, &first).status, TURN_COMPLETE);
    EXPECT(get_turn(&f, &first).has_finished_at);
    fixture_end(&f);
}

TEST(a_run_that_ends_ends_its_turn_that_runs_or_waits)
{
    static const struct {
        enum run_status run;
        enum turn_status turn;
    } ends[] = {
        {RUN_COMPLETED, TURN_COMPLETE}, {RUN_FAILED, TURN_FAILED}, {RUN_CANCELLED, TURN_CANCELLED}};
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(ends) * 3; i++) {
        static const enum turn_status open[] = {
            TURN_RUNNING, TURN_AWAITING_TOOL, TURN_AWAITING_HUMAN};
        struct run run = make_run(&f, make_thread(&f), "direct");
        struct turn turn = hello();
        turn.status = open[i / COUNT_OF(ends)];
        turn = begin_turn(&f, run.id, turn);
        run = get_run(&f, run.id);
        struct run after = run;
        after.status = ends[i % COUNT_OF(ends)].run;
        if (run.status == RUN_WAITING && after.status == RUN_COMPLETED)
            continue; /* it waits for a person, and its answer ends the turn */
        EXPECT_EQ(run_update(begin(&f), &run, &after), OK);
        commit(&f);
        turn = get_turn(&f, &turn);
        EXPECT_EQ(turn.status, ends[i % COUNT_OF(ends)].turn);
        EXPECT(turn.has_finished_at);
        EXPECT_EQ(try_begin(&f, run.id, hello()), ERR_CONFLICT);
        told(&f);
    }
    fixture_end(&f);
}

TEST(input_is_a_message_or_results_of_tools_or_both_and_each_result_names_its_call)
{
    static const struct {
        const char *message, *results;
        enum error expected;
    } cases[] = {{"hi", NULL, OK}, {NULL, "[{\"tool_use_id\":\"t1\",\"content\":1}]", OK},
        {NULL, NULL, ERR_INVALID}, {"hi", "[{\"tool_use_id\":\"t1\"}]", OK},
        {NULL, "[]", ERR_INVALID}, {NULL, "[1]", ERR_INVALID}, {NULL, "[{}]", ERR_INVALID},
        {NULL, "[{\"tool_use_id\":\"\"}]", ERR_INVALID},
        {NULL, "[{\"tool_use_id\":5}]", ERR_INVALID}};
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str message = cases[i].message == NULL ? STR_NONE : str_of(cases[i].message);
        struct str results = cases[i].results == NULL ? STR_NONE : str_of(cases[i].results);
        EXPECT_EQ(turn_check_input(begin_reading(&f), message, results), cases[i].expected);
        abandon(&f);
        told(&f);
    }
    fixture_end(&f);
}

TEST(a_checkpoint_of_a_turn_is_one_of_the_runs_thread)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct turn turn = hello();
    turn.has_checkpoint_id = true;
    turn.checkpoint_id = uuid_v7();
    EXPECT_EQ(try_begin(&f, run.id, turn), ERR_INVALID);
    fixture_end(&f);
}

TEST(turns_are_listed_in_order_page_by_page_and_with_documents_when_asked)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct turn whole = hello();
    whole.output = STR("{\"message\":\"hi\"}");
    for (int i = 0; i < 3; i++)
        begin_turn(&f, run.id, whole);
    struct turn found[2];
    size_t count;
    bool more;
    struct context *c = begin_reading(&f);
    page = (struct page){.limit = 2};
    EXPECT_EQ(turn_list(c, run.id, 0, false, &page, found), OK);
    count = page.count;
    more = page.more;
    EXPECT(count == 2 && more && found[1].number == 2 && str_is_none(found[0].input));
    page = (struct page){.limit = 2};
    EXPECT_EQ(turn_list(c, run.id, 2, true, &page, found), OK);
    count = page.count;
    more = page.more;
    EXPECT(count == 1 && !more && found[0].number == 3);
    EXPECT_STR(found[0].input, STR("{\"message\":\"hello\"}"));
    abandon(&f);
    fixture_end(&f);
}
