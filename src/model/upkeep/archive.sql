-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, from uuid, after_bytes bytes, limit int, key text, run_id uuid
-- types: agent_id uuid, number int, namespace text, key_owner text

-- The statements of archives that cannot be generated from archive.members.

-- --- Content ----------------------------------------------------------------------------------

-- name: archive_blobs_of_tenant
SELECT b.sha256, b.id, b.size_bytes FROM blobs AS b
WHERE b.tenant_id = :tenant_id AND b.sha256 > :after_bytes
    AND EXISTS (SELECT 1 FROM file_versions AS v
        WHERE v.tenant_id = b.tenant_id AND v.sha256 = b.sha256)
ORDER BY b.sha256 LIMIT :limit;

-- The contents of a thread's files, with duplicates, in the order of the versions.
-- name: archive_blobs_of_thread
-- types: after_id uuid, after_number int
SELECT f.id, v.version, b.sha256, b.id, b.size_bytes FROM files AS f
{{sqlite: CROSS JOIN file_versions AS v ON v.tenant_id = f.tenant_id AND v.file_id = +f.id}}
{{postgres: CROSS JOIN LATERAL (SELECT * FROM file_versions AS v WHERE v.tenant_id = f.tenant_id
    AND v.file_id = f.id AND v.version > CASE WHEN f.id = :after_id THEN :after_number ELSE 0 END
    ORDER BY v.version LIMIT :limit) AS v}}
JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256
WHERE f.tenant_id = :tenant_id AND f.thread_id = :from AND f.id >= :after_id
    {{sqlite: AND v.version > CASE WHEN f.id = :after_id THEN :after_number ELSE 0 END}}
ORDER BY f.id, {{sqlite: f.rowid,}} v.version LIMIT :limit;

-- The hashes of a thread's items, with duplicates, in the order of the snapshots.
-- name: archive_item_hashes
-- types: after_id uuid
SELECT s.id, i.sha256 FROM snapshots AS s
{{sqlite: CROSS JOIN snapshot_items AS i ON i.tenant_id = s.tenant_id AND i.snapshot_id = +s.id}}
{{postgres: CROSS JOIN LATERAL (SELECT * FROM snapshot_items AS i WHERE i.tenant_id = s.tenant_id
    AND i.snapshot_id = s.id
    AND i.sha256 > CASE WHEN s.id = :after_id THEN :after_bytes ELSE '' END
    ORDER BY i.sha256 LIMIT :limit) AS i}}
WHERE s.tenant_id = :tenant_id AND s.thread_id = :from AND s.id >= :after_id
    {{sqlite: AND i.sha256 > CASE WHEN s.id = :after_id THEN :after_bytes ELSE x'' END}}
ORDER BY s.id, {{sqlite: s.rowid,}} i.sha256 LIMIT :limit;

-- --- After an INSERT --------------------------------------------------------------------------

-- Activations are added in their order: the last one remains.
-- name: archive_activate
-- types: version text
UPDATE agents SET active_version = :version WHERE tenant_id = :tenant_id AND id = :agent_id;

-- name: archive_note_deleted_agent
-- types: created_at int
INSERT INTO deleted_agents (tenant_id, id, check_at)
SELECT t.id, {{sqlite: :agent_id}}{{postgres: CAST(:agent_id AS uuid)}},
    {{sqlite: :created_at}}{{postgres: CAST(:created_at AS bigint)}} FROM tenants AS t
WHERE t.id = :tenant_id AND NOT EXISTS (SELECT 1 FROM agents AS a
    WHERE a.tenant_id = :tenant_id AND a.id = :agent_id)
ON CONFLICT (tenant_id, id) DO NOTHING;

-- The snapshots that refer to the item may be added in a later transaction, or never.
-- name: archive_doubt_item
-- types: sha256 bytes, created_at int
INSERT INTO item_doubts (tenant_id, sha256, added_at) VALUES (:tenant_id, :sha256, :created_at)
ON CONFLICT (tenant_id, sha256)
{{sqlite: DO NOTHING}}{{postgres: DO UPDATE SET added_at = excluded.added_at}};

-- name: archive_count_run_phase
UPDATE runs SET phase_changes = :number
WHERE tenant_id = :tenant_id AND id = :run_id AND phase_changes < :number;

-- name: archive_count_attempt
-- types: outcome text
UPDATE runs SET attempt_count = {{greatest}}(attempt_count, :number), failed_attempts =
    failed_attempts + CASE WHEN :outcome IN ({{ATTEMPT_FAILED}}, {{ATTEMPT_LEASE_EXPIRED}})
        AND attempt_count < :number THEN 1 ELSE 0 END
WHERE tenant_id = :tenant_id AND id = :run_id;

-- name: archive_count_turn
UPDATE runs SET turn_count = :number
WHERE tenant_id = :tenant_id AND id = :run_id AND turn_count < :number;

-- name: archive_count_step
-- types: lifecycle bool
UPDATE runs SET step_count = :number,
    lifecycle_steps = lifecycle_steps + CASE WHEN :lifecycle THEN 1 ELSE 0 END
WHERE tenant_id = :tenant_id AND id = :run_id AND step_count < :number;

-- --- Conflicts --------------------------------------------------------------------------------

-- name: archive_taken_key
SELECT id FROM threads WHERE tenant_id = :tenant_id AND key = :key
    AND coalesce(key_owner, '') = coalesce(:key_owner, '');

-- A different price with the same name and number, or a price in another currency.
-- name: archive_taken_price
-- types: model text, version int, currency text, deleted bool, input_pico int, output_pico int
-- types: cache_write_pico int, cache_read_pico int, long_context_tokens int, long_input_pico int
-- types: long_output_pico int, long_cache_write_pico int, long_cache_read_pico int
SELECT p.tenant_id FROM prices AS p WHERE p.tenant_id = :tenant_id AND (p.currency <> :currency
    OR (p.model = :model AND p.version = :version AND NOT (p.deleted = :deleted
        AND p.input_pico = :input_pico AND p.output_pico = :output_pico
        AND p.cache_write_pico = :cache_write_pico AND p.cache_read_pico = :cache_read_pico
        AND coalesce(p.long_context_tokens, -1) = coalesce(:long_context_tokens, -1)
        AND coalesce(p.long_input_pico, -1) = coalesce(:long_input_pico, -1)
        AND coalesce(p.long_output_pico, -1) = coalesce(:long_output_pico, -1)
        AND coalesce(p.long_cache_write_pico, -1) = coalesce(:long_cache_write_pico, -1)
        AND coalesce(p.long_cache_read_pico, -1) = coalesce(:long_cache_read_pico, -1))))
LIMIT 1;

-- The item of the vector is missing, or has another vector at this place.
-- name: archive_taken_store_vector
-- types: place int
SELECT t.id FROM tenants AS t WHERE t.id = :tenant_id AND (
    NOT EXISTS (SELECT 1 FROM store_items AS i
        WHERE i.tenant_id = :tenant_id AND i.namespace = :namespace AND i.key = :key)
    OR EXISTS (SELECT 1 FROM store_items AS i
        JOIN store_vectors AS v ON v.tenant_id = i.tenant_id AND v.number = i.number
        WHERE i.tenant_id = :tenant_id AND i.namespace = :namespace AND i.key = :key
            AND v.place = :place));
