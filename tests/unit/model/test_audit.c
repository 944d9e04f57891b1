/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void record_many(struct fixture *f, int n)
{
    struct context *c = begin(f);
    for (int i = 0; i < n; i++)
        EXPECT_EQ(audit_record(c, "thread.deleted", "thing", DEFAULT_TENANT_ID,
                      arena_printf(f->arena, "{\"n\":%d}", i)),
            OK);
    commit(f);
}

static struct audit_verdict verify(struct fixture *f)
{
    struct audit_verdict verdict = {0};
    EXPECT_EQ(audit_verify(begin_reading(f), &verdict), OK);
    commit(f);
    return verdict;
}

/* Five records, then a change behind Cairn's back; where the chain is found broken. */
static int64_t broken_by(const char *sql)
{
    struct fixture f;
    fixture_begin(&f);
    record_many(&f, 5);
    sql_exec(&f, sql);
    struct audit_verdict verdict = verify(&f);
    int64_t at = verdict.intact ? 0 : verdict.first_broken;
    if (!verdict.intact)
        EXPECT_EQ(verdict.records, at - 1);
    fixture_end(&f);
    return at;
}

TEST(an_untouched_log_is_intact_and_its_head_is_the_last_hash)
{
    struct fixture f;
    fixture_begin(&f);
    struct audit_verdict empty = verify(&f);
    EXPECT(empty.intact);
    EXPECT_EQ(empty.records, 0);
    EXPECT_EQ(empty.head.len, 0);
    record_many(&f, 3);
    struct audit_verdict verdict = verify(&f);
    EXPECT(verdict.intact);
    EXPECT_EQ(verdict.records, 3);
    EXPECT(str_eq_nocase(verdict.head, sql_hex(&f, "hash", " FROM audit_log WHERE seq = 3")));
    fixture_end(&f);
}

TEST(a_log_of_many_pages_is_checked_to_its_end)
{
    struct fixture f;
    fixture_begin(&f);
    record_many(&f, 1000);
    EXPECT_EQ(verify(&f).records, 1000);
    record_many(&f, 1);
    EXPECT_EQ(verify(&f).records, 1001);
    EXPECT(verify(&f).intact);
    sql_exec(&f, "UPDATE audit_log SET action = 'x' WHERE seq = 1001");
    EXPECT_EQ(verify(&f).first_broken, 1001);
    sql_exec(&f, "DELETE FROM audit_log WHERE seq = 501");
    EXPECT_EQ(verify(&f).first_broken, 501);
    fixture_end(&f);
}

TEST(a_change_to_any_column_of_a_record_shows)
{
    static const char *const changes[] = {
        "UPDATE audit_log SET at = at + 1 WHERE seq = 3",
        "UPDATE audit_log SET actor = 'system' WHERE seq = 3",
        "UPDATE audit_log SET action = 'other' WHERE seq = 3",
        "UPDATE audit_log SET object_type = 'other' WHERE seq = 3",
        "UPDATE audit_log SET object_id = 'other' WHERE seq = 3",
        "UPDATE audit_log SET request_id = 'other' WHERE seq = 3",
        "UPDATE audit_log SET detail = '{\"n\":9}' WHERE seq = 3",
        "UPDATE audit_log SET hash = '12345678901234567890123456789012' WHERE seq = 3",
        "UPDATE audit_log SET hash = '' WHERE seq = 3",
        /* Moving a word from one column to the next must not go unseen either. */
        "UPDATE audit_log SET action = action || object_type, object_type = '' WHERE seq = 3",
    };
    for (size_t i = 0; i < COUNT_OF(changes); i++)
        EXPECT_EQ(broken_by(changes[i]), 3);
}

TEST(a_removed_record_shows)
{
    EXPECT_EQ(broken_by("DELETE FROM audit_log WHERE seq = 1"), 1);
    EXPECT_EQ(broken_by("DELETE FROM audit_log WHERE seq = 3"), 3);
    /* Closing the gap does not help. */
    EXPECT_EQ(broken_by("DELETE FROM audit_log WHERE seq = 3;"
                        "UPDATE audit_log SET seq = seq - 1 WHERE seq > 3"),
        3);
}

TEST(a_record_that_was_put_in_between_shows)
{
    EXPECT_EQ(broken_by("UPDATE audit_log SET seq = -seq - 1 WHERE seq > 2;"
                        "UPDATE audit_log SET seq = -seq WHERE seq < 0;"
                        "INSERT INTO audit_log SELECT tenant_id, 3, at, actor, 'forged',"
                        "object_type, object_id, request_id, detail, hash FROM audit_log "
                        "WHERE seq = 2"),
        3);
    EXPECT_EQ(broken_by("INSERT INTO audit_log SELECT tenant_id, 6, at, actor, 'forged',"
                        "object_type, object_id, request_id, detail, hash FROM audit_log "
                        "WHERE seq = 5"),
        6);
}

