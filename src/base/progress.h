/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of long work, reported to the caller that started it, which may also cancel it. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    /* `stage` names the current step ("copying events"). A total of 0 means unknown. */
    void (*report)(struct progress *p, const char *stage, uint64_t done, uint64_t total);
    /* Returns true to cancel: the work then returns ERR_CANCELLED and leaves nothing half done. */
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
