/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of an agent's definition, in semantic versioning: each is greater than all before it.
 * One of them is the active one, which new runs get. A version may be changed until the first run
 * of it begins, and never after: what a run was made of stays as it was.
 */
#ifndef MODEL_AGENTS_AGENT_VERSIONS_H
#define MODEL_AGENTS_AGENT_VERSIONS_H

#include "base/semver.h"
#include "model/agents/agent_definition.h"
#include "model/agents/agents.h"

enum {
    AGENT_VERSIONS_MAX = 10 * 1000, /* of one agent */
    AGENT_ACTIVATIONS_KEPT = 1000,  /* that can be rolled back */
    AGENT_VERSION_NAME_MAX_BYTES = 128,
};

struct agent_version {
    struct uuid agent_id;
    int64_t number; /* the order in which they were made, from 1 */
    struct str version;
    bool is_active;
    struct str parts[AGENT_PARTS]; /* compact JSON; none in lists */
    struct str description;
    struct str created_by; /* a principal; none: the whole tenant */
    int64_t created_at;
    int64_t updated_at;
    bool has_used_at;
    int64_t used_at;
    int64_t revision;
};

/* --- For runs ------------------------------------------------------------------------------- */

/*
 * The version that a new run is made of: the one named, or else the active one. From here on it
 * never changes. In the transaction of the run, after its thread's lock. ERR_NOT_FOUND: there is no
 * such agent; ERR_CONFLICT: it is not active; ERR_INVALID, at /agent_version: it has no such
 * version. An agent without a definition gives STR_NONE.
 */
MUST_CHECK enum error agent_use_version(
    struct context *c, struct uuid agent_id, struct str version, struct str *out_version);

/* --- Reading -------------------------------------------------------------------------------- */

/* By its semantic version, or "active", or "latest". */
MUST_CHECK enum error agent_version_get(
    struct context *c, struct uuid agent_id, struct str name, struct agent_version *out_version);
/* Newest first, those before the number `before`; 0: all. */
MUST_CHECK enum error agent_version_list(struct context *c, struct uuid agent_id, int64_t before,
    struct page *page, struct agent_version *out_versions);

struct agent_diff_field {
    struct str field;
    struct str change; /* "added", "removed" or "changed" */
    int64_t operations;
};
struct agent_diff {
    struct str from;
    struct str to;
    struct nested_list fields; /* struct agent_diff_field */
    struct str patch;          /* RFC 6902, from the one definition to the other */
};
MUST_CHECK enum error agent_version_diff(struct context *c, struct uuid agent_id, struct str from,
    struct str to, struct agent_diff *out_diff);

/* --- Changes -------------------------------------------------------------------------------- */

struct agent_version_draft {
    struct str version; /* or else */
    enum semver_bump bump;
    struct str description;
    bool has_activate, activate;
    unsigned parts; /* bits of those that are given; the others are those of the newest version */
    struct agent_definition definition;
};
MUST_CHECK enum error agent_version_create(struct context *c, struct uuid agent_id,
    const struct agent_version_draft *draft, struct agent_version *out_version);
/* The parts of a first version, checked before anything is written. */
MUST_CHECK enum error agent_version_prepare(struct context *c, enum agent_kind kind,
    const struct agent_definition *definition, struct str out_parts[AGENT_PARTS]);
/* Makes them version 1.0.0 of an agent that was just made, active. */
MUST_CHECK enum error agent_version_begin(
    struct context *c, struct uuid agent_id, const struct str parts[AGENT_PARTS]);
/* Replaces definition and description of `before`, as read in this transaction behind agent_lock;
 * ERR_CONFLICT when a run has used it. */
MUST_CHECK enum error agent_version_update(struct context *c, const struct agent_version *before,
    const struct agent_definition *definition, struct str description,
    struct agent_version *out_version);
/* Nothing happens to the one that is active. */
MUST_CHECK enum error agent_version_activate(
    struct context *c, struct uuid agent_id, struct str name, struct agent *out_agent);
/* Back to the version that was active before the last activation, which is forgotten. */
MUST_CHECK enum error agent_version_rollback(
    struct context *c, struct uuid agent_id, struct agent *out_agent);

#endif
