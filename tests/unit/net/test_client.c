/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP client against a real socket that sends the bytes of the test. */
#include "net/client.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "test.h"

enum { REQUEST_MAX_BYTES = 64 * 1024, MAX_CONNECTIONS = 4, SHORT_MS = 200, LONG_MS = 20000 };

enum then { THEN_CLOSE, THEN_HOLD, THEN_NEXT };

/* The answer to one request. THEN_NEXT: the connection serves another request. */
struct line {
    struct str answer;
    enum then then;
    bool slowly; /* a byte at a time */
};

struct peer {
    int listener;
    uint16_t port;
    pthread_t thread;
    const struct line *lines;
    size_t n_lines;
    size_t n_connections;
    struct buf heard;
};

static bool hear_request(struct peer *p, int fd)
{
    char piece[4096];
    size_t start = p->heard.len;
    for (;;) {
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0)
            return false;
        buf_append(&p->heard, (struct str){piece, (size_t)got});
        if (memmem(p->heard.ptr + start, p->heard.len - start, "\r\n\r\n", 4) != NULL)
            return true;
    }
}

static void say(int fd, const struct line *line)
{
    size_t step = line->slowly ? 1 : line->answer.len;
    for (size_t at = 0; at < line->answer.len; at += step)
        if (send(fd, line->answer.ptr + at, step, MSG_NOSIGNAL) < 0)
            return;
}

static void *serve(void *data)
{
    struct peer *p = data;
    size_t at = 0;
    while (at < p->n_lines) {
        int one = 1, fd = accept(p->listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof one);
        p->n_connections++;
        for (bool again = true; again && at < p->n_lines && hear_request(p, fd);) {
            const struct line *line = &p->lines[at++];
            char nothing;
            say(fd, line);
            again = line->then == THEN_NEXT;
            if (line->then == THEN_HOLD)
                while (recv(fd, &nothing, 1, 0) > 0)
                    ;
        }
        close(fd);
    }
    return NULL;
}

static void peer_start(struct peer *p, const struct line *lines, size_t n)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *p = (struct peer){.lines = lines, .n_lines = n};
    buf_init(&p->heard, REQUEST_MAX_BYTES * 16);
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(p->listener, (struct sockaddr *)&address, sizeof address), 0);
    EXPECT_EQ(listen(p->listener, MAX_CONNECTIONS), 0);
    EXPECT_EQ(getsockname(p->listener, (struct sockaddr *)&address, &len), 0);
    p->port = ntohs(address.sin_port);
    EXPECT_EQ(pthread_create(&p->thread, NULL, serve, p), 0);
}

static void peer_stop(struct peer *p)
{
    shutdown(p->listener, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->listener);
    buf_deinit(&p->heard);
}

static struct http_client *client_of(uint16_t port, uint32_t answer_ms, struct arena *arena)
{
    struct http_client_config config;
    struct str why;
    http_client_config_init(&config);
    config.host = STR("127.0.0.1");
    config.port = port;
    config.answer_timeout_ms = answer_ms;
    config.max_body_bytes = 1000;
    return http_client_create(&config, arena, &why);
}

/* One GET with one answer: what the client makes of it. */
struct outcome {
    enum client_result result;
    int status;
    struct str body;
    struct str why;
};

static struct outcome outcome_of(struct line line, struct arena *arena)
{
    struct peer p;
    struct http_answer head = {0};
    struct outcome o = {.body = STR_NONE};
    const struct client_request get = {.method = STR("GET"), .target = STR("/x"), .body = STR_NONE};
    peer_start(&p, &line, 1);
    struct http_client *c = client_of(p.port, line.then == THEN_HOLD ? SHORT_MS : LONG_MS, arena);
    o.result = http_client_ask(c, &get, arena, &head, &o.body);
    o.status = head.status;
    o.why = arena_str(arena, http_client_why(c));
    http_client_destroy(c);
    peer_stop(&p);
    return o;
}

#define ARENA(name)                          \
    struct arena name CLEANUP(arena_deinit); \
    arena_init(&name, 64 * 1024 * 1024)

/* --- Good answers --------------------------------------------------------------------------- */

static void expect_body(struct line line, int status, struct str body)
{
    ARENA(arena);
    struct outcome o = outcome_of(line, &arena);
    EXPECT_EQ(o.result, CLIENT_OK);
    EXPECT_EQ(o.status, status);
    EXPECT_STR(o.body, body);
}

