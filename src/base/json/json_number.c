/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>

#include "base/alloc.h"

/* ±0.d₁d₂… × 10^exponent; the first and the last digit are not 0. Zero has no digits. */
struct decimal {
    struct str digits; /* as written, possibly with a point */
    size_t n_digits;
    int64_t exponent;
    bool negative;
    bool vast; /* the exponent does not fit into int64_t */
};

static bool is_exponent_mark(char c)
{
    return c == 'e' || c == 'E';
}

/* Returns false if the exponent does not fit into int64_t. */
static bool read_exponent(struct str text, int64_t *out_exponent)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = text.len > 0 && (negative || text.ptr[0] == '+') ? 1 : 0;
    while (at + 1 < text.len && text.ptr[at] == '0')
        at++;
    int64_t magnitude;
    if (!str_to_i64(str_slice(text, at, text.len), &magnitude))
        return false;
    *out_exponent = negative ? -magnitude : magnitude;
    return true;
}

static bool is_significant(char c)
{
    return c != '0' && c != '.';
}

static struct decimal read_decimal(struct str text)
{
    struct decimal d = {.negative = text.ptr[0] == '-'};
    size_t first = d.negative ? 1 : 0, mantissa_end = first;
    while (mantissa_end < text.len && !is_exponent_mark(text.ptr[mantissa_end]))
        mantissa_end++;
    size_t point = str_find(str_slice(text, 0, mantissa_end), '.');
    size_t last = mantissa_end;
    while (first < mantissa_end && !is_significant(text.ptr[first]))
        first++;
    while (last > first && !is_significant(text.ptr[last - 1]))
        last--;
    if (first == last)
        return (struct decimal){0};
    d.digits = str_slice(text, first, last);
    d.n_digits = d.digits.len - (point > first && point < last ? 1 : 0);
    /* Places from the point to the first digit: 12.5 has 2, 0.5 has 0, 0.05 has -1. */
    int64_t places = first < point ? (int64_t)(point - first) : (int64_t)(point + 1 - first);
    int64_t written = 0;
    d.vast = (mantissa_end < text.len &&
                 !read_exponent(str_slice(text, mantissa_end + 1, text.len), &written)) ||
             __builtin_add_overflow(places, written, &d.exponent);
    return d;
}

/* Also for exponents that do not fit, so that their numbers sort beyond all others. */
static int64_t exponent_of(struct str text, const struct decimal *d)
{
    const int64_t end = (int64_t)1 << 62;
    if (!d->vast)
        return d->exponent > end ? end : d->exponent < -end ? -end : d->exponent;
    size_t mark = 0;
    while (!is_exponent_mark(text.ptr[mark]))
        mark++;
    return text.ptr[mark + 1] == '-' ? -end : end;
}

/* Returns the digit at `*at`, skips a point, and advances `*at`. */
static int next_digit(struct str digits, size_t *at)
{
    if (*at < digits.len && digits.ptr[*at] == '.')
        (*at)++;
    return *at < digits.len ? digits.ptr[(*at)++] - '0' : 0;
}

/* Keeps the first digits, and adds one to them if the next one is at least 5. */
static bool round_to(const struct decimal *d, int64_t n_kept, int64_t *out_value)
{
    enum { I64_DIGITS = 19 };
    uint64_t magnitude = 0; /* nineteen digits and one more always fit */
    size_t at = 0;
    if (n_kept > I64_DIGITS)
        return false;
    for (int64_t i = 0; i < n_kept; i++)
        magnitude = magnitude * 10 + (uint64_t)next_digit(d->digits, &at);
    if (n_kept >= 0 && next_digit(d->digits, &at) >= 5)
        magnitude++;
    if (magnitude > (uint64_t)INT64_MAX + (d->negative ? 1 : 0))
        return false;
    *out_value = d->negative ? (int64_t)(~magnitude + 1) : (int64_t)magnitude;
    return true;
}

bool json_number_to_rounded(struct str text, int places, int64_t *out_value)
{
    struct decimal d = read_decimal(text);
    return round_to(&d, d.n_digits > 0 ? exponent_of(text, &d) + places : 0, out_value);
}

bool json_number_to_i64(struct str text, int64_t *out_value)
{
    struct decimal d = read_decimal(text);
    int64_t n_kept = d.n_digits > 0 ? exponent_of(text, &d) : 0;
    return n_kept >= (int64_t)d.n_digits && round_to(&d, n_kept, out_value);
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        mem_exhausted(0);
}

