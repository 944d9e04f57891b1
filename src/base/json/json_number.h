/* SPDX-License-Identifier: Apache-2.0 */
/* JSON numbers by their exact decimal value, of any length; for the JSON modules of base. */
#ifndef BASE_JSON_JSON_NUMBER_H
#define BASE_JSON_JSON_NUMBER_H

#include "base/arena.h"

/* The text of each function must be a number that json_parse accepted. */
/* Returns false if the number is not whole or does not fit into int64_t. */
MUST_CHECK bool json_number_to_i64(struct str text, int64_t *out_value);
/* The number times 10^places, rounded to the nearest whole number, halves away from zero. Returns
 * false if that does not fit into int64_t. */
MUST_CHECK bool json_number_to_rounded(struct str text, int places, int64_t *out_value);
/* Returns false if the value is outside the range of a double. */
MUST_CHECK bool json_number_to_double(struct str text, double *out_value);
bool json_number_eq(struct str a, struct str b);
/* Below 0, 0 or above 0. Exponents above 2^62 are treated as 2^62. */
int json_number_cmp(struct str a, struct str b);
/* 1.0 and 1e400 are integers. */
bool json_number_is_integer(struct str text);
/* Returns the same text for all numbers of the same value. */
struct str json_number_canonical(struct arena *arena, struct str text);

/* A divisor is above 0 and has at most this many significant digits. */
enum { JSON_NUMBER_MAX_DIVISOR_DIGITS = 18 };
bool json_number_is_divisor(struct str text);
/* Returns true if the number is an exact whole multiple of the divisor. */
bool json_number_is_multiple(struct str text, struct str divisor);

#endif