TEST(two_records_that_changed_places_show)
{
    EXPECT_EQ(broken_by("UPDATE audit_log SET seq = -seq WHERE seq IN (2, 3);"
                        "UPDATE audit_log SET seq = 5 + seq WHERE seq < 0"),
        2);
}

TEST(a_cut_tail_shows_to_whoever_noted_the_head)
{
    struct fixture f;
    fixture_begin(&f);
    record_many(&f, 5);
    struct str head = verify(&f).head;
    sql_exec(&f, "DELETE FROM audit_log WHERE seq = 5");
    EXPECT(verify(&f).intact);
    EXPECT(!str_eq(verify(&f).head, head));
    fixture_end(&f);
}

TEST(each_tenant_has_a_chain_of_its_own)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid acme = make_tenant(&f, "acme"); /* one record of the default tenant */
    struct context *c = begin_as(&f, acme);
    EXPECT_EQ(audit_record(c, "thread.deleted", "thing", acme, STR_NONE), OK);
    struct audit_record records[4];
    struct audit_filter all = {0};
    size_t n = 0;
    page = (struct page){.limit = 4};
    EXPECT_EQ(audit_list(c, &all, &page, records), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    EXPECT_EQ(records[0].seq, 1);
    EXPECT_STR(records[0].detail, STR("{}"));
    commit(&f);
    sql_exec(&f, "UPDATE audit_log SET action = 'x' WHERE action = 'thread.deleted'");
    EXPECT(verify(&f).intact); /* the default tenant's */
    fixture_end(&f);
}

TEST(a_record_says_who_did_what_to_which_object_in_which_request)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin(&f);
    struct audit_record r[3];
    struct audit_filter all = {0};
    size_t n = 0;
    c->actor = ACTOR_OPEN;
    EXPECT_EQ(audit_record(c, "key.created", "thing", DEFAULT_TENANT_ID, STR_NONE), OK);
    c->actor = ACTOR_SYSTEM;
    EXPECT_EQ(audit_record(c, "events.pruned", "thing", DEFAULT_TENANT_ID, STR_NONE), OK);
    c->actor = ACTOR_KEY;
    c->key_id = DEFAULT_TENANT_ID;
    EXPECT_EQ(audit_record(c, "key.revoked", "thing", UUID_NIL, STR("{\"a\":1}")), OK);
    page = (struct page){.limit = 3};
    EXPECT_EQ(audit_list(c, &all, &page, r), OK);
    n = page.count;
    EXPECT_EQ(n, 3);
    EXPECT_STR(r[0].actor, STR("key:018f0000-0000-7000-8000-000000000001"));
    EXPECT_STR(r[0].object_id, STR("00000000-0000-0000-0000-000000000000"));
    EXPECT_STR(r[0].detail, STR("{\"a\":1}"));
    EXPECT_STR(r[1].actor, STR("system"));
    EXPECT_STR(r[2].actor, STR("open"));
    EXPECT_STR(r[2].request_id, STR("request-1"));
    EXPECT_EQ(r[2].at, c->now_us);
    commit(&f);
    fixture_end(&f);
}

TEST(the_log_is_filtered_by_action_and_object_and_paged_backwards)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    record_many(&f, 4);
    struct context *c = begin(&f);
    EXPECT_EQ(audit_record(c, "tenant.renamed", "thing", UUID_NIL, STR_NONE), OK);
    struct audit_record r[5];
    size_t n = 0;
    struct audit_filter by_action = {.action = STR("tenant.renamed")};
    page = (struct page){.limit = 5};
    EXPECT_EQ(audit_list(c, &by_action, &page, r), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    struct audit_filter by_object = {.object_id = STR("018f0000-0000-7000-8000-000000000001")};
    page = (struct page){.limit = 5};
    EXPECT_EQ(audit_list(c, &by_object, &page, r), OK);
    n = page.count;
    EXPECT_EQ(n, 4);
    struct audit_filter older = {.has_before = true, .before = 3};
    page = (struct page){.limit = 5};
    EXPECT_EQ(audit_list(c, &older, &page, r), OK);
    n = page.count;
    EXPECT_EQ(n, 2);
    EXPECT_EQ(r[0].seq, 2);
    commit(&f);
    fixture_end(&f);
}
