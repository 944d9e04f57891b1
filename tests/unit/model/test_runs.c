/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static enum error start(struct fixture *f, struct uuid thread, const char *policy, struct run *run)
{
    enum error e = run_start(begin(f), thread, run_policy_parse(str_of(policy)), run);
    if (e == OK)
        commit(f);
    else
        abandon(f);
    return e;
}

TEST(a_run_starts_queued_for_a_worker_unless_whoever_starts_it_works_on_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct thread t = {.agent = STR("planner")};
    EXPECT_EQ(thread_create(begin(&f), &t), OK);
    commit(&f);
    struct run queued = {.user_input = STR("do it"), .ask_clarifications = true};
    EXPECT_EQ(start(&f, t.id, NULL, &queued), OK);
    EXPECT_EQ(queued.status, RUN_QUEUED);
    EXPECT_EQ(queued.dispatch, RUN_QUEUE);
    EXPECT_STR(queued.agent, STR("planner"));
    EXPECT_STR(queued.user_input, STR("do it"));
    EXPECT(queued.ask_clarifications);
    EXPECT_STR(queued.state, STR("{}"));
    EXPECT(!queued.has_started_at);
    EXPECT_EQ(queued.fence, 0);
    EXPECT(uuid_eq(get_thread(&f, t.id).most_recent_run_id, queued.id));
    EXPECT_STR(last_event(&f, t.id).payload,
        STR("{\"change\":\"run.status\",\"to\":\"queued\",\"reason\":\"started\"}"));
    struct run direct = {.dispatch = RUN_DIRECT};
    EXPECT_EQ(start(&f, make_thread(&f), NULL, &direct), OK);
    EXPECT_EQ(direct.status, RUN_RUNNING);
    EXPECT(direct.has_started_at);
    EXPECT(!direct.has_lease);
    fixture_end(&f);
}

TEST(a_run_needs_a_thread_that_exists_and_is_active)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = {0};
    EXPECT_EQ(start(&f, UUID_NIL, NULL, &run), ERR_NOT_FOUND);
    struct uuid thread = make_thread(&f);
    static const char *const others[] = {"paused", "cancelled", "error"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct str sql = arena_printf(f.arena, "UPDATE threads SET status = '%s'", others[i]);
        sql_exec(&f, arena_cstr(f.arena, sql));
        EXPECT_EQ(start(&f, thread, NULL, &run), ERR_CONFLICT);
        EXPECT_PART(told(&f), "only an active thread can start a run");
    }
    fixture_end(&f);
}

/* --- A second start ------------------------------------------------------------------------- */

TEST(the_policy_reject_refuses_a_second_run_and_changes_nothing)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run first = make_run(&f, thread, "direct"), second = {0};
    struct thread before = get_thread(&f, thread);
    EXPECT_EQ(start(&f, thread, NULL, &second), ERR_RUN_ACTIVE); /* the thread's own policy */
    EXPECT_PART(told(&f), "is running, and the run policy is reject");
    struct thread after = get_thread(&f, thread);
    EXPECT_EQ(after.version, before.version);
    EXPECT_EQ(after.last_seq, before.last_seq);
    EXPECT(uuid_eq(after.most_recent_run_id, first.id));
    fixture_end(&f);
}

TEST(the_policy_enqueue_lets_runs_wait_in_their_order)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run runs[3] = {
        {.dispatch = RUN_DIRECT}, {.dispatch = RUN_DIRECT}, {.dispatch = RUN_QUEUE}};
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        EXPECT_EQ(start(&f, thread, "enqueue", &runs[i]), OK);
    EXPECT_EQ(runs[0].status, RUN_RUNNING);
    EXPECT_EQ(runs[1].status, RUN_QUEUED);
    struct run_array active;
    EXPECT_EQ(run_list_active(begin_reading(&f), thread, &active), OK);
    EXPECT_EQ(active.count, 3);
    for (size_t i = 0; i < active.count; i++)
        EXPECT(uuid_eq(active.runs[i].id, runs[i].id));
    commit(&f);
    fixture_end(&f);
}

