/* SPDX-License-Identifier: Apache-2.0 */
/* The values of JSON Schema's `format`, and which texts are of each. */
#ifndef BASE_JSONSCHEMA_JSON_SCHEMA_FORMAT_H
#define BASE_JSONSCHEMA_JSON_SCHEMA_FORMAT_H

#include "base/str.h"

struct json_format {
    const char *name;
    const char *what;              /* "a date and time of RFC 3339" */
    bool (*accepts)(struct str s); /* NULL: an annotation that nothing is checked by */
    unsigned steps_a_byte;         /* what a check costs, beyond reading the text */
};

/* NULL when there is no format of this name. */
const struct json_format *json_format_find(struct str name);
bool json_format_is_uri_reference(struct str s);

#endif
