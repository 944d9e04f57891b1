/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonschema/json_schema_uri.h"

#include "base/utf8.h"

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* --- Addresses -------------------------------------------------------------------------------- */

bool is_ipv4(struct str s)
{
    struct str part;
    uint64_t number;
    size_t count = 0;
    if (str_ends_with(s, STR(".")))
        return false;
    while (str_next_part(&s, '.', &part)) {
        if (!str_to_u64(part, &number) || number > 255)
            return false;
        count++;
    }
    return count == 4;
}

static bool is_group(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (hex_digit(s.ptr[i]) < 0)
            return false;
    return s.len >= 1 && s.len <= 4;
}

/* The number of 16-bit groups on one side of "::", or in the whole; -1 if it is malformed. */
static int count_groups(struct str s, bool at_end)
{
    int count = 0;
    while (s.len > 0) {
        size_t end = str_find(s, ':');
        struct str part = str_slice(s, 0, end);
        bool last = end == s.len;
        if (last && at_end && is_ipv4(part))
            return count + 2;
        if (!is_group(part) || (!last && end + 1 == s.len))
            return -1;
        count++;
        s = str_slice(s, last ? end : end + 1, s.len);
    }
    return count;
}

bool is_ipv6(struct str s)
{
    size_t gap = 0;
    while (gap + 1 < s.len && !(s.ptr[gap] == ':' && s.ptr[gap + 1] == ':'))
        gap++;
    if (gap + 1 >= s.len)
        return count_groups(s, true) == 8;
    int before = count_groups(str_slice(s, 0, gap), false);
    int after = count_groups(str_slice(s, gap + 2, s.len), true);
    return before >= 0 && after >= 0 && before + after <= 7;
}

/* --- URIs and IRIs ---------------------------------------------------------------------------- */

static bool is_ucschar(uint32_t c)
{
    if (c < 0x10000)
        return (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfdcf) ||
               (c >= 0xfdf0 && c <= 0xffef);
    return c < 0xf0000 && (c & 0xffff) <= 0xfffd && !(c >= 0xe0000 && c < 0xe1000);
}

static bool is_private(uint32_t c)
{
    return (c >= 0xe000 && c <= 0xf8ff) || (c >= 0xf0000 && (c & 0xffff) <= 0xfffd);
}

struct chars {
    const char *more; /* besides those that never need an escape */
    bool international;
    bool private;
};

static bool has_only(struct str s, struct chars allowed)
{
    for (size_t i = 0; i < s.len;) {
        char c = s.ptr[i];
        size_t len = utf8_sequence((const unsigned char *)s.ptr + i, s.len - i);
        if (len == 0)
            return false;
        if (len > 1) {
            uint32_t code_point = utf8_decode((const unsigned char *)s.ptr + i, len);
            if (!allowed.international ||
                !(is_ucschar(code_point) || (allowed.private && is_private(code_point))))
                return false;
        } else if (c == '%') {
            if (i + 2 >= s.len || hex_digit(s.ptr[i + 1]) < 0 || hex_digit(s.ptr[i + 2]) < 0)
                return false;
            len = 3;
        } else if (!is_letter(c) && !is_digit(c) && !is_one_of(c, "-._~!$&'()*+,;=") &&
                   !is_one_of(c, allowed.more)) {
            return false;
        }
        i += len;
    }
    return true;
}

static bool is_ip_future(struct str s)
{
    size_t dot = str_find(s, '.');
    if (s.len < 4 || (s.ptr[0] | 0x20) != 'v' || dot < 2 || dot + 1 >= s.len)
        return false;
    for (size_t i = 1; i < dot; i++)
        if (hex_digit(s.ptr[i]) < 0)
            return false;
    struct str rest = str_slice(s, dot + 1, s.len);
    return !str_has_byte(rest, '%') && has_only(rest, (struct chars){.more = ":"});
}

static bool is_port(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_digit(s.ptr[i]))
            return false;
    return true;
}

static bool is_authority(struct str s, bool international)
{
    struct chars user = {.more = ":", .international = international};
    struct chars host = {.more = "", .international = international};
    size_t at = str_find(s, '@');
    if (at < s.len) {
        if (!has_only(str_slice(s, 0, at), user))
            return false;
        s = str_slice(s, at + 1, s.len);
    }
    if (str_starts_with(s, STR("["))) {
        size_t end = str_find(s, ']');
        struct str inner = str_slice(s, 1, end), after = str_slice(s, end + 1, s.len);
        bool port =
            after.len == 0 || (after.ptr[0] == ':' && is_port(str_slice(after, 1, after.len)));
        return end < s.len && port && (is_ipv6(inner) || is_ip_future(inner));
    }
    size_t colon = str_find(s, ':');
    return has_only(str_slice(s, 0, colon), host) && is_port(str_slice(s, colon + 1, s.len));
}

