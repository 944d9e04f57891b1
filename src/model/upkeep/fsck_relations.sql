-- SPDX-License-Identifier: Apache-2.0
-- Rules about relations between rows, one statement per rule. Each returns the rows that violate
-- it: an id, and a number for the text of the finding.
-- types: limit int

-- On SQLite, the last seq may be stored only in the events; see 0001_foundation.sql.
-- define last_seq: {{sqlite: (SELECT l.last_seq FROM thread_last_seqs AS l
--   | WHERE l.tenant_id = t.tenant_id AND l.thread_id = t.id)}}{{postgres: t.last_seq}}

-- Recent events have no entry yet. An entry without its event leaves a gap, which is another rule.
-- name: fsck_event_index
{{sqlite:
SELECT e.thread_id, e.seq FROM events AS e
LEFT JOIN event_index AS i ON i.tenant_id = e.tenant_id AND i.thread_id = e.thread_id
    AND i.seq = e.seq
WHERE i.id <> e.id
    OR (i.id IS NULL AND e.id <= (SELECT f.indexed_id FROM event_floor AS f WHERE f.one = 1))
LIMIT :limit;
}}

-- name: fsck_file_versions
SELECT v.file_id, v.version FROM file_versions AS v
LEFT JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256
WHERE b.id IS NULL OR b.size_bytes <> v.size_bytes LIMIT :limit;

-- name: fsck_file_heads
SELECT f.id, f.current_version FROM files AS f
WHERE f.last_version < f.current_version OR NOT EXISTS (SELECT 1 FROM file_versions AS v
    WHERE v.tenant_id = f.tenant_id AND v.file_id = f.id AND v.version = f.current_version)
OR EXISTS (SELECT 1 FROM file_versions AS v WHERE v.tenant_id = f.tenant_id AND v.file_id = f.id
    AND (v.version > f.current_version OR v.version < 1))
LIMIT :limit;

-- name: fsck_state_heads
SELECT d.id, d.version FROM state_documents AS d
WHERE (d.deleted_at IS NULL) <> EXISTS (SELECT 1 FROM state_versions AS v
    WHERE v.tenant_id = d.tenant_id AND v.state_id = d.id AND v.version = d.version)
LIMIT :limit;

-- name: fsck_state_versions
SELECT v.state_id, v.version FROM state_versions AS v
JOIN state_documents AS d ON d.tenant_id = v.tenant_id AND d.id = v.state_id
WHERE v.version > d.version OR v.version < 1 LIMIT :limit;

-- name: fsck_message_seqs
SELECT m.id, m.seq FROM messages AS m
JOIN threads AS t ON t.tenant_id = m.tenant_id AND t.id = m.thread_id
WHERE m.seq < 1 OR (m.seq > t.last_seq {{sqlite: AND m.seq > coalesce((SELECT max(i.seq)
    FROM event_index AS i WHERE i.tenant_id = t.tenant_id AND i.thread_id = t.id), 0)}}
    AND m.seq > {{last_seq}}) LIMIT :limit;

-- name: fsck_message_versions
SELECT m.id, v.version FROM message_versions AS v
JOIN messages AS m ON m.tenant_id = v.tenant_id AND m.id = v.message_id
WHERE v.version >= m.version OR v.version < 1 LIMIT :limit;

-- name: fsck_message_senders
SELECT m.id, m.seq FROM messages AS m
WHERE m.sender_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM participants AS p
    WHERE p.tenant_id = m.tenant_id AND p.thread_id = m.thread_id AND p.id = m.sender_id)
LIMIT :limit;

-- name: fsck_participants
SELECT id, version FROM participants
WHERE role NOT IN ({{PARTICIPANT_ROLES}}) OR permission NOT IN ({{PERMISSIONS}}) LIMIT :limit;

