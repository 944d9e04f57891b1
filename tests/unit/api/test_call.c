/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/answer.h"
#include "api/http/known_keys.h"
#include "base/parsed.h"
#include "fixture.h"

static void expect_problem(struct fixture *f, struct call *call, int status, const char *code)
{
    EXPECT_EQ(call->answer.status, status);
    EXPECT_STR(call->answer.content_type, STR("application/problem+json"));
    EXPECT_STR(answer_member(f, call, "code"), str_of(code));
    EXPECT_STR(answer_member(f, call, "request_id"), call->request.id);
    EXPECT_EQ(json_type(parsed(f->arena, buf_str(&call->answer.body))), JSON_OBJECT);
}

/* --- Routing and decoding ------------------------------------------------------------------- */

TEST(an_unknown_path_and_a_wrong_method_are_told_apart)
{
    struct fixture f;
    fixture_begin(&f);
    expect_problem(&f, ask(&f, "GET", "/v1/nothing", NULL), 404, "no_route");
    struct call *call = ask(&f, "PUT", "/v1/threads", NULL);
    expect_problem(&f, call, 405, "method_not_allowed");
    EXPECT_STR(answer_header(call, "Allow"), STR("POST, GET, HEAD"));
    fixture_end(&f);
}

TEST(a_path_parameter_must_be_an_id)
{
    struct fixture f;
    fixture_begin(&f);
    struct call *call = ask(&f, "GET", "/v1/threads/42", NULL);
    expect_problem(&f, call, 422, "invalid_input");
    EXPECT_STR(answer_member(&f, call, "errors"),
        STR("[{\"pointer\":\"thread_id\",\"detail\":\"must be a UUID\"}]"));
    fixture_end(&f);
}

TEST(a_body_that_is_not_what_the_route_takes_is_refused_and_changes_nothing)
{
    static const struct {
        const char *body, *code;
        int status;
    } cases[] = {
        {"{", "invalid_json", 400},
        {"{\"title\":\"a\",\"title\":\"b\"}", "invalid_json", 400},
        {"[]", "invalid_input", 422},
        {"{\"unknown\":1}", "invalid_input", 422},
        {"{\"title\":5}", "invalid_input", 422},
        {"{\"status\":\"asleep\"}", "invalid_input", 422},
        {"{\"status\":\"paused\"}", "invalid_input", 422},
        {"{\"context\":\"text\"}", "invalid_input", 422},
    };
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_problem(
            &f, ask(&f, "POST", "/v1/threads", cases[i].body), cases[i].status, cases[i].code);
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM threads"), 0);
    fixture_end(&f);
}

TEST(media_types_are_checked)
{
    struct fixture f;
    fixture_begin(&f);
    static const struct {
        const char *type;
        int status;
    } cases[] = {{"application/json", 201}, {"Application/JSON; charset=utf-8", 201},
        {"text/plain", 415}, {"application/merge-patch+json", 415}, {"", 415}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct http_request *r = make_request(&f, "POST", "/v1/threads");
        add_header(r, "Content-Type", str_of(cases[i].type));
        EXPECT_EQ(carry_out(&f, r, "{}")->answer.status, cases[i].status);
    }
    fixture_end(&f);
}

TEST(every_fault_of_query_and_body_is_told_together)
{
    struct fixture f;
    fixture_begin(&f);
    struct call *call = ask(&f, "POST", "/v1/runs/claim?wait=61&x=1", "{\"lease_ms\":\"x\"}");
    expect_problem(&f, call, 422, "invalid_input");
    EXPECT(json_count(parsed(f.arena, answer_member(&f, call, "errors"))) >= 3);
    fixture_end(&f);
}

/* --- Answers -------------------------------------------------------------------------------- */

TEST(an_object_is_answered_with_its_etag_and_not_at_all_when_it_is_known)
{
    struct fixture f;
    fixture_begin(&f);
    struct call *made = ask(&f, "POST", "/v1/threads", "{\"title\":\"one\"}");
    EXPECT_EQ(made->answer.status, 201);
    EXPECT_STR(answer_header(made, "ETag"), STR("\"1\""));
    struct str target =
        arena_printf(f.arena, "/v1/threads/%.*s", STR_ARG(answer_member(&f, made, "id")));
    struct http_request *r = make_request(&f, "GET", arena_cstr(f.arena, target));
    add_header(r, "If-None-Match", STR("\"0\", \"1\""));
    struct call *known = carry_out(&f, r, NULL);
    EXPECT_EQ(known->answer.status, 304);
    EXPECT_EQ(known->answer.body.len, 0);
    fixture_end(&f);
}

