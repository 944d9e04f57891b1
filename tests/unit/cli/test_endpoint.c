/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/endpoint.h"

#include "test.h"

TEST(a_url_is_taken_apart)
{
    static const struct {
        const char *url, *host, *prefix;
        uint16_t port;
        bool tls;
    } urls[] = {
        {"http://127.0.0.1:7420", "127.0.0.1", "", 7420, false},
        {"http://localhost", "localhost", "", 80, false},
        {"https://cairn.example.com/", "cairn.example.com", "", 443, true},
        {"https://example.com:8443/a/b/", "example.com", "/a/b", 8443, true},
        {"http://[::1]:7420", "::1", "", 7420, false},
        {"http://[::1]", "::1", "", 80, false},
    };
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct endpoint e = {0};
        EXPECT(endpoint_parse_url(str_of(urls[i].url), &e) == NULL);
        EXPECT_STR(e.host, str_of(urls[i].host));
        EXPECT_STR(e.prefix, str_of(urls[i].prefix));
        EXPECT_EQ(e.port, urls[i].port);
        EXPECT_EQ(e.tls, urls[i].tls);
    }
}

TEST(a_url_that_could_mean_something_else_is_refused)
{
    static const char *const urls[] = {"", "127.0.0.1:7420", "ftp://x", "http://", "http://:80",
        "http://a b", "http://a:0", "http://a:65536", "http://a:x", "http://[::1", "http://user@a",
        "http://user:secret@a", "http://a?x=1", "http://a#x", "http://a\r\nX: y", "http://[::1]x"};
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct endpoint e = {0};
        if (endpoint_parse_url(str_of(urls[i]), &e) == NULL)
            test_fail(__FILE__, __LINE__, "\"%s\" is taken", urls[i]);
    }
}
