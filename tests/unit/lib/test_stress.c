/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads on one cairn: what each of them is promised holds for all of them at once. */
#include <stdatomic.h>

#include "fixture.h"

enum { THREADS = 4, WRITERS = 6, EVENTS_EACH = 150, SUBSCRIBERS = 8 };

struct load {
    struct fixture *f;
    const char *threads[THREADS];
    atomic_int n_acknowledged[THREADS];
    atomic_int n_writing;
    atomic_int failures;
};

struct actor {
    struct load *load;
    pthread_t thread;
    int number;
    int64_t n_seen;
    int64_t n_told; /* to be missing, by gaps */
};

/* Appends and reads by turns; every answer must be the one of its own call. */
static void *write_events(void *data)
{
    struct actor *a = data;
    struct load *load = a->load;
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, SIZE_MAX);
    for (int i = 0; i < EVENTS_EACH; i++) {
        int at = (a->number + i) % THREADS;
        arena_clear(&arena);
        const char *path = format(&arena, "/v1/threads/%s/events", load->threads[at]);
        const char *text = format(&arena, "%d of %d", i, a->number);
        struct reply r = ask_as(&arena, load->f->c, NULL, "POST", path,
            format(&arena, "{\"kind\":\"progress\",\"text\":\"%s\"}", text));
        bool good = r.status == 201 && str_eq(member(&arena, r.body, "text"), str_of(text));
        path = format(&arena, "/v1/threads/%s", load->threads[at]);
        r = ask_as(&arena, load->f->c, NULL, "GET", path, NULL);
        good = good && r.status == 200 &&
               str_eq(member(&arena, r.body, "id"), str_of(load->threads[at]));
        atomic_fetch_add(&load->n_acknowledged[at], 1);
        atomic_fetch_add(&load->failures, !good);
    }
    atomic_fetch_sub(&load->n_writing, 1);
    return NULL;
}

/* Follows one thread from its start to its end, which an event of its own reports. */
static void *follow(void *data)
{
    struct actor *a = data;
    struct load *load = a->load;
    const struct cairn_event *event;
    struct arena arena CLEANUP(arena_deinit);
    int64_t position = 0;
    bool over = false;
    arena_init(&arena, SIZE_MAX);
    const char *thread = load->threads[a->number % THREADS];
    cairn_subscription *s = cairn_subscribe(
        load->f->c, format(&arena, "/v1/threads/%s/events/stream?after=0", thread), NULL, NULL);
    while (!over) {
        int64_t seq = 0;
        arena_clear(&arena);
        int kind = cairn_next(s, 30000, &event);
        if ((kind != CAIRN_EVENT && kind != CAIRN_GAP) ||
            !str_to_i64(str_of(event->cursor), &seq)) {
            atomic_fetch_add(&load->failures, 1);
            break;
        }
        bool next = kind == CAIRN_GAP ? seq > position : seq == position + 1;
        atomic_fetch_add(&load->failures, !next);
        a->n_told += kind == CAIRN_GAP ? seq - position : 0;
        a->n_seen += kind == CAIRN_EVENT;
        position = seq;
        over = str_eq(member(&arena, str_of(event->data), "kind"), STR("app.over"));
    }
    cairn_unsubscribe(s);
    return NULL;
}

/* All threads of the tenant at once: ids rise, and each thread's numbers have no hole. */
static void *follow_all(void *data)
{
    struct actor *a = data;
    struct load *load = a->load;
    const struct cairn_event *event;
    struct arena arena CLEANUP(arena_deinit);
    int64_t last_seq[THREADS] = {0}, last_id = 0;
    arena_init(&arena, SIZE_MAX);
    cairn_subscription *s = cairn_subscribe(load->f->c, "/v1/events/stream", NULL, NULL);
    for (int over = 0; over < THREADS;) {
        arena_clear(&arena);
        if (cairn_next(s, 30000, &event) != CAIRN_EVENT) {
            atomic_fetch_add(&load->failures, 1);
            break;
        }
        struct str body = str_of(event->data), thread = member(&arena, body, "thread_id");
        int64_t id = 0, seq = 0;
        bool good = str_to_i64(member(&arena, body, "id"), &id) && id > last_id &&
                    str_to_i64(member(&arena, body, "seq"), &seq);
        for (int i = 0; i < THREADS; i++)
            if (str_eq(thread, str_of(load->threads[i]))) {
                good = good && seq == last_seq[i] + 1;
                last_seq[i] = seq;
            }
        last_id = id;
        a->n_seen++;
        atomic_fetch_add(&load->failures, !good);
        over += str_eq(member(&arena, body, "kind"), STR("app.over"));
    }
    cairn_unsubscribe(s);
    return NULL;
}

static void *open_and_leave(void *data)
{
    struct actor *a = data;
    const struct cairn_event *event;
    while (atomic_load(&a->load->n_writing) > 0) {
        cairn_subscription *s =
            cairn_subscribe(a->load->f->c, "/v1/events/stream?after=0", NULL, NULL);
        int kind = cairn_next(s, 1000, &event);
        atomic_fetch_add(&a->load->failures, kind != CAIRN_EVENT);
        cairn_unsubscribe(s);
    }
    return NULL;
}

static void begin_load(struct load *load, struct fixture *f)
{
    *load = (struct load){.f = f};
    atomic_init(&load->n_writing, WRITERS);
    for (int i = 0; i < THREADS; i++)
        load->threads[i] = make_thread(f);
}

