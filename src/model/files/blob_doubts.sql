-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, blob_id uuid, file_id uuid, thread_id uuid, version int, now int
-- types: limit int

-- define now: {{sqlite: :now}}{{postgres: CAST(:now AS bigint)}}
-- define note: INSERT INTO blob_doubts (tenant_id, blob_id, added_at)
-- define noted: ON CONFLICT DO NOTHING
-- define content_of_versions: SELECT DISTINCT b.tenant_id, b.id, {{now}}
--   | FROM file_versions AS v
--   | JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256
-- define content_of_uploads: SELECT u.tenant_id, u.content_id, {{now}} FROM uploads AS u

-- name: blob_doubt
{{note}} VALUES (:tenant_id, :blob_id, :now) {{noted}};

-- name: blob_doubt_version
{{note}} {{content_of_versions}}
WHERE v.tenant_id = :tenant_id AND v.file_id = :file_id AND v.version = :version {{noted}};

-- name: blob_doubt_file
{{note}} {{content_of_versions}}
WHERE v.tenant_id = :tenant_id AND v.file_id = :file_id {{noted}};

-- The first versions of the file: file_discard_versions deletes the same.
-- name: blob_doubt_some
{{note}} SELECT DISTINCT b.tenant_id, b.id, {{now}}
FROM (SELECT tenant_id, sha256 FROM file_versions
    WHERE tenant_id = :tenant_id AND file_id = :file_id ORDER BY version LIMIT :limit) AS v
JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256
WHERE true {{noted}};

-- name: blob_doubt_thread
{{note}} SELECT DISTINCT b.tenant_id, b.id, {{now}} FROM files AS f
{{sqlite: CROSS}} JOIN file_versions AS v ON v.tenant_id = f.tenant_id AND v.file_id = f.id
{{sqlite: CROSS}} JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256
WHERE f.tenant_id = :tenant_id AND f.thread_id = :thread_id
UNION ALL {{content_of_uploads}} WHERE u.tenant_id = :tenant_id AND u.thread_id = :thread_id
{{noted}};

-- The first contents of the tenant: tenant_delete_blobs deletes the same.
-- name: blob_doubt_tenant
{{note}} SELECT b.tenant_id, b.id, {{now}} FROM (SELECT tenant_id, id FROM blobs
    WHERE tenant_id = :tenant_id ORDER BY sha256 LIMIT :limit) AS b
WHERE true {{noted}};

-- name: blob_doubts_list
SELECT tenant_id, blob_id FROM blob_doubts ORDER BY added_at, tenant_id, blob_id LIMIT :limit;

-- name: blob_doubt_lock
{{postgres:
SELECT 1 FROM blobs WHERE tenant_id = :tenant_id AND id = :blob_id FOR UPDATE;
}}

-- name: blob_doubt_reference
SELECT 1 WHERE EXISTS (SELECT 1 FROM blobs AS b
    JOIN file_versions AS v ON v.tenant_id = b.tenant_id AND v.sha256 = b.sha256
    WHERE b.tenant_id = :tenant_id AND b.id = :blob_id)
OR EXISTS (SELECT 1 FROM uploads WHERE tenant_id = :tenant_id AND content_id = :blob_id);

-- name: blob_doubt_delete
DELETE FROM blobs WHERE tenant_id = :tenant_id AND id = :blob_id;

-- name: blob_doubts_drop
DELETE FROM blob_doubts WHERE tenant_id = :tenant_id AND blob_id = :blob_id;
