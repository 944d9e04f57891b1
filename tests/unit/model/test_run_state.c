/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/execution/run_rows.h"

enum { STATUSES = 7 };

/* Rows: from; columns: to; in the order of run_statuses. */
static const bool ALLOWED[STATUSES][STATUSES] = {
    /* queued running waiting paused completed failed cancelled */
    {0, 1, 0, 1, 0, 1, 1}, /* queued */
    {1, 0, 1, 1, 1, 1, 1}, /* running */
    {1, 1, 0, 1, 0, 1, 1}, /* waiting_for_input */
    {1, 1, 1, 0, 0, 1, 1}, /* paused */
    {0, 0, 0, 0, 0, 0, 0}, /* completed */
    {0, 0, 0, 0, 0, 0, 0}, /* failed */
    {0, 0, 0, 0, 0, 0, 0}, /* cancelled */
};

TEST(the_statuses_of_a_run_are_these_seven)
{
    static const char *const expected[STATUSES] = {
        "queued", "running", "waiting_for_input", "paused", "completed", "failed", "cancelled"};
    for (size_t i = 0; i < STATUSES; i++)
        EXPECT_STR(str_of(run_statuses[i]), str_of(expected[i]));
    EXPECT(run_statuses[STATUSES] == NULL);
}

static void put_status(struct fixture *f, const char *status)
{
    struct str sql = arena_printf(f->arena, "UPDATE runs SET status = '%s'", status);
    sql_exec(f, arena_cstr(f->arena, sql));
}

/* Tries one move; it must go or be refused as the table says, and change nothing when refused. */
static void try_move(struct fixture *f, struct uuid run_id, size_t from, size_t to)
{
    struct run run = {0}, after = {0};
    put_status(f, run_statuses[from]);
    struct context *c = begin(f);
    EXPECT_EQ(run_get(c, run_id, &run), OK);
    enum error e = run_change(c, &run, (enum run_status)(to + 1), STR_NONE);
    EXPECT_EQ(run_get(c, run_id, &after), OK);
    bool good = ALLOWED[from][to] ? e == OK && after.status == to + 1
                                  : e == ERR_TRANSITION && after.status == from + 1;
    struct str is = run_status_word(after.status);
    if (!good)
        test_fail(__FILE__, __LINE__, "from %s to %s: error %d, then it is %.*s",
            run_statuses[from], run_statuses[to], e, STR_ARG(is));
    abandon(f);
}

TEST(every_move_between_statuses_goes_as_the_table_says)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "queue");
    for (size_t from = 0; from < STATUSES; from++)
        for (size_t to = 0; to < STATUSES; to++)
            try_move(&f, run.id, from, to);
    fixture_end(&f);
}

TEST(the_list_of_allowed_statuses_is_the_table)
{
    for (size_t from = 0; from < STATUSES; from++) {
        const struct run run = {.status = (enum run_status)(from + 1)};
        unsigned allowed = run_transitions(run.status);
        for (unsigned to = 0; to < STATUSES; to++)
            EXPECT_EQ(enum_has(allowed, to + 1), ALLOWED[from][to]);
        EXPECT_EQ(run_is_finished(&run), allowed == 0);
    }
}

TEST(a_refusal_names_what_is_allowed_in_words_and_as_a_member)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "queue");
    EXPECT_EQ(run_change(begin(&f), &run, RUN_COMPLETED, STR_NONE), ERR_TRANSITION);
    EXPECT_STR(f.problem.extension,
        STR("{\"from\":\"queued\",\"allowed\":[\"running\",\"paused\",\"failed\","
            "\"cancelled\"]}"));
    EXPECT_STR(told(&f), STR("a run that is queued cannot become completed; allowed: running, "
                             "paused, failed, cancelled"));
    abandon(&f);
    put_status(&f, "failed");
    run = get_run(&f, run.id);
    EXPECT_EQ(run_change(begin(&f), &run, RUN_RUNNING, STR_NONE), ERR_TRANSITION);
    EXPECT_STR(f.problem.extension, STR("{\"from\":\"failed\",\"allowed\":[]}"));
    EXPECT_STR(told(&f), STR("a run that is failed cannot become running: failed is final"));
    abandon(&f);
    fixture_end(&f);
}

/* --- Effects of a change -------------------------------------------------------------------- */

static struct run update(struct fixture *f, struct run before, struct run after)
{
    EXPECT_EQ(run_update(begin(f), &before, &after), OK);
    commit(f);
    return after;
}

TEST(a_run_that_ends_well_says_so_in_a_final_event_with_its_output)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct");
    EXPECT(run.has_started_at);
    EXPECT(!run.has_finished_at);
    struct run after = run;
    after.status = RUN_COMPLETED;
    after.final_output = STR("{\"answer\":42}");
    after = update(&f, run, after);
    EXPECT(after.has_finished_at);
    EXPECT_EQ(after.version, run.version + 1);
    struct event e = last_event(&f, thread);
    EXPECT_STR(e.kind, STR("final"));
    EXPECT(uuid_eq(e.run_id, run.id));
    EXPECT_STR(
        e.payload, STR("{\"change\":\"run.status\",\"from\":\"running\",\"to\":\"completed\","
                       "\"final_output\":{\"answer\":42}}"));
    fixture_end(&f);
}

