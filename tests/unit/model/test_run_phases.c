/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/run_phases.h"

#include "fixture.h"
#include "model/execution/run_rows.h"

enum { PHASES = 10 };

/* Rows: from; columns: to; in the order of run_phases. */
static const bool ALLOWED[PHASES][PHASES] = {
    /* cre ini pla exe too hum ref com fai can */
    {0, 1, 0, 0, 0, 0, 0, 0, 1, 0}, /* created */
    {0, 0, 1, 0, 0, 0, 0, 0, 1, 0}, /* initializing */
    {0, 0, 0, 1, 0, 1, 0, 0, 1, 0}, /* planning */
    {0, 0, 0, 1, 1, 0, 1, 0, 1, 0}, /* executing */
    {0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, /* awaiting_tool */
    {0, 0, 1, 0, 0, 0, 0, 0, 1, 1}, /* awaiting_human */
    {0, 0, 1, 0, 0, 0, 0, 1, 1, 0}, /* reflecting */
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* completed */
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* failed */
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* cancelled */
};

/* The status that a direct run has in each phase. */
static const char *const STATUS_IN[PHASES] = {"running", "running", "running", "running",
    "waiting_for_input", "waiting_for_input", "running", "completed", "failed", "cancelled"};

TEST(the_phases_of_a_run_are_these_ten)
{
    static const char *const expected[PHASES] = {"created", "initializing", "planning", "executing",
        "awaiting_tool", "awaiting_human", "reflecting", "completed", "failed", "cancelled"};
    for (size_t i = 0; i < PHASES; i++)
        EXPECT_STR(str_of(run_phases[i]), str_of(expected[i]));
    EXPECT(run_phases[PHASES] == NULL);
}

static void put_phase(struct fixture *f, size_t phase)
{
    struct str sql =
        arena_printf(f->arena, "UPDATE runs SET phase = '%s', status = '%s', phase_changes = %d",
            run_phases[phase], STATUS_IN[phase], phase == 0 ? 0 : 1);
    sql_exec(f, "DELETE FROM run_phases");
    sql_exec(f, arena_cstr(f->arena, sql));
    if (phase > 0)
        sql_exec(f, "INSERT INTO run_phases (tenant_id, run_id, number, from_phase, to_phase, "
                    "trigger, created_at) SELECT tenant_id, id, 1, 'created', 'initializing', "
                    "'start', 0 FROM runs");
}

/* Tries one move; it must go or be refused as the table says, and change nothing when refused. */
static void try_move(struct fixture *f, struct uuid run_id, size_t from, size_t to)
{
    struct run run = {0}, after = {0};
    put_phase(f, from);
    struct context *c = begin(f);
    EXPECT_EQ(run_get(c, run_id, &run), OK);
    enum error e = run_move_phase(c, &run, (enum phase)(to + 1), STR_NONE, STR_NONE);
    EXPECT_EQ(run_get(c, run_id, &after), OK);
    size_t is = ALLOWED[from][to] ? to : from;
    bool good = e == (ALLOWED[from][to] ? OK : ERR_TRANSITION) && after.phase == is + 1 &&
                after.status == run_status_parse(str_of(STATUS_IN[is]));
    struct str phase = phase_word(after.phase), status = run_status_word(after.status);
    if (!good)
        test_fail(__FILE__, __LINE__, "from %s to %s: error %d, then it is %.*s and %.*s",
            run_phases[from], run_phases[to], e, STR_ARG(phase), STR_ARG(status));
    abandon(f);
}

TEST(every_move_between_phases_goes_as_the_table_says_and_takes_the_status_along)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    for (size_t from = 0; from < PHASES; from++)
        for (size_t to = 0; to < PHASES; to++)
            try_move(&f, run.id, from, to);
    fixture_end(&f);
}

static enum error move(struct fixture *f, struct run *run, const char *to)
{
    return run_move_phase(begin(f), run, phase_parse(str_of(to)), STR_NONE, STR_NONE);
}

