/* SPDX-License-Identifier: Apache-2.0 */
/* How far long work has come, told to whoever started it, who may also end it. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    /* `stage` says what is being done ("copying events"); total 0: unknown. */
    void (*report)(struct progress *p, const char *stage, uint64_t done, uint64_t total);
    /* Whether to give up: the work then ends with ERR_CANCELLED and leaves nothing half done. */
    bool (*is_cancelled)(struct progress *p);
};

/* Both accept NULL. */
static inline void progress_report(
    struct progress *p, const char *stage, uint64_t done, uint64_t total)
{
    if (p != NULL)
        p->report(p, stage, done, total);
}

static inline bool progress_is_cancelled(struct progress *p)
{
    return p != NULL && p->is_cancelled(p);
}

#endif
