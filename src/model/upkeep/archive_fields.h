/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that many members of an archive have, and the members whose fields are in a file of their
 * own. Private to archive_tables.c, archive_money.c and archive_store.c.
 */
#ifndef MODEL_UPKEEP_ARCHIVE_FIELDS_H
#define MODEL_UPKEEP_ARCHIVE_FIELDS_H

#include "model/threads/participants.h"
#include "model/upkeep/archive_tables.h"

enum {
    SMALL_JSON_MAX_BYTES = 1024 * 1024,
    VERSION_MAX = INT32_MAX,
    SEQ_BITS = 53,
};
#define SEQ_MAX ((int64_t)1 << SEQ_BITS)
#define SIZE_MAX_BYTES ((int64_t)1 << 50)

#define VERSION                                                           \
    {                                                                     \
        .name = "version", .kind = KIND_INT, .min = 1, .max = VERSION_MAX \
    }
#define CREATED                                 \
    {                                           \
        .name = "created_at", .kind = KIND_TIME \
    }
#define UPDATED                                 \
    {                                           \
        .name = "updated_at", .kind = KIND_TIME \
    }
#define METADATA(max_bytes)                                         \
    {                                                               \
        .name = "metadata", .kind = KIND_OBJECT, .max = (max_bytes) \
    }
#define OF_THREAD                                                                                 \
    {                                                                                             \
        .name = "thread_id", .kind = KIND_ID, .sort = SORT_THREAD, .flags = KEY | ORDERED | OWNER \
    }
#define HIDDEN_THREAD                                                                    \
    {                                                                                    \
        .name = "thread_id", .kind = KIND_ID, .sort = SORT_THREAD, .flags = KEY | HIDDEN \
    }
#define OWN_ID(of)                                                              \
    {                                                                           \
        .name = "id", .kind = KIND_ID, .sort = of, .flags = OWN | KEY | ORDERED \
    }
#define BY                                                                                       \
    {                                                                                            \
        .name = "created_by", .kind = KIND_PRINCIPAL, .flags = MAYBE, .max = PRINCIPAL_MAX_BYTES \
    }

/* archive_money.c */
extern const struct archive_field archive_run_usage[16];
extern const struct archive_field archive_prices[15];
extern const struct archive_field archive_evals[17];
extern const struct archive_field archive_notebooks[9];
extern const struct archive_field archive_notebook_threads[4];

/* archive_store.c */
extern const struct archive_field archive_store_items[8];
extern const struct archive_field archive_store_vectors[6];

#endif