static void go(struct fixture *f, struct run *run, const char *to)
{
    EXPECT_EQ(move(f, run, to), OK);
    commit(f);
}

static void go_through(struct fixture *f, struct run *run, const char *const *phases)
{
    for (size_t i = 0; phases[i] != NULL; i++)
        go(f, run, phases[i]);
}

/* The log as "from>to by trigger", one a line. */
static struct str log_of(struct fixture *f, struct uuid run_id)
{
    struct page page;
    struct run_phase phases[32];
    size_t count;
    struct str text = STR("");
    page = (struct page){.limit = COUNT_OF(phases)};
    EXPECT_EQ(run_phase_list(begin_reading(f), run_id, 0, &page, phases), OK);
    count = page.count;
    for (size_t i = 0; i < count; i++) {
        EXPECT_EQ(phases[i].number, (int64_t)i + 1);
        struct str from = phase_word(phases[i].from), to = phase_word(phases[i].to);
        text = arena_printf(f->arena, "%.*s%.*s>%.*s by %.*s\n", STR_ARG(text), STR_ARG(from),
            STR_ARG(to), STR_ARG(phases[i].trigger));
    }
    abandon(f);
    return text;
}

TEST(each_row_of_the_table_is_taken_by_its_own_trigger_and_no_other)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    for (size_t i = 0; i < run_phase_rule_count; i++) {
        const struct run_phase_rule *rule = &run_phase_rules[i];
        put_phase(&f, rule->from - 1);
        struct run wrong = get_run(&f, run.id), right = wrong;
        EXPECT_EQ(run_move_phase(begin(&f), &wrong, rule->to, STR("whim"), STR_NONE), ERR_INVALID);
        abandon(&f);
        EXPECT_EQ(run_move_phase(
                      begin(&f), &right, rule->to, phase_trigger_word(rule->trigger), STR_NONE),
            OK);
        EXPECT_EQ(right.phase, rule->to);
        abandon(&f);
    }
    fixture_end(&f);
}

TEST(every_phase_but_an_end_fails_by_an_error)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    for (size_t from = 0; from < PHASES - 3; from++) {
        put_phase(&f, from);
        run = get_run(&f, run.id);
        EXPECT_EQ(run_move_phase(begin(&f), &run, PHASE_FAILED, STR("error"), STR_NONE), OK);
        EXPECT_EQ(run.status, RUN_FAILED);
        EXPECT(run.has_finished_at);
        abandon(&f);
    }
    fixture_end(&f);
}

TEST(a_whole_life_is_logged_in_order_and_told)
{
    static const char *const life[] = {"initializing", "planning", "executing", "awaiting_tool",
        "executing", "executing", "reflecting", "planning", "awaiting_human", "planning",
        "executing", "reflecting", "completed", NULL};
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    go(&f, &run, life[0]);
    struct event event = last_event(&f, run.thread_id);
    EXPECT_STR(event.kind, STR("run.phase"));
    EXPECT_STR(
        event.payload, STR("{\"from\":\"created\",\"to\":\"initializing\",\"trigger\":\"start\"}"));
    go_through(&f, &run, life + 1);
    EXPECT_EQ(run.status, RUN_COMPLETED);
    EXPECT_STR(last_event(&f, run.thread_id).kind, STR("final"));
    EXPECT_STR(log_of(&f, run.id),
        STR("created>initializing by start\ninitializing>planning by init_complete\n"
            "planning>executing by plan_ready\nexecuting>awaiting_tool by tool_call\n"
            "awaiting_tool>executing by tool_result\nexecuting>executing by next_action\n"
            "executing>reflecting by action_complete\nreflecting>planning by needs_replan\n"
            "planning>awaiting_human by need_approval\nawaiting_human>planning by human_input\n"
            "planning>executing by plan_ready\nexecuting>reflecting by action_complete\n"
            "reflecting>completed by task_done\n"));
    EXPECT_EQ(run.phase_changes, 13);
    fixture_end(&f);
}

/* --- Runs that do not use phases ------------------------------------------------------------ */