TEST(a_run_that_fails_says_so_in_an_error_event_with_its_error)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct"), after = run;
    after.status = RUN_FAILED;
    after.error = STR("{\"code\":\"boom\"}");
    update(&f, run, after);
    struct event e = last_event(&f, thread);
    EXPECT_STR(e.kind, STR("error"));
    EXPECT_PART(e.payload, "\"error\":{\"code\":\"boom\"}");
    fixture_end(&f);
}

TEST(a_document_too_large_for_an_event_is_named_in_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct"), after = run;
    char *text = arena_alloc(f.arena, 100000);
    memset(text, '7', 100000);
    after.status = RUN_COMPLETED;
    after.final_output = (struct str){text, 100000};
    update(&f, run, after);
    EXPECT_STR(last_event(&f, thread).payload,
        STR("{\"change\":\"run.status\",\"from\":\"running\",\"to\":\"completed\",\"omitted\":"
            "\"final_output\"}"));
    EXPECT_EQ(get_run(&f, run.id).final_output.len, 100000);
    fixture_end(&f);
}

TEST(an_update_without_a_new_status_is_silent)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct"), after = run;
    int64_t last = get_thread(&f, thread).last_seq;
    after.state = STR("{\"step\":2}");
    update(&f, run, after);
    EXPECT_STR(get_run(&f, run.id).state, STR("{\"step\":2}"));
    EXPECT_EQ(get_thread(&f, thread).last_seq, last);
    fixture_end(&f);
}

TEST(of_a_finished_run_only_the_metadata_changes)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct"), after = run;
    after.status = RUN_COMPLETED;
    run = update(&f, run, after);
    after = run;
    after.metadata = STR("{\"seen\":true}");
    run = update(&f, run, after);
    EXPECT_STR(run.metadata, STR("{\"seen\":true}"));
    after = run;
    after.metrics = STR("{\"seconds\":3}");
    run = update(&f, run, after);
    EXPECT_STR(run.metrics, STR("{\"seconds\":3}"));
    struct str *const fixed[] = {&after.state, &after.final_output, &after.error, &after.model,
        &after.provider, &after.stop_reason, &after.content, &after.content_type, &after.citations};
    for (size_t i = 0; i < COUNT_OF(fixed); i++) {
        after = run;
        *fixed[i] = STR("{\"late\":1}");
        EXPECT_EQ(run_update(begin(&f), &run, &after), ERR_CONFLICT);
        EXPECT_STR(
            told(&f), STR("the run is completed: only its metadata and metrics can be changed"));
        abandon(&f);
    }
    fixture_end(&f);
}

TEST(a_stale_version_changes_no_run)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct"), after = run;
    struct context *c = begin(&f);
    context_match_only(c, run.version + 1);
    EXPECT_EQ(run_update(c, &run, &after), ERR_STALE);
    EXPECT_EQ(run_pause(c, &run), ERR_STALE);
    EXPECT_EQ(run_resume(c, &run), ERR_STALE);
    EXPECT_EQ(run_cancel(c, &run, STR_NONE), ERR_STALE);
    EXPECT_EQ(run_input(c, &run, STR("1")), ERR_STALE);
    commit(&f);
    EXPECT_EQ(get_run(&f, run.id).version, run.version);
    fixture_end(&f);
}

/* --- Questions and answers ------------------------------------------------------------------ */

static struct run make_waiting(struct fixture *f, struct uuid thread, const char *dispatch)
{
    struct run run = make_run(f, thread, dispatch), after;
    put_status(f, "running");
    run = get_run(f, run.id);
    after = run;
    after.status = RUN_WAITING;
    after.state = STR("{\"step\":3,\"pending_input\":{\"question\":\"which?\"}}");
    return update(f, run, after);
}

TEST(an_answer_lets_a_waiting_run_go_on_and_takes_the_question_out_of_its_state)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_waiting(&f, thread, "direct");
    EXPECT_PART(last_event(&f, thread).payload, "\"question\":\"which?\"");
    EXPECT_EQ(run_input(begin(&f), &run, STR("\"that one\"")), OK);
    commit(&f);
    EXPECT_EQ(run.status, RUN_RUNNING);
    EXPECT_STR(run.state, STR("{\"step\":3}"));
    EXPECT_STR(run.input, STR("\"that one\""));
    EXPECT_PART(last_event(&f, thread).payload, "\"reason\":\"input\",\"input\":\"that one\"");
    fixture_end(&f);
}

