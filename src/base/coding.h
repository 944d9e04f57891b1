/* SPDX-License-Identifier: Apache-2.0 */
/* The content codings of HTTP that Cairn knows: gzip (RFC 1952) and zstd (RFC 8878, with the window
 * of at most 8 MiB of RFC 9659). Any thread. */
#ifndef BASE_CODING_H
#define BASE_CODING_H

#include "base/arena.h"
#include "base/buf.h"

enum coding { CODING_NONE, CODING_GZIP, CODING_ZSTD, CODING_COUNT };
enum coding_result { CODING_DONE, CODING_MALFORMED, CODING_TOO_LARGE };

/* Returns "gzip" or "zstd"; STR_NONE for CODING_NONE. */
struct str coding_name(enum coding coding);
/* Returns CODING_NONE for another name. */
enum coding coding_parse(struct str name);

/* Decodes a whole body into the arena. The output is counted before memory is allocated for it, so
 * that one above the limit takes none. */
MUST_CHECK enum coding_result coding_decode(struct arena *arena, enum coding coding,
    struct str bytes, size_t max_bytes, struct str *out_decoded);

/* Encodes `bytes`, which stay valid, in steps. */
struct coding_encoder;
struct coding_encoder *coding_encoder_create(enum coding coding, struct str bytes, struct buf *out);
void coding_encoder_destroy(struct coding_encoder *e); /* accepts NULL */
/* Encodes at most this much of the input. Returns true if there is more to encode; else `out` has
 * all encoded bytes, or has failed. */
MUST_CHECK bool coding_encoder_step(struct coding_encoder *e, size_t max_bytes);

/* The weights of codings in Accept-Encoding, in thousandths; -1: none. CODING_NONE is identity. */
struct coding_weights {
    int of[CODING_COUNT];
    int others; /* "*" */
};

void coding_weights_init(struct coding_weights *w);
/* Adds one value of the header. Malformed elements are ignored. */
void coding_weights_add(struct coding_weights *w, struct str list);
/* Of codings with the same weight, the one that compresses best. CODING_NONE also if every coding
 * is refused: an answer without coding is better than none. */
enum coding coding_weights_best(const struct coding_weights *w);

#endif
