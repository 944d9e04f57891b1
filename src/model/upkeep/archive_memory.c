/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of the store's items and their vectors in archives. */
#include "model/memory/memory_vectors.h"
#include "model/upkeep/archive_fields.h"

/* The namespace is as it is stored, each label with a "." behind it. */
#define WHERE                                                                                     \
    {.name = "number", .kind = KIND_INT, .flags = KEY | HIDDEN},                                  \
        {.name = "namespace",                                                                     \
            .kind = KIND_TEXT,                                                                    \
            .flags = ORDERED,                                                                     \
            .min = 2,                                                                             \
            .max = MEMORY_NAMESPACE_MAX_BYTES},                                                   \
    {                                                                                             \
        .name = "key", .kind = KIND_TEXT, .flags = ORDERED, .min = 1, .max = MEMORY_KEY_MAX_BYTES \
    }

const struct archive_field archive_store_items[] = {
    WHERE,
    {.name = "value", .kind = KIND_OBJECT, .max = MEMORY_VALUE_MAX_BYTES},
    CREATED,
    UPDATED,
    {.name = "expires_at", .kind = KIND_TIME, .flags = MAYBE},
    VERSION,
};

const struct archive_field archive_store_vectors[] = {
    WHERE,
    {.name = "place",
        .kind = KIND_INT,
        .flags = KEY | ORDERED,
        .min = 1,
        .max = MEMORY_ITEM_VECTORS_MAX},
    {.name = "path", .kind = KIND_TEXT, .max = MEMORY_VECTOR_PATH_MAX_BYTES},
    {.name = "bytes",
        .kind = KIND_BYTES,
        .min = sizeof(float),
        .max = MEMORY_DIMENSIONS_MAX * sizeof(float)},
};
