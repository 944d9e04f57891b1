/* SPDX-License-Identifier: Apache-2.0 */
/* Small words of the writers of the OpenAPI document. */
#ifndef API_HTTP_OPENAPI_WORDS_H
#define API_HTTP_OPENAPI_WORDS_H

#include "base/json/json_write.h"

static inline void openapi_member(struct json_writer *w, const char *name, const char *value)
{
    json_write_key(w, str_of(name));
    json_write_string(w, str_of(value));
}

static inline void openapi_open(struct json_writer *w, const char *name)
{
    json_write_key(w, str_of(name));
    json_write_object(w);
}

static inline void openapi_reference(struct json_writer *w, const char *schema)
{
    char path[128];
    int len = snprintf(path, sizeof path, "#/components/schemas/%s", schema);
    assert(len > 0 && (size_t)len < sizeof path);
    openapi_member(w, "$ref", path);
}

static inline void openapi_limit(struct json_writer *w, const char *name, int64_t value)
{
    json_write_key(w, str_of(name));
    json_write_i64(w, value);
}

static inline void openapi_names(struct json_writer *w, const char *list, const char *const *names)
{
    json_write_key(w, str_of(list));
    json_write_array(w);
    for (; *names != NULL; names++)
        json_write_string(w, str_of(*names));
    json_write_end(w);
}

static inline void openapi_typed(struct json_writer *w, const char *name, const char *type)
{
    openapi_open(w, name);
    openapi_member(w, "type", type);
    json_write_end(w);
}

/* The content of a body or an answer. */
static inline void openapi_content(
    struct json_writer *w, const char *media_type, const char *schema)
{
    openapi_open(w, media_type);
    openapi_open(w, "schema");
    openapi_reference(w, schema);
    json_write_end(w);
    json_write_end(w);
}

#endif
