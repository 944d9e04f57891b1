/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

/* The header X-Echo of the request, as far as it is known, is returned. */
static struct http_answer word_refusal(struct arena *arena, const struct http_refusal *refusal,
    const struct http_request *request, void *data)
{
    struct http_header *headers = ARENA_ARRAY(arena, struct http_header, 2);
    struct str echo = http_header(request, STR("X-Echo"));
    headers[0] = (struct http_header){STR("Content-Type"), STR("application/problem+json")};
    headers[1] = (struct http_header){STR("X-Echo"), str_is_none(echo) ? STR("none") : echo};
    return (struct http_answer){.headers = headers,
        .n_headers = 2,
        .body = arena_printf(arena, "{\"rule\":\"%s\"}", refusal->rule)};
}

void fixture_init(struct fixture *f)
{
    *f = (struct fixture){0};
    http_server_config_init(&f->config);
    f->config.loops = 2;
    arena_init(&f->arena, 1 << 20);
}

void fixture_start(struct fixture *f)
{
    struct http_app app = {
        .data = f,
        .on_request = fixture_on_request,
        .word_refusal = word_refusal,
    };
    struct str why = STR("");
    if (!http_server_create(&f->config, &app, &f->arena, &f->server, &why)) {
        test_fail(__FILE__, __LINE__, "no server: %.*s", STR_ARG(why));
        exit(1);
    }
    f->port = http_server_port(f->server);
    f->worker = loop_create();
    loop_start(f->worker);
    http_server_start(f->server);
}

void fixture_begin(struct fixture *f)
{
    fixture_init(f);
    fixture_start(f);
}

void fixture_end(struct fixture *f)
{
    http_server_drain(f->server, 2000);
    loop_stop(f->worker);
    loop_destroy(f->worker);
    EXPECT_EQ(http_server_stats(f->server).connections_open, 0);
    EXPECT_EQ(atomic_load(&f->ended), atomic_load(&f->requests));
    http_server_destroy(f->server);
    arena_deinit(&f->arena);
}

bool reaches(atomic_uint *counter, unsigned value)
{
    for (unsigned waited = 0; waited < CLIENT_PATIENCE_MS; waited += 5) {
        if (atomic_load(counter) >= value)
            return true;
        sleep_ms(5);
    }
    return false;
}

struct publication {
    struct loop_task task;
    struct fixture *fixture;
    struct http_shared *event;
    atomic_uint done;
};

static void run_publication(struct loop_task *task)
{
    struct publication *p = CONTAINER_OF(task, struct publication, task);
    /* Backwards: an exchange that ends takes itself off the list. */
    for (size_t i = p->fixture->n_subscribers; i > 0; i--) {
        struct http_exchange *x = p->fixture->subscribers[i - 1];
        if (!http_stream_send_shared(x, p->event)) {
            atomic_fetch_add(&p->fixture->refused_sends, 1);
            http_stream_end(x, STR("event: too-slow\n\n"));
        }
    }
    atomic_store(&p->done, 1);
}

void fixture_publish(struct fixture *f, struct http_shared *event)
{
    struct publication p = {.task = {NULL, run_publication}, .fixture = f, .event = event};
    loop_post(http_server_loop(f->server, 0), &p.task);
    EXPECT(reaches(&p.done, 1));
}
