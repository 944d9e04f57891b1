/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "base/utf8.h"

struct str str_of(const char *nul_terminated)
{
    if (nul_terminated == NULL)
        return STR_NONE;
    return (struct str){nul_terminated, strlen(nul_terminated)};
}

struct str str_slice(struct str s, size_t start, size_t end)
{
    if (str_is_none(s))
        return s;
    if (end > s.len)
        end = s.len;
    if (start > end)
        start = end;
    return (struct str){s.ptr + start, end - start};
}

struct str str_trim_blanks(struct str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

int str_cmp(struct str a, struct str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared == 0 ? 0 : memcmp(a.ptr, b.ptr, shared);
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts_with(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_slice(s, 0, prefix.len), prefix);
}

bool str_ends_with(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_slice(s, s.len - suffix.len, s.len), suffix);
}

size_t str_find(struct str s, char byte)
{
    const char *hit = s.len == 0 ? NULL : memchr(s.ptr, byte, s.len);
    return hit == NULL ? s.len : (size_t)(hit - s.ptr);
}

bool str_has_byte(struct str s, char byte)
{
    return str_find(s, byte) < s.len;
}

bool str_next_part(struct str *rest, char separator, struct str *out_part)
{
    if (rest->ptr == NULL)
        return false;
    size_t at = str_find(*rest, separator);
    *out_part = str_slice(*rest, 0, at);
    *rest = at < rest->len ? str_slice(*rest, at + 1, rest->len) : STR_NONE;
    return true;
}

bool str_to_u64(struct str s, uint64_t *out_value)
{
    if (s.len == 0 || s.len > 20 || (s.len > 1 && s.ptr[0] == '0'))
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(s.ptr[i] - '0');
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out_value = value;
    return true;
}

bool str_to_i64(struct str s, int64_t *out_value)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    uint64_t magnitude;
    if (!str_to_u64(negative ? str_slice(s, 1, s.len) : s, &magnitude))
        return false;
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    if (magnitude > limit || (negative && magnitude == 0))
        return false;
    *out_value = negative ? (int64_t)(~magnitude + 1) : (int64_t)magnitude;
    return true;
}

bool str_is_utf8(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    for (size_t i = 0; i < s.len;) {
        size_t step = utf8_sequence(p + i, s.len - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}
