/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run of a path. The routes of a run exist twice, under the run and, as on other platforms,
 * under its agent:
 *     /v1/runs/{run_id}/…     /v1/agents/{agent_id}/runs/{run_id}/…
 * Both rows have the same handler, which finds its parameters by their names.
 */
#ifndef API_EXECUTION_RUN_PATH_H
#define API_EXECUTION_RUN_PATH_H

#include "api/http/call.h"
#include "model/execution/runs.h"

/* Reads the run of the path without its documents. Returns ERR_NOT_FOUND if the path has an agent
 * and the run belongs to another. */
MUST_CHECK enum error run_path_get(struct call *call, struct context *c, struct run *out_head);
/* The same with its documents. */
MUST_CHECK enum error run_path_get_whole(struct call *call, struct context *c, struct run *out_run);

/* The usage of a run, nested in several answers. */
extern const struct schema schema_run_usage;

#endif