TEST(a_list_is_paged_by_its_cursor)
{
    struct fixture f;
    fixture_begin(&f);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(ask(&f, "POST", "/v1/threads", NULL)->answer.status, 201);
    struct call *first = ask(&f, "GET", "/v1/threads?limit=2", NULL);
    EXPECT_EQ(json_count(parsed(f.arena, answer_member(&f, first, "data"))), 2);
    EXPECT_STR(answer_member(&f, first, "has_more"), STR("true"));
    struct str cursor = answer_member(&f, first, "next_cursor");
    struct str target = arena_printf(f.arena, "/v1/threads?limit=2&cursor=%.*s", STR_ARG(cursor));
    struct call *second = ask(&f, "GET", arena_cstr(f.arena, target), NULL);
    EXPECT_EQ(json_count(parsed(f.arena, answer_member(&f, second, "data"))), 1);
    EXPECT_STR(answer_member(&f, second, "has_more"), STR("false"));
    EXPECT_STR(answer_member(&f, second, "next_cursor"), STR("null"));
    expect_problem(&f, ask(&f, "GET", "/v1/threads?cursor=x", NULL), 400, "invalid_cursor");
    expect_problem(&f, ask(&f, "GET", "/v1/threads?limit=0", NULL), 422, "invalid_input");
    expect_problem(&f, ask(&f, "GET", "/v1/threads?limit=201", NULL), 422, "invalid_input");
    fixture_end(&f);
}

TEST(a_problem_document_holds_what_rfc_9457_and_cairn_promise)
{
    struct fixture f;
    fixture_begin(&f);
    struct problem problem;
    problem_init(&problem, f.arena);
    problem_set(&problem, ERR_UNAVAILABLE, "try later");
    problem.extension = STR("{\"extra\":[1]}");
    EXPECT_STR(answer_problem(f.arena, &problem, STR("r1"), 503),
        STR("{\"type\":\"urn:cairn:error:unavailable\",\"title\":\"Cairn is unavailable\","
            "\"status\":503,\"code\":\"unavailable\",\"detail\":\"try "
            "later\",\"request_id\":\"r1\","
            "\"retryable\":true,\"extra\":[1]}"));
    fixture_end(&f);
}

/* --- Before the handler --------------------------------------------------------------------- */

/* Makes a key by the API and returns its secret. */
static struct str make_key(struct fixture *f, struct str by, const char *body)
{
    struct call *call = str_is_none(by) ? ask(f, "POST", "/v1/keys", body)
                                        : ask_as(f, by, "POST", "/v1/keys", body);
    EXPECT_EQ(call->answer.status, 201);
    return answer_member(f, call, "secret");
}

TEST(the_server_is_open_until_the_first_key_is_made)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(ask(&f, "GET", "/v1/threads", NULL)->answer.status, 200);
    struct str secret = make_key(&f, STR_NONE, "{\"name\":\"first\",\"scopes\":[\"operator\"]}");
    struct call *refused = ask(&f, "GET", "/v1/threads", NULL);
    expect_problem(&f, refused, 401, "unauthenticated");
    EXPECT_STR(answer_header(refused, "WWW-Authenticate"), STR("Bearer realm=\"cairn\""));
    EXPECT_EQ(ask_as(&f, secret, "GET", "/v1/threads", NULL)->answer.status, 200);
    expect_problem(
        &f, ask_as(&f, STR("cairn_x"), "GET", "/v1/threads", NULL), 401, "unauthenticated");
    EXPECT_EQ(ask(&f, "GET", "/readyz", NULL)->answer.status, 200); /* this one needs none */
    fixture_end(&f);
}

TEST(a_server_that_may_not_be_open_asks_for_a_key_from_the_start)
{
    struct fixture f;
    fixture_begin(&f);
    f.api.may_be_open = false;
    expect_problem(&f, ask(&f, "GET", "/v1/threads", NULL), 401, "unauthenticated");
    fixture_end(&f);
}

TEST(a_malformed_authorization_is_refused_even_while_the_server_is_open)
{
    struct fixture f;
    fixture_begin(&f);
    struct http_request *r = make_request(&f, "GET", "/v1/threads");
    add_header(r, "Authorization", STR("Basic dXNlcjpwYXNz"));
    expect_problem(&f, carry_out(&f, r, NULL), 401, "unauthenticated");
    fixture_end(&f);
}