TEST(an_answer_is_read_however_its_body_is_framed)
{
    expect_body((struct line){.answer = STR("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")},
        200, STR("hello"));
    expect_body((struct line){.answer = STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                            "3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n")},
        200, STR("abcde"));
    expect_body((struct line){.answer = STR("HTTP/1.0 404 Not Found\r\n\r\nuntil the end")}, 404,
        STR("until the end"));
    expect_body((struct line){.answer = STR("HTTP/1.1 204 No Content\r\n\r\n")}, 204, STR(""));
    expect_body(
        (struct line){.answer = STR("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n")}, 200, STR(""));
}

TEST(an_answer_is_read_a_byte_at_a_time)
{
    struct str answer = STR("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
                            "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n");
    expect_body((struct line){.answer = answer, .slowly = true}, 200, STR("0123456789"));
}

TEST(a_connection_is_kept_for_the_next_request)
{
    ARENA(arena);
    struct peer p;
    const struct line lines[] = {
        {STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), THEN_NEXT, false},
        {STR("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), THEN_NEXT, false},
        {STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nc"), THEN_CLOSE,
            false},
        {STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nd"), THEN_CLOSE, false},
    };
    const struct http_header header = {STR("X-One"), STR("1")};
    const struct client_request requests[] = {
        {STR("POST"), STR("/a?b=c"), &header, 1, STR("{}"), NULL},
        {STR("HEAD"), STR("/b"), NULL, 0, STR_NONE, NULL},
        {STR("GET"), STR("/c"), NULL, 0, STR_NONE, NULL},
        {STR("GET"), STR("/d"), NULL, 0, STR_NONE, NULL},
    };
    const char *const bodies[] = {"a", "", "c", "d"};
    peer_start(&p, lines, COUNT_OF(lines));
    struct http_client *c = client_of(p.port, LONG_MS, &arena);
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct http_answer head;
        struct str body;
        EXPECT_EQ(http_client_ask(c, &requests[i], &arena, &head, &body), CLIENT_OK);
        EXPECT_EQ(head.status, 200);
        EXPECT_STR(body, str_of(bodies[i]));
    }
    http_client_destroy(c);
    peer_stop(&p);
    EXPECT_EQ(p.n_connections, 2);
}

TEST(a_request_says_its_host_and_its_length)
{
    ARENA(arena);
    struct peer p;
    const struct line line = {STR("HTTP/1.1 204 No Content\r\n\r\n"), THEN_CLOSE, false};
    const struct http_header header = {STR("X-One"), STR("1")};
    const struct client_request post = {STR("POST"), STR("/a?b=c"), &header, 1, STR("{}"), NULL};
    struct http_answer head;
    struct str body;
    peer_start(&p, &line, 1);
    struct http_client *c = client_of(p.port, LONG_MS, &arena);
    EXPECT_EQ(http_client_ask(c, &post, &arena, &head, &body), CLIENT_OK);
    struct str expected = arena_printf(&arena,
        "POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-One: 1\r\nContent-Length: 2\r\n\r\n",
        p.port);
    http_client_destroy(c);
    shutdown(p.listener, SHUT_RDWR);
    pthread_join(p.thread, NULL);
    EXPECT_STR(str_slice(buf_str(&p.heard), 0, expected.len), expected);
    close(p.listener);
    buf_deinit(&p.heard);
}

/* --- Bad answers ---------------------------------------------------------------------------- */

TEST(an_answer_that_breaks_the_rules_is_refused)
{
    static const char *const answers[] = {
        "hello",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 99 OK\r\n\r\n",
        "HTTP/1.1 700 OK\r\n\r\n",
        "HTTP/1.1 200OK\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\nX: y\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: empty\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX : y\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: \x01\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        ARENA(arena);
        struct outcome o = outcome_of((struct line){.answer = str_of(answers[i])}, &arena);
        if (o.result != CLIENT_MALFORMED || o.why.len == 0)
            test_fail(__FILE__, __LINE__, "\"%s\" gave %d: %.*s", answers[i], (int)o.result,
                STR_ARG(o.why));
    }
}

TEST(a_head_or_a_body_past_the_limit_is_refused)
{
    ARENA(arena);
    struct buf answer CLEANUP(buf_deinit);
    buf_init(&answer, 1024 * 1024);
    buf_append(&answer, STR("HTTP/1.1 200 OK\r\nX: "));
    for (size_t i = 0; i < 100000; i++)
        buf_append_byte(&answer, 'x');
    EXPECT_EQ(
        outcome_of((struct line){.answer = buf_str(&answer)}, &arena).result, CLIENT_MALFORMED);
    buf_reset(&answer);
    buf_append(&answer, STR("HTTP/1.0 200 OK\r\n\r\n"));
    for (size_t i = 0; i < 1001; i++)
        buf_append_byte(&answer, 'x');
    EXPECT_EQ(
        outcome_of((struct line){.answer = buf_str(&answer)}, &arena).result, CLIENT_MALFORMED);
}

TEST(an_answer_past_the_limit_is_told_in_a_clients_words)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        ARENA(arena);
        struct outcome o = outcome_of((struct line){.answer = str_of(answers[i])}, &arena);
        EXPECT_EQ(o.result, CLIENT_MALFORMED);
        EXPECT_STR(o.why, STR("the answer is larger than 1000 bytes"));
    }
}

