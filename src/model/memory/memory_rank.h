/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to memory_search.c and memory_rank*.c: the candidates of a search in their order, before
 * the items are read.
 */
#ifndef MODEL_MEMORY_MEMORY_RANK_H
#define MODEL_MEMORY_MEMORY_RANK_H

#include "model/memory/memory_search.h"

struct candidate {
    int64_t number;
    int64_t updated_at;
    int64_t size_bytes;
    double score;
};

/* Reads number, updated_at and size_bytes of all rows, and ends the query. */
MUST_CHECK enum error memory_read_heads(
    struct query *q, size_t max, struct candidate *out, size_t *out_count);
int memory_by_number(const void *a, const void *b);
/* By score, the best first, then by time, the newest first. */
int memory_by_rank(const void *a, const void *b);

/* Return the candidates in `arena`. */
MUST_CHECK enum error memory_rank_by_words(struct context *c, const struct memory_search *search,
    struct arena *arena, struct candidate **out_all, size_t *out_count);
MUST_CHECK enum error memory_rank_by_vector(struct context *c, const struct memory_search *search,
    struct arena *arena, struct candidate **out_all, size_t *out_count);

#endif
