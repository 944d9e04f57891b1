/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void expect_answer(struct client *c, int status, struct str body)
{
    struct answer a CLEANUP(answer_deinit);
    client_hear(c, false, &a);
    EXPECT_EQ(a.status, status);
    EXPECT_STR(buf_str(&a.body), body);
}

TEST(a_connection_serves_request_after_request)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    for (int i = 0; i < 50; i++) {
        EXPECT(client_say(&c, REQUEST("GET", "/hello")));
        expect_answer(&c, 200, STR("hello\n"));
    }
    EXPECT_EQ(http_server_stats(f.server).connections_total, 1);
    EXPECT_EQ(http_server_stats(f.server).requests_total, 50);
    fixture_end(&f);
}

TEST(an_answer_carries_date_length_and_type)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    struct answer a CLEANUP(answer_deinit);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/hello"));
    client_hear(&c, false, &a);
    EXPECT_STR(answer_header(&a, STR("Content-Length")), STR("6"));
    EXPECT_STR(answer_header(&a, STR("Content-Type")), STR("text/plain"));
    struct str date = answer_header(&a, STR("Date"));
    EXPECT_EQ(date.len, 29);
    EXPECT_STR(str_slice(date, 25, 29), STR(" GMT"));
    EXPECT(str_is_none(answer_header(&a, STR("Connection"))));
    fixture_end(&f);
}

TEST(pipelined_requests_are_answered_in_order_though_another_thread_answers_them)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    /* The first takes longest, some are answered at once: order must hold all the same. */
    EXPECT(client_say(
        &c, STR("GET /later?60 HTTP/1.1\r\nHost: t\r\n\r\nGET /hello HTTP/1.1\r\nHost: t\r\n\r\n"
                "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc"
                "GET /later?5 HTTP/1.1\r\nHost: t\r\n\r\nGET /later?0 HTTP/1.1\r\nHost: t\r\n\r\n"
                "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                "1\r\nx\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: t\r\n\r\n")));
    expect_answer(&c, 200, STR("/later?60"));
    expect_answer(&c, 200, STR("hello\n"));
    expect_answer(&c, 200, STR("abc"));
    expect_answer(&c, 200, STR("/later?5"));
    expect_answer(&c, 200, STR("/later?0"));
    expect_answer(&c, 200, STR("x"));
    expect_answer(&c, 200, STR("hello\n"));
    fixture_end(&f);
}

TEST(a_flood_of_pipelined_requests_is_read_no_faster_than_it_is_answered)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    enum { REQUESTS = 3000 };
    struct buf flood CLEANUP(buf_deinit);
    buf_init(&flood, 1 << 20);
    buf_append(&flood, REQUEST("GET", "/later?300"));
    for (int i = 1; i < REQUESTS; i++)
        buf_append(&flood, REQUEST("GET", "/hello"));
    EXPECT(client_say(&c, buf_str(&flood)));
    /* While the first is being answered, only the read-ahead was taken from the socket. */
    EXPECT(reaches(&f.requests, 1));
    sleep_ms(50);
    EXPECT(http_server_stats(f.server).bytes_in <= 2 * 16384);
    expect_answer(&c, 200, STR("/later?300"));
    for (int i = 1; i < REQUESTS; i++)
        expect_answer(&c, 200, STR("hello\n"));
    fixture_end(&f);
}

TEST(a_request_may_arrive_byte_by_byte)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    struct str request = STR("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n");
    for (size_t i = 0; i < request.len; i++)
        client_say(&c, str_slice(request, i, i + 1));
    expect_answer(&c, 200, STR("abcde"));
    fixture_end(&f);
}

TEST(head_gets_the_head_of_get_and_no_body)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("HEAD", "/hello"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, true, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT_STR(answer_header(&a, STR("Content-Length")), STR("6"));
    client_say(&c, REQUEST("HEAD", "/download?100000"));
    struct answer b CLEANUP(answer_deinit);
    client_hear(&c, true, &b);
    EXPECT_EQ(b.status, 200);
    client_say(&c, REQUEST("GET", "/hello"));
    expect_answer(&c, 200, STR("hello\n"));
    fixture_end(&f);
}

TEST(no_content_and_not_modified_have_no_body)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/empty"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 204);
    EXPECT(str_is_none(answer_header(&a, STR("Content-Length"))));
    client_say(&c, REQUEST("GET", "/unchanged"));
    struct answer b CLEANUP(answer_deinit);
    client_hear(&c, false, &b);
    EXPECT_EQ(b.status, 304);
    EXPECT_STR(answer_header(&b, STR("Content-Length")), STR("12"));
    client_say(&c, REQUEST("GET", "/hello"));
    expect_answer(&c, 200, STR("hello\n"));
    fixture_end(&f);
}

TEST(http_1_0_closes_unless_it_asks_to_be_kept)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close), d CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("GET /hello HTTP/1.0\r\nHost: t\r\nConnection: keep-alive\r\n\r\n"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("keep-alive"));
    client_say(&c, STR("GET /hello HTTP/1.0\r\nHost: t\r\n\r\n"));
    expect_answer(&c, 200, STR("hello\n"));
    EXPECT(client_sees_end(&c));
    /* A streamed answer ends with the connection. */
    client_connect(&d, f.port);
    client_say(&d, STR("GET /download?100000 HTTP/1.0\r\nHost: t\r\n\r\n"));
    struct answer b CLEANUP(answer_deinit);
    client_hear(&d, false, &b);
    EXPECT_EQ(b.body.len, 100000);
    EXPECT_STR(answer_header(&b, STR("Connection")), STR("close"));
    fixture_end(&f);
}

