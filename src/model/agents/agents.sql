-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, before uuid, name text, description text, metadata json
-- types: principal text, now int, limit int, kind text, is_active bool, granted_to json
-- types: owner_id uuid, window int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define agent_columns: id, name, kind, description, metadata, granted_to, is_active,
--   | active_version AS version, created_at, updated_at, version AS revision
-- define agent_row: {{agent_columns}},
--   | (EXISTS (SELECT 1 FROM agent_versions AS v WHERE v.tenant_id = agents.tenant_id
--   | AND v.agent_id = agents.id AND v.used_at IS NOT NULL)
--   | OR EXISTS (SELECT 1 FROM runs AS r WHERE r.tenant_id = agents.tenant_id
--   | AND r.agent_id = agents.id)) AS has_run

-- reads agent_read: struct agent from {{agent_columns}}
-- binds agent_bind: struct agent for agent_update

-- name: agent_insert
INSERT INTO agents (tenant_id, id, name, kind, description, metadata, granted_to, is_active,
    created_at, updated_at)
VALUES (:tenant_id, :id, :name, :kind, :description, :metadata, :granted_to, :is_active, :now,
    :now)
ON CONFLICT DO NOTHING;

-- The row of the agent is the lock for data that belongs to the agent alone.
-- name: agent_lock
{{postgres:
SELECT 1 FROM agents WHERE tenant_id = :tenant_id AND id = :id FOR NO KEY UPDATE;
}}

-- Waits for the transactions that hold the agent, and so for the runs that they start.
-- name: agent_lock_to_delete
{{postgres:
SELECT 1 FROM agents WHERE tenant_id = :tenant_id AND id = :id FOR UPDATE;
}}

-- Prevents the deletion of the agent until the transaction ends.
-- name: agent_hold
{{postgres:
SELECT 1 FROM agents WHERE tenant_id = :tenant_id AND id = :id FOR KEY SHARE;
}}

-- name: agent_count
SELECT count(*) FROM agents WHERE tenant_id = :tenant_id AND id = :id;

-- name: agent_id_of_name
SELECT id FROM agents WHERE tenant_id = :tenant_id AND name = :name;

-- name: agent_get
SELECT {{agent_row}} FROM agents WHERE tenant_id = :tenant_id AND id = :id;

-- name: agent_list
-- page: id DESC
SELECT size_bytes, {{agent_row}} FROM agents
WHERE tenant_id = :tenant_id AND id < {{before}}
    AND coalesce(name = :name, :name IS NULL) AND coalesce(kind = :kind, :kind IS NULL)
    AND coalesce(is_active = :is_active, :is_active IS NULL)
ORDER BY id DESC LIMIT :limit;

-- name: agent_update
UPDATE agents SET name = :name, description = :description, metadata = :metadata,
    granted_to = :granted_to, is_active = :is_active, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id AND NOT EXISTS (SELECT 1 FROM agents AS other
    WHERE other.tenant_id = :tenant_id AND other.name = :name AND other.id <> :id);

-- Returns a thread in which the agent participates, if there is one.
-- name: agent_thread
SELECT thread_id FROM participants
WHERE tenant_id = :tenant_id AND principal = :principal AND active LIMIT 1;

-- name: agent_unfinished_run
SELECT id FROM runs {{sqlite: INDEXED BY runs_unfinished_by_agent}}
WHERE tenant_id = :tenant_id AND agent_id = :id AND status NOT IN ({{FINAL_RUN_STATUSES}}) LIMIT 1;

-- --- Slices of a deletion ---------------------------------------------------------------------

-- define some: {{sqlite: rowid IN (SELECT rowid}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
-- define of_these: {{sqlite: )}}{{postgres: ))}}
-- define of_agent: WHERE tenant_id = :tenant_id AND agent_id = :owner_id
-- define of_first_states: WHERE tenant_id = :tenant_id AND state_id IN (SELECT id
--   | FROM state_documents {{of_agent}} ORDER BY thread_id, kind, name LIMIT :window)
--   | LIMIT :limit

-- name: agent_weigh_storage
{{sqlite: SELECT size_bytes FROM agent_storage {{of_agent}} ORDER BY key LIMIT :limit;}}

-- name: agent_delete_storage
DELETE FROM agent_storage WHERE {{some}} FROM agent_storage {{of_agent}}
    ORDER BY key LIMIT :limit{{of_these}};

-- name: agent_weigh_state_versions
{{sqlite: SELECT size_bytes FROM state_versions {{of_first_states}};}}

-- name: agent_delete_state_versions
DELETE FROM state_versions WHERE {{some}} FROM state_versions {{of_first_states}}{{of_these}};

-- Documents have no foreign key to the agent, because the documents of a thread have no agent.
-- name: agent_delete_states
DELETE FROM state_documents WHERE {{some}} FROM state_documents {{of_agent}}
    ORDER BY thread_id, kind, name LIMIT :limit{{of_these}};

-- name: agent_weigh_versions
{{sqlite:
SELECT {{bytes_of: system_prompt}} + {{bytes_of: workflow_graph}} + {{bytes_of: memory_config}}
    + {{bytes_of: guardrail_config}} + {{bytes_of: llm_config}} + {{bytes_of: execution_config}}
    + {{bytes_of: tools}} + {{bytes_of: description}}
FROM agent_versions {{of_agent}} ORDER BY number LIMIT :limit;
}}

-- name: agent_delete_versions
DELETE FROM agent_versions WHERE {{some}} FROM agent_versions {{of_agent}}
    ORDER BY number LIMIT :limit{{of_these}};

-- name: agent_delete
DELETE FROM agents WHERE tenant_id = :tenant_id AND id = :id;
