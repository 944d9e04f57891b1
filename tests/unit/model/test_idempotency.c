/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static const int64_t DAY_US = (int64_t)IDEMPOTENCY_HOURS * 3600 * 1000000;

static struct sha256 hash_of(uint8_t byte)
{
    struct sha256 hash = {{0}};
    hash.bytes[31] = byte;
    return hash;
}

static void store_answer(
    struct context *c, const char *route, const char *key, uint8_t request, struct str body)
{
    const struct stored_answer answer = {
        .status = 201, .headers = STR("{\"ETag\":\"1\"}"), .body = body};
    EXPECT_EQ(idempotency_store(c, str_of(route), str_of(key), hash_of(request), &answer), OK);
}

static enum error find(struct context *c, const char *route, const char *key, uint8_t request,
    struct stored_answer *out, bool *out_found)
{
    return idempotency_find(c, str_of(route), str_of(key), hash_of(request), out, out_found);
}

TEST(the_same_request_under_the_same_key_finds_its_answer)
{
    struct fixture f;
    fixture_begin(&f);
    struct stored_answer answer = {0};
    bool found = true;
    struct context *c = begin(&f);
    EXPECT_EQ(find(c, "POST /a", "k", 1, &answer, &found), OK);
    EXPECT(!found);
    store_answer(c, "POST /a", "k", 1, STR("{\"id\":1}"));
    commit(&f);
    c = begin_reading(&f);
    EXPECT_EQ(find(c, "POST /a", "k", 1, &answer, &found), OK);
    EXPECT(found);
    EXPECT_EQ(answer.status, 201);
    EXPECT_STR(answer.headers, STR("{\"ETag\":\"1\"}"));
    EXPECT_STR(answer.body, STR("{\"id\":1}"));
    commit(&f);
    fixture_end(&f);
}

TEST(another_request_under_the_same_key_is_refused)
{
    struct fixture f;
    fixture_begin(&f);
    struct stored_answer answer = {0};
    bool found = false;
    struct context *c = begin(&f);
    store_answer(c, "POST /a", "k", 1, STR("{}"));
    EXPECT_EQ(find(c, "POST /a", "k", 2, &answer, &found), ERR_KEY_REUSED);
    EXPECT_PART(
        told(&f), "the Idempotency-Key \"k\" was already used for a request with another path");
    commit(&f);
    fixture_end(&f);
}

TEST(a_key_is_scoped_to_its_route_and_its_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct stored_answer answer = {0};
    bool found = true;
    struct context *c = begin(&f);
    store_answer(c, "POST /a", "k", 1, STR("{}"));
    EXPECT_EQ(find(c, "POST /b", "k", 2, &answer, &found), OK);
    EXPECT(!found);
    context_enter(c, other);
    EXPECT_EQ(find(c, "POST /a", "k", 2, &answer, &found), OK);
    EXPECT(!found);
    commit(&f);
    fixture_end(&f);
}

TEST(an_answer_is_kept_for_a_day_and_then_makes_room)
{
    struct fixture f;
    fixture_begin(&f);
    struct stored_answer answer = {0};
    bool found = false;
    struct context *c = begin(&f);
    c->now_us = c->lease_now_us; /* the clocks agree */
    store_answer(c, "POST /a", "k", 1, STR("{\"old\":true}"));
    c->lease_now_us += DAY_US - 1;
    EXPECT_EQ(find(c, "POST /a", "k", 1, &answer, &found), OK);
    EXPECT(found);
    c->lease_now_us += 1;
    EXPECT_EQ(find(c, "POST /a", "k", 2, &answer, &found), OK);
    EXPECT(!found);
    store_answer(c, "POST /a", "k", 2, STR("{\"new\":true}"));
    EXPECT_EQ(find(c, "POST /a", "k", 2, &answer, &found), OK);
    EXPECT(found);
    EXPECT_STR(answer.body, STR("{\"new\":true}"));
    commit(&f);
    fixture_end(&f);
}

TEST(the_sweep_forgets_what_is_past_its_time)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    bool more = true;
    struct context *c = begin(&f);
    int64_t start = c->now_us = c->lease_now_us;
    store_answer(c, "POST /a", "k1", 1, STR("{}"));
    context_enter(c, other);
    store_answer(c, "POST /a", "k1", 1, STR("{}"));
    c->lease_now_us = c->now_us = start + 10;
    store_answer(c, "POST /a", "k2", 1, STR("{}"));
    commit(&f);
    /* A slow machine needs a second slice to find that nothing is left. */
    for (int slices = 0; more && slices < 2; slices++) {
        c = begin(&f);
        c->lease_now_us = start + DAY_US;
        context_enter_system(c);
        EXPECT_EQ(idempotency_sweep(c, &more), OK);
        commit(&f);
    }
    EXPECT(!more);
    /* the one that is ten microseconds younger */
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM idempotency_keys"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM idempotency_keys WHERE key = 'k2'"), 1);
    fixture_end(&f);
}

TEST(a_job_that_fails_stores_no_answer)
{
    struct fixture f;
    fixture_begin(&f);
    store_answer(begin(&f), "POST /a", "k", 1, STR("{}"));
    abandon(&f);
    struct stored_answer answer = {0};
    bool found = true;
    EXPECT_EQ(find(begin_reading(&f), "POST /a", "k", 1, &answer, &found), OK);
    EXPECT(!found);
    commit(&f);
    fixture_end(&f);
}
