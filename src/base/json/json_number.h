/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of JSON by their exact decimal value, whatever their length; for the JSON modules of
 * base. */
#ifndef BASE_JSON_JSON_NUMBER_H
#define BASE_JSON_JSON_NUMBER_H

#include "base/arena.h"

/* The texts are numbers that json_parse accepted. */
MUST_CHECK bool json_number_to_i64(struct str text, int64_t *out_value);
/* The number times 10^places: false when that is not whole, or fits no int64_t. */
MUST_CHECK bool json_number_to_scaled(struct str text, int places, int64_t *out_value);
/* False when the value is beyond a double's range. */
MUST_CHECK bool json_number_to_double(struct str text, double *out_value);
bool json_number_eq(struct str a, struct str b);
/* Below 0, 0 or above 0. Exponents past 2^62 count as that. */
int json_number_cmp(struct str a, struct str b);
/* 1.0 and 1e400 are integers. */
bool json_number_is_integer(struct str text);
/* One text for all numbers of one value. */
struct str json_number_canonical(struct arena *arena, struct str text);

/* What numbers may be multiples of: above 0, and with so many significant digits at the most. */
enum { JSON_NUMBER_MAX_DIVISOR_DIGITS = 18 };
bool json_number_is_divisor(struct str text);
/* Whether the number is a whole multiple of a divisor, exactly. */
bool json_number_is_multiple(struct str text, struct str divisor);

#endif
