-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, sha256 bytes, size_bytes int, now int

-- name: blob_find
SELECT id, size_bytes, created_at FROM blobs WHERE tenant_id = :tenant_id AND sha256 = :sha256;

-- If another PostgreSQL node inserts the same content at the same time, this insert waits for its
-- commit and returns the existing row. The lock keeps that row until this transaction commits.
-- name: blob_insert
INSERT INTO blobs (tenant_id, sha256, id, size_bytes, created_at)
VALUES (:tenant_id, :sha256, :id, :size_bytes, :now)
ON CONFLICT (tenant_id, sha256) DO UPDATE SET created_at = blobs.created_at
RETURNING id, size_bytes, created_at;

-- name: blob_mend
UPDATE blobs SET id = :id WHERE tenant_id = :tenant_id AND sha256 = :sha256;

-- name: blob_is_known
SELECT 1 FROM blobs WHERE tenant_id = :tenant_id AND id = :id
UNION ALL
SELECT 1 FROM uploads WHERE tenant_id = :tenant_id AND content_id = :id;

-- Content stored in PostgreSQL.

-- name: blob_chunk_put
-- types: blob_id uuid, n int, bytes bytes
{{postgres:
INSERT INTO blob_chunks (tenant_id, blob_id, n, bytes) VALUES (:tenant_id, :blob_id, :n, :bytes)
ON CONFLICT (tenant_id, blob_id, n) DO UPDATE SET bytes = excluded.bytes
}};

-- name: blob_chunk_read
-- types: blob_id uuid, n int, from int, count int
{{postgres:
SELECT substring(bytes FROM :from::int FOR :count::int) FROM blob_chunks
WHERE tenant_id = :tenant_id AND blob_id = :blob_id AND n = :n
}};

-- name: blob_chunk_all
-- types: blob_id uuid
{{postgres:
SELECT bytes FROM blob_chunks WHERE tenant_id = :tenant_id AND blob_id = :blob_id ORDER BY n
}};

-- name: blob_chunk_size
-- types: blob_id uuid
{{postgres:
SELECT count(*), coalesce(sum(octet_length(bytes)), 0)::bigint FROM blob_chunks
WHERE tenant_id = :tenant_id AND blob_id = :blob_id
}};

-- name: blob_chunk_cut
-- types: blob_id uuid, n int
{{postgres:
DELETE FROM blob_chunks WHERE tenant_id = :tenant_id AND blob_id = :blob_id AND n IN (
    SELECT n FROM blob_chunks WHERE tenant_id = :tenant_id AND blob_id = :blob_id AND n >= :n
    ORDER BY n LIMIT 256)
}};

-- name: blob_discard
-- types: blob_id uuid, removed_at int
{{postgres:
INSERT INTO blob_garbage (tenant_id, blob_id, removed_at)
VALUES (:tenant_id, :blob_id, :removed_at) ON CONFLICT DO NOTHING
}};

-- name: blob_orphans
-- types: before_id uuid, limit int
{{postgres:
SELECT tenant_id, blob_id FROM blob_chunks AS k WHERE n = 0 AND blob_id < :before_id
AND NOT EXISTS (SELECT FROM blobs AS b WHERE b.tenant_id = k.tenant_id AND b.id = k.blob_id)
AND NOT EXISTS (SELECT FROM uploads AS u
    WHERE u.tenant_id = k.tenant_id AND u.content_id = k.blob_id)
AND NOT EXISTS (SELECT FROM blob_garbage AS g
    WHERE g.tenant_id = k.tenant_id AND g.blob_id = k.blob_id)
LIMIT :limit
}};

-- name: blob_discarded
-- types: removed_before int, limit int
{{postgres:
SELECT tenant_id, blob_id FROM blob_garbage WHERE removed_at < :removed_before LIMIT :limit
}};

-- name: blob_forget
-- types: blob_id uuid
{{postgres:
DELETE FROM blob_garbage WHERE tenant_id = :tenant_id AND blob_id = :blob_id
}};
