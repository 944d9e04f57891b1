-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, from uuid, after_bytes bytes, limit int, key text, run_id uuid
-- types: agent_id uuid, number int, namespace text, key_owner text

-- The statements of archives that cannot be generated from archive.members.

-- --- Content ----------------------------------------------------------------------------------

-- name: archive_blobs_of_tenant
SELECT b.sha256, b.id, b.size_bytes FROM blobs AS b
WHERE b.tenant_id = :tenant_id AND b.sha256 > :after_bytes
    AND EXISTS (SELECT 1 FROM file_versions AS v
        WHERE v.tenant_id = b.tenant_id AND v.sha256 = b.sha256)
ORDER BY b.sha256 LIMIT :limit;

-- name: archive_blobs_of_thread
SELECT DISTINCT b.sha256, b.id, b.size_bytes FROM files AS f
JOIN file_versions AS v ON v.tenant_id = f.tenant_id AND v.file_id = f.id
JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256
WHERE f.tenant_id = :tenant_id AND f.thread_id = :from AND b.sha256 > :after_bytes
ORDER BY b.sha256 LIMIT :limit;

-- --- After an INSERT --------------------------------------------------------------------------

-- Activations are added in their order: the last one remains.
-- name: archive_activate
-- types: version text
UPDATE agents SET active_version = :version WHERE tenant_id = :tenant_id AND id = :agent_id;

-- name: archive_count_run_phase
UPDATE runs SET phase_changes = :number
WHERE tenant_id = :tenant_id AND id = :run_id AND phase_changes < :number;

-- name: archive_count_turn
UPDATE runs SET turn_count = :number
WHERE tenant_id = :tenant_id AND id = :run_id AND turn_count < :number;

-- name: archive_count_step
UPDATE runs SET step_count = :number
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

-- A thread with this id was deleted from the tenant. Its last event, and events that are not
-- deleted yet, would conflict with the imported ones.
-- name: archive_clear_events
DELETE FROM events WHERE tenant_id = :tenant_id AND thread_id = :id;

-- name: archive_clear_garbage
DELETE FROM event_garbage WHERE tenant_id = :tenant_id AND thread_id = :id;
