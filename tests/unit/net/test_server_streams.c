/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/socket.h>

#include "base/alloc.h"
#include "fixture.h"

enum { MEGABYTE = 1 << 20 };

TEST(an_upload_is_streamed_to_the_application)
{
    struct fixture f;
    fixture_init(&f);
    f.config.limits.body_bytes = 64 * MEGABYTE;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    static const char megabyte[MEGABYTE];
    client_say(&c, STR("PUT /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 16777216\r\n\r\n"));
    for (int i = 0; i < 16; i++)
        EXPECT(client_say(&c, (struct str){megabyte, sizeof megabyte}));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_STR(buf_str(&a.body), STR("16777216"));
    fixture_end(&f);
}

/* Says as much as the socket takes without waiting. */
static size_t say_until_blocked(struct client *c, size_t at_most)
{
    static const char piece[64 * 1024];
    size_t total = 0;
    while (total < at_most) {
        ssize_t sent = send(c->fd, piece, sizeof piece, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        total += (size_t)sent;
    }
    return total;
}

TEST(a_paused_upload_pushes_back_on_the_sender)
{
    struct fixture f;
    fixture_init(&f);
    f.config.limits.body_bytes = 512 * (size_t)MEGABYTE;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(
        &c, STR("PUT /slow-upload HTTP/1.1\r\nHost: t\r\nContent-Length: 536870912\r\n\r\n"));
    /* The application takes one run in 20 ms: the socket's buffers fill, then the sender waits. */
    size_t said = 0;
    for (int i = 0; i < 10; i++) {
        said += say_until_blocked(&c, 256 * (size_t)MEGABYTE);
        sleep_ms(10);
    }
    EXPECT(said < 128 * (size_t)MEGABYTE);
    EXPECT(atomic_load(&f.received) < 16 * (size_t)MEGABYTE);
    fixture_end(&f);
}

struct pump_args {
    struct client *client;
    size_t total;
};

static void pump_body(void *arg)
{
    struct pump_args *args = arg;
    static char piece[32 * 1024];
    for (size_t said = 0; said < args->total; said += sizeof piece)
        if (!client_say(args->client, (struct str){piece, sizeof piece}))
            return;
}

TEST(a_body_is_streamed_back_while_it_is_sent)
{
    struct fixture f;
    fixture_init(&f);
    f.config.stream_max_bytes = 512 * 1024;
    f.config.limits.body_bytes = 64 * MEGABYTE;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /mirror HTTP/1.1\r\nHost: t\r\nContent-Length: 33554432\r\n\r\n"));
    struct pump_args args = {&c, 32 * MEGABYTE};
    uv_thread_t pump;
    uv_thread_create(&pump, pump_body, &args);
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    uv_thread_join(&pump);
    EXPECT_EQ(a.status, 200);
    EXPECT_EQ(a.body.len, 32 * MEGABYTE);
    EXPECT_EQ(atomic_load(&f.refused_sends), 0);
    EXPECT(atomic_load(&f.queued_most) <= 512 * 1024);
    fixture_end(&f);
}

TEST(a_large_download_never_has_more_queued_than_the_limit)
{
    struct fixture f;
    fixture_init(&f);
    f.config.stream_max_bytes = 256 * 1024;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    client_connect_narrow(&c, f.port);
    client_say(&c, REQUEST("GET", "/download?50000000"));
    /* A client that does not read stops the production. */
    EXPECT(reaches(&f.requests, 1));
    sleep_ms(200);
    EXPECT(atomic_load(&f.produced) < 40000000);
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT_EQ(a.body.len, 50000000);
    EXPECT(atomic_load(&f.queued_most) <= 256 * 1024);
    client_say(&c, REQUEST("GET", "/hello"));
    struct answer b CLEANUP(answer_deinit);
    client_hear(&c, false, &b);
    EXPECT_EQ(b.status, 200);
    fixture_end(&f);
}

static void drain_patiently(void *server)
{
    http_server_drain(server, 20000);
}

TEST(an_answer_of_known_length_is_streamed_and_the_connection_goes_on)
{
    struct fixture f;
    fixture_init(&f);
    f.config.stream_max_bytes = 16 * 1024; /* a piece may pass it: there is one at a time */
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    client_connect_narrow(&c, f.port);
    client_say(&c, REQUEST("GET", "/sized?20000000"));
    EXPECT(reaches(&f.requests, 1));
    sleep_ms(100);
    EXPECT(atomic_load(&f.produced) < 20000000); /* a client that does not read stops it */
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT_STR(answer_header(&a, STR("Content-Length")), STR("20000000"));
    EXPECT(str_is_none(answer_header(&a, STR("Transfer-Encoding"))));
    EXPECT_EQ(a.body.len, 20000000);
    EXPECT_EQ(atomic_load(&f.refused_sends), 0);
    EXPECT(atomic_load(&f.queued_most) <= 33 * 1024);
    client_say(&c, REQUEST("HEAD", "/sized?77"));
    struct answer b CLEANUP(answer_deinit);
    client_hear(&c, true, &b);
    EXPECT_STR(answer_header(&b, STR("Content-Length")), STR("77"));
    client_say(&c, REQUEST("GET", "/sized?0"));
    struct answer d CLEANUP(answer_deinit);
    client_hear(&c, false, &d);
    EXPECT_STR(answer_header(&d, STR("Content-Length")), STR("0"));
    fixture_end(&f);
}

TEST(an_answer_of_known_length_goes_on_while_the_server_drains_and_the_client_says_no_more)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect_narrow(&c, f.port);
    client_say(&c, REQUEST("GET", "/sized?5000000"));
    client_hang_up(&c);
    EXPECT(reaches(&f.requests, 1));
    struct answer a CLEANUP(answer_deinit);
    client_hear_head(&c, &a);
    uv_thread_t drain;
    uv_thread_create(&drain, drain_patiently, f.server);
    sleep_ms(50);
    EXPECT(client_need(&c, 5000000));
    uv_thread_join(&drain);
    fixture_end(&f);
}

