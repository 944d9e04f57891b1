-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, import_id uuid, kind text, name text, key text, number int
-- types: lease_expires_at int, now int, limit int

-- --- Progress ---------------------------------------------------------------------------------

-- name: import_insert
INSERT INTO imports (tenant_id, id, slices, lease_expires_at, started_at)
VALUES (:tenant_id, :id, 1, :lease_expires_at, :now);

-- name: import_advance
UPDATE imports SET slices = slices + 1, lease_expires_at = :lease_expires_at
WHERE tenant_id = :tenant_id AND id = :id AND completed_at IS NULL AND failed_at IS NULL
RETURNING slices;

-- name: import_unfinished
SELECT failed_at IS NOT NULL FROM imports
WHERE tenant_id = :tenant_id AND completed_at IS NULL;

-- name: import_set_complete
UPDATE imports SET completed_at = :now WHERE tenant_id = :tenant_id AND id = :id;

-- name: import_set_failed
UPDATE imports SET failed_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND completed_at IS NULL AND failed_at IS NULL;

-- At the start of the only process that can have been importing.
-- name: import_fail_all
UPDATE imports SET failed_at = :now WHERE completed_at IS NULL AND failed_at IS NULL;

-- --- Objects ----------------------------------------------------------------------------------

-- reads import_object_read: struct import_object from kind, id, name, key, number
-- binds import_object_bind: struct import_object for import_object_add

-- name: import_object_add
INSERT INTO import_objects (tenant_id, import_id, kind, id, name, key, number)
VALUES (:tenant_id, :import_id, :kind, :id, :name, :key, :number);

-- name: import_object_list
SELECT kind, id, name, key, number FROM import_objects
WHERE tenant_id = :tenant_id AND import_id = :import_id AND kind = :kind LIMIT :limit;

-- name: import_object_drop
DELETE FROM import_objects WHERE tenant_id = :tenant_id AND import_id = :import_id
    AND kind = :kind AND id = :id AND name = :name AND key = :key AND number = :number;

-- Some of the records of a complete import.
-- name: import_object_drop_some
DELETE FROM import_objects WHERE
    {{sqlite: rowid IN (SELECT rowid}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
    FROM import_objects WHERE tenant_id = :tenant_id AND import_id = :import_id
    LIMIT :limit{{sqlite: )}}{{postgres: ))}};

-- name: import_price_delete
DELETE FROM prices WHERE tenant_id = :tenant_id AND model = :name AND version = :number;

-- --- The sweep --------------------------------------------------------------------------------

-- name: import_list_due
SELECT tenant_id, id FROM imports
WHERE completed_at IS NOT NULL OR failed_at IS NOT NULL OR lease_expires_at <= :now LIMIT :limit;

-- name: import_lock
SELECT completed_at IS NOT NULL, failed_at IS NOT NULL OR lease_expires_at <= :now FROM imports
WHERE tenant_id = :tenant_id AND id = :id {{postgres: FOR UPDATE}};

-- name: import_delete
DELETE FROM imports WHERE tenant_id = :tenant_id AND id = :id;
