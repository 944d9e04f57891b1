/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that fail: SQLite's through its own configuration, Cairn's through --wrap. */
#ifndef TESTS_FAULT_MEMORY_H
#define TESTS_FAULT_MEMORY_H

#include <stdatomic.h>

#include "base/macros.h"

enum memory_of { MEMORY_OF_NOBODY, MEMORY_OF_SQLITE, MEMORY_OF_CAIRN };

struct memory_plan {
    enum memory_of of;
    unsigned at; /* the first allocation is 1 */
    bool is_sticky;
};

struct memory_outcome {
    atomic_uint n_allocations;
    atomic_bool has_fired;
};

/* Before SQLite is used in the process. Nothing fails yet. */
void memory_install(void);
void memory_begin(const struct memory_plan *plan, struct memory_outcome *outcome);

#endif
