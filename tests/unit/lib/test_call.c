/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "fixture.h"

TEST(a_call_is_answered_with_status_headers_and_body)
{
    struct fixture f;
    fixture_begin(&f);
    const char *const headers[] = {"X-Request-Id: one", "Idempotency-Key:k1", NULL};
    cairn_answer *a = cairn_call(f.c, "POST", "/v1/threads", headers, "{\"title\":\"one\"}", 15);
    size_t len = 0;
    EXPECT_EQ(cairn_answer_status(a), 201);
    EXPECT_PART(str_of(cairn_answer_body(a, &len)), "\"title\":\"one\"");
    EXPECT_EQ(len, strlen(cairn_answer_body(a, NULL)));
    EXPECT_STR(str_of(cairn_answer_header(a, "x-request-id")), STR("one"));
    EXPECT_STR(str_of(cairn_answer_header(a, "ETag")), STR("\"1\""));
    EXPECT(cairn_answer_header(a, "Idempotency-Replayed") == NULL);
    const char *value = NULL, *name = cairn_answer_header_at(a, 0, &value);
    EXPECT_STR(str_of(name), STR("Cairn-Version"));
    EXPECT_STR(str_of(value), str_of(cairn_version()));
    EXPECT(cairn_answer_header_at(a, 99, &value) == NULL);
    cairn_answer *again =
        cairn_call(f.c, "POST", "/v1/threads", headers, "{\"title\":\"one\"}", 15);
    EXPECT_STR(str_of(cairn_answer_header(again, "Idempotency-Replayed")), STR("true"));
    EXPECT_STR(str_of(cairn_answer_body(again, NULL)), str_of(cairn_answer_body(a, NULL)));
    cairn_answer_free(a);
    cairn_answer_free(again);
    cairn_answer_free(NULL);
    fixture_end(&f);
}

TEST(answers_without_a_body_have_an_empty_one)
{
    struct fixture f;
    fixture_begin(&f);
    const char *thread = format(f.arena, "/v1/threads/%s", make_thread(&f));
    EXPECT_STR(ask(&f, "HEAD", thread, NULL).body, STR(""));
    const char *const same[] = {"If-None-Match: \"1\"", NULL};
    cairn_answer *a = cairn_call(f.c, "GET", thread, same, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 304);
    EXPECT_STR(str_of(cairn_answer_body(a, NULL)), STR(""));
    cairn_answer_free(a);
    struct reply r = ask(&f, "DELETE", thread, NULL);
    EXPECT_EQ(r.status, 204);
    EXPECT_STR(r.body, STR(""));
    fixture_end(&f);
}

/* --- Malformed requests --------------------------------------------------------------------- */

static void expect_refusal(struct fixture *f, const char *method, const char *target,
    const char *header, int status, const char *rule)
{
    const char *const headers[] = {header, NULL};
    cairn_answer *a = cairn_call(f->c, method, target, headers, NULL, 0);
    struct str body = str_of(cairn_answer_body(a, NULL));
    EXPECT_EQ(cairn_answer_status(a), status);
    EXPECT_STR(str_of(cairn_answer_header(a, "Content-Type")), STR("application/problem+json"));
    EXPECT_PART(member(f->arena, body, "detail"), rule);
    cairn_answer_free(a);
}

TEST(what_is_no_request_of_http_is_none_here_either)
{
    struct fixture f;
    fixture_begin(&f);
    char *long_path = arena_alloc(f.arena, 64 * 1024 + 1);
    memset(long_path, 'a', 64 * 1024);
    long_path[0] = '/';
    long_path[64 * 1024] = '\0';
    expect_refusal(&f, "GE T", "/v1/threads", NULL, 400, "the version must be");
    expect_refusal(&f, "", "/v1/threads", NULL, 400, "the method must be a short token");
    expect_refusal(&f, "GET", "v1/threads", NULL, 400, "begins with '/'");
    expect_refusal(&f, "GET", "/v1/th reads", NULL, 400, "the version must be");
    expect_refusal(&f, "GET", "/v1/threads\r\nX: y", NULL, 400, "control characters");
    expect_refusal(&f, "GET", "/v1/threads", "X: y\r\nHost: z", 400, "control characters");
    expect_refusal(&f, "GET", "/v1/threads", "X y", 400, "a token, a colon and a value");
    expect_refusal(&f, "GET", "/v1/threads", "Host: other", 400, "exactly one Host");
    expect_refusal(&f, "GET", "/v1/threads", " X: y", 400, "folded");
    expect_refusal(&f, "GET", "/v1/threads", "X: y\n", 400, "control characters");
    expect_refusal(&f, "GET", "/v1/threads", "\r\n", 400, "control characters");
    expect_refusal(&f, "GET", "/v1/threads", "", 400, "a header must not be empty");
    expect_refusal(&f, "GET", long_path, NULL, 414, "too long");
    expect_refusal(&f, "GET", "/healthz", format(f.arena, "X:%s", long_path), 431, "too large");
    fixture_end(&f);
}

