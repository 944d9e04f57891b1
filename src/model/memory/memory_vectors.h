/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of items of the store: lists of numbers that somebody else has made from the value. A
 * search compares its own with all under its prefix, by cosine, exactly: it looks at
 * MEMORY_VECTORS_MAX at the most and is refused where there are more.
 */
#ifndef MODEL_MEMORY_MEMORY_VECTORS_H
#define MODEL_MEMORY_MEMORY_VECTORS_H

#include "model/memory/memory_items.h"

enum {
    MEMORY_ITEM_VECTORS_MAX = 16,
    MEMORY_DIMENSIONS_MAX = 4096,
    MEMORY_VECTOR_PATH_MAX_BYTES = 512,
    MEMORY_VECTORS_MAX = 50000, /* under the prefix of one search */
};

struct memory_vector {
    struct str path;
    struct str values; /* a JSON array of numbers */
};

/* Checked numbers, as they are stored. */
struct memory_vector_bytes {
    struct str path;
    size_t dimensions;
    struct str bytes;
};
/* A fault under `pointer`, which is that of the array. */
MUST_CHECK enum error memory_vector_encode(
    struct context *c, struct str values, struct str pointer, struct memory_vector_bytes *out);

/* In the place of those that the item has. */
MUST_CHECK enum error memory_put_vectors(
    struct context *c, int64_t number, const struct memory_vector_bytes *vectors, size_t n);

/* Whether stored bytes are so many numbers, and each of them is one. */
bool memory_vector_is_sound(struct str bytes);
/* Cosines of numbers as they are stored, each from -1 to 1; 0 where one has no length. */
double memory_cosine(const float *a, const float *b, size_t dimensions);
void memory_vector_decode(struct str bytes, float *out);

#endif
