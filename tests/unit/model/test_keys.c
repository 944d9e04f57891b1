/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "fixture.h"

static struct api_key make_key(struct fixture *f, struct uuid tenant_id, const char *scope)
{
    struct str *scopes = ARENA_NEW(f->arena, struct str);
    *scopes = str_of(scope);
    struct api_key key = {.name = STR("a key"), .scopes = {scopes, 1}};
    EXPECT_EQ(key_create(begin(f), tenant_id, &key), OK);
    commit(f);
    return key;
}

/* The result and the context after an attempt. */
struct attempt {
    enum error error;
    bool known;
    struct api_key key;
    struct context context;
    struct str detail;
};

static struct attempt attempt_at(struct fixture *f, struct str secret, int64_t now_us)
{
    struct attempt a = {0};
    struct context *c = begin_reading(f);
    context_enter(c, UUID_NIL);
    c->scopes = 0;
    if (now_us != 0)
        c->now_us = now_us;
    a.error = key_authenticate(c, secret, &a.key, &a.known);
    a.context = *c;
    a.detail = told(f);
    commit(f);
    return a;
}

static struct attempt attempt(struct fixture *f, struct str secret)
{
    return attempt_at(f, secret, 0);
}

TEST(a_secret_is_a_prefix_and_86_characters_and_only_its_hash_is_stored)
{
    struct fixture f;
    fixture_begin(&f);
    struct api_key key = make_key(&f, DEFAULT_TENANT_ID, "runs:read");
    EXPECT(str_starts_with(key.secret, STR("cairn_")));
    EXPECT_EQ(key.secret.len, 6 + 86);
    struct sha256 hash = sha256_of(key.secret);
    struct str hex = hex_encode(f.arena, (struct str){(const char *)hash.bytes, SHA256_LEN});
    EXPECT(str_eq_nocase(sql_hex(&f, "secret_hash", " FROM api_keys"), hex));
    struct api_key read = {0};
    EXPECT_EQ(key_get(begin_reading(&f), key.id, &read), OK);
    commit(&f);
    EXPECT(str_is_none(read.secret));
    EXPECT_STR(read.name, STR("a key"));
    EXPECT_EQ(read.scopes.count, 1);
    EXPECT_STR(read.scopes.items[0], STR("runs:read"));
    struct api_key other = make_key(&f, DEFAULT_TENANT_ID, "runs:read");
    EXPECT(!str_eq(key.secret, other.secret));
    fixture_end(&f);
}

TEST(the_holder_of_a_secret_acts_for_its_tenant_with_its_scopes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid tenant = make_tenant(&f, "acme");
    struct api_key key = make_key(&f, tenant, "admin");
    struct attempt a = attempt(&f, key.secret);
    EXPECT_EQ(a.error, OK);
    EXPECT(uuid_eq(a.context.tenant_id, tenant));
    EXPECT(uuid_eq(a.context.key_id, key.id));
    EXPECT_EQ(a.context.actor, ACTOR_KEY);
    EXPECT_EQ(a.context.scopes, scopes_effective(SCOPE_ADMIN));
    struct api_key narrow = make_key(&f, tenant, "events:read");
    EXPECT_EQ(attempt(&f, narrow.secret).context.scopes, SCOPE_EVENTS_READ);
    fixture_end(&f);
}

static void expect_garbled(struct fixture *f, struct str secret)
{
    struct attempt a = attempt(f, secret);
    if (a.error != ERR_UNAUTHENTICATED || a.known || a.context.scopes != 0)
        test_fail(__FILE__, __LINE__, "\"%.*s\" was not refused as unknown", STR_ARG(secret));
    EXPECT_STR(a.detail, STR("the API key is unknown"));
}

