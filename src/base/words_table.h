/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that tools/gen_words.py generates from Unicode's data, in the order of code points; for
 * words.c. */
#ifndef BASE_WORDS_TABLE_H
#define BASE_WORDS_TABLE_H

#include "base/macros.h"

enum { WORD_FOLD_MAX_BYTES = 12 };

/* Code points above ASCII that belong to words. */
struct word_range {
    uint32_t first;
    uint32_t last;
};
extern const struct word_range word_ranges[];
extern const size_t word_range_count;

/* The form of a code point for search, in UTF-8. Code points without a row keep their own form. */
struct word_fold {
    uint32_t code_point;
    uint8_t len;
    char text[WORD_FOLD_MAX_BYTES];
};
extern const struct word_fold word_folds[];
extern const size_t word_fold_count;

#endif
