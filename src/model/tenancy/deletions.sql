-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, lease_now int, limit int

-- name: deletion_note
INSERT INTO deletions (tenant_id, id, touched_at) VALUES (:tenant_id, :id, :lease_now)
ON CONFLICT (tenant_id, id) DO UPDATE SET touched_at = :lease_now;

-- name: deletion_find
SELECT 1 FROM deletions WHERE tenant_id = :tenant_id AND id = :id;

-- name: deletion_touched_at
SELECT touched_at FROM deletions WHERE tenant_id = :tenant_id AND id = :id;

-- name: deletion_end
DELETE FROM deletions WHERE tenant_id = :tenant_id AND id = :id;

-- name: deletion_list
SELECT tenant_id, id FROM deletions WHERE touched_at <= :lease_now
ORDER BY touched_at LIMIT :limit;
