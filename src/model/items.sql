-- types: tenant_id uuid, snapshot_id uuid, sha256 bytes, size_bytes int, dictionary int
-- types: bytes bytes, hashes bytes, count int, now int

-- Any number of hashes come as one row of bytes, 32 for each.
-- define numbers: (WITH RECURSIVE counted (i) AS (
--   | VALUES (0) UNION ALL SELECT i + 1 FROM counted WHERE i + 1 < :count)
--   | SELECT i FROM counted) AS n
-- define hash: substr(:hashes, n.i * 32 + 1, 32)
-- define hashes: SELECT substring(:hashes FROM (n * 32 + 1)::int FOR 32)
--   | FROM generate_series(0, :count - 1) AS n

-- Those that are stored, in order. On PostgreSQL they stay: whoever collects items locks them.
-- name: item_present
{{sqlite:
SELECT k.sha256 FROM {{numbers}} CROSS JOIN items AS k
WHERE k.tenant_id = :tenant_id AND k.sha256 = {{hash}};
}}{{postgres:
SELECT sha256 FROM items WHERE tenant_id = :tenant_id AND sha256 = ANY (ARRAY({{hashes}}))
ORDER BY sha256 FOR KEY SHARE;
}}

-- name: item_read
{{sqlite:
SELECT k.sha256, k.size_bytes, k.dictionary, k.bytes FROM {{numbers}} CROSS JOIN items AS k
WHERE k.tenant_id = :tenant_id AND k.sha256 = {{hash}};
}}{{postgres:
SELECT sha256, size_bytes, dictionary, bytes FROM items
WHERE tenant_id = :tenant_id AND sha256 = ANY (ARRAY({{hashes}}));
}}

-- Another node may insert the same at the same time: who comes second waits, and then has it.
-- name: item_insert
INSERT INTO items (tenant_id, sha256, size_bytes, dictionary, bytes, created_at)
VALUES (:tenant_id, :sha256, :size_bytes, :dictionary, :bytes, :now)
ON CONFLICT (tenant_id, sha256)
{{sqlite: DO NOTHING}}{{postgres: DO UPDATE SET created_at = items.created_at}};

-- name: item_refer
{{sqlite:
INSERT INTO snapshot_items (tenant_id, snapshot_id, sha256)
SELECT :tenant_id, :snapshot_id, {{hash}} FROM {{numbers}};
}}{{postgres:
INSERT INTO snapshot_items (tenant_id, snapshot_id, sha256)
SELECT CAST(:tenant_id AS uuid), CAST(:snapshot_id AS uuid), h.sha256
FROM ({{hashes}}) AS h (sha256);
}}

-- name: item_doubt_snapshot
INSERT INTO item_doubts (tenant_id, sha256, added_at)
SELECT s.tenant_id, s.sha256, {{sqlite: :now}}{{postgres: CAST(:now AS bigint)}}
FROM snapshot_items AS s WHERE s.tenant_id = :tenant_id AND s.snapshot_id = :snapshot_id
ORDER BY s.sha256
ON CONFLICT DO NOTHING;
