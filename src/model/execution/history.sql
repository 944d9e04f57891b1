-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, run_id uuid, id uuid, agent_id uuid, sequence_number int
-- types: started_at int, completed_at int, user_message text, final_response text
-- types: messages_snapshot_id uuid, stop_reason text, total_steps int, input_tokens int
-- types: output_tokens int, cache_creation_input_tokens int, cache_read_input_tokens int, cost json
-- types: generated_files json, extras json, now int, before int, limit int

-- reads history_read: struct history_entry from {{entry}}
-- reads history_read_run: struct history_entry from {{run_of_entry}}
-- binds history_bind_insert: struct history_entry for history_insert
-- binds history_bind_usage: struct history_entry for history_set_usage
-- binds history_bind: struct history_entry for history_update

-- The parts of an entry. The loop number is read from the newest steps, because it only increases;
-- the steps that Cairn writes have none of their own.
-- define run_of_entry: r.agent_id, coalesce(r.started_at, r.created_at) AS started_at,
--   | coalesce(r.finished_at, r.updated_at) AS completed_at, d.user_input AS user_message,
--   | d.content AS final_response, r.stop_reason,
--   | coalesce((SELECT max(s.step_number) FROM steps AS s WHERE s.tenant_id = r.tenant_id
--   | AND s.run_id = r.id AND s.number > r.step_count - 34 AND NOT s.lifecycle),
--   | r.step_count - r.lifecycle_steps) AS total_steps,
--   | r.total_input_tokens AS input_tokens, r.total_output_tokens AS output_tokens,
--   | r.total_cache_creation_input_tokens AS cache_creation_input_tokens,
--   | r.total_cache_read_input_tokens AS cache_read_input_tokens
-- name: history_of_run
SELECT {{run_of_entry}}, d.final_output
FROM runs AS r JOIN run_documents AS d ON d.tenant_id = r.tenant_id AND d.run_id = r.id
WHERE r.tenant_id = :tenant_id AND r.id = :run_id;

-- name: history_last_number
SELECT coalesce(max(sequence_number), 0) FROM history_entries
WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: history_insert
INSERT INTO history_entries (tenant_id, thread_id, sequence_number, id, run_id, agent_id,
    started_at, completed_at, user_message, final_response, messages_snapshot_id, stop_reason,
    total_steps, input_tokens, output_tokens, cache_creation_input_tokens,
    cache_read_input_tokens, cost, generated_files, extras, created_at, updated_at)
VALUES (:tenant_id, :thread_id, :sequence_number, :id, :run_id, :agent_id, :started_at,
    :completed_at, :user_message, :final_response, :messages_snapshot_id, :stop_reason,
    :total_steps, :input_tokens, :output_tokens, :cache_creation_input_tokens,
    :cache_read_input_tokens, :cost, :generated_files, :extras, :now, :now);

-- name: history_set_usage
UPDATE history_entries SET total_steps = :total_steps, input_tokens = :input_tokens,
    output_tokens = :output_tokens, cache_creation_input_tokens = :cache_creation_input_tokens,
    cache_read_input_tokens = :cache_read_input_tokens, cost = :cost, updated_at = :now,
    version = version + 1
WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- name: history_number_of_run
SELECT sequence_number FROM history_entries WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- define entry: h.id, h.thread_id, h.sequence_number, h.run_id, r.status, h.agent_id, h.started_at,
--   | h.completed_at, h.user_message, h.final_response, h.messages_snapshot_id AS messages_id,
--   | h.stop_reason, h.total_steps, h.input_tokens, h.output_tokens, h.cache_creation_input_tokens,
--   | h.cache_read_input_tokens, h.cost, h.generated_files, h.extras, h.created_at, h.updated_at,
--   | h.version
-- define entries: FROM history_entries AS h
--   | LEFT JOIN runs AS r ON r.tenant_id = h.tenant_id AND r.id = h.run_id
--   | WHERE h.tenant_id = :tenant_id AND h.thread_id = :thread_id

-- name: history_get
SELECT {{entry}} {{entries}} AND h.sequence_number = :sequence_number;

-- name: history_list
-- page: sequence_number DESC
SELECT h.size_bytes, {{entry}} {{entries}} AND h.sequence_number < :before
    ORDER BY h.sequence_number DESC LIMIT :limit;

-- name: history_list_completed
-- page: sequence_number DESC
SELECT h.size_bytes, {{entry}} {{entries}} AND h.sequence_number < :before AND r.status =
    {{RUN_COMPLETED}}
    ORDER BY h.sequence_number DESC LIMIT :limit;

-- name: history_count_completed
SELECT count(*) FROM history_entries AS h
JOIN runs AS r ON r.tenant_id = h.tenant_id AND r.id = h.run_id
WHERE h.tenant_id = :tenant_id AND h.thread_id = :thread_id AND r.status = {{RUN_COMPLETED}};

-- name: history_update
UPDATE history_entries SET final_response = :final_response,
    messages_snapshot_id = :messages_snapshot_id, stop_reason = :stop_reason,
    generated_files = :generated_files, extras = :extras, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND sequence_number = :sequence_number;

-- The settings of the agent version that the newest run of the thread uses.
-- name: history_settings
SELECT coalesce(v.memory_config, u.memory_config) FROM threads AS t
JOIN runs AS r ON r.tenant_id = t.tenant_id AND r.id = t.most_recent_run_id
LEFT JOIN agent_versions AS v ON v.tenant_id = r.tenant_id AND v.agent_id = r.agent_id
    AND v.version = r.agent_version
LEFT JOIN used_versions AS u ON u.tenant_id = r.tenant_id AND u.agent_id = r.agent_id
    AND u.version = r.agent_version
WHERE t.tenant_id = :tenant_id AND t.id = :thread_id
    AND coalesce(v.version, u.version) IS NOT NULL;
