/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zstandard, with dictionaries made from samples of what is compressed. Short texts that resemble
 * each other, as messages do, are hardly shorter alone; with a dictionary they are. A prepared
 * dictionary is immutable and may be used by any number of threads at once.
 */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include "base/arena.h"

enum {
    COMPRESS_FAST = 3,
    COMPRESS_WELL = 9,
};

struct dictionary;
/* For both directions. The bytes are copied. */
struct dictionary *dictionary_create(struct str bytes, int level);
/* Accepts NULL. */
void dictionary_destroy(struct dictionary *d);

/* What is common to the samples, which stand in one text one after the other. False when there is
 * too little of it. */
MUST_CHECK bool dictionary_train(struct arena *arena, struct str samples, const size_t *sizes,
    size_t n, size_t max_bytes, struct str *out_bytes);

/* The memory that it is done in, for one text after the other: to make it anew for each costs more
 * than a short text does. */
struct compressor;
struct compressor *compressor_create(void);
/* Accepts NULL. */
void compressor_destroy(struct compressor *c);

/* With a dictionary, or NULL; then with the level given. False when it would save less than an
 * eighth. */
MUST_CHECK bool compress_bytes(struct compressor *c, struct arena *arena, struct str bytes,
    const struct dictionary *d, int level, struct str *out_compressed);
/* False unless that is just `size` bytes. */
MUST_CHECK bool decompress_bytes(struct compressor *c, struct arena *arena, struct str compressed,
    size_t size, const struct dictionary *d, struct str *out_bytes);

#endif