TEST(a_request_that_is_refused_closes_no_descriptor_of_the_host)
{
    struct fixture f;
    fixture_begin(&f);
    int spare = open("/dev/null", O_RDONLY | O_CLOEXEC); /* becomes 0 where that is free */
    if (spare > 0 && fcntl(0, F_GETFD) < 0)
        EXPECT_EQ(dup2(spare, 0), 0);
    cairn_answer *a = cairn_call(f.c, "GET", "/v1/threads\r\n", NULL, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 400);
    cairn_answer_free(a);
    EXPECT(fcntl(0, F_GETFD) >= 0);
    if (spare > 0)
        close(spare);
    fixture_end(&f);
}

/* An empty line would end the head, and hide the headers after it: a condition, or a key. */
TEST(an_empty_header_does_not_hide_those_behind_it)
{
    struct fixture f;
    fixture_begin(&f);
    const char *thread = format(f.arena, "/v1/threads/%s", make_thread(&f));
    const char *const headers[] = {"X-Request-Id: one", "", "If-Match: \"9\"", NULL};
    cairn_answer *a = cairn_call(f.c, "DELETE", thread, headers, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 400);
    cairn_answer_free(a);
    EXPECT_EQ(ask(&f, "GET", thread, NULL).status, 200);
    cairn_answer *refused = NULL;
    EXPECT(cairn_subscribe(f.c, "/v1/events/stream", headers, &refused) == NULL);
    if (refused != NULL)
        EXPECT_EQ(cairn_answer_status(refused), 400);
    cairn_answer_free(refused);
    fixture_end(&f);
}

TEST(a_body_is_limited_as_over_http)
{
    struct fixture f;
    fixture_begin(&f);
    size_t len = 17 << 20;
    char *body = malloc(len);
    memset(body, ' ', len);
    cairn_answer *a = cairn_call(f.c, "POST", "/v1/threads", NULL, body, len);
    EXPECT_EQ(cairn_answer_status(a), 413);
    EXPECT_PART(str_of(cairn_answer_body(a, NULL)), "larger than this route allows");
    cairn_answer_free(a);
    a = cairn_call(f.c, "POST", "/v1/threads", NULL, body, (4 << 20) + 1);
    EXPECT_EQ(cairn_answer_status(a), 413);
    EXPECT_PART(str_of(cairn_answer_body(a, NULL)), "body_too_large");
    cairn_answer_free(a);
    free(body);
    fixture_end(&f);
}

TEST(a_stream_is_not_called_but_subscribed_to)
{
    struct fixture f;
    fixture_begin(&f);
    struct reply r = ask(&f, "GET", "/v1/events/stream", NULL);
    EXPECT_EQ(r.status, 400);
    EXPECT_PART(r.body, "use cairn_subscribe");
    EXPECT_EQ(ask(&f, "GET", "/v1/events/ws", NULL).status, 400);
    cairn_answer *refusal = NULL;
    EXPECT(cairn_subscribe(f.c, "/v1/threads", NULL, &refusal) == NULL);
    EXPECT_PART(str_of(cairn_answer_body(refusal, NULL)), "use cairn_call");
    cairn_answer_free(refusal);
    fixture_end(&f);
}

/* --- Rights --------------------------------------------------------------------------------- */

TEST(the_first_key_ends_what_everybody_may)
{
    struct fixture f;
    fixture_begin(&f);
    struct reply made =
        ask(&f, "POST", "/v1/keys", "{\"name\":\"host\",\"scopes\":[\"operator\",\"admin\"]}");
    EXPECT_EQ(made.status, 201);
    const char *secret = arena_cstr(f.arena, member(f.arena, made.body, "secret"));
    EXPECT_EQ(ask(&f, "GET", "/v1/threads", NULL).status, 401);
    EXPECT_EQ(ask_as(f.arena, f.c, "cairn_wrong", "GET", "/v1/keys", NULL).status, 401);
    EXPECT_EQ(ask_as(f.arena, f.c, secret, "GET", "/v1/keys", NULL).status, 200);
    fixture_end(&f);
}

/* --- Calls that wait ------------------------------------------------------------------------ */

struct waiting {
    struct fixture *f;
    struct arena arena;
    const char *method;
    const char *target;
    const char *body;
    struct reply reply;
    int64_t took_us;
    pthread_t thread;
};

