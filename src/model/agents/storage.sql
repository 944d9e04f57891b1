-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, agent_id uuid, key text, content_type text, value json, bytes bytes
-- types: size_bytes int, from text, above text, after text, now int, limit int

-- define columns: s.key, s.content_type, s.value, s.bytes, s.size_bytes AS value_bytes,
--   | s.created_at, s.updated_at, s.version
-- define head_columns: s.key, s.content_type, NULL AS value, NULL AS bytes, s.size_bytes,
--   | s.created_at, s.updated_at, s.version

-- define keys: FROM agent_storage AS s
--   | WHERE s.tenant_id = :tenant_id AND s.agent_id = :agent_id
--   | AND s.key >= :from AND s.key < :above AND coalesce(s.key <> :after, :after IS NULL)

-- reads storage_read: struct storage_item from {{head_columns}}

-- name: storage_get
SELECT {{columns}} FROM agent_storage AS s
WHERE s.tenant_id = :tenant_id AND s.agent_id = :agent_id AND s.key = :key;

-- name: storage_get_head
SELECT {{head_columns}} FROM agent_storage AS s
WHERE s.tenant_id = :tenant_id AND s.agent_id = :agent_id AND s.key = :key;

-- name: storage_list
SELECT {{head_columns}} {{keys}} ORDER BY s.key LIMIT :limit;

-- name: storage_list_whole
-- page: key
SELECT s.size_bytes, {{columns}} {{keys}}
ORDER BY s.key LIMIT :limit;

-- name: storage_insert
INSERT INTO agent_storage (tenant_id, agent_id, key, content_type, value, bytes, size_bytes,
    created_at, updated_at)
VALUES (:tenant_id, :agent_id, :key, :content_type, :value, :bytes, :size_bytes, :now, :now);

-- name: storage_update
UPDATE agent_storage SET content_type = :content_type, value = :value, bytes = :bytes,
    size_bytes = :size_bytes, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND key = :key;

-- name: storage_delete
DELETE FROM agent_storage
WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND key = :key;