TEST(the_policy_interrupt_cancels_every_active_run_and_keeps_the_documents)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run first = make_run(&f, thread, "direct"), second = make_run(&f, thread, "direct");
    struct thread before = get_thread(&f, thread), changed = before;
    changed.context = STR("{\"by\":\"first\"}");
    EXPECT_EQ(thread_update(begin(&f), &before, &changed), OK);
    commit(&f);
    struct run third = {.dispatch = RUN_DIRECT};
    EXPECT_EQ(start(&f, thread, "interrupt", &third), OK);
    EXPECT_EQ(third.status, RUN_RUNNING);
    EXPECT_EQ(get_run(&f, first.id).status, RUN_CANCELLED);
    EXPECT_EQ(get_run(&f, second.id).status, RUN_CANCELLED);
    EXPECT(!get_run(&f, second.id).has_started_at); /* it never got its turn */
    EXPECT_STR(get_thread(&f, thread).context, STR("{\"by\":\"first\"}"));
    fixture_end(&f);
}

TEST(the_policy_rollback_cancels_and_puts_the_documents_back)
{
    struct fixture f;
    fixture_begin(&f);
    struct thread t = {.context = STR("{\"by\":\"nobody\"}"),
        .metadata = STR("{\"m\":1}"),
        .preferences = STR("{\"p\":1}"),
        .important_steps = STR("[\"one\"]")};
    EXPECT_EQ(thread_create(begin(&f), &t), OK);
    commit(&f);
    struct run first = make_run(&f, t.id, "direct");
    struct thread before = get_thread(&f, t.id), changed = before;
    changed.context = STR("{\"by\":\"first\"}");
    changed.metadata = changed.preferences = STR("{}");
    changed.important_steps = STR("[\"one\",\"two\"]");
    changed.title = STR("a title is no document");
    EXPECT_EQ(thread_update(begin(&f), &before, &changed), OK);
    commit(&f);
    struct run second = {.dispatch = RUN_DIRECT};
    EXPECT_EQ(start(&f, t.id, "rollback", &second), OK);
    struct thread after = get_thread(&f, t.id);
    EXPECT_STR(after.context, t.context);
    EXPECT_STR(after.metadata, t.metadata);
    EXPECT_STR(after.preferences, t.preferences);
    EXPECT_STR(after.important_steps, t.important_steps);
    EXPECT_STR(after.title, STR("a title is no document"));
    EXPECT_EQ(get_run(&f, first.id).status, RUN_CANCELLED);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM run_undo"), 0);
    fixture_end(&f);
}

TEST(what_an_earlier_finished_run_changed_is_not_rolled_back)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run first = make_run(&f, thread, "direct"), done = first;
    struct thread before = get_thread(&f, thread), changed = before;
    changed.context = STR("{\"by\":\"first\"}");
    EXPECT_EQ(thread_update(begin(&f), &before, &changed), OK);
    commit(&f);
    done.status = RUN_COMPLETED;
    EXPECT_EQ(run_update(begin(&f), &first, &done), OK);
    commit(&f);
    struct run second = {.dispatch = RUN_DIRECT}, third = {.dispatch = RUN_DIRECT};
    EXPECT_EQ(start(&f, thread, NULL, &second), OK);
    EXPECT_EQ(start(&f, thread, "rollback", &third), OK);
    EXPECT_STR(get_thread(&f, thread).context, STR("{\"by\":\"first\"}"));
    fixture_end(&f);
}

TEST(a_rollback_whose_start_fails_keeps_everything)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run first = make_run(&f, thread, "direct"), second = {0};
    struct thread before = get_thread(&f, thread), changed = before;
    changed.context = STR("{\"by\":\"first\"}");
    EXPECT_EQ(thread_update(begin(&f), &before, &changed), OK);
    commit(&f);
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_ROLLBACK, &second), OK);
    abandon(&f);
    EXPECT_EQ(get_run(&f, first.id).status, RUN_RUNNING);
    EXPECT_STR(get_thread(&f, thread).context, STR("{\"by\":\"first\"}"));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM run_undo"), 1);
    fixture_end(&f);
}

