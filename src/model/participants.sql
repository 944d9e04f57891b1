-- types: tenant_id uuid, thread_id uuid, id uuid, principal text

-- define participant_columns: id, thread_id, role, principal, name, image, status, permission,
--   | active, online_until, metadata, created_at, updated_at, version

-- name: participant_get
SELECT {{participant_columns}} FROM participants
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id = :id;

-- name: participant_by_principal
SELECT {{participant_columns}} FROM participants
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND principal = :principal;
