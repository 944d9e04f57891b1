-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, thread_id uuid, run_id uuid, before uuid, status text, title text
-- types: agent text, run_policy text, metadata json, error json, context json, preferences json
-- types: important_steps json, prune_on_completion bool, event_max_age_s int, created_after int
-- types: created_before int, title_like text, key text, value text, now int, limit int
-- types: key_owner text, key_1 text, key_2 text, key_3 text, key_4 text
-- types: principal text, seq int, value_1 text, value_2 text, value_3 text, value_4 text

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define thread_before: t.id, t.key, t.key_owner, t.status, t.title, t.agent
-- define thread_after: t.metadata, t.error, t.most_recent_run_id, t.run_policy,
--   | t.prune_on_completion, t.event_max_age_s,
--   | {{sqlite: max(t.last_seq, coalesce((SELECT max(i.seq) FROM event_index AS i
--   | WHERE i.tenant_id = t.tenant_id AND i.thread_id = t.id), 0)) AS last_seq}}{{postgres:
--   | t.last_seq}},
--   | t.pruned_seq, t.pruned_event_id, t.created_at, t.updated_at, t.version
-- define thread_head: {{thread_before}}, NULL AS context, NULL AS preferences,
--   | NULL AS important_steps, {{thread_after}}
-- define thread_whole: {{thread_before}}, d.context, d.preferences, d.important_steps,
--   | {{thread_after}}
-- define with_documents: JOIN thread_documents AS d
--   | ON d.tenant_id = t.tenant_id AND d.thread_id = t.id

-- define thread_conditions: coalesce(t.status = :status, :status IS NULL)
--   | AND coalesce(t.agent = :agent, :agent IS NULL)
--   | AND coalesce(t.created_at >= :created_after, :created_after IS NULL)
--   | AND coalesce(t.created_at < :created_before, :created_before IS NULL)
--   | AND coalesce(t.title {{like}} :title_like ESCAPE '!', :title_like IS NULL)
--   | AND (:key_2 IS NULL OR EXISTS (SELECT 1 FROM thread_metadata AS n
--   | WHERE n.tenant_id = t.tenant_id AND n.key = :key_2 AND n.value = :value_2
--   | AND n.thread_id = t.id))
--   | AND (:key_3 IS NULL OR EXISTS (SELECT 1 FROM thread_metadata AS n
--   | WHERE n.tenant_id = t.tenant_id AND n.key = :key_3 AND n.value = :value_3
--   | AND n.thread_id = t.id))
--   | AND (:key_4 IS NULL OR EXISTS (SELECT 1 FROM thread_metadata AS n
--   | WHERE n.tenant_id = t.tenant_id AND n.key = :key_4 AND n.value = :value_4
--   | AND n.thread_id = t.id))
-- define from_all: FROM threads AS t
-- define where_all: WHERE t.tenant_id = :tenant_id AND t.id < {{before}}
--   | AND {{thread_conditions}} ORDER BY t.id DESC LIMIT :limit
-- define from_metadata: FROM thread_metadata AS m
--   | JOIN threads AS t ON t.tenant_id = m.tenant_id AND t.id = m.thread_id
-- define where_metadata: WHERE m.tenant_id = :tenant_id AND m.key = :key_1 AND m.value = :value_1
--   | AND m.thread_id < {{before}}
--   | AND {{thread_conditions}} ORDER BY m.thread_id DESC LIMIT :limit

-- define from_principal: FROM participants AS p
--   | JOIN threads AS t ON t.tenant_id = p.tenant_id AND t.id = p.thread_id
-- define where_principal: WHERE p.tenant_id = :tenant_id AND p.principal = :principal AND p.active
--   | AND p.thread_id < {{before}}
--   | AND (:key_1 IS NULL OR EXISTS (SELECT 1 FROM thread_metadata AS n
--   | WHERE n.tenant_id = t.tenant_id AND n.key = :key_1 AND n.value = :value_1
--   | AND n.thread_id = t.id))
--   | AND {{thread_conditions}} ORDER BY p.thread_id DESC LIMIT :limit

-- A principal has a namespace of keys, and sees the tenant's beside it.
-- define has_key: coalesce(t.key_owner, '') IN ('', coalesce(:principal, ''))
-- define where_key: WHERE t.tenant_id = :tenant_id AND t.key = :key AND {{has_key}}
--   | AND t.id < {{before}}
--   | AND (:principal IS NULL OR EXISTS (SELECT 1 FROM participants AS p
--   | WHERE p.tenant_id = t.tenant_id AND p.thread_id = t.id AND p.principal = :principal
--   | AND p.active))
--   | AND (:key_1 IS NULL OR EXISTS (SELECT 1 FROM thread_metadata AS n
--   | WHERE n.tenant_id = t.tenant_id AND n.key = :key_1 AND n.value = :value_1
--   | AND n.thread_id = t.id))
--   | AND {{thread_conditions}} ORDER BY t.id DESC LIMIT :limit

-- define insert_thread: INSERT INTO threads (tenant_id, id, key, key_owner, status, title, agent,
--   | metadata, error, run_policy, prune_on_completion, event_max_age_s, created_at, updated_at)
--   | VALUES (:tenant_id, :id, :key, :key_owner, :status, :title, :agent, :metadata, :error,
--   | :run_policy, :prune_on_completion, :event_max_age_s, :now, :now)

