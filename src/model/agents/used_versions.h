/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The versions of agents that runs have used. A version is copied here by the first run that uses
 * it, and never changes afterwards. It outlives the agent: the sweep deletes it when the agent does
 * not exist and has no runs any more. The archive of a thread contains the versions of its runs.
 */
#ifndef MODEL_AGENTS_USED_VERSIONS_H
#define MODEL_AGENTS_USED_VERSIONS_H

#include "model/agents/agent_versions.h"

/* In the transaction that starts the first run of the version. */
MUST_CHECK enum error used_version_add(struct context *c, struct uuid agent_id, struct str version);
MUST_CHECK enum error used_version_find(struct context *c, struct uuid agent_id, struct str version,
    struct agent_version *out_version, bool *out_found);
/* Lists the versions before the number `before` (0: all), newest first. ERR_NOT_FOUND: the agent
 * has none at all. */
MUST_CHECK enum error used_version_list(struct context *c, struct uuid agent_id, int64_t before,
    struct page *page, struct agent_version *out_versions);

/* In the last slice of the deletion of the agent. */
MUST_CHECK enum error used_version_note_deletion(struct context *c, struct uuid agent_id);

/* --- The sweep ------------------------------------------------------------------------------ */

/* Lists deleted agents whose last check is some time ago. */
MUST_CHECK enum error used_version_list_deleted(
    struct context *c, size_t limit, struct owned_id *out_agents, size_t *out_count);
/* Deletes versions of the agent if it has no runs; out_more: call again. Called with the tenant's
 * lock, and not while the tenant imports: an import would miss a version that it did not add. */
MUST_CHECK enum error used_version_settle(struct context *c, struct uuid agent_id, bool *out_more);

#endif
