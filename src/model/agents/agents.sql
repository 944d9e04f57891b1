-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, before uuid, name text, description text, metadata json
-- types: principal text, now int, limit int, kind text, is_active bool, granted_to json

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

-- name: agent_delete
DELETE FROM agents WHERE tenant_id = :tenant_id AND id = :id;

-- Documents have no foreign key to the agent, because the documents of a thread have no agent.
-- name: agent_delete_states
DELETE FROM state_documents WHERE tenant_id = :tenant_id AND agent_id = :id;
