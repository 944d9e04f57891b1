-- SPDX-License-Identifier: Apache-2.0
-- The slices of a thread's deletion: each statement deletes at most :limit rows of the thread, in
-- the order in which the statement before it selects their sizes (struct slice_part).
-- types: tenant_id uuid, owner_id uuid, thread_id uuid, limit int, window int

-- define some: {{sqlite: rowid IN (SELECT rowid}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
-- define of_these: {{sqlite: )}}{{postgres: ))}}
-- define of_thread: WHERE tenant_id = :tenant_id AND thread_id = :owner_id
-- define of_first_messages: WHERE tenant_id = :tenant_id AND message_id IN (SELECT id FROM messages
--   | {{of_thread}} ORDER BY seq LIMIT :window) LIMIT :limit
-- define of_first_runs: WHERE tenant_id = :tenant_id AND run_id IN (SELECT id FROM runs
--   | {{of_thread}} ORDER BY id LIMIT :window) LIMIT :limit
-- define of_first_shares: WHERE tenant_id = :tenant_id AND share_id IN (SELECT id FROM shares
--   | {{of_thread}} ORDER BY id LIMIT :window) LIMIT :limit
-- define of_first_states: WHERE tenant_id = :tenant_id AND state_id IN (SELECT id
--   | FROM state_documents {{of_thread}} ORDER BY id LIMIT :window) LIMIT :limit

-- name: thread_weigh_message_versions
{{sqlite: SELECT size_bytes FROM message_versions {{of_first_messages}};}}

-- name: thread_delete_message_versions
DELETE FROM message_versions WHERE {{some}} FROM message_versions
    {{of_first_messages}}{{of_these}};

-- A byte in the index of words takes about as long as 16 bytes in a row.
-- name: thread_weigh_messages
{{sqlite:
SELECT size_bytes + coalesce((SELECT d.size_bytes FROM message_debug AS d
        WHERE d.tenant_id = messages.tenant_id AND d.message_id = messages.id), 0)
    + 16 * coalesce((SELECT length(CAST(f.words AS BLOB)) FROM message_words AS f
        WHERE f.rowid = messages.event_id), 0)
FROM messages {{of_thread}} ORDER BY seq LIMIT :limit;
}}

-- Before the messages themselves. PostgreSQL cascades.
-- name: thread_delete_words
{{sqlite:
DELETE FROM message_words WHERE rowid IN (SELECT event_id FROM messages {{of_thread}}
    ORDER BY seq LIMIT :limit);
}}

-- name: thread_delete_messages
DELETE FROM messages WHERE {{some}} FROM messages {{of_thread}}
    ORDER BY seq LIMIT :limit{{of_these}};

-- name: thread_weigh_steps
{{sqlite: SELECT size_bytes FROM steps {{of_thread}} ORDER BY at, log_id LIMIT :limit;}}

-- name: thread_delete_steps
DELETE FROM steps WHERE {{some}} FROM steps {{of_thread}}
    ORDER BY at, log_id LIMIT :limit{{of_these}};

-- name: thread_weigh_history
{{sqlite:
SELECT size_bytes FROM history_entries {{of_thread}} ORDER BY sequence_number LIMIT :limit;
}}

-- name: thread_delete_history
DELETE FROM history_entries WHERE {{some}} FROM history_entries {{of_thread}}
    ORDER BY sequence_number LIMIT :limit{{of_these}};

-- define in_order_of_writes: ORDER BY namespace, checkpoint_id, task_id, position LIMIT :limit

-- name: thread_weigh_writes
{{sqlite: SELECT size_bytes FROM checkpoint_writes {{of_thread}} {{in_order_of_writes}};}}

-- name: thread_delete_writes
DELETE FROM checkpoint_writes WHERE {{some}} FROM checkpoint_writes {{of_thread}}
    {{in_order_of_writes}}{{of_these}};