TEST(an_answer_that_is_cut_short_is_not_taken_for_whole)
{
    static const char *const answers[] = {
        "",
        "HTTP/1.1 2",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        ARENA(arena);
        struct line line = {.answer = str_of(answers[i])};
        EXPECT_EQ(outcome_of(line, &arena).result, CLIENT_LOST);
        line.then = THEN_HOLD; /* no more data arrives, and the connection stays open */
        EXPECT_EQ(outcome_of(line, &arena).result, CLIENT_LOST);
    }
}

/* --- Waiting -------------------------------------------------------------------------------- */

TEST(a_server_that_is_not_there_is_unreachable)
{
    ARENA(arena);
    struct peer p;
    struct http_answer head;
    struct str body;
    const struct client_request get = {.method = STR("GET"), .target = STR("/"), .body = STR_NONE};
    peer_start(&p, NULL, 0);
    uint16_t port = p.port;
    peer_stop(&p);
    struct http_client *c = client_of(port, LONG_MS, &arena);
    EXPECT_EQ(http_client_ask(c, &get, &arena, &head, &body), CLIENT_UNREACHABLE);
    struct str why =
        arena_printf(&arena, "cannot connect to 127.0.0.1:%u: Connection refused", (unsigned)port);
    EXPECT_STR(http_client_why(c), why);
    http_client_destroy(c);
}

