/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes on one database: what one does while the other is in the middle of something. */
#include <pthread.h>

#include "fixture.h"
#include "postgres.h"

static const struct timespec A_MOMENT = {.tv_nsec = 100000000};

/* One call of the model on the second node, in a thread of its own, since it may have to wait. */
struct other {
    struct fixture node;
    enum error (*act)(struct other *o, struct context *c);
    struct uuid id;
    bool found;
    struct event event;
    struct run run;
    struct api_key key;
    enum error result;
    pthread_t thread;
};

static void *run_other(void *data)
{
    struct other *o = data;
    o->result = o->act(o, begin(&o->node));
    return NULL;
}

static void start_other(struct other *o, enum error (*act)(struct other *o, struct context *c))
{
    o->act = act;
    EXPECT_EQ(pthread_create(&o->thread, NULL, run_other, o), 0);
    nanosleep(&A_MOMENT, NULL);
}

static void end_other(struct other *o)
{
    pthread_join(o->thread, NULL);
    if (o->result == OK)
        commit(&o->node);
    else
        leave(&o->node, o->result);
}

static void nodes_begin(struct fixture *f, struct other *o)
{
    *o = (struct other){0};
    fixture_begin(f);
    fixture_join(&o->node, f);
}

static void nodes_end(struct fixture *f, struct other *o)
{
    fixture_end(&o->node);
    fixture_end(f);
}

/* --- Appending ------------------------------------------------------------------------------ */

static enum error append_one(struct other *o, struct context *c)
{
    o->event = (struct event){.kind = STR("progress"), .text = STR("theirs")};
    return event_append(c, o->id, &o->event, 1);
}

POSTGRES_ONLY(two_nodes_append_to_one_thread_without_a_gap)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    o.id = make_thread(&f);
    struct event ours[2] = {{.kind = STR("progress")}, {.kind = STR("progress")}};
    EXPECT_EQ(event_append(begin(&f), o.id, ours, 2), OK);
    start_other(&o, append_one);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, OK);
    EXPECT_EQ(ours[0].seq, 2);
    EXPECT_EQ(ours[1].seq, 3);
    EXPECT_EQ(o.event.seq, 4);
    EXPECT(ours[1].id < o.event.id);
    EXPECT_EQ(thread_bounds(&f, o.id).last, 4);
    nodes_end(&f, &o);
}

POSTGRES_ONLY(an_append_that_is_undone_leaves_no_gap)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    o.id = make_thread(&f);
    struct event ours = {.kind = STR("progress")};
    EXPECT_EQ(event_append(begin(&f), o.id, &ours, 1), OK);
    start_other(&o, append_one);
    abandon(&f);
    end_other(&o);
    EXPECT_EQ(o.event.seq, 2);
    EXPECT_EQ(thread_bounds(&f, o.id).last, 2);
    nodes_end(&f, &o);
}

POSTGRES_ONLY(two_nodes_prune_threads_of_one_tenant_without_waiting)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    int64_t pruned;
    EXPECT_EQ(event_prune(begin(&f), a, 1, &pruned), OK);
    EXPECT_EQ(event_prune(begin(&o.node), b, 1, &pruned), OK);
    commit(&o.node);
    EXPECT_EQ(tenant_bounds(&o.node).pruned, 2);
    commit(&f);
    EXPECT_EQ(tenant_bounds(&f).pruned, 2);
    nodes_end(&f, &o);
}

POSTGRES_ONLY(what_was_pruned_of_a_thread_stays_noted_when_the_thread_goes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    add_events(&f, id, 4);
    EXPECT_EQ(delete_thread(begin(&f), id), OK);
    commit(&f);
    EXPECT_EQ(tenant_bounds(&f).pruned, 5);
    EXPECT_EQ(tenant_bounds(&f).last, 6);
    fixture_end(&f);
}

/* --- Late commits --------------------------------------------------------------------------- */

