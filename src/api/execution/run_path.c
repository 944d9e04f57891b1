/* SPDX-License-Identifier: Apache-2.0 */
#include "api/execution/run_path.h"

static enum error check_agent(struct call *call, struct context *c, const struct run *run)
{
    size_t agent;
    if (!call_find_param(call, "agent_id", &agent))
        return OK;
    bool is_its_own = run->has_agent_id && uuid_eq(run->agent_id, call->request.params[agent]);
    return is_its_own ? OK : context_not_found(c, "run", run->id);
}

enum error run_path_get(struct call *call, struct context *c, struct run *out_head)
{
    TRY(run_get_head(c, call->request.params[call_param(call, "run_id")], out_head));
    return check_agent(call, c, out_head);
}

enum error run_path_get_whole(struct call *call, struct context *c, struct run *out_run)
{
    TRY(run_get(c, call->request.params[call_param(call, "run_id")], out_run));
    return check_agent(call, c, out_run);
}
