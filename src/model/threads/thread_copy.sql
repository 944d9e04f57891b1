-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, source_id uuid, thread_id uuid, id uuid, new_id uuid, principal text
-- types: now int, limit int, event_id int

-- Deleted messages are not copied.
-- name: copy_list_messages
SELECT id FROM messages
WHERE tenant_id = :tenant_id AND thread_id = :source_id AND deleted_at IS NULL
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

-- name: copy_list_files
SELECT id FROM files WHERE tenant_id = :tenant_id AND thread_id = :source_id LIMIT :limit;

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

-- name: copy_file_ends
INSERT INTO file_ends (tenant_id, thread_id, name, last_version)
SELECT tenant_id, :thread_id, name, last_version FROM file_ends
WHERE tenant_id = :tenant_id AND thread_id = :source_id;

-- name: copy_list_states
SELECT id FROM state_documents
WHERE tenant_id = :tenant_id AND thread_id = :source_id AND deleted_at IS NULL LIMIT :limit;

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
