/* SPDX-License-Identifier: Apache-2.0 */
/* The first error that a process found, and its progress, in shared memory. */
#ifndef TESTS_FAULT_VERDICT_H
#define TESTS_FAULT_VERDICT_H

#include <stdatomic.h>

#include "base/macros.h"

struct verdict {
    atomic_bool is_wrong;
    char words[2000];
    atomic_uint n_done, n_refused, n_skipped; /* steps */
    char refusal[600];                        /* of the first that was refused */
};

void verdict_wrong(struct verdict *v, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