TEST(the_queue_of_one_thread_has_a_limit)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct context *c = begin(&f);
    for (int i = 0; i < RUN_ACTIVE_MAX; i++) {
        struct run run = {0};
        EXPECT_EQ(run_start(c, thread, RUN_POLICY_ENQUEUE, &run), OK);
    }
    struct run one_more = {0};
    EXPECT_EQ(run_start(c, thread, RUN_POLICY_ENQUEUE, &one_more), ERR_RUN_ACTIVE);
    commit(&f);
    fixture_end(&f);
}

/* --- Parents and children ------------------------------------------------------------------- */

TEST(a_child_runs_beside_its_parent_and_is_not_the_threads_newest_run)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run parent = make_run(&f, thread, "direct");
    struct run child = {
        .dispatch = RUN_DIRECT, .has_parent_run_id = true, .parent_run_id = parent.id};
    EXPECT_EQ(start(&f, thread, "reject", &child), OK);
    EXPECT_EQ(child.status, RUN_RUNNING);
    EXPECT(uuid_eq(child.parent_run_id, parent.id));
    EXPECT(uuid_eq(get_thread(&f, thread).most_recent_run_id, parent.id));
    fixture_end(&f);
}

TEST(a_parent_must_exist_and_must_not_be_finished)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run parent = make_run(&f, thread, "direct");
    struct run orphan = {.has_parent_run_id = true, .parent_run_id = UUID_NIL};
    EXPECT_EQ(start(&f, thread, NULL, &orphan), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/parent_run_id"));
    EXPECT_EQ(run_cancel(begin(&f), &parent, STR_NONE), OK);
    commit(&f);
    struct run late = {.has_parent_run_id = true, .parent_run_id = parent.id};
    EXPECT_EQ(start(&f, thread, NULL, &late), ERR_CONFLICT);
    fixture_end(&f);
}

/* --- Lists ---------------------------------------------------------------------------------- */

TEST(runs_are_listed_newest_first_and_by_thread_status_parent_and_agent)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    struct run first = make_run(&f, a, "direct");
    struct run child = {.has_parent_run_id = true,
        .parent_run_id = first.id,
        .agent = STR("helper"),
        .state = STR("{\"x\":1}")};
    EXPECT_EQ(start(&f, a, NULL, &child), OK);
    make_run(&f, b, "queue");
    struct run list[4];
    size_t n = 0;
    struct context *c = begin_reading(&f);
    struct run_filter filter = {0};
    page = (struct page){.limit = 4};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 3);
    EXPECT(uuid_eq(list[2].id, first.id));
    EXPECT(str_is_none(list[1].state));
    filter = (struct run_filter){.has_before = true, .before = list[1].id};
    page = (struct page){.limit = 4};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    filter = (struct run_filter){.has_thread_id = true, .thread_id = a, .with_documents = true};
    page = (struct page){.limit = 4};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 2);
    EXPECT_STR(list[0].state, STR("{\"x\":1}"));
    filter = (struct run_filter){.status = RUN_RUNNING};
    page = (struct page){.limit = 4};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    filter = (struct run_filter){.has_parent_run_id = true, .parent_run_id = first.id};
    page = (struct page){.limit = 4};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    filter = (struct run_filter){.agent = STR("helper")};
    page = (struct page){.limit = 4};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    commit(&f);
    fixture_end(&f);
}

TEST(a_run_of_another_tenant_looks_like_none)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), other = make_tenant(&f, "other");
    struct run run = make_run(&f, thread, "queue"), got, list[2];
    const struct run_filter all = {0};
    const struct run_claim claim = {.worker = STR("w"), .lease_ms = 1000};
    size_t n = 9;
    bool found = true;
    struct run child = {.has_parent_run_id = true, .parent_run_id = run.id};
    struct context *c = begin_as(&f, other);
    EXPECT_EQ(run_get(c, run.id, &got), ERR_NOT_FOUND);
    page = (struct page){.limit = 2};
    EXPECT_EQ(run_list(c, &all, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 0);
    EXPECT_EQ(run_claim(c, &claim, &got, &found), OK);
    EXPECT(!found);
    struct thread theirs = {0};
    EXPECT_EQ(thread_create(c, &theirs), OK);
    EXPECT_EQ(run_start(c, theirs.id, RUN_POLICY_NONE, &child), ERR_INVALID);
    abandon(&f);
    fixture_end(&f);
}

/* --- A thread and its runs together --------------------------------------------------------- */