static bool is_scheme(struct str s)
{
    for (size_t i = 1; i < s.len; i++)
        if (!is_letter(s.ptr[i]) && !is_digit(s.ptr[i]) && !is_one_of(s.ptr[i], "+-."))
            return false;
    return s.len > 0 && is_letter(s.ptr[0]);
}

/* The text after the scheme, or a reference without a scheme. */
static bool is_relative_part(struct str s, bool international, bool has_scheme)
{
    struct chars path = {.more = ":@/", .international = international};
    if (str_starts_with(s, STR("//"))) {
        s = str_slice(s, 2, s.len);
        size_t slash = str_find(s, '/');
        return is_authority(str_slice(s, 0, slash), international) &&
               has_only(str_slice(s, slash, s.len), path);
    }
    /* A colon in the first segment would make it a scheme. */
    struct str first = str_slice(s, 0, str_find(s, '/'));
    return (has_scheme || !str_has_byte(first, ':')) && has_only(s, path);
}

static bool is_reference(struct str s, bool international, bool needs_scheme)
{
    struct chars after = {.more = ":@/?", .international = international};
    size_t hash = str_find(s, '#');
    if (hash < s.len && !has_only(str_slice(s, hash + 1, s.len), after))
        return false;
    s = str_slice(s, 0, hash);
    size_t question = str_find(s, '?');
    after.private = international;
    if (question < s.len && !has_only(str_slice(s, question + 1, s.len), after))
        return false;
    s = str_slice(s, 0, question);
    size_t colon = str_find(s, ':');
    bool has_scheme = colon < s.len && is_scheme(str_slice(s, 0, colon));
    if (!has_scheme && needs_scheme)
        return false;
    return is_relative_part(
        has_scheme ? str_slice(s, colon + 1, s.len) : s, international, has_scheme);
}

bool is_uri(struct str s)
{
    return is_reference(s, false, true);
}

bool is_uri_reference(struct str s)
{
    return is_reference(s, false, false);
}

bool is_iri(struct str s)
{
    return is_reference(s, true, true);
}

bool is_iri_reference(struct str s)
{
    return is_reference(s, true, false);
}

/* --- Templates -------------------------------------------------------------------------------- */

static bool is_variable(struct str s)
{
    size_t colon = str_find(s, ':');
    if (colon < s.len) {
        uint64_t length;
        if (!str_to_u64(str_slice(s, colon + 1, s.len), &length) || length == 0 || length > 9999)
            return false;
        s = str_slice(s, 0, colon);
    } else if (str_ends_with(s, STR("*"))) {
        s = str_slice(s, 0, s.len - 1);
    }
    bool after_dot = true;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '%') {
            if (i + 2 >= s.len || hex_digit(s.ptr[i + 1]) < 0 || hex_digit(s.ptr[i + 2]) < 0)
                return false;
            i += 2;
        } else if (c == '.' ? after_dot : !is_letter(c) && !is_digit(c) && c != '_') {
            return false;
        }
        after_dot = c == '.';
    }
    return !after_dot;
}

static bool is_expression(struct str s)
{
    struct str variable;
    if (s.len > 0 && is_one_of(s.ptr[0], "+#./;?&=,!@|"))
        s = str_slice(s, 1, s.len);
    if (s.len == 0 || str_ends_with(s, STR(",")))
        return false;
    while (str_next_part(&s, ',', &variable))
        if (!is_variable(variable))
            return false;
    return true;
}

static bool is_template_text(struct str s)
{
    struct chars text = {.more = ":/?#[]@", .international = true, .private = true};
    return has_only(s, text);
}

bool is_uri_template(struct str s)
{
    while (s.len > 0) {
        size_t open = str_find(s, '{'), close = str_find(s, '}');
        if (!is_template_text(str_slice(s, 0, open)) || (open == s.len && close < s.len))
            return false;
        if (open == s.len)
            return true;
        if (close < open || close == s.len || !is_expression(str_slice(s, open + 1, close)))
            return false;
        s = str_slice(s, close + 1, s.len);
    }
    return true;
}
