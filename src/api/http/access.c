/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/access.h"

#include "model/execution/runs.h"
#include "model/threads/participants.h"

enum error access_take_principal(struct call *call, struct context *c)
{
    const struct str name = STR("Cairn-Principal");
    struct str wanted = http_header(call->request.http, name);
    if (str_is_none(wanted))
        return OK;
    if (!principal_is_valid(wanted))
        return problem_fault(&call->problem, name, "%s", PRINCIPAL_RULE);
    if (!str_is_none(c->principal) && !str_eq(c->principal, wanted)) {
        call->caller.denied = "principal.refused";
        return problem_set(&call->problem, ERR_FORBIDDEN,
            "the key acts for %.*s: Cairn-Principal cannot name another", STR_ARG(c->principal));
    }
    c->principal = wanted;
    return OK;
}

/* The first parameter of the path with one of these names; false: there is none. */
static bool find_param(
    const struct call *call, const struct str *names, size_t n_names, struct uuid *out_id)
{
    struct str name;
    for (size_t i = 0; !str_is_none(name = route_param_name(call->route, i)); i++)
        for (size_t k = 0; k < n_names; k++)
            if (str_eq(name, names[k])) {
                *out_id = call->request.params[i];
                return true;
            }
    return false;
}

static enum error check_thread(struct call *call, struct context *c, struct uuid thread_id)
{
    enum route_access access = call->route->access;
    bool writes = call->route->mode == ROUTE_WRITE && access != ACCESS_READER;
    return participant_check_access(c, thread_id, writes || access == ACCESS_WRITER);
}

/* A run of a thread that the principal takes no part in looks as if it were not there. */
static enum error check_run(struct call *call, struct context *c, struct uuid run_id)
{
    struct run run;
    enum error e = run_get_head(c, run_id, &run);
    if (e == OK)
        e = check_thread(call, c, run.thread_id);
    if (e != ERR_NOT_FOUND)
        return e;
    problem_init(&call->problem, call->arena);
    return context_not_found(c, "run", run_id);
}

static enum error check_agent(struct context *c, struct uuid agent_id)
{
    struct uuid own;
    if (principal_agent(c->principal, &own) && uuid_eq(own, agent_id))
        return OK;
    return context_not_found(c, "agent", agent_id);
}

enum error access_check(struct call *call, struct context *c)
{
    static const struct str threads[] = {{"thread_id", 9}, {"workflow_id", 11}};
    static const struct str runs[] = {{"run_id", 6}}, agents[] = {{"agent_id", 8}};
    struct uuid id;
    if (str_is_none(c->principal))
        return OK;
    call->must_be_fresh = true;
    if (call->job.mode == STORE_READ_STALE)
        return ERR_UNAVAILABLE; /* and runs again elsewhere: see job_done */
    if (call->route->access == ACCESS_OWN)
        return OK;
    bool by_path = call->route->access != ACCESS_TENANT;
    if (by_path && find_param(call, threads, COUNT_OF(threads), &id))
        return check_thread(call, c, id);
    if (by_path && find_param(call, runs, COUNT_OF(runs), &id))
        return check_run(call, c, id);
    if (by_path && find_param(call, agents, COUNT_OF(agents), &id))
        return check_agent(c, id);
    return problem_set(&call->problem, ERR_FORBIDDEN,
        "this route is about the whole tenant, and the request acts for %.*s alone",
        STR_ARG(c->principal));
}