TEST(pausing_a_thread_pauses_its_runs_and_resuming_brings_them_back)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct run first = make_run(&f, id, "direct"), second = make_run(&f, id, "direct");
    struct thread t = get_thread(&f, id);
    EXPECT_EQ(thread_pause(begin(&f), &t), OK);
    commit(&f);
    EXPECT_EQ(t.status, THREAD_PAUSED);
    EXPECT_EQ(get_run(&f, first.id).status, RUN_PAUSED);
    EXPECT_EQ(get_run(&f, second.id).status, RUN_PAUSED);
    EXPECT_EQ(thread_pause(begin(&f), &t), ERR_TRANSITION);
    abandon(&f);
    EXPECT_EQ(thread_resume(begin(&f), &t), OK);
    commit(&f);
    EXPECT_EQ(t.status, THREAD_ACTIVE);
    EXPECT_EQ(get_run(&f, first.id).status, RUN_RUNNING);
    EXPECT_EQ(get_run(&f, second.id).status, RUN_QUEUED);
    fixture_end(&f);
}

TEST(cancelling_a_thread_cancels_its_runs_and_starts_none_of_them)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct run first = make_run(&f, id, "direct"), second = make_run(&f, id, "direct");
    struct thread t = get_thread(&f, id);
    EXPECT_EQ(thread_cancel(begin(&f), &t, STR("enough")), OK);
    commit(&f);
    EXPECT_EQ(t.status, THREAD_CANCELLED);
    EXPECT_EQ(get_run(&f, first.id).status, RUN_CANCELLED);
    EXPECT_EQ(get_run(&f, second.id).status, RUN_CANCELLED);
    EXPECT(!get_run(&f, second.id).has_started_at);
    EXPECT_PART(last_event(&f, id).payload, "\"reason\":\"enough\"");
    fixture_end(&f);
}

TEST(the_version_that_a_verb_names_is_the_threads_not_that_of_its_runs)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    make_run(&f, id, "direct");
    struct thread t = get_thread(&f, id);
    struct context *c = begin(&f);
    context_match_only(c, t.version + 5);
    EXPECT_EQ(thread_pause(c, &t), ERR_STALE);
    abandon(&f);
    c = begin(&f);
    context_match_only(c, t.version);
    EXPECT_EQ(thread_pause(c, &t), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(a_child_must_be_of_its_parents_thread_and_not_too_deep)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), other = make_thread(&f);
    struct run run = {.dispatch = RUN_DIRECT};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &run), OK);
    commit(&f);
    struct run stray = {.has_parent_run_id = true, .parent_run_id = run.id};
    EXPECT_EQ(run_start(begin(&f), other, RUN_POLICY_NONE, &stray), ERR_INVALID);
    abandon(&f);
    enum error e = OK;
    int depth = 0;
    while (e == OK) {
        struct run child = {
            .has_parent_run_id = true, .parent_run_id = run.id, .dispatch = RUN_DIRECT};
        e = run_start(begin(&f), thread, RUN_POLICY_NONE, &child);
        if (e != OK) {
            abandon(&f);
            break;
        }
        commit(&f);
        run = child;
        depth++;
    }
    EXPECT_EQ(e, ERR_INVALID);
    EXPECT_EQ(depth, RUN_DEPTH_MAX - 1);
    fixture_end(&f);
}

TEST(pausing_and_resuming_a_run_moves_its_children_along)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run parent = {.dispatch = RUN_DIRECT};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &parent), OK);
    commit(&f);
    struct run child = {.has_parent_run_id = true, .parent_run_id = parent.id};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &child), OK);
    commit(&f);
    EXPECT_EQ(run_pause(begin(&f), &parent), OK);
    commit(&f);
    EXPECT_EQ(run_get(begin_reading(&f), child.id, &child), OK);
    EXPECT_EQ(child.status, RUN_PAUSED);
    commit(&f);
    EXPECT_EQ(run_resume(begin(&f), &parent), OK);
    commit(&f);
    EXPECT_EQ(run_get(begin_reading(&f), child.id, &child), OK);
    EXPECT_EQ(child.status, RUN_QUEUED);
    commit(&f);
    fixture_end(&f);
}
