/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>

#include "fixture.h"
#include "net/shares.h"

/* --- Ids ------------------------------------------------------------------------------------- */

static struct uuid id_of(const char *text, bool *out_is_loopback)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.v4 = {.sin_family = AF_INET}};
    struct uuid id = UUID_NIL;
    if (inet_pton(AF_INET, text, &address.v4.sin_addr) != 1) {
        address.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
        EXPECT_EQ(inet_pton(AF_INET6, text, &address.v6.sin6_addr), 1);
    }
    EXPECT(share_id_of_address(&address.any, &id, out_is_loopback));
    return id;
}

static bool is_same(const char *a, const char *b)
{
    bool unused;
    return uuid_eq(id_of(a, &unused), id_of(b, &unused));
}

static bool is_loopback(const char *text)
{
    bool found;
    id_of(text, &found);
    return found;
}

TEST(an_ipv4_address_is_one_client_however_it_is_written)
{
    EXPECT(is_same("192.0.2.1", "::ffff:192.0.2.1"));
    EXPECT(!is_same("192.0.2.1", "192.0.2.2"));
}

TEST(the_addresses_of_a_64_bit_network_are_one_client)
{
    EXPECT(is_same("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
    EXPECT(!is_same("2001:db8:1:2::1", "2001:db8:1:3::1"));
}

TEST(loopback_addresses_are_recognised)
{
    EXPECT(is_loopback("127.0.0.1"));
    EXPECT(is_loopback("127.255.255.254"));
    EXPECT(is_loopback("::ffff:127.0.0.1"));
    EXPECT(is_loopback("::1"));
    EXPECT(!is_loopback("128.0.0.1"));
    EXPECT(!is_loopback("::2"));
    EXPECT(!is_loopback("7f00::1"));
}

TEST(a_family_without_addresses_has_no_id)
{
    struct sockaddr local = {.sa_family = AF_UNIX};
    struct uuid id;
    bool is_loopback;
    EXPECT(!share_id_of_address(&local, &id, &is_loopback));
}

/* --- The table ------------------------------------------------------------------------------- */

static struct uuid numbered(unsigned n)
{
    return (struct uuid){{(uint8_t)(n >> 8), (uint8_t)n}};
}

TEST(shares_are_found_again_while_they_are_referenced)
{
    enum { IDS = 1000 };
    struct shares s;
    struct share *taken[IDS];
    shares_init(&s);
    for (unsigned i = 0; i < IDS; i++)
        taken[i] = shares_take(&s, numbered(i));
    EXPECT_EQ(s.count, IDS);
    for (unsigned i = 0; i < IDS; i++) {
        EXPECT(shares_take(&s, numbered(i)) == taken[i]);
        shares_release(&s, taken[i]);
    }
    EXPECT_EQ(s.count, IDS);
    for (unsigned i = 0; i < IDS; i++)
        shares_release(&s, taken[i]);
    EXPECT_EQ(s.count, 0);
    shares_release(&s, NULL);
    shares_deinit(&s);
}

TEST(a_count_reaches_its_maximum_and_no_more)
{
    _Atomic size_t count = 0;
    EXPECT(share_add(&count, 10, 10));
    EXPECT(!share_add(&count, 1, 10));
    EXPECT_EQ(count, 10);
    share_remove(&count, 1);
    EXPECT(share_add(&count, 1, 10));
}

/* --- Connections ------------------------------------------------------------------------------ */

static void begin_with_places(struct fixture *f, size_t max_per_address, bool limits_loopback)
{
    fixture_init(f);
    f->config.max_per_address = max_per_address;
    f->config.limits_loopback = limits_loopback;
    fixture_start(f);
}

static void subscribe(struct client *c, uint8_t host, uint16_t port)
{
    client_connect_from(c, host, port);
    client_say(c, REQUEST("GET", "/events"));
}

static int ask_from(uint8_t host, uint16_t port, struct str request)
{
    struct client c CLEANUP(client_close);
    struct answer a CLEANUP(answer_deinit);
    client_connect_from(&c, host, port);
    client_say(&c, request);
    client_hear(&c, false, &a);
    return a.status;
}

TEST(an_address_with_too_many_connections_gets_503_and_others_are_served)
{
    struct fixture f;
    begin_with_places(&f, 2, true);
    struct client a CLEANUP(client_close), b, excess CLEANUP(client_close);
    subscribe(&a, 2, f.port);
    subscribe(&b, 2, f.port);
    EXPECT(reaches(&f.subscribed, 2));
    struct answer refusal CLEANUP(answer_deinit);
    client_connect_from(&excess, 2, f.port);
    client_hear(&excess, false, &refusal);
    EXPECT_EQ(refusal.status, 503);
    EXPECT_STR(answer_header(&refusal, STR("Retry-After")), STR("1"));
    EXPECT_STR(buf_str(&refusal.body), STR("{\"rule\":\"the address has too many connections "
                                           "(--max-connections-per-address)\"}"));
    EXPECT_EQ(http_server_stats(f.server).excess_total, 1);
    EXPECT_EQ(ask_from(3, f.port, REQUEST("GET", "/hello")), 200);
    client_close(&b);
    EXPECT(reaches(&f.ended, 1));
    client_hang_up(&excess);
    /* The refused one lingers for a moment. */
    int status = 503;
    for (int i = 0; i < 1000 && status != 200; i++) {
        sleep_ms(10);
        status = ask_from(2, f.port, REQUEST("GET", "/hello"));
    }
    EXPECT_EQ(status, 200);
    fixture_end(&f);
}

TEST(far_too_many_connections_of_an_address_are_closed_at_once)
{
    enum { CLIENTS = 120 };
    struct fixture f;
    begin_with_places(&f, 1, true);
    struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        client_connect_from(&clients[i], 2, f.port);
    unsigned refused = 0, closed = 0;
    for (int i = 1; i < CLIENTS; i++) {
        struct answer a CLEANUP(answer_deinit);
        client_hear(&clients[i], false, &a);
        refused += a.status == 503;
        closed += a.status == 0;
    }
    EXPECT_EQ(refused + closed, CLIENTS - 1);
    EXPECT(closed > 0);
    EXPECT_EQ(http_server_stats(f.server).excess_total, CLIENTS - 1);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    fixture_end(&f);
}

TEST(loopback_addresses_have_no_limit_unless_it_is_set_for_them)
{
    struct fixture f;
    begin_with_places(&f, 1, false);
    struct client a CLEANUP(client_close), b CLEANUP(client_close);
    subscribe(&a, 2, f.port);
    subscribe(&b, 2, f.port);
    EXPECT(reaches(&f.subscribed, 2));
    EXPECT_EQ(http_server_stats(f.server).excess_total, 0);
    fixture_end(&f);
}

/* --- Bodies ----------------------------------------------------------------------------------- */

enum { MEMORY = 4000, QUARTER = MEMORY / 4 };

static void begin_with_memory(struct fixture *f)
{
    fixture_init(f);
    f->config.max_per_address = 100;
    f->config.limits_loopback = true;
    f->config.collected_max_bytes = MEMORY;
    fixture_start(f);
}

/* Starts a request and sends `sent` bytes of its body. */
static void start_body(
    struct client *c, uint8_t host, uint16_t port, const char *path, size_t length, size_t sent)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(1 << 20);
    client_connect_from(c, host, port);
    client_say(c, arena_printf(&arena, "POST %s HTTP/1.1\r\nHost: t\r\nContent-Length: %zu\r\n\r\n",
                      path, length));
    client_say(c, (struct str){arena_zalloc(&arena, sent), sent});
}

static int send_body(uint8_t host, uint16_t port, const char *path, size_t length)
{
    struct client c CLEANUP(client_close);
    struct answer a CLEANUP(answer_deinit);
    start_body(&c, host, port, path, length, length);
    client_hear(&c, false, &a);
    if (a.status != 200)
        EXPECT_STR(answer_header(&a, STR("Retry-After")), STR("1"));
    return a.status;
}

/* A request that keeps `bytes` of its unfinished body in the server's memory. */
static void hold(struct fixture *f, struct client *c, uint8_t host, const char *path, size_t bytes)
{
    uint64_t before = http_server_stats(f->server).bytes_in;
    start_body(c, host, f->port, path, bytes + 1, bytes);
    for (int i = 0; i < 3000 && http_server_stats(f->server).bytes_in < before + bytes; i++)
        sleep_ms(10);
}

TEST(the_bodies_of_an_address_may_have_a_quarter_of_the_memory)
{
    struct fixture f;
    begin_with_memory(&f);
    EXPECT_EQ(send_body(2, f.port, "/echo", QUARTER), 200);
    EXPECT_EQ(send_body(2, f.port, "/echo", QUARTER + 1), 429);
    struct client c;
    hold(&f, &c, 2, "/echo", QUARTER - 1);
    EXPECT_EQ(send_body(2, f.port, "/echo", 1), 200);
    EXPECT_EQ(send_body(2, f.port, "/echo", 2), 429);
    EXPECT_EQ(send_body(3, f.port, "/echo", QUARTER), 200);
    client_close(&c);
    EXPECT(reaches(&f.ended, 6));
    EXPECT_EQ(send_body(2, f.port, "/echo", QUARTER), 200);
    fixture_end(&f);
}

TEST(the_bodies_of_an_owner_count_for_the_owner_and_not_for_the_address)
{
    struct fixture f;
    begin_with_memory(&f);
    struct client a, b, c CLEANUP(client_close);
    hold(&f, &a, 2, "/owned-echo?1", QUARTER);
    EXPECT_EQ(send_body(3, f.port, "/owned-echo?1", 1), 429);
    EXPECT_EQ(send_body(2, f.port, "/echo", QUARTER), 200);
    /* Owners 1 and 2 are parts of one owner, who may have half of the memory. */
    hold(&f, &b, 2, "/owned-echo?2", QUARTER - 1);
    EXPECT_EQ(send_body(2, f.port, "/owned-echo?3", 1), 200);
    EXPECT_EQ(send_body(2, f.port, "/owned-echo?3", 2), 429);
    hold(&f, &c, 2, "/owned-echo?11", QUARTER);
    EXPECT_EQ(send_body(2, f.port, "/owned-echo?12", QUARTER), 200);
    client_close(&a);
    client_close(&b);
    EXPECT(reaches(&f.ended, 7));
    EXPECT_EQ(send_body(2, f.port, "/owned-echo?1", QUARTER), 200);
    fixture_end(&f);
}

TEST(all_bodies_together_may_have_the_whole_memory)
{
    struct fixture f;
    begin_with_memory(&f);
    struct client clients[4];
    for (uint8_t i = 0; i < COUNT_OF(clients); i++)
        hold(&f, &clients[i], 2 + i, "/echo", QUARTER);
    EXPECT_EQ(send_body(9, f.port, "/echo", 1), 503);
    EXPECT_EQ(send_body(9, f.port, "/owned-echo?1", 1), 503);
    client_close(&clients[0]);
    EXPECT(reaches(&f.ended, 3));
    EXPECT_EQ(send_body(9, f.port, "/owned-echo?1", QUARTER), 200);
    for (uint8_t i = 1; i < COUNT_OF(clients); i++)
        client_close(&clients[i]);
    fixture_end(&f);
}
