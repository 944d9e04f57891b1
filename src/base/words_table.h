/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/gen_words.py made of Unicode's tables, in the order of code points; for words.c. */
#ifndef BASE_WORDS_TABLE_H
#define BASE_WORDS_TABLE_H

#include "base/macros.h"

enum { WORD_FOLD_MAX_BYTES = 12 };

/* Code points past ASCII that words are made of. */
struct word_range {
    uint32_t first;
    uint32_t last;
};
extern const struct word_range word_ranges[];
extern const size_t word_range_count;

/* What a code point is searched as, in UTF-8; those that are missing stay as they are. */
struct word_fold {
    uint32_t code_point;
    uint8_t len;
    char text[WORD_FOLD_MAX_BYTES];
};
extern const struct word_fold word_folds[];
extern const size_t word_fold_count;

#endif
