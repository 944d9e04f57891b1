-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, namespace text, key text, value json, size_bytes int, now int
-- types: expires_at int, number int, numbers json, from text, above text, before_at int
-- types: before_number int, limit int, words text, match text, is_searchable bool

-- define columns: i.number, i.namespace AS ns, i.key, i.value, i.size_bytes, i.created_at,
--   | i.updated_at, i.expires_at, i.version
-- reads memory_item_of_row: struct memory_item from {{columns}}
-- define live: (i.expires_at IS NULL OR i.expires_at > :now)
-- define under: i.tenant_id = :tenant_id AND i.namespace >= :from AND i.namespace < :above
-- define by_number: {{sqlite: INDEXED BY store_items_by_number}}
-- define yes: {{sqlite: 1}}{{postgres: true}}

-- name: memory_item_get
SELECT {{columns}} FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND i.namespace = :namespace AND i.key = :key AND {{live}};

-- Also returns an expired item, whose key is still taken, and locks it for a change.
-- name: memory_item_find
SELECT i.number, i.created_at, i.expires_at, i.version FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND i.namespace = :namespace AND i.key = :key
{{postgres: FOR NO KEY UPDATE}};

-- On PostgreSQL, returns no row if another writer inserted the item first.
-- name: memory_item_insert
INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at, updated_at, expires_at,
    is_searchable, value)
VALUES (:tenant_id, :namespace, :key, :size_bytes, :now, :now, :expires_at, :is_searchable, :value)
{{postgres: ON CONFLICT DO NOTHING}}
RETURNING number;

-- name: memory_item_update
UPDATE store_items {{by_number}} SET value = :value, size_bytes = :size_bytes, updated_at = :now,
    expires_at = :expires_at, is_searchable = :is_searchable, version = version + 1
WHERE tenant_id = :tenant_id AND number = :number;

-- name: memory_item_delete
DELETE FROM store_items {{by_number}} WHERE tenant_id = :tenant_id AND number = :number;

-- --- Search -----------------------------------------------------------------------------------

-- name: memory_item_page
SELECT i.number, i.updated_at, i.size_bytes FROM store_items AS i
WHERE {{under}} AND (i.updated_at, i.number) < (:before_at, :before_number) AND {{live}}
ORDER BY i.updated_at DESC, i.number DESC LIMIT :limit;

-- With an array, PostgreSQL uses the index instead of a scan of all items.
-- name: memory_item_read
SELECT {{columns}} FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND i.number
    {{sqlite: IN (SELECT value FROM json_each(:numbers))}}
    {{postgres: = ANY (ARRAY(SELECT v::bigint FROM json_array_elements_text(:numbers) AS v))}}
    AND {{live}};

-- The items that match the words. The index has the words of the previous value of an item that is
-- not searchable. The inner LIMIT also prevents a scan of all items by PostgreSQL.
-- name: memory_word_find
{{sqlite:
SELECT i.number, i.updated_at, i.size_bytes
FROM store_words AS f CROSS JOIN store_items AS i ON i.number = f.rowid
WHERE f.store_words MATCH :match AND {{under}} AND {{live}} AND i.is_searchable
ORDER BY f.rowid DESC LIMIT :limit;
}}{{postgres:
SELECT i.number, i.updated_at, i.size_bytes
FROM (SELECT tenant_id, number FROM store_words
    WHERE tenant_id = :tenant_id AND words @@ CAST(:match AS tsquery)
    ORDER BY number DESC LIMIT :limit) AS w
JOIN store_items AS i ON i.tenant_id = w.tenant_id AND i.number = w.number
WHERE {{under}} AND {{live}} AND i.is_searchable ORDER BY i.number DESC;
}}

-- The namespaces that have items. Each step finds the next namespace by the index.
-- define first_behind: SELECT min(i.namespace) FROM store_items AS i
--   | WHERE i.tenant_id = :tenant_id AND i.namespace < :above AND {{live}}
-- name: memory_namespaces
WITH RECURSIVE n (namespace) AS (
    SELECT ({{first_behind}} AND i.namespace >= :from)
    UNION ALL
    SELECT ({{first_behind}} AND i.namespace > n.namespace) FROM n WHERE n.namespace IS NOT NULL)
SELECT n.namespace FROM n WHERE n.namespace IS NOT NULL LIMIT :limit;

-- --- Words ------------------------------------------------------------------------------------

-- As message_words_put.
-- name: memory_words_put
{{sqlite:
REPLACE INTO store_words (rowid, words) VALUES (:number,
    CASE WHEN :tenant_id IS NOT NULL THEN :words END);
}}{{postgres:
INSERT INTO store_words (tenant_id, number, words)
VALUES (:tenant_id, :number, CAST(:words AS tsvector))
ON CONFLICT (tenant_id, number) DO UPDATE SET words = excluded.words;
}}

-- PostgreSQL cascades.
-- name: memory_words_drop
{{sqlite: DELETE FROM store_words WHERE rowid = :number AND :tenant_id IS NOT NULL;}}

-- --- The sweep --------------------------------------------------------------------------------

-- name: memory_first_expired
SELECT tenant_id FROM store_items WHERE expires_at <= :now ORDER BY expires_at LIMIT 1;

-- The numbers, and the cost of each deletion in bytes. A byte in the index of words takes about as
-- long as 16 bytes in a row.
-- name: memory_list_expired
SELECT number, size_bytes + coalesce((SELECT sum(length(v.bytes)) FROM store_vectors AS v
        WHERE v.tenant_id = store_items.tenant_id AND v.number = store_items.number), 0)
    {{sqlite: + 16 * coalesce((SELECT length(CAST(f.words AS BLOB)) FROM store_words AS f
        WHERE f.rowid = store_items.number), 0)}}
FROM store_items {{sqlite: INDEXED BY store_items_by_expiry}}
WHERE tenant_id = :tenant_id AND expires_at <= :now
ORDER BY expires_at LIMIT :limit {{postgres: FOR UPDATE}};

-- name: memory_first_unsearchable
SELECT tenant_id FROM store_items WHERE NOT is_searchable ORDER BY tenant_id, number LIMIT 1;

-- name: memory_next_unsearchable
SELECT {{columns}} FROM store_items AS i
WHERE i.tenant_id = :tenant_id AND NOT i.is_searchable ORDER BY i.number LIMIT 1
{{postgres: FOR NO KEY UPDATE}};

-- name: memory_set_searchable
UPDATE store_items {{by_number}} SET is_searchable = {{yes}}
WHERE tenant_id = :tenant_id AND number = :number;
