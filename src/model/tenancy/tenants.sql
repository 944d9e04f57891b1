-- SPDX-License-Identifier: Apache-2.0
-- types: id uuid, tenant_id uuid, before uuid, name text, now int, limit int, tenants json

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

-- The newest id of each kind in each tenant; the id of the tenant if it has none.
-- name: tenant_newest_ids
SELECT t.id,
    coalesce((SELECT o.id FROM threads AS o WHERE o.tenant_id = t.id ORDER BY o.id DESC LIMIT 1),
        t.id),
    coalesce((SELECT o.id FROM runs AS o WHERE o.tenant_id = t.id ORDER BY o.id DESC LIMIT 1),
        t.id),
    coalesce((SELECT o.id FROM api_keys AS o WHERE o.tenant_id = t.id ORDER BY o.id DESC LIMIT 1),
        t.id)
FROM tenants AS t;

-- The row of the tenant is the lock for its audit log, its keys, and decisions about the whole
-- tenant.
-- name: tenant_lock
{{postgres:
SELECT 1 FROM tenants WHERE id = :tenant_id FOR NO KEY UPDATE;
}}

-- Only one node at a time lists the work that is due.
-- name: sweep_lock
SELECT {{sqlite: 1}}{{postgres: pg_try_advisory_xact_lock(
    'tenants'::regclass::oid::bigint::bit(32)::int, 1)}};

-- name: tenant_gone
{{postgres:
SELECT v::uuid FROM json_array_elements_text(:tenants) AS v
WHERE NOT EXISTS (SELECT 1 FROM tenants AS t WHERE t.id = v::uuid);
}}

-- name: tenant_last_event_id
SELECT coalesce(max(id), 0) FROM events WHERE tenant_id = :tenant_id;
