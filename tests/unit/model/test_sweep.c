/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/tenancy/tickets.h"

static const int64_t DAY_US = 86400 * (int64_t)1000000;

static struct context *begin_at(struct fixture *f, int64_t now_us, int64_t lease_now_us)
{
    struct context *c = begin(f);
    c->now_us = now_us;
    c->lease_now_us = lease_now_us;
    return c;
}

/* A pass item by item, as it is where others write too; else in one job. */
static bool sweep_at(
    struct fixture *f, int64_t now_us, int64_t lease_now_us, struct sweep_position *position)
{
    struct sweep_report report;
    if (!on_postgres()) {
        EXPECT_EQ(model_sweep(begin_at(f, now_us, lease_now_us), position, &report), OK);
        commit(f);
        return report.more;
    }
    struct sweep_list list;
    EXPECT_EQ(sweep_list(begin_at(f, now_us, lease_now_us), position, &list), OK);
    commit(f);
    bool any_more = list.more;
    for (size_t i = 0; i < list.count; i++) {
        struct context *c = begin_at(f, now_us, lease_now_us);
        EXPECT_EQ(sweep_do(c, &list.items[i], &report), OK);
        commit(f);
        any_more = any_more || report.more;
    }
    *position = list.next;
    return any_more;
}

static struct uuid make_aged(struct fixture *f, int64_t max_age_s)
{
    struct thread t = {.has_event_max_age_s = true, .event_max_age_s = max_age_s};
    EXPECT_EQ(thread_create(begin(f), &t), OK);
    commit(f);
    return t.id;
}

/* Passes until nothing is left. A slice that a slow machine ends after its last row, before it
 * finds that no other is left, leaves that to the next pass. */
static void sweep_all_at(
    struct fixture *f, int64_t now_us, int64_t lease_now_us, struct sweep_position *position)
{
    bool more = true;
    for (int passes = 0; more && passes < 3; passes++)
        more = sweep_at(f, now_us, lease_now_us, position);
    EXPECT(!more);
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
    c->now_us = c->lease_now_us; /* the clocks agree */
    int64_t now = c->now_us, lease_now = c->lease_now_us;
    EXPECT_EQ(idempotency_store(c, STR("r"), STR("k"), hash, &answer), OK);
    commit(&f);

    EXPECT(!sweep_at(&f, now, lease_now, &position));
    EXPECT_EQ(thread_bounds(&f, aged).pruned, 0);
    EXPECT_EQ(get_run(&f, run.id).status, RUN_RUNNING);

    const int64_t day_us = INT64_C(86400000000);
    sweep_all_at(&f, now + day_us + 1000000, lease_now + day_us, &position);
    EXPECT_EQ(thread_bounds(&f, aged).pruned, 1);
    EXPECT_EQ(thread_bounds(&f, ageless).pruned, 0);
    EXPECT_EQ(get_run(&f, run.id).status, RUN_QUEUED);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM idempotency_keys"), 0);
    fixture_end(&f);
}

TEST(a_pass_deletes_expired_tickets_of_all_tenants_and_no_others)
{
    struct fixture f;
    fixture_begin(&f);
    struct sweep_position position = {0};
    const struct uuid tenants[] = {DEFAULT_TENANT_ID, make_tenant(&f, "other")};
    int64_t now = 0;
    for (size_t i = 0; i < COUNT_OF(tenants); i++) {
        struct ticket brief = {.path = STR("/a")}, longer = {.path = STR("/a")};
        struct context *c = begin_as(&f, tenants[i]);
        EXPECT_EQ(ticket_create(c, 30, &brief), OK);
        EXPECT_EQ(ticket_create(c, 300, &longer), OK);
        now = c->now_us;
        commit(&f);
    }
    const char *count = "SELECT count(*) FROM tickets";
    EXPECT(!sweep_at(&f, now, now, &position));
    EXPECT_EQ(sql_i64(&f, count), 4);
    EXPECT(!sweep_at(&f, now + 31000000, now + 31000000, &position));
    EXPECT_EQ(sql_i64(&f, count), 2);
    EXPECT(!sweep_at(&f, now + 301000000, now + 301000000, &position));
    EXPECT_EQ(sql_i64(&f, count), 0);
    fixture_end(&f);
}

TEST(a_thread_keeps_its_events_for_the_age_that_it_asked_for)
{
    struct fixture f;
    fixture_begin(&f);
    struct sweep_position position = {0};
    struct uuid id = make_aged(&f, 60);
    int64_t at = last_event(&f, id).created_at, lease_now = f.context.lease_now_us;
    int64_t lease_later = lease_now + DAY_US;
    sweep_at(&f, at + 60000000, lease_later, &position);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 0);
    /* Nor does a wall clock make it older that went ahead by itself. */
    sweep_at(&f, at + DAY_US, at + 60000000, &position);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 0);
    sweep_at(&f, at + 60000001, lease_later, &position);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 1);
    fixture_end(&f);
}

TEST(a_thread_with_an_age_limit_is_left_alone_until_an_event_is_past_it)
{
    struct fixture f;
    fixture_begin(&f);
    const struct sweep_position start = {0};
    struct sweep_list list;
    make_aged(&f, 60);
    EXPECT_EQ(sweep_list(begin(&f), &start, &list), OK);
    commit(&f);
    EXPECT_EQ(list.count, 0);
    EXPECT(!list.more);
    struct context *c = begin(&f);
    c->now_us += 61000000;
    c->lease_now_us += 61000000;
    EXPECT_EQ(sweep_list(c, &start, &list), OK);
    commit(&f);
    EXPECT_EQ(list.count, 1);
    EXPECT_EQ(list.items[0].kind, SWEEP_AGED);
    fixture_end(&f);
}

TEST(many_threads_are_walked_in_passes_until_each_had_its_turn)
{
    enum { THREADS = 210, THREADS_A_PASS = 200 };
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
    sweep_at(&f, now + 10000000, lease_now + 10000000, &position);
    collect_garbage(&f);
    EXPECT_EQ(sql_i64(&f, left), THREADS - THREADS_A_PASS);
    EXPECT(!uuid_is_nil(position.thread_id));
    sweep_at(&f, now + 10000000, lease_now + 10000000, &position);
    collect_garbage(&f);
    EXPECT_EQ(sql_i64(&f, left), 0);
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
        EXPECT_EQ(run_start(c, t.id, RUN_POLICY_NONE, &run), OK);
        EXPECT_EQ(run_claim(c, &claim, &run, &found), OK);
    }
    commit(&f);
    EXPECT(sweep_at(&f, now, lease_now + 2000000, &position));
    EXPECT(!sweep_at(&f, now, lease_now + 2000000, &position));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM runs WHERE status = 'queued'"), RUNS);
    fixture_end(&f);
}

TEST(preparing_again_changes_nothing_but_the_leases_of_a_server_that_was_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    struct context *c = begin(&f);
    c->lease_now_us = run.lease_expires_at;
    EXPECT_EQ(model_prepare(c), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM tenants"), 1);
    /* Other nodes did not stop when this one did. */
    EXPECT_EQ(get_run(&f, run.id).lease_expires_at,
        run.lease_expires_at + (on_postgres() ? 0 : 30000000));
    fixture_end(&f);
}