TEST(a_garbled_secret_is_refused_whatever_is_wrong_with_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct str good = make_key(&f, DEFAULT_TENANT_ID, "admin").secret;
    struct str body = str_slice(good, 6, good.len);
    expect_garbled(&f, STR(""));
    expect_garbled(&f, STR("cairn_"));
    expect_garbled(&f, body);
    expect_garbled(&f, arena_printf(f.arena, "Cairn_%.*s", STR_ARG(body)));
    expect_garbled(&f, str_slice(good, 0, good.len - 1));
    expect_garbled(&f, arena_printf(f.arena, "%.*sA", STR_ARG(good)));
    expect_garbled(&f, arena_printf(f.arena, "%.*s==", STR_ARG(good)));
    expect_garbled(&f, arena_printf(f.arena, " %.*s", STR_ARG(good)));
    expect_garbled(&f, arena_printf(f.arena, "%.*s%.*s", STR_ARG(good), STR_ARG(body)));
    for (size_t i = 6; i < 26; i++) { /* in the tenant's part */
        char *copy = arena_alloc(f.arena, good.len);
        memcpy(copy, good.ptr, good.len);
        copy[i] = copy[i] == 'A' ? 'B' : 'A';
        expect_garbled(&f, (struct str){copy, good.len});
        copy[i] = '*';
        expect_garbled(&f, (struct str){copy, good.len});
    }
    EXPECT_EQ(attempt(&f, good).error, OK);
    fixture_end(&f);
}

TEST(the_right_ids_with_the_wrong_secret_are_refused_and_worth_a_note)
{
    struct fixture f;
    fixture_begin(&f);
    struct api_key key = make_key(&f, DEFAULT_TENANT_ID, "admin");
    char *copy = arena_alloc(f.arena, key.secret.len);
    memcpy(copy, key.secret.ptr, key.secret.len);
    for (size_t i = 60; i < 70; i++) { /* in the random part */
        char kept = copy[i];
        copy[i] = kept == 'A' ? 'B' : 'A';
        struct attempt a = attempt(&f, (struct str){copy, key.secret.len});
        EXPECT_EQ(a.error, ERR_UNAUTHENTICATED);
        EXPECT(a.known);
        EXPECT(uuid_eq(a.context.key_id, key.id));
        EXPECT_EQ(a.context.scopes, 0);
        EXPECT_STR(a.detail, STR("the API key is unknown"));
        copy[i] = kept;
    }
    fixture_end(&f);
}

TEST(a_revoked_key_is_refused_and_stays_in_the_list)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct api_key key = make_key(&f, DEFAULT_TENANT_ID, "admin"), read = {0};
    make_key(&f, DEFAULT_TENANT_ID, "admin");
    EXPECT_EQ(key_revoke(begin(&f), key.id, &read), OK);
    EXPECT(read.is_revoked);
    commit(&f);
    struct attempt a = attempt(&f, key.secret);
    EXPECT_EQ(a.error, ERR_UNAUTHENTICATED);
    EXPECT(a.known);
    EXPECT_EQ(a.context.scopes, 0);
    EXPECT_STR(a.detail, STR("the API key was revoked"));

    struct api_key keys[4], again = {0};
    size_t n = 0;
    bool any = false;
    struct context *c = begin(&f);
    page = (struct page){.limit = 4};
    EXPECT_EQ(key_list(c, false, UUID_NIL, &page, keys), OK);
    n = page.count;
    EXPECT_EQ(n, 2);
    EXPECT_EQ(key_any(c, &any), OK);
    EXPECT(any);
    c->now_us += 1000000;
    EXPECT_EQ(key_revoke(c, key.id, &again), OK); /* once more changes nothing */
    EXPECT_EQ(again.revoked_at, read.revoked_at);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM audit_log WHERE action = 'key.revoked'"), 1);
    fixture_end(&f);
}

