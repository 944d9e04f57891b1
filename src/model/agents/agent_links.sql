-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, child_id uuid, role text, position int, child_version text
-- types: metadata json, now int, limit int, depth int

-- define link_columns: l.parent_id, l.child_id, a.name AS child_name,
--   | a.kind AS child_kind, l.role, l.position, l.child_version, l.metadata, l.created_at,
--   | l.updated_at, l.version AS revision
-- define link_tables: FROM agent_links AS l
--   | JOIN agents AS a ON a.tenant_id = l.tenant_id AND a.id = l.child_id
-- define of_parent: l.tenant_id = :tenant_id AND l.parent_id = :id

-- define branch_columns: l.parent_id, a.id AS child_id, a.name AS child_name,
--   | a.kind AS child_kind, coalesce(l.child_version, a.active_version) AS child_version,
--   | l.role AS child_role, l.position AS child_position

-- reads agent_link_read: struct agent_link from {{link_columns}}
-- reads agent_branch_read: struct agent_branch from {{branch_columns}}
-- binds agent_link_bind: struct agent_link for agent_link_insert

-- name: agent_link_get
SELECT {{link_columns}} {{link_tables}} WHERE {{of_parent}} AND l.child_id = :child_id;

-- name: agent_link_list
SELECT {{link_columns}} {{link_tables}}
WHERE {{of_parent}} AND (l.position, l.child_id) > (:position, :child_id)
ORDER BY l.position, l.child_id LIMIT :limit;

-- name: agent_link_insert
INSERT INTO agent_links (tenant_id, parent_id, child_id, role, position, child_version, metadata,
    created_at, updated_at)
VALUES (:tenant_id, :id, :child_id, :role, :position, :child_version, :metadata, :now, :now);

-- name: agent_link_update
UPDATE agent_links SET role = :role, position = :position, child_version = :child_version,
    metadata = :metadata, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND parent_id = :id AND child_id = :child_id;

-- name: agent_link_delete
DELETE FROM agent_links
WHERE tenant_id = :tenant_id AND parent_id = :id AND child_id = :child_id;

-- name: agent_link_count
SELECT count(*) FROM agent_links WHERE tenant_id = :tenant_id AND parent_id = :id;

-- name: agent_link_next_position
SELECT coalesce(max(position) + 1, 0) FROM agent_links
WHERE tenant_id = :tenant_id AND parent_id = :id;

-- Every link below an agent, with the columns of the child that a tree shows.
-- name: agent_branches
WITH RECURSIVE walk (id) AS (
    SELECT a.id FROM agents AS a WHERE a.tenant_id = :tenant_id AND a.id = :id
    UNION
    SELECT l.child_id FROM walk
    JOIN agent_links AS l ON l.tenant_id = :tenant_id AND l.parent_id = walk.id
)
SELECT {{branch_columns}}
FROM walk CROSS JOIN agent_links AS l
JOIN agents AS a ON a.tenant_id = l.tenant_id AND a.id = l.child_id
WHERE l.tenant_id = :tenant_id AND l.parent_id = walk.id
ORDER BY l.parent_id, l.position, l.child_id LIMIT :limit;

-- The length of the longest path from a root to an agent.
-- name: agent_links_above
WITH RECURSIVE walk (parent_id, depth) AS (
    SELECT parent_id, 1 FROM agent_links {{sqlite: INDEXED BY agent_links_by_child}}
    WHERE tenant_id = :tenant_id AND child_id = :id
    UNION
    SELECT l.parent_id, walk.depth + 1 FROM walk
    JOIN agent_links AS l {{sqlite: INDEXED BY agent_links_by_child}}
    ON l.tenant_id = :tenant_id AND l.child_id = walk.parent_id
    WHERE walk.depth < :depth
)
SELECT coalesce(max(depth), 0) FROM walk;

-- name: agent_version_exists
SELECT count(*) FROM agent_versions
WHERE tenant_id = :tenant_id AND agent_id = :child_id AND version = :child_version;
