/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include <jansson.h>

static const json_t *json_of(const struct oracle *v)
{
    return (const json_t *)v;
}

/* No doubles beyond the range, no integers beyond 64 bits. */
static bool is_own_limit(const char *message)
{
    return strstr(message, "too big") != NULL || strstr(message, "overflow") != NULL;
}

struct oracle *oracle_parse(struct str text, bool *out_by_design)
{
    json_error_t error;
    size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_t *root = json_loadb(text.ptr, text.len, flags, &error);
    *out_by_design = root == NULL && is_own_limit(error.text);
    return (struct oracle *)root;
}

void oracle_destroy(struct oracle *root)
{
    json_decref((json_t *)root);
}

enum oracle_type oracle_type(const struct oracle *v)
{
    static const enum oracle_type types[] = {
        [JSON_OBJECT] = ORACLE_OBJECT,
        [JSON_ARRAY] = ORACLE_ARRAY,
        [JSON_STRING] = ORACLE_STRING,
        [JSON_INTEGER] = ORACLE_INTEGER,
        [JSON_REAL] = ORACLE_REAL,
        [JSON_TRUE] = ORACLE_TRUE,
        [JSON_FALSE] = ORACLE_FALSE,
        [JSON_NULL] = ORACLE_NULL,
    };
    return types[json_typeof(json_of(v))];
}

int64_t oracle_integer(const struct oracle *v)
{
    return json_integer_value(json_of(v));
}

double oracle_real(const struct oracle *v)
{
    return json_real_value(json_of(v));
}

struct str oracle_string(const struct oracle *v)
{
    return (struct str){json_string_value(json_of(v)), json_string_length(json_of(v))};
}

size_t oracle_count(const struct oracle *v)
{
    return json_is_array(json_of(v)) ? json_array_size(json_of(v)) : json_object_size(json_of(v));
}

const struct oracle *oracle_item(const struct oracle *array, size_t index)
{
    return (const struct oracle *)json_array_get(json_of(array), index);
}

const struct oracle *oracle_member(const struct oracle *object, struct str name)
{
    return (const struct oracle *)json_object_getn(json_of(object), name.ptr, name.len);
}
