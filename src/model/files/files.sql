-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, id uuid, file_id uuid, name text, prefix text
-- types: prefix_end text, after text, limit int, version int, before int, sha256 bytes
-- types: size_bytes int, content_type text, created_by text, source_thread_id uuid
-- types: source_name text, restored_from int, metadata json, now int
-- types: first int, source_id uuid

-- define file_columns: f.id, f.thread_id, f.name, f.current_version AS version, v.size_bytes,
--   | v.sha256, v.content_type, v.created_by, f.metadata, f.created_at, f.updated_at, f.revision
-- define from_files: FROM files AS f JOIN file_versions AS v ON v.tenant_id = f.tenant_id
--   | AND v.file_id = f.id AND v.version = f.current_version
-- define version_columns: v.version, v.sha256, v.size_bytes, v.content_type, v.created_by,
--   | v.created_at, v.source_thread_id, v.source_name, v.source_version, v.restored_from,
--   | b.id AS blob_id
-- define from_versions: FROM files AS f JOIN file_versions AS v ON v.tenant_id = f.tenant_id
--   | AND v.file_id = f.id
--   | JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256

-- reads file_read: struct file from {{file_columns}}
-- reads file_version_read: struct file_version from {{version_columns}}

-- name: file_exists
SELECT 1 FROM files WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND name = :name;

-- name: file_get
SELECT {{file_columns}} {{from_files}}
WHERE f.tenant_id = :tenant_id AND f.thread_id = :thread_id AND f.name = :name;

-- name: file_list
SELECT {{file_columns}} {{from_files}}
WHERE f.tenant_id = :tenant_id AND f.thread_id = :thread_id
    AND f.name > coalesce(:after, '') AND f.name >= coalesce(:prefix, '')
    AND coalesce(f.name < :prefix_end, :prefix_end IS NULL)
ORDER BY f.name LIMIT :limit;

-- name: file_version_get
SELECT {{version_columns}} {{from_versions}}
WHERE f.tenant_id = :tenant_id AND f.thread_id = :thread_id AND f.name = :name
    AND v.version = coalesce(:version, f.current_version);

-- name: file_version_list
SELECT {{version_columns}} {{from_versions}}
WHERE f.tenant_id = :tenant_id AND f.thread_id = :thread_id AND f.name = :name
    AND coalesce(v.version < :before, :before IS NULL)
ORDER BY v.version DESC LIMIT :limit;

-- The greatest version number ever used under this name.
-- name: file_last_version
SELECT {{greatest}}(
    coalesce((SELECT last_version FROM files
        WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND name = :name), 0),
    coalesce((SELECT last_version FROM file_ends
        WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND name = :name), 0));

-- name: file_insert
INSERT INTO files (tenant_id, id, thread_id, name, last_version, current_version, metadata,
    created_at, updated_at)
VALUES (:tenant_id, :id, :thread_id, :name, :version, :version, :metadata, :now, :now);

-- name: file_advance
UPDATE files SET last_version = :version, current_version = :version, updated_at = :now,
    revision = revision + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: file_version_insert
INSERT INTO file_versions (tenant_id, file_id, version, sha256, size_bytes, content_type,
    created_by, created_at)
VALUES (:tenant_id, :file_id, :version, :sha256, :size_bytes, :content_type, :created_by, :now);

-- name: file_version_restore
INSERT INTO file_versions (tenant_id, file_id, version, sha256, size_bytes, content_type,
    created_by, created_at, restored_from)
SELECT v.tenant_id, v.file_id, :version, v.sha256, v.size_bytes, v.content_type, :created_by, :now,
    v.version
FROM file_versions AS v
WHERE v.tenant_id = :tenant_id AND v.file_id = :file_id AND v.version = :restored_from;

-- Copies one version as the next version of another file.
-- name: file_version_copy
INSERT INTO file_versions (tenant_id, file_id, version, sha256, size_bytes, content_type,
    created_by, created_at, source_thread_id, source_name, source_version)
SELECT v.tenant_id, :file_id, :first, v.sha256, v.size_bytes, v.content_type, :created_by, :now,
    :source_thread_id, :source_name, v.version
FROM file_versions AS v
WHERE v.tenant_id = :tenant_id AND v.file_id = :source_id AND v.version = :version;

-- Copies all versions up to one; the copies are numbered from :first.
-- name: file_version_copy_all
INSERT INTO file_versions (tenant_id, file_id, version, sha256, size_bytes, content_type,
    created_by, created_at, source_thread_id, source_name, source_version)
SELECT v.tenant_id, :file_id, :first - 1 + row_number() OVER (ORDER BY v.version), v.sha256,
    v.size_bytes, v.content_type, v.created_by, v.created_at, :source_thread_id, :source_name,
    v.version
FROM file_versions AS v
WHERE v.tenant_id = :tenant_id AND v.file_id = :source_id AND v.version <= :version;

-- name: file_version_count
SELECT count(*) FROM file_versions
WHERE tenant_id = :tenant_id AND file_id = :file_id AND version <= :version;

-- The newest version except this one.
-- name: file_version_newest_other
SELECT max(version) FROM file_versions
WHERE tenant_id = :tenant_id AND file_id = :file_id AND version <> :version
HAVING count(*) > 0;

-- name: file_set_current
UPDATE files SET current_version = :version, updated_at = :now, revision = revision + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: file_set_metadata
UPDATE files SET metadata = :metadata, updated_at = :now, revision = revision + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: file_version_delete
DELETE FROM file_versions
WHERE tenant_id = :tenant_id AND file_id = :file_id AND version = :version;

-- name: file_delete
DELETE FROM files WHERE tenant_id = :tenant_id AND id = :id;

-- name: file_discard_versions
DELETE FROM file_versions WHERE tenant_id = :tenant_id AND file_id = :file_id
AND {{sqlite: version IN (SELECT version}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
    FROM file_versions WHERE tenant_id = :tenant_id AND file_id = :file_id
    ORDER BY version LIMIT :limit{{sqlite: )}}{{postgres: ))}};

-- name: file_end_save
INSERT INTO file_ends (tenant_id, thread_id, name, last_version)
SELECT tenant_id, thread_id, name, last_version FROM files
WHERE tenant_id = :tenant_id AND id = :id;

-- name: file_end_drop
DELETE FROM file_ends WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND name = :name;
