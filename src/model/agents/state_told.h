/* SPDX-License-Identifier: Apache-2.0 */
/* Private to states.c: the checks of a write, and its event. */
#ifndef MODEL_AGENTS_STATE_TOLD_H
#define MODEL_AGENTS_STATE_TOLD_H

#include "model/agents/states.h"
#include "model/threads/events.h"

/* Locks the threads that get the event of a change to an agent's own document. */
MUST_CHECK enum error state_lock_told(struct context *c, const struct state_place *place);
/* Appends the event; `after` is NULL if nothing was written. */
MUST_CHECK enum error state_tell(struct context *c, const struct state_place *place,
    enum event_kind kind, const struct state *before, const struct state *after);
/* ERR_INVALID with faults at /json_schema/… if it is not a valid schema, and at /data/… if the data
 * does not match it. */
MUST_CHECK enum error state_check_data(struct context *c, const struct state *state);

#endif
