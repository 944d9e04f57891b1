-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, namespace text, id uuid, parent_id uuid, run_id uuid
-- types: sequence_num int, snapshot_id uuid, channel_versions json, versions_seen json
-- types: pending_sends json, metadata json, node text, now int, whole bool, before int
-- types: limit int, task_id text, position int, task_path text, channel text, value json
-- types: size_bytes int, keep int, older_than int, to_thread_id uuid, before_at int
-- types: before_thread uuid, from_at int

-- Lists do not read the columns that only a whole checkpoint shows.
-- define checkpoint_columns: k.id, k.thread_id, k.namespace AS ns, k.parent_id, k.run_id,
--   | k.sequence_num, k.snapshot_id, k.node, k.metadata, k.created_at,
--   | coalesce(s.size_bytes, 0) AS size_bytes,
--   | CASE WHEN :whole THEN k.channel_versions END AS channel_versions,
--   | CASE WHEN :whole THEN k.versions_seen END AS versions_seen,
--   | CASE WHEN :whole THEN k.pending_sends END AS pending_sends, h.key AS thread_key
-- reads checkpoint_read: struct checkpoint from {{checkpoint_columns}}
-- define from_checkpoints: FROM checkpoints AS k LEFT JOIN snapshots AS s
--   | ON s.tenant_id = k.tenant_id AND s.id = k.snapshot_id
--   | JOIN threads AS h ON h.tenant_id = k.tenant_id AND h.id = k.thread_id
-- define in_thread: k.tenant_id = :tenant_id AND k.thread_id = :thread_id
-- define in_namespace: {{in_thread}} AND k.namespace = :namespace
-- define page: AND k.sequence_num < :before ORDER BY k.sequence_num DESC LIMIT :limit

-- name: checkpoint_get
SELECT {{checkpoint_columns}} {{from_checkpoints}} WHERE {{in_namespace}} AND k.id = :id;

-- Searches all namespaces and returns the checkpoint of the outermost one.
-- name: checkpoint_get_anywhere
SELECT {{checkpoint_columns}} {{from_checkpoints}} WHERE {{in_thread}} AND k.id = :id
ORDER BY k.namespace LIMIT 1;

-- name: checkpoint_latest
SELECT {{checkpoint_columns}} {{from_checkpoints}} WHERE {{in_namespace}}
ORDER BY k.sequence_num DESC LIMIT 1;

-- name: checkpoint_latest_of_run
SELECT {{checkpoint_columns}} {{from_checkpoints}}
WHERE k.tenant_id = :tenant_id AND k.run_id = :run_id AND k.namespace = :namespace
ORDER BY k.sequence_num DESC LIMIT 1;

-- name: checkpoint_list
SELECT {{checkpoint_columns}} {{from_checkpoints}} WHERE {{in_thread}} {{page}};

-- name: checkpoint_list_in_namespace
SELECT {{checkpoint_columns}} {{from_checkpoints}} WHERE {{in_namespace}} {{page}};

-- name: checkpoint_list_of_run
SELECT {{checkpoint_columns}} {{from_checkpoints}}
WHERE {{in_thread}} AND k.run_id = :run_id
    AND coalesce(k.namespace = :namespace, :namespace IS NULL) {{page}};

-- name: checkpoint_list_of_all
SELECT {{checkpoint_columns}} {{from_checkpoints}} WHERE k.tenant_id = :tenant_id
    AND (k.created_at, k.thread_id, k.sequence_num) < (:before_at, :before_thread, :before)
    AND k.created_at >= :from_at
ORDER BY k.created_at DESC, k.thread_id DESC, k.sequence_num DESC LIMIT :limit;

-- name: checkpoint_last_number
SELECT k.sequence_num FROM checkpoints AS k WHERE {{in_thread}}
ORDER BY k.sequence_num DESC LIMIT 1;

-- name: checkpoint_insert
INSERT INTO checkpoints (tenant_id, thread_id, namespace, id, parent_id, run_id, sequence_num,
    snapshot_id, channel_versions, versions_seen, pending_sends, metadata, node, created_at)
VALUES (:tenant_id, :thread_id, :namespace, :id, :parent_id, :run_id, :sequence_num,
    :snapshot_id, :channel_versions, :versions_seen, :pending_sends, :metadata, :node, :now);