bool json_number_to_double(struct str text, double *out_value)
{
    /* A program that embeds Cairn may have set a locale in which 1.5 is written 1,5. */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    CLEANUP(mem_freep) char *copy = mem_alloc(text.len + 1);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    double value = strtod_l(copy, NULL, c_locale);
    if (isinf(value))
        return false;
    *out_value = value;
    return true;
}

static bool same_digits(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    while (i < a.len && j < b.len) {
        if (a.ptr[i] == '.')
            i++;
        if (b.ptr[j] == '.')
            j++;
        if (a.ptr[i++] != b.ptr[j++])
            return false;
    }
    return true;
}

bool json_number_eq(struct str a, struct str b)
{
    if (str_eq(a, b))
        return true;
    struct decimal x = read_decimal(a), y = read_decimal(b);
    /* Exponents above 2^63 are compared as text; no computation uses them. */
    if (x.vast || y.vast)
        return false;
    return x.negative == y.negative && x.exponent == y.exponent && x.n_digits == y.n_digits &&
           same_digits(x.digits, y.digits);
}

/* --- By order and by division ----------------------------------------------------------------- */

static int cmp_digits(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    while (i < a.len || j < b.len) {
        int x = next_digit(a, &i), y = next_digit(b, &j);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

int json_number_cmp(struct str a, struct str b)
{
    struct decimal x = read_decimal(a), y = read_decimal(b);
    int sign_x = x.n_digits == 0 ? 0 : x.negative ? -1 : 1;
    int sign_y = y.n_digits == 0 ? 0 : y.negative ? -1 : 1;
    if (sign_x != sign_y)
        return sign_x < sign_y ? -1 : 1;
    if (sign_x == 0)
        return 0;
    int64_t e = exponent_of(a, &x), f = exponent_of(b, &y);
    if (e != f)
        return (e < f) == (sign_x > 0) ? -1 : 1;
    return sign_x * cmp_digits(x.digits, y.digits);
}

bool json_number_is_integer(struct str text)
{
    struct decimal d = read_decimal(text);
    return d.n_digits == 0 || exponent_of(text, &d) >= (int64_t)d.n_digits;
}

struct str json_number_canonical(struct arena *arena, struct str text)
{
    struct decimal d = read_decimal(text);
    if (d.vast)
        return text;
    char *digits = arena_alloc(arena, d.digits.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < d.digits.len; i++)
        if (d.digits.ptr[i] != '.')
            digits[len++] = d.digits.ptr[i];
    return arena_printf(
        arena, "%s0.%.*se%lld", d.negative ? "-" : "", (int)len, digits, (long long)d.exponent);
}

bool json_number_is_divisor(struct str text)
{
    struct decimal d = read_decimal(text);
    return d.n_digits > 0 && d.n_digits <= JSON_NUMBER_MAX_DIVISOR_DIGITS && !d.negative && !d.vast;
}

/* a·b modulo m, all below 2^63. */
static uint64_t multiply_modulo(uint64_t a, uint64_t b, uint64_t m)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b % m);
}

static uint64_t power_of_ten_modulo(uint64_t exponent, uint64_t m)
{
    uint64_t result = 1 % m, square = 10 % m;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1)
            result = multiply_modulo(result, square, m);
        square = multiply_modulo(square, square, m);
    }
    return result;
}

/* The digits of both are whole numbers X and M that do not end in 0, so the question is whether M
 * divides X·10^k; with a negative k it does not. */
bool json_number_is_multiple(struct str text, struct str divisor)
{
    struct decimal x = read_decimal(text), m = read_decimal(divisor);
    if (x.n_digits == 0)
        return true;
    int64_t places_x = exponent_of(text, &x) - (int64_t)x.n_digits;
    int64_t places_m = exponent_of(divisor, &m) - (int64_t)m.n_digits;
    int64_t shift;
    if (__builtin_sub_overflow(places_x, places_m, &shift) || shift < 0)
        return shift > 0;
    uint64_t modulus = 0, rest = 0;
    for (size_t i = 0; i < m.digits.len;)
        modulus = modulus * 10 + (uint64_t)next_digit(m.digits, &i);
    for (size_t i = 0; i < x.digits.len;)
        rest = (rest * 10 + (uint64_t)next_digit(x.digits, &i)) % modulus;
    return multiply_modulo(rest, power_of_ten_modulo((uint64_t)shift, modulus), modulus) == 0;
}
