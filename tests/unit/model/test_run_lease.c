/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static int64_t claimed_at; /* lease time */

/* Claims with that filter; false when there was nothing. */
static bool claim_for(struct fixture *f, const char *agent, struct run *out_run)
{
    const struct run_claim claim = {.worker = STR("w"), .lease_ms = 5000, .agent = str_of(agent)};
    bool found = false;
    struct context *c = begin(f);
    claimed_at = c->lease_now_us;
    EXPECT_EQ(run_claim(c, &claim, out_run, &found), OK);
    commit(f);
    return found;
}

static bool claim(struct fixture *f, struct run *out_run)
{
    return claim_for(f, NULL, out_run);
}

TEST(a_claim_takes_the_oldest_queued_run_under_a_lease)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    struct run first = make_run(&f, a, "queue"), second = make_run(&f, b, "queue"), run;
    EXPECT(claim(&f, &run));
    EXPECT(uuid_eq(run.id, first.id));
    EXPECT_EQ(run.status, RUN_RUNNING);
    EXPECT_STR(run.worker, STR("w"));
    EXPECT_EQ(run.fence, last_event(&f, a).seq);
    EXPECT_EQ(run.lease_ms, 5000);
    EXPECT_EQ(run.lease_expires_at, claimed_at + 5000000);
    EXPECT(run.has_started_at);
    EXPECT_PART(last_event(&f, a).payload, "\"reason\":\"claimed\"");
    EXPECT(claim(&f, &run));
    EXPECT(uuid_eq(run.id, second.id));
    EXPECT(!claim(&f, &run));
    fixture_end(&f);
}

TEST(a_run_behind_another_of_its_thread_cannot_be_claimed_yet)
{
    static const char *const in_the_way[] = {"running", "waiting_for_input", "paused"};
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run first = make_run(&f, thread, "queue"), second = make_run(&f, thread, "queue"), run;
    EXPECT(claim(&f, &run));
    for (size_t i = 0; i < COUNT_OF(in_the_way); i++) {
        struct str sql = arena_printf(f.arena,
            "UPDATE runs SET status = '%s' WHERE id = (SELECT id FROM runs ORDER BY id LIMIT 1)",
            in_the_way[i]);
        sql_exec(&f, arena_cstr(f.arena, sql));
        EXPECT(!claim(&f, &run));
    }
    first = get_run(&f, first.id);
    EXPECT_EQ(run_cancel(begin(&f), &first, STR_NONE), OK);
    commit(&f);
    EXPECT(claim(&f, &run));
    EXPECT(uuid_eq(run.id, second.id));
    fixture_end(&f);
}

/* As a worker that holds this token. */
static struct context *begin_with(struct fixture *f, int64_t fence)
{
    struct context *c = begin(f);
    c->has_fence = true;
    c->fence = fence;
    return c;
}

TEST(a_child_can_be_claimed_while_its_parent_runs)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run parent = make_claimed(&f, thread), run;
    struct run child = {.has_parent_run_id = true, .parent_run_id = parent.id};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &child), ERR_LEASE_NEEDED);
    abandon(&f);
    EXPECT_EQ(run_start(begin_with(&f, parent.fence), thread, RUN_POLICY_NONE, &child), OK);
    commit(&f);
    EXPECT(claim(&f, &run));
    EXPECT(uuid_eq(run.id, child.id));
    fixture_end(&f);
}

TEST(a_worker_may_ask_for_one_agent_or_one_thread_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    struct run for_planner = {.agent = STR("planner")}, for_nobody = {0}, run;
    EXPECT_EQ(run_start(begin(&f), a, RUN_POLICY_NONE, &for_nobody), OK);
    commit(&f);
    EXPECT_EQ(run_start(begin(&f), b, RUN_POLICY_NONE, &for_planner), OK);
    commit(&f);
    EXPECT(!claim_for(&f, "critic", &run));
    EXPECT(claim_for(&f, "planner", &run));
    EXPECT(uuid_eq(run.id, for_planner.id));
    const struct run_claim of_b = {
        .worker = STR("w"), .lease_ms = 5000, .has_thread_id = true, .thread_id = b};
    bool found = true;
    EXPECT_EQ(run_claim(begin(&f), &of_b, &run, &found), OK);
    EXPECT(!found);
    commit(&f);
    fixture_end(&f);
}

TEST(a_direct_run_is_never_claimed)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run;
    make_run(&f, thread, "direct");
    make_run(&f, thread, "direct"); /* queued, but not for workers */
    EXPECT(!claim(&f, &run));
    fixture_end(&f);
}

/* --- Fencing -------------------------------------------------------------------------------- */

