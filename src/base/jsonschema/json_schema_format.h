/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of JSON Schema and their checks. */
#ifndef BASE_JSONSCHEMA_JSON_SCHEMA_FORMAT_H
#define BASE_JSONSCHEMA_JSON_SCHEMA_FORMAT_H

#include "base/str.h"

struct json_format {
    const char *name;
    const char *what;              /* "a date and time of RFC 3339" */
    bool (*accepts)(struct str s); /* NULL: an annotation without a check */
    unsigned steps_a_byte;         /* the cost of a check in addition to reading the text */
};

/* Returns NULL if there is no format of this name. */
const struct json_format *json_format_find(struct str name);
bool json_format_is_uri_reference(struct str s);

#endif
