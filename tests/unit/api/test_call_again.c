/* SPDX-License-Identifier: Apache-2.0 */
/* A store that others write to may run a job several times before it is done. */
#include "fixture.h"

enum { TIMES = 5 };

struct again {
    struct call *call;
    enum error results[TIMES];
    size_t used_bytes[TIMES];
    size_t n_headers[TIMES];
    size_t out_bytes[TIMES];
};

/* Runs the call's job over and over in one transaction, which is undone at the end. */
static enum error run_again(void *data, struct tx *tx)
{
    struct again *a = data;
    for (size_t i = 0; i < TIMES; i++) {
        a->results[i] = a->call->job.run(&a->call->job, tx);
        a->used_bytes[i] = a->call->arena->used_bytes;
        a->n_headers[i] = a->call->answer.n_headers;
        a->out_bytes[i] = a->call->answer.body.len;
    }
    return ERR_CONFLICT;
}

static void expect_the_same_each_time(struct fixture *f, struct call *call, enum error result)
{
    struct again a = {.call = call};
    enum store_mode mode = call->job.mode == STORE_WRITE ? STORE_WRITE : STORE_READ;
    EXPECT_EQ(store_call(f->api.store, mode, run_again, &a), ERR_CONFLICT);
    for (size_t i = 0; i < TIMES; i++) {
        EXPECT_EQ(a.results[i], result);
        EXPECT_EQ(a.n_headers[i], a.n_headers[0]);
        EXPECT_EQ(a.out_bytes[i], a.out_bytes[0]);
        EXPECT_EQ(a.used_bytes[i], a.used_bytes[0]);
    }
}

static struct str make_key(struct fixture *f, struct str secret, const char *body)
{
    struct call *call = str_is_none(secret) ? ask(f, "POST", "/v1/keys", body)
                                            : ask_as(f, secret, "POST", "/v1/keys", body);
    EXPECT_EQ(call->answer.status, 201);
    return answer_member(f, call, "secret");
}

TEST(a_write_that_runs_again_starts_over)
{
    struct fixture f;
    fixture_begin(&f);
    struct http_request *r = make_request(&f, "POST", "/v1/threads");
    add_header(r, "Cairn-Consistency", STR("eventual")); /* means nothing to a write */
    struct call *call = carry_out(&f, r, "{\"title\":\"x\",\"metadata\":{\"a\":1}}");
    EXPECT_EQ(call->answer.status, 201);
    EXPECT_EQ(call->job.mode, STORE_WRITE);
    expect_the_same_each_time(&f, call, OK);
    EXPECT_EQ(call->answer.status, 201);
    EXPECT_STR(answer_member(&f, call, "title"), STR("x"));
    EXPECT_STR(answer_header(call, "ETag"), STR("\"1\""));
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM threads"), 1);
    fixture_end(&f);
}

TEST(a_new_key_is_made_from_the_request_alone_each_time)
{
    struct fixture f;
    fixture_begin(&f);
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    struct call *call =
        ask_as(&f, root, "POST", "/v1/keys", "{\"name\":\"x\",\"scopes\":[\"admin\"]}");
    struct str before = arena_str(f.arena, answer_member(&f, call, "secret"));
    expect_the_same_each_time(&f, call, OK);
    struct str after = answer_member(&f, call, "secret");
    EXPECT(str_starts_with(after, STR("cairn_")) && !str_eq(before, after));
    EXPECT(call->answer.replay.len > 0 && call->answer.replay.len < 2 * call->answer.body.len);
    fixture_end(&f);
}

TEST(a_bad_request_stays_the_same_bad_request)
{
    struct fixture f;
    fixture_begin(&f);
    struct call *call = ask(&f, "POST", "/v1/threads?no=1", "{\"titel\":\"x\"}");
    EXPECT_EQ(call->answer.status, 422);
    struct call *unparsed = ask(&f, "POST", "/v1/threads", "{");
    EXPECT_EQ(unparsed->answer.status, 400);
    expect_the_same_each_time(&f, call, ERR_INVALID);
    EXPECT_EQ(call->problem.n_faults, 2);
    expect_the_same_each_time(&f, unparsed, ERR_BAD_JSON);
    EXPECT(str_starts_with(unparsed->problem.detail, STR("byte 1 of the body")));
    fixture_end(&f);
}

TEST(a_request_that_runs_again_counts_once)
{
    struct fixture f;
    fixture_begin(&f);
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    struct str slow = make_key(
        &f, root, "{\"name\":\"slow\",\"scopes\":[\"threads:read\"],\"rate_limit_per_minute\":2}");
    struct call *call = ask_as(&f, slow, "GET", "/v1/threads", NULL);
    expect_the_same_each_time(&f, call, OK);
    EXPECT_EQ(call->answer.n_headers, 2);
    EXPECT_EQ(ask_as(&f, slow, "GET", "/v1/threads", NULL)->answer.status, 200);
    fixture_end(&f);
}

