#include "fixture.h"

static bool sweep_at(
    struct fixture *f, int64_t now_us, int64_t lease_now_us, struct sweep_position *position)
{
    bool more = false;
    struct context *c = begin(f);
    c->now_us = now_us;
    c->lease_now_us = lease_now_us;
    EXPECT_EQ(model_sweep(c, position, &more), OK);
    commit(f);
    return more;
}

static struct uuid make_aged(struct fixture *f, int64_t max_age_s)
{
    struct thread t = {.has_event_max_age_s = true, .event_max_age_s = max_age_s};
    EXPECT_EQ(thread_create(begin(f), &t), OK);
    commit(f);
    return t.id;
}

TEST(a_pass_ends_leases_prunes_events_and_forgets_answers)
{
    struct fixture f;
    fixture_begin(&f);
    struct sweep_position position = {0};
    struct uuid aged = make_aged(&f, 60), ageless = make_thread(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    struct sha256 hash = {{0}};
    struct stored_answer answer = {.status = 200, .headers = STR("{}"), .body = STR("{}")};
    struct context *c = begin(&f);
    int64_t now = c->now_us, lease_now = c->lease_now_us;
    EXPECT_EQ(idempotency_store(c, STR("r"), STR("k"), hash, &answer), OK);
    commit(&f);

    EXPECT(!sweep_at(&f, now, lease_now, &position));
    EXPECT_EQ(thread_bounds(&f, aged).pruned, 0);
    EXPECT_STR(get_run(&f, run.id).status, STR("running"));

    const int64_t day_us = INT64_C(86400000000);
    EXPECT(!sweep_at(&f, now + day_us + 1000000, lease_now + day_us, &position));
    EXPECT_EQ(thread_bounds(&f, aged).pruned, 1);
    EXPECT_EQ(thread_bounds(&f, ageless).pruned, 0);
    EXPECT_STR(get_run(&f, run.id).status, STR("queued"));
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM idempotency_keys"), 0);
    fixture_end(&f);
}

TEST(a_thread_keeps_its_events_for_the_age_that_it_asked_for)
{
    struct fixture f;
    fixture_begin(&f);
    struct sweep_position position = {0};
    struct uuid id = make_aged(&f, 60);
    int64_t at = last_event(&f, id).created_at, lease_now = f.context.lease_now_us;
    sweep_at(&f, at + 60000000, lease_now, &position);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 0);
    sweep_at(&f, at + 60000001, lease_now, &position);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 1);
    fixture_end(&f);
}

TEST(many_threads_are_walked_in_passes_until_each_had_its_turn)
{
    enum { THREADS = 30, THREADS_A_PASS = 20 };
    struct fixture f;
    fixture_begin(&f);
    struct sweep_position position = {0};
    struct context *c = begin(&f);
    int64_t now = c->now_us, lease_now = c->lease_now_us;
    for (int i = 0; i < THREADS; i++) {
        struct thread t = {.has_event_max_age_s = true, .event_max_age_s = 1};
        EXPECT_EQ(thread_create(c, &t), OK);
    }
    commit(&f);
    const char *left = "SELECT count(*) FROM events";
    sweep_at(&f, now + 10000000, lease_now, &position);
    EXPECT_EQ(scratch_i64(&f.scratch, left), THREADS - THREADS_A_PASS);
    EXPECT(!uuid_is_nil(position.thread_id));
    sweep_at(&f, now + 10000000, lease_now, &position);
    EXPECT_EQ(scratch_i64(&f.scratch, left), 0);
    EXPECT(uuid_is_nil(position.thread_id)); /* and round again */
    fixture_end(&f);
}

TEST(a_pass_that_left_leases_over_asks_for_another_at_once)
{
    enum { RUNS = 101 };
    struct fixture f;
    fixture_begin(&f);
    struct sweep_position position = {0};
    const struct run_claim claim = {.worker = STR("w"), .lease_ms = 1000};
    struct context *c = begin(&f);
    int64_t now = c->now_us, lease_now = c->lease_now_us;
    for (int i = 0; i < RUNS; i++) {
        struct thread t = {0};
        struct run run = {0};
        bool found = false;
        EXPECT_EQ(thread_create(c, &t), OK);
        EXPECT_EQ(run_start(c, t.id, STR_NONE, &run), OK);
        EXPECT_EQ(run_claim(c, &claim, &run, &found), OK);
    }
    commit(&f);
    EXPECT(sweep_at(&f, now, lease_now + 2000000, &position));
    EXPECT(!sweep_at(&f, now, lease_now + 2000000, &position));
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM runs WHERE status = 'queued'"), RUNS);
    fixture_end(&f);
}

TEST(preparing_again_changes_nothing_but_the_leases)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    struct context *c = begin(&f);
    c->lease_now_us = run.lease_expires_at;
    EXPECT_EQ(model_prepare(c), OK);
    commit(&f);
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM tenants"), 1);
    EXPECT_EQ(get_run(&f, run.id).lease_expires_at, run.lease_expires_at + 30000000);
    fixture_end(&f);
}