TEST(a_stream_is_read_as_it_comes_and_a_silence_is_told)
{
    ARENA(arena);
    struct peer p;
    struct http_answer head;
    struct str run;
    const struct line line = {
        STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"), THEN_HOLD, false};
    const struct client_request get = {.method = STR("GET"), .target = STR("/"), .body = STR_NONE};
    peer_start(&p, &line, 1);
    struct http_client *c = client_of(p.port, LONG_MS, &arena);
    EXPECT_EQ(http_client_begin(c, &get, &arena, &head), CLIENT_OK);
    EXPECT_EQ(http_client_read(c, LONG_MS, &run), CLIENT_OK);
    EXPECT_STR(run, STR("one"));
    int64_t begun_us = clock_steady_us();
    EXPECT_EQ(http_client_read(c, SHORT_MS, &run), CLIENT_TIMED_OUT);
    EXPECT(clock_steady_us() - begun_us >= (SHORT_MS - 2) * 1000);
    http_client_destroy(c);
    peer_stop(&p);
}

static size_t length_of_stream(struct str answer)
{
    ARENA(arena);
    struct peer p;
    struct http_answer head;
    struct str run = STR("");
    size_t len = 0;
    const struct line line = {answer, THEN_CLOSE, false};
    const struct client_request get = {.method = STR("GET"), .target = STR("/"), .body = STR_NONE};
    peer_start(&p, &line, 1);
    struct http_client *c = client_of(p.port, LONG_MS, &arena);
    EXPECT_EQ(http_client_begin(c, &get, &arena, &head), CLIENT_OK);
    do {
        EXPECT_EQ(http_client_read(c, LONG_MS, &run), CLIENT_OK);
        len += run.len;
    } while (run.len > 0);
    http_client_destroy(c);
    peer_stop(&p);
    return len;
}

TEST(a_stream_goes_on_past_what_a_whole_body_may_take)
{
    struct buf answer CLEANUP(buf_deinit);
    buf_init(&answer, 1024 * 1024);
    buf_append(&answer, STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (size_t i = 0; i < 300; i++)
        buf_append(&answer, STR("a\r\n0123456789\r\n"));
    buf_append(&answer, STR("0\r\n\r\n"));
    EXPECT_EQ(length_of_stream(buf_str(&answer)), 3000);
    buf_reset(&answer);
    buf_append(&answer, STR("HTTP/1.0 200 OK\r\n\r\n"));
    for (size_t i = 0; i < 300; i++)
        buf_append(&answer, STR("0123456789"));
    EXPECT_EQ(length_of_stream(buf_str(&answer)), 3000);
}

TEST(no_wait_goes_on_past_the_deadline)
{
    static const char *const answers[] = {
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
    };
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        ARENA(arena);
        struct peer p;
        struct http_answer head;
        struct str body;
        const struct line line = {str_of(answers[i]), THEN_HOLD, false};
        const struct client_request get = {
            .method = STR("GET"), .target = STR("/"), .body = STR_NONE};
        peer_start(&p, &line, 1);
        struct http_client *c = client_of(p.port, LONG_MS, &arena);
        int64_t begun_us = clock_steady_us();
        http_client_set_deadline(c, begun_us + SHORT_MS * 1000);
        EXPECT_EQ(http_client_ask(c, &get, &arena, &head, &body), CLIENT_LOST);
        EXPECT(clock_steady_us() - begun_us >= (SHORT_MS - 2) * 1000);
        EXPECT(clock_steady_us() - begun_us < (int64_t)LONG_MS / 2 * 1000);
        http_client_destroy(c);
        peer_stop(&p);
    }
}

/* Asks over TLS a peer that accepts the connection and sends nothing. */
static struct outcome ask_silent_tls(
    uint32_t connect_ms, int64_t deadline_in_us, struct arena *arena)
{
    struct peer p;
    struct http_client_config config;
    struct http_answer head;
    struct outcome o = {.body = STR_NONE};
    const struct line line = {STR(""), THEN_HOLD, false};
    const struct client_request get = {.method = STR("GET"), .target = STR("/"), .body = STR_NONE};
    peer_start(&p, &line, 1);
    http_client_config_init(&config);
    config.host = STR("127.0.0.1");
    config.port = p.port;
    config.tls = true;
    config.connect_timeout_ms = connect_ms;
    struct http_client *c = http_client_create(&config, arena, &o.why);
    if (deadline_in_us > 0)
        http_client_set_deadline(c, clock_steady_us() + deadline_in_us);
    o.result = http_client_ask(c, &get, arena, &head, &o.body);
    o.why = arena_str(arena, http_client_why(c));
    http_client_destroy(c);
    peer_stop(&p);
    return o;
}

TEST(a_peer_that_is_silent_in_the_tls_handshake_is_given_up)
{
    ARENA(arena);
    int64_t begun_us = clock_steady_us();
    struct outcome o = ask_silent_tls(SHORT_MS, 0, &arena);
    EXPECT_EQ(o.result, CLIENT_UNREACHABLE);
    EXPECT_PART(o.why, "the TLS handshake took too long");
    EXPECT(clock_steady_us() - begun_us >= (SHORT_MS - 2) * 1000);
    o = ask_silent_tls(LONG_MS, SHORT_MS * 1000, &arena);
    EXPECT_EQ(o.result, CLIENT_UNREACHABLE);
    EXPECT(clock_steady_us() - begun_us < (int64_t)LONG_MS / 2 * 1000);
}

/* --- Names with several addresses ----------------------------------------------------------- */

/* The ports on this machine to which "several.test" resolves. */
static uint16_t several_ports[2];

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static struct addrinfo *loopback(lookup *real, const struct addrinfo *hints, uint16_t port)
{
    struct addrinfo *found = NULL;
    EXPECT_EQ(real("127.0.0.1", "0", hints, &found), 0);
    ((struct sockaddr_in *)(void *)found->ai_addr)->sin_port = htons(port);
    return found;
}

/* Replaces the system's function, since a test cannot add a name to it. */
int getaddrinfo(const char *restrict name, const char *restrict service,
    const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    lookup *real;
    memcpy(&real, &symbol, sizeof real);
    if (name == NULL || strcmp(name, "several.test") != 0)
        return real(name, service, hints, out);
    *out = loopback(real, hints, several_ports[0]);
    (*out)->ai_next = loopback(real, hints, several_ports[1]);
    return 0;
}

/* A listener that takes no more connections: clients that connect receive nothing. */
struct silent {
    int listener;
    int waiting[8];
};

static uint16_t silent_start(struct silent *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(s->listener, (struct sockaddr *)&address, sizeof address), 0);
    EXPECT_EQ(listen(s->listener, 0), 0);
    EXPECT_EQ(getsockname(s->listener, (struct sockaddr *)&address, &len), 0);
    for (size_t i = 0; i < COUNT_OF(s->waiting); i++) {
        s->waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(s->waiting[i], (struct sockaddr *)&address, sizeof address);
    }
    return ntohs(address.sin_port);
}

