-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, seq int, id uuid, event_id int, sender_id uuid
-- types: sender_role text, type text, content text, content_type text, metadata json
-- types: filenames json, run_id uuid, responds_to uuid, addressed_to uuid, command json
-- types: has_debug bool, with_debug bool, debug json, now int, deleted_at int, after int
-- types: before int, limit int, words text, match text, principal text, is_searchable bool

-- define message_columns: m.id, m.thread_id, m.seq, m.event_id, m.sender_id, m.sender_role,
--   | m.type, m.content, m.content_type, m.metadata, m.filenames, m.run_id, m.responds_to,
--   | m.addressed_to, m.command, m.has_debug, m.deleted_at, m.created_at, m.updated_at, m.version
-- define debug_if_asked: LEFT JOIN message_debug AS d
--   | ON :with_debug AND d.tenant_id = m.tenant_id AND d.message_id = m.id

-- define between: m.tenant_id = :tenant_id AND m.thread_id = :thread_id
--   | AND m.seq > :after AND m.seq < :before
--   | AND coalesce(m.type = :type, :type IS NULL)
--   | AND coalesce(m.sender_id = :sender_id, :sender_id IS NULL)

-- define found: {{sqlite: m}}{{postgres: w}}
-- define takes_part: (:principal IS NULL OR EXISTS (SELECT 1 FROM participants AS p
--   | WHERE p.tenant_id = {{found}}.tenant_id AND p.thread_id = {{found}}.thread_id
--   | AND p.principal = :principal AND p.active))

-- binds message_bind_insert: struct message for message_insert
-- binds message_bind_update: struct message for message_update
-- reads message_read: struct message from {{message_columns}}, debug

-- name: message_insert
INSERT INTO messages (event_id, tenant_id, thread_id, seq, id, sender_id, sender_role, type,
    content, content_type, metadata, filenames, run_id, responds_to, addressed_to, command,
    has_debug, is_searchable, created_at, updated_at)
VALUES (:event_id, :tenant_id, :thread_id, :seq, :id, :sender_id, :sender_role, :type,
    :content, :content_type, :metadata, :filenames, :run_id, :responds_to, :addressed_to, :command,
    :has_debug, :is_searchable, :now, :now);

-- name: message_get
SELECT {{message_columns}}, d.debug FROM messages AS m {{debug_if_asked}}
WHERE m.tenant_id = :tenant_id AND m.thread_id = :thread_id AND m.id = :id;

-- name: message_type_of
SELECT type FROM messages
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id = :id;

-- name: message_responses
SELECT id FROM messages WHERE tenant_id = :tenant_id AND responds_to = :id
ORDER BY seq LIMIT :limit;

-- name: message_list_up
-- page: seq
SELECT m.size_bytes + coalesce(d.size_bytes, 0) AS size_bytes, {{message_columns}}, d.debug
FROM messages AS m {{debug_if_asked}} WHERE {{between}} ORDER BY m.seq LIMIT :limit;

-- name: message_list_down
-- page: seq DESC
SELECT m.size_bytes + coalesce(d.size_bytes, 0) AS size_bytes, {{message_columns}}, d.debug
FROM messages AS m {{debug_if_asked}} WHERE {{between}}
ORDER BY m.seq DESC LIMIT :limit;

-- Uses the index on run_id.
-- name: message_list_run_up
-- page: seq
SELECT m.size_bytes + coalesce(d.size_bytes, 0) AS size_bytes, {{message_columns}}, d.debug
FROM messages AS m {{debug_if_asked}} WHERE m.run_id = :run_id AND {{between}}
ORDER BY m.seq LIMIT :limit;

-- name: message_list_run_down
-- page: seq DESC
SELECT m.size_bytes + coalesce(d.size_bytes, 0) AS size_bytes, {{message_columns}}, d.debug
FROM messages AS m {{debug_if_asked}} WHERE m.run_id = :run_id AND {{between}}
ORDER BY m.seq DESC LIMIT :limit;

-- name: message_update
UPDATE messages SET content = :content, content_type = :content_type, metadata = :metadata,
    filenames = :filenames, has_debug = :has_debug, deleted_at = :deleted_at, updated_at = :now,
    version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: message_debug_put
