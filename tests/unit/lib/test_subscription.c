/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "fixture.h"

static struct str kind_of(struct fixture *f, const struct cairn_event *event)
{
    return member(f->arena, str_of(event->data), "kind");
}

static void expect_kind(struct fixture *f, cairn_subscription *s, const char *kind)
{
    const struct cairn_event *event = NULL;
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    if (event != NULL)
        EXPECT_STR(kind_of(f, event), str_of(kind));
}

static const char *stream_of(struct fixture *f, const char *thread, const char *query)
{
    return format(f->arena, "/v1/threads/%s/events/stream%s", thread, query);
}

TEST(a_subscription_gives_what_is_there_and_then_what_comes)
{
    struct fixture f;
    fixture_begin(&f);
    const char *thread = make_thread(&f), *other = make_thread(&f);
    const struct cairn_event *event;
    append(&f, thread, "app.one");
    cairn_subscription *s = subscribe(&f, stream_of(&f, thread, ""));
    expect_kind(&f, s, "conversation.created");
    expect_kind(&f, s, "app.one");
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_TIMEOUT);
    EXPECT(event == NULL);
    append(&f, other, "app.elsewhere");
    append(&f, thread, "app.two");
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    EXPECT_STR(kind_of(&f, event), STR("app.two"));
    EXPECT_STR(str_of(event->cursor), STR("3"));
    EXPECT_EQ(event->data_len, strlen(event->data));
    EXPECT_EQ(cairn_next(s, 50, &event), CAIRN_TIMEOUT);
    cairn_unsubscribe(s);
    cairn_unsubscribe(NULL);
    fixture_end(&f);
}

TEST(a_subscription_that_is_not_taken_loses_nothing)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    const char *thread = make_thread(&f);
    cairn_subscription *s = subscribe(&f, stream_of(&f, thread, "?after=1"));
    char text[12 * 1024];
    memset(text, 'x', sizeof text);
    const char *path = format(f.arena, "/v1/threads/%s/events", thread);
    const char *body =
        format(f.arena, "{\"kind\":\"progress\",\"text\":\"%.*s\"}", (int)sizeof text, text);
    for (int i = 0; i < 60; i++)
        EXPECT_EQ(ask(&f, "POST", path, body).status, 201);
    for (int i = 0; i < 60; i++) {
        EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
        EXPECT_STR(str_of(event->cursor), str_of(format(f.arena, "%d", i + 2)));
    }
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_TIMEOUT);
    append(&f, thread, "app.last");
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    EXPECT_STR(kind_of(&f, event), STR("app.last"));
    cairn_unsubscribe(s);
    fixture_end(&f);
}

TEST(a_subscription_goes_on_from_its_cursor_and_by_its_filter)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    const char *thread = make_thread(&f);
    append(&f, thread, "app.one");
    append(&f, thread, "app.two");
    append(&f, thread, "app.one");
    cairn_subscription *s = subscribe(&f, stream_of(&f, thread, "?after=2&kind=app.one"));
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    EXPECT_STR(str_of(event->cursor), STR("4"));
    append(&f, thread, "app.two");
    append(&f, thread, "app.one");
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    EXPECT_STR(str_of(event->cursor), STR("6"));
    cairn_unsubscribe(s);
    const char *const last[] = {"Last-Event-ID: 5", NULL};
    s = cairn_subscribe(f.c, stream_of(&f, thread, ""), last, NULL);
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    EXPECT_STR(str_of(event->cursor), STR("6"));
    cairn_unsubscribe(s);
    fixture_end(&f);
}

TEST(the_seeds_stream_speaks_its_own_names)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    const char *thread = make_thread(&f);
    cairn_subscription *s = subscribe(&f, format(f.arena, "/workflow/ws/%s", thread));
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    EXPECT(!str_is_none(member(f.arena, str_of(event->data), "workflow_id")) ||
           !str_is_none(member(f.arena, str_of(event->data), "id")));
    EXPECT(str_is_none(member(f.arena, str_of(event->data), "seq")));
    cairn_unsubscribe(s);
    fixture_end(&f);
}

