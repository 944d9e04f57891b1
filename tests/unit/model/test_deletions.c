/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/agents/storage.h"
#include "model/tenancy/deletions.h"
#include "model/threads/messages.h"

/* More than one slice deletes. */
enum { MANY = SLICE_MAX_ROWS + 1000 };

static void add_messages(struct fixture *f, struct context *c, struct uuid thread_id, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct message m = {.content = STR("one of many words")};
        c->indexed_words = 0; /* as if each message had a request of its own */
        EXPECT_EQ(message_create(c, thread_id, &m), OK);
    }
    commit(f);
}

static struct uuid make_large(struct fixture *f, struct uuid tenant_id)
{
    struct thread t = {.title = STR("large")};
    struct context *c = begin_as(f, tenant_id);
    EXPECT_EQ(thread_create(c, &t), OK);
    add_messages(f, c, t.id, MANY);
    return t.id;
}

static int64_t count(struct fixture *f, const char *table)
{
    struct str sql = arena_printf(f->arena, "SELECT count(*) FROM %s", table);
    return sql_i64(f, arena_cstr(f->arena, sql));
}

static bool delete_slice(struct fixture *f, struct uuid thread_id)
{
    bool more = false;
    struct context *c = begin(f);
    EXPECT_EQ(thread_delete_some(c, thread_id, &more), OK);
    commit(f);
    return more;
}

static void sweep_all(struct fixture *f)
{
    struct sweep_position position = {0};
    struct sweep_report report = {.more = true};
    while (report.more) {
        struct context *c = begin(f);
        c->lease_now_us += INT64_C(60) * 1000000;
        EXPECT_EQ(model_sweep(c, &position, &report), OK);
        commit(f);
    }
}

TEST(a_large_thread_is_deleted_in_slices_and_reported_once)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid kept = make_thread(&f), thread = make_large(&f, DEFAULT_TENANT_ID);
    EXPECT(delete_slice(&f, thread));
    int64_t left = count(&f, "messages");
    EXPECT(left > 0 && left < MANY);
    EXPECT_EQ(count(&f, "message_words"), left);
    EXPECT_EQ(count(&f, "deletions"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM audit_log WHERE action = 'thread.deleted'"), 1);
    EXPECT_STR(get_thread(&f, thread).title, STR("large"));
    while (delete_slice(&f, thread)) {
    }
    EXPECT_EQ(count(&f, "messages"), 0);
    EXPECT_EQ(count(&f, "message_words"), 0);
    EXPECT_EQ(count(&f, "deletions"), 0);
    EXPECT_EQ(count(&f, "threads"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM audit_log WHERE action = 'thread.deleted'"), 1);
    collect_garbage(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events WHERE kind = 'conversation.deleted'"), 1);
    EXPECT_EQ(get_thread(&f, kept).last_seq, 1);
    fixture_end(&f);
}

TEST(a_run_of_a_thread_that_is_being_deleted_cannot_be_claimed)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_large(&f, DEFAULT_TENANT_ID);
    const struct run_claim claim = {.worker = STR("w"), .lease_ms = 30000};
    struct run run = {0};
    bool found = true;
    make_run(&f, thread, "queue");
    EXPECT(delete_slice(&f, thread));
    EXPECT_EQ(count(&f, "runs"), 1);
    EXPECT_EQ(run_claim(begin(&f), &claim, &run, &found), OK);
    commit(&f);
    EXPECT(!found);
    fixture_end(&f);
}

TEST(the_condition_of_a_deletion_is_checked_before_its_first_slice_only)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_large(&f, DEFAULT_TENANT_ID);
    int64_t stale = get_thread(&f, thread).version + 1;
    bool more = false;
    struct context *c = begin(&f);
    context_match_only(c, stale);
    EXPECT_EQ(thread_delete_some(c, thread, &more), ERR_STALE);
    abandon(&f);
    EXPECT_EQ(count(&f, "messages"), MANY);
    EXPECT(delete_slice(&f, thread));
    c = begin(&f);
    context_match_only(c, stale);
    EXPECT_EQ(thread_delete_some(c, thread, &more), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(the_sweep_completes_a_deletion_that_its_request_does_not_continue)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_large(&f, DEFAULT_TENANT_ID);
    EXPECT(delete_slice(&f, thread));
    struct owned_id found[2];
    size_t n = 0;
    EXPECT_EQ(deletion_list(begin(&f), COUNT_OF(found), found, &n), OK);
    commit(&f);
    EXPECT_EQ(n, 0); /* the request may still continue it */
    sweep_all(&f);
    EXPECT_EQ(count(&f, "threads"), 0);
    EXPECT_EQ(count(&f, "messages"), 0);
    EXPECT_EQ(count(&f, "deletions"), 0);
    fixture_end(&f);
}

TEST(the_first_slice_of_a_tenant_deletes_its_keys_and_the_sweep_the_rest)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid tenant = make_tenant(&f, "acme");
    struct str scope = STR("admin");
    struct api_key key = {.name = STR("k"), .scopes = {&scope, 1}};
    EXPECT_EQ(key_create(begin(&f), tenant, &key), OK);
    commit(&f);
    struct uuid thread = make_large(&f, tenant);
    struct uuid kept = make_thread(&f);
    bool more = false;
    EXPECT_EQ(tenant_delete_some(begin(&f), tenant, &more), OK);
    commit(&f);
    EXPECT(more);
    EXPECT_EQ(count(&f, "api_keys"), 0);
    EXPECT_EQ(count(&f, "tenants"), 2);
    EXPECT(count(&f, "messages") < MANY);
    sweep_all(&f);
    EXPECT_EQ(count(&f, "tenants"), 1);
    EXPECT_EQ(count(&f, "messages"), 0);
    EXPECT_EQ(count(&f, "deletions"), 0);
    EXPECT_EQ(count(&f, "threads"), 1);
    EXPECT(!uuid_eq(get_thread(&f, kept).id, thread));
    fixture_end(&f);
}

TEST(a_large_agent_is_deleted_in_slices_which_the_sweep_continues)
{
    struct fixture f;
    fixture_begin(&f);
    struct agent agent = {.name = STR("large")};
    struct context *c = begin(&f);
    EXPECT_EQ(agent_create(c, &agent), OK);
    for (size_t i = 0; i < MANY; i++) {
        struct storage_item item = {.key = arena_printf(f.arena, "key-%zu", i),
            .content_type = STR("application/json"),
            .value = STR("1")};
        bool is_new;
        EXPECT_EQ(storage_put(c, agent.id, &item, &is_new), OK);
    }
    commit(&f);
    bool more = false;
    EXPECT_EQ(agent_delete_some(begin(&f), agent.id, &more), OK);
    commit(&f);
    EXPECT(more);
    EXPECT_EQ(count(&f, "agents"), 1);
    EXPECT(count(&f, "agent_storage") < MANY);
    struct run run = {.has_agent_id = true, .agent_id = agent.id};
    struct uuid thread = make_thread(&f);
    EXPECT_EQ(run_start(begin(&f), thread, RUN_POLICY_NONE, &run), ERR_CONFLICT);
    abandon(&f);
    EXPECT_STR(told(&f), STR("the agent is being deleted"));
    sweep_all(&f);
    EXPECT_EQ(count(&f, "agents"), 0);
    EXPECT_EQ(count(&f, "agent_storage"), 0);
    EXPECT_EQ(count(&f, "deletions"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM audit_log WHERE action = 'agent.deleted'"), 1);
    fixture_end(&f);
}