TEST(a_key_works_until_its_expiry_and_not_a_moment_longer)
{
    struct fixture f;
    fixture_begin(&f);
    struct str scope = STR("admin");
    struct context *c = begin(&f);
    int64_t expiry = c->now_us + 60000000;
    struct api_key key = {
        .name = STR("k"), .scopes = {&scope, 1}, .has_expires_at = true, .expires_at = expiry};
    EXPECT_EQ(key_create(c, DEFAULT_TENANT_ID, &key), OK);
    commit(&f);
    EXPECT_EQ(attempt_at(&f, key.secret, expiry - 1).error, OK);
    struct attempt late = attempt_at(&f, key.secret, expiry);
    EXPECT_EQ(late.error, ERR_KEY_EXPIRED);
    EXPECT(late.known);
    EXPECT_EQ(late.context.scopes, 0);

    c = begin(&f);
    key.expires_at = c->now_us;
    EXPECT_EQ(key_create(c, DEFAULT_TENANT_ID, &key), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/expires_at"));
    abandon(&f);
    fixture_end(&f);
}

TEST(the_scope_operator_is_for_the_default_tenant_and_from_an_operator_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid tenant = make_tenant(&f, "acme");
    struct str scopes[] = {STR("admin"), STR("operator")};
    struct api_key key = {.name = STR("k"), .scopes = {scopes, 2}};
    struct context *c = begin(&f);
    EXPECT_EQ(key_create(c, tenant, &key), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/scopes/1"));
    abandon(&f);
    c = begin(&f);
    c->scopes = scopes_effective(SCOPE_ADMIN);
    EXPECT_EQ(key_create(c, DEFAULT_TENANT_ID, &key), ERR_FORBIDDEN);
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM api_keys"), 0);
    EXPECT_EQ(key_create(begin(&f), DEFAULT_TENANT_ID, &key), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(keys_of_another_tenant_cannot_be_seen_or_revoked)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid acme = make_tenant(&f, "acme"), other = make_tenant(&f, "other");
    struct api_key key = make_key(&f, acme, "admin"), read = {0}, keys[4];
    size_t n = 9;
    struct context *c = begin_as(&f, other);
    EXPECT_EQ(key_get(c, key.id, &read), ERR_NOT_FOUND);
    EXPECT_EQ(key_revoke(c, key.id, &read), ERR_NOT_FOUND);
    page = (struct page){.limit = 4};
    EXPECT_EQ(key_list(c, false, UUID_NIL, &page, keys), OK);
    n = page.count;
    EXPECT_EQ(n, 0);
    commit(&f);
    EXPECT_EQ(attempt(&f, key.secret).error, OK);
    fixture_end(&f);
}

TEST(keys_are_listed_newest_first_page_by_page)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct api_key made[5], found[3];
    size_t n = 0;
    for (size_t i = 0; i < COUNT_OF(made); i++)
        made[i] = make_key(&f, DEFAULT_TENANT_ID, "admin");
    struct context *c = begin_reading(&f);
    page = (struct page){.limit = 3};
    EXPECT_EQ(key_list(c, false, UUID_NIL, &page, found), OK);
    n = page.count;
    EXPECT_EQ(n, 3);
    EXPECT(uuid_eq(found[0].id, made[4].id));
    page = (struct page){.limit = 3};
    EXPECT_EQ(key_list(c, true, found[2].id, &page, found), OK);
    n = page.count;
    EXPECT_EQ(n, 2);
    EXPECT(uuid_eq(found[0].id, made[1].id));
    EXPECT(uuid_eq(found[1].id, made[0].id));
    commit(&f);
    fixture_end(&f);
}

/* --- The first key -------------------------------------------------------------------------- */

static enum error make_first(struct fixture *f, const char *scope, bool expires)
{
    struct str scopes[] = {str_of(scope)};
    struct api_key key = {.name = STR("first"), .scopes = {scopes, 1}, .has_expires_at = expires};
    struct context *c = begin(f);
    c->actor = ACTOR_OPEN;
    key.expires_at = c->now_us + 1000000;
    enum error e = key_create(c, DEFAULT_TENANT_ID, &key);
    abandon(f);
    return e;
}

TEST(the_first_key_must_be_able_to_make_the_others)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(make_first(&f, "runs:write", false), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/scopes"));
    EXPECT_EQ(make_first(&f, "admin", false), ERR_INVALID); /* it could never make an operator */
    EXPECT_STR(f.problem.faults[0].pointer, STR("/scopes"));
    EXPECT_EQ(make_first(&f, "operator", true), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/expires_at"));
    EXPECT_EQ(make_first(&f, "operator", false), OK);
    fixture_end(&f);
}

static enum error revoke_as(struct fixture *f, struct uuid id, unsigned scopes)
{
    struct api_key key = {0};
    struct context *c = begin(f);
    c->scopes = scopes_effective(scopes);
    enum error e = key_revoke(c, id, &key);
    if (e == OK)
        commit(f);
    else
        abandon(f);
    return e;
}

TEST(the_last_key_that_could_make_another_cannot_be_revoked)
{
    struct fixture f;
    fixture_begin(&f);
    struct api_key keeper = make_key(&f, DEFAULT_TENANT_ID, "operator"),
                   admin = make_key(&f, DEFAULT_TENANT_ID, "admin"),
                   weak = make_key(&f, DEFAULT_TENANT_ID, "runs:read");
    EXPECT_EQ(revoke_as(&f, keeper.id, SCOPE_ADMIN), ERR_FORBIDDEN);
    EXPECT_EQ(revoke_as(&f, keeper.id, SCOPE_OPERATOR), ERR_CONFLICT); /* an admin is not enough */
    EXPECT_EQ(revoke_as(&f, weak.id, SCOPE_ADMIN), OK);
    EXPECT_EQ(revoke_as(&f, admin.id, SCOPE_ADMIN), OK); /* the operator is more than that */
    EXPECT_EQ(revoke_as(&f, keeper.id, SCOPE_OPERATOR), ERR_CONFLICT);
    EXPECT_PART(f.problem.detail, "the last key without an expiry that has the scope operator");
    fixture_end(&f);
}

TEST(a_key_that_will_expire_does_not_count_as_another)
{
    struct fixture f;
    fixture_begin(&f);
    struct str scope = STR("admin");
    struct api_key lasting = make_key(&f, DEFAULT_TENANT_ID, "admin");
    struct api_key passing = {.name = STR("p"), .scopes = {&scope, 1}, .has_expires_at = true};
    struct context *c = begin(&f);
    passing.expires_at = c->now_us + 1000000;
    EXPECT_EQ(key_create(c, DEFAULT_TENANT_ID, &passing), OK);
    commit(&f);
    EXPECT_EQ(revoke_as(&f, lasting.id, SCOPE_ADMIN), ERR_CONFLICT);
    fixture_end(&f);
}

TEST(a_bit_that_changed_in_the_hash_of_a_secret_lets_nobody_in)
{
    struct fixture f;
    fixture_begin(&f);
    struct api_key key = make_key(&f, DEFAULT_TENANT_ID, "admin");
    struct str hex = sql_hex(&f, "secret_hash", " FROM api_keys");
    for (size_t i = 0; i <= hex.len; i += 8) {
        char *digits = arena_alloc(f.arena, hex.len);
        memcpy(digits, hex.ptr, hex.len);
        if (i < hex.len)
            digits[i] = digits[i] == '0' ? '1' : '0';
        sql_exec(&f,
            arena_cstr(f.arena, arena_printf(f.arena, "UPDATE api_keys SET secret_hash = %s%.*s'",
                                    on_postgres() ? "'\\x" : "x'", (int)hex.len, digits)));
        EXPECT_EQ(attempt_at(&f, key.secret, 0).error, i < hex.len ? ERR_UNAUTHENTICATED : OK);
    }
    fixture_end(&f);
}
