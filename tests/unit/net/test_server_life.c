/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/resource.h>

#include "fixture.h"

TEST(connections_past_the_maximum_get_503_and_a_place_that_becomes_free_is_used)
{
    struct fixture f;
    fixture_init(&f);
    f.config.max_connections = 2;
    fixture_start(&f);
    struct client a CLEANUP(client_close), b;
    client_connect(&a, f.port);
    client_connect(&b, f.port);
    client_say(&a, REQUEST("GET", "/events"));
    client_say(&b, REQUEST("GET", "/events"));
    EXPECT(reaches(&f.subscribed, 2));
    EXPECT_EQ(client_ask(f.port, REQUEST("GET", "/hello")), 503);
    client_close(&b);
    EXPECT(reaches(&f.ended, 1));
    /* The refused one lingers for a moment. */
    int status = 503;
    for (int i = 0; i < 1000 && status == 503; i++) {
        sleep_ms(10);
        status = client_ask(f.port, REQUEST("GET", "/hello"));
    }
    EXPECT_EQ(status, 200);
    fixture_end(&f);
}

TEST(far_too_many_connections_are_closed_at_once)
{
    struct fixture f;
    fixture_init(&f);
    f.config.max_connections = 1;
    fixture_start(&f);
    enum { CLIENTS = 120 };
    struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        client_connect(&clients[i], f.port);
    unsigned refused = 0, closed = 0;
    for (int i = 1; i < CLIENTS; i++) {
        struct answer a CLEANUP(answer_deinit);
        client_hear(&clients[i], false, &a);
        refused += a.status == 503;
        closed += a.status == 0;
    }
    EXPECT_EQ(refused + closed, CLIENTS - 1);
    EXPECT(closed > 0);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    fixture_end(&f);
}

static void expect_count(struct client *c, struct str count)
{
    struct answer a CLEANUP(answer_deinit);
    client_hear(c, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT_STR(buf_str(&a.body), count);
}

TEST(the_data_of_a_connection_is_shared_by_its_exchanges_and_destroyed_with_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct client a, b CLEANUP(client_close);
    client_connect(&a, f.port);
    client_connect(&b, f.port);
    client_say(&a, REQUEST("GET", "/count"));
    expect_count(&a, STR("1"));
    /* Two requests at once, and one of another connection. */
    client_say(&a, REQUEST("GET", "/count"));
    client_say(&a, REQUEST("GET", "/count"));
    expect_count(&a, STR("2"));
    expect_count(&a, STR("3"));
    client_say(&b, REQUEST("GET", "/count"));
    expect_count(&b, STR("1"));
    EXPECT_EQ(atomic_load(&f.left), 0);
    client_close(&a);
    EXPECT(reaches(&f.left, 1));
    fixture_end(&f);
    EXPECT_EQ(atomic_load(&f.left), 2);
}

TEST(an_answer_may_close_the_connection_before_the_next_request)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    struct answer a CLEANUP(answer_deinit);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/last"));
    client_say(&c, REQUEST("GET", "/hello"));
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 429);
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("close"));
    EXPECT(client_sees_end(&c));
    EXPECT_EQ(atomic_load(&f.requests), 1);
    fixture_end(&f);
}

TEST(draining_lets_running_exchanges_end_and_closes_idle_connections)
{
    struct fixture f;
    fixture_begin(&f);
    struct client idle CLEANUP(client_close), busy CLEANUP(client_close);
    struct client subscriber CLEANUP(client_close);
    client_connect(&idle, f.port);
    client_connect(&busy, f.port);
    client_connect(&subscriber, f.port);
    client_say(&subscriber, REQUEST("GET", "/events"));
    client_say(&busy, REQUEST("GET", "/later?300"));
    EXPECT(reaches(&f.subscribed, 1));
    EXPECT(reaches(&f.requests, 2));
    http_server_drain(f.server, 20000);
    EXPECT_EQ(http_server_stats(f.server).connections_open, 0);
    struct answer a CLEANUP(answer_deinit), b CLEANUP(answer_deinit);
    client_hear(&busy, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("close"));
    client_hear(&subscriber, false, &b);
    EXPECT_STR(buf_str(&b.body), STR(": welcome\n\nevent: bye\n\n"));
    EXPECT(client_sees_end(&idle));
    fixture_end(&f);
}

TEST(draining_cuts_what_does_not_end_within_the_grace)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/later?1500"));
    EXPECT(reaches(&f.requests, 1));
    http_server_drain(f.server, 100);
    EXPECT_EQ(atomic_load(&f.ended), 1);
    EXPECT(client_sees_end(&c));
    /* The worker returns to an exchange that has ended and that it still holds. */
    fixture_end(&f);
}

TEST(a_server_that_was_never_started_can_be_destroyed)
{
    struct fixture f;
    fixture_init(&f);
    struct http_app app = {.on_request = fixture_on_request};
    struct str why;
    EXPECT(http_server_create(&f.config, &app, &f.arena, &f.server, &why));
    http_server_drain(f.server, 1000);
    http_server_destroy(f.server);
    arena_deinit(&f.arena);
}

TEST(a_server_that_cannot_listen_says_why)
{
    struct fixture f;
    fixture_init(&f);
    struct http_app app = {.on_request = fixture_on_request};
    struct str why = STR_NONE;
    f.config.host = STR("192.0.2.1");
    EXPECT(!http_server_create(&f.config, &app, &f.arena, &f.server, &why));
    EXPECT(str_starts_with(why, STR("cannot listen on 192.0.2.1 port 0: ")));
    f.config.host = STR("127.0.0.1");
    f.config.tls_certificate = STR("/nonexistent.pem");
    f.config.tls_key = STR("/nonexistent.pem");
    EXPECT(!http_server_create(&f.config, &app, &f.arena, &f.server, &why));
    EXPECT(str_starts_with(why, STR("cannot use the certificate /nonexistent.pem: ")));
    arena_deinit(&f.arena);
}

static uint64_t cpu_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
           (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

TEST(a_server_out_of_descriptors_waits_quietly_and_recovers)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    struct rlimit before, none_left;
    getrlimit(RLIMIT_NOFILE, &before);
    none_left = before;
    /* The client's own socket is there already when the limit falls. */
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/hello"));
    struct answer first CLEANUP(answer_deinit);
    client_hear(&c, false, &first);
    int probe = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(probe);
    none_left.rlim_cur = (rlim_t)probe + 1;
    setrlimit(RLIMIT_NOFILE, &none_left);
    /* Another thread may have taken the place meanwhile: exactly one must be left. */
    while ((probe = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) {
        none_left.rlim_cur++;
        setrlimit(RLIMIT_NOFILE, &none_left);
    }
    close(probe);
    struct client late CLEANUP(client_close);
    client_connect(&late, f.port);
    uint64_t cpu_before = cpu_ms();
    client_say(&late, REQUEST("GET", "/hello"));
    sleep_ms(1000);
    EXPECT(cpu_ms() - cpu_before < 150);
    EXPECT_EQ(atomic_load(&f.requests), 1);
    setrlimit(RLIMIT_NOFILE, &before);
    struct answer a CLEANUP(answer_deinit);
    client_hear(&late, false, &a);
    EXPECT_EQ(a.status, 200);
    fixture_end(&f);
}
