/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents: who works on threads. An agent has a name of its own in its tenant; its versions, its
 * states, its configuration and its private storage belong to it and go with it; what its runs did
 * stays. As a participant of threads it is the principal "agent:<id>". What it is told to be stands
 * in its versions (agent_versions.h), whom it leads in its links (agent_links.h).
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
    struct str metadata; /* compact JSON */
    bool is_active;      /* else no run begins of it */
    struct str version;  /* that new runs get; none: it has no definition */
    enum agent_status status;
    int64_t created_at;
    int64_t updated_at;
    int64_t revision;
};

struct agent_definition;
/* Creates the agent that `agent` describes, active, and fills in the rest of it. */
MUST_CHECK enum error agent_create(struct context *c, struct agent *agent);
/* The same with a definition, which becomes its version 1.0.0. */
MUST_CHECK enum error agent_create_defined(
    struct context *c, struct agent *agent, const struct agent_definition *definition);
MUST_CHECK enum error agent_get(struct context *c, struct uuid id, struct agent *out_agent);
/* Whether it is there; in a WRITE job it then stays until the job has ended. After the thread's
 * lock, where the job has one. */
MUST_CHECK enum error agent_exists(struct context *c, struct uuid id, bool *out_exists);
/* ERR_NOT_FOUND where agent_exists says no. */
MUST_CHECK enum error agent_require(struct context *c, struct uuid id);

struct agent_filter {
    bool has_before;
    struct uuid before;
    struct str name; /* exactly this one */
    enum agent_kind kind;
};
/* Newest first. A page ends at `limit` agents or PAGE_MAX_BYTES; out_more: there are others. */
MUST_CHECK enum error agent_list(struct context *c, const struct agent_filter *filter,
    struct page *page, struct agent *out_agents);

/* Replaces what a client may change of `before` (as read in this transaction) by `after`. */
MUST_CHECK enum error agent_update(
    struct context *c, const struct agent *before, struct agent *after);
/* With its versions, links, states, configuration and storage; ERR_CONFLICT while it takes part in
 * a thread. */
MUST_CHECK enum error agent_delete(struct context *c, struct uuid id);

/*
 * Locks what belongs to the agent alone: before a WRITE job reads what it is going to change.
 * Threads are locked before agents, agents before tenants.
 */
MUST_CHECK enum error agent_lock(struct context *c, struct uuid id);

/* ERR_FORBIDDEN for who acts for a principal, also for the agent's own: what an agent is and how it
 * is configured, the tenant decides. */
MUST_CHECK enum error agent_allow_tenant(struct context *c);
/* "agent:<id>" */
struct str agent_principal(struct arena *arena, struct uuid id);

#endif