TEST(a_run_that_uses_no_phases_ends_in_the_phase_of_its_status)
{
    static const char *const ends[] = {"completed", "failed", "cancelled"};
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct run run = make_run(&f, make_thread(&f), "direct"), after = run;
        after.status = run_status_parse(str_of(ends[i]));
        EXPECT_EQ(run_update(begin(&f), &run, &after), OK);
        commit(&f);
        EXPECT_STR(phase_word(after.phase), str_of(ends[i]));
        EXPECT_STR(log_of(&f, run.id), arena_printf(f.arena, "created>%s by status\n", ends[i]));
        EXPECT_EQ(
            sql_i64(&f, "SELECT count(*) FROM events WHERE kind = 'run.phase'"), (int64_t)i + 1);
    }
    fixture_end(&f);
}

TEST(a_run_that_uses_no_phases_waits_and_goes_on_without_one)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct"), after = run;
    after.status = RUN_WAITING;
    EXPECT_EQ(run_update(begin(&f), &run, &after), OK);
    EXPECT_EQ(run_input(&f.context, &after, STR("1")), OK);
    commit(&f);
    EXPECT_EQ(after.phase, PHASE_CREATED);
    EXPECT_EQ(after.phase_changes, 0);
    fixture_end(&f);
}

/* --- Status and phase ----------------------------------------------------------------------- */

static void patch_status(
    struct fixture *f, struct run *run, const char *status, enum error expected)
{
    struct run after = *run;
    after.status = run_status_parse(str_of(status));
    enum error e = run_update(begin(f), run, &after);
    EXPECT_EQ(e, expected);
    if (e == OK) {
        commit(f);
        *run = after;
    } else {
        abandon(f);
    }
}

TEST(once_it_uses_phases_a_change_of_status_must_be_one_that_the_table_allows)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct"), done = run;
    go(&f, &run, "initializing");
    done = run;
    done.status = RUN_COMPLETED;
    EXPECT_EQ(run_update(begin(&f), &run, &done), ERR_TRANSITION);
    EXPECT_STR(told(&f), STR("a run that is initializing cannot become completed; allowed: "
                             "planning, failed"));
    abandon(&f);
    patch_status(&f, &run, "waiting_for_input", ERR_TRANSITION);
    patch_status(&f, &run, "cancelled", ERR_TRANSITION);
    go(&f, &run, "planning");
    patch_status(&f, &run, "waiting_for_input", OK);
    EXPECT_EQ(run.phase, PHASE_AWAITING_HUMAN);
    patch_status(&f, &run, "running", OK);
    EXPECT_EQ(run.phase, PHASE_PLANNING);
    go(&f, &run, "executing");
    patch_status(&f, &run, "waiting_for_input", OK);
    EXPECT_EQ(run.phase, PHASE_AWAITING_TOOL);
    patch_status(&f, &run, "running", OK);
    EXPECT_EQ(run.phase, PHASE_EXECUTING);
    patch_status(&f, &run, "completed", ERR_TRANSITION);
    go(&f, &run, "reflecting");
    patch_status(&f, &run, "completed", OK);
    EXPECT_EQ(run.phase, PHASE_COMPLETED);
    fixture_end(&f);
}

TEST(people_cancel_from_any_phase_and_the_children_go_too)
{
    static const char *const life[] = {"initializing", "planning", "executing", NULL};
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct run child = {.dispatch = RUN_DIRECT, .has_parent_run_id = true, .parent_run_id = run.id};
    go_through(&f, &run, life);
    EXPECT_EQ(run_start(begin(&f), run.thread_id, RUN_POLICY_NONE, &child), OK);
    commit(&f);
    go(&f, &child, "initializing");
    EXPECT_EQ(run_cancel(begin(&f), &run, STR_NONE), OK);
    commit(&f);
    EXPECT_EQ(run.phase, PHASE_CANCELLED);
    child = get_run(&f, child.id);
    EXPECT_EQ(child.phase, PHASE_CANCELLED);
    EXPECT_STR(log_of(&f, child.id),
        STR("created>initializing by start\ninitializing>cancelled by cancel\n"));
    fixture_end(&f);
}