-- name: thread_weigh_checkpoints
{{sqlite:
SELECT {{bytes_of: channel_versions}} + {{bytes_of: versions_seen}} + {{bytes_of: pending_sends}}
    + {{bytes_of: metadata}}
FROM checkpoints {{of_thread}} ORDER BY sequence_num LIMIT :limit;
}}

-- name: thread_delete_checkpoints
DELETE FROM checkpoints WHERE {{some}} FROM checkpoints {{of_thread}}
    ORDER BY sequence_num LIMIT :limit{{of_these}};

-- name: thread_weigh_state_versions
{{sqlite: SELECT size_bytes FROM state_versions {{of_first_states}};}}

-- name: thread_delete_state_versions
DELETE FROM state_versions WHERE {{some}} FROM state_versions {{of_first_states}}{{of_these}};

-- name: thread_delete_states
DELETE FROM state_documents WHERE {{some}} FROM state_documents {{of_thread}}
    ORDER BY id LIMIT :limit{{of_these}};

-- name: thread_weigh_turns
{{sqlite: SELECT size_bytes FROM turns {{of_first_runs}};}}

-- name: thread_delete_turns
DELETE FROM turns WHERE {{some}} FROM turns {{of_first_runs}}{{of_these}};

-- name: thread_weigh_tools
{{sqlite: SELECT size_bytes FROM awaited_tools {{of_first_runs}};}}

-- name: thread_delete_tools
DELETE FROM awaited_tools WHERE {{some}} FROM awaited_tools {{of_first_runs}}{{of_these}};

-- name: thread_weigh_attempts
{{sqlite: SELECT size_bytes FROM run_attempts {{of_first_runs}};}}

-- name: thread_delete_attempts
DELETE FROM run_attempts WHERE {{some}} FROM run_attempts {{of_first_runs}}{{of_these}};

-- name: thread_weigh_phases
{{sqlite: SELECT size_bytes FROM run_phases {{of_first_runs}};}}

-- name: thread_delete_phases
DELETE FROM run_phases WHERE {{some}} FROM run_phases {{of_first_runs}}{{of_these}};

-- name: thread_weigh_runs
{{sqlite:
SELECT size_bytes + coalesce((SELECT d.size_bytes FROM run_documents AS d
        WHERE d.tenant_id = runs.tenant_id AND d.run_id = runs.id), 0)
    + coalesce((SELECT {{bytes_of: u.context}} + {{bytes_of: u.preferences}}
            + {{bytes_of: u.important_steps}} + {{bytes_of: u.metadata}} FROM run_undo AS u
        WHERE u.tenant_id = runs.tenant_id AND u.run_id = runs.id), 0)
FROM runs {{of_thread}} ORDER BY id LIMIT :limit;
}}

-- The other rows of runs are few for each run, and cascade.
-- name: thread_delete_runs
DELETE FROM runs WHERE {{some}} FROM runs {{of_thread}} ORDER BY id LIMIT :limit{{of_these}};

-- name: thread_delete_redemptions
DELETE FROM share_redemptions WHERE {{some}} FROM share_redemptions
    {{of_first_shares}}{{of_these}};

-- name: thread_delete_shares
DELETE FROM shares WHERE {{some}} FROM shares {{of_thread}} ORDER BY id LIMIT :limit{{of_these}};

-- name: thread_weigh_participants
{{sqlite:
SELECT {{bytes_of: metadata}} + {{bytes_of: image}} FROM participants {{of_thread}}
ORDER BY id LIMIT :limit;
}}

-- name: thread_delete_participants
DELETE FROM participants WHERE {{some}} FROM participants {{of_thread}}
    ORDER BY id LIMIT :limit{{of_these}};

-- name: thread_delete_file_ends
DELETE FROM file_ends WHERE {{some}} FROM file_ends {{of_thread}} LIMIT :limit{{of_these}};

-- name: thread_first_file
SELECT id FROM files WHERE tenant_id = :tenant_id AND thread_id = :thread_id ORDER BY id LIMIT 1;
