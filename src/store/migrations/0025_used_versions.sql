-- SPDX-License-Identifier: Apache-2.0
-- The versions of agents that runs have used. They remain readable after the deletion of the agent,
-- and in archives of threads, so they have no foreign key to the agent.
CREATE TABLE used_versions (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    agent_id {{uuid}} NOT NULL,
    version TEXT {{postgres: COLLATE "C"}} NOT NULL,
    number {{int}} NOT NULL,
    system_prompt {{json}} NOT NULL,
    workflow_graph {{json}},
    memory_config {{json}} NOT NULL,
    guardrail_config {{json}} NOT NULL,
    llm_config {{json}} NOT NULL,
    execution_config {{json}} NOT NULL,
    tools {{json}} NOT NULL,
    description TEXT,
    created_by TEXT,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    used_at {{int}} NOT NULL,
    revision {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, version)
);

-- Agents that do not exist, but have used versions. The sweep deletes these versions some time
-- after the last run of the agent.
CREATE TABLE deleted_agents (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    -- The sweep examines the agent after this time.
    check_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX deleted_agents_by_time ON deleted_agents (check_at);

-- An agent with unfinished runs cannot be deleted.
CREATE INDEX runs_unfinished_by_agent ON runs (tenant_id, agent_id, id)
    WHERE agent_id IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');

-- Row-level security would hide the versions.
{{postgres: SET LOCAL cairn.tenant = '*';}}
INSERT INTO used_versions (tenant_id, agent_id, version, number, system_prompt, workflow_graph,
    memory_config, guardrail_config, llm_config, execution_config, tools, description, created_by,
    created_at, updated_at, used_at, revision)
SELECT tenant_id, agent_id, version, number, system_prompt, workflow_graph, memory_config,
    guardrail_config, llm_config, execution_config, tools, description, created_by, created_at,
    updated_at, used_at, revision
FROM agent_versions WHERE used_at IS NOT NULL;
{{postgres:
SET LOCAL cairn.tenant = '';
SELECT fence_by_tenant(name) FROM unnest(ARRAY['used_versions', 'deleted_agents']) AS name;
}}