-- name: checkpoint_replace
UPDATE checkpoints SET parent_id = :parent_id, run_id = :run_id, snapshot_id = :snapshot_id,
    channel_versions = :channel_versions, versions_seen = :versions_seen,
    pending_sends = :pending_sends, metadata = :metadata, node = :node
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace AND id = :id;

-- --- Writes -----------------------------------------------------------------------------------

-- name: checkpoint_write_list
SELECT task_id, position, task_path, channel, value FROM checkpoint_writes
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace
    AND checkpoint_id = :id
ORDER BY task_id, position;

-- name: checkpoint_write_sum
SELECT count(*), CAST(coalesce(sum(size_bytes), 0) AS {{int}}) FROM checkpoint_writes
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace
    AND checkpoint_id = :id;

-- name: checkpoint_write_of_task
SELECT position, size_bytes FROM checkpoint_writes
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace
    AND checkpoint_id = :id AND task_id = :task_id;

-- name: checkpoint_write_insert
INSERT INTO checkpoint_writes (tenant_id, thread_id, namespace, checkpoint_id, task_id, position,
    task_path, channel, value, size_bytes, created_at)
VALUES (:tenant_id, :thread_id, :namespace, :id, :task_id, :position, :task_path, :channel,
    :value, :size_bytes, :now);

-- name: checkpoint_write_replace
UPDATE checkpoint_writes SET task_path = :task_path, channel = :channel, value = :value,
    size_bytes = :size_bytes, created_at = :now
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace
    AND checkpoint_id = :id AND task_id = :task_id AND position = :position;

-- --- Deletion ---------------------------------------------------------------------------------

-- name: checkpoint_delete
DELETE FROM checkpoints
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace AND id = :id;

-- name: checkpoint_delete_writes
DELETE FROM checkpoint_writes
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace
    AND checkpoint_id = :id;

-- Also deletes the writes of checkpoints that were never stored.
-- name: checkpoint_delete_all_writes
DELETE FROM checkpoint_writes
WHERE tenant_id = :tenant_id AND thread_id = :thread_id
    AND coalesce(namespace = :namespace, :namespace IS NULL);

-- The children of a deleted checkpoint become roots.
-- name: checkpoint_detach_children
UPDATE checkpoints SET parent_id = NULL
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND namespace = :namespace
    AND parent_id = :id;

-- define going_columns: k.namespace, k.id, k.snapshot_id, k.sequence_num, k.created_at
-- define in_place: {{in_thread}} AND coalesce(k.namespace = :namespace, :namespace IS NULL)
-- name: checkpoint_list_to_delete
SELECT {{going_columns}} FROM checkpoints AS k WHERE {{in_place}}
ORDER BY k.sequence_num DESC LIMIT :limit;

-- Checkpoints older than the :keep newest of their namespace.
-- name: checkpoint_list_to_prune
SELECT namespace, id, snapshot_id FROM (SELECT {{going_columns}}, row_number() OVER
    (PARTITION BY k.namespace ORDER BY k.sequence_num DESC) AS place
    FROM checkpoints AS k WHERE {{in_place}}) AS counted
WHERE place > :keep AND coalesce(created_at < :older_than, :older_than IS NULL)
ORDER BY sequence_num LIMIT :limit;

-- --- Copies -----------------------------------------------------------------------------------

-- The oldest checkpoint that the other thread does not have.
-- name: checkpoint_next_to_copy
SELECT {{checkpoint_columns}} {{from_checkpoints}} WHERE {{in_thread}}
    AND NOT EXISTS (SELECT 1 FROM checkpoints AS t WHERE t.tenant_id = k.tenant_id
        AND t.thread_id = :to_thread_id AND t.namespace = k.namespace AND t.id = k.id)
ORDER BY k.sequence_num LIMIT 1;

-- name: checkpoint_copy_writes
INSERT INTO checkpoint_writes (tenant_id, thread_id, namespace, checkpoint_id, task_id, position,
    task_path, channel, value, size_bytes, created_at)
SELECT w.tenant_id, :to_thread_id, w.namespace, w.checkpoint_id, w.task_id, w.position,
    w.task_path, w.channel, w.value, w.size_bytes, w.created_at
FROM checkpoint_writes AS w
WHERE w.tenant_id = :tenant_id AND w.thread_id = :thread_id AND w.namespace = :namespace
    AND w.checkpoint_id = :id
ON CONFLICT DO NOTHING;
