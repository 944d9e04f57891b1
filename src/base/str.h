/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A borrowed run of bytes, passed by value. It owns nothing and never relies on a NUL at its end. A
 * `ptr` of NULL means "absent" (SQL NULL, JSON null), which differs from the empty string.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/macros.h"

struct str {
    const char *ptr;
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_NONE ((struct str){NULL, 0})
/* For printf's "%.*s". */
#define STR_ARG(s) (int)(s).len, ((s).ptr ? (s).ptr : "")

struct str str_of(const char *nul_terminated);
/* The bytes from `start` up to `end`, both limited to the string. A slice of an absent string is
 * absent. */
struct str str_slice(struct str s, size_t start, size_t end);
struct str str_trim_blanks(struct str s);

static inline bool str_is_none(struct str s)
{
    return s.ptr == NULL;
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Returns true if the strings differ; an absent string differs from an empty one. */
static inline bool str_differs(struct str a, struct str b)
{
    return !str_eq(a, b) || (a.ptr == NULL) != (b.ptr == NULL);
}

static inline bool str_eq_nocase(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

int str_cmp(struct str a, struct str b);
bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);
/* The index of `byte`, or s.len when it does not occur. */
size_t str_find(struct str s, char byte);
bool str_has_byte(struct str s, char byte);

/* Moves the part before `separator` from the front of `rest` to `out_part`. Returns false if `rest`
 * is empty. */
bool str_next_part(struct str *rest, char separator, struct str *out_part);

/* Parses the whole string as a decimal number: no sign for u64, no blanks, no leading zeros, no -0,
 * no overflow. So each number has one form. */
MUST_CHECK bool str_to_u64(struct str s, uint64_t *out_value);
MUST_CHECK bool str_to_i64(struct str s, int64_t *out_value);

/* Of ASCII. */
static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/* The value of a hexadecimal digit in either case, or -1. */
static inline int hex_digit(char byte)
{
    if (is_digit(byte))
        return byte - '0';
    char letter = (char)(byte | 0x20);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool str_is_utf8(struct str s);

#endif