/* A transaction of a third party that has its event's id and does not commit yet. */
static PGconn *begin_late(struct fixture *f, struct uuid thread)
{
    char id[UUID_TEXT_LEN], sql[400];
    PGconn *late = plain_connect(f->schema);
    uuid_format(thread, id);
    plain_exec(late, "BEGIN");
    plain_exec(late, "SELECT event_register()");
    snprintf(sql, sizeof sql,
        "WITH t AS (UPDATE threads SET last_seq = last_seq + 1 WHERE id = '%.*s' "
        "RETURNING tenant_id, id, last_seq) "
        "INSERT INTO events (id, tenant_id, thread_id, seq, kind, created_at) "
        "SELECT nextval('event_ids'), tenant_id, id, last_seq, 'progress', 1 FROM t",
        UUID_TEXT_LEN, id);
    plain_exec(late, sql);
    return late;
}

static size_t list_tenant(struct fixture *f, int64_t after, struct event *out_events)
{
    struct page page;
    const struct event_filter tenant = {.kind = STR_NONE};
    size_t n = 0;
    page = (struct page){.limit = 10};
    EXPECT_EQ(event_list(begin_reading(f), &tenant, after, &page, out_events), OK);
    n = page.count;
    commit(f);
    return n;
}

POSTGRES_ONLY(a_tenants_stream_waits_for_a_late_commit_and_skips_nothing)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid slow = make_thread(&f), fast = make_thread(&f);
    struct event events[10];
    EXPECT_EQ(tenant_bounds(&f).last, 2);
    PGconn *late = begin_late(&f, slow); /* has the id 3 */
    add_events(&f, fast, 1);             /* has the id 4, and is committed */
    EXPECT_EQ(thread_bounds(&f, fast).last, 2);
    EXPECT_EQ(tenant_bounds(&f).last, 2);
    EXPECT_EQ(list_tenant(&f, 2, events), 0);
    plain_exec(late, "COMMIT");
    EXPECT_EQ(tenant_bounds(&f).last, 4);
    EXPECT_EQ(list_tenant(&f, 2, events), 2);
    EXPECT_EQ(events[0].id, 3);
    EXPECT(uuid_eq(events[0].thread_id, slow));
    EXPECT_EQ(events[1].id, 4);
    PQfinish(late);
    fixture_end(&f);
}

POSTGRES_ONLY(an_id_that_will_never_exist_holds_nobody_up)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid slow = make_thread(&f), fast = make_thread(&f);
    PGconn *late = begin_late(&f, slow);
    add_events(&f, fast, 1);
    EXPECT_EQ(tenant_bounds(&f).last, 2);
    PQfinish(late); /* the connection breaks */
    for (int i = 0; i < 50 && tenant_bounds(&f).last < 4; i++)
        nanosleep(&A_MOMENT, NULL);
    EXPECT_EQ(tenant_bounds(&f).last, 4);
    fixture_end(&f);
}

POSTGRES_ONLY(the_horizon_is_the_oldest_of_those_who_are_registered)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    PGconn *first = begin_late(&f, a), *second = begin_late(&f, b);
    EXPECT_EQ(sql_i64(&f, "SELECT event_horizon()"), 2);
    plain_exec(second, "COMMIT");
    EXPECT_EQ(sql_i64(&f, "SELECT event_horizon()"), 2);
    plain_exec(first, "COMMIT");
    EXPECT_EQ(sql_i64(&f, "SELECT event_horizon()"), 4);
    PQfinish(first);
    PQfinish(second);
    fixture_end(&f);
}

POSTGRES_ONLY(what_a_node_knows_to_be_settled_stays_settled)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    add_events(&f, id, 3);
    EXPECT_EQ(tenant_bounds(&f).last, 4);
    /* A transaction that had read the last id when it was 1, and locks it only now. */
    PGconn *late = plain_connect(f.schema);
    plain_exec(late, "BEGIN; SELECT pg_advisory_xact_lock_shared("
                     "'event_ids'::regclass::oid::bigint::bit(32)::int, 1)");
    EXPECT_EQ(sql_i64(&f, "SELECT event_horizon()"), 1);
    EXPECT_EQ(tenant_bounds(&f).last, 4);
    plain_exec(late, "COMMIT");
    PQfinish(late);
    fixture_end(&f);
}

