/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of threads and bytes equal the rows after every kind of change. */
#include "archive_files.h"
#include "file_fixture.h"
#include "model/threads/thread_copy.h"
#include "model/upkeep/fsck.h"

#define OF_DEFAULT " WHERE tenant_id = (SELECT id FROM tenants WHERE name = 'default')"

static void set_quotas(struct fixture *f, struct quota_limits quotas)
{
    struct tenant tenant, wanted = {.id = DEFAULT_TENANT_ID,
                              .name = STR("default"),
                              .plan_tier = STR_NONE,
                              .quotas = quotas};
    EXPECT_EQ(tenant_update(begin(f), &wanted, &tenant), OK);
    commit(f);
}

static const struct quota_limits BOTH = {
    .has_max_threads = true, .max_threads = 1000, .has_max_bytes = true, .max_bytes = 1000};

static void expect_counters(struct fixture *f, int64_t threads, int64_t bytes)
{
    EXPECT_EQ(sql_i64(f, "SELECT count(*) FROM threads" OF_DEFAULT), threads);
    EXPECT_EQ(sql_i64(f, "SELECT threads FROM tenant_usage" OF_DEFAULT), threads);
    EXPECT_EQ(sql_i64(f, "SELECT bytes FROM tenant_usage" OF_DEFAULT), bytes);
    struct quota_usage usage;
    EXPECT_EQ(quota_usage_get(begin_as(f, DEFAULT_TENANT_ID), &usage), OK);
    commit(f);
    EXPECT_EQ(usage.threads, threads);
    EXPECT_EQ(usage.bytes, bytes);
}

/* Counters that differ from the rows. */
static size_t faults_of(struct fixture *f)
{
    struct fsck fsck = {.arena = f->arena, .quick = true};
    struct context *c = begin_reading(f);
    EXPECT_EQ(model_fsck(&fsck, c->tx, &f->problem), OK);
    commit(f);
    for (size_t i = 0; i < fsck.n_findings; i++)
        EXPECT_STR(fsck.findings[i].rule, STR("tenant-usage"));
    return fsck.n_findings;
}

static void sweep_content(struct fixture *f)
{
    struct owned_id notes[16];
    size_t n = 0;
    struct context *c = begin(f);
    context_enter_system(c);
    EXPECT_EQ(blob_list_doubtful(c, COUNT_OF(notes), notes, &n), OK);
    commit(f);
    for (size_t i = 0; i < n; i++) {
        struct sweep_item item = {SWEEP_CONTENT, notes[i].tenant_id, notes[i].id, NULL};
        struct sweep_report report;
        EXPECT_EQ(sweep_do(begin(f), &item, &report), OK);
        commit(f);
    }
}

TEST(counters_start_with_what_exists_and_end_with_the_quota)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "a", "12345");
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM tenant_usage"), 0);
    set_quotas(&f, BOTH);
    expect_counters(&f, 1, 5);
    set_quotas(&f, (struct quota_limits){.has_max_bytes = true, .max_bytes = 9});
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM tenant_usage WHERE threads IS NULL"), 1);
    make_thread(&f);
    set_quotas(&f, BOTH);
    expect_counters(&f, 2, 5);
    fixture_end(&f);
}