-- name: fsck_share_counts
SELECT s.id, s.redemptions FROM shares AS s
WHERE s.redemptions <> (SELECT count(*) FROM share_redemptions AS r
    WHERE r.tenant_id = s.tenant_id AND r.share_id = s.id) LIMIT :limit;

-- name: fsck_shares
SELECT id, version FROM shares WHERE kind NOT IN ({{SHARE_KINDS}})
OR permission NOT IN ({{PERMISSIONS}}) OR {{sqlite: length(token_hash)}}
    {{postgres: octet_length(token_hash)}} <> 32 LIMIT :limit;

-- name: fsck_storage
SELECT agent_id, version FROM agent_storage WHERE (value IS NULL) = (bytes IS NULL)
OR (bytes IS NOT NULL AND size_bytes <> {{sqlite: length(bytes)}}
    {{postgres: octet_length(bytes)}}) LIMIT :limit;

-- name: fsck_store
SELECT tenant_id, version FROM store_items WHERE version < 1 OR namespace NOT LIKE '_%.'
OR size_bytes <> {{sqlite: length(CAST(value AS BLOB))}}
    {{postgres: octet_length(CAST(value AS text))}} LIMIT :limit;

-- name: fsck_store_vectors
SELECT tenant_id, dimensions FROM store_vectors WHERE dimensions < 1 OR dimensions * 4 <>
    {{sqlite: length(bytes)}}{{postgres: octet_length(bytes)}} LIMIT :limit;

-- A number is unique within its run, so a count equal to the greatest number means no gaps.
-- name: fsck_step_numbers
SELECT r.id, r.step_count FROM runs AS r
LEFT JOIN (SELECT tenant_id, run_id, count(*) AS steps, min(number) AS first, max(number) AS last,
    sum(CASE WHEN lifecycle THEN 1 ELSE 0 END) AS lifecycle
    FROM steps GROUP BY tenant_id, run_id) AS s ON s.tenant_id = r.tenant_id AND s.run_id = r.id
WHERE r.step_count <> coalesce(s.steps, 0) OR r.step_count <> coalesce(s.last, 0) OR s.first < 1
    OR r.lifecycle_steps <> coalesce(s.lifecycle, 0)
LIMIT :limit;

-- Cairn's steps are about the start of a run, or agree with its end.
-- name: fsck_step_lifecycle
SELECT s.run_id, s.number FROM steps AS s
JOIN runs AS r ON r.tenant_id = s.tenant_id AND r.id = s.run_id
WHERE s.lifecycle AND s.action_type <> {{ACTION_RUN_STARTED}} AND NOT CASE s.action_type
    WHEN {{ACTION_RUN_COMPLETED}} THEN r.status = {{RUN_COMPLETED}}
    WHEN {{ACTION_ERROR}} THEN r.status = {{RUN_FAILED}}
    WHEN {{ACTION_RUN_CANCELLED}} THEN r.status = {{RUN_CANCELLED}}
    ELSE false END
LIMIT :limit;

-- Only the last attempt can be open, while the run is running. A lease from before attempts
-- were introduced has none.
-- name: fsck_run_attempts
SELECT r.id, r.attempt_count FROM runs AS r
LEFT JOIN (SELECT tenant_id, run_id, count(*) AS attempts, min(number) AS first,
        max(number) AS last, sum(CASE WHEN outcome IN ({{ATTEMPT_FAILED}},
            {{ATTEMPT_LEASE_EXPIRED}}) THEN 1 ELSE 0 END) AS failed,
        max(CASE WHEN ended_at IS NOT NULL AND outcome IN ({{ATTEMPT_OUTCOMES}}) THEN 0
            ELSE number END) AS open_number
    FROM run_attempts GROUP BY tenant_id, run_id) AS a
    ON a.tenant_id = r.tenant_id AND a.run_id = r.id
