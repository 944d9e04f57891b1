/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "net/ws_frames.h"

#define HANDSHAKE                                                                              \
    "GET /ws HTTP/1.1\r\nHost: t\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" \
    "Sec-WebSocket-Version: 13\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define MASK "\0\0\0\0"

static void shake_hands(struct client *c, uint16_t port)
{
    struct answer a CLEANUP(answer_deinit);
    client_connect(c, port);
    client_say(c, STR(HANDSHAKE KEY "\r\n"));
    client_hear_head(c, &a);
    EXPECT_EQ(a.status, 101);
    EXPECT_STR(answer_header(&a, STR("Sec-WebSocket-Accept")), STR("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}

/* A masked frame of any size. */
static bool say_frame(struct client *c, uint8_t first_byte, struct str payload)
{
    static const char mask[4] = {0x12, 0x34, 0x56, 0x78};
    char header[WS_HEADER_BYTES_MAX];
    size_t len = ws_frame_header(0, payload.len, header);
    header[0] = (char)first_byte;
    header[1] = (char)(header[1] | 0x80);
    struct buf frame CLEANUP(buf_deinit);
    buf_init(&frame, payload.len + 16);
    buf_append(&frame, (struct str){header, len});
    buf_append(&frame, (struct str){mask, sizeof mask});
    for (size_t i = 0; i < payload.len; i++)
        buf_append_byte(&frame, (char)(payload.ptr[i] ^ mask[i % 4]));
    return client_say(c, buf_str(&frame));
}

/* Reads one short or middling frame; the server's are never masked. */
static void expect_frame(struct client *c, uint8_t first_byte, struct str payload)
{
    if (!client_need(c, 2)) {
        test_fail(__FILE__, __LINE__, "no frame, expected %02x", first_byte);
        return;
    }
    size_t len = (unsigned char)c->in.ptr[1], start = 2;
    if (len == 126 && client_need(c, 4)) {
        len = (size_t)(unsigned char)c->in.ptr[2] << 8 | (unsigned char)c->in.ptr[3];
        start = 4;
    }
    EXPECT_EQ((unsigned char)c->in.ptr[0], first_byte);
    EXPECT(client_need(c, start + len));
    EXPECT_STR(str_slice(buf_str(&c->in), start, start + len), payload);
    buf_consume(&c->in, start + len);
}

static void expect_close(struct client *c, uint16_t code)
{
    char payload[2] = {(char)(code >> 8), (char)(code & 0xff)};
    expect_frame(c, 0x88, (struct str){payload, sizeof payload});
    EXPECT(client_sees_end(c));
}

TEST(messages_come_back_over_a_websocket)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    say_frame(&c, 0x81, STR("hello"));
    expect_frame(&c, 0x81, STR("hello"));
    say_frame(&c, 0x82, STR("\xff\xfe"));
    expect_frame(&c, 0x81, STR("(binary)"));
    say_frame(&c, 0x81, STR(""));
    expect_frame(&c, 0x81, STR(""));
    static char large[20000];
    memset(large, 'x', sizeof large);
    say_frame(&c, 0x81, (struct str){large, sizeof large});
    expect_frame(&c, 0x81, (struct str){large, sizeof large});
    client_hang_up(&c);
    fixture_end(&f);
}

TEST(a_message_may_follow_the_handshake_in_the_same_packet)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    struct answer a CLEANUP(answer_deinit);
    client_connect(&c, f.port);
    client_say(&c, STR(HANDSHAKE KEY "Sec-WebSocket-Protocol: cairn.v1\r\n\r\n"
                                     "\x81\x82" MASK "hi"));
    client_hear_head(&c, &a);
    EXPECT_EQ(a.status, 101);
    EXPECT_STR(answer_header(&a, STR("Upgrade")), STR("websocket"));
    EXPECT_STR(answer_header(&a, STR("Connection")), STR("Upgrade"));
    EXPECT_STR(answer_header(&a, STR("Sec-WebSocket-Protocol")), STR("cairn.v1"));
    expect_frame(&c, 0x81, STR("hi"));
    client_hang_up(&c);
    fixture_end(&f);
}

TEST(a_handshake_that_breaks_a_rule_is_not_accepted)
{
    struct fixture f;
    fixture_begin(&f);
    static const char *const HANDSHAKES[] = {
        "GET /ws HTTP/1.1\r\nHost: t\r\n\r\n",
        HANDSHAKE "\r\n",
        HANDSHAKE KEY KEY "\r\n",
        HANDSHAKE "Sec-WebSocket-Key: short\r\n\r\n",
        HANDSHAKE "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=a\r\n\r\n",
        HANDSHAKE "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j*Q==\r\n\r\n",
        HANDSHAKE KEY "Sec-WebSocket-Version: 12\r\n\r\n",
        HANDSHAKE KEY "Content-Length: 1\r\n\r\nx",
        "POST /ws HTTP/1.1\r\nHost: t\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\n" KEY "\r\n",
        "GET /ws HTTP/1.0\r\nHost: t\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\n" KEY "\r\n",
        "GET /ws HTTP/1.1\r\nHost: t\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" KEY
        "\r\n",
        "GET /ws HTTP/1.1\r\nHost: t\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\n" KEY "\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(HANDSHAKES); i++)
        EXPECT_EQ(client_ask(f.port, str_of(HANDSHAKES[i])), 426);
    fixture_end(&f);
}

TEST(fragments_make_one_message_with_pings_in_between)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    say_frame(&c, 0x01, STR("caf\xc3"));
    say_frame(&c, 0x89, STR("are you there"));
    expect_frame(&c, 0x8a, STR("are you there"));
    say_frame(&c, 0x00, STR("\xa9"));
    say_frame(&c, 0x80, STR("!"));
    expect_frame(&c, 0x81, STR("caf\xc3\xa9!"));
    client_hang_up(&c);
    fixture_end(&f);
}

TEST(the_clients_close_is_echoed_and_the_connection_ends)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close), d CLEANUP(client_close);
    shake_hands(&c, f.port);
    say_frame(&c, 0x88,
        STR("\x0f\xa1"
            "done"));
    expect_close(&c, 4001);
    EXPECT(reaches(&f.ended, 1));
    shake_hands(&d, f.port);
    say_frame(&d, 0x88, STR(""));
    expect_frame(&d, 0x88, STR(""));
    EXPECT(client_sees_end(&d));
    fixture_end(&f);
}

