-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, snapshot_id uuid, sha256 bytes, size_bytes int, dictionary int
-- types: bytes bytes, hashes bytes, count int, now int

-- Any number of hashes is passed as one byte string, 32 bytes per hash.
-- define numbers: (WITH RECURSIVE counted (i) AS (
--   | VALUES (0) UNION ALL SELECT i + 1 FROM counted WHERE i + 1 < :count)
--   | SELECT i FROM counted) AS n
-- define hash: substr(:hashes, n.i * 32 + 1, 32)
-- define hashes: SELECT substring(:hashes FROM (n * 32 + 1)::int FOR 32)
--   | FROM generate_series(0, :count - 1) AS n

-- The stored items, in order. On PostgreSQL the rows are locked, so the sweep does not delete them.
-- name: item_present
{{sqlite:
SELECT k.sha256 FROM {{numbers}} CROSS JOIN items AS k
WHERE k.tenant_id = :tenant_id AND k.sha256 = {{hash}};
}}{{postgres:
SELECT sha256 FROM items WHERE tenant_id = :tenant_id AND sha256 = ANY (ARRAY({{hashes}}))
ORDER BY sha256 FOR KEY SHARE;
}}

-- define with_dictionary: LEFT JOIN item_dictionaries AS d
--   | ON d.tenant_id = :tenant_id AND d.number = k.dictionary

-- name: item_read
{{sqlite:
SELECT k.sha256, k.size_bytes, k.dictionary, k.bytes, d.sha256
FROM {{numbers}} CROSS JOIN items AS k {{with_dictionary}}
WHERE k.tenant_id = :tenant_id AND k.sha256 = {{hash}};
}}{{postgres:
SELECT k.sha256, k.size_bytes, k.dictionary, k.bytes, d.sha256 FROM items AS k {{with_dictionary}}
WHERE k.tenant_id = :tenant_id AND k.sha256 = ANY (ARRAY({{hashes}}));
}}

-- If another node inserts the same item at the same time, this insert waits and finds its row.
-- name: item_insert
INSERT INTO items (tenant_id, sha256, size_bytes, dictionary, bytes, created_at)
VALUES (:tenant_id, :sha256, :size_bytes, :dictionary, :bytes, :now)
ON CONFLICT (tenant_id, sha256)
{{sqlite: DO NOTHING}}{{postgres: DO UPDATE SET created_at = items.created_at}};

-- name: item_refer
{{sqlite:
INSERT INTO snapshot_items (tenant_id, snapshot_id, sha256)
SELECT :tenant_id, :snapshot_id, {{hash}} FROM {{numbers}} WHERE true ON CONFLICT DO NOTHING;
}}{{postgres:
INSERT INTO snapshot_items (tenant_id, snapshot_id, sha256)
SELECT CAST(:tenant_id AS uuid), CAST(:snapshot_id AS uuid), h.sha256
FROM ({{hashes}}) AS h (sha256) ON CONFLICT DO NOTHING;
}}

-- If the sweep deletes the same note at the same time, this insert waits and inserts the note
-- again.
-- define noted: ON CONFLICT (tenant_id, sha256)
--   | {{sqlite: DO NOTHING}}{{postgres: DO UPDATE SET added_at = excluded.added_at}}
-- define note: INSERT INTO item_doubts (tenant_id, sha256, added_at)
--   | SELECT DISTINCT s.tenant_id, s.sha256, {{sqlite: :now}}{{postgres: CAST(:now AS bigint)}}
--   | FROM snapshot_items AS s

-- name: item_doubt_snapshot
{{note}} WHERE s.tenant_id = :tenant_id AND s.snapshot_id = :snapshot_id
ORDER BY s.sha256 {{noted}};

-- The first items of a snapshot, and their references.
-- name: item_doubt_some
-- types: owner_id uuid, limit int
INSERT INTO item_doubts (tenant_id, sha256, added_at)
SELECT s.tenant_id, s.sha256, {{sqlite: :now}}{{postgres: CAST(:now AS bigint)}}
FROM snapshot_items AS s WHERE s.tenant_id = :tenant_id AND s.snapshot_id = :owner_id
ORDER BY s.sha256 LIMIT :limit {{noted}};

-- name: item_unrefer_some
-- types: owner_id uuid, limit int
DELETE FROM snapshot_items WHERE tenant_id = :tenant_id AND snapshot_id = :owner_id
AND {{sqlite: sha256 IN (SELECT sha256}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
    FROM snapshot_items WHERE tenant_id = :tenant_id AND snapshot_id = :owner_id
    ORDER BY sha256 LIMIT :limit{{sqlite: )}}{{postgres: ))}};

