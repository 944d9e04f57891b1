/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of items: lists of numbers that the client computed from the value. A search compares its
 * vector with every vector under its prefix by the exact cosine. It is rejected if there are more
 * than MEMORY_VECTORS_MAX.
 */
#ifndef MODEL_MEMORY_MEMORY_VECTORS_H
#define MODEL_MEMORY_MEMORY_VECTORS_H

#include "model/memory/memory_items.h"

enum {
    MEMORY_ITEM_VECTORS_MAX = 16,
    MEMORY_DIMENSIONS_MAX = 4096,
    MEMORY_VECTOR_PATH_MAX_BYTES = 512,
    MEMORY_VECTORS_MAX = 50000, /* under the prefix of a search */
};

struct memory_vector {
    struct str path;
    struct str values; /* a JSON array of numbers */
};

/* Checked numbers in the stored form. */
struct memory_vector_bytes {
    struct str path;
    size_t dimensions;
    struct str bytes;
};
/* Faults begin with `pointer`, that of the array. */
MUST_CHECK enum error memory_vector_encode(
    struct context *c, struct str values, struct str pointer, struct memory_vector_bytes *out);

/* Replaces the vectors of the item. */
MUST_CHECK enum error memory_put_vectors(
    struct context *c, int64_t number, const struct memory_vector_bytes *vectors, size_t n);

/* Returns true if the stored bytes are finite numbers. */
bool memory_vector_is_sound(struct str bytes);
/* Returns the cosine of two vectors, from -1 to 1; 0 if one has length 0. */
double memory_cosine(const float *a, const float *b, size_t dimensions);
void memory_vector_decode(struct str bytes, float *out);

#endif
