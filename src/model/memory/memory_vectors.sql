-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, number int, numbers json, place int, path text, dimensions int
-- types: bytes bytes, from text, above text, now int, limit int

-- name: memory_vector_insert
INSERT INTO store_vectors (tenant_id, number, place, path, dimensions, bytes)
VALUES (:tenant_id, :number, :place, :path, :dimensions, :bytes);

-- name: memory_vector_drop
DELETE FROM store_vectors WHERE tenant_id = :tenant_id AND number = :number;

-- The items that have vectors.
-- name: memory_vector_items
SELECT i.number, i.updated_at, i.size_bytes FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND i.namespace >= :from AND i.namespace < :above
    AND (i.expires_at IS NULL OR i.expires_at > :now)
    AND EXISTS (SELECT 1 FROM store_vectors AS v
        WHERE v.tenant_id = i.tenant_id AND v.number = i.number)
LIMIT :limit;

-- name: memory_vector_read
SELECT v.number, v.dimensions, v.bytes FROM store_vectors AS v
WHERE v.tenant_id = :tenant_id AND v.number
    {{sqlite: IN (SELECT value FROM json_each(:numbers))}}
    {{postgres: = ANY (ARRAY(SELECT n::bigint FROM json_array_elements_text(:numbers) AS n))}};
