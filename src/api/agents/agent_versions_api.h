/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of agents in the answers of other routes. */
#ifndef API_AGENTS_AGENT_VERSIONS_API_H
#define API_AGENTS_AGENT_VERSIONS_API_H

#include "base/schema.h"

/* The definition of a struct agent_version. */
extern const struct schema schema_agent_definition;

#endif
