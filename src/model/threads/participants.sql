-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, id uuid, principal text, role text, name text, image text
-- types: status text, permission text, active bool, barred bool, metadata json, now int
-- types: lease_now int, online_until int, before uuid, limit int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define participant_members: id, thread_id, role, principal, name, image, status, permission,
--   | active, barred, metadata, created_at, updated_at, version
-- define participant_columns: {{participant_members}}, online_until

-- reads participant_read: struct participant from {{participant_members}}
-- binds participant_bind: struct participant for participant_update

-- name: participant_get
SELECT {{participant_columns}} FROM participants
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id = :id;

-- name: participant_by_principal
SELECT {{participant_columns}} FROM participants
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND principal = :principal;

-- name: participant_permission
SELECT permission FROM participants
WHERE tenant_id = :tenant_id AND principal = :principal AND thread_id = :thread_id AND active;

-- name: participant_list
SELECT {{participant_columns}} FROM participants
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id < {{before}}
    AND coalesce(active = :active, :active IS NULL) AND coalesce(role = :role, :role IS NULL)
    AND coalesce(principal = :principal, :principal IS NULL)
ORDER BY id DESC LIMIT :limit;

-- name: participant_count
SELECT count(*) FROM participants WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: participant_insert
INSERT INTO participants (tenant_id, thread_id, id, role, principal, name, image, status,
    permission, active, barred, metadata, created_at, updated_at)
VALUES (:tenant_id, :thread_id, :id, :role, :principal, :name, :image, :status,
    :permission, :active, :barred, :metadata, :now, :now);

-- An inactive participant is never online.
-- name: participant_update
UPDATE participants SET role = :role, name = :name, image = :image, status = :status,
    permission = :permission, active = :active, barred = :barred, metadata = :metadata,
    updated_at = :now, online_until = CASE WHEN :active THEN online_until END, version = version + 1
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id = :id;

-- name: participant_set_online
UPDATE participants SET online_until = :online_until
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id = :id;

-- May return a thread several times; the caller handles all its participants the first time.
-- name: participant_list_silent
SELECT tenant_id, thread_id FROM participants WHERE online_until <= :lease_now
ORDER BY online_until LIMIT :limit;

-- name: participant_silent_of_thread
SELECT {{participant_columns}} FROM participants
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND online_until <= :lease_now;

-- name: participant_bound_online
UPDATE participants SET online_until = :online_until WHERE online_until > :online_until;
