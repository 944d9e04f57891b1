/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data directory for one test, in a place of its own under /tmp, removed afterwards; and plain
 * SQL on the database file beside the store, for what the store itself would never do.
 */
#ifndef TESTS_UNIT_STORE_SCRATCH_H
#define TESTS_UNIT_STORE_SCRATCH_H

#include "base/arena.h"
#include "test.h"

struct scratch {
    struct arena arena;
    struct str root;     /* made by mkdtemp */
    struct str data_dir; /* root/data, which does not exist yet */
    const char *database;
};

void scratch_init(struct scratch *s);
/* Removes the directory with all that is in it. */
void scratch_deinit(struct scratch *s);

/* True when the file exists in the data directory. */
bool scratch_has_file(struct scratch *s, const char *name);

/* On a connection of their own, which is closed again. A failure fails the test. */
void scratch_exec(struct scratch *s, const char *sql);
int64_t scratch_i64(struct scratch *s, const char *sql);
struct str scratch_text(struct scratch *s, const char *sql);

#endif