INSERT INTO message_debug (tenant_id, message_id, debug) VALUES (:tenant_id, :id, :debug)
ON CONFLICT (tenant_id, message_id) DO UPDATE SET debug = excluded.debug;

-- name: message_debug_drop
DELETE FROM message_debug WHERE tenant_id = :tenant_id AND message_id = :id;

-- name: message_version_keep
INSERT INTO message_versions (tenant_id, message_id, version, content, content_type, metadata,
    filenames, debug, created_at)
SELECT m.tenant_id, m.id, m.version, m.content, m.content_type, m.metadata, m.filenames, d.debug,
    m.updated_at
FROM messages AS m
LEFT JOIN message_debug AS d ON d.tenant_id = m.tenant_id AND d.message_id = m.id
WHERE m.tenant_id = :tenant_id AND m.id = :id;

-- define version_columns: m.version, m.content, m.content_type, m.metadata, m.filenames,
--   | m.created_at
-- reads message_version_read: struct message_version from {{version_columns}}
-- name: message_version_list
-- page: version DESC
SELECT m.size_bytes, {{version_columns}},
    CASE WHEN :with_debug THEN m.debug END AS debug
FROM message_versions AS m
WHERE m.tenant_id = :tenant_id AND m.message_id = :id AND m.version < :before
ORDER BY m.version DESC LIMIT :limit;

-- A statement that inserts at most one row opens no savepoint, at which FTS5 would write a segment
-- for each message. A failure is undone with the job, which has changed the message before.
-- name: message_words_put
{{sqlite:
REPLACE INTO message_words (rowid, words) VALUES (:event_id,
    CASE WHEN :tenant_id IS NOT NULL AND :thread_id IS NOT NULL AND :id IS NOT NULL
        THEN :words END);
}}{{postgres:
INSERT INTO message_words (tenant_id, event_id, thread_id, message_id, words)
VALUES (:tenant_id, :event_id, :thread_id, :id, CAST(:words AS tsvector))
ON CONFLICT (tenant_id, event_id) DO UPDATE SET words = excluded.words;
}}

-- name: message_words_drop
DELETE FROM message_words
WHERE {{sqlite: rowid = :event_id AND :tenant_id IS NOT NULL}}{{postgres:
    tenant_id = :tenant_id AND event_id = :event_id}};

-- SQLite's index returns matches newest first. PostgreSQL's index returns all matches, which are
-- sorted before a message is read; OFFSET 0 prevents a scan of all messages instead.
-- name: message_search
-- page: event_id DESC
{{sqlite:
SELECT m.size_bytes, {{message_columns}}, NULL AS debug
FROM message_words AS f CROSS JOIN messages AS m ON m.event_id = f.rowid
WHERE f.words MATCH :match AND f.rowid < :before
    AND m.tenant_id = :tenant_id AND coalesce(m.thread_id = :thread_id, :thread_id IS NULL)
    AND {{takes_part}}
ORDER BY f.rowid DESC LIMIT :limit;
}}{{postgres:
SELECT m.size_bytes, {{message_columns}}, NULL::json AS debug
FROM (SELECT w.tenant_id, w.message_id, w.event_id
    FROM (SELECT tenant_id, thread_id, message_id, event_id FROM message_words
        WHERE tenant_id = :tenant_id AND words @@ CAST(:match AS tsquery) AND event_id < :before
        OFFSET 0) AS w
    WHERE {{takes_part}} AND coalesce(w.thread_id = :thread_id, :thread_id IS NULL)
    ORDER BY w.event_id DESC LIMIT :limit) AS w
JOIN messages AS m ON m.tenant_id = w.tenant_id AND m.id = w.message_id
ORDER BY m.event_id DESC;
}}

-- name: message_first_unsearchable
SELECT tenant_id, thread_id FROM messages WHERE NOT is_searchable
ORDER BY tenant_id, thread_id, seq LIMIT 1;

-- name: message_next_unsearchable
SELECT {{message_columns}}, NULL AS debug FROM messages AS m
WHERE m.tenant_id = :tenant_id AND m.thread_id = :thread_id AND NOT m.is_searchable
ORDER BY m.seq LIMIT 1;

-- name: message_set_searchable
UPDATE messages SET is_searchable = {{sqlite: 1}}{{postgres: true}}
WHERE tenant_id = :tenant_id AND id = :id;
