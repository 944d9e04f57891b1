/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_answer.h"

#include "test.h"

enum { HEAD_MAX_BYTES = 1000 };

static enum http_parsed parse(
    struct arena *arena, struct str bytes, struct http_answer *out, const char **out_rule)
{
    size_t used = 0;
    *out_rule = "";
    *out = (struct http_answer){0};
    enum http_parsed parsed = http_answer_parse(arena, bytes, HEAD_MAX_BYTES, out, &used, out_rule);
    if (parsed == HTTP_DONE)
        EXPECT_EQ(used, bytes.len);
    return parsed;
}

TEST(a_connection_is_kept_only_if_the_end_of_the_body_is_known)
{
    static const struct {
        const char *head;
        bool kept;
    } list[] = {
        {"HTTP/1.1 200 OK\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true},
        {"HTTP/1.1 204 No Content\r\n\r\n", true},
        {"HTTP/1.1 304 Not Modified\r\n\r\n", true},
        {"HTTP/1.1 404 Not Found\r\n\r\n", false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false},
        {"HTTP/1.0 204 No Content\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", false},
        {"HTTP/1.1 204 No Content\r\nconnection: Close\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", true},
    };
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct http_answer answer;
        const char *rule;
        EXPECT_EQ(parse(&arena, str_of(list[i].head), &answer, &rule), HTTP_DONE);
        if (answer.keep_alive != list[i].kept)
            test_fail(__FILE__, __LINE__, "%s is %skept", list[i].head, list[i].kept ? "not " : "");
    }
}

TEST(a_status_line_has_a_version_a_status_and_perhaps_a_reason)
{
    static const struct {
        const char *head;
        int status;
        unsigned minor;
        const char *reason;
    } good[] = {
        {"HTTP/1.1 200 OK\r\n\r\n", 200, 1, "OK"},
        {"HTTP/1.0 100 Go on\r\n\r\n", 100, 0, "Go on"},
        {"HTTP/1.1 599\r\n\r\n", 599, 1, ""},
        {"HTTP/1.1 509 \r\n\r\n", 509, 1, ""},
        {"HTTP/1.1 390 x\r\n\r\n", 390, 1, "x"},
    };
    static const char *const bad[] = {"HTTP/1.1 20\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n",
        "HTTP/1.1 600 x\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n", "HTTP/1.11200 OK\r\n\r\n",
        "HTTP/1.1 2000K\r\n\r\n", "HTTP/1.1 /00 OK\r\n\r\n", "HTTP/1.1 2:0 OK\r\n\r\n",
        "HTTP/1.1 20x OK\r\n\r\n", "HTTP/1./ 200 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n"};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct http_answer answer;
        const char *rule;
        EXPECT_EQ(parse(&arena, str_of(good[i].head), &answer, &rule), HTTP_DONE);
        EXPECT_EQ(answer.status, good[i].status);
        EXPECT_EQ(answer.minor, good[i].minor);
        EXPECT_STR(answer.reason, str_of(good[i].reason));
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct http_answer answer;
        const char *rule;
        if (parse(&arena, str_of(bad[i]), &answer, &rule) != HTTP_REFUSED)
            test_fail(__FILE__, __LINE__, "%s is accepted", bad[i]);
        EXPECT_STR(str_of(rule), STR("it does not begin with HTTP/1.1"));
    }
}

TEST(a_head_that_breaks_a_rule_names_the_rule)
{
    static const char *const list[][2] = {
        {"Content-Length: 1\r\nContent-Length: 1\r\n", "it is framed in two ways"},
        {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "it is framed in two ways"},
        {"Transfer-Encoding: gzip\r\n", "its Transfer-Encoding is not chunked"},
        {"Content-Length: x\r\n", "its Content-Length is not a number"},
        {"Content-Length: 18446744073709551616\r\n", "its Content-Length is not a number"},
        {": x\r\n", "one of its headers is malformed"},
        {"x\r\n", "one of its headers is malformed"},
        {"a b: x\r\n", "one of its headers is malformed"},
        {"a: x\nb: y\r\n", "a line of its head does not end in CR LF"},
        {"\nb: y\r\n", "a line of its head does not end in CR LF"},
        {"a: \x01\r\n", "its head contains control characters"},
        {"a: \x7f\r\n", "its head contains control characters"},
    };
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct http_answer answer;
        const char *rule;
        struct str head = arena_printf(&arena, "HTTP/1.1 200 OK\r\n%s\r\n", list[i][0]);
        EXPECT_EQ(parse(&arena, head, &answer, &rule), HTTP_REFUSED);
        EXPECT_STR(str_of(rule), str_of(list[i][1]));
    }
}

TEST(a_head_is_read_up_to_its_largest_size)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    for (size_t size = HEAD_MAX_BYTES - 1; size <= HEAD_MAX_BYTES + 1; size++) {
        struct buf head CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
        struct http_answer answer;
        const char *rule;
        buf_append(&head, STR("HTTP/1.1 200 OK\r\na: "));
        while (head.len < size - 4)
            buf_append_byte(&head, 'x');
        buf_append(&head, STR("\r\n\r"));
        enum http_parsed part = parse(&arena, buf_str(&head), &answer, &rule);
        EXPECT_EQ(part, size <= HEAD_MAX_BYTES ? HTTP_MORE : HTTP_REFUSED);
        buf_append_byte(&head, '\n');
        enum http_parsed whole = parse(&arena, buf_str(&head), &answer, &rule);
        EXPECT_EQ(whole, size <= HEAD_MAX_BYTES ? HTTP_DONE : HTTP_REFUSED);
    }
}