TEST(a_run_that_completes_by_phase_lets_the_next_one_start)
{
    static const char *const life[] = {
        "initializing", "planning", "executing", "reflecting", "completed", NULL};
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct");
    struct run next = {.dispatch = RUN_DIRECT};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_ENQUEUE, &next), OK);
    commit(&f);
    EXPECT_EQ(next.status, RUN_QUEUED);
    EXPECT_EQ(move(&f, &next, "initializing"), ERR_RUN_ACTIVE);
    abandon(&f);
    go_through(&f, &run, life);
    next = get_run(&f, next.id);
    EXPECT_EQ(next.status, RUN_RUNNING);
    EXPECT_EQ(next.phase, PHASE_CREATED);
    fixture_end(&f);
}

TEST(pause_and_resume_leave_the_phase_and_a_paused_run_moves_to_none)
{
    static const char *const life[] = {"initializing", "planning", "awaiting_human", NULL};
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    go_through(&f, &run, life);
    EXPECT_EQ(run_pause(begin(&f), &run), OK);
    commit(&f);
    EXPECT_EQ(run.phase, PHASE_AWAITING_HUMAN);
    EXPECT_EQ(move(&f, &run, "planning"), ERR_CONFLICT);
    abandon(&f);
    EXPECT_EQ(run_resume(begin(&f), &run), OK);
    EXPECT_EQ(run.phase, PHASE_AWAITING_HUMAN);
    EXPECT_EQ(run.status, RUN_WAITING);
    EXPECT_EQ(run_input(&f.context, &run, STR("\"yes\"")), OK);
    commit(&f);
    EXPECT_EQ(run.phase, PHASE_PLANNING);
    EXPECT_EQ(run.status, RUN_RUNNING);
    fixture_end(&f);
}

TEST(a_claimed_run_keeps_its_phase_when_its_lease_ends_and_must_be_claimed_to_move)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    EXPECT_EQ(move(&f, &run, "initializing"), ERR_LEASE_NEEDED);
    abandon(&f);
    struct context *c = begin(&f);
    c->has_fence = true;
    c->fence = run.fence;
    EXPECT_EQ(run_move_phase(c, &run, PHASE_INITIALIZING, STR_NONE, STR("{\"a\":1}")), OK);
    EXPECT_EQ(run_release(c, &run, STR_NONE), OK);
    commit(&f);
    EXPECT_EQ(run.phase, PHASE_INITIALIZING);
    EXPECT_EQ(run.status, RUN_QUEUED);
    EXPECT_EQ(move(&f, &run, "planning"), ERR_CONFLICT);
    abandon(&f);
    fixture_end(&f);
}

/* --- Tools ---------------------------------------------------------------------------------- */

TEST(a_run_that_awaits_tools_goes_on_when_they_are_done)
{
    static const char *const life[] = {"initializing", "planning", "executing", NULL};
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    go(&f, &run, life[0]);
    EXPECT_EQ(run_await_tools(begin(&f), &run), ERR_TRANSITION);
    abandon(&f);
    go_through(&f, &run, life + 1);
    EXPECT_EQ(run_await_tools(begin(&f), &run), OK);
    EXPECT_EQ(run_await_tools(&f.context, &run), OK);
    commit(&f);
    EXPECT_EQ(run.status, RUN_WAITING);
    EXPECT_EQ(run.phase, PHASE_AWAITING_TOOL);
    EXPECT_EQ(run_input(begin(&f), &run, STR("1")), ERR_CONFLICT);
    EXPECT_STR(told(&f), STR("the run waits for tool results, not for input"));
    abandon(&f);
    run = get_run(&f, run.id);
    EXPECT_EQ(run_tools_done(begin(&f), &run, run_ready_status(&run)), OK);
    commit(&f);
    run = get_run(&f, run.id);
    EXPECT_EQ(run.status, RUN_RUNNING);
    EXPECT_EQ(run.phase, PHASE_EXECUTING);
    fixture_end(&f);
}