static void silent_stop(struct silent *s)
{
    for (size_t i = 0; i < COUNT_OF(s->waiting); i++)
        close(s->waiting[i]);
    close(s->listener);
}

TEST(an_address_that_is_silent_leaves_time_for_the_next)
{
    ARENA(arena);
    struct peer p;
    struct silent silent;
    struct http_client_config config;
    struct http_answer head;
    struct str body, why;
    const struct line line = {
        STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), THEN_CLOSE, false};
    const struct client_request get = {.method = STR("GET"), .target = STR("/"), .body = STR_NONE};
    peer_start(&p, &line, 1);
    several_ports[0] = silent_start(&silent);
    several_ports[1] = p.port;
    http_client_config_init(&config);
    config.host = STR("several.test");
    config.connect_timeout_ms = 20 * SHORT_MS;
    struct http_client *c = http_client_create(&config, &arena, &why);
    int64_t begun_us = clock_steady_us();
    EXPECT_EQ(http_client_ask(c, &get, &arena, &head, &body), CLIENT_OK);
    EXPECT(clock_steady_us() - begun_us >= (10 * SHORT_MS - 2) * 1000);
    http_client_destroy(c);
    silent_stop(&silent);
    peer_stop(&p);
}

/* A pipe whose end becomes readable by an interruption. */
struct interruption {
    int fds[2];
    uint32_t after_ms;
};

static void *interrupt(void *data)
{
    struct interruption *i = data;
    usleep(i->after_ms * 1000);
    EXPECT_EQ(write(i->fds[1], "", 1), 1);
    return NULL;
}

static void expect_interrupted(struct line line, uint32_t after_ms)
{
    ARENA(arena);
    struct peer p;
    struct interruption interruption = {.after_ms = after_ms};
    struct http_client_config config;
    struct http_answer head;
    struct str body, why;
    pthread_t thread;
    const struct client_request get = {.method = STR("GET"), .target = STR("/"), .body = STR_NONE};
    EXPECT_EQ(pipe(interruption.fds), 0);
    peer_start(&p, &line, 1);
    http_client_config_init(&config);
    config.host = STR("127.0.0.1");
    config.port = p.port;
    config.interrupt_fd = interruption.fds[0];
    struct http_client *c = http_client_create(&config, &arena, &why);
    EXPECT_EQ(pthread_create(&thread, NULL, interrupt, &interruption), 0);
    if (after_ms == 0)
        pthread_join(thread, NULL);
    int64_t begun_us = clock_steady_us();
    EXPECT_EQ(http_client_ask(c, &get, &arena, &head, &body), CLIENT_INTERRUPTED);
    EXPECT(clock_steady_us() - begun_us < (int64_t)LONG_MS * 1000);
    if (after_ms > 0)
        pthread_join(thread, NULL);
    http_client_destroy(c);
    peer_stop(&p);
    close(interruption.fds[0]);
    close(interruption.fds[1]);
}

TEST(an_interrupt_ends_a_wait_at_once)
{
    expect_interrupted((struct line){.answer = STR(""), .then = THEN_HOLD}, SHORT_MS);
}

TEST(an_interrupt_is_seen_although_there_is_an_answer)
{
    struct str answer = STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
    expect_interrupted((struct line){.answer = answer}, 0);
}

TEST(a_connection_that_the_server_ended_meanwhile_is_made_again)
{
    ARENA(arena);
    struct peer p;
    const struct line lines[] = {
        {STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), THEN_CLOSE, false},
        {STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"), THEN_CLOSE, false},
    };
    const struct client_request get = {.method = STR("GET"), .target = STR("/"), .body = STR_NONE};
    peer_start(&p, lines, COUNT_OF(lines));
    struct http_client *c = client_of(p.port, LONG_MS, &arena);
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct http_answer head;
        struct str body;
        EXPECT_EQ(http_client_ask(c, &get, &arena, &head, &body), CLIENT_OK);
        EXPECT_EQ(body.ptr[0], 'a' + (int)i);
        usleep(SHORT_MS * 1000);
    }
    http_client_destroy(c);
    peer_stop(&p);
}

TEST(a_certificate_file_that_cannot_be_used_is_told)
{
    ARENA(arena);
    struct http_client_config config;
    struct str why;
    http_client_config_init(&config);
    config.host = STR("localhost");
    config.tls = true;
    config.ca_file = STR("/nowhere/ca.pem");
    EXPECT(http_client_create(&config, &arena, &why) == NULL);
    EXPECT_STR(why, STR("cannot use the CA file /nowhere/ca.pem: No such file or directory"));
}