TEST(a_subscription_keeps_its_principal_online)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    const char *const as_alice[] = {"Cairn-Principal: user:alice", NULL};
    const char *thread = make_thread(&f);
    const char *at = format(f.arena, "/v1/threads/%s/participants", thread);
    EXPECT_EQ(ask(&f, "POST", at, "{\"principal\":\"user:alice\"}").status, 201);
    cairn_subscription *tenant = cairn_subscribe(f.c, "/v1/events/stream", as_alice, NULL);
    while (cairn_next(tenant, 0, &event) == CAIRN_EVENT) {
    }
    cairn_subscription *s =
        cairn_subscribe(f.c, stream_of(&f, thread, "?kind=participant.updated"), as_alice, NULL);
    EXPECT_EQ(cairn_next(tenant, 0, &event), CAIRN_TIMEOUT);
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    struct str payload = member(f.arena, str_of(event->data), "payload");
    EXPECT_STR(member(f.arena, payload, "online"), STR("true"));
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_TIMEOUT);
    EXPECT_EQ(cairn_next(tenant, 10000, &event), CAIRN_EVENT);
    EXPECT_EQ(cairn_next(tenant, 0, &event), CAIRN_TIMEOUT);
    cairn_unsubscribe(tenant);
    cairn_unsubscribe(s);
    fixture_end(&f);
}

TEST(what_a_stream_would_refuse_a_subscription_refuses)
{
    struct fixture f;
    fixture_begin(&f);
    const char *thread = make_thread(&f);
    const struct {
        const char *target, *code;
        int status;
    } rows[] = {
        {"/v1/threads/018f0000-0000-7000-8000-0000000000aa/events/stream", "not_found", 404},
        {stream_of(&f, thread, "?after=9"), "invalid_cursor", 400},
        {stream_of(&f, thread, "?after=x"), "invalid_cursor", 400},
        {stream_of(&f, thread, "?wait=1"), "invalid_input", 422},
        {"/v1/nothing/stream", "no_route", 404},
        {"nothing", "bad_request", 400},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        cairn_answer *refusal = NULL;
        EXPECT(cairn_subscribe(f.c, rows[i].target, NULL, &refusal) == NULL);
        struct str body = str_of(cairn_answer_body(refusal, NULL));
        EXPECT_EQ(cairn_answer_status(refusal), rows[i].status);
        EXPECT_STR(member(f.arena, body, "code"), str_of(rows[i].code));
        cairn_answer_free(refusal);
    }
    EXPECT(cairn_subscribe(f.c, "nothing", NULL, NULL) == NULL);
    fixture_end(&f);
}

/* --- Gaps ----------------------------------------------------------------------------------- */

static void prune(struct fixture *f, const char *thread, int64_t through)
{
    struct reply r = ask(f, "POST", format(f->arena, "/v1/threads/%s/events/prune", thread),
        format(f->arena, "{\"through_seq\":%lld}", (long long)through));
    EXPECT_EQ(r.status, 200);
}

TEST(what_was_pruned_is_told_as_a_gap)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    const char *thread = make_thread(&f);
    for (int i = 0; i < 4; i++)
        append(&f, thread, "app.one");
    cairn_subscription *s = subscribe(&f, stream_of(&f, thread, "?after=1"));
    cairn_subscription *all = subscribe(&f, "/v1/events/stream?after=1");
    prune(&f, thread, 3);
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_GAP);
    EXPECT_STR(
        str_of(event->data), STR("{\"kind\":\"gap\",\"pruned_through\":3,\"cursor\":\"3\"}"));
    EXPECT_STR(str_of(event->cursor), STR("3"));
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    EXPECT_STR(str_of(event->cursor), STR("4"));
    EXPECT_EQ(cairn_next(all, 10000, &event), CAIRN_GAP);
    const char *resume = format(f.arena, "/v1/events/stream?after=%s", event->cursor);
    EXPECT_EQ(cairn_next(all, 10000, &event), CAIRN_EVENT);
    /* The cursor records that the gap was delivered. */
    cairn_subscription *next = subscribe(&f, resume);
    const struct cairn_event *same;
    EXPECT_EQ(cairn_next(next, 10000, &same), CAIRN_EVENT);
    EXPECT_STR(str_of(same->data), str_of(event->data));
    cairn_unsubscribe(s);
    cairn_unsubscribe(all);
    cairn_unsubscribe(next);
    fixture_end(&f);
}

