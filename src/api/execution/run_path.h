/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run of a path. What belongs to a run is found under it, and also, as other platforms have
 * it, under the agent that the run is of:
 *     /v1/runs/{run_id}/…     /v1/agents/{agent_id}/runs/{run_id}/…
 * Both rows have one handler, so that it finds its parameters by their names.
 */
#ifndef API_EXECUTION_RUN_PATH_H
#define API_EXECUTION_RUN_PATH_H

#include "api/http/call.h"
#include "model/execution/runs.h"

/* The run of the path, without its documents. Under an agent that it is not of, it is not there. */
MUST_CHECK enum error call_run(struct call *call, struct context *c, struct run *out_head);
/* The same with its documents. */
MUST_CHECK enum error call_run_whole(struct call *call, struct context *c, struct run *out_run);

#endif
