/* The fields of the store's items in archives. */
#include "model/archive_fields.h"
#include "model/store_items.h"

/* The namespace is as it is stored, each label with a "." behind it. */
const struct archive_field archive_store_items[] = {
    {.name = "number", .kind = KIND_INT, .flags = KEY | HIDDEN},
    {.name = "namespace",
        .kind = KIND_TEXT,
        .flags = ORDERED,
        .min = 2,
        .max = STORE_NAMESPACE_MAX_BYTES},
    {.name = "key", .kind = KIND_TEXT, .flags = ORDERED, .min = 1, .max = STORE_KEY_MAX_BYTES},
    {.name = "value", .kind = KIND_OBJECT, .max = STORE_VALUE_MAX_BYTES},
    CREATED,
    UPDATED,
    {.name = "expires_at", .kind = KIND_TIME, .flags = MAYBE},
    VERSION,
};