static void *wait_in_thread(void *data)
{
    struct waiting *w = data;
    int64_t start_us = clock_steady_us();
    w->reply = ask_as(&w->arena, w->f->c, NULL, w->method, w->target, w->body);
    w->took_us = clock_steady_us() - start_us;
    return NULL;
}

static void start_waiting(struct waiting *w)
{
    arena_init(&w->arena, SIZE_MAX);
    pthread_create(&w->thread, NULL, wait_in_thread, w);
    usleep(200 * 1000);
}

TEST(a_long_poll_is_answered_by_the_event_it_waits_for)
{
    struct fixture f;
    fixture_begin(&f);
    const char *thread = make_thread(&f), *other = make_thread(&f);
    struct waiting w = {.f = &f,
        .method = "GET",
        .target = format(f.arena, "/v1/threads/%s/events?after=1&kind=app.wanted&wait=30", thread)};
    start_waiting(&w);
    append(&f, other, "app.wanted");
    append(&f, thread, "app.other");
    usleep(100 * 1000);
    append(&f, thread, "app.wanted");
    pthread_join(w.thread, NULL);
    EXPECT_EQ(w.reply.status, 200);
    EXPECT_PART(w.reply.body, "\"kind\":\"app.wanted\"");
    EXPECT(!contains(w.reply.body, "app.other"));
    EXPECT(w.took_us < 15 * 1000 * 1000); /* and not when its time was over */
    arena_deinit(&w.arena);
    fixture_end(&f);
}

TEST(a_long_poll_ends_with_its_time)
{
    struct fixture f;
    fixture_begin(&f);
    int64_t start_us = clock_steady_us();
    struct reply r = ask(&f, "GET", "/v1/events?wait=1", NULL);
    int64_t took_us = clock_steady_us() - start_us;
    EXPECT_EQ(r.status, 200);
    EXPECT_PART(r.body, "\"data\":[]");
    EXPECT(took_us >= 1000 * 1000 && took_us < 10 * 1000 * 1000);
    fixture_end(&f);
}

TEST(a_claim_waits_for_a_run)
{
    struct fixture f;
    fixture_begin(&f);
    const char *thread = make_thread(&f);
    struct waiting w = {.f = &f,
        .method = "POST",
        .target = "/v1/runs/claim?wait=30",
        .body = "{\"worker\":\"w\"}"};
    start_waiting(&w);
    const char *runs = format(f.arena, "/v1/threads/%s/runs", thread);
    EXPECT_EQ(ask(&f, "POST", runs, "{}").status, 201);
    pthread_join(w.thread, NULL);
    EXPECT_EQ(w.reply.status, 200);
    EXPECT_PART(w.reply.body, thread);
    EXPECT(w.took_us < 15 * 1000 * 1000);
    arena_deinit(&w.arena);
    fixture_end(&f);
}

TEST(close_answers_those_who_wait)
{
    struct fixture f;
    fixture_begin(&f);
    struct waiting w = {.f = &f, .method = "GET", .target = "/v1/events?wait=60"};
    start_waiting(&w);
    cairn_close(f.c);
    f.c = NULL;
    pthread_join(w.thread, NULL);
    EXPECT_EQ(w.reply.status, 200);
    EXPECT_PART(w.reply.body, "\"data\":[]");
    EXPECT(w.took_us < 15 * 1000 * 1000);
    arena_deinit(&w.arena);
    fixture_end(&f);
}

struct long_call {
    cairn *c;
    const char **headers;
    atomic_bool has_begun;
    int status;
};

static void *call_for_long(void *data)
{
    struct long_call *l = data;
    atomic_store(&l->has_begun, true);
    cairn_answer *a = cairn_call(l->c, "GET", "/v1/threads", l->headers, NULL, 0);
    l->status = cairn_answer_status(a);
    cairn_answer_free(a);
    return NULL;
}

TEST(close_waits_for_a_call_whose_headers_are_still_being_read)
{
    enum { HEADERS = 3000000 };
    struct fixture f;
    fixture_begin(&f);
    struct long_call l = {.c = f.c, .headers = malloc((HEADERS + 1) * sizeof(char *))};
    for (size_t i = 0; i < HEADERS; i++)
        l.headers[i] = "X: y";
    l.headers[HEADERS] = NULL;
    pthread_t thread;
    pthread_create(&thread, NULL, call_for_long, &l);
    while (!atomic_load(&l.has_begun))
        sched_yield();
    usleep(5 * 1000);
    cairn_close(f.c);
    f.c = NULL;
    /* A call that still reads its headers would crash. */
    memset(l.headers, 0xff, HEADERS * sizeof *l.headers);
    pthread_join(thread, NULL);
    /* 503: on a busy machine the close may come before the call. */
    EXPECT(l.status == 431 || l.status == 503);
    free(l.headers);
    fixture_end(&f);
}

