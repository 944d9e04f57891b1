/* SPDX-License-Identifier: Apache-2.0 */
/* The numbered migrations, generated from migrations/NNNN_name.sql. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "store/query.h"

struct migration {
    int64_t version;
    const char *name;
    const char *text[ENGINE_COUNT];
};

extern const struct migration store_migrations[];
extern const size_t store_migration_count;

#endif
