/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents: the workers of threads. The name of an agent is unique in its tenant. Deleting an agent
 * deletes its versions, states, configuration and private storage, but neither its runs nor the
 * versions that these used. As a participant of threads an agent is the principal "agent:<id>". Its
 * versions contain its definition (agent_versions.h), its links the agents that it leads
 * (agent_links.h).
 */
#ifndef MODEL_AGENTS_AGENTS_H
#define MODEL_AGENTS_AGENTS_H

#include "base/enum.h"
#include "model/context.h"

enum {
    AGENT_NAME_MAX_BYTES = 200,
    AGENT_DESCRIPTION_MAX_BYTES = 16 * 1024,
    AGENT_METADATA_MAX_BYTES = 100 * 1024,
    AGENT_METADATA_MEMBERS = 256,
    AGENT_GRANTS_MAX_BYTES = 16 * 1024,
};

/* clang-format off */
#define AGENT_KINDS(X)                  \
    X(AGENT_KIND_AGENT,    "agent")     \
    X(AGENT_KIND_TEAM,     "team")      \
    X(AGENT_KIND_WORKFLOW, "workflow")
/* Derived from is_active and from whether a run has used the agent. */
#define AGENT_STATUSES(X)          \
    X(AGENT_CREATED,  "created")   \
    X(AGENT_ACTIVE,   "active")    \
    X(AGENT_INACTIVE, "inactive")
/* clang-format on */
ENUM_DECLARE(agent_kind, AGENT_KIND_NONE, agent_kinds, AGENT_KINDS);
ENUM_DECLARE(agent_status, AGENT_STATUS_NONE, agent_statuses, AGENT_STATUSES);

struct agent {
    struct uuid id;
    struct str name;
    enum agent_kind kind;
    struct str description;
    struct str metadata;   /* compact JSON */
    struct str granted_to; /* array of principals; "user:*" is every user; STR_NONE: no principal */
    bool is_active;        /* false: no run can start */
    struct str version;    /* of new runs; STR_NONE: the agent has no definition */
    enum agent_status status;
    int64_t created_at;
    int64_t updated_at;
    int64_t revision;
};

struct agent_definition;
/* Creates the agent that `agent` describes, active, and sets its other members. */
MUST_CHECK enum error agent_create(struct context *c, struct agent *agent);
/* The same with a definition, which becomes its version 1.0.0. */
MUST_CHECK enum error agent_create_defined(
    struct context *c, struct agent *agent, const struct agent_definition *definition);
MUST_CHECK enum error agent_get(struct context *c, struct uuid id, struct agent *out_agent);
/* In a WRITE job an existing agent cannot be deleted until the job ends. The job locks its thread,
 * if it has one, before this call. */
MUST_CHECK enum error agent_exists(struct context *c, struct uuid id, bool *out_exists);
/* The same, with ERR_NOT_FOUND if the agent does not exist. */
MUST_CHECK enum error agent_require(struct context *c, struct uuid id);

struct agent_filter {
    bool has_before;
    struct uuid before;
    struct str name; /* exactly this name */
    enum agent_kind kind;
    bool has_is_active;
    bool is_active;
};
/* Newest first. */
MUST_CHECK enum error agent_list(struct context *c, const struct agent_filter *filter,
    struct page *page, struct agent *out_agents);

/* Replaces the members that clients may change. `before` was read in this transaction. */
MUST_CHECK enum error agent_update(
    struct context *c, const struct agent *before, struct agent *after);
/* Deletes a slice of the agent with its versions, links, states, configuration and storage
 * (tenancy/deletions.h); out_more: another job must continue. ERR_CONFLICT, before the first slice:
 * it participates in a thread, or has a run that is not finished. The versions that its runs used
 * remain (used_versions.h). */
MUST_CHECK enum error agent_delete_some(struct context *c, struct uuid id, bool *out_more);

/*
 * Locks the objects of the agent, before a WRITE job reads the ones that it changes. Threads are
 * locked before agents, agents before tenants.
 */
MUST_CHECK enum error agent_lock(struct context *c, struct uuid id);

/* ERR_FORBIDDEN for every principal, including the agent itself: only keys of the tenant may change
 * an agent and its configuration. */
MUST_CHECK enum error agent_allow_tenant(struct context *c);
/* Finds the agent with this name. */
MUST_CHECK enum error agent_find_by_name(
    struct context *c, struct str name, bool *out_found, struct uuid *out_id);
/*
 * out_may is true if the request may start runs of the agent and add it to a thread: it acts for
 * the tenant or for the agent itself, or the agent is granted to its principal. False if the agent
 * does not exist.
 */
MUST_CHECK enum error agent_may_use(struct context *c, struct uuid id, bool *out_may);
/* Returns true if the request may read the prompts of the agent: it acts for the tenant or for the
 * agent itself. */
bool agent_may_see_prompts(const struct context *c, bool has_agent_id, struct uuid agent_id);
/* Returns "agent:<id>". */
struct str agent_principal(struct arena *arena, struct uuid id);

#endif
