/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/participants.h"

#include "fixture.h"
#include "model/threads/shares.h"

static struct participant join(
    struct fixture *f, struct uuid thread, const char *who, const char *permission)
{
    struct participant p = {
        .principal = str_of(who), .permission = permission_parse(str_of(permission))};
    EXPECT_EQ(participant_join(begin(f), thread, &p), OK);
    commit(f);
    return p;
}

/* Returns the access of a principal: 0 none, 1 read, 2 write. */
static int access_of(struct fixture *f, struct uuid thread, const char *who)
{
    struct context *c = begin_reading(f);
    c->principal = str_of(who);
    int may = (participant_check_access(c, thread, false) == OK) +
              (participant_check_access(c, thread, true) == OK);
    commit(f);
    return may;
}

static enum error redeem(struct fixture *f, struct str token, const char *who)
{
    struct thread_copying copying = {0};
    struct redeemed redeemed;
    bool more;
    struct context *c = begin(f);
    c->principal = str_of(who);
    return leave(f, share_redeem(c, token, STR_NONE, &copying, &redeemed, &more));
}

static struct share make_share(struct fixture *f, struct uuid thread, const char *permission)
{
    struct share share = {
        .kind = SHARE_PARTICIPATE, .permission = permission_parse(str_of(permission))};
    EXPECT_EQ(share_create(begin(f), thread, &share), OK);
    commit(f);
    return share;
}

static void take_back(struct fixture *f, struct share *share)
{
    struct context *c = begin(f);
    EXPECT_EQ(share_get(c, share->thread_id, share->id, share), OK);
    EXPECT_EQ(share_revoke(c, share), OK);
    commit(f);
}

TEST(a_principal_has_one_form)
{
    static const char *const good[] = {"user:a", "user:a b", "user:\xc3\xa9", "user:user:x",
        "agent:018f0000-0000-7000-8000-000000000001"};
    static const char *const bad[] = {"", "user", "user:", "user: a", "user:a ", "user:a\n",
        "user:\xff", "User:a", "agent:", "agent:x", "agent:018F0000-0000-7000-8000-00000000000A",
        "agent:018f0000-0000-7000-8000-000000000001 "};
    char longest[PRINCIPAL_MAX_BYTES + 1];
    for (size_t i = 0; i < COUNT_OF(good); i++)
        EXPECT(principal_is_valid(str_of(good[i])));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (principal_is_valid(str_of(bad[i])))
            test_fail(__FILE__, __LINE__, "\"%s\" is taken for a principal", bad[i]);
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "user:", 5);
    EXPECT(principal_is_valid((struct str){longest, PRINCIPAL_MAX_BYTES}));
    EXPECT(!principal_is_valid((struct str){longest, PRINCIPAL_MAX_BYTES + 1}));
}

TEST(who_takes_no_part_is_told_what_is_told_of_an_absent_thread)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), other = make_thread(&f);
    join(&f, thread, "user:reader", "read");
    join(&f, thread, "user:writer", "read_write");
    EXPECT_EQ(access_of(&f, thread, "user:reader"), 1);
    EXPECT_EQ(access_of(&f, thread, "user:writer"), 2);
    EXPECT_EQ(access_of(&f, thread, "user:Reader"), 0);
    EXPECT_EQ(access_of(&f, other, "user:writer"), 0);
    struct context *c = begin(&f);
    c->principal = STR("user:stranger");
    EXPECT_EQ(participant_check_access(c, thread, false), ERR_NOT_FOUND);
    struct str theirs = arena_str(f.arena, told(&f));
    EXPECT_EQ(context_not_found(c, "thread", thread), ERR_NOT_FOUND);
    EXPECT_STR(told(&f), theirs);
    abandon(&f);
    fixture_end(&f);
}

TEST(an_event_that_ends_access_is_marked_and_no_other_is)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct participant p = join(&f, thread, "user:a", "read");
    EXPECT(!last_event(&f, thread).ends_access);
    struct participant after = p;
    after.permission = PERMISSION_READ_WRITE;
    EXPECT_EQ(participant_update(begin(&f), &p, &after), OK);
    commit(&f);
    EXPECT(!last_event(&f, thread).ends_access);
    EXPECT_EQ(participant_leave(begin(&f), &after), OK);
    commit(&f);
    EXPECT(last_event(&f, thread).ends_access);
    EXPECT_STR(last_event(&f, thread).kind, STR("participant.updated"));
    EXPECT_EQ(access_of(&f, thread, "user:a"), 0);
    fixture_end(&f);
}

