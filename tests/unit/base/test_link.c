/* SPDX-License-Identifier: Apache-2.0 */
#include "base/link.h"
#include "test.h"

TEST(links_of_http_and_https_and_relative_ones_are_safe)
{
    static const char *const list[] = {"http://a", "HTTPS://example.com/a?b#c", "https://[::1]:8/",
        "a", "a/b:c", "/files/a.png", "?page=2", "#top", "//example.com/x", "./x:y"};
    for (size_t i = 0; i < COUNT_OF(list); i++)
        EXPECT(link_is_safe(str_of(list[i])));
}

TEST(links_that_run_something_or_lead_nowhere_are_not)
{
    static const char *const list[] = {"", ":", ":a", "javascript:alert(1)", "JavaScript:1",
        "data:text/html,x", "file:///etc/passwd", "http:", "http:a", "http:/a", "http://",
        "http:///", "https://?a", "http://:80", "http://@", "//", "///a", "a b", " http://a",
        "java\tscript:x", "\\\\host\\x"};
    for (size_t i = 0; i < COUNT_OF(list); i++)
        EXPECT(!link_is_safe(str_of(list[i])));
}
