/* SPDX-License-Identifier: Apache-2.0 */
/* For states.c alone: what a write must satisfy, and what is told of it. */
#ifndef MODEL_AGENTS_STATE_TOLD_H
#define MODEL_AGENTS_STATE_TOLD_H

#include "model/agents/states.h"

/* Locks the threads in which a change of an agent's own document is going to be told. */
MUST_CHECK enum error state_lock_told(struct context *c, const struct state_place *place);
/* Emits the event; `after` is NULL when nothing was written. */
MUST_CHECK enum error state_tell(struct context *c, const struct state_place *place,
    const char *kind, const struct state *before, const struct state *after);
/* ERR_INVALID with faults at /json_schema/… when that is no schema, and at /data/… when the data
 * does not satisfy it. */
MUST_CHECK enum error state_check_data(struct context *c, const struct state *state);

#endif