TEST(the_applications_close_waits_for_the_clients)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    say_frame(&c, 0x81, STR("close"));
    expect_frame(&c, 0x88,
        STR("\x0f\xa1"
            "as you wish"));
    EXPECT_EQ(atomic_load(&f.ended), 0);
    say_frame(&c, 0x81, STR("too late"));
    say_frame(&c, 0x88, STR("\x0f\xa1"));
    EXPECT(client_sees_end(&c));
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(a_client_that_never_answers_the_close_is_cut_off)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    say_frame(&c, 0x81, STR("close"));
    expect_frame(&c, 0x88,
        STR("\x0f\xa1"
            "as you wish"));
    EXPECT(client_sees_end(&c));
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

static void expect_failure(
    const struct fixture *f, uint8_t first_byte, struct str payload, uint16_t code)
{
    struct client c CLEANUP(client_close);
    shake_hands(&c, f->port);
    say_frame(&c, first_byte, payload);
    expect_close(&c, code);
}

TEST(what_breaks_a_rule_of_websocket_is_closed_with_the_right_code)
{
    struct fixture f;
    fixture_init(&f);
    f.config.ws_message_bytes = 1000;
    fixture_start(&f);
    expect_failure(&f, 0x81, STR("\xff\xff"), 1007);
    expect_failure(&f, 0x88, STR("\x03\xe8\xff"), 1007);
    expect_failure(&f, 0x88, STR("\x03\xee"), 1002);
    expect_failure(&f, 0xc1, STR("a"), 1002);
    expect_failure(&f, 0x83, STR("a"), 1002);
    expect_failure(&f, 0x80, STR("a"), 1002);
    static char large[100000];
    expect_failure(&f, 0x82, (struct str){large, sizeof large}, 1009);
    struct client unmasked CLEANUP(client_close);
    shake_hands(&unmasked, f.port);
    client_say(&unmasked, STR("\x81\x05hello"));
    expect_close(&unmasked, 1002);
    EXPECT(reaches(&f.ended, 8));
    fixture_end(&f);
}

TEST(a_client_in_the_middle_of_a_message_that_is_too_big_can_read_why)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    client_say(&c, STR("\x82\xff\0\0\0\0\x04\0\0\0" MASK "x"));
    static const char megabyte[1 << 20];
    for (int i = 0; i < 4; i++)
        EXPECT(client_say(&c, (struct str){megabyte, sizeof megabyte}));
    expect_close(&c, 1009);
    fixture_end(&f);
}

TEST(the_server_pings_and_keeps_a_client_that_answers)
{
    struct fixture f;
    fixture_init(&f);
    f.config.ws_ping_ms = 400;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    for (int i = 0; i < 5; i++) {
        expect_frame(&c, 0x89, STR(""));
        say_frame(&c, 0x8a, STR(""));
    }
    EXPECT_EQ(atomic_load(&f.ended), 0);
    client_hang_up(&c);
    fixture_end(&f);
}

TEST(a_client_that_answers_no_ping_is_dropped)
{
    struct fixture f;
    fixture_init(&f);
    f.config.ws_ping_ms = 300;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    expect_frame(&c, 0x89, STR(""));
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(a_client_that_pings_without_reading_is_not_read_for_ever)
{
    struct fixture f;
    fixture_init(&f);
    f.config.stream_max_bytes = 64 * 1024;
    f.config.stall_timeout_ms = 1000;
    fixture_start(&f);
    struct client c CLEANUP(client_close);
    struct answer a CLEANUP(answer_deinit);
    client_connect_narrow(&c, f.port);
    client_say(&c, STR(HANDSHAKE KEY "\r\n"));
    client_hear_head(&c, &a);
    char payload[WS_CONTROL_BYTES_MAX] = {0};
    /* Its pongs back up, the server stops reading, and in the end the stall deadline cuts it. */
    for (int i = 0; i < 1000000 && atomic_load(&f.ended) == 0; i++)
        if (!say_frame(&c, 0x89, (struct str){payload, sizeof payload}))
            break;
    EXPECT(reaches(&f.ended, 1));
    fixture_end(&f);
}

TEST(draining_closes_a_websocket_with_going_away)
{
    struct fixture f;
    fixture_begin(&f);
    struct client c CLEANUP(client_close);
    shake_hands(&c, f.port);
    EXPECT(reaches(&f.subscribed, 1));
    http_server_drain(f.server, 500);
    expect_frame(&c, 0x88, STR("\x03\xe9"));
    fixture_end(&f);
}
