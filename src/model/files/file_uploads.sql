-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, id uuid, name text, content_type text, size_bytes int
-- types: offset_bytes int, expected_version int, expected_sha256 bytes, sha256 bytes
-- types: created_by text, now int, expires_at int, lease_now int, before uuid, limit int
-- types: content_id uuid, writer uuid, writer_until int, began uuid

-- define upload_columns: id, thread_id, content_id, name, content_type, size_bytes, offset_bytes,
--   | expected_version, expected_sha256 AS sha256, created_by, created_at, updated_at, expires_at,
--   | writer, writer_until

-- reads file_upload_read: struct file_upload from {{upload_columns}}
-- binds file_upload_bind: struct file_upload for file_upload_insert

-- name: file_upload_insert
INSERT INTO uploads (tenant_id, id, thread_id, content_id, name, content_type, size_bytes,
    offset_bytes, expected_version, expected_sha256, created_by, created_at, updated_at, expires_at)
VALUES (:tenant_id, :id, :thread_id, :id, :name, :content_type, :size_bytes, 0, :expected_version,
    :expected_sha256, :created_by, :now, :now, :expires_at);

-- name: file_upload_get
SELECT {{upload_columns}}, sha256 FROM uploads
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id = :id;

-- name: file_upload_list
SELECT {{upload_columns}}, sha256 FROM uploads
WHERE tenant_id = :tenant_id AND thread_id = :thread_id
    AND id < CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
ORDER BY id DESC LIMIT :limit;

-- name: file_upload_count
SELECT count(*) FROM uploads WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: file_upload_advance
UPDATE uploads SET offset_bytes = :offset_bytes, sha256 = :sha256, content_id = :content_id,
    updated_at = :now, expires_at = :expires_at, writer = NULL, writer_until = NULL
WHERE tenant_id = :tenant_id AND id = :id AND writer = :writer;

-- name: file_upload_lease
UPDATE uploads SET writer = :writer, writer_until = :writer_until
WHERE tenant_id = :tenant_id AND id = :id AND expires_at > :lease_now
    AND offset_bytes = :offset_bytes AND offset_bytes < size_bytes
    AND (writer IS NULL OR writer_until <= :lease_now OR writer < :began);

-- name: file_upload_renew
UPDATE uploads SET writer_until = :writer_until
WHERE tenant_id = :tenant_id AND id = :id AND writer = :writer;

-- name: file_upload_release
UPDATE uploads SET writer = NULL, writer_until = NULL
WHERE tenant_id = :tenant_id AND id = :id AND writer = :writer;

-- In a directory, the writer has already renamed the file.
-- name: file_upload_seal
{{postgres:
UPDATE blob_chunks SET blob_id = :content_id WHERE tenant_id = :tenant_id AND blob_id = :id
}};

-- name: file_upload_delete
DELETE FROM uploads WHERE tenant_id = :tenant_id AND id = :id;

-- name: file_upload_expired
SELECT tenant_id, id FROM uploads WHERE expires_at <= :lease_now ORDER BY expires_at LIMIT :limit;

-- name: file_upload_thread
SELECT thread_id FROM uploads WHERE tenant_id = :tenant_id AND id = :id;
