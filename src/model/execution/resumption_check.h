/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the contents of a resumption, for resumptions.c and imports. */
#ifndef MODEL_EXECUTION_RESUMPTION_CHECK_H
#define MODEL_EXECUTION_RESUMPTION_CHECK_H

#include "model/execution/resumptions.h"

/* Sets the defaults of absent members, except system_prompt and model. */
void resumption_defaults(struct resumption *r);
/* Reports every fault with its pointer. */
MUST_CHECK enum error resumption_check(struct context *c, const struct resumption *r);
/* Returns the names of the tools, in their order, as a JSON array. */
struct str resumption_tool_names(struct context *c, struct str tool_schemas);

#endif