WHERE r.attempt_count <> coalesce(a.attempts, 0) OR r.attempt_count <> coalesce(a.last, 0)
    OR a.first < 1 OR r.failed_attempts <> coalesce(a.failed, 0)
    OR (a.open_number > 0 AND (a.open_number < a.last OR r.status <> {{RUN_RUNNING}}))
LIMIT :limit;

-- name: fsck_step_messages
SELECT s.run_id, s.number FROM steps AS s
WHERE s.messages_snapshot_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM snapshots AS n
    WHERE n.tenant_id = s.tenant_id AND n.id = s.messages_snapshot_id)
LIMIT :limit;

-- On PostgreSQL the type of the columns guarantees valid JSON.
-- name: fsck_documents
{{sqlite:
SELECT id, 1 FROM agents WHERE NOT json_valid(metadata)
UNION ALL SELECT id, 2 FROM participants WHERE NOT json_valid(metadata)
UNION ALL SELECT id, 3 FROM messages WHERE NOT json_valid(metadata) OR NOT json_valid(filenames)
    OR (command IS NOT NULL AND NOT json_valid(command))
UNION ALL SELECT message_id, 3 FROM message_versions WHERE NOT json_valid(metadata)
    OR NOT json_valid(filenames) OR (debug IS NOT NULL AND NOT json_valid(debug))
UNION ALL SELECT message_id, 3 FROM message_debug WHERE NOT json_valid(debug)
UNION ALL SELECT id, 4 FROM files WHERE NOT json_valid(metadata)
UNION ALL SELECT state_id, 5 FROM state_versions WHERE NOT json_valid(data)
    OR (json_schema IS NOT NULL AND NOT json_valid(json_schema))
    OR (ui_schema IS NOT NULL AND NOT json_valid(ui_schema))
UNION ALL SELECT run_id, 7 FROM steps WHERE NOT json_valid(action_data)
UNION ALL SELECT run_id, 9 FROM run_attempts WHERE error IS NOT NULL AND NOT json_valid(error)
UNION ALL SELECT tenant_id, 8 FROM store_items WHERE NOT json_valid(value)
UNION ALL SELECT agent_id, 6 FROM agent_storage WHERE value IS NOT NULL AND NOT json_valid(value)
LIMIT :limit
}}{{postgres: SELECT id, 0 FROM tenants LIMIT 0 * :limit}};

-- name: fsck_blobs
-- types: after_tenant uuid, after_id uuid
SELECT tenant_id, id, sha256, size_bytes FROM blobs
WHERE (tenant_id, id) > (:after_tenant, :after_id) ORDER BY tenant_id, id LIMIT :limit;

-- Without those that are being stored or deleted: their references are incomplete.
-- name: fsck_snapshots
-- types: after_tenant uuid, after_id uuid
SELECT tenant_id, id, manifest FROM snapshots AS s
WHERE (tenant_id, id) > (:after_tenant, :after_id)
AND NOT EXISTS (SELECT 1 FROM snapshot_leftovers AS l
    WHERE l.tenant_id = s.tenant_id AND l.snapshot_id = s.id)
AND NOT EXISTS (SELECT 1 FROM snapshot_garbage AS g
    WHERE g.tenant_id = s.tenant_id AND g.thread_id = s.thread_id)
ORDER BY tenant_id, id LIMIT :limit;

-- name: fsck_snapshot_items
-- types: tenant_id uuid, id uuid
SELECT sha256 FROM snapshot_items WHERE tenant_id = :tenant_id AND snapshot_id = :id
ORDER BY sha256;

-- name: fsck_items
-- types: after_tenant uuid, after_bytes bytes
SELECT k.tenant_id, k.sha256, k.size_bytes, k.dictionary, k.bytes, d.sha256
FROM items AS k LEFT JOIN item_dictionaries AS d
    ON d.tenant_id = k.tenant_id AND d.number = k.dictionary
WHERE (k.tenant_id, k.sha256) > (:after_tenant, :after_bytes)
ORDER BY k.tenant_id, k.sha256 LIMIT :limit;