TEST(a_refused_scope_is_noted_once_the_call_is_finished)
{
    struct fixture f;
    fixture_begin(&f);
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    struct str reader = make_key(&f, root, "{\"name\":\"r\",\"scopes\":[\"threads:read\"]}");
    struct call *call = ask_as(&f, reader, "POST", "/v1/threads", "{}");
    EXPECT_EQ(call->answer.status, 403);
    expect_the_same_each_time(&f, call, ERR_FORBIDDEN);
    EXPECT_EQ(ask_as(&f, reader, "POST", "/v1/threads", "{}")->answer.status, 403);
    EXPECT_EQ(
        ask_as(&f, root, "POST", "/v1/threads", "{}")->answer.status, 201); /* a write behind it */
    EXPECT_EQ(
        scratch_i64(&f.scratch, "SELECT count(*) FROM audit_log WHERE action = 'scope.refused'"),
        1);
    fixture_end(&f);
}

/* --- The connection of a job ------------------------------------------------------------------ */

TEST(calls_about_one_thread_or_under_one_key_go_the_same_way)
{
    struct fixture f;
    fixture_begin(&f);
    static const char first[] = "/v1/threads/018f0000-0000-7000-8000-0000000000aa";
    struct call *read = ask(&f, "PATCH", first, "{}");
    struct call *same = ask(&f, "POST", "/workflow/pause/018f0000-0000-7000-8000-0000000000aa", "");
    struct call *other = ask(&f, "PATCH", "/v1/threads/018f0000-0000-7000-8000-0000000000ab", "{}");
    EXPECT(read->job.affinity != 0);
    EXPECT(read->job.affinity == same->job.affinity);
    EXPECT(read->job.affinity != other->job.affinity);
    EXPECT_EQ(ask(&f, "POST", "/v1/threads", "{}")->job.affinity, 0);
    uint64_t under_key[2];
    for (size_t i = 0; i < 2; i++) {
        struct http_request *r = make_request(&f, "POST", "/v1/threads");
        add_header(r, "Idempotency-Key", STR("k"));
        under_key[i] = carry_out(&f, r, "{}")->job.affinity;
    }
    EXPECT(under_key[0] != 0 && under_key[0] == under_key[1]);
    fixture_end(&f);
}

static struct call *get_with(
    struct fixture *f, struct str secret, const char *target, const char *consistency)
{
    struct http_request *r = make_request(f, "GET", target);
    add_header(r, "Authorization", arena_printf(f->arena, "Bearer %.*s", STR_ARG(secret)));
    add_header(r, "Cairn-Consistency", str_of(consistency));
    return carry_out(f, r, NULL);
}

TEST(a_replica_answers_only_who_asks_for_it_and_only_where_order_does_not_matter)
{
    struct fixture f;
    fixture_begin(&f);
    struct http_request *open = make_request(&f, "GET", "/v1/threads");
    add_header(open, "Cairn-Consistency", STR("eventual"));
    EXPECT_EQ(carry_out(&f, open, NULL)->job.mode, STORE_READ); /* no key: the first ends that */
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    EXPECT_EQ(get_with(&f, root, "/v1/threads", "eventual")->job.mode, STORE_READ_STALE);
    EXPECT_EQ(get_with(&f, root, "/v1/threads", "strong")->job.mode, STORE_READ);
    EXPECT_EQ(ask_as(&f, root, "GET", "/v1/threads", NULL)->job.mode, STORE_READ);
    static const char *const strong[] = {"/v1/events", "/v1/events/stream", "/v1/keys",
        "/v1/whoami", "/v1/threads/018f0000-0000-7000-8000-0000000000aa/events"};
    for (size_t i = 0; i < COUNT_OF(strong); i++)
        EXPECT_EQ(get_with(&f, root, strong[i], "eventual")->job.mode, STORE_READ);
    struct call *unknown = get_with(&f, STR("cairn_x"), "/v1/threads", "eventual");
    EXPECT_EQ(unknown->answer.status, 401);
    EXPECT_EQ(unknown->job.mode, STORE_READ); /* the replica may not know the key yet */
    struct call *bad = get_with(&f, root, "/v1/events", "weak");
    EXPECT_EQ(bad->answer.status, 422);
    EXPECT_STR(answer_member(&f, bad, "errors"),
        STR("[{\"pointer\":\"Cairn-Consistency\",\"detail\":\"must be strong or eventual\"}]"));
    fixture_end(&f);
}

/* --- Refusals of the store ------------------------------------------------------------------ */

TEST(what_the_store_refuses_has_words_and_none_of_the_answers_headers)
{
    struct fixture f;
    fixture_begin(&f);
    struct call *call = ask(&f, "POST", "/v1/threads", "{}");
    EXPECT_STR(answer_header(call, "ETag"), STR("\"1\""));
    call_refuse(call, ERR_OUTCOME_UNKNOWN);
    EXPECT_EQ(call->answer.status, 503);
    EXPECT(str_is_none(answer_header(call, "ETag")));
    EXPECT_STR(answer_member(&f, call, "code"), STR("outcome_unknown"));
    /* Without an Idempotency-Key it would be done twice. */
    EXPECT(str_is_none(answer_header(call, "Retry-After")));
    EXPECT_STR(answer_member(&f, call, "retryable"), STR("false"));
    EXPECT(strstr(arena_cstr(f.arena, answer_member(&f, call, "detail")), "Idempotency-Key"));
    fixture_end(&f);
}
