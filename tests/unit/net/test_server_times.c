/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "net/outqueue.h"

enum { SHORT_MS = 400 };

/* The one deadline under test is short, the others stay long. */
static struct fixture *begin_with(struct fixture *f, uint32_t *deadline_ms)
{
    *deadline_ms = SHORT_MS;
    fixture_start(f);
    return f;
}

TEST(a_head_that_does_not_end_in_time_gets_408)
{
    struct fixture f;
    fixture_init(&f);
    begin_with(&f, &f.config.head_timeout_ms);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("GET /hello HTTP/1.1\r\nHost: t\r\n"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 408);
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_head_that_drips_in_gets_408_all_the_same)
{
    struct fixture f;
    fixture_init(&f);
    begin_with(&f, &f.config.head_timeout_ms);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("GET /hello HTTP/1.1\r\nX: "));
    for (int i = 0; i < 400 && client_say(&c, STR("x")); i++)
        if (http_server_stats(f.server).refused_total > 0)
            break;
        else
            sleep_ms(20);
    EXPECT_EQ(http_server_stats(f.server).refused_total, 1);
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 408);
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_connection_that_says_nothing_is_closed_without_a_word)
{
    struct fixture f;
    fixture_init(&f);
    begin_with(&f, &f.config.head_timeout_ms);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_connection_that_idles_between_requests_is_closed)
{
    struct fixture f;
    fixture_init(&f);
    begin_with(&f, &f.config.idle_timeout_ms);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/hello"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_body_that_stops_coming_gets_408)
{
    struct fixture f;
    fixture_init(&f);
    begin_with(&f, &f.config.stall_timeout_ms);
    EXPECT_EQ(
        client_ask(f.port, STR("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc")),
        408);
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(a_body_below_the_least_rate_gets_408_though_it_never_stops)
{
    struct fixture f;
    fixture_init(&f);
    f.config.min_body_rate = 1000000;
    begin_with(&f, &f.config.stall_timeout_ms);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n"));
    for (int i = 0; i < 1000 && client_say(&c, STR("x")); i++)
        if (http_server_stats(f.server).refused_total > 0)
            break;
        else
            sleep_ms(10);
    EXPECT_EQ(http_server_stats(f.server).refused_total, 1);
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 408);
    EXPECT(client_sees_end(&c));
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(a_body_that_is_read_whole_gets_408_after_its_time_though_it_is_fast_enough)
{
    struct fixture f;
    fixture_init(&f);
    f.config.min_body_rate = 1;
    begin_with(&f, &f.config.body_timeout_ms);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n"));
    for (int i = 0; i < 1000 && client_say(&c, STR("xxxxxxxxxx")); i++)
        if (http_server_stats(f.server).refused_total > 0)
            break;
        else
            sleep_ms(10);
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 408);
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_streamed_body_may_take_longer_than_one_that_is_read_whole)
{
    struct fixture f;
    fixture_init(&f);
    f.config.min_body_rate = 1;
    begin_with(&f, &f.config.body_timeout_ms);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 80\r\n\r\n"));
    for (int i = 0; i < 80; i++) {
        client_say(&c, STR("x"));
        sleep_ms(SHORT_MS / 40);
    }
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 200);
    fixture_end(&f);
}

TEST(an_application_that_pauses_an_upload_does_not_time_it_out)
{
    struct fixture f;
    fixture_init(&f);
    f.config.min_body_rate = 10000;
    f.config.stall_timeout_ms = 2000;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    /* Thirty runs with a pause of 20 ms after each: three times in the app what the sender takes.
     */
    client_say(
        &c, STR("POST /slow-upload HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 30; i++)
        EXPECT(client_say(&c, STR("3\r\nabc\r\n")));
    EXPECT(client_say(&c, STR("0\r\n\r\n")));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT_STR(buf_str(&a.body), STR("90"));
    fixture_end(&f);
}

TEST(a_reader_that_stalls_is_closed_and_the_others_are_served)
{
    struct fixture f;
    fixture_init(&f);
    f.config.loops = 1;
    begin_with(&f, &f.config.stall_timeout_ms);
    struct client stalled CLEANUP(client_close), good CLEANUP(client_close);
    client_connect_narrow(&stalled, f.port);
    client_say(&stalled, REQUEST("GET", "/download?200000000"));
    client_connect(&good, f.port);
    unsigned served = 0;
    while (atomic_load(&f.ended) == served && served < 2000) {
        client_say(&good, REQUEST("GET", "/hello"));
        struct answer a CLEANUP(answer_deinit);
        client_hear(&good, false, &a);
        EXPECT_EQ(a.status, 200);
        /* Its on_end has run before the answer was read, or runs just now. */
        EXPECT(reaches(&f.ended, ++served));
        sleep_ms(5);
    }
    EXPECT_EQ(atomic_load(&f.ended), served + 1);
    EXPECT(atomic_load(&f.produced) < 200000000);
    fixture_end(&f);
}

TEST(when_too_much_waits_to_be_taken_those_go_who_wait_the_longest)
{
    enum { SLOW = 12 };
    struct fixture f;
    fixture_init(&f);
    f.config.loops = 1;
    f.config.unsent_max_bytes = 2 * f.config.stream_max_bytes;
    fixture_start(&f);
    struct client slow[SLOW];
    for (unsigned i = 0; i < SLOW; i++) {
        client_connect_narrow(&slow[i], f.port);
        client_say(&slow[i], REQUEST("GET", "/download?200000000"));
        EXPECT(reaches(&f.requests, i + 1));
        sleep_ms(10); /* so that one is later than the other */
    }
    EXPECT(reaches(&f.ended, 1));
    EXPECT_EQ(client_ask(f.port, REQUEST("GET", "/hello")), 200);
    for (int i = 0; i < 1000 && outqueue_held_bytes() > f.config.unsent_max_bytes; i++)
        sleep_ms(10); /* each is given a second */
    EXPECT(outqueue_held_bytes() <= f.config.unsent_max_bytes);
    uint64_t shed = http_server_stats(f.server).shed_total;
    EXPECT(shed > 0 && shed < SLOW);
    struct answer a CLEANUP(answer_deinit);
    client_hear_head(&slow[SLOW - 1], &a);
    EXPECT_EQ(a.status, 200);
    EXPECT(client_need(&slow[SLOW - 1], f.config.stream_max_bytes)); /* the last is still served */
    while (client_listen(&slow[0]))                                  /* the first is not */
        buf_reset(&slow[0].in);
    for (unsigned i = 0; i < SLOW; i++)
        client_close(&slow[i]);
    fixture_end(&f);
}

TEST(an_answer_that_takes_long_to_make_is_not_timed_out)
{
    struct fixture f;
    fixture_init(&f);
    f.config.head_timeout_ms = f.config.idle_timeout_ms = f.config.stall_timeout_ms = 200;
    fixture_start(&f);
    EXPECT_EQ(client_ask(f.port, REQUEST("GET", "/later?1000")), 200);
    fixture_end(&f);
}
