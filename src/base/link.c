/* SPDX-License-Identifier: Apache-2.0 */
#include "base/link.h"

/* Returns the length of the scheme: the text before a ':' that no '/', '?' or '#' precedes; else 0.
 * */
static size_t scheme_len(struct str uri)
{
    for (size_t i = 0; i < uri.len; i++) {
        if (uri.ptr[i] == ':')
            return i;
        if (str_has_byte(STR("/?#"), uri.ptr[i]))
            return 0;
    }
    return 0;
}

/* A browser removes blanks and control characters before it looks for a scheme. */
static bool is_plain(struct str uri)
{
    for (size_t i = 0; i < uri.len; i++)
        if ((unsigned char)uri.ptr[i] <= ' ' || uri.ptr[i] == 0x7f || uri.ptr[i] == '\\')
            return false;
    return uri.len > 0 && uri.ptr[0] != ':';
}

/* The text after the scheme must begin with "//" and a possible host. */
static bool has_host(struct str rest)
{
    return str_starts_with(rest, STR("//")) && rest.len > 2 &&
           !str_has_byte(STR("/?#:@"), rest.ptr[2]);
}

bool link_is_safe(struct str uri)
{
    size_t len = scheme_len(uri);
    struct str scheme = str_slice(uri, 0, len);
    if (!is_plain(uri))
        return false;
    if (len == 0)
        return !str_starts_with(uri, STR("//")) || has_host(uri);
    return (str_eq_nocase(scheme, STR("http")) || str_eq_nocase(scheme, STR("https"))) &&
           has_host(str_slice(uri, len + 1, uri.len));
}
