/* SPDX-License-Identifier: Apache-2.0 */
/* Private to memory_*.c: sets of words, and the word that represents a namespace in the index. */
#ifndef MODEL_MEMORY_MEMORY_WORDS_H
#define MODEL_MEMORY_MEMORY_WORDS_H

#include "model/memory/memory_items.h"

/* Different words in the order of their first occurrence, in the arena. */
struct word_set {
    struct arena *arena;
    struct str *words;
    size_t count;
    size_t bytes;
    size_t max_words;
    size_t max_bytes;
    bool is_full; /* the text had more words */
    uint32_t *slots;
    size_t n_slots;
};

void word_set_init(struct word_set *set, struct arena *arena, size_t max_words, size_t max_bytes);
void word_set_add_text(struct word_set *set, struct str text);

struct str memory_place_word(struct context *c, struct str prefix);

#endif
