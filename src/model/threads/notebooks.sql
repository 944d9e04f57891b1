-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, before uuid, thread_id uuid, number int, title text
-- types: description text, instructions text, metadata json, now int, limit int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define sessions: (SELECT count(*) FROM notebook_threads AS s
--   | WHERE s.tenant_id = n.tenant_id AND s.notebook_id = n.id)
-- define notebook_after: n.metadata, {{sessions}}, n.created_at, n.updated_at, n.version
-- define notebook_columns: n.id, n.number, n.title, n.description, n.instructions, n.metadata,
--   | {{sessions}} AS sessions, n.created_at, n.updated_at, n.version
-- define notebook_whole: SELECT {{notebook_columns}} FROM notebook_records AS n

-- reads notebook_read: struct notebook from {{notebook_columns}}

-- name: notebook_get
{{notebook_whole}} WHERE n.tenant_id = :tenant_id AND n.id = :id;

-- name: notebook_by_number
SELECT id FROM notebook_records WHERE tenant_id = :tenant_id AND number = :number;

-- name: notebook_of_thread
{{notebook_whole}} WHERE n.tenant_id = :tenant_id AND n.id = (
    SELECT l.notebook_id FROM notebook_threads AS l
    WHERE l.tenant_id = :tenant_id AND l.thread_id = :thread_id);

-- name: notebook_list
SELECT n.id, n.number, n.title, n.description, NULL, {{notebook_after}}
FROM notebook_records AS n WHERE n.tenant_id = :tenant_id AND n.id < {{before}}
ORDER BY n.id DESC LIMIT :limit;

-- name: notebook_insert
INSERT INTO notebook_records (tenant_id, id, number, title, description, instructions, metadata,
    created_at, updated_at)
SELECT :tenant_id, :id, coalesce(max(number), 0) + 1, :title, :description, :instructions,
    :metadata, :now, :now
FROM notebook_records WHERE tenant_id = :tenant_id;

-- name: notebook_update
UPDATE notebook_records SET title = :title, description = :description,
    instructions = :instructions, metadata = :metadata, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: notebook_delete
DELETE FROM notebook_records WHERE tenant_id = :tenant_id AND id = :id;

-- define session_columns: l.notebook_id, l.thread_id, l.number, t.title, t.status, l.created_at
-- reads notebook_session_read: struct notebook_session from {{session_columns}}
-- define session: SELECT {{session_columns}}
--   | FROM notebook_threads AS l
--   | JOIN threads AS t ON t.tenant_id = l.tenant_id AND t.id = l.thread_id

-- name: notebook_session_of_thread
{{session}} WHERE l.tenant_id = :tenant_id AND l.thread_id = :thread_id;

-- name: notebook_session_list
{{session}} WHERE l.tenant_id = :tenant_id AND l.notebook_id = :id AND l.number < :number
ORDER BY l.number DESC LIMIT :limit;

-- name: notebook_session_insert
INSERT INTO notebook_threads (tenant_id, notebook_id, thread_id, number, created_at)
SELECT :tenant_id, :id, :thread_id, coalesce(max(number), 0) + 1, :now
FROM notebook_threads WHERE tenant_id = :tenant_id;

-- name: notebook_session_delete
DELETE FROM notebook_threads
WHERE tenant_id = :tenant_id AND notebook_id = :id AND thread_id = :thread_id;
