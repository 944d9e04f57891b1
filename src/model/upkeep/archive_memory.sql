-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, after_n int, limit int, namespace text, key text, value json
-- types: created_at int, updated_at int, expires_at int, version int

-- The store in archives; see archive.sql.

-- Where the page before ended. A coalesce around it would keep PostgreSQL, behind its row-level
-- security, from going on there by the index.
-- define of_last: FROM store_items AS o {{sqlite: INDEXED BY store_items_by_number}}
--   | WHERE o.tenant_id = :tenant_id AND o.number = :after_n
-- define last: (SELECT coalesce(max(o.namespace), '') {{of_last}}),
--   | (SELECT coalesce(max(o.key), '') {{of_last}})

-- name: archive_store_of_tenant
SELECT i.number, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.expires_at, i.version
FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND (i.namespace, i.key) > ({{last}})
ORDER BY i.namespace, i.key LIMIT :limit;

-- name: archive_taken_store_item
SELECT tenant_id FROM store_items
WHERE tenant_id = :tenant_id AND namespace = :namespace AND key = :key;

-- The sweep finds its words.
-- name: archive_add_store_item
INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at, updated_at, expires_at,
    version, value)
VALUES (:tenant_id, :namespace, :key, {{sqlite: length(CAST(:value AS BLOB))}}{{postgres:
    octet_length(CAST(:value AS text))}}, :created_at, :updated_at, :expires_at, :version, :value);

-- Vectors come behind their items, which are there by then.
-- name: archive_store_vectors_of_tenant
-- types: after_m int
SELECT i.number, i.namespace, i.key, v.place, v.path, v.bytes
FROM store_items AS i
JOIN store_vectors AS v ON v.tenant_id = i.tenant_id AND v.number = i.number
WHERE i.tenant_id = :tenant_id AND (i.namespace, i.key) >= ({{last}})
    AND (i.number <> :after_n OR v.place > :after_m)
ORDER BY i.namespace, i.key, v.place LIMIT :limit;

-- What is in its way: that its item is not there, or has a vector in this place.
-- name: archive_taken_store_vector
-- types: place int
SELECT t.id FROM tenants AS t WHERE t.id = :tenant_id AND (
    NOT EXISTS (SELECT 1 FROM store_items AS i
        WHERE i.tenant_id = :tenant_id AND i.namespace = :namespace AND i.key = :key)
    OR EXISTS (SELECT 1 FROM store_items AS i
        JOIN store_vectors AS v ON v.tenant_id = i.tenant_id AND v.number = i.number
        WHERE i.tenant_id = :tenant_id AND i.namespace = :namespace AND i.key = :key
            AND v.place = :place));

-- name: archive_add_store_vector
-- types: place int, path text, bytes bytes
INSERT INTO store_vectors (tenant_id, number, place, path, dimensions, bytes)
SELECT i.tenant_id, i.number, :place, :path,
    {{sqlite: length(:bytes)}}{{postgres: octet_length(:bytes)}} / 4, :bytes
FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND i.namespace = :namespace AND i.key = :key;
