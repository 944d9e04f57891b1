/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a text into words for search. A word is a run of letters, numbers and marks of any script,
 * without case, diacritics and compatibility forms ("Müller" is "muller", "ﬁ" is "fi"). Scripts
 * without blanks between words (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) give one word for
 * each character; search finds a run of them as a phrase. Nothing is allocated; the text must
 * outlive the iteration.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/str.h"

enum { WORD_MAX_BYTES = 128 }; /* the rest of a longer word is ignored */

struct words {
    struct str text;
    size_t at;    /* the position after the word */
    size_t start; /* of the word in the text */
    size_t len;
    char word[WORD_MAX_BYTES];
};

void words_init(struct words *w, struct str text);
/* Advances to the next word. Returns false at the end. */
bool words_next(struct words *w);

static inline struct str words_word(const struct words *w)
{
    return (struct str){w->word, w->len};
}

#endif
