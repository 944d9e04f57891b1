/*
 * Vectors of items of the store: lists of numbers that somebody else has made from the value. A
 * search compares its own with all under its prefix, by cosine, exactly: it looks at
 * STORE_VECTORS_MAX at the most and is refused where there are more.
 */
#ifndef MODEL_STORE_VECTORS_H
#define MODEL_STORE_VECTORS_H

#include "model/store_items.h"

enum {
    STORE_ITEM_VECTORS_MAX = 16,
    STORE_DIMENSIONS_MAX = 4096,
    STORE_VECTOR_PATH_MAX_BYTES = 512,
    STORE_VECTORS_MAX = 50000, /* under the prefix of one search */
};

struct store_vector {
    struct str path;
    struct str values; /* a JSON array of numbers */
};

/* Checked numbers, as they are stored. */
struct store_vector_bytes {
    struct str path;
    size_t dimensions;
    struct str bytes;
};
/* A fault under `pointer`, which is that of the array. */
MUST_CHECK enum error store_vector_encode(
    struct context *c, struct str values, struct str pointer, struct store_vector_bytes *out);

/* In the place of those that the item has. */
MUST_CHECK enum error store_put_vectors(
    struct context *c, int64_t number, const struct store_vector_bytes *vectors, size_t n);

/* Whether stored bytes are so many numbers, and each of them is one. */
bool store_vector_is_sound(struct str bytes);
/* Cosines of numbers as they are stored, each from -1 to 1; 0 where one has no length. */
double store_cosine(const float *a, const float *b, size_t dimensions);
void store_vector_decode(struct str bytes, float *out);

#endif
