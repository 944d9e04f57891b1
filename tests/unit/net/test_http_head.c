/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http.h"
#include "test.h"

static const struct http_limits LIMITS = {
    .head_bytes = 1024, .target_bytes = 64, .headers = 8, .body_bytes = 1000};

static enum http_parsed parse(struct arena *arena, struct str bytes, struct http_request *out,
    size_t *out_used, struct http_refusal *out_refusal)
{
    return http_head_parse(arena, bytes, &LIMITS, out, out_used, out_refusal);
}

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"
#define END "\r\n"
#define TEN_A "aaaaaaaaaa"
#define SEVENTY_A TEN_A TEN_A TEN_A TEN_A TEN_A TEN_A TEN_A

static const struct malformed {
    int status;
    struct str bytes;
} MALFORMED[] = {
#define BAD(status, text)          \
    {                              \
        status,                    \
        {                          \
            text, sizeof(text) - 1 \
        }                          \
    }
    /* The request line */
    BAD(400, "\r\n" LINE HOST END),
    BAD(400, "\r\n\r\n"),
    BAD(400, " GET / HTTP/1.1\r\n" HOST END),
    BAD(400, "GET  / HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /  HTTP/1.1\r\n" HOST END),
    BAD(400, "GET / HTTP/1.1 \r\n" HOST END),
    BAD(400, "GET\t/ HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\tHTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\r\n"),
    BAD(400, "GET\r\n"),
    BAD(400, "G(T / HTTP/1.1\r\n" HOST END),
    BAD(400, "G\"ET / HTTP/1.1\r\n" HOST END),
    BAD(400, "G:ET / HTTP/1.1\r\n" HOST END),
    BAD(400, "G\x80T / HTTP/1.1\r\n" HOST END),
    BAD(400, SEVENTY_A " / HTTP/1.1\r\n" HOST END),
    BAD(400, SEVENTY_A),
    BAD(400, "GET / http/1.1\r\n" HOST END),
    BAD(400, "GET / HTTP/1\r\n" HOST END),
    BAD(400, "GET / HTTP/1.11\r\n" HOST END),
    BAD(400, "GET / HTTP/11\r\n" HOST END),
    BAD(400, "GET / HTTP 1.1\r\n" HOST END),
    BAD(400, "GET / HTTPS/1.1\r\n" HOST END),
    BAD(505, "GET / HTTP/1.2\r\n" HOST END),
    BAD(505, "GET / HTTP/0.9\r\n" HOST END),
    BAD(505, "GET / HTTP/2.0\r\n" HOST END),
    BAD(505, "PRI * HTTP/2.0\r\n\r\n"),
    BAD(505, "GET / HTTP/3.1\r\n" HOST END),
    /* The target */
    BAD(400, "GET a HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http:///a HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http:a HTTP/1.1\r\n" HOST END),
    BAD(400, "GET ftp://a/ HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http://u@a/ HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http://a:b/ HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http://a#f HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http://a/#f HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http://a/<b> HTTP/1.1\r\n" HOST END),
    BAD(400, "GET http://a/ HTTP/1.1\r\n" END),
    BAD(400, "GET http://a/ HTTP/1.1\r\nHost: a b\r\n" END),
    BAD(414, "GET http://a/" SEVENTY_A " HTTP/1.1\r\n" HOST END),
    BAD(400, "GET a:80 HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT a:80 HTTP/1.1\r\n" HOST END),
    BAD(400, "GET * HTTP/1.1\r\n" HOST END),
    BAD(400, "OPTIONS ** HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /#f HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /?q#f HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\\ HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /<a> HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /a\"b HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\xc3\xa9 HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /?\xc3\xa9 HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\x01 HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\x7f HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\0 HTTP/1.1\r\n" HOST END),
    BAD(414, "GET /" SEVENTY_A " HTTP/1.1\r\n" HOST END),
    BAD(414, "GET /?" SEVENTY_A " HTTP/1.1\r\n" HOST END),
    BAD(414, "GET /" SEVENTY_A),
    /* Line ends and folding */
    BAD(400, "GET / HTTP/1.1\nHost: a\n\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: a\n\r\n"),
    BAD(400, LINE HOST "\n"),
    BAD(400, "GET / HTTP/1.1\rHost: a\r\r"),
    BAD(400, LINE "Host: a\rX: b\r\n" END),
    BAD(400, LINE HOST "X: a\r\r\n" END),
    BAD(400, LINE HOST "X: a\r\n b\r\n" END),
    BAD(400, LINE HOST "X: a\r\n\tb\r\n" END),
    BAD(400, LINE " " HOST END),
    BAD(400, LINE HOST " \r\n" END),
    /* Headers */
    BAD(400, LINE HOST "X : a\r\n" END),
    BAD(400, LINE HOST "X\t: a\r\n" END),
    BAD(400, LINE HOST ": a\r\n" END),
    BAD(400, LINE HOST "X\r\n" END),
    BAD(400, LINE HOST "X Y: a\r\n" END),
    BAD(400, LINE HOST "X(Y): a\r\n" END),
    BAD(400, LINE HOST "X\xc3\xa9: a\r\n" END),
    BAD(400, LINE HOST "X: a\0b\r\n" END),
    BAD(400, LINE HOST "X\0Y: a\r\n" END),
    BAD(400, LINE HOST "X: a\x0b\r\n" END),
    BAD(400, LINE HOST "X: a\x7f\r\n" END),
    BAD(400, LINE HOST "X: \x1b[2J\r\n" END),
    /* Host */
    BAD(400, LINE END),
    BAD(400, "GET / HTTP/1.0\r\nHost: a b\r\n\r\n"),
    BAD(400, LINE HOST HOST END),
    BAD(400, LINE HOST "hOST: b\r\n" END),
    BAD(400, LINE "Host:\r\n" END),
    BAD(400, LINE "Host: a b\r\n" END),
    BAD(400, LINE "Host: a, b\r\n" END),
    BAD(400, LINE "Host: a,b\r\n" END),
    BAD(400, LINE "Host: a/b\r\n" END),
    BAD(400, LINE "Host: u@a\r\n" END),
    BAD(400, LINE "Host: http://a\r\n" END),
    BAD(400, LINE "Host: a:\r\n" END),
    BAD(400, LINE "Host: a:b\r\n" END),
    BAD(400, LINE "Host: a:65536\r\n" END),
    BAD(400, LINE "Host: a:99999\r\n" END),
    BAD(400, LINE "Host: a:1:2\r\n" END),
    BAD(400, LINE "Host: :80\r\n" END),
    BAD(400, LINE "Host: [::1\r\n" END),
    BAD(400, LINE "Host: [::g]\r\n" END),
    BAD(400, LINE "Host: []:80\r\n" END),
    BAD(400, LINE "Host: [::1]80\r\n" END),
    /* The body's framing: every form of request smuggling */
    BAD(400, POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" END),
    BAD(400, POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" END),
    BAD(400, POST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n" END),
    BAD(400, POST "Content-Length: 5\r\nContent-Length: 5\r\n" END),
    BAD(400, POST "Content-Length: 5\r\nContent-Length: 6\r\n" END),
    BAD(400, POST "Content-Length: 5\r\ncontent-length: 5\r\n" END),
    BAD(400, POST "Content-Length: 5, 5\r\n" END),
    BAD(400, POST "Content-Length: 5,\r\n" END),
    BAD(400, POST "Content-Length:\r\n" END),
    BAD(400, POST "Content-Length: +5\r\n" END),
    BAD(400, POST "Content-Length: -5\r\n" END),
    BAD(400, POST "Content-Length: 5 5\r\n" END),
    BAD(400, POST "Content-Length: 0x5\r\n" END),
    BAD(400, POST "Content-Length: 5a\r\n" END),
    BAD(400, POST "Content-Length: a5\r\n" END),
    BAD(400, POST "Content-Length: 05\r\n" END),
    BAD(400, POST "Content-Length: 5.0\r\n" END),
    BAD(400, POST "Content-Length: \"5\"\r\n" END),
    BAD(400, POST "Content-Length: 18446744073709551616\r\n" END),
    BAD(400, POST "Content-Length: 99999999999999999999999\r\n" END),
    BAD(413, POST "Content-Length: 18446744073709551615\r\n" END),
    BAD(413, POST "Content-Length: 1001\r\n" END),
    BAD(400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END),
    BAD(400, POST "Transfer-Encoding: chunked\r\ntransfer-encoding: identity\r\n" END),
    BAD(501, POST "Transfer-Encoding: chunked, chunked\r\n" END),
    BAD(501, POST "Transfer-Encoding: gzip, chunked\r\n" END),
    BAD(501, POST "Transfer-Encoding: chunked, gzip\r\n" END),
    BAD(501, POST "Transfer-Encoding: gzip\r\n" END),
    BAD(501, POST "Transfer-Encoding: identity\r\n" END),
    BAD(501, POST "Transfer-Encoding: xchunked\r\n" END),
    BAD(501, POST "Transfer-Encoding: chunkedx\r\n" END),
    BAD(501, POST "Transfer-Encoding: \"chunked\"\r\n" END),
    BAD(501, POST "Transfer-Encoding: chunked;q=1\r\n" END),
    BAD(501, POST "Transfer-Encoding: ,chunked\r\n" END),
    BAD(501, POST "Transfer-Encoding:\r\n" END),
    BAD(400, POST "Transfer-Encoding : chunked\r\n" END),
    BAD(400, POST "Transfer-Encoding: \x0b"
                  "chunked\r\n" END),
    BAD(400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" END),
    /* Expectations and limits */
    BAD(417, POST "Content-Length: 5\r\nExpect: 200-ok\r\n" END),
    BAD(417, POST "Content-Length: 5\r\nExpect: 100-continue, x\r\n" END),
    BAD(417, POST "Content-Length: 5\r\nExpect: 100-continue\r\nExpect: 100-continue\r\n" END),
    BAD(431, LINE HOST "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\nF:\r\nG:\r\nH:\r\n" END),
};

TEST(every_malformed_head_is_refused_with_its_status)
{
    for (size_t i = 0; i < COUNT_OF(MALFORMED); i++) {
        struct arena arena CLEANUP(arena_deinit);
        arena_init(&arena, 1 << 16);
        struct http_request request;
        struct http_refusal refusal = {0, NULL};
        size_t used;
        enum http_parsed parsed = parse(&arena, MALFORMED[i].bytes, &request, &used, &refusal);
        if (parsed != HTTP_REFUSED || refusal.status != MALFORMED[i].status)
            test_fail(__FILE__, __LINE__, "case %zu: parsed %d, status %d, expected %d:\n%.*s", i,
                (int)parsed, refusal.status, MALFORMED[i].status, STR_ARG(MALFORMED[i].bytes));
    }
}

TEST(a_malformed_head_is_never_accepted_when_it_comes_byte_by_byte)
{
    for (size_t i = 0; i < COUNT_OF(MALFORMED); i++) {
        struct arena arena CLEANUP(arena_deinit);
        arena_init(&arena, 1 << 16);
        enum http_parsed parsed = HTTP_MORE;
        for (size_t len = 1; len <= MALFORMED[i].bytes.len && parsed == HTTP_MORE; len++) {
            struct http_request request;
            struct http_refusal refusal;
            size_t used;
            parsed =
                parse(&arena, str_slice(MALFORMED[i].bytes, 0, len), &request, &used, &refusal);
        }
        if (parsed != HTTP_REFUSED)
            test_fail(__FILE__, __LINE__, "case %zu: parsed %d", i, (int)parsed);
    }
}

static const struct lawful {
    struct str bytes;
    const char *path;
    const char *query; /* NULL: none */
    const char *host;  /* NULL: a */
    bool keep_alive;
    bool chunked;
    bool expects_continue;
    uint64_t content_length;
} LAWFUL[] = {
#define GOOD(text, expected_path, expected_query, ...)                                     \
    {                                                                                      \
        .bytes = {text, sizeof(text) - 1}, .path = expected_path, .query = expected_query, \
        __VA_ARGS__                                                                        \
    }
    GOOD(LINE HOST END, "/", NULL, .keep_alive = true),
    GOOD("GET /a/b%20c HTTP/1.1\r\n" HOST END, "/a/b%20c", NULL, .keep_alive = true),
    GOOD("GET /?a=1&b=[2]{3}|^` HTTP/1.1\r\n" HOST END, "/", "a=1&b=[2]{3}|^`", .keep_alive = true),
    GOOD("GET /? HTTP/1.1\r\n" HOST END, "/", "", .keep_alive = true),
    GOOD("GET /a?b?c HTTP/1.1\r\n" HOST END, "/a", "b?c", .keep_alive = true),
    GOOD("GET //..;x=1/ HTTP/1.1\r\n" HOST END, "//..;x=1/", NULL, .keep_alive = true),
    GOOD("OPTIONS * HTTP/1.1\r\n" HOST END, "*", NULL, .keep_alive = true),
    GOOD(
        "GET http://b:80/c?d HTTP/1.1\r\n" HOST END, "/c", "d", .keep_alive = true, .host = "b:80"),
    GOOD("GET HTTPS://b HTTP/1.1\r\n" HOST END, "/", NULL, .keep_alive = true, .host = "b"),
    GOOD("GET http://[::1]?d HTTP/1.1\r\n" HOST END, "/", "d", .keep_alive = true, .host = "[::1]"),
    GOOD("OPTIONS http://b HTTP/1.1\r\n" HOST END, "*", NULL, .keep_alive = true, .host = "b"),
    GOOD(LINE "Host: a:65535\r\n" END, "/", NULL, .keep_alive = true, .host = "a:65535"),
    GOOD("GET http://b/ HTTP/1.0\r\n" END, "/", NULL, .keep_alive = false, .host = "b"),
    GOOD("GET / HTTP/1.0\r\n\r\n", "/", NULL, .keep_alive = false, .host = ""),
    GOOD("get! / HTTP/1.1\r\n" HOST END, "/", NULL, .keep_alive = true),
    GOOD(LINE "Host:a\r\n" END, "/", NULL, .keep_alive = true),
    GOOD(LINE "host: \t a.example:8080 \t\r\n" END, "/", NULL, .keep_alive = true,
        .host = "a.example:8080"),
    GOOD(LINE "Host: [::1]:80\r\n" END, "/", NULL, .keep_alive = true, .host = "[::1]:80"),
    GOOD(LINE "Host: 127.0.0.1\r\n" END, "/", NULL, .keep_alive = true, .host = "127.0.0.1"),
    GOOD(LINE HOST "X:\r\n" END, "/", NULL, .keep_alive = true),
    GOOD(LINE HOST "X: caf\xc3\xa9, \"q\" (c) \t d\r\n" END, "/", NULL, .keep_alive = true),
    GOOD(LINE HOST "Connection: close\r\n" END, "/", NULL, .keep_alive = false),
    GOOD(LINE HOST "Connection: x, CLOSE\r\n" END, "/", NULL, .keep_alive = false),
    GOOD(LINE HOST "Connection: keep-alive, close\r\n" END, "/", NULL, .keep_alive = false),
    GOOD(LINE HOST "Connection: closed\r\n" END, "/", NULL, .keep_alive = true),
    GOOD("GET / HTTP/1.0\r\n" HOST END, "/", NULL, .keep_alive = false),
    GOOD("GET / HTTP/1.0\r\n" HOST "Connection: Keep-Alive\r\n" END, "/", NULL, .keep_alive = true),
    GOOD(POST "Content-Length: 0\r\n" END, "/", NULL, .keep_alive = true),
    GOOD(
        POST "Content-Length: 1000\r\n" END, "/", NULL, .keep_alive = true, .content_length = 1000),
    GOOD(POST "Content-Length:\t7 \r\n" END, "/", NULL, .keep_alive = true, .content_length = 7),
    GOOD(POST "Transfer-Encoding: chunked\r\n" END, "/", NULL, .keep_alive = true, .chunked = true),
    GOOD(POST "Transfer-Encoding: Chunked\r\n" END, "/", NULL, .keep_alive = true, .chunked = true),
    GOOD(POST "Content-Length: 5\r\nExpect: 100-Continue\r\n" END, "/", NULL, .keep_alive = true,
        .expects_continue = true, .content_length = 5),
    GOOD(POST "Content-Length: 0\r\nExpect: 100-continue\r\n" END, "/", NULL, .keep_alive = true),
    GOOD("POST / HTTP/1.0\r\n" HOST "Content-Length: 5\r\nExpect: 100-continue\r\n" END, "/", NULL,
        .keep_alive = false, .content_length = 5),
    GOOD(LINE HOST "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\nF:\r\nG:\r\n" END, "/", NULL, .keep_alive = true),
};

static void expect_lawful(const struct lawful *expected)
{
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 1 << 16);
    struct http_request r = {0};
    struct http_refusal refusal = {0, "none"};
    size_t used = 0;
    enum http_parsed parsed = parse(&arena, expected->bytes, &r, &used, &refusal);
    if (parsed != HTTP_DONE) {
        test_fail(__FILE__, __LINE__, "refused (%d, %s):\n%.*s", refusal.status, refusal.rule,
            STR_ARG(expected->bytes));
        return;
    }
    EXPECT_EQ(used, expected->bytes.len);
    EXPECT_STR(r.path, str_of(expected->path));
    EXPECT_STR(r.query, str_of(expected->query));
    EXPECT_EQ(str_is_none(r.query), expected->query == NULL);
    EXPECT_STR(r.host, str_of(expected->host == NULL ? "a" : expected->host));
    EXPECT_EQ(r.keep_alive, expected->keep_alive);
    EXPECT_EQ(r.chunked, expected->chunked);
    EXPECT_EQ(r.expects_continue, expected->expects_continue);
    EXPECT_EQ(r.content_length, expected->content_length);
}

TEST(every_lawful_head_is_read_as_it_was_meant)
{
    for (size_t i = 0; i < COUNT_OF(LAWFUL); i++)
        expect_lawful(&LAWFUL[i]);
}

TEST(a_lawful_head_is_complete_with_its_last_byte_and_not_before)
{
    for (size_t i = 0; i < COUNT_OF(LAWFUL); i++) {
        struct arena arena CLEANUP(arena_deinit);
        arena_init(&arena, 1 << 16);
        for (size_t len = 0; len < LAWFUL[i].bytes.len; len++) {
            struct http_request r;
            struct http_refusal refusal;
            size_t used;
            EXPECT_EQ(
                parse(&arena, str_slice(LAWFUL[i].bytes, 0, len), &r, &used, &refusal), HTTP_MORE);
        }
        EXPECT_EQ(arena.used_bytes, 0);
    }
}

TEST(a_head_leaves_what_follows_it_alone)
{
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 1 << 16);
    struct http_request r;
    struct http_refusal refusal;
    size_t used = 0;
    struct str bytes = STR(LINE HOST END "\nGARBAGE");
    EXPECT_EQ(parse(&arena, bytes, &r, &used, &refusal), HTTP_DONE);
    EXPECT_EQ(used, sizeof(LINE HOST END) - 1);
}

/* A head of exactly `len` bytes. */
static struct str head_of_length(struct arena *arena, size_t len)
{
    char *text = arena_alloc(arena, len);
    struct str start = STR(LINE HOST "X: "), end = STR("\r\n\r\n");
    memset(text, 'x', len);
    memcpy(text, start.ptr, start.len);
    memcpy(text + len - end.len, end.ptr, end.len);
    return (struct str){text, len};
}

TEST(a_head_may_fill_its_limit_and_not_pass_it)
{
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 1 << 16);
    struct http_request r;
    struct http_refusal refusal = {0, NULL};
    size_t used;
    struct str fits = head_of_length(&arena, LIMITS.head_bytes);
    struct str passes = head_of_length(&arena, LIMITS.head_bytes + 1);
    EXPECT_EQ(parse(&arena, fits, &r, &used, &refusal), HTTP_DONE);
    EXPECT_EQ(parse(&arena, passes, &r, &used, &refusal), HTTP_REFUSED);
    EXPECT_EQ(refusal.status, 431);
    /* It is refused as soon as it cannot end in time, not when it ends. */
    struct str unfinished = str_slice(passes, 0, LIMITS.head_bytes);
    EXPECT_EQ(parse(&arena, unfinished, &r, &used, &refusal), HTTP_REFUSED);
}

#define TEXT(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }
/* The headers before the first fault, or before the end of what has arrived. */
TEST(the_headers_of_a_refused_head_are_known_as_far_as_they_are_well_formed)
{
    static const struct str heads[] = {
        TEXT("GET / HTTP/9.9\r\nOrigin: o\r\n\r\n"),
        TEXT("GET /<\r\nOrigin: o\r\nX : y\r\nHost: b\r\n\r\n"),
        TEXT("GET / HTTP/1.1\r\nOrigin: o\r\nHost: b"),
        TEXT("GET / HTTP/1.1\r\nOrigin: o\r\nHost: b\n\n"),
        TEXT("GET / HTTP/1.1\nOrigin: o\r\nX: \x01\r\nHost: b\r\n"),
    };
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 1 << 16);
    struct http_request r;
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        http_head_salvage(&arena, heads[i], &LIMITS, &r);
        EXPECT_EQ(r.n_headers, 1);
        EXPECT_STR(http_header(&r, STR("origin")), STR("o"));
        EXPECT(str_is_none(r.host));
    }
    http_head_salvage(&arena, STR(""), &LIMITS, &r);
    EXPECT_EQ(r.n_headers, 0);
    struct str many = STR(LINE HOST "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\nF:\r\nG:\r\nH:\r\nI:\r\n" END);
    http_head_salvage(&arena, many, &LIMITS, &r);
    EXPECT_EQ(r.n_headers, LIMITS.headers);
    EXPECT_STR(r.host, STR("a"));
}

TEST(headers_are_found_by_name_in_any_case)
{
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 1 << 16);
    struct http_request r;
    struct http_refusal refusal;
    size_t used;
    struct str bytes = STR(LINE HOST "Accept: a, b\r\naccept: c\r\n" END);
    EXPECT_EQ(parse(&arena, bytes, &r, &used, &refusal), HTTP_DONE);
    EXPECT_STR(http_header(&r, STR("ACCEPT")), STR("a, b"));
    EXPECT_EQ(http_header_count(&r, STR("Accept")), 2);
    EXPECT(http_header_lists(&r, STR("accept"), STR("C")));
    EXPECT(!http_header_lists(&r, STR("accept"), STR("d")));
    EXPECT(str_is_none(http_header(&r, STR("Acc"))));
    EXPECT_STR(r.host, STR("a"));
}
