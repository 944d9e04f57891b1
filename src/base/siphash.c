/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <pthread.h>

#include "base/hash.h"

/* SipHash-1-3, by Aumasson and Bernstein: collisions cannot be constructed without the key. */
struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t key[2];

static void make_key(void)
{
    random_bytes(key, sizeof key);
}

static inline uint64_t rotate_left(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v2 = rotate_left(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* The bytes after the last whole word, and the length in the top byte. */
static uint64_t last_word(const unsigned char *rest, size_t len)
{
    uint64_t word = (uint64_t)len << 56;
    for (size_t i = 0; i < len % 8; i++)
        word |= (uint64_t)rest[i] << (8 * i);
    return word;
}

uint64_t siphash13(const uint64_t key_words[2], const void *bytes, size_t len)
{
    struct sip s = {
        key_words[0] ^ 0x736f6d6570736575,
        key_words[1] ^ 0x646f72616e646f6d,
        key_words[0] ^ 0x6c7967656e657261,
        key_words[1] ^ 0x7465646279746573,
    };
    const unsigned char *at = bytes;
    for (size_t left = len; left >= 8; left -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        sip_word(&s, le64toh(word));
    }
    sip_word(&s, last_word(at, len));
    s.v2 ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t hash_bytes(const void *bytes, size_t len)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    return siphash13(key, bytes, len);
}