static enum error write_with(
    struct fixture *f, const struct run *run, int64_t fence, int64_t lease_now_us)
{
    struct run before = {0};
    struct context *c = begin(f);
    if (lease_now_us != 0)
        c->lease_now_us = lease_now_us;
    c->has_fence = fence != 0;
    c->fence = fence;
    enum error e = run_get(c, run->id, &before);
    struct run after = before;
    after.state = STR("{\"written\":true}");
    if (e == OK)
        e = run_update(c, &before, &after);
    abandon(f);
    return e;
}

TEST(while_a_lease_is_held_a_write_needs_its_token)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    EXPECT_EQ(write_with(&f, &run, run.fence, 0), OK);
    EXPECT_EQ(write_with(&f, &run, 0, 0), ERR_LEASE_NEEDED);
    EXPECT_STR(
        f.problem.detail, STR("the run is leased to worker-1: send its Cairn-Fencing-Token"));
    EXPECT_EQ(write_with(&f, &run, run.fence + 1, 0), ERR_LEASE_LOST);
    EXPECT_EQ(write_with(&f, &run, run.fence - 1, 0), ERR_LEASE_LOST);
    fixture_end(&f);
}

TEST(a_lease_holds_until_its_last_microsecond_and_its_token_no_longer)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    EXPECT_EQ(write_with(&f, &run, run.fence, run.lease_expires_at - 1), OK);
    EXPECT_EQ(write_with(&f, &run, run.fence, run.lease_expires_at), ERR_LEASE_LOST);
    /* Without a token there is no worker to protect any more. */
    EXPECT_EQ(write_with(&f, &run, 0, run.lease_expires_at), OK);
    fixture_end(&f);
}

TEST(a_run_that_nobody_leases_needs_no_token_and_takes_none)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    EXPECT_EQ(write_with(&f, &run, 0, 0), OK);
    EXPECT_EQ(write_with(&f, &run, 1, 0), ERR_LEASE_LOST);
    fixture_end(&f);
}

static size_t end_leases(struct fixture *f, int64_t lease_now_us, size_t limit)
{
    struct owned_id leases[100];
    size_t n = 0;
    struct context *c = begin(f);
    context_enter_system(c);
    c->lease_now_us = lease_now_us;
    EXPECT_EQ(run_list_expired(c, limit, leases, &n), OK);
    for (size_t i = 0; i < n; i++) {
        context_enter(c, leases[i].tenant_id);
        EXPECT_EQ(run_end_lease(c, leases[i].id), OK);
    }
    commit(f);
    return n;
}

static void sweep_at(struct fixture *f, int64_t lease_now_us, size_t expected)
{
    EXPECT_EQ(end_leases(f, lease_now_us, 100), expected);
}

TEST(an_expired_lease_makes_the_run_claimable_again_and_fences_the_old_worker_out)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_claimed(&f, thread), again;
    EXPECT(!claim(&f, &again));
    sweep_at(&f, run.lease_expires_at - 1, 0);
    EXPECT_EQ(get_run(&f, run.id).status, RUN_RUNNING);
    sweep_at(&f, run.lease_expires_at, 1);
    struct run swept = get_run(&f, run.id);
    EXPECT_EQ(swept.status, RUN_QUEUED);
    EXPECT(!swept.has_lease);
    EXPECT(str_is_none(swept.worker));
    EXPECT_PART(last_event(&f, thread).payload, "\"reason\":\"lease_expired\"");
    EXPECT_EQ(write_with(&f, &run, run.fence, 0), ERR_LEASE_LOST); /* also before a new claim */
    EXPECT(claim(&f, &again));
    EXPECT(uuid_eq(again.id, run.id));
    EXPECT(again.fence > run.fence);
    EXPECT_EQ(write_with(&f, &run, run.fence, 0), ERR_LEASE_LOST);
    EXPECT_EQ(write_with(&f, &run, again.fence, 0), OK);
    sweep_at(&f, claimed_at, 0); /* the new lease holds */
    fixture_end(&f);
}

TEST(peoples_verbs_need_no_token_and_end_the_lease)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    int64_t fence = run.fence;
    EXPECT_EQ(run_pause(begin(&f), &run), OK);
    commit(&f);
    EXPECT(!run.has_lease);
    EXPECT_EQ(write_with(&f, &run, fence, 0), ERR_LEASE_LOST);
    EXPECT_EQ(run_resume(begin(&f), &run), OK);
    commit(&f);
    EXPECT(claim(&f, &run));
    EXPECT(run.fence > fence);
    fixture_end(&f);
}

static enum error write_thread_with(struct fixture *f, struct uuid id, int64_t fence)
{
    struct thread before = {0};
    struct context *c = begin(f);
    c->has_fence = fence != 0;
    c->fence = fence;
    EXPECT_EQ(thread_get(c, id, &before), OK);
    struct thread after = before;
    after.context = STR("{\"x\":1}");
    enum error e = thread_update(c, &before, &after);
    abandon(f);
    return e;
}

