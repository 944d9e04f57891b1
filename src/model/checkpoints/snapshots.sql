-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, thread_id uuid, base_id uuid, depth int, manifest bytes
-- types: sha256 bytes, size_bytes int, now int

-- define chain_columns: s.thread_id, s.base_id, s.depth, s.manifest, s.sha256, s.size_bytes,
--   | s.created_at, s.dropped_at

-- The snapshot and all its bases; the one with a whole manifest is the first row.
-- name: snapshot_chain
SELECT {{chain_columns}} FROM (WITH RECURSIVE chain AS (
    SELECT {{chain_columns}}, 0 AS back FROM snapshots AS s
    WHERE s.tenant_id = :tenant_id AND s.id = :id
    UNION ALL
    SELECT {{chain_columns}}, chain.back + 1 FROM chain
    JOIN snapshots AS s ON s.tenant_id = :tenant_id AND s.id = chain.base_id
    WHERE chain.back < 64) SELECT * FROM chain) AS s ORDER BY s.back DESC;

-- name: snapshot_head
SELECT thread_id, sha256, size_bytes, created_at FROM snapshots
WHERE tenant_id = :tenant_id AND id = :id AND dropped_at IS NULL;

-- name: snapshot_row
SELECT thread_id, base_id, depth, sha256, size_bytes, created_at FROM snapshots
WHERE tenant_id = :tenant_id AND id = :id AND dropped_at IS NULL;

-- name: snapshot_insert
-- types: dropped_at int
INSERT INTO snapshots (tenant_id, id, thread_id, base_id, depth, manifest, sha256, size_bytes,
    created_at, dropped_at)
VALUES (:tenant_id, :id, :thread_id, :base_id, :depth, :manifest, :sha256, :size_bytes, :now,
    :dropped_at);

-- name: snapshot_drop
UPDATE snapshots SET dropped_at = :now, rebase_at = NULL
WHERE tenant_id = :tenant_id AND id = :id AND dropped_at IS NULL;

-- The snapshots that build on a dropped one.
-- name: snapshot_plan_rebase
-- types: due int
UPDATE snapshots SET rebase_at = :due
WHERE tenant_id = :tenant_id AND base_id = :id AND dropped_at IS NULL AND rebase_at IS NULL;

-- The last snapshot may exceed :max_bytes.
-- define before_it: ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
-- name: snapshot_rebase_due
-- types: limit int, max_bytes int
SELECT tenant_id, id FROM (SELECT tenant_id, id, rebase_at,
    sum(size_bytes) OVER (ORDER BY rebase_at, id {{before_it}}) AS bytes FROM (
        SELECT tenant_id, id, rebase_at, size_bytes FROM snapshots WHERE rebase_at <= :now
        ORDER BY rebase_at, id LIMIT :limit) AS few) AS slice
WHERE coalesce(bytes, 0) < :max_bytes ORDER BY rebase_at, id;

-- name: snapshot_make_whole
UPDATE snapshots SET base_id = NULL, depth = 0, manifest = :manifest, rebase_at = NULL
WHERE tenant_id = :tenant_id AND id = :id;

-- name: snapshot_leave
UPDATE snapshots SET rebase_at = NULL WHERE tenant_id = :tenant_id AND id = :id;

-- The base of a dropped snapshot on which no other snapshot builds.
-- name: snapshot_unneeded
SELECT base_id, length(manifest) FROM snapshots AS s
WHERE s.tenant_id = :tenant_id AND s.id = :id AND s.dropped_at IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM snapshots AS o WHERE o.tenant_id = :tenant_id AND o.base_id = :id);

-- name: snapshot_delete
DELETE FROM snapshots WHERE tenant_id = :tenant_id AND id = :id;

-- name: snapshot_discard_thread
INSERT INTO snapshot_garbage (tenant_id, thread_id, added_at)
SELECT {{sqlite: :tenant_id, :thread_id, :now}}
{{postgres: CAST(:tenant_id AS uuid), CAST(:thread_id AS uuid), CAST(:now AS bigint)}}
WHERE EXISTS (SELECT 1 FROM snapshots WHERE tenant_id = :tenant_id AND thread_id = :thread_id)
ON CONFLICT DO NOTHING;

-- name: snapshot_garbage_first
SELECT tenant_id, thread_id FROM snapshot_garbage ORDER BY tenant_id, thread_id LIMIT 1;

-- The last snapshot of a slice. The length of a manifest grows with the number of its items.
-- name: snapshot_garbage_slice
-- types: limit int, max_bytes int
SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id {{before_it}}) AS bytes FROM (
        SELECT id, length(manifest) AS bytes FROM snapshots
        WHERE tenant_id = :tenant_id AND thread_id = :thread_id ORDER BY id LIMIT :limit) AS few
    ) AS slice
WHERE coalesce(bytes, 0) < :max_bytes ORDER BY id DESC LIMIT 1;

-- The next snapshot of the thread.
-- name: snapshot_garbage_next
SELECT id, length(manifest) FROM snapshots
WHERE tenant_id = :tenant_id AND thread_id = :thread_id ORDER BY id LIMIT 1;

-- name: snapshot_garbage_delete
-- types: last uuid
DELETE FROM snapshots WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id <= :last;

-- name: snapshot_garbage_drop
DELETE FROM snapshot_garbage WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- --- Snapshots that are deleted in slices, and those that are stored in slices ---

-- name: snapshot_leftover_add
-- types: due int
INSERT INTO snapshot_leftovers (tenant_id, snapshot_id, due_at) VALUES (:tenant_id, :id, :due)
ON CONFLICT DO NOTHING;

-- name: snapshot_leftover_renew
-- types: due int
UPDATE snapshot_leftovers SET due_at = :due
WHERE tenant_id = :tenant_id AND snapshot_id = :id AND due_at > :now;

-- name: snapshot_leftover_take
DELETE FROM snapshot_leftovers
WHERE tenant_id = :tenant_id AND snapshot_id = :id AND due_at > :now;

-- If the base was dropped meanwhile, the snapshot becomes whole later.
-- name: snapshot_adopt
-- types: due int
UPDATE snapshots SET dropped_at = NULL, rebase_at = CASE WHEN EXISTS (SELECT 1 FROM snapshots AS b
    WHERE b.tenant_id = :tenant_id AND b.id = snapshots.base_id AND b.dropped_at IS NOT NULL)
    THEN {{sqlite: :due}}{{postgres: CAST(:due AS bigint)}} END
WHERE tenant_id = :tenant_id AND id = :id;

-- name: snapshot_leftovers_due
-- types: limit int
SELECT tenant_id, snapshot_id FROM snapshot_leftovers WHERE due_at <= :now
ORDER BY due_at LIMIT :limit;

-- name: snapshot_leftover_forget
DELETE FROM snapshot_leftovers WHERE tenant_id = :tenant_id AND snapshot_id = :id;
