/*
 * Private to store_search.c and store_rank*.c: the items that a search may answer with, in their
 * order, before they are read.
 */
#ifndef MODEL_STORE_RANK_H
#define MODEL_STORE_RANK_H

#include "model/store_search.h"

struct candidate {
    int64_t number;
    int64_t updated_at;
    int64_t size_bytes;
    double score;
};

/* Reads number, updated_at and size_bytes of all rows, and ends the query. */
MUST_CHECK enum error store_read_heads(
    struct query *q, size_t max, struct candidate *out, size_t *out_count);
int store_by_number(const void *a, const void *b);
/* The best score first, then the newest. */
int store_by_rank(const void *a, const void *b);

/* Both fill an array in `arena`. */
MUST_CHECK enum error store_rank_by_words(struct context *c, const struct store_search *search,
    struct arena *arena, struct candidate **out_all, size_t *out_count);
MUST_CHECK enum error store_rank_by_vector(struct context *c, const struct store_search *search,
    struct arena *arena, struct candidate **out_all, size_t *out_count);

#endif