TEST(an_answered_run_of_the_queue_waits_for_a_worker_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_waiting(&f, make_thread(&f), "queue");
    EXPECT_EQ(run_input(begin(&f), &run, STR("1")), OK);
    commit(&f);
    EXPECT_EQ(run.status, RUN_QUEUED);
    fixture_end(&f);
}

TEST(a_run_that_does_not_wait_takes_no_answer)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    for (size_t i = 0; i < STATUSES; i++) {
        if (strcmp(run_statuses[i], "waiting_for_input") == 0)
            continue;
        put_status(&f, run_statuses[i]);
        run = get_run(&f, run.id);
        EXPECT_EQ(run_input(begin(&f), &run, STR("1")), ERR_TRANSITION);
        EXPECT(contains(f.problem.extension, "\"allowed\":["));
        abandon(&f);
    }
    fixture_end(&f);
}

/* --- Pause and resume ----------------------------------------------------------------------- */

static struct str status_after_pause(struct fixture *f, const char *dispatch, const char *status)
{
    struct run run = make_run(f, make_thread(f), dispatch);
    struct str sql = arena_printf(f->arena,
        "UPDATE runs SET status = '%s' WHERE id = (SELECT id FROM runs ORDER BY id DESC LIMIT 1)",
        status);
    sql_exec(f, arena_cstr(f->arena, sql));
    run = get_run(f, run.id);
    EXPECT_EQ(run_pause(begin(f), &run), OK);
    commit(f);
    EXPECT_EQ(run.status, RUN_PAUSED);
    EXPECT_EQ(run_resume(begin(f), &run), OK);
    commit(f);
    return run_status_word(run.status);
}

TEST(a_resumed_run_goes_where_it_can_work_or_wait)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_STR(status_after_pause(&f, "direct", "running"), STR("running"));
    EXPECT_STR(status_after_pause(&f, "direct", "waiting_for_input"), STR("waiting_for_input"));
    EXPECT_STR(status_after_pause(&f, "direct", "queued"), STR("running")); /* nothing before it */
    EXPECT_STR(status_after_pause(&f, "queue", "running"), STR("queued"));
    EXPECT_STR(status_after_pause(&f, "queue", "waiting_for_input"), STR("waiting_for_input"));
    EXPECT_STR(status_after_pause(&f, "queue", "queued"), STR("queued"));
    fixture_end(&f);
}

TEST(only_a_paused_run_resumes_and_a_paused_one_is_not_paused_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    EXPECT_EQ(run_resume(begin(&f), &run), ERR_TRANSITION);
    abandon(&f);
    EXPECT_EQ(run_pause(begin(&f), &run), OK);
    commit(&f);
    EXPECT_EQ(run_pause(begin(&f), &run), ERR_TRANSITION);
    abandon(&f);
    EXPECT_EQ(get_run(&f, run.id).status, RUN_PAUSED);
    fixture_end(&f);
}

/* --- Effects of a run's end ----------------------------------------------------------------- */

TEST(the_next_direct_run_starts_when_the_one_before_it_ends)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run first = make_run(&f, thread, "direct"), second = make_run(&f, thread, "direct"),
               third = make_run(&f, thread, "direct");
    EXPECT_EQ(second.status, RUN_QUEUED);
    EXPECT_EQ(run_cancel(begin(&f), &first, STR("enough")), OK);
    commit(&f);
    EXPECT_EQ(get_run(&f, second.id).status, RUN_RUNNING);
    EXPECT_EQ(get_run(&f, third.id).status, RUN_QUEUED);
    fixture_end(&f);
}

TEST(the_end_of_a_run_cancels_its_children_and_theirs)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run parent = make_run(&f, thread, "direct");
    struct run child = {.has_parent_run_id = true, .parent_run_id = parent.id};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &child), OK);
    commit(&f);
    struct run grandchild = {.has_parent_run_id = true, .parent_run_id = child.id};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &grandchild), OK);
    commit(&f);
    struct run after = parent;
    after.status = RUN_COMPLETED;
    update(&f, parent, after);
    EXPECT_EQ(get_run(&f, child.id).status, RUN_CANCELLED);
    EXPECT_EQ(get_run(&f, grandchild.id).status, RUN_CANCELLED);
    fixture_end(&f);
}

TEST(events_are_pruned_at_the_end_of_a_run_when_the_thread_asks_for_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct thread t = {.has_prune_on_completion = true, .prune_on_completion = true};
    EXPECT_EQ(thread_create(begin(&f), &t), OK);
    commit(&f);
    struct run run = make_run(&f, t.id, "direct"), after = run;
    add_events(&f, t.id, 3);
    after.status = RUN_COMPLETED;
    update(&f, run, after);
    struct event_bounds bounds = thread_bounds(&f, t.id);
    EXPECT_EQ(bounds.last, 8);
    /* The event that reports the end stays until the next run's. */
    EXPECT_EQ(bounds.pruned, 7);
    collect_garbage(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events"), 1);
    fixture_end(&f);
}
