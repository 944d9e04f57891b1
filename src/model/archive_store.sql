-- types: tenant_id uuid, after_n int, limit int, namespace text, key text, value json
-- types: created_at int, updated_at int, expires_at int, version int

-- The store in archives; see archive.sql.

-- define last: store_items AS o {{sqlite: INDEXED BY store_items_by_number}}
--   | WHERE o.tenant_id = :tenant_id AND o.number = :after_n

-- name: archive_store_of_tenant
SELECT i.number, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.expires_at, i.version
FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND (i.namespace, i.key) > (
    coalesce((SELECT o.namespace FROM {{last}}), ''),
    coalesce((SELECT o.key FROM {{last}}), ''))
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