TEST(an_answer_that_cannot_be_completed_is_cut_off)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/cut-off?100000"));
    struct answer a CLEANUP(answer_deinit);
    client_hear_head(&c, &a);
    EXPECT_STR(answer_header(&a, STR("Content-Length")), STR("100000"));
    EXPECT(!client_need(&c, 100000));
    EXPECT(c.in.len < 100000);
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(subscribers_get_what_is_published_in_order)
{
    struct fixture f;
    fixture_init(&f);
    f.config.loops = 1;
    fixture_start(&f);
    enum { CLIENTS = 20, EVENTS = 50 };
    struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        client_connect(&clients[i], f.port);
        client_say(&clients[i], REQUEST("GET", "/events"));
    }
    EXPECT(reaches(&f.subscribed, CLIENTS));
    struct buf expected CLEANUP(buf_deinit);
    buf_init(&expected, MEGABYTE);
    buf_append(&expected, STR(": welcome\n\n"));
    for (int i = 0; i < EVENTS; i++) {
        size_t start = expected.len;
        buf_printf(&expected, "id: %d\ndata: {}\n\n", i);
        struct http_shared *event =
            http_shared_create(str_slice(buf_str(&expected), start, expected.len));
        fixture_publish(&f, event);
        http_shared_unref(event);
    }
    buf_append(&expected, STR("event: bye\n\n"));
    http_server_drain(f.server, 10000);
    for (int i = 0; i < CLIENTS; i++) {
        struct answer a CLEANUP(answer_deinit);
        client_hear(&clients[i], false, &a);
        EXPECT_EQ(a.status, 200);
        EXPECT_STR(buf_str(&a.body), buf_str(&expected));
        client_close(&clients[i]);
    }
    fixture_end(&f);
}

TEST(an_http_1_0_subscriber_gets_the_same_bytes_without_chunks)
{
    struct fixture f;
    fixture_init(&f);
    f.config.loops = 1;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("GET /events HTTP/1.0\r\nHost: t\r\n\r\n"));
    EXPECT(reaches(&f.subscribed, 1));
    struct http_shared *event = http_shared_create(STR("data: 1\n\n"));
    fixture_publish(&f, event);
    http_shared_unref(event);
    http_server_drain(f.server, 10000);
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_STR(buf_str(&a.body), STR(": welcome\n\ndata: 1\n\nevent: bye\n\n"));
    fixture_end(&f);
}

TEST(a_subscriber_that_leaves_is_noticed_at_once)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c;
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/events"));
    EXPECT(reaches(&f.subscribed, 1));
    EXPECT(client_listen(&c));
    client_close(&c);
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(a_subscriber_that_does_not_read_is_cut_off_and_the_others_are_served)
{
    struct fixture f;
    fixture_init(&f);
    f.config.loops = 1;
    f.config.stream_max_bytes = 256 * 1024;
    f.config.stall_timeout_ms = 1000;
    fixture_start(&f);
    struct client slow CLEANUP(client_close);
    client_connect_narrow(&slow, f.port);
    client_say(&slow, REQUEST("GET", "/events"));
    EXPECT(reaches(&f.subscribed, 1));
    size_t size = 64 * 1024;
    char *bytes CLEANUP(mem_freep) = mem_zalloc(size);
    struct http_shared *event = http_shared_create((struct str){bytes, size});
    for (int i = 0; i < 1000 && atomic_load(&f.refused_sends) == 0; i++)
        fixture_publish(&f, event);
    http_shared_unref(event);
    EXPECT_EQ(atomic_load(&f.refused_sends), 1);
    EXPECT_EQ(client_ask(f.port, REQUEST("GET", "/hello")), 200);
    /* It takes neither the rest nor the last words: both exchanges end all the same. */
    EXPECT(reaches(&f.ended, 2));
    fixture_end(&f);
}
