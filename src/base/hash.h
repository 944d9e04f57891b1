/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, secure random bytes, comparison in constant time, and text forms of bytes. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/arena.h"

enum { SHA256_LEN = 32 };

struct sha256 {
    uint8_t bytes[SHA256_LEN];
};

/* An incremental SHA-256. Either sha256_finish or sha256_freep frees it. */
struct sha256_state;
struct sha256_state *sha256_create(void);
void sha256_add(struct sha256_state *state, struct str bytes);
struct sha256 sha256_finish(struct sha256_state *state);
/* For CLEANUP: frees a state that was not finished. */
void sha256_freep(struct sha256_state **state);
/* The hash of the bytes so far; more may be added. */
struct sha256 sha256_so_far(const struct sha256_state *state);
struct sha256 sha256_of(struct str bytes);

/* Compares in constant time. */
bool bytes_eq_secret(const void *a, const void *b, size_t len);
/* From OpenSSL's generator, seeded by the kernel. The process stops if the generator fails. */
void random_bytes(void *out, size_t len);

struct str hex_encode(struct arena *arena, struct str bytes);
/* Reads exactly 2 * n digits in either case. */
MUST_CHECK bool hex_decode(struct str text, void *out_bytes, size_t n);
/* The same for text that has one spelling: only in lower case, as hex_encode writes it. */
MUST_CHECK bool hex_decode_lower(struct str text, void *out_bytes, size_t n);
/* RFC 4648 section 5, without padding. Decoding rejects padding, other alphabets and stray bits. */
struct str base64url_encode(struct arena *arena, struct str bytes);
MUST_CHECK bool base64url_decode(struct arena *arena, struct str text, struct str *out_bytes);
/* RFC 4648 section 4, with padding, for the handshake of WebSocket. */
struct str base64_encode(struct arena *arena, struct str bytes);
/* SHA-1, only for the handshake of WebSocket. */
void sha1_of(struct str bytes, uint8_t out_digest[20]);

/* A fast keyed hash (SipHash-1-3 with a per-process key) for in-memory tables. */
uint64_t hash_bytes(const void *bytes, size_t len);
/* The same with the caller's key. */
uint64_t siphash13(const uint64_t key_words[2], const void *bytes, size_t len);

#endif