-- reads thread_read: struct thread from {{thread_whole}}
-- binds thread_bind: struct thread for thread_insert
-- compares thread_differences: struct thread for thread_update, thread_update_documents
--   | except id, status

-- name: thread_insert
{{insert_thread}};

-- Waits for a concurrent insert of the same key, then inserts nothing.
-- name: thread_insert_keyed
{{insert_thread}} ON CONFLICT (tenant_id, key, (coalesce(key_owner, '')))
WHERE key IS NOT NULL DO NOTHING;

-- name: thread_id_of_key
SELECT id FROM threads WHERE tenant_id = :tenant_id AND key = :key
    AND coalesce(key_owner, '') = coalesce(:key_owner, '');

-- name: thread_insert_documents
INSERT INTO thread_documents (tenant_id, thread_id, context, preferences, important_steps)
VALUES (:tenant_id, :id, :context, :preferences, :important_steps);

-- The log starts after this number, as if all earlier events had been pruned.
-- name: thread_begin_after
UPDATE threads SET last_seq = :seq, pruned_seq = :seq WHERE tenant_id = :tenant_id AND id = :id;

-- The row of the thread is the lock for everything in the thread.
-- name: thread_lock
{{postgres:
SELECT 1 FROM threads WHERE tenant_id = :tenant_id AND id = :id FOR NO KEY UPDATE;
}}

-- name: thread_get
SELECT {{thread_whole}} FROM threads AS t {{with_documents}}
WHERE t.tenant_id = :tenant_id AND t.id = :id;

-- name: thread_get_by_key
SELECT {{thread_whole}} FROM threads AS t {{with_documents}}
WHERE t.tenant_id = :tenant_id AND t.key = :key
    AND coalesce(t.key_owner, '') = coalesce(:key_owner, '');

-- name: thread_get_head
SELECT {{thread_head}} FROM threads AS t WHERE t.tenant_id = :tenant_id AND t.id = :id;

-- Lists have no documents unless the client requests them. A metadata filter uses the metadata
-- index.
-- name: thread_list
-- page: id DESC
SELECT t.size_bytes, {{thread_head}} {{from_all}} {{where_all}};

-- name: thread_list_whole
-- page: id DESC
SELECT t.size_bytes + d.size_bytes AS size_bytes, {{thread_whole}}
{{from_all}} {{with_documents}} {{where_all}};

-- name: thread_list_by_metadata
-- page: id DESC
SELECT t.size_bytes, {{thread_head}} {{from_metadata}} {{where_metadata}};

-- name: thread_list_by_metadata_whole
-- page: id DESC
SELECT t.size_bytes + d.size_bytes AS size_bytes, {{thread_whole}}
{{from_metadata}} {{with_documents}} {{where_metadata}};

-- The threads in which a principal participates.
-- name: thread_list_of_principal
-- page: id DESC
SELECT t.size_bytes, {{thread_head}} {{from_principal}} {{where_principal}};

-- name: thread_list_of_principal_whole
-- page: id DESC
SELECT t.size_bytes + d.size_bytes AS size_bytes, {{thread_whole}}
{{from_principal}} {{with_documents}} {{where_principal}};

-- name: thread_list_by_key
-- page: id DESC
SELECT t.size_bytes, {{thread_head}} {{from_all}} {{where_key}};

-- name: thread_list_by_key_whole
-- page: id DESC
SELECT t.size_bytes + d.size_bytes AS size_bytes, {{thread_whole}}
{{from_all}} {{with_documents}} {{where_key}};

-- name: thread_update
UPDATE threads SET key = :key, key_owner = :key_owner, status = :status, title = :title,
    agent = :agent, metadata = :metadata, error = :error, run_policy = :run_policy,
    prune_on_completion = :prune_on_completion, event_max_age_s = :event_max_age_s,
    updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: thread_update_documents
UPDATE thread_documents SET context = :context, preferences = :preferences,
    important_steps = :important_steps
WHERE tenant_id = :tenant_id AND thread_id = :id;

-- name: thread_set_recent_run
UPDATE threads SET most_recent_run_id = :run_id, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: thread_delete
DELETE FROM threads WHERE tenant_id = :tenant_id AND id = :id;

-- name: thread_metadata_clear
DELETE FROM thread_metadata WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: thread_metadata_add
INSERT INTO thread_metadata (tenant_id, key, value, thread_id)
VALUES (:tenant_id, :key, :value, :thread_id);

-- Saves the documents before the first change by the active run.
-- name: thread_undo_save
INSERT INTO run_undo (tenant_id, run_id, context, preferences, important_steps, metadata)
SELECT t.tenant_id, r.id, d.context, d.preferences, d.important_steps, t.metadata
FROM threads AS t {{with_documents}}
JOIN runs AS r ON r.tenant_id = t.tenant_id AND r.thread_id = t.id
WHERE t.tenant_id = :tenant_id AND t.id = :id AND r.parent_run_id IS NULL
    AND r.status NOT IN ({{FINAL_RUN_STATUSES}}) AND r.status <> {{RUN_QUEUED}}
ORDER BY r.id LIMIT 1
ON CONFLICT DO NOTHING;

-- name: thread_undo_get
SELECT context, preferences, important_steps, metadata FROM run_undo
WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- name: thread_undo_drop
DELETE FROM run_undo WHERE tenant_id = :tenant_id AND run_id = :run_id;
