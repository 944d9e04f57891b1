/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of an agent's definition, with semantic version numbers: each is greater than all
 * earlier ones. New runs use the active version. A version may be changed until the first run uses
 * it, and never afterwards.
 */
#ifndef MODEL_AGENTS_AGENT_VERSIONS_H
#define MODEL_AGENTS_AGENT_VERSIONS_H

#include "base/semver.h"
#include "model/agents/agent_definition.h"
#include "model/agents/agents.h"

enum {
    AGENT_VERSIONS_MAX = 10 * 1000, /* of an agent */
    AGENT_ACTIVATIONS_KEPT = 1000,  /* how many activations can be rolled back */
    AGENT_VERSION_NAME_MAX_BYTES = 128,
};

struct agent_version {
    struct uuid agent_id;
    int64_t number; /* the order of creation, from 1 */
    struct str version;
    bool is_active;
    struct str parts[AGENT_PARTS]; /* compact JSON; STR_NONE in lists */
    struct str description;
    struct str created_by; /* a principal; STR_NONE: a key of the tenant */
    int64_t created_at;
    int64_t updated_at;
    bool has_used_at;
    int64_t used_at;
    int64_t revision;
};

/* --- For runs ------------------------------------------------------------------------------- */

/*
 * Returns the version that a new run uses: the given one, or else the active one. It can no longer
 * be changed. Called in the transaction that starts the run, with its thread locked. ERR_NOT_FOUND:
 * there is no such agent; ERR_CONFLICT: the agent is not active; ERR_INVALID, at /agent_version:
 * the agent has no such version. For an agent without a definition the version is STR_NONE.
 */
MUST_CHECK enum error agent_use_version(
    struct context *c, struct uuid agent_id, struct str version, struct str *out_version);

/* --- Reading -------------------------------------------------------------------------------- */

/* `name` is a semantic version, "active" or "latest". */
MUST_CHECK enum error agent_version_get(
    struct context *c, struct uuid agent_id, struct str name, struct agent_version *out_version);
/* The same, or the version of a deleted agent that a run has used. */
MUST_CHECK enum error agent_version_show(
    struct context *c, struct uuid agent_id, struct str name, struct agent_version *out_version);
/* Returns false in out_found if the agent has no version yet. */
MUST_CHECK enum error agent_version_find_newest(
    struct context *c, struct uuid agent_id, bool *out_found, struct agent_version *out_version);
/* Lists the versions before the number `before` (0: all), newest first. Of a deleted agent: the
 * versions that runs have used. */
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
    struct str patch;          /* RFC 6902: changes the definition of `from` to that of `to` */
};
MUST_CHECK enum error agent_version_diff(struct context *c, struct uuid agent_id, struct str from,
    struct str to, struct agent_diff *out_diff);

/* --- Changes -------------------------------------------------------------------------------- */

struct agent_version_draft {
    struct str version;    /* either this, */
    enum semver_bump bump; /* or the part of the newest version to increment */
    struct str description;
    bool has_activate, activate;
    unsigned parts; /* bits of the given parts; the others are copied from the newest version */
    struct agent_definition definition;
};
MUST_CHECK enum error agent_version_create(struct context *c, struct uuid agent_id,
    const struct agent_version_draft *draft, struct agent_version *out_version);
/* Checks and completes the parts of a first version, before anything is written. */
MUST_CHECK enum error agent_version_prepare(struct context *c, enum agent_kind kind,
    const struct agent_definition *definition, struct str out_parts[AGENT_PARTS]);
/* Stores the parts as the active version 1.0.0 of a new agent. */
MUST_CHECK enum error agent_version_begin(
    struct context *c, struct uuid agent_id, const struct str parts[AGENT_PARTS]);
/* Replaces definition and description. `before` was read in this transaction after agent_lock.
 * ERR_CONFLICT: a run has used the version. */
MUST_CHECK enum error agent_version_update(struct context *c, const struct agent_version *before,
    const struct agent_definition *definition, struct str description,
    struct agent_version *out_version);
/* Does nothing if the version is active. */
MUST_CHECK enum error agent_version_activate(
    struct context *c, struct uuid agent_id, struct str name, struct agent *out_agent);
/* Activates the version that was active before the last activation, and deletes the record of that
 * activation. */
MUST_CHECK enum error agent_version_rollback(
    struct context *c, struct uuid agent_id, struct agent *out_agent);

#endif