TEST(connection_close_is_honoured)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("GET /hello HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("close"));
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_client_that_has_closed_its_sending_side_still_gets_its_answers)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/later?50"));
    client_say(&c, REQUEST("GET", "/hello"));
    client_hang_up(&c);
    expect_answer(&c, 200, STR("/later?50"));
    expect_answer(&c, 200, STR("hello\n"));
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(continue_is_said_only_when_the_body_is_wanted)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close), d CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c,
        STR("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
    expect_answer(&c, 100, STR(""));
    client_say(&c, STR("abc"));
    expect_answer(&c, 200, STR("abc"));
    /* Refused by its head: no 100, and the connection cannot be kept. */
    client_connect(&d, f.port);
    client_say(&d, STR("POST /forbidden HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n"
                       "Expect: 100-continue\r\n\r\n"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&d, false, &a);
    EXPECT_EQ(a.status, 403);
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("close"));
    EXPECT(client_sees_end(&d));
    fixture_end(&f);
}

TEST(continue_is_not_said_once_the_answer_has_begun)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /mirror HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n"
                       "Expect: 100-continue\r\n\r\n"));
    struct answer head CLEANUP(answer_deinit);
    client_hear_head(&c, &head);
    EXPECT_EQ(head.status, 200);
    client_say(&c, STR("abc"));
    EXPECT(client_need(&c, 13));
    EXPECT_STR(buf_str(&c.in), STR("3\r\nabc\r\n0\r\n\r\n"));
    client_hang_up(&c);
    fixture_end(&f);
}

TEST(an_exchange_that_ends_while_paused_leaves_its_connection_usable)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    for (int i = 0; i < 3; i++) {
        client_say(&c, STR("POST /pause-at-end HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\n"));
        client_say(&c, STR("abc"));
        expect_answer(&c, 200, STR("paused\n"));
    }
    fixture_end(&f);
}

TEST(a_small_unwanted_body_is_read_over_and_the_connection_kept)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /forbidden HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\n"));
    expect_answer(&c, 403, STR("no\n"));
    client_say(&c, STR("01234"));
    client_say(&c, STR("POST /forbidden HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "2\r\nab\r\n0\r\n\r\n"));
    expect_answer(&c, 403, STR("no\n"));
    client_say(&c, REQUEST("GET", "/hello"));
    expect_answer(&c, 200, STR("hello\n"));
    fixture_end(&f);
}

TEST(a_client_that_sends_a_large_unwanted_body_can_read_the_answer)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /forbidden HTTP/1.1\r\nHost: t\r\nContent-Length: 8000000\r\n\r\n"));
    static const char megabyte[1 << 20];
    for (int i = 0; i < 4; i++)
        EXPECT(client_say(&c, (struct str){megabyte, sizeof megabyte}));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 403);
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("close"));
    client_hang_up(&c);
    fixture_end(&f);
}

TEST(a_body_over_the_routes_limit_gets_413)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close), d CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1048577\r\n"
                       "Expect: 100-continue\r\n\r\n"));
    expect_answer(&c, 413, STR("{\"rule\":\"the body is larger than this route allows\"}"));
    EXPECT(client_sees_end(&c));
    client_connect(&d, f.port);
    client_say(&d, STR("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"));
    client_say(&d, STR("100001\r\n"));
    expect_answer(&d, 413, STR("{\"rule\":\"the body is larger than this route allows\"}"));
    EXPECT(client_sees_end(&d));
    fixture_end(&f);
}

TEST(a_malformed_request_is_answered_in_the_applications_words_and_the_connection_ends)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("GET / HTTP/1.1\r\nHost: t\r\nX : y\r\n\r\nGET /hello HTTP/1.1\r\n"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 400);
    EXPECT_STR(answer_header(&a, STR("Content-Type")), STR("application/problem+json"));
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("close"));
    EXPECT(client_sees_end(&c));
    EXPECT_EQ(atomic_load(&f.requests), 0);
    EXPECT_EQ(http_server_stats(f.server).refused_total, 1);
    fixture_end(&f);
}

TEST(a_client_that_has_closed_its_sending_side_gets_400_for_a_malformed_request)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/later?50"));
    client_say(&c, STR("GET / HTTP/1.1\r\nHost: t\r\nX : y\r\n\r\n"));
    client_hang_up(&c);
    expect_answer(&c, 200, STR("/later?50"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 400);
    EXPECT(client_sees_end(&c));
    fixture_end(&f);
}

TEST(a_malformed_chunk_ends_the_exchange_with_400)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(client_ask(
                  f.port, STR("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                              "3\r\nabcX")),
        400);
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(a_body_cut_short_ends_the_exchange_without_an_answer)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, STR("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nabc"));
    client_hang_up(&c);
    EXPECT(client_sees_end(&c));
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(a_client_that_leaves_before_its_answer_harms_nothing)
{
    struct fixture f;
    fixture_begin(&f);
    for (int i = 0; i < 10; i++) {
        struct client c;
        client_connect(&c, f.port);
        client_say(&c, REQUEST("GET", "/later?10"));
        EXPECT(reaches(&f.requests, (unsigned)i + 1));
        client_close(&c);
    }
    EXPECT(reaches(&f.ended, 10));
    EXPECT_EQ(client_ask(f.port, REQUEST("GET", "/hello")), 200);
    fixture_end(&f);
}

TEST(a_header_value_cannot_smuggle_a_line_into_the_answer)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    client_connect(&c, f.port);
    client_say(&c, REQUEST("GET", "/injection"));
    struct answer a CLEANUP(answer_deinit);
    client_hear(&c, false, &a);
    EXPECT_EQ(a.status, 200);
    EXPECT(str_is_none(answer_header(&a, STR("X-Evil"))));
    EXPECT_STR(answer_header(&a, STR("X-Name")), STR("a  X-Evil: 1    b"));
    fixture_end(&f);
}
