/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tape behind struct json; only for the JSON modules of base. The node of a value is followed
 * by the nodes of its content, in the order of the text: the items of an array, or the keys of an
 * object, each followed by its value. So the children of node i are the nodes from i + 1 to its
 * `next`.
 */
#ifndef BASE_JSON_JSON_TAPE_H
#define BASE_JSON_JSON_TAPE_H

#include <endian.h>

#include "base/json/json.h"

struct json_node {
    uint32_t start;     /* offset of the first byte in the text */
    uint32_t end;       /* offset after the last byte */
    uint32_t next;      /* the node after this value and its content */
    uint32_t type : 3;  /* enum json_type */
    uint32_t plain : 1; /* a string without escapes, an array or object without blanks */
    uint32_t count : 28;
};

/* The largest value of `count`. */
enum { JSON_MAX_NODES = (1 << 28) - 1 };

static inline const struct json_node *json_node(struct json v)
{
    return &v.doc->nodes[v.at];
}

/* A string's text between the quotes, as written. */
static inline struct str json_inner(struct json v)
{
    const struct json_node *node = json_node(v);
    return (struct str){v.doc->text.ptr + node->start + 1, (size_t)(node->end - node->start) - 2};
}

static inline bool json_is_blank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns true for an ASCII byte that a string may contain unescaped; other bytes need the UTF-8
 * check. */
static inline bool json_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/*
 * Returns the first byte from `at` that is not plain, or `end`. Eight bytes at a time: the top bit
 * of each byte in `odd` is set if that byte is not plain. A borrow can only disturb bytes above a
 * byte that is not plain, so the lowest set bit is correct.
 */
static inline const unsigned char *json_skip_plain(
    const unsigned char *at, const unsigned char *end)
{
    const uint64_t ones = 0x0101010101010101;
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        word = le64toh(word);
        uint64_t odd = word | (word - ones * 0x20) | ((word ^ (ones * '"')) - ones) |
                       ((word ^ (ones * '\\')) - ones);
        odd &= ones * 0x80;
        if (odd != 0)
            return at + __builtin_ctzll(odd) / 8;
        at += 8;
    }
    while (at < end && json_is_plain(*at))
        at++;
    return at;
}

#endif