TEST(who_is_silent_for_too_long_is_told_to_be_offline_once)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct participant p = join(&f, thread, "user:a", "read");
    EXPECT_EQ(participant_heartbeat(begin(&f), &p, 60, STR_NONE), OK);
    commit(&f);
    EXPECT(p.online);
    int64_t seq = last_event(&f, thread).seq;
    EXPECT_EQ(participant_end_online(begin(&f), thread), OK); /* too early */
    commit(&f);
    EXPECT_EQ(last_event(&f, thread).seq, seq);
    sql_exec(&f, "UPDATE participants SET online_until = 1");
    struct sweep_position position = {0};
    for (int i = 0; i < 2; i++) {
        struct sweep_report report;
        EXPECT_EQ(model_sweep(begin(&f), &position, &report), OK);
        commit(&f);
    }
    EXPECT_EQ(last_event(&f, thread).seq, seq + 1);
    EXPECT_EQ(participant_get(begin_reading(&f), thread, p.id, &p), OK);
    commit(&f);
    EXPECT(!p.online);
    fixture_end(&f);
}

static void stay_online(struct fixture *f, struct uuid thread, const char *principal)
{
    struct context *c = begin(f);
    c->principal = str_of(principal);
    EXPECT_EQ(participant_stay_online(c, thread), OK);
    commit(f);
}

TEST(a_stream_renews_only_when_half_of_the_time_is_over)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), other = make_thread(&f);
    struct participant a = join(&f, thread, "user:a", "read");
    struct participant b = join(&f, thread, "user:b", "read");
    int64_t seq = last_event(&f, thread).seq;
    stay_online(&f, other, "user:a"); /* does not participate there */
    stay_online(&f, thread, "user:c");
    EXPECT_EQ(last_event(&f, thread).seq, seq);
    stay_online(&f, thread, "user:a");
    EXPECT_EQ(last_event(&f, thread).seq, seq + 1);
    EXPECT(sql_i64(&f, "SELECT count(*) FROM participants WHERE online_until IS NOT NULL") == 1);
    int64_t until = sql_i64(&f, "SELECT max(online_until) FROM participants");
    stay_online(&f, thread, "user:a");
    EXPECT_EQ(sql_i64(&f, "SELECT max(online_until) FROM participants"), until);
    sql_exec(&f, "UPDATE participants SET online_until = online_until - 20000000"
                 " WHERE online_until IS NOT NULL");
    stay_online(&f, thread, "user:a");
    EXPECT(sql_i64(&f, "SELECT max(online_until) FROM participants") >= until);
    EXPECT_EQ(last_event(&f, thread).seq, seq + 1); /* was online all the time */

    /* A longer heartbeat stays; a shorter one changes nothing. */
    EXPECT_EQ(participant_heartbeat(begin(&f), &a, 3600, STR_NONE), OK);
    commit(&f);
    until = sql_i64(&f, "SELECT max(online_until) FROM participants");
    stay_online(&f, thread, "user:a");
    EXPECT_EQ(participant_heartbeat(begin(&f), &a, 1, STR_NONE), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT max(online_until) FROM participants"), until);

    EXPECT_EQ(participant_leave(begin(&f), &b), OK);
    commit(&f);
    seq = last_event(&f, thread).seq;
    stay_online(&f, thread, "user:b");
    EXPECT_EQ(last_event(&f, thread).seq, seq);
    fixture_end(&f);
}

TEST(revoking_shares_in_any_order_leaves_what_was_there_before_them)
{
    for (int order = 0; order < 2; order++) {
        struct fixture f;
        fixture_begin(&f);
        struct uuid thread = make_thread(&f);
        join(&f, thread, "user:old", "read");
        struct share first = make_share(&f, thread, "read");
        struct share second = make_share(&f, thread, "read_write");
        EXPECT_EQ(redeem(&f, first.token, "user:new"), OK);
        EXPECT_EQ(redeem(&f, second.token, "user:new"), OK);
        EXPECT_EQ(redeem(&f, second.token, "user:old"), OK);
        EXPECT_EQ(access_of(&f, thread, "user:new") + access_of(&f, thread, "user:old"), 4);
        take_back(&f, order == 0 ? &first : &second);
        EXPECT_EQ(access_of(&f, thread, "user:new"), order == 0 ? 2 : 1);
        EXPECT_EQ(access_of(&f, thread, "user:old"), order == 0 ? 2 : 1);
        take_back(&f, order == 0 ? &second : &first);
        EXPECT_EQ(access_of(&f, thread, "user:new"), 0);
        EXPECT_EQ(access_of(&f, thread, "user:old"), 1);
        fixture_end(&f);
    }
}

TEST(a_token_is_stored_as_its_hash_and_one_of_another_tenant_is_unknown)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct share share = make_share(&f, thread, "read");
    struct sha256 hash = sha256_of(share.token);
    struct str hex = hex_encode(f.arena, (struct str){(const char *)hash.bytes, sizeof hash.bytes});
    EXPECT(str_eq_nocase(sql_hex(&f, "token_hash", " FROM shares"), hex));
    struct thread_copying copying = {0};
    struct redeemed redeemed;
    bool more;
    struct context *c = begin_as(&f, make_tenant(&f, "other"));
    c->principal = STR("user:a");
    EXPECT_EQ(share_redeem(c, share.token, STR_NONE, &copying, &redeemed, &more), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(redeem(&f, share.token, "user:a"), OK);
    fixture_end(&f);
}