/* Over HTTP a live stream passes what its filter leaves out, so that it is not missed either. */
static void expect_no_gap_after(struct fixture *f, const char *target, bool takes_time_between)
{
    const struct cairn_event *event = NULL;
    const char *thread = make_thread(f);
    cairn_subscription *s =
        subscribe(f, target != NULL ? target : stream_of(f, thread, "?after=1&kind=app.wanted"));
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_TIMEOUT);
    for (int i = 0; i < 3; i++)
        append(f, thread, "app.other");
    /* On a shared store events arrive a little later. */
    if (takes_time_between)
        EXPECT_EQ(cairn_next(s, on_postgres() ? 1000 : 100, &event), CAIRN_TIMEOUT);
    else
        usleep(on_postgres() ? 1000 * 1000 : 0);
    prune(f, thread, 4);
    append(f, thread, "app.wanted");
    EXPECT_EQ(cairn_next(s, 10000, &event), CAIRN_EVENT);
    if (event != NULL)
        EXPECT_STR(kind_of(f, event), STR("app.wanted"));
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_TIMEOUT);
    cairn_unsubscribe(s);
}

TEST(what_a_filter_leaves_out_is_passed_before_it_is_pruned)
{
    struct fixture f;
    fixture_begin(&f);
    expect_no_gap_after(&f, NULL, true);
    expect_no_gap_after(&f, NULL, false);
    fixture_end(&f);
}

TEST(what_a_filter_leaves_out_of_all_threads_is_passed_before_it_is_pruned)
{
    struct fixture f;
    fixture_begin(&f);
    expect_no_gap_after(&f, "/v1/events/stream?kind=app.wanted", true);
    fixture_end(&f);
}

TEST(the_cursor_of_an_end_is_behind_what_the_filter_left_out)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    const char *thread = make_thread(&f);
    cairn_subscription *s = subscribe(&f, stream_of(&f, thread, "?kind=app.wanted"));
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_TIMEOUT);
    append(&f, thread, "app.other");
    append(&f, thread, "app.wanted");
    append(&f, thread, "app.other");
    expect_kind(&f, s, "app.wanted");
    append(&f, thread, "app.other");
    EXPECT_EQ(cairn_next(s, on_postgres() ? 1000 : 100, &event), CAIRN_TIMEOUT);
    cairn_cancel(s);
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_ENDED);
    EXPECT_STR(str_of(event->cursor), STR("5"));
    cairn_unsubscribe(s);
    fixture_end(&f);
}

/* --- Ends ----------------------------------------------------------------------------------- */

static void *cancel_soon(void *data)
{
    usleep(100 * 1000);
    cairn_cancel(data);
    return NULL;
}

TEST(cancel_ends_a_next_that_waits_for_ever)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    pthread_t thread;
    cairn_subscription *s = subscribe(&f, "/v1/events/stream");
    pthread_create(&thread, NULL, cancel_soon, s);
    EXPECT_EQ(cairn_next(s, -1, &event), CAIRN_ENDED);
    pthread_join(thread, NULL);
    expect_end(&f, s, "cancelled");
    expect_end(&f, s, "cancelled");
    cairn_unsubscribe(s);
    fixture_end(&f);
}

static void *close_soon(void *data)
{
    usleep(100 * 1000);
    cairn_close(data);
    return NULL;
}

TEST(close_ends_subscriptions_which_may_be_given_back_later)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    pthread_t thread;
    cairn_subscription *waiting = subscribe(&f, "/v1/events/stream");
    cairn_subscription *idle = subscribe(&f, "/v1/events/stream");
    pthread_create(&thread, NULL, close_soon, f.c);
    EXPECT_EQ(cairn_next(waiting, -1, &event), CAIRN_ENDED);
    pthread_join(thread, NULL);
    f.c = NULL;
    expect_end(&f, waiting, "shutting_down");
    expect_end(&f, idle, "shutting_down");
    cairn_cancel(idle);
    cairn_unsubscribe(idle);
    cairn_unsubscribe(waiting);
    fixture_end(&f);
}

