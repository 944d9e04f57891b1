/* Numbers of JSON by their exact decimal value, whatever their length; for base/json.c. */
#ifndef BASE_JSON_NUMBER_H
#define BASE_JSON_NUMBER_H

#include "base/str.h"

/* The texts are numbers that json_parse accepted. */
MUST_CHECK bool json_number_to_i64(struct str text, int64_t *out_value);
/* False when the value is beyond a double's range. */
MUST_CHECK bool json_number_to_double(struct str text, double *out_value);
bool json_number_eq(struct str a, struct str b);

#endif
