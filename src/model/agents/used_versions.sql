-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, version text, before int, limit int, now int, owner_id uuid

-- define used_head: u.agent_id, u.number, u.version, false AS is_active, u.description,
--   | u.created_by, u.created_at, u.updated_at, u.used_at, u.revision
-- define used_parts: u.system_prompt, u.workflow_graph, u.memory_config, u.guardrail_config,
--   | u.llm_config, u.execution_config, u.tools
-- define of_agent: tenant_id = :tenant_id AND agent_id = :id

-- reads used_version_read: struct agent_version from {{used_head}}

-- Replaces the version of another agent with the same name, which an import may have added.
-- name: used_version_add
-- define taken: system_prompt = excluded.system_prompt, workflow_graph = excluded.workflow_graph,
--   | memory_config = excluded.memory_config, guardrail_config = excluded.guardrail_config,
--   | llm_config = excluded.llm_config, execution_config = excluded.execution_config,
--   | tools = excluded.tools, description = excluded.description,
--   | created_by = excluded.created_by, created_at = excluded.created_at,
--   | updated_at = excluded.updated_at, used_at = excluded.used_at, revision = excluded.revision
INSERT INTO used_versions (tenant_id, agent_id, version, number, system_prompt, workflow_graph,
    memory_config, guardrail_config, llm_config, execution_config, tools, description, created_by,
    created_at, updated_at, used_at, revision)
SELECT tenant_id, agent_id, version, number, system_prompt, workflow_graph, memory_config,
    guardrail_config, llm_config, execution_config, tools, description, created_by, created_at,
    updated_at, used_at, revision
FROM agent_versions WHERE {{of_agent}} AND version = :version
ON CONFLICT (tenant_id, agent_id, version) DO UPDATE SET number = excluded.number, {{taken}};

-- name: used_version_get
SELECT {{used_head}}, {{used_parts}} FROM used_versions AS u
WHERE {{of_agent}} AND version = :version;

-- name: used_version_any
SELECT EXISTS (SELECT 1 FROM used_versions WHERE {{of_agent}});

-- name: used_version_list
SELECT {{used_head}} FROM used_versions AS u
WHERE {{of_agent}} AND number < :before ORDER BY number DESC LIMIT :limit;

-- --- Deleted agents ---------------------------------------------------------------------------

-- name: deleted_agent_note
INSERT INTO deleted_agents (tenant_id, id, check_at)
SELECT t.id, {{sqlite: :id}}{{postgres: CAST(:id AS uuid)}},
    {{sqlite: :now}}{{postgres: CAST(:now AS bigint)}} FROM tenants AS t
WHERE t.id = :tenant_id AND EXISTS (SELECT 1 FROM used_versions WHERE {{of_agent}})
ON CONFLICT (tenant_id, id) DO NOTHING;

-- name: deleted_agent_due
SELECT tenant_id, id FROM deleted_agents WHERE check_at <= :now ORDER BY check_at LIMIT :limit;

-- Returns whether the versions of the agent are in use: it exists, or has a run.
-- name: deleted_agent_state
SELECT EXISTS (SELECT 1 FROM agents WHERE tenant_id = :tenant_id AND id = :id),
    EXISTS (SELECT 1 FROM runs WHERE {{of_agent}});

-- name: deleted_agent_defer
UPDATE deleted_agents SET check_at = :now WHERE tenant_id = :tenant_id AND id = :id;

-- name: deleted_agent_forget
DELETE FROM deleted_agents WHERE tenant_id = :tenant_id AND id = :id;

-- name: used_version_weigh
{{sqlite:
SELECT {{bytes_of: system_prompt}} + {{bytes_of: workflow_graph}} + {{bytes_of: memory_config}}
    + {{bytes_of: guardrail_config}} + {{bytes_of: llm_config}} + {{bytes_of: execution_config}}
    + {{bytes_of: tools}} + {{bytes_of: description}}
FROM used_versions WHERE tenant_id = :tenant_id AND agent_id = :owner_id
ORDER BY version LIMIT :limit;
}}

-- name: used_version_delete
DELETE FROM used_versions WHERE
    {{sqlite: rowid IN (SELECT rowid}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
    FROM used_versions WHERE tenant_id = :tenant_id AND agent_id = :owner_id
    ORDER BY version LIMIT :limit{{sqlite: )}}{{postgres: ))}};