/* The subscription keeps the handle, and nothing else is left of it. */
TEST(after_a_close_calls_and_subscriptions_are_answered_503)
{
    struct fixture f;
    fixture_begin(&f);
    cairn_subscription *s = subscribe(&f, "/v1/events/stream"), *late;
    cairn_close(f.c);
    const struct {
        const char *method, *target;
    } rows[] = {{"GET", "/v1/threads"}, {"POST", "/v1/threads"}, {"GET", "/openapi.json"},
        {"GET", "/metrics"}, {"GET", "/nowhere"}, {"GET", "/v1/events/stream"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct reply r = ask(&f, rows[i].method, rows[i].target, NULL);
        EXPECT_EQ(r.status, 503);
        EXPECT_STR(member(f.arena, r.body, "code"), STR("unavailable"));
    }
    cairn_answer *refusal = NULL;
    late = cairn_subscribe(f.c, "/v1/events/stream", NULL, &refusal);
    EXPECT(late == NULL && cairn_answer_status(refusal) == 503);
    EXPECT(cairn_subscribe(f.c, "/v1/events/stream", NULL, NULL) == NULL);
    cairn_answer_free(refusal);
    cairn_unsubscribe(s);
    f.c = NULL;
    fixture_end(&f);
}

/* --- Bytes ---------------------------------------------------------------------------------- */

/* The path of a file in a new thread, in the fixture's memory. */
static const char *new_file(struct fixture *f, char *out, size_t size)
{
    cairn_answer *a = cairn_call(f->c, "POST", "/v1/threads", NULL, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 201);
    const char *id = strstr(cairn_answer_body(a, NULL), "\"id\":\"") + 6;
    snprintf(out, size, "/v1/threads/%.36s/files/a.bin", id);
    cairn_answer_free(a);
    return out;
}

TEST(bytes_come_from_memory_and_go_to_it)
{
    struct fixture f;
    fixture_begin(&f);
    char path[120];
    size_t len = 3 << 20, got_len;
    char *body = malloc(len);
    for (size_t i = 0; i < len; i++)
        body[i] = (char)(i * 31 + (i >> 9));
    new_file(&f, path, sizeof path);
    cairn_answer *a = cairn_call(f.c, "PUT", path, NULL, body, len);
    EXPECT_EQ(cairn_answer_status(a), 201);
    cairn_answer_free(a);
    a = cairn_call(f.c, "GET", path, NULL, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 200);
    const char *got = cairn_answer_body(a, &got_len);
    EXPECT(got_len == len && memcmp(got, body, len) == 0);
    cairn_answer_free(a);
    const char *range[] = {"Range: bytes=1000-1009", NULL};
    a = cairn_call(f.c, "GET", path, range, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 206);
    got = cairn_answer_body(a, &got_len);
    EXPECT(got_len == 10 && memcmp(got, body + 1000, 10) == 0);
    EXPECT_STR(str_of(cairn_answer_header(a, "Content-Range")), STR("bytes 1000-1009/3145728"));
    cairn_answer_free(a);
    const char *wrong[] = {
        "Content-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:", NULL};
    a = cairn_call(f.c, "PUT", path, wrong, "x", 1);
    EXPECT_EQ(cairn_answer_status(a), 422);
    cairn_answer_free(a);
    free(body);
    fixture_end(&f);
}

TEST(content_that_is_larger_than_an_answer_is_had_in_parts)
{
    struct fixture f;
    fixture_begin(&f);
    char path[120];
    size_t len = (64 << 20) + 1, got_len;
    char *body = calloc(1, len);
    new_file(&f, path, sizeof path);
    cairn_answer *a = cairn_call(f.c, "PUT", path, NULL, body, len);
    EXPECT_EQ(cairn_answer_status(a), 201);
    cairn_answer_free(a);
    a = cairn_call(f.c, "GET", path, NULL, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 422);
    EXPECT_PART(str_of(cairn_answer_body(a, NULL)), "ask for a part of it with Range");
    cairn_answer_free(a);
    const char *range[] = {"Range: bytes=-5", NULL};
    a = cairn_call(f.c, "GET", path, range, NULL, 0);
    EXPECT_EQ(cairn_answer_status(a), 206);
    cairn_answer_body(a, &got_len);
    EXPECT_EQ(got_len, 5);
    cairn_answer_free(a);
    free(body);
    fixture_end(&f);
}
