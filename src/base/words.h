/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a text into the words by which it can be found. A word is a run of letters, numbers and
 * marks of any script, without case, diacritics and compatibility forms ("Müller" is "muller",
 * "ﬁ" is "fi"). Scripts that put no blanks between words (Han, Kana, Hangul, Thai, Lao, Khmer,
 * Burmese) give one word for each character; a run of them is found as a phrase. Nothing is
 * allocated; the text must outlive the walk.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/str.h"

enum { WORD_MAX_BYTES = 128 }; /* of a longer one what is past it does not count */

struct words {
    struct str text;
    size_t at;    /* behind the word */
    size_t start; /* where it begins in the text */
    size_t len;
    char word[WORD_MAX_BYTES];
};

void words_init(struct words *w, struct str text);
/* Goes to the next word; false when there is none. */
bool words_next(struct words *w);

static inline struct str words_word(const struct words *w)
{
    return (struct str){w->word, w->len};
}

#endif