-- name: item_doubt_thread
-- types: thread_id uuid, last uuid
{{note}} JOIN snapshots AS o ON o.tenant_id = s.tenant_id AND o.id = s.snapshot_id
WHERE o.tenant_id = :tenant_id AND o.thread_id = :thread_id AND o.id <= :last
ORDER BY s.sha256 {{noted}};

-- The next tenant with doubts.
-- name: item_doubts_first
-- types: after_tenant uuid
SELECT tenant_id FROM item_doubts WHERE tenant_id > :after_tenant ORDER BY tenant_id LIMIT 1;

-- Doubtful items with their bytes; the item of a doubt may be missing.
-- name: item_doubts_slice
-- types: limit int
SELECT d.sha256, coalesce((SELECT length(i.bytes) FROM items AS i
    WHERE i.tenant_id = d.tenant_id AND i.sha256 = d.sha256), 0)
FROM item_doubts AS d WHERE d.tenant_id = :tenant_id ORDER BY d.sha256 LIMIT :limit
{{postgres: FOR UPDATE SKIP LOCKED}};

-- Locks the items that no other transaction is about to refer to.
-- name: item_lock
{{postgres:
SELECT sha256 FROM items WHERE tenant_id = :tenant_id AND sha256 = ANY (ARRAY({{hashes}}))
ORDER BY sha256 FOR UPDATE SKIP LOCKED;
}}

-- define in_hashes: {{sqlite: IN (SELECT {{hash}} FROM {{numbers}})}}
--   | {{postgres: = ANY (ARRAY({{hashes}}))}}

-- name: item_delete_unused
DELETE FROM items WHERE tenant_id = :tenant_id AND sha256 {{in_hashes}}
AND NOT EXISTS (SELECT 1 FROM snapshot_items AS s
    WHERE s.tenant_id = items.tenant_id AND s.sha256 = items.sha256);

-- name: item_doubts_drop
DELETE FROM item_doubts WHERE tenant_id = :tenant_id AND sha256 {{in_hashes}};

-- Doubts about items that do not exist.
-- name: item_doubts_drop_absent
DELETE FROM item_doubts WHERE tenant_id = :tenant_id AND sha256 {{in_hashes}}
AND NOT EXISTS (SELECT 1 FROM items AS i
    WHERE i.tenant_id = item_doubts.tenant_id AND i.sha256 = item_doubts.sha256);

-- --- Packing ---

-- define unpacked: dictionary IN (-1, 0)

-- name: item_dictionary_newest
SELECT number, sha256 FROM item_dictionaries WHERE tenant_id = :tenant_id
ORDER BY number DESC LIMIT 1;

-- name: item_dictionary_get
-- types: number int
SELECT bytes FROM item_dictionaries WHERE tenant_id = :tenant_id AND number = :number;

-- name: item_dictionary_insert
-- types: number int
INSERT INTO item_dictionaries (tenant_id, number, bytes, sha256, created_at)
VALUES (:tenant_id, :number, :bytes, :sha256, :now) ON CONFLICT DO NOTHING;

-- name: item_next_to_pack
-- types: after uuid
SELECT tenant_id FROM items WHERE {{unpacked}} AND tenant_id > :after ORDER BY tenant_id LIMIT 1;

-- name: item_unpacked_count
-- types: limit int
SELECT count(*), CAST(coalesce(sum(size_bytes), 0) AS {{int}})
FROM (SELECT size_bytes FROM items WHERE tenant_id = :tenant_id AND {{unpacked}}
    LIMIT :limit) AS few;

-- Sorted by hash, which is a random order. The last item may exceed :max_bytes.
-- name: item_unpacked
-- types: limit int, max_bytes int
SELECT k.sha256, k.size_bytes, k.dictionary, k.bytes FROM (
    SELECT sha256, sum(size_bytes) OVER (ORDER BY sha256
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT sha256, size_bytes FROM items WHERE tenant_id = :tenant_id AND {{unpacked}}
        ORDER BY sha256 LIMIT :limit) AS few) AS slice
JOIN items AS k ON k.tenant_id = :tenant_id AND k.sha256 = slice.sha256
WHERE coalesce(slice.before, 0) < :max_bytes ORDER BY k.sha256;

-- name: item_repack
UPDATE items SET dictionary = :dictionary, bytes = :bytes
WHERE tenant_id = :tenant_id AND sha256 = :sha256;

-- name: item_leave_unpacked
UPDATE items SET dictionary = CASE dictionary WHEN -1 THEN -2 ELSE -3 END
WHERE tenant_id = :tenant_id AND sha256 = :sha256 AND {{unpacked}};
