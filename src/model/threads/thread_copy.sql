-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, source_id uuid, thread_id uuid, id uuid, new_id uuid, principal text
-- types: now int, limit int, last int, event_id int

-- Deleted messages are not copied.
-- name: copy_list_messages
SELECT size_bytes FROM messages
WHERE tenant_id = :tenant_id AND thread_id = :source_id AND deleted_at IS NULL
ORDER BY seq LIMIT :limit;

-- Messages have the same seq in the copy. Those of the copy's own log come behind :last.
-- name: copy_next_messages
SELECT id, size_bytes FROM messages
WHERE tenant_id = :tenant_id AND thread_id = :source_id AND deleted_at IS NULL AND seq <= :last
    AND seq > coalesce((SELECT max(o.seq) FROM messages AS o
        WHERE o.tenant_id = :tenant_id AND o.thread_id = :thread_id AND o.seq <= :last), 0)
ORDER BY seq LIMIT :limit;

-- Messages refer to each other by id; the copies are matched by seq, which is the same in both
-- threads. The sweep adds the words of the copies to the search index.
-- name: copy_message
INSERT INTO messages (event_id, tenant_id, thread_id, seq, id, sender_id, sender_role, type,
    content, content_type, metadata, filenames, responds_to, command, has_debug, created_at,
    updated_at)
SELECT {{sqlite: :event_id}}{{postgres: coalesce(:event_id, nextval('event_ids'))}},
    m.tenant_id, :thread_id, m.seq, :new_id,
    (SELECT n.id FROM participants AS o JOIN participants AS n
        ON n.tenant_id = o.tenant_id AND n.thread_id = :thread_id AND n.principal = o.principal
        WHERE o.tenant_id = :tenant_id AND o.thread_id = :source_id AND o.id = m.sender_id),
    m.sender_role, m.type, m.content, m.content_type, m.metadata, m.filenames,
    (SELECT n.id FROM messages AS o JOIN messages AS n
        ON n.tenant_id = o.tenant_id AND n.thread_id = :thread_id AND n.seq = o.seq
        WHERE o.tenant_id = :tenant_id AND o.id = m.responds_to AND o.thread_id = :source_id),
    m.command, false, m.created_at, m.updated_at
FROM messages AS m
WHERE m.tenant_id = :tenant_id AND m.id = :id AND m.thread_id = :source_id;

-- The content of files is not copied.
-- name: copy_list_files
SELECT {{bytes_of: metadata}} AS size_bytes FROM files
WHERE tenant_id = :tenant_id AND thread_id = :source_id LIMIT :limit;

-- Both engines read the list of NOT IN once. Without statistics, PostgreSQL executes NOT EXISTS row
-- by row, with an index of which all rows of the copy match.
-- define of_copy: (SELECT o.name FROM files AS o
--   | WHERE o.tenant_id = :tenant_id AND o.thread_id = :thread_id)
-- name: copy_next_files
SELECT f.id, {{bytes_of: f.metadata}} AS size_bytes FROM files AS f
WHERE f.tenant_id = :tenant_id AND f.thread_id = :source_id
    AND f.name NOT IN {{of_copy}}
ORDER BY f.name LIMIT :limit;

-- name: copy_file
INSERT INTO files (tenant_id, id, thread_id, name, last_version, current_version, metadata,
    created_at, updated_at)
SELECT tenant_id, :new_id, :thread_id, name, 1, 1, metadata, :now, :now
FROM files WHERE tenant_id = :tenant_id AND id = :id;

-- name: copy_file_version
INSERT INTO file_versions (tenant_id, file_id, version, sha256, size_bytes, content_type,
    created_by, created_at, source_thread_id, source_name, source_version)
SELECT v.tenant_id, :new_id, 1, v.sha256, v.size_bytes, v.content_type, :principal, :now,
    f.thread_id, f.name, v.version
FROM files AS f JOIN file_versions AS v
    ON v.tenant_id = f.tenant_id AND v.file_id = f.id AND v.version = f.current_version
WHERE f.tenant_id = :tenant_id AND f.id = :id;

-- name: copy_list_ends
SELECT name FROM file_ends WHERE tenant_id = :tenant_id AND thread_id = :source_id LIMIT :limit;

-- name: copy_file_ends
INSERT INTO file_ends (tenant_id, thread_id, name, last_version)
SELECT e.tenant_id, :thread_id, e.name, e.last_version FROM file_ends AS e
WHERE e.tenant_id = :tenant_id AND e.thread_id = :source_id
    AND e.name NOT IN {{of_copy}};

-- name: copy_list_states
SELECT v.size_bytes FROM state_documents AS d JOIN state_versions AS v
    ON v.tenant_id = d.tenant_id AND v.state_id = d.id AND v.version = d.version
WHERE d.tenant_id = :tenant_id AND d.thread_id = :source_id AND d.deleted_at IS NULL
LIMIT :limit;

-- name: copy_next_states
SELECT d.id, v.size_bytes FROM state_documents AS d JOIN state_versions AS v
    ON v.tenant_id = d.tenant_id AND v.state_id = d.id AND v.version = d.version
WHERE d.tenant_id = :tenant_id AND d.thread_id = :source_id AND d.deleted_at IS NULL
    AND (d.agent_id, d.kind, d.name) NOT IN (SELECT o.agent_id, o.kind, o.name
        FROM state_documents AS o {{sqlite: INDEXED BY state_documents_by_thread}}
        WHERE o.tenant_id = :tenant_id AND o.thread_id = :thread_id)
ORDER BY d.id LIMIT :limit;

-- name: copy_state
INSERT INTO state_documents (tenant_id, id, kind, agent_id, thread_id, name, created_at, updated_at)
SELECT tenant_id, :new_id, kind, agent_id, :thread_id, name, :now, :now
FROM state_documents WHERE tenant_id = :tenant_id AND id = :id;

-- name: copy_state_version
INSERT INTO state_versions (tenant_id, state_id, version, description, data, json_schema,
    ui_schema, created_by, created_at)
SELECT v.tenant_id, :new_id, 1, v.description, v.data, v.json_schema, v.ui_schema, :principal, :now
FROM state_documents AS d JOIN state_versions AS v
    ON v.tenant_id = d.tenant_id AND v.state_id = d.id AND v.version = d.version
WHERE d.tenant_id = :tenant_id AND d.id = :id;

-- --- The participant of the copy ---------------------------------------------------------------

-- name: copy_hide
UPDATE participants SET active = {{sqlite: 0}}{{postgres: false}}
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND principal = :principal;

-- name: copy_show
UPDATE participants SET active = {{sqlite: 1}}{{postgres: true}}
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND principal = :principal;