TEST(a_deleted_thread_ends_its_subscription_after_its_last_event)
{
    struct fixture f;
    fixture_begin(&f);
    const char *thread = make_thread(&f);
    cairn_subscription *s = subscribe(&f, stream_of(&f, thread, "?after=1"));
    EXPECT_EQ(ask(&f, "DELETE", format(f.arena, "/v1/threads/%s", thread), NULL).status, 204);
    expect_kind(&f, s, "conversation.deleted");
    expect_end(&f, s, "deleted");
    cairn_unsubscribe(s);
    fixture_end(&f);
}

/* The first key, which may do everything; its secret. */
static const char *make_first_key(struct fixture *f)
{
    struct reply r =
        ask(f, "POST", "/v1/keys", "{\"name\":\"host\",\"scopes\":[\"operator\",\"admin\"]}");
    EXPECT_EQ(r.status, 201);
    return arena_cstr(f->arena, member(f->arena, r.body, "secret"));
}

static struct str make_key(struct fixture *f, const char *first, const char *more)
{
    struct reply r = ask_as(f->arena, f->c, first, "POST", "/v1/keys",
        format(f->arena, "{\"name\":\"k\",\"scopes\":[\"events:read\"]%s}", more));
    EXPECT_EQ(r.status, 201);
    return r.body;
}

static cairn_subscription *subscribe_as(struct fixture *f, struct str secret)
{
    const char *const headers[] = {
        format(f->arena, "Authorization: Bearer %.*s", STR_ARG(secret)), NULL};
    cairn_subscription *s = cairn_subscribe(f->c, "/v1/events/stream", headers, NULL);
    assert(s != NULL);
    return s;
}

TEST(the_first_key_ends_who_listens_without_one)
{
    struct fixture f;
    fixture_begin(&f);
    cairn_subscription *s = subscribe(&f, "/v1/events/stream");
    make_first_key(&f);
    expect_end(&f, s, "access_ended");
    cairn_unsubscribe(s);
    fixture_end(&f);
}

TEST(a_revoked_key_ends_its_subscriptions)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_event *event;
    const char *first = make_first_key(&f);
    struct str key = make_key(&f, first, "");
    cairn_subscription *s = subscribe_as(&f, member(f.arena, key, "secret"));
    EXPECT_EQ(cairn_next(s, 0, &event), CAIRN_TIMEOUT);
    struct str id = member(f.arena, key, "id");
    const char *path = format(f.arena, "/v1/keys/%.*s", STR_ARG(id));
    EXPECT_EQ(ask_as(f.arena, f.c, first, "DELETE", path, NULL).status, 200);
    expect_end(&f, s, "access_ended");
    cairn_unsubscribe(s);
    fixture_end(&f);
}

TEST(an_expired_key_ends_its_subscriptions)
{
    struct fixture f;
    fixture_begin(&f);
    char until[CLOCK_TEXT_LEN];
    clock_format(clock_wall_us() + 1500 * 1000, until);
    const char *expiry = format(f.arena, ",\"expires_at\":\"%.*s\"", CLOCK_TEXT_LEN, until);
    struct str key = make_key(&f, make_first_key(&f), expiry);
    cairn_subscription *s = subscribe_as(&f, member(f.arena, key, "secret"));
    expect_end(&f, s, "key_expired");
    cairn_unsubscribe(s);
    fixture_end(&f);
}

TEST(a_deleted_tenant_ends_its_subscriptions)
{
    struct fixture f;
    fixture_begin(&f);
    const char *first = make_first_key(&f);
    struct reply made = ask_as(f.arena, f.c, first, "POST", "/v1/tenants", "{\"name\":\"guest\"}");
    EXPECT_EQ(made.status, 201);
    struct str tenant = member(f.arena, member(f.arena, made.body, "tenant"), "id");
    struct str key = member(f.arena, made.body, "key");
    cairn_subscription *s = subscribe_as(&f, member(f.arena, key, "secret"));
    const char *path = format(f.arena, "/v1/tenants/%.*s", STR_ARG(tenant));
    EXPECT_EQ(ask_as(f.arena, f.c, first, "DELETE", path, NULL).status, 204);
    expect_end(&f, s, "access_ended");
    cairn_unsubscribe(s);
    fixture_end(&f);
}