TEST(a_request_without_a_key_is_accounted_to_a_tenant_only_while_the_server_is_open)
{
    struct fixture f;
    fixture_begin(&f);
    uint64_t tenant = tenant_flow(DEFAULT_TENANT_ID);
    EXPECT(ask(&f, "GET", "/v1/threads", NULL)->job.flow != tenant);
    EXPECT_EQ(ask(&f, "GET", "/v1/threads", NULL)->job.flow, tenant);
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    EXPECT_EQ(ask(&f, "GET", "/v1/threads", NULL)->answer.status, 401);
    struct call *refused = ask(&f, "GET", "/v1/threads", NULL);
    EXPECT_EQ(refused->answer.status, 401);
    EXPECT(refused->job.flow != tenant);
    EXPECT(ask(&f, "GET", "/readyz", NULL)->job.flow != refused->job.flow);
    EXPECT_EQ(ask_as(&f, root, "GET", "/v1/threads", NULL)->job.flow, refused->job.flow);
    EXPECT_EQ(ask_as(&f, root, "GET", "/v1/threads", NULL)->job.flow, tenant);
    fixture_end(&f);
}

TEST(a_bad_request_is_told_only_to_who_may_make_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    struct str reader = make_key(&f, root, "{\"name\":\"reader\",\"scopes\":[\"threads:read\"]}");
    expect_problem(&f, ask(&f, "POST", "/v1/threads", "{"), 401, "unauthenticated");
    expect_problem(&f, ask_as(&f, reader, "POST", "/v1/threads", "{"), 403, "forbidden");
    expect_problem(&f, ask_as(&f, root, "POST", "/v1/threads", "{"), 400, "invalid_json");
    fixture_end(&f);
}

TEST(a_key_with_a_limit_is_told_what_remains_and_when_to_come_back)
{
    struct fixture f;
    fixture_begin(&f);
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    struct str slow = make_key(
        &f, root, "{\"name\":\"slow\",\"scopes\":[\"threads:read\"],\"rate_limit_per_minute\":2}");
    struct call *call = ask_as(&f, slow, "GET", "/v1/threads", NULL);
    EXPECT_EQ(call->answer.status, 200);
    EXPECT_STR(answer_header(call, "RateLimit-Policy"), STR("\"key\";q=2;w=60"));
    EXPECT_STR(answer_header(call, "RateLimit"), STR("\"key\";r=1;t=30"));
    EXPECT_EQ(ask_as(&f, slow, "GET", "/v1/threads", NULL)->answer.status, 200);
    call = ask_as(&f, slow, "GET", "/v1/threads", NULL);
    expect_problem(&f, call, 429, "rate_limited");
    EXPECT_STR(answer_header(call, "Retry-After"), STR("30"));
    fixture_end(&f);
}

static struct call *post_under(struct fixture *f, const char *key, const char *body)
{
    struct http_request *r = make_request(f, "POST", "/v1/threads");
    add_header(r, "Idempotency-Key", str_of(key));
    return carry_out(f, r, body);
}

TEST(a_repeated_post_under_one_key_is_answered_from_memory)
{
    struct fixture f;
    fixture_begin(&f);
    struct call *first = post_under(&f, "k1", "{\"title\":\"once\"}");
    struct call *again = post_under(&f, "k1", "{\"title\":\"once\"}");
    EXPECT_EQ(first->answer.status, 201);
    EXPECT_EQ(again->answer.status, 201);
    EXPECT_STR(buf_str(&again->answer.body), buf_str(&first->answer.body));
    EXPECT_STR(answer_header(again, "ETag"), answer_header(first, "ETag"));
    EXPECT_STR(answer_header(again, "Idempotency-Replayed"), STR("true"));
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM threads"), 1);
    expect_problem(
        &f, post_under(&f, "k1", "{\"title\":\"twice\"}"), 422, "idempotency_key_reused");
    expect_problem(&f, post_under(&f, "has blank", "{}"), 422, "invalid_input");
    fixture_end(&f);
}

