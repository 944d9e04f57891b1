-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, number int, version text, before int, limit int, now int
-- types: system_prompt json, workflow_graph json, memory_config json, guardrail_config json
-- types: llm_config json, execution_config json, tools json, description text, created_by text
-- types: kept int

-- define version_head: v.agent_id, v.number, v.version,
--   | coalesce(v.version = a.active_version, false) AS is_active, v.description, v.created_by,
--   | v.created_at, v.updated_at, v.used_at, v.revision
-- define version_parts: v.system_prompt, v.workflow_graph, v.memory_config, v.guardrail_config,
--   | v.llm_config, v.execution_config, v.tools
-- define version_tables: FROM agents AS a
--   | JOIN agent_versions AS v ON v.tenant_id = a.tenant_id AND v.agent_id = a.id
-- define of_agent: a.tenant_id = :tenant_id AND a.id = :id

-- reads agent_version_read: struct agent_version from {{version_head}}

-- name: agent_version_get
SELECT {{version_head}}, {{version_parts}} {{version_tables}}
WHERE {{of_agent}} AND v.version = :version;

-- name: agent_version_latest
SELECT {{version_head}}, {{version_parts}} {{version_tables}}
WHERE {{of_agent}} ORDER BY v.number DESC LIMIT 1;

-- name: agent_version_active
SELECT {{version_head}}, {{version_parts}} {{version_tables}}
WHERE {{of_agent}} AND v.version = a.active_version;

-- name: agent_version_list
SELECT {{version_head}} {{version_tables}}
WHERE {{of_agent}} AND v.number < :before ORDER BY v.number DESC LIMIT :limit;

-- name: agent_version_insert
INSERT INTO agent_versions (tenant_id, agent_id, number, version, system_prompt, workflow_graph,
    memory_config, guardrail_config, llm_config, execution_config, tools, description, created_by,
    created_at, updated_at)
VALUES (:tenant_id, :id, :number, :version, :system_prompt, :workflow_graph, :memory_config,
    :guardrail_config, :llm_config, :execution_config, :tools, :description, :created_by, :now,
    :now);

-- A run that starts at the same time either precedes this change, or waits and uses its result.
-- name: agent_version_update
UPDATE agent_versions SET system_prompt = :system_prompt, workflow_graph = :workflow_graph,
    memory_config = :memory_config, guardrail_config = :guardrail_config, llm_config = :llm_config,
    execution_config = :execution_config, tools = :tools, description = :description,
    updated_at = :now, revision = revision + 1
WHERE tenant_id = :tenant_id AND agent_id = :id AND version = :version AND used_at IS NULL;

-- name: agent_version_use
UPDATE agent_versions SET used_at = :now
WHERE tenant_id = :tenant_id AND agent_id = :id AND version = :version AND used_at IS NULL;

-- A version that is not marked has not been copied to used_versions either.
-- name: agent_version_used
SELECT a.is_active, EXISTS (SELECT 1 FROM deletions AS d
    WHERE d.tenant_id = a.tenant_id AND d.id = a.id), a.active_version, v.version,
    v.used_at IS NOT NULL AND EXISTS (SELECT 1 FROM used_versions AS u
        WHERE u.tenant_id = a.tenant_id AND u.agent_id = a.id AND u.version = v.version)
FROM agents AS a
LEFT JOIN agent_versions AS v ON v.tenant_id = a.tenant_id AND v.agent_id = a.id
    AND v.version = coalesce(:version, a.active_version)
WHERE {{of_agent}};

-- name: agent_activation_last
SELECT coalesce(max(number), 0) FROM agent_activations
WHERE tenant_id = :tenant_id AND agent_id = :id;

-- name: agent_activation_insert
INSERT INTO agent_activations (tenant_id, agent_id, number, version, activated_by, activated_at)
VALUES (:tenant_id, :id, :number, :version, :created_by, :now);

-- name: agent_activation_trim
DELETE FROM agent_activations WHERE tenant_id = :tenant_id AND agent_id = :id
    AND number <= :number - :kept;

-- The version that was active before the last activation.
-- name: agent_activation_before
SELECT version FROM agent_activations
WHERE tenant_id = :tenant_id AND agent_id = :id AND number < :number
ORDER BY number DESC LIMIT 1;

-- name: agent_activation_undo
DELETE FROM agent_activations
WHERE tenant_id = :tenant_id AND agent_id = :id AND number = :number;

-- name: agent_set_active_version
UPDATE agents SET active_version = :version, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: agent_begin_version
UPDATE agents SET active_version = :version WHERE tenant_id = :tenant_id AND id = :id;
