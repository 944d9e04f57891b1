-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, from uuid, after_1 uuid, after_2 uuid, after_n int, limit int
-- types: agent_id uuid, number int, version text, system_prompt json, workflow_graph json
-- types: memory_config json, guardrail_config json, llm_config json, execution_config json
-- types: tools json, description text, created_by text, created_at int, updated_at int, used_at int
-- types: revision int, activated_by text, activated_at int, parent_id uuid, child_id uuid
-- types: role text, position int, child_version text, metadata json

-- What archives hold of agents: the fields are those of archive_tables.c, in their order.

-- define agent_version_fields: v.agent_id, v.number, v.version, v.system_prompt,
--   | v.workflow_graph, v.memory_config, v.guardrail_config, v.llm_config, v.execution_config,
--   | v.tools, v.description, v.created_by, v.created_at, v.updated_at, v.used_at, v.revision
-- define agent_version_next: (v.agent_id, v.number) > (:after_1, :after_n)
--   | ORDER BY v.agent_id, v.number LIMIT :limit

-- name: archive_agent_versions_of_tenant
SELECT {{agent_version_fields}} FROM agent_versions AS v
WHERE v.tenant_id = :tenant_id AND {{agent_version_next}};

-- name: archive_agent_versions_of_agent
SELECT {{agent_version_fields}} FROM agent_versions AS v
WHERE v.tenant_id = :tenant_id AND v.agent_id = :from AND {{agent_version_next}};

-- name: archive_activations_of_tenant
SELECT v.agent_id, v.number, v.version, v.activated_by, v.activated_at FROM agent_activations AS v
WHERE v.tenant_id = :tenant_id AND {{agent_version_next}};

-- name: archive_activations_of_agent
SELECT v.agent_id, v.number, v.version, v.activated_by, v.activated_at FROM agent_activations AS v
WHERE v.tenant_id = :tenant_id AND v.agent_id = :from AND {{agent_version_next}};

-- Of one agent there are none: the other end is another agent.
-- name: archive_links_of_tenant
SELECT l.parent_id, l.child_id, l.role, l.position, l.child_version, l.metadata, l.created_at,
    l.updated_at, l.version
FROM agent_links AS l
WHERE l.tenant_id = :tenant_id AND (l.parent_id, l.child_id) > (:after_1, :after_2)
ORDER BY l.parent_id, l.child_id LIMIT :limit;

-- What is imported: each column bears the name of its field.

-- name: archive_add_agent_version
INSERT INTO agent_versions (tenant_id, agent_id, number, version, system_prompt, workflow_graph,
    memory_config, guardrail_config, llm_config, execution_config, tools, description, created_by,
    created_at, updated_at, used_at, revision)
VALUES (:tenant_id, :agent_id, :number, :version, :system_prompt, :workflow_graph, :memory_config,
    :guardrail_config, :llm_config, :execution_config, :tools, :description, :created_by,
    :created_at, :updated_at, :used_at, :revision);

-- name: archive_add_activation
INSERT INTO agent_activations (tenant_id, agent_id, number, version, activated_by, activated_at)
VALUES (:tenant_id, :agent_id, :number, :version, :activated_by, :activated_at);

-- They come in their order: the last one stays.
-- name: archive_activate
UPDATE agents SET active_version = :version WHERE tenant_id = :tenant_id AND id = :agent_id;

-- name: archive_add_link
-- types: version int
INSERT INTO agent_links (tenant_id, parent_id, child_id, role, position, child_version, metadata,
    created_at, updated_at, version)
VALUES (:tenant_id, :parent_id, :child_id, :role, :position, :child_version, :metadata,
    :created_at, :updated_at, :version);
