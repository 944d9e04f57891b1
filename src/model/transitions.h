/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State machines of resources: each status (base/enum.h) has a set of statuses that may follow. A
 * refusal names the allowed ones, also as a member of the problem document.
 */
#ifndef MODEL_TRANSITIONS_H
#define MODEL_TRANSITIONS_H

#include "base/enum.h"
#include "model/context.h"

/* OK if `to` is in the set `allowed`, else ERR_TRANSITION. `what` is the resource, `words` the list
 * of its statuses. */
MUST_CHECK enum error transition_check(struct context *c, const char *what,
    const char *const *words, unsigned allowed, unsigned from, unsigned to);
/* ERR_TRANSITION. `to` describes the refused change; `allowed` ends in NULL. */
enum error transition_refused(struct context *c, const char *what, struct str from, struct str to,
    const char *const *allowed);

#endif
