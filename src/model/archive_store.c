/* The fields of the store's items and their vectors in archives. */
#include "model/archive_fields.h"
#include "model/store_vectors.h"

/* The namespace is as it is stored, each label with a "." behind it. */
#define WHERE                                                                                    \
    {.name = "number", .kind = KIND_INT, .flags = KEY | HIDDEN},                                 \
        {.name = "namespace",                                                                    \
            .kind = KIND_TEXT,                                                                   \
            .flags = ORDERED,                                                                    \
            .min = 2,                                                                            \
            .max = STORE_NAMESPACE_MAX_BYTES},                                                   \
    {                                                                                            \
        .name = "key", .kind = KIND_TEXT, .flags = ORDERED, .min = 1, .max = STORE_KEY_MAX_BYTES \
    }

const struct archive_field archive_store_items[] = {
    WHERE,
    {.name = "value", .kind = KIND_OBJECT, .max = STORE_VALUE_MAX_BYTES},
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
        .max = STORE_ITEM_VECTORS_MAX},
    {.name = "path", .kind = KIND_TEXT, .max = STORE_VECTOR_PATH_MAX_BYTES},
    {.name = "bytes",
        .kind = KIND_BYTES,
        .min = sizeof(float),
        .max = STORE_DIMENSIONS_MAX * sizeof(float)},
};