TEST(counters_follow_every_way_to_add_and_to_delete_threads)
{
    struct fixture f;
    fixture_begin(&f);
    set_quotas(&f, BOTH);
    struct uuid first = make_thread(&f);
    struct thread keyed = {.key = STR("k"), .metadata = STR("{}")}, again = keyed;
    bool is_new;
    EXPECT_EQ(thread_ensure(begin(&f), &keyed, &is_new), OK);
    commit(&f);
    expect_counters(&f, 2, 0);
    EXPECT_EQ(thread_ensure(begin(&f), &again, &is_new), OK);
    EXPECT(!is_new);
    commit(&f);
    expect_counters(&f, 2, 0);
    make_tenant(&f, "other"); /* without a counter */
    struct thread lost = {.metadata = STR("{}")};
    EXPECT_EQ(thread_create(begin(&f), &lost), OK);
    abandon(&f);
    expect_counters(&f, 2, 0);
    struct str archive = exported(&f, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT_EQ(imported(&f, DEFAULT_TENANT_ID, archive, ARCHIVE_IDS_REMAP), OK);
    expect_counters(&f, 4, 0);
    struct thread_copying copying = {0};
    for (bool more = true; more; copying.is_begun = true) {
        struct context *c = begin(&f);
        EXPECT_EQ(context_lock_thread(c, first), OK);
        EXPECT_EQ(thread_copy(c, first, uuid_v7(), &copying, &more), OK);
        commit(&f);
    }
    expect_counters(&f, 5, 0);
    EXPECT_EQ(delete_thread(begin(&f), first), OK);
    abandon(&f);
    expect_counters(&f, 5, 0);
    EXPECT_EQ(delete_thread(begin(&f), first), OK);
    commit(&f);
    expect_counters(&f, 4, 0);
    EXPECT_EQ(faults_of(&f), 0);
    fixture_end(&f);
}

TEST(counters_follow_every_way_to_add_and_to_delete_content)
{
    struct fixture f;
    fixture_begin(&f);
    set_quotas(&f, BOTH);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    put_file(&f, a, "one", "12345");
    put_file(&f, b, "same", "12345");
    put_file(&f, b, "more", "123");
    expect_counters(&f, 2, 8);
    a_put(begin(&f), a, "lost", "1234567");
    abandon(&f);
    expect_counters(&f, 2, 8);
    EXPECT_EQ(file_delete(begin(&f), a, STR("one")), OK);
    commit(&f);
    sweep_content(&f);
    expect_counters(&f, 2, 8);
    EXPECT_EQ(delete_thread(begin(&f), b), OK);
    commit(&f);
    expect_counters(&f, 1, 8);
    sweep_content(&f);
    expect_counters(&f, 1, 0);
    fixture_end(&f);
}

TEST(the_counters_of_a_tenant_are_deleted_with_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_tenant(&f, "acme");
    struct tenant tenant,
        wanted = {.id = id, .name = STR("acme"), .plan_tier = STR_NONE, .quotas = BOTH};
    EXPECT_EQ(tenant_update(begin(&f), &wanted, &tenant), OK);
    commit(&f);
    for (int i = 0; i < 3; i++) {
        struct thread thread = {.metadata = STR("{}")};
        EXPECT_EQ(thread_create(begin_as(&f, id), &thread), OK);
        commit(&f);
    }
    EXPECT_EQ(sql_i64(&f, "SELECT threads FROM tenant_usage"), 3);
    EXPECT_EQ(delete_tenant(begin(&f), id), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM tenant_usage"), 0);
    fixture_end(&f);
}

TEST(a_missing_counter_is_replaced_by_a_count_and_started_with_the_server)
{
    struct fixture f;
    fixture_begin(&f);
    set_quotas(&f, BOTH);
    put_file(&f, make_thread(&f), "a", "12345");
    sql_exec(&f, "UPDATE tenant_usage SET threads = NULL, bytes = NULL");
    struct quota_usage usage;
    EXPECT_EQ(quota_usage_get(begin_as(&f, DEFAULT_TENANT_ID), &usage), OK);
    commit(&f);
    EXPECT_EQ(usage.threads, 1);
    EXPECT_EQ(usage.bytes, 5);
    EXPECT_EQ(model_prepare(begin(&f)), OK);
    commit(&f);
    expect_counters(&f, 1, 5);
    fixture_end(&f);
}

TEST(a_check_finds_wrong_counters)
{
    struct fixture f;
    fixture_begin(&f);
    set_quotas(&f, BOTH);
    make_thread(&f);
    EXPECT_EQ(faults_of(&f), 0);
    sql_exec(&f, "UPDATE tenant_usage SET threads = threads + 1");
    EXPECT_EQ(faults_of(&f), 1);
    sql_exec(&f, "UPDATE tenant_usage SET bytes = 1");
    EXPECT_EQ(faults_of(&f), 2);
    fixture_end(&f);
}
