/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/memory_vectors.h"

#include <float.h>

#include "model/memory/memory_vectors.sql.h"

/* --- Numbers ---------------------------------------------------------------------------------- */

static void encode_float(float number, char *out)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    for (unsigned i = 0; i < sizeof bits; i++)
        out[i] = (char)(bits >> (8 * i) & 0xff);
}

void memory_vector_decode(struct str bytes, float *out)
{
    for (size_t i = 0; i < bytes.len / sizeof *out; i++) {
        const unsigned char *at = (const unsigned char *)bytes.ptr + i * sizeof *out;
        uint32_t bits =
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        memcpy(&out[i], &bits, sizeof bits);
    }
}

bool memory_vector_is_sound(struct str bytes)
{
    for (size_t i = 0; i + sizeof(float) <= bytes.len; i += sizeof(float)) {
        float number;
        memory_vector_decode(str_slice(bytes, i, i + sizeof number), &number);
        if (!(number >= -FLT_MAX && number <= FLT_MAX))
            return false;
    }
    return bytes.len > 0 && bytes.len % sizeof(float) == 0;
}

static enum error encode_number(
    struct context *c, struct json value, struct str pointer, size_t i, char *out)
{
    double number;
    if (json_type(value) != JSON_NUMBER || !json_to_double(value, &number) || number > FLT_MAX ||
        number < -FLT_MAX)
        return problem_fault(c->problem, arena_printf(c->arena, "%.*s/%zu", STR_ARG(pointer), i),
            "must be a 32-bit floating-point number");
    encode_float((float)number, out);
    return OK;
}

enum error memory_vector_encode(
    struct context *c, struct str values, struct str pointer, struct memory_vector_bytes *out)
{
    struct json_doc doc;
    struct json_error unused;
    struct json value;
    if (!json_parse(c->arena, values, &doc, &unused) || json_type(json_root(&doc)) != JSON_ARRAY)
        return problem_fault(c->problem, pointer, "must be an array of numbers");
    size_t n = json_count(json_root(&doc)), i = 0;
    if (n < 1 || n > MEMORY_DIMENSIONS_MAX)
        return problem_fault(
            c->problem, pointer, "must have 1 to %d numbers", MEMORY_DIMENSIONS_MAX);
    char *bytes = arena_alloc(c->arena, n * sizeof(float));
    for (struct json_iter it = json_iter(json_root(&doc)); json_next(&it, NULL, &value); i++)
        TRY(encode_number(c, value, pointer, i, bytes + i * sizeof(float)));
    out->dimensions = n;
    out->bytes = (struct str){bytes, n * sizeof(float)};
    return OK;
}

/* Newton's method from above; x is greater than 0. */
static double square_root(double x)
{
    double root = x > 1 ? x : 1;
    for (;;) {
        double next = (root + x / root) / 2;
        if (!(next < root)) /* also if it is NaN */
            return root;
        root = next;
    }
}

double memory_cosine(const float *a, const float *b, size_t dimensions)
{
    double dot = 0, a2 = 0, b2 = 0;
    for (size_t i = 0; i < dimensions; i++) {
        dot += (double)a[i] * (double)b[i];
        a2 += (double)a[i] * (double)a[i];
        b2 += (double)b[i] * (double)b[i];
    }
    if (!(a2 > 0 && b2 > 0))
        return 0;
    double cosine = dot / (square_root(a2) * square_root(b2));
    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine >= -1 ? cosine : 0; /* 0: not a number */
}

/* --- Rows ------------------------------------------------------------------------------------- */

enum error memory_put_vectors(
    struct context *c, int64_t number, const struct memory_vector_bytes *vectors, size_t n)
{
    struct query q;
    context_query(c, &q, &SQL_MEMORY_VECTOR_DROP);
    query_i64(&q, number, number);
    TRY(query_run(&q));
    for (size_t i = 0; i < n; i++) {
        context_query(c, &q, &SQL_MEMORY_VECTOR_INSERT);
        query_i64(&q, number, number);
        query_i64(&q, place, (int64_t)i + 1);
        query_text(&q, path, vectors[i].path);
        query_i64(&q, dimensions, (int64_t)vectors[i].dimensions);
        query_bytes(&q, bytes, vectors[i].bytes);
        TRY(query_run(&q));
    }
    return OK;
}
