/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, one sequence at a time. Inline, for the scanners of base. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/macros.h"

enum { UTF8_MAX_LEN = 4 };

/* Returns the length of the well-formed sequence at `p`, or 0 (Unicode 15, table 3-7). `left` must
 * not be 0. */
static inline size_t utf8_sequence(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || left < len)
        return 0;
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

/* The code point of a well-formed sequence. */
static inline uint32_t utf8_decode(const unsigned char *p, size_t len)
{
    static const uint32_t lead_mask[] = {[1] = 0x7f, [2] = 0x1f, [3] = 0x0f, [4] = 0x07};
    uint32_t code_point = p[0] & lead_mask[len];
    for (size_t i = 1; i < len; i++)
        code_point = code_point << 6 | (p[i] & 0x3f);
    return code_point;
}

/* Writes the sequence of a code point, which must not be a surrogate, and returns its length. */
static inline size_t utf8_encode(uint32_t code_point, char out[UTF8_MAX_LEN])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    size_t len = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code_point & 0x3f));
        code_point >>= 6;
    }
    static const uint32_t lead[] = {[2] = 0xc0, [3] = 0xe0, [4] = 0xf0};
    out[0] = (char)(lead[len] | code_point);
    return len;
}

#endif
