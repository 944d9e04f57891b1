-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, agent_id uuid, thread_id uuid, kind text, name text, after text
-- types: version int, before int, description text, data json, json_schema json, ui_schema json
-- types: created_by text, principal text, now int, limit int

-- define place: d.tenant_id = :tenant_id AND d.agent_id = :agent_id AND d.thread_id = :thread_id
--   | AND d.kind = :kind
-- define head_columns: d.id, d.name, d.agent_id, d.thread_id, v.description
-- define tail_columns: v.created_by AS updated_by, d.created_at, d.updated_at,
--   | d.version AS last_version
-- define none: NULL AS data, NULL AS json_schema, NULL AS ui_schema
-- define documents: v.data, v.json_schema, v.ui_schema
-- define with_version: LEFT JOIN state_versions AS v
--   | ON v.tenant_id = d.tenant_id AND v.state_id = d.id AND v.version = d.version

-- define version_columns: v.version, v.description, {{documents}}, v.created_by, v.created_at

-- reads state_read: struct state from {{head_columns}}, {{documents}}, {{tail_columns}}
-- reads state_version_read: struct state_version from {{version_columns}}

-- Also returns a deleted document, which has no versions left.
-- name: state_get
SELECT {{head_columns}}, {{documents}}, {{tail_columns}}, d.deleted_at
FROM state_documents AS d {{with_version}}
WHERE {{place}} AND d.name = :name;

-- define list_where: WHERE {{place}} AND d.deleted_at IS NULL AND d.name > coalesce(:after, '')
--   | ORDER BY d.name LIMIT :limit

-- name: state_list
-- page: name
SELECT {{bytes_of: v.description}} AS size_bytes, {{head_columns}}, {{none}},
    {{tail_columns}}, d.deleted_at
FROM state_documents AS d {{with_version}} {{list_where}};

-- name: state_list_whole
-- page: name
SELECT coalesce(v.size_bytes, 0) AS size_bytes, {{head_columns}}, {{documents}},
    {{tail_columns}}, d.deleted_at
FROM state_documents AS d {{with_version}} {{list_where}};

-- name: state_insert
INSERT INTO state_documents (tenant_id, id, kind, agent_id, thread_id, name, created_at, updated_at)
VALUES (:tenant_id, :id, :kind, :agent_id, :thread_id, :name, :now, :now);

-- name: state_advance
UPDATE state_documents SET version = version + 1, updated_at = :now, deleted_at = NULL,
    created_at = CASE WHEN deleted_at IS NULL THEN created_at ELSE :now END
WHERE tenant_id = :tenant_id AND id = :id;

-- name: state_add_version
INSERT INTO state_versions (tenant_id, state_id, version, description, data, json_schema,
    ui_schema, created_by, created_at)
VALUES (:tenant_id, :id, :version, :description, :data, :json_schema, :ui_schema, :created_by,
    :now);

-- name: state_bury
UPDATE state_documents SET deleted_at = :now WHERE tenant_id = :tenant_id AND id = :id;

-- name: state_drop_versions
DELETE FROM state_versions WHERE tenant_id = :tenant_id AND state_id = :id;

-- name: state_version_get
SELECT {{version_columns}}
FROM state_versions AS v
WHERE v.tenant_id = :tenant_id AND v.state_id = :id AND v.version = :version;

-- define versions_where: FROM state_versions AS v
--   | WHERE v.tenant_id = :tenant_id AND v.state_id = :id AND v.version < :before
--   | ORDER BY v.version DESC LIMIT :limit

-- name: state_version_list
-- page: version DESC
SELECT {{bytes_of: v.description}} AS size_bytes, v.version, v.description, {{none}},
    v.created_by, v.created_at
{{versions_where}};

-- name: state_version_list_whole
-- page: version DESC
SELECT v.size_bytes, {{version_columns}}
{{versions_where}};

-- The newest threads in which the agent participates.
-- name: state_threads
SELECT thread_id FROM participants
WHERE tenant_id = :tenant_id AND principal = :principal AND active
ORDER BY thread_id DESC LIMIT :limit;
