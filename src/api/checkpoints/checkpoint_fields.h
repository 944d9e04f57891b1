/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the checkpoint routes. */
#ifndef API_CHECKPOINTS_CHECKPOINT_FIELDS_H
#define API_CHECKPOINTS_CHECKPOINT_FIELDS_H

#include "api/http/call.h"
#include "model/checkpoints/checkpoints.h"

/* An item of pending_writes, as the model writes it. */
extern const struct schema schema_pending_write;

/* Answers a page for the query of the route; the caller has set the owner in the filter. */
MUST_CHECK enum error checkpoints_answer_list(struct call *call, struct context *c,
    const struct schema *schema, struct checkpoint_filter *filter);

#endif
