/* SPDX-License-Identifier: Apache-2.0 */
/* The tools in the documents of a turn: those that its output waits for, and results in its input.
 */
#ifndef MODEL_EXECUTION_TURN_TOOLS_H
#define MODEL_EXECUTION_TURN_TOOLS_H

#include "model/execution/awaited_tools.h"

/* Reads the tool_calls of an output, and checks that the run may wait for them. Calls for which the
 * run waits already are left out; without any other, out_pause has no tools. */
MUST_CHECK enum error turn_tools_read(
    struct context *c, const struct run *run, struct str output, struct tool_pause *out_pause);
/* Returns true if the output has tool_calls. */
bool turn_tools_named(struct arena *arena, struct str output);
/* Stores those of the tool_results (an array) that the run waits for; `works_on` as in
 * awaited_tools_settle. Reads the run again. */
MUST_CHECK enum error turn_tools_settle(
    struct context *c, struct run *run, bool works_on, struct str results);

#endif
