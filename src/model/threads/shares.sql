-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, id uuid, share_id uuid, participant_id uuid, kind text
-- types: permission text, label text, token_hash bytes, max_redemptions int, expires_at int
-- types: created_by text, principal text, previous_permission text, copied_thread_id uuid
-- types: active bool, now int, before uuid, limit int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define share_columns: id, thread_id, kind, permission, label, max_redemptions, redemptions,
--   | expires_at, revoked_at, created_by, created_at, updated_at, version

-- define redemption_columns: id, share_id, principal, participant_id, previous_permission,
--   | copied_thread_id, active, created_at

-- reads share_read: struct share from {{share_columns}}
-- reads redemption_read: struct redemption from {{redemption_columns}}
-- binds share_bind: struct share for share_insert

-- name: share_insert
INSERT INTO shares (tenant_id, id, thread_id, kind, permission, label, token_hash, max_redemptions,
    expires_at, created_by, created_at, updated_at)
VALUES (:tenant_id, :id, :thread_id, :kind, :permission, :label, :token_hash, :max_redemptions,
    :expires_at, :created_by, :now, :now);

-- name: share_get
SELECT {{share_columns}}, token_hash FROM shares WHERE tenant_id = :tenant_id AND id = :id;

-- name: share_list
SELECT {{share_columns}} FROM shares
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id < {{before}}
ORDER BY id DESC LIMIT :limit;

-- name: share_count
SELECT count(*) FROM shares
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND revoked_at IS NULL
    AND coalesce(expires_at > :now, true);

-- The shares that can still be redeemed.
-- name: share_list_by
SELECT {{share_columns}} FROM shares
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND created_by = :created_by
    AND revoked_at IS NULL AND coalesce(expires_at > :now, true)
ORDER BY id LIMIT :limit;

-- name: share_revoke
UPDATE shares SET revoked_at = :now, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: share_count_redemption
UPDATE shares SET redemptions = redemptions + 1, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: redemption_insert
INSERT INTO share_redemptions (tenant_id, share_id, id, principal, participant_id,
    previous_permission, copied_thread_id, active, created_at)
VALUES (:tenant_id, :share_id, :id, :principal, :participant_id, :previous_permission,
    :copied_thread_id, :active, :now);

-- name: redemption_list
SELECT {{redemption_columns}} FROM share_redemptions
WHERE tenant_id = :tenant_id AND share_id = :share_id AND id < {{before}}
ORDER BY id DESC LIMIT :limit;

-- The newest copy that this principal made and in which it still participates.
-- name: redemption_copy_of
SELECT r.copied_thread_id, p.id, p.permission FROM share_redemptions AS r
JOIN participants AS p ON p.tenant_id = r.tenant_id AND p.principal = r.principal
    AND p.thread_id = r.copied_thread_id AND p.active
WHERE r.tenant_id = :tenant_id AND r.share_id = :share_id AND r.principal = :principal
ORDER BY r.id DESC LIMIT 1;

-- The participants that have access through this share.
-- name: redemption_participants
SELECT DISTINCT participant_id FROM share_redemptions
WHERE tenant_id = :tenant_id AND share_id = :share_id AND participant_id IS NOT NULL AND active;

-- All redemptions that give this participant access, of this share and others.
-- name: redemption_of_participant
SELECT r.share_id, r.previous_permission, s.permission FROM share_redemptions AS r
JOIN shares AS s ON s.tenant_id = r.tenant_id AND s.id = r.share_id
WHERE r.tenant_id = :tenant_id AND r.participant_id = :participant_id AND r.active;

-- Sets the permission that the participant had before all its redemptions.
-- name: redemption_set_previous
UPDATE share_redemptions SET previous_permission = :previous_permission
WHERE tenant_id = :tenant_id AND participant_id = :participant_id AND active;

-- name: redemption_end
UPDATE share_redemptions SET active = false
WHERE tenant_id = :tenant_id AND share_id = :share_id AND active;

-- name: share_settle
UPDATE share_redemptions SET active = false
WHERE tenant_id = :tenant_id AND participant_id = :participant_id AND active;
