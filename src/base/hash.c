/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>

struct sha256_state {
    EVP_MD_CTX *context;
};

/* OpenSSL fails here only if it is broken or out of memory: the process cannot continue safely. */
static void must(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "cairn: OpenSSL cannot %s\n", what);
    abort();
}

/* Fetched once: looking an algorithm up by name costs more than hashing a short text. */
static EVP_MD *sha256_algorithm;

static void fetch_sha256(void)
{
    sha256_algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    must(sha256_algorithm != NULL, "provide SHA-256");
}

static const EVP_MD *sha256_md(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fetch_sha256);
    return sha256_algorithm;
}

struct sha256_state *sha256_create(void)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    must(context != NULL && EVP_DigestInit_ex2(context, sha256_md(), NULL) == 1, "begin SHA-256");
    struct sha256_state *state = OPENSSL_malloc(sizeof *state);
    must(state != NULL, "begin SHA-256");
    state->context = context;
    return state;
}

void sha256_add(struct sha256_state *state, struct str bytes)
{
    must(EVP_DigestUpdate(state->context, bytes.ptr, bytes.len) == 1, "go on with SHA-256");
}

struct sha256 sha256_finish(struct sha256_state *state)
{
    struct sha256 digest;
    must(EVP_DigestFinal_ex(state->context, digest.bytes, NULL) == 1, "finish SHA-256");
    sha256_freep(&state);
    return digest;
}

void sha256_freep(struct sha256_state **state)
{
    EVP_MD_CTX_free((*state)->context);
    OPENSSL_free(*state);
}

struct sha256 sha256_so_far(const struct sha256_state *state)
{
    struct sha256 digest = {{0}};
    EVP_MD_CTX *copy = EVP_MD_CTX_new();
    must(copy != NULL && EVP_MD_CTX_copy_ex(copy, state->context) == 1 &&
             EVP_DigestFinal_ex(copy, digest.bytes, NULL) == 1,
        "read SHA-256");
    EVP_MD_CTX_free(copy);
    return digest;
}

struct sha256 sha256_of(struct str bytes)
{
    struct sha256 digest;
    must(EVP_Digest(bytes.ptr, bytes.len, digest.bytes, NULL, sha256_md(), NULL) == 1,
        "compute SHA-256");
    return digest;
}

void sha1_of(struct str bytes, uint8_t out_digest[20])
{
    must(
        EVP_Digest(bytes.ptr, bytes.len, out_digest, NULL, EVP_sha1(), NULL) == 1, "compute SHA-1");
}

bool bytes_eq_secret(const void *a, const void *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

void random_bytes(void *out, size_t len)
{
    unsigned char *at = out;
    while (len > 0) {
        int part = len < 4096 ? (int)len : 4096;
        must(RAND_bytes(at, part) == 1, "give random bytes");
        at += part;
        len -= (size_t)part;
    }
}

struct str hex_encode(struct arena *arena, struct str bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(arena, 2 * bytes.len);
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    return (struct str){text, 2 * bytes.len};
}

bool hex_decode(struct str text, void *out_bytes, size_t n)
{
    unsigned char *bytes = out_bytes;
    if (text.len != 2 * n)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (hex_digit(text.ptr[i]) < 0)
            return false;
    for (size_t i = 0; i < n; i++)
        bytes[i] =
            (unsigned char)(hex_digit(text.ptr[2 * i]) << 4 | hex_digit(text.ptr[2 * i + 1]));
    return true;
}

bool hex_decode_lower(struct str text, void *out_bytes, size_t n)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] >= 'A' && text.ptr[i] <= 'Z')
            return false;
    return hex_decode(text, out_bytes, n);
}

/* clang-format off */
static const char base64_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64url_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/* clang-format on */

/* Without padding; returns the number of characters. */
static size_t encode_sextets(struct str bytes, const char *alphabet, char *out)
{
    size_t len = 0;
    uint32_t bits = 0;
    unsigned n_bits = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | (unsigned char)bytes.ptr[i];
        for (n_bits += 8; n_bits >= 6; n_bits -= 6)
            out[len++] = alphabet[bits >> (n_bits - 6) & 63];
    }
    if (n_bits > 0)
        out[len++] = alphabet[bits << (6 - n_bits) & 63];
    return len;
}

struct str base64url_encode(struct arena *arena, struct str bytes)
{
    char *text = arena_alloc(arena, (bytes.len + 2) / 3 * 4);
    return (struct str){text, encode_sextets(bytes, base64url_alphabet, text)};
}

struct str base64_encode(struct arena *arena, struct str bytes)
{
    size_t padded = (bytes.len + 2) / 3 * 4;
    char *text = arena_alloc(arena, padded);
    size_t len = encode_sextets(bytes, base64_alphabet, text);
    memset(text + len, '=', padded - len);
    return (struct str){text, padded};
}

static int sextet_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool base64url_decode(struct arena *arena, struct str text, struct str *out_bytes)
{
    if (text.len % 4 == 1)
        return false;
    char *bytes = arena_alloc(arena, text.len / 4 * 3 + 3);
    size_t len = 0;
    uint32_t bits = 0;
    unsigned n_bits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int sextet = sextet_of(text.ptr[i]);
        if (sextet < 0)
            return false;
        bits = (bits << 6 | (uint32_t)sextet) & 0xffff;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            bytes[len++] = (char)(bits >> n_bits & 0xff);
        }
    }
    /* Each run of bytes has one text form: the unused bits must be 0. */
    if ((bits & ((1u << n_bits) - 1)) != 0)
        return false;
    *out_bytes = (struct str){bytes, len};
    return true;
}