TEST(a_token_on_a_thread_must_hold_a_lease_on_one_of_its_runs)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f), bare = make_thread(&f);
    struct run parent = make_claimed(&f, id), child = {.has_parent_run_id = true};
    child.parent_run_id = parent.id;
    EXPECT_EQ(run_start(begin_with(&f, parent.fence), id, RUN_POLICY_NONE, &child), OK);
    commit(&f);
    EXPECT(claim(&f, &child));
    EXPECT(child.fence != parent.fence); /* also when both are claimed for the first time */
    EXPECT_EQ(write_thread_with(&f, id, parent.fence), OK);
    EXPECT_EQ(write_thread_with(&f, id, child.fence), OK);
    EXPECT_EQ(write_thread_with(&f, id, 0), OK); /* people need none */
    EXPECT_EQ(write_thread_with(&f, id, child.fence + 1), ERR_LEASE_LOST);
    EXPECT_EQ(write_thread_with(&f, bare, parent.fence), ERR_LEASE_LOST);
    EXPECT_EQ(run_pause(begin(&f), &parent), OK);
    commit(&f);
    EXPECT_EQ(write_thread_with(&f, id, parent.fence), ERR_LEASE_LOST);
    fixture_end(&f);
}

/* --- Heartbeat and release ------------------------------------------------------------------ */

static struct context *begin_holding(struct fixture *f, int64_t fence)
{
    struct context *c = begin(f);
    c->has_fence = fence != 0;
    c->fence = fence;
    return c;
}

TEST(a_heartbeat_holds_the_lease_from_now)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    int64_t expiry = run.lease_expires_at;
    struct context *c = begin_holding(&f, run.fence);
    c->lease_now_us = expiry - 1;
    EXPECT_EQ(run_heartbeat(c, &run, 7000), OK);
    commit(&f);
    EXPECT_EQ(run.lease_expires_at, expiry - 1 + 7000000);
    EXPECT_EQ(run.lease_ms, 7000);
    EXPECT_EQ(run.fence, f.context.fence);
    sweep_at(&f, expiry, 0);
    fixture_end(&f);
}

TEST(a_heartbeat_or_release_without_the_right_token_is_refused)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    EXPECT_EQ(run_heartbeat(begin_holding(&f, 0), &run, 5000), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("Cairn-Fencing-Token"));
    abandon(&f);
    EXPECT_EQ(run_heartbeat(begin_holding(&f, run.fence + 1), &run, 5000), ERR_LEASE_LOST);
    abandon(&f);
    EXPECT_EQ(run_release(begin_holding(&f, run.fence + 1), &run, STR_NONE), ERR_LEASE_LOST);
    abandon(&f);
    struct context *c = begin_holding(&f, run.fence);
    c->lease_now_us = run.lease_expires_at;
    EXPECT_EQ(run_heartbeat(c, &run, 5000), ERR_LEASE_LOST);
    abandon(&f);
    EXPECT_EQ(get_run(&f, run.id).status, RUN_RUNNING);
    fixture_end(&f);
}

TEST(a_released_run_is_claimable_at_once_with_a_new_token)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_claimed(&f, thread), again;
    int64_t fence = run.fence;
    EXPECT_EQ(run_release(begin_holding(&f, fence), &run, STR_NONE), OK);
    commit(&f);
    EXPECT_EQ(run.status, RUN_QUEUED);
    EXPECT_PART(last_event(&f, thread).payload, "\"reason\":\"released\"");
    EXPECT(claim(&f, &again));
    EXPECT(again.fence > fence);
    fixture_end(&f);
}

SQLITE_ONLY(a_restart_gives_every_holder_its_whole_lease_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f)),
               idle = make_run(&f, make_thread(&f), "queue");
    struct context *c = begin(&f);
    c->lease_now_us = run.lease_expires_at + 1000;
    EXPECT_EQ(run_renew_leases(c), OK);
    commit(&f);
    struct run renewed = get_run(&f, run.id);
    EXPECT_EQ(renewed.lease_expires_at, run.lease_expires_at + 1000 + run.lease_ms * 1000);
    EXPECT_EQ(renewed.fence, run.fence);
    EXPECT(!get_run(&f, idle.id).has_lease);
    fixture_end(&f);
}

TEST(the_sweep_takes_no_more_than_it_was_told_and_works_for_all_tenants)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct thread theirs = {0};
    struct run run = {0};
    bool found = false;
    const struct run_claim anything = {.worker = STR("w"), .lease_ms = 1000};
    struct context *c = begin_as(&f, other);
    EXPECT_EQ(thread_create(c, &theirs), OK);
    EXPECT_EQ(run_start(c, theirs.id, RUN_POLICY_NONE, &run), OK);
    EXPECT_EQ(run_claim(c, &anything, &run, &found), OK);
    commit(&f);
    for (int i = 0; i < 3; i++)
        make_claimed(&f, make_thread(&f));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(end_leases(&f, c->lease_now_us + 3600000000, 2), 2);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM runs WHERE status = 'queued'"), 4);
    fixture_end(&f);
}
