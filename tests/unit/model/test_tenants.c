/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static enum error rename_tenant(
    struct context *c, struct uuid id, struct str name, struct tenant *out_tenant)
{
    struct tenant wanted = {.id = id, .name = name, .plan_tier = STR_NONE};
    return tenant_update(c, &wanted, out_tenant);
}

TEST(the_default_tenant_exists_from_the_start_and_stays)
{
    struct fixture f;
    fixture_begin(&f);
    struct tenant tenant = {0};
    struct context *c = begin(&f);
    EXPECT_EQ(tenant_get(c, DEFAULT_TENANT_ID, &tenant), OK);
    EXPECT_STR(tenant.name, STR("default"));
    EXPECT_EQ(tenant_ensure_default(c), OK);
    EXPECT_EQ(delete_tenant(c, DEFAULT_TENANT_ID), ERR_CONFLICT);
    EXPECT_EQ(tenant_get(c, DEFAULT_TENANT_ID, &tenant), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM tenants"), 1);
    fixture_end(&f);
}

TEST(a_name_belongs_to_one_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid acme = make_tenant(&f, "acme");
    struct tenant tenant = {0};
    struct context *c = begin(&f);
    EXPECT_EQ(tenant_create(c, STR("acme"), &tenant), ERR_CONFLICT);
    EXPECT_STR(told(&f), STR("a tenant with the name \"acme\" already exists"));
    EXPECT_EQ(rename_tenant(c, acme, STR("default"), &tenant), ERR_CONFLICT);
    EXPECT_EQ(rename_tenant(c, acme, STR("acme"), &tenant), OK); /* its own */
    EXPECT_EQ(rename_tenant(c, acme, STR("roadrunner"), &tenant), OK);
    EXPECT_STR(tenant.name, STR("roadrunner"));
    EXPECT_EQ(tenant.version, 3);
    EXPECT_EQ(tenant_create(c, STR("acme"), &tenant), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(a_tenant_is_made_only_once_somebody_holds_a_key)
{
    struct fixture f;
    fixture_begin(&f);
    struct tenant tenant = {0};
    struct context *c = begin(&f);
    c->actor = ACTOR_OPEN;
    EXPECT_EQ(tenant_create(c, STR("acme"), &tenant), ERR_CONFLICT);
    EXPECT_PART(told(&f), "create a key with the scope operator first");
    abandon(&f);
    fixture_end(&f);
}

TEST(a_stale_version_changes_no_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid acme = make_tenant(&f, "acme");
    struct tenant tenant = {0};
    struct context *c = begin(&f);
    context_match_only(c, 2);
    EXPECT_EQ(rename_tenant(c, acme, STR("x"), &tenant), ERR_STALE);
    EXPECT_EQ(delete_tenant(c, acme), ERR_STALE);
    context_match_only(c, 1);
    EXPECT_EQ(rename_tenant(c, acme, STR("x"), &tenant), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(an_unknown_tenant_is_not_found_by_any_verb)
{
    struct fixture f;
    fixture_begin(&f);
    struct tenant tenant = {0};
    struct context *c = begin(&f);
    EXPECT_EQ(tenant_get(c, UUID_NIL, &tenant), ERR_NOT_FOUND);
    EXPECT_EQ(rename_tenant(c, UUID_NIL, STR("x"), &tenant), ERR_NOT_FOUND);
    EXPECT_EQ(delete_tenant(c, UUID_NIL), ERR_NOT_FOUND);
    commit(&f);
    fixture_end(&f);
}

TEST(tenants_are_listed_newest_first_page_by_page)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    make_tenant(&f, "a");
    struct uuid b = make_tenant(&f, "b");
    struct tenant found[2];
    size_t n = 0;
    struct context *c = begin_reading(&f);
    page = (struct page){.limit = 2};
    EXPECT_EQ(tenant_list(c, false, UUID_NIL, &page, found), OK);
    n = page.count;
    EXPECT_EQ(n, 2);
    EXPECT(uuid_eq(found[0].id, b));
    page = (struct page){.limit = 2};
    EXPECT_EQ(tenant_list(c, true, found[1].id, &page, found), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    EXPECT(uuid_eq(found[0].id, DEFAULT_TENANT_ID));
    commit(&f);
    fixture_end(&f);
}

/* A tenant with a row in every table. */
static struct uuid make_full_tenant(struct fixture *f)
{
    struct uuid tenant = make_tenant(f, "acme");
    struct str scope = STR("admin");
    struct api_key key = {.name = STR("k"), .scopes = {&scope, 1}};
    struct thread thread = {.metadata = STR("{\"a\":\"b\"}")};
    struct run run = {.dispatch = RUN_DIRECT};
    struct sha256 hash = {{0}};
    struct stored_answer answer = {.status = 200, .headers = STR("{}"), .body = STR("{}")};
    struct context *c = begin_as(f, tenant);
    EXPECT_EQ(key_create(c, tenant, &key), OK);
    EXPECT_EQ(thread_create(c, &thread), OK);
    EXPECT_EQ(run_start(c, thread.id, RUN_POLICY_NONE, &run), OK);
    struct thread changed = thread;
    changed.context = STR("{\"x\":1}");
    EXPECT_EQ(thread_get(c, thread.id, &thread), OK);
    EXPECT_EQ(thread_update(c, &thread, &changed), OK); /* leaves a row in run_undo */
    EXPECT_EQ(idempotency_store(c, STR("r"), STR("k"), hash, &answer), OK);
    commit(f);
    return tenant;
}

TEST(a_deleted_tenant_takes_all_that_it_owned_except_its_audit_log)
{
    static const char *const tables[] = {
        "api_keys", "idempotency_keys", "threads", "thread_metadata", "runs", "run_undo", "events"};
    struct fixture f;
    fixture_begin(&f);
    struct uuid tenant = make_full_tenant(&f);
    struct uuid kept = make_thread(&f);
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct str sql = arena_printf(f.arena,
            "SELECT count(*) > 0 FROM %s WHERE tenant_id <> "
            "(SELECT id FROM tenants WHERE name = 'default')",
            tables[i]);
        EXPECT_EQ(sql_i64(&f, arena_cstr(f.arena, sql)), 1);
    }
    EXPECT_EQ(delete_tenant(begin(&f), tenant), OK);
    commit(&f);
    collect_garbage(&f);
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct str sql = arena_printf(f.arena,
            "SELECT count(*) FROM %s WHERE tenant_id <> "
            "(SELECT id FROM tenants WHERE name = 'default')",
            tables[i]);
        if (sql_i64(&f, arena_cstr(f.arena, sql)) != 0)
            test_fail(__FILE__, __LINE__, "%s keeps rows of a deleted tenant", tables[i]);
    }
    EXPECT_EQ(sql_i64(&f, "SELECT count(DISTINCT tenant_id) FROM audit_log"), 2);
    EXPECT_EQ(get_thread(&f, kept).last_seq, 1);
    fixture_end(&f);
}

TEST(the_event_ids_of_a_deleted_tenant_are_never_given_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid tenant = make_full_tenant(&f);
    int64_t last = sql_i64(&f, "SELECT max(id) FROM events");
    EXPECT_EQ(delete_tenant(begin(&f), tenant), OK);
    commit(&f);
    collect_garbage(&f);
    fixture_close(&f);
    fixture_open(&f); /* forgets every counter in memory */
    make_thread(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT min(id) FROM events"), last + 1);
    fixture_end(&f);
}
