/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zstandard, with dictionaries trained on samples of the texts. Short, similar texts, such as
 * messages, compress poorly one by one and well with a dictionary. A prepared dictionary is
 * immutable and may be used by any number of threads at once.
 */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H

#include "base/arena.h"

enum {
    COMPRESS_FAST = 3,
    COMPRESS_WELL = 9,
};

struct dictionary;
/* For compressing and decompressing. The bytes are copied. */
struct dictionary *dictionary_create(struct str bytes, int level);
/* Accepts NULL. */
void dictionary_destroy(struct dictionary *d);

/* Makes a dictionary from the samples, which follow each other in one text. Returns false if they
 * have too little in common. */
MUST_CHECK bool dictionary_train(struct arena *arena, struct str samples, const size_t *sizes,
    size_t n, size_t max_bytes, struct str *out_bytes);

/* The working memory, kept between texts: allocating it costs more than compressing a short text.
 * The process keeps a few small ones that were destroyed for those that are created next. */
struct compressor;
struct compressor *compressor_create(void);
/* Accepts NULL. */
void compressor_destroy(struct compressor *c);

/* Uses the dictionary, or `level` when that is NULL. Returns false if it would save less than an
 * eighth. */
MUST_CHECK bool compress_bytes(struct compressor *c, struct arena *arena, struct str bytes,
    const struct dictionary *d, int level, struct str *out_compressed);
/* Returns false unless the result has exactly `size` bytes. out_bytes has room for them, and its
 * content is undefined after a failure. */
MUST_CHECK bool decompress_bytes(struct compressor *c, struct str compressed, size_t size,
    const struct dictionary *d, char *out_bytes);

#endif