POSTGRES_ONLY(what_was_pruned_stays_until_every_tail_has_seen_it)
{
    struct fixture f;
    int64_t pruned;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    add_events(&f, id, 3);
    EXPECT_EQ(event_prune(begin(&f), id, 4, &pruned), OK);
    commit(&f);
    struct event events[10];
    EXPECT_EQ(list_tenant(&f, 0, events), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events"), 4);
    collect_garbage(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events"), 0);
    fixture_end(&f);
}

POSTGRES_ONLY(the_horizon_goes_on_where_the_low_bits_of_ids_begin_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f);
    sql_exec(&f, "SELECT setval('event_ids', 4294967295)");
    PGconn *late = begin_late(&f, a);
    sql_exec(&f, "SELECT nextval('event_ids')");
    EXPECT_EQ(sql_i64(&f, "SELECT event_horizon()"), 4294967295);
    plain_exec(late, "COMMIT");
    EXPECT_EQ(sql_i64(&f, "SELECT event_horizon()"), 4294967297);
    PQfinish(late);
    fixture_end(&f);
}

/* --- One at a time -------------------------------------------------------------------------- */

static const struct sha256 SAME_REQUEST = {{1}};

static enum error answer_once(struct context *c, bool *out_found)
{
    struct stored_answer answer = {.status = 201, .headers = STR("{}"), .body = STR("{}")};
    enum error e = idempotency_find(c, STR("POST /a"), STR("k"), SAME_REQUEST, &answer, out_found);
    if (e != OK || *out_found)
        return e;
    return idempotency_store(c, STR("POST /a"), STR("k"), SAME_REQUEST, &answer);
}

static enum error answer_too(struct other *o, struct context *c)
{
    return answer_once(c, &o->found);
}

POSTGRES_ONLY(the_second_of_two_equal_requests_runs_again_and_finds_the_firsts_answer)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    bool found;
    EXPECT_EQ(answer_once(begin(&f), &found), OK);
    EXPECT(!found);
    start_other(&o, answer_too);
    commit(&f);
    end_other(&o);
    EXPECT(!o.found);
    EXPECT(o.result != OK);
    EXPECT_EQ(answer_once(begin(&o.node), &found), OK);
    EXPECT(found);
    commit(&o.node);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM idempotency_keys"), 1);
    nodes_end(&f, &o);
}

static const struct run_claim ANYTHING = {.worker = {"w", 1}, .lease_ms = 30000};

static enum error claim_too(struct other *o, struct context *c)
{
    return run_claim(c, &ANYTHING, &o->run, &o->found);
}

POSTGRES_ONLY(two_workers_never_claim_the_same_run)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    make_run(&f, make_thread(&f), "queue");
    struct run run;
    bool found = false;
    EXPECT_EQ(run_claim(begin(&f), &ANYTHING, &run, &found), OK);
    EXPECT(found);
    start_other(&o, claim_too);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, OK);
    EXPECT(!o.found);
    nodes_end(&f, &o);
}

POSTGRES_ONLY(a_claim_goes_past_threads_that_others_are_at)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    make_run(&f, make_thread(&f), "queue");
    struct run second = make_run(&f, make_thread(&f), "queue"), run;
    bool found = false;
    EXPECT_EQ(run_claim(begin(&f), &ANYTHING, &run, &found), OK);
    EXPECT_EQ(run_claim(begin(&o.node), &ANYTHING, &run, &found), OK);
    EXPECT(found);
    EXPECT(uuid_eq(run.id, second.id));
    commit(&o.node);
    commit(&f);
    nodes_end(&f, &o);
}

POSTGRES_ONLY(a_run_that_is_there_is_claimed_also_when_somebody_is_at_its_thread)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    struct uuid thread = make_thread(&f);
    make_run(&f, thread, "queue");
    struct event event = {.kind = STR("progress")};
    EXPECT_EQ(event_append(begin(&f), thread, &event, 1), OK);
    start_other(&o, claim_too);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, OK);
    EXPECT(o.found);
    EXPECT_EQ(o.run.fence, event.seq + 1);
    nodes_end(&f, &o);
}