TEST(tools_of_a_run_without_phases_leave_it_free_to_complete)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    EXPECT_EQ(run_await_tools(begin(&f), &run), OK);
    commit(&f);
    run = get_run(&f, run.id);
    EXPECT_EQ(run.phase, PHASE_AWAITING_TOOL);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events WHERE kind = 'run.phase'"), 1);
    EXPECT_EQ(run_tools_done(begin(&f), &run, run_ready_status(&run)), OK);
    commit(&f);
    run = get_run(&f, run.id);
    EXPECT_EQ(run.status, RUN_RUNNING);
    EXPECT_EQ(run.phase, PHASE_EXECUTING);
    patch_status(&f, &run, "completed", OK);
    EXPECT_STR(log_of(&f, run.id),
        STR("created>awaiting_tool by tool_call\nawaiting_tool>executing by tool_result\n"
            "executing>completed by status\n"));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events WHERE kind = 'run.phase'"), 3);
    fixture_end(&f);
}

TEST(a_run_without_phases_waits_for_tools_again_and_goes_on_without_their_results)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(run_await_tools(begin(&f), &run), OK);
        commit(&f);
        run = get_run(&f, run.id);
        patch_status(&f, &run, "running", OK);
        EXPECT_EQ(run.phase, PHASE_EXECUTING);
    }
    EXPECT_STR(log_of(&f, run.id),
        STR("created>awaiting_tool by tool_call\nawaiting_tool>executing by tool_result\n"
            "executing>awaiting_tool by tool_call\nawaiting_tool>executing by tool_result\n"));
    go(&f, &run, "executing");
    patch_status(&f, &run, "completed", ERR_TRANSITION);
    fixture_end(&f);
}

TEST(the_detail_of_a_failed_phase_is_the_error_of_the_run)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct run other = make_run(&f, make_thread(&f), "direct"), failed = other;
    EXPECT_EQ(run_move_phase(begin(&f), &run, PHASE_FAILED, STR_NONE, STR("{\"code\":\"x\"}")), OK);
    commit(&f);
    EXPECT_STR(run.error, STR("{\"code\":\"x\"}"));
    EXPECT_STR(get_run(&f, run.id).error, STR("{\"code\":\"x\"}"));
    EXPECT_STR(last_event(&f, run.thread_id).payload,
        STR("{\"change\":\"run.status\",\"from\":\"running\",\"to\":\"failed\",\"reason\":"
            "\"phase\",\"error\":{\"code\":\"x\"}}"));
    /* Without a detail, an error that the engine reported before stays. */
    failed.error = STR("{\"code\":\"y\"}");
    EXPECT_EQ(run_update(begin(&f), &other, &failed), OK);
    EXPECT_EQ(run_move_phase(&f.context, &failed, PHASE_FAILED, STR_NONE, STR_NONE), OK);
    commit(&f);
    EXPECT_STR(failed.error, STR("{\"code\":\"y\"}"));
    fixture_end(&f);
}

TEST(tools_of_a_queued_run_bring_it_back_to_the_queue_and_of_a_paused_one_wait_for_its_resume)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    EXPECT_EQ(run_await_tools(begin(&f), &run), OK);
    commit(&f);
    run = get_run(&f, run.id);
    EXPECT(!run.has_lease);
    EXPECT_EQ(run_pause(begin(&f), &run), OK);
    EXPECT_EQ(run_tools_done(&f.context, &run, run_ready_status(&run)), OK);
    commit(&f);
    run = get_run(&f, run.id);
    EXPECT_EQ(run.status, RUN_PAUSED);
    EXPECT_EQ(run.phase, PHASE_EXECUTING);
    EXPECT_EQ(run_resume(begin(&f), &run), OK);
    commit(&f);
    EXPECT_EQ(run.status, RUN_QUEUED);
    EXPECT_EQ(run_tools_done(begin(&f), &run, run_ready_status(&run)), OK);
    abandon(&f);
    fixture_end(&f);
}