static void start(struct actor *actors, int n, struct load *load, void *(*run)(void *data))
{
    for (int i = 0; i < n; i++) {
        actors[i] = (struct actor){.load = load, .number = i};
        pthread_create(&actors[i].thread, NULL, run, &actors[i]);
    }
}

static void join(struct actor *actors, int n)
{
    for (int i = 0; i < n; i++)
        pthread_join(actors[i].thread, NULL);
}

static void say_over(struct load *load)
{
    for (int i = 0; i < THREADS; i++)
        append(load->f, load->threads[i], "app.over");
}

TEST(under_load_subscriptions_miss_nothing_and_see_nothing_twice)
{
    struct fixture f;
    struct load load;
    struct actor writers[WRITERS], followers[SUBSCRIBERS], all[2], passing[1];
    fixture_begin(&f);
    begin_load(&load, &f);
    start(followers, SUBSCRIBERS, &load, follow);
    start(all, 2, &load, follow_all);
    start(passing, 1, &load, open_and_leave);
    start(writers, WRITERS, &load, write_events);
    join(writers, WRITERS);
    say_over(&load);
    join(followers, SUBSCRIBERS);
    join(all, 2);
    join(passing, 1);
    EXPECT_EQ(atomic_load(&load.failures), 0);
    /* The thread's own first event, what was acknowledged, and the last. */
    for (int i = 0; i < SUBSCRIBERS; i++)
        EXPECT_EQ(followers[i].n_seen, atomic_load(&load.n_acknowledged[i % THREADS]) + 2);
    EXPECT_EQ(all[0].n_seen, WRITERS * EVENTS_EACH + 2 * THREADS);
    EXPECT_EQ(all[1].n_seen, WRITERS * EVENTS_EACH + 2 * THREADS);
    fixture_end(&f);
}

static void *prune_at_times(void *data)
{
    struct actor *a = data;
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, SIZE_MAX);
    while (atomic_load(&a->load->n_writing) > 0) {
        int at = a->number++ % THREADS;
        int through = atomic_load(&a->load->n_acknowledged[at]);
        arena_clear(&arena);
        const char *path = format(&arena, "/v1/threads/%s/events/prune", a->load->threads[at]);
        struct reply r = ask_as(&arena, a->load->f->c, NULL, "POST", path,
            format(&arena, "{\"through_seq\":%d}", through > 0 ? through : 1));
        atomic_fetch_add(&a->load->failures, r.status != 200);
    }
    return NULL;
}

TEST(what_is_pruned_under_load_is_told_and_the_rest_is_seen)
{
    struct fixture f;
    struct load load;
    struct actor writers[WRITERS], followers[SUBSCRIBERS], pruner[1];
    fixture_begin(&f);
    begin_load(&load, &f);
    start(writers, WRITERS, &load, write_events);
    start(pruner, 1, &load, prune_at_times);
    start(followers, SUBSCRIBERS, &load, follow);
    join(writers, WRITERS);
    join(pruner, 1);
    say_over(&load);
    join(followers, SUBSCRIBERS);
    EXPECT_EQ(atomic_load(&load.failures), 0);
    for (int i = 0; i < SUBSCRIBERS; i++)
        EXPECT_EQ(followers[i].n_seen + followers[i].n_told,
            atomic_load(&load.n_acknowledged[i % THREADS]) + 2);
    fixture_end(&f);
}

/* --- Close ---------------------------------------------------------------------------------- */

/* Until it is closed; the subscription keeps the handle. */
static void *call_until_closed(void *data)
{
    struct actor *a = data;
    const struct cairn_event *event;
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, SIZE_MAX);
    cairn_subscription *s = cairn_subscribe(a->load->f->c, "/v1/events/stream", NULL, NULL);
    while (cairn_next(s, 0, &event) != CAIRN_ENDED) {
        arena_clear(&arena);
        struct reply r =
            ask_as(&arena, a->load->f->c, NULL, "POST", "/v1/threads", "{\"title\":\"t\"}");
        a->n_seen += r.status == 201;
        atomic_fetch_add(&a->load->n_acknowledged[0], r.status == 201);
        atomic_fetch_add(&a->load->failures, r.status != 201 && r.status != 503);
    }
    cairn_unsubscribe(s);
    return NULL;
}

static int64_t count_threads(struct fixture *f)
{
    int64_t count = 0;
    const char *cursor = "";
    while (cursor != NULL) {
        struct reply reply =
            ask(f, "GET", format(f->arena, "/v1/threads?limit=100%s", cursor), NULL);
        EXPECT_EQ(reply.status, 200);
        if (reply.status != 200)
            break;
        struct str page = reply.body, next = member(f->arena, page, "next_cursor");
        for (size_t i = 0; i + 8 < page.len; i++)
            count += memcmp(page.ptr + i, "\"title\":", 8) == 0;
        bool last = str_eq(next, STR("null"));
        cursor = last ? NULL : format(f->arena, "&cursor=%.*s", STR_ARG(next));
    }
    return count;
}

TEST(what_was_acknowledged_before_a_close_under_load_is_there_after_it)
{
    struct fixture f;
    struct load load;
    struct actor callers[WRITERS];
    fixture_begin(&f);
    load = (struct load){.f = &f};
    start(callers, WRITERS, &load, call_until_closed);
    while (atomic_load(&load.n_acknowledged[0]) < 20 * WRITERS)
        usleep(1000);
    cairn_close(f.c);
    join(callers, WRITERS);
    fixture_open(&f);
    EXPECT_EQ(atomic_load(&load.failures), 0);
    EXPECT_EQ(count_threads(&f), atomic_load(&load.n_acknowledged[0]));
    fixture_end(&f);
}