static enum error delete_too(struct other *o, struct context *c)
{
    return delete_agent(c, o->id);
}

POSTGRES_ONLY(an_agent_is_not_deleted_while_another_node_starts_its_first_run)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    struct uuid thread = make_thread(&f);
    struct agent agent = {.name = STR("busy")};
    EXPECT_EQ(agent_create(begin(&f), &agent), OK);
    commit(&f);
    struct run run = {.has_agent_id = true, .agent_id = agent.id};
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &run), OK);
    o.id = agent.id;
    start_other(&o, delete_too);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, ERR_CONFLICT);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agents"), 1);
    nodes_end(&f, &o);
}

static struct uuid make_operator(struct fixture *f)
{
    struct str scope = STR("operator");
    struct api_key key = {.name = STR("k"), .scopes = {&scope, 1}};
    EXPECT_EQ(key_create(begin(f), DEFAULT_TENANT_ID, &key), OK);
    commit(f);
    return key.id;
}

static enum error revoke_too(struct other *o, struct context *c)
{
    return key_revoke(c, o->id, &o->key);
}

POSTGRES_ONLY(of_the_last_two_keys_only_one_can_be_revoked)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    struct uuid first = make_operator(&f);
    o.id = make_operator(&f);
    struct api_key key;
    EXPECT_EQ(key_revoke(begin(&f), first, &key), OK);
    start_other(&o, revoke_too);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, ERR_CONFLICT);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL"), 1);
    nodes_end(&f, &o);
}

static enum error create_first(struct context *c, struct api_key *key)
{
    static struct str scope = {"operator", 8};
    bool any;
    c->actor = ACTOR_OPEN;
    *key = (struct api_key){.name = STR("k"), .scopes = {&scope, 1}};
    EXPECT_EQ(key_any(c, &any), OK); /* the first check of a request without a key */
    return key_create(c, DEFAULT_TENANT_ID, key);
}

static enum error create_first_too(struct other *o, struct context *c)
{
    return create_first(c, &o->key);
}

POSTGRES_ONLY(only_one_node_makes_the_first_key)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    struct api_key key;
    EXPECT_EQ(create_first(begin(&f), &key), OK);
    start_other(&o, create_first_too);
    commit(&f);
    end_other(&o);
    EXPECT(o.result != OK);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM api_keys"), 1);
    nodes_end(&f, &o);
}

static enum error record_too(struct other *o, struct context *c)
{
    return audit_record(c, "thread.deleted", "thread", UUID_NIL, STR_NONE);
}

POSTGRES_ONLY(the_audit_chain_of_two_nodes_is_one_chain)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    EXPECT_EQ(record_too(&o, begin(&f)), OK);
    start_other(&o, record_too);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, OK);
    struct audit_verdict verdict;
    EXPECT_EQ(audit_verify(begin_reading(&f), &verdict), OK);
    commit(&f);
    EXPECT(verdict.intact);
    EXPECT_EQ(verdict.records, 2);
    nodes_end(&f, &o);
}

/* --- The sweep ------------------------------------------------------------------------------ */

