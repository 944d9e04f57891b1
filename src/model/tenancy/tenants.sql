-- SPDX-License-Identifier: Apache-2.0
-- types: id uuid, tenant_id uuid, before uuid, name text, now int, limit int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define tenant_columns: id, name, created_at, updated_at, version

-- reads tenant_read: struct tenant from {{tenant_columns}}

-- name: tenant_insert
INSERT INTO tenants (id, name, created_at, updated_at)
VALUES (:id, :name, :now, :now)
ON CONFLICT DO NOTHING;

-- name: tenant_get
SELECT {{tenant_columns}} FROM tenants WHERE id = :id;

-- name: tenant_list
SELECT {{tenant_columns}} FROM tenants
WHERE id < {{before}}
ORDER BY id DESC LIMIT :limit;

-- name: tenant_rename
UPDATE tenants SET name = :name, updated_at = :now, version = version + 1
WHERE id = :id AND NOT EXISTS
    (SELECT 1 FROM tenants AS other WHERE other.name = :name AND other.id <> :id);

-- name: tenant_delete
DELETE FROM tenants WHERE id = :id;

-- The row of the tenant is the lock for its audit log, its keys, and decisions about the whole
-- tenant.
-- name: tenant_lock
{{postgres:
SELECT 1 FROM tenants WHERE id = :tenant_id FOR NO KEY UPDATE;
}}

-- name: tenant_last_event_id
SELECT coalesce(max(id), 0) FROM events WHERE tenant_id = :tenant_id;
