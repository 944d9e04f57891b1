-- types: tenant_id uuid, thread_id uuid, name text

-- name: file_exists
SELECT 1 FROM files WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND name = :name;