TEST(a_lease_that_was_held_on_to_since_it_was_listed_does_not_end)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_claimed(&f, make_thread(&f));
    struct sweep_item item = {SWEEP_LEASE, DEFAULT_TENANT_ID, run.id, NULL};
    struct sweep_report report;
    EXPECT_EQ(sweep_do(begin(&f), &item, &report), OK);
    commit(&f);
    EXPECT_EQ(get_run(&f, run.id).status, RUN_RUNNING);
    struct context *c = begin(&f);
    c->lease_now_us = run.lease_expires_at;
    EXPECT_EQ(sweep_do(c, &item, &report), OK);
    commit(&f);
    EXPECT_EQ(get_run(&f, run.id).status, RUN_QUEUED);
    c = begin(&f); /* the other node had listed it too */
    c->lease_now_us = run.lease_expires_at;
    EXPECT_EQ(sweep_do(c, &item, &report), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(what_was_listed_and_is_gone_is_no_failure)
{
    struct fixture f;
    fixture_begin(&f);
    static const enum sweep_kind kinds[] = {
        SWEEP_LEASE, SWEEP_AGED, SWEEP_GARBAGE, SWEEP_UPLOAD, SWEEP_ANSWERS};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct sweep_item item = {kinds[i], DEFAULT_TENANT_ID, uuid_v7(), NULL};
        struct sweep_report report = {.more = true, .n_unused = 1};
        EXPECT_EQ(sweep_do(begin(&f), &item, &report), OK);
        EXPECT(!report.more);
        EXPECT_EQ(report.n_unused, 0);
        commit(&f);
    }
    fixture_end(&f);
}

POSTGRES_ONLY(one_node_lists_at_a_time)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    struct run run = make_claimed(&f, make_thread(&f));
    struct sweep_position start = {0};
    struct sweep_list ours, theirs;
    struct context *c = begin(&f);
    c->lease_now_us = run.lease_expires_at;
    EXPECT_EQ(sweep_list(c, &start, &ours), OK);
    c = begin(&o.node);
    c->lease_now_us = run.lease_expires_at;
    EXPECT_EQ(sweep_list(c, &start, &theirs), OK);
    commit(&o.node);
    commit(&f);
    EXPECT_EQ(ours.count, 1);
    EXPECT_EQ(theirs.count, 0);
    nodes_end(&f, &o);
}

/* --- Counters ------------------------------------------------------------------------------- */

static enum error limit_threads(struct other *o, struct context *c)
{
    struct tenant tenant, wanted = {.id = DEFAULT_TENANT_ID,
                              .name = STR("default"),
                              .plan_tier = STR_NONE,
                              .quotas = {.has_max_threads = true, .max_threads = 100}};
    return tenant_update(c, &wanted, &tenant);
}

static void expect_exact_counter(struct fixture *f, int64_t threads)
{
    EXPECT_EQ(sql_i64(f, "SELECT count(*) FROM threads"), threads);
    EXPECT_EQ(sql_i64(f, "SELECT threads FROM tenant_usage"), threads);
}

POSTGRES_ONLY(a_counter_that_starts_includes_a_thread_that_another_node_is_adding)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    struct thread thread = {.metadata = STR("{}")};
    EXPECT_EQ(thread_create(begin(&f), &thread), OK);
    start_other(&o, limit_threads);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, OK);
    expect_exact_counter(&f, 1);
    nodes_end(&f, &o);
}

static enum error add_thread(struct other *o, struct context *c)
{
    struct thread thread = {.metadata = STR("{}")};
    return thread_create(c, &thread);
}

POSTGRES_ONLY(a_thread_that_waits_for_the_start_of_a_counter_is_counted)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    EXPECT_EQ(limit_threads(NULL, begin(&f)), OK);
    start_other(&o, add_thread);
    commit(&f);
    end_other(&o);
    EXPECT_EQ(o.result, OK);
    expect_exact_counter(&f, 1);
    nodes_end(&f, &o);
}

/* Plain SQL: the model locks the tenant before it deletes a thread, other deletions do not. */
POSTGRES_ONLY(a_counter_that_starts_excludes_a_thread_that_another_transaction_is_deleting)
{
    struct fixture f;
    struct other o;
    nodes_begin(&f, &o);
    make_thread(&f);
    make_thread(&f);
    PGconn *conn = plain_connect(f.schema);
    plain_exec(
        conn, "BEGIN; DELETE FROM threads WHERE id = (SELECT max(id::text)::uuid FROM threads)");
    start_other(&o, limit_threads);
    plain_exec(conn, "COMMIT");
    PQfinish(conn);
    end_other(&o);
    EXPECT_EQ(o.result, OK);
    expect_exact_counter(&f, 1);
    nodes_end(&f, &o);
}