TEST(the_replay_of_a_new_key_does_not_show_its_secret_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct str root = make_key(&f, STR_NONE, "{\"name\":\"root\",\"scopes\":[\"operator\"]}");
    struct str bearer = arena_printf(f.arena, "Bearer %.*s", STR_ARG(root));
    struct str secrets[2];
    for (size_t i = 0; i < 2; i++) {
        struct http_request *r = make_request(&f, "POST", "/v1/keys");
        add_header(r, "Authorization", bearer);
        add_header(r, "Idempotency-Key", STR("k"));
        struct call *call = carry_out(&f, r, "{\"name\":\"x\",\"scopes\":[\"admin\"]}");
        EXPECT_EQ(call->answer.status, 201);
        secrets[i] = answer_member(&f, call, "secret");
    }
    EXPECT(str_starts_with(secrets[0], STR("cairn_")));
    EXPECT(!str_starts_with(secrets[1], STR("cairn_")));
    EXPECT_EQ(scratch_i64(&f.scratch,
                  "SELECT count(*) FROM idempotency_keys WHERE body LIKE '%\"cairn!_%' ESCAPE '!'"),
        0);
    fixture_end(&f);
}

TEST(if_match_must_name_the_version_that_is_there)
{
    static const struct {
        const char *tag;
        int status;
    } cases[] = {{"\"9\"", 412}, {"1", 412}, {"W/\"1\"", 412}, {"\"x\"", 412}, {"\"\"", 412},
        {"*", 200}, {"\"2\"", 200}};
    struct fixture f;
    fixture_begin(&f);
    struct call *made = ask(&f, "POST", "/v1/threads", NULL);
    const char *target = arena_cstr(
        f.arena, arena_printf(f.arena, "/v1/threads/%.*s", STR_ARG(answer_member(&f, made, "id"))));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct http_request *r = make_request(&f, "PATCH", target);
        add_header(r, "If-Match", str_of(cases[i].tag));
        struct call *call = carry_out(&f, r, "{\"title\":\"x\"}");
        if (call->answer.status != cases[i].status)
            test_fail(
                __FILE__, __LINE__, "If-Match: %s gives %d", cases[i].tag, call->answer.status);
    }
    fixture_end(&f);
}

TEST(a_request_id_is_repeated_when_it_is_safe_and_made_when_it_is_not)
{
    struct fixture f;
    fixture_begin(&f);
    static const char *const bad[] = {
        "", "has blank", "quote\"", "back\\slash", "\x7f", "\xc3\xa9"};
    struct http_request *good = make_request(&f, "GET", "/healthz");
    add_header(good, "X-Request-Id", STR("trace-42"));
    EXPECT_STR(request_read_id(f.arena, good), STR("trace-42"));
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct http_request *r = make_request(&f, "GET", "/healthz");
        add_header(r, "X-Request-Id", str_of(bad[i]));
        EXPECT_EQ(request_read_id(f.arena, r).len, UUID_TEXT_LEN);
    }
    fixture_end(&f);
}

TEST(a_secret_comes_in_authorization_or_as_a_protocol_of_a_websocket)
{
    static const struct {
        const char *header, *value, *secret;
    } cases[] = {
        {"Authorization", "Bearer cairn_x", "cairn_x"},
        {"authorization", "bearer   cairn_x ", "cairn_x"},
        {"Authorization", "Basic cairn_x", ""},
        {"Authorization", "Bearer", ""},
        {"Sec-WebSocket-Protocol", "cairn.v1, bearer.cairn_x", "cairn_x"},
        {"Sec-WebSocket-Protocol", "cairn.v1", NULL},
    };
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct http_request *r = make_request(&f, "GET", "/v1/events/ws");
        add_header(r, cases[i].header, str_of(cases[i].value));
        struct str secret = request_read_secret(r);
        EXPECT_STR(secret, str_of(cases[i].secret));
        EXPECT_EQ(str_is_none(secret), cases[i].secret == NULL);
    }
    fixture_end(&f);
}

/* At every point where memory can run out, the call answers or changes nothing. */
TEST(a_call_that_needs_too_much_memory_is_refused_and_changes_nothing)
{
    struct fixture f;
    fixture_begin(&f);
    for (f.budget_bytes = 256;; f.budget_bytes += 256) {
        struct call *call = ask(&f, "POST", "/v1/threads", "{\"title\":\"x\"}");
        int64_t made = scratch_i64(&f.scratch, "SELECT count(*) FROM threads");
        EXPECT_EQ(made, call->answer.status == 201);
        if (made > 0)
            break;
        EXPECT(call->answer.status == 413 || call->answer.status == 422);
    }
    fixture_end(&f);
}
