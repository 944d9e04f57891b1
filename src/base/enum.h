/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed lists of words: statuses, phases, kinds, policies. One X-macro beside the resource is the
 * only list; the enum, the words and further columns (flags, transitions) are read from it.
 *
 *     #define SHARE_KINDS(X)                  \
 *         X(SHARE_PARTICIPATE, "participate") \
 *         X(SHARE_COPY, "copy")
 *     ENUM_DECLARE(share_kind, SHARE_KIND_NONE, share_kinds, SHARE_KINDS);     in the header
 *     ENUM_DEFINE(share_kinds, SHARE_KINDS);                                   in one .c file
 *
 * The first two columns are the enumerator and its word. Value 0 (SHARE_KIND_NONE) means that
 * there is no value; the others are numbered from 1 in the order of the list. `share_kinds` holds
 * the words in that order and ends in NULL: field tables use it as `.choices`. The words are stored
 * and sent; the numbers never leave the process, so a new word may be added anywhere.
 */
#ifndef BASE_ENUM_H
#define BASE_ENUM_H

#include "base/arena.h"

#define ENUM_VALUE(value, word, ...) value,
#define ENUM_WORD(value, word, ...) word,

/* Declares `enum tag`, the array `words`, tag_word (value 0 gives STR_NONE) and tag_parse (an
 * unknown text gives 0). */
#define ENUM_DECLARE(tag, none, words, list)                                    \
    enum tag { none, list(ENUM_VALUE) };                                        \
    extern const char *const words[];                                           \
    __attribute__((unused)) static inline struct str tag##_word(enum tag value) \
    {                                                                           \
        return enum_word(words, value);                                         \
    }                                                                           \
    __attribute__((unused)) static inline enum tag tag##_parse(struct str text) \
    {                                                                           \
        return (enum tag)enum_parse(words, text);                               \
    }                                                                           \
    _Static_assert(sizeof(enum tag) == sizeof(unsigned), #tag)
#define ENUM_DEFINE(words, list) const char *const words[] = {list(ENUM_WORD) NULL}

/* Returns STR_NONE for 0. A value that the list does not have aborts. */
struct str enum_word(const char *const *words, unsigned value);
/* Returns 0 for a text that the list does not have, and for STR_NONE. */
unsigned enum_parse(const char *const *words, struct str text);

/* Sets of values, for flags and transitions: bit N stands for value N. */
#define ENUM_BIT(value) (1u << (value))
static inline bool enum_has(unsigned set, unsigned value)
{
    return (set & ENUM_BIT(value)) != 0;
}
/* A constant set of up to eight values. */
#define ENUM_SET(...) ENUM_SET_OF(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0)
#define ENUM_SET_OF(a, b, c, d, e, f, g, h, ...)                                          \
    ((ENUM_BIT(a) | ENUM_BIT(b) | ENUM_BIT(c) | ENUM_BIT(d) | ENUM_BIT(e) | ENUM_BIT(f) | \
         ENUM_BIT(g) | ENUM_BIT(h)) &                                                     \
        ~1u)
/* The words of the set in the order of the list, in the arena; ends in NULL. */
const char *const *enum_words_of(struct arena *arena, const char *const *words, unsigned set);

#endif
