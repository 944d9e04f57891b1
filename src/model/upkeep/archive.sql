-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, from uuid, after_1 uuid, after_2 uuid, after_n int, after_m int
-- types: after_text text, after_bytes bytes, limit int
-- types: id uuid, thread_id uuid, agent_id uuid, run_id uuid, message_id uuid, file_id uuid
-- types: state_id uuid, status text, title text, agent text, metadata json, error json
-- types: most_recent_run_id uuid, run_policy text, prune_on_completion bool, event_max_age_s int
-- types: last_seq int, pruned_seq int, created_at int, updated_at int, version int, context json
-- types: preferences json, important_steps json, name text, description text, key text
-- types: content_type text, value json, bytes bytes, size_bytes int, role text, principal text
-- types: image text, permission text, active bool, barred bool, parent_run_id uuid, depth int
-- types: dispatch text
-- types: paused_from text, ask_clarifications bool, fence int, started_at int, finished_at int
-- types: user_input text, input json, state json, final_output json, seq int, kind text, text text
-- types: payload json, marks int, sender_id uuid, sender_role text, type text, content text
-- types: filenames json, responds_to uuid, addressed_to uuid, command json, has_debug bool
-- types: deleted_at int, debug json, last_version int, current_version int, sha256 bytes
-- types: created_by text, source_thread_id uuid, source_name text, source_version int
-- types: is_active bool
-- types: restored_from int, revision int, data json, json_schema json, ui_schema json
-- types: number int, at int, step_number int, action_type text, action_data json
-- types: messages_snapshot_id uuid, messages_count int, estimated_tokens int, duration_ms int
-- types: tool_name text
-- types: tool_use_id text, outcome text, model text, provider text, input_tokens int
-- types: output_tokens int, cache_creation_input_tokens int, cache_read_input_tokens int
-- types: cost_pico int, price_version int
-- types: sequence_num int, namespace text, parent_id uuid, node text, channel_versions json
-- types: versions_seen json, pending_sends json, snapshot_id uuid, task_id text
-- types: position int, task_path text, channel text
-- types: agent_version text, phase text, stop_reason text, forked_from_run_id uuid
-- types: forked_from_checkpoint_id uuid, request json, citations json, metrics json
-- types: from_phase text, to_phase text, trigger text, detail json, output json, tokens_in int
-- types: tokens_out int, latency_ms int, checkpoint_id uuid, turn_id uuid, llm_calls int
-- types: unpriced_calls int, total_llm_calls int, total_input_tokens int
-- types: total_output_tokens int, total_cache_creation_input_tokens int
-- types: total_cache_read_input_tokens int, total_cost_pico int, total_unpriced_calls int
-- types: system_prompt text, max_steps int, thinking_tokens int, max_tokens int
-- types: container_id text, tool_schemas json, server_tools json
-- types: beta_headers json, api_kwargs json, formatter text
-- types: stream_meta_history_and_tool_results bool, compactor_type text, memory_store_type text
-- types: file_registry json, extras json, max_retries int, base_delay_ms int
-- types: last_known_input_tokens int, last_known_output_tokens int, current_step int
-- types: history_snapshot_id uuid, pause int, side text, result json, is_error bool
-- types: result_at int, result_by text, sequence_number int, completed_at int, user_message text
-- types: final_response text, total_steps int, cost json, generated_files json

-- What is exported, in the order of the fields in archive_tables.c: of one thread or one agent
-- (:from), or of the tenant, behind the last row of the page before. Text goes by its bytes.

-- define bytewise: {{sqlite: }}{{postgres: COLLATE "C"}}
-- define nil: {{sqlite: x'00000000000000000000000000000000'}}
--   | {{postgres: '00000000-0000-0000-0000-000000000000'::uuid}}
-- define agent_principal: {{sqlite: 'agent:' || lower(substr(hex(a.id), 1, 8)
--   | || '-' || substr(hex(a.id), 9, 4) || '-' || substr(hex(a.id), 13, 4) || '-'
--   | || substr(hex(a.id), 17, 4) || '-' || substr(hex(a.id), 21))}}
--   | {{postgres: 'agent:' || a.id::text}}

-- define agent_fields: a.id, a.name, a.kind, a.is_active, a.description, a.metadata,
--   | a.created_at, a.updated_at, a.version

-- name: archive_agents_of_tenant
SELECT {{agent_fields}} FROM agents AS a WHERE a.tenant_id = :tenant_id AND a.id > :after_1
ORDER BY a.id LIMIT :limit;

-- name: archive_agents_of_agent
SELECT {{agent_fields}} FROM agents AS a
WHERE a.tenant_id = :tenant_id AND a.id = :from AND a.id > :after_1 ORDER BY a.id LIMIT :limit;

-- Those that take part in the thread, or have a state document or a run in it.
-- name: archive_agents_of_thread
SELECT {{agent_fields}} FROM agents AS a WHERE a.tenant_id = :tenant_id AND a.id > :after_1
    AND (EXISTS (SELECT 1 FROM participants AS p WHERE p.tenant_id = :tenant_id
            AND p.thread_id = :from AND p.principal = {{agent_principal}})
        OR EXISTS (SELECT 1 FROM state_documents AS s WHERE s.tenant_id = :tenant_id
            AND s.thread_id = :from AND s.agent_id = a.id)
        OR EXISTS (SELECT 1 FROM runs AS r WHERE r.tenant_id = :tenant_id
            AND r.thread_id = :from AND r.agent_id = a.id))
ORDER BY a.id LIMIT :limit;

-- define storage_fields: s.agent_id, s.key, s.content_type, s.value, s.bytes, s.size_bytes,
--   | s.created_at, s.updated_at, s.version
-- define storage_next: (s.agent_id, s.key {{bytewise}}) > (:after_1, :after_text)
--   | ORDER BY s.agent_id, s.key {{bytewise}} LIMIT :limit

-- name: archive_storage_of_tenant
SELECT {{storage_fields}} FROM agent_storage AS s
WHERE s.tenant_id = :tenant_id AND {{storage_next}};

-- name: archive_storage_of_agent
SELECT {{storage_fields}} FROM agent_storage AS s
WHERE s.tenant_id = :tenant_id AND s.agent_id = :from AND {{storage_next}};

-- define thread_fields: t.id, t.key, t.status, t.title, t.agent, t.metadata, t.error,
--   | t.most_recent_run_id, t.run_policy, t.prune_on_completion, t.event_max_age_s,
--   | {{sqlite: max(t.last_seq, coalesce((SELECT max(e.seq) FROM events AS e
--   | WHERE e.tenant_id = t.tenant_id AND e.thread_id = t.id), 0))}}{{postgres: t.last_seq}},
--   | t.pruned_seq, t.created_at, t.updated_at, t.version,
--   | d.context, d.preferences, d.important_steps
-- define thread_tables: FROM threads AS t
--   | JOIN thread_documents AS d ON d.tenant_id = t.tenant_id AND d.thread_id = t.id

-- name: archive_threads_of_tenant
SELECT {{thread_fields}} {{thread_tables}}
WHERE t.tenant_id = :tenant_id AND t.id > :after_1 ORDER BY t.id LIMIT :limit;

-- name: archive_threads_of_thread
SELECT {{thread_fields}} {{thread_tables}}
WHERE t.tenant_id = :tenant_id AND t.id = :from AND t.id > :after_1 ORDER BY t.id LIMIT :limit;

-- define participant_fields: p.thread_id, p.id, p.role, p.principal, p.name, p.image, p.status,
--   | p.permission, p.active, p.barred, p.metadata, p.created_at, p.updated_at, p.version
-- define participant_next: (p.thread_id, p.id) > (:after_1, :after_2)
--   | ORDER BY p.thread_id, p.id LIMIT :limit

-- name: archive_participants_of_tenant
SELECT {{participant_fields}} FROM participants AS p
WHERE p.tenant_id = :tenant_id AND {{participant_next}};

-- name: archive_participants_of_thread
SELECT {{participant_fields}} FROM participants AS p
WHERE p.tenant_id = :tenant_id AND p.thread_id = :from AND {{participant_next}};

-- A lease stays where it is: a run under one is told as it would be when the lease had ended.
-- define run_fields: r.thread_id, r.id, r.parent_run_id, r.depth,
--   | CASE WHEN r.worker IS NULL THEN r.status ELSE 'queued' END,
--   | r.dispatch, r.paused_from, r.agent, r.ask_clarifications, r.fence, r.started_at,
--   | r.finished_at, r.created_at, r.updated_at, r.version, r.metadata, r.error, d.user_input,
--   | d.input, d.state, d.final_output, r.agent_id, r.agent_version, r.phase, r.model, r.provider,
--   | r.stop_reason, r.forked_from_run_id, r.forked_from_checkpoint_id,
--   | r.llm_calls, r.input_tokens, r.output_tokens, r.cache_creation_input_tokens,
--   | r.cache_read_input_tokens, r.cost_pico, r.unpriced_calls,
--   | r.total_llm_calls, r.total_input_tokens, r.total_output_tokens,
--   | r.total_cache_creation_input_tokens, r.total_cache_read_input_tokens,
--   | r.total_cost_pico, r.total_unpriced_calls, d.request, d.content,
--   | d.content_type, d.citations, d.metrics
-- define run_tables: FROM runs AS r
--   | JOIN run_documents AS d ON d.tenant_id = r.tenant_id AND d.run_id = r.id
-- define run_next: (r.thread_id, r.id) > (:after_1, :after_2)
--   | ORDER BY r.thread_id, r.id LIMIT :limit

-- name: archive_runs_of_tenant
SELECT {{run_fields}} {{run_tables}} WHERE r.tenant_id = :tenant_id AND {{run_next}};

-- name: archive_runs_of_thread
SELECT {{run_fields}} {{run_tables}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :from AND {{run_next}};

-- define undo_fields: r.thread_id, u.run_id, u.context, u.preferences, u.important_steps,
--   | u.metadata
-- define undo_tables: FROM runs AS r
--   | JOIN run_undo AS u ON u.tenant_id = r.tenant_id AND u.run_id = r.id

-- name: archive_undo_of_tenant
SELECT {{undo_fields}} {{undo_tables}} WHERE r.tenant_id = :tenant_id AND {{run_next}};

-- name: archive_undo_of_thread
SELECT {{undo_fields}} {{undo_tables}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :from AND {{run_next}};

-- Events that are pruned and not yet removed are not there, nor are those of threads that are gone.
-- The first column is where a page goes on: the events of a tenant keep their common order.
-- define event_fields: e.thread_id, e.seq, e.run_id, e.kind, e.text, e.payload, e.created_at
-- define event_tables: FROM events AS e
--   | JOIN threads AS t ON t.tenant_id = e.tenant_id AND t.id = e.thread_id

-- name: archive_events_of_tenant
SELECT e.id, {{event_fields}} {{event_tables}}
WHERE e.tenant_id = :tenant_id AND e.id > :after_n AND e.seq > t.pruned_seq
ORDER BY e.id LIMIT :limit;

-- name: archive_events_of_thread
SELECT e.seq, {{event_fields}} {{event_tables}}
WHERE e.tenant_id = :tenant_id AND e.thread_id = :from AND e.seq > :after_n
    AND e.seq > t.pruned_seq
ORDER BY e.seq LIMIT :limit;

-- define message_fields: m.thread_id, m.seq, m.id, m.sender_id, m.sender_role, m.type, m.content,
--   | m.content_type, m.metadata, m.filenames, m.run_id, m.responds_to, m.addressed_to, m.command,
--   | m.has_debug, m.deleted_at, m.created_at, m.updated_at, m.version
-- define message_next: (m.thread_id, m.seq) > (:after_1, :after_n)
--   | ORDER BY m.thread_id, m.seq LIMIT :limit

-- name: archive_messages_of_tenant
SELECT {{message_fields}} FROM messages AS m
WHERE m.tenant_id = :tenant_id AND {{message_next}};

-- name: archive_messages_of_thread
SELECT {{message_fields}} FROM messages AS m
WHERE m.tenant_id = :tenant_id AND m.thread_id = :from AND {{message_next}};

-- define debug_tables: FROM messages AS m
--   | JOIN message_debug AS d ON d.tenant_id = m.tenant_id AND d.message_id = m.id

-- name: archive_debug_of_tenant
SELECT m.thread_id, m.seq, d.message_id, d.debug {{debug_tables}}
WHERE m.tenant_id = :tenant_id AND {{message_next}};

-- name: archive_debug_of_thread
SELECT m.thread_id, m.seq, d.message_id, d.debug {{debug_tables}}
WHERE m.tenant_id = :tenant_id AND m.thread_id = :from AND {{message_next}};

-- define message_version_fields: m.thread_id, m.seq, v.message_id, v.version, v.content,
--   | v.content_type, v.metadata, v.filenames, v.debug, v.created_at
-- define message_version_tables: FROM messages AS m
--   | JOIN message_versions AS v ON v.tenant_id = m.tenant_id AND v.message_id = m.id
-- define message_version_next: (m.thread_id, m.seq, v.version) > (:after_1, :after_n, :after_m)
--   | AND (m.thread_id, m.seq) >= (:after_1, :after_n)
--   | ORDER BY m.thread_id, m.seq, v.version LIMIT :limit

-- name: archive_message_versions_of_tenant
SELECT {{message_version_fields}} {{message_version_tables}}
WHERE m.tenant_id = :tenant_id AND {{message_version_next}};

-- name: archive_message_versions_of_thread
SELECT {{message_version_fields}} {{message_version_tables}}
WHERE m.tenant_id = :tenant_id AND m.thread_id = :from AND {{message_version_next}};

-- define file_fields: f.thread_id, f.id, f.name, f.last_version, f.current_version, f.metadata,
--   | f.revision, f.created_at, f.updated_at
-- define file_next: f.id > :after_1 ORDER BY f.id LIMIT :limit

-- name: archive_files_of_tenant
SELECT {{file_fields}} FROM files AS f WHERE f.tenant_id = :tenant_id AND {{file_next}};

-- name: archive_files_of_thread
SELECT {{file_fields}} FROM files AS f
WHERE f.tenant_id = :tenant_id AND f.thread_id = :from AND {{file_next}};

-- define file_end_next: (f.thread_id, f.name {{bytewise}}) > (:after_1, :after_text)
--   | ORDER BY f.thread_id, f.name {{bytewise}} LIMIT :limit

-- name: archive_file_ends_of_tenant
SELECT f.thread_id, f.name, f.last_version FROM file_ends AS f
WHERE f.tenant_id = :tenant_id AND {{file_end_next}};

-- name: archive_file_ends_of_thread
SELECT f.thread_id, f.name, f.last_version FROM file_ends AS f
WHERE f.tenant_id = :tenant_id AND f.thread_id = :from AND {{file_end_next}};

-- define file_version_fields: v.file_id, v.version, v.sha256, v.size_bytes, v.content_type,
--   | v.created_by, v.created_at, v.source_thread_id, v.source_name, v.source_version,
--   | v.restored_from
-- define file_version_next: (v.file_id, v.version) > (:after_1, :after_n)
--   | ORDER BY v.file_id, v.version LIMIT :limit

-- name: archive_file_versions_of_tenant
SELECT {{file_version_fields}} FROM file_versions AS v
WHERE v.tenant_id = :tenant_id AND {{file_version_next}};

-- name: archive_file_versions_of_thread
SELECT {{file_version_fields}} FROM files AS f
JOIN file_versions AS v ON v.tenant_id = f.tenant_id AND v.file_id = f.id
WHERE f.tenant_id = :tenant_id AND f.thread_id = :from AND {{file_version_next}};

-- define blob_fields: b.sha256, b.id, b.size_bytes

-- name: archive_blobs_of_tenant
SELECT {{blob_fields}} FROM blobs AS b WHERE b.tenant_id = :tenant_id AND b.sha256 > :after_bytes
    AND EXISTS (SELECT 1 FROM file_versions AS v
        WHERE v.tenant_id = b.tenant_id AND v.sha256 = b.sha256)
ORDER BY b.sha256 LIMIT :limit;

-- name: archive_blobs_of_thread
SELECT DISTINCT {{blob_fields}} FROM files AS f
JOIN file_versions AS v ON v.tenant_id = f.tenant_id AND v.file_id = f.id
JOIN blobs AS b ON b.tenant_id = v.tenant_id AND b.sha256 = v.sha256
WHERE f.tenant_id = :tenant_id AND f.thread_id = :from AND b.sha256 > :after_bytes
ORDER BY b.sha256 LIMIT :limit;

-- define state_fields: s.id, s.kind, s.agent_id, s.thread_id, s.name, s.created_at, s.updated_at,
--   | s.deleted_at, s.version
-- define state_next: s.id > :after_1 ORDER BY s.id LIMIT :limit
-- Whose agent and thread are there.
-- define state_of_tenant: (s.agent_id = {{nil}} OR EXISTS (SELECT 1 FROM agents AS a
--   | WHERE a.tenant_id = s.tenant_id AND a.id = s.agent_id))
--   | AND (s.thread_id = {{nil}} OR EXISTS (SELECT 1 FROM threads AS t
--   | WHERE t.tenant_id = s.tenant_id AND t.id = s.thread_id))
-- define state_of_thread: s.thread_id = :from
--   | AND (s.agent_id = {{nil}} OR EXISTS (SELECT 1 FROM agents AS a
--   | WHERE a.tenant_id = s.tenant_id AND a.id = s.agent_id))
-- define state_of_agent: s.agent_id = :from AND s.thread_id = {{nil}}

-- name: archive_states_of_tenant
SELECT {{state_fields}} FROM state_documents AS s
WHERE s.tenant_id = :tenant_id AND {{state_of_tenant}} AND {{state_next}};

-- name: archive_states_of_thread
SELECT {{state_fields}} FROM state_documents AS s
WHERE s.tenant_id = :tenant_id AND {{state_of_thread}} AND {{state_next}};

-- name: archive_states_of_agent
SELECT {{state_fields}} FROM state_documents AS s
WHERE s.tenant_id = :tenant_id AND {{state_of_agent}} AND {{state_next}};

-- define state_version_fields: v.state_id, v.version, v.description, v.data, v.json_schema,
--   | v.ui_schema, v.created_by, v.created_at
-- define state_version_tables: FROM state_documents AS s
--   | JOIN state_versions AS v ON v.tenant_id = s.tenant_id AND v.state_id = s.id
-- define state_version_next: (v.state_id, v.version) > (:after_1, :after_n)
--   | ORDER BY v.state_id, v.version LIMIT :limit

-- name: archive_state_versions_of_tenant
SELECT {{state_version_fields}} {{state_version_tables}}
WHERE s.tenant_id = :tenant_id AND {{state_of_tenant}} AND {{state_version_next}};

-- name: archive_state_versions_of_thread
SELECT {{state_version_fields}} {{state_version_tables}}
WHERE s.tenant_id = :tenant_id AND {{state_of_thread}} AND {{state_version_next}};

-- name: archive_state_versions_of_agent
SELECT {{state_version_fields}} {{state_version_tables}}
WHERE s.tenant_id = :tenant_id AND {{state_of_agent}} AND {{state_version_next}};

-- define item_fields: k.sha256, NULL AS value, k.created_at, k.size_bytes, k.dictionary, k.bytes

-- name: archive_items_of_tenant
SELECT {{item_fields}} FROM items AS k WHERE k.tenant_id = :tenant_id AND k.sha256 > :after_bytes
    AND EXISTS (SELECT 1 FROM snapshot_items AS i JOIN snapshots AS s
        ON s.tenant_id = i.tenant_id AND s.id = i.snapshot_id
        JOIN threads AS t ON t.tenant_id = s.tenant_id AND t.id = s.thread_id
        WHERE i.tenant_id = k.tenant_id AND i.sha256 = k.sha256)
ORDER BY k.sha256 LIMIT :limit;

-- name: archive_items_of_thread
SELECT {{item_fields}} FROM items AS k WHERE k.tenant_id = :tenant_id AND k.sha256 IN (
    SELECT i.sha256 FROM snapshots AS s
    JOIN snapshot_items AS i ON i.tenant_id = s.tenant_id AND i.snapshot_id = s.id
    WHERE s.tenant_id = :tenant_id AND s.thread_id = :from AND i.sha256 > :after_bytes
    ORDER BY i.sha256)
ORDER BY k.sha256 LIMIT :limit;

-- define snapshot_fields: s.thread_id, s.id, s.base_id, s.depth, s.manifest, s.sha256,
--   | s.size_bytes, s.created_at, s.dropped_at, s.rebase_at
-- define snapshot_next: (s.thread_id, s.id) > (:after_1, :after_2)
--   | ORDER BY s.thread_id, s.id LIMIT :limit

-- Not those that a thread left when it went.
-- name: archive_snapshots_of_tenant
SELECT {{snapshot_fields}} FROM snapshots AS s
JOIN threads AS t ON t.tenant_id = s.tenant_id AND t.id = s.thread_id
WHERE s.tenant_id = :tenant_id AND {{snapshot_next}};

-- name: archive_snapshots_of_thread
SELECT {{snapshot_fields}} FROM snapshots AS s
WHERE s.tenant_id = :tenant_id AND s.thread_id = :from AND {{snapshot_next}};

-- What is imported: each column bears the name of its field.

-- What is numbered within a run goes on behind run and number.
-- define phase_fields: r.thread_id, p.run_id, p.number, p.from_phase, p.to_phase, p.trigger,
--   | p.detail, p.created_at
-- define phase_tables: FROM runs AS r
--   | JOIN run_phases AS p ON p.tenant_id = r.tenant_id AND p.run_id = r.id
-- define phase_next: (r.thread_id, r.id) >= (:after_1, :after_2)
--   | AND p.number > CASE WHEN r.thread_id = :after_1 AND r.id = :after_2 THEN :after_n ELSE 0 END
--   | ORDER BY r.thread_id, r.id, p.number LIMIT :limit

-- name: archive_run_phases_of_tenant
SELECT {{phase_fields}} {{phase_tables}} WHERE r.tenant_id = :tenant_id AND {{phase_next}};

-- name: archive_run_phases_of_thread
SELECT {{phase_fields}} {{phase_tables}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :from AND {{phase_next}};

-- name: archive_add_run_phase
INSERT INTO run_phases (tenant_id, run_id, number, from_phase, to_phase, trigger, detail,
    created_at)
VALUES (:tenant_id, :run_id, :number, :from_phase, :to_phase, :trigger, :detail, :created_at);

-- name: archive_count_run_phase
UPDATE runs SET phase_changes = :number
WHERE tenant_id = :tenant_id AND id = :run_id AND phase_changes < :number;

-- define turn_fields: r.thread_id, t.run_id, t.number, t.id, t.input, t.output, t.status,
--   | t.llm_calls, t.tokens_in, t.tokens_out, t.cost_pico, t.unpriced_calls, t.latency_ms,
--   | t.checkpoint_id, t.created_at, t.finished_at, t.version
-- define turn_tables: FROM runs AS r
--   | JOIN turns AS t ON t.tenant_id = r.tenant_id AND t.run_id = r.id
-- define turn_next: (r.thread_id, r.id) >= (:after_1, :after_2)
--   | AND t.number > CASE WHEN r.thread_id = :after_1 AND r.id = :after_2 THEN :after_n ELSE 0 END
--   | ORDER BY r.thread_id, r.id, t.number LIMIT :limit

-- name: archive_turns_of_tenant
SELECT {{turn_fields}} {{turn_tables}} WHERE r.tenant_id = :tenant_id AND {{turn_next}};

-- name: archive_turns_of_thread
SELECT {{turn_fields}} {{turn_tables}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :from AND {{turn_next}};

-- name: archive_add_turn
INSERT INTO turns (tenant_id, run_id, number, id, input, output, status, llm_calls, tokens_in,
    tokens_out, cost_pico, unpriced_calls, latency_ms, checkpoint_id, created_at, finished_at,
    version)
VALUES (:tenant_id, :run_id, :number, :id, :input, :output, :status, :llm_calls, :tokens_in,
    :tokens_out, :cost_pico, :unpriced_calls, :latency_ms, :checkpoint_id, :created_at,
    :finished_at, :version);

-- name: archive_count_turn
UPDATE runs SET turn_count = :number
WHERE tenant_id = :tenant_id AND id = :run_id AND turn_count < :number;

-- name: archive_taken_turn
SELECT id FROM turns WHERE tenant_id = :tenant_id AND id = :id;

-- define step_fields: r.thread_id, s.run_id, s.number, s.agent_id, s.at, s.step_number,
--   | s.action_type, s.action_data, s.messages_snapshot_id, s.messages_count, s.estimated_tokens,
--   | s.duration_ms, s.tool_name, s.tool_use_id, s.outcome, s.model, s.provider, s.input_tokens,
--   | s.output_tokens, s.cache_creation_input_tokens, s.cache_read_input_tokens, s.cost_pico,
--   | s.price_version, s.created_at, s.turn_id
-- define step_tables: FROM runs AS r
--   | JOIN steps AS s ON s.tenant_id = r.tenant_id AND s.run_id = r.id
-- define step_next: (r.thread_id, r.id) >= (:after_1, :after_2)
--   | AND s.number > CASE WHEN r.thread_id = :after_1 AND r.id = :after_2 THEN :after_n ELSE 0 END
--   | ORDER BY r.thread_id, r.id, s.number LIMIT :limit

-- name: archive_steps_of_tenant
SELECT {{step_fields}} {{step_tables}} WHERE r.tenant_id = :tenant_id AND {{step_next}};

-- name: archive_steps_of_thread
SELECT {{step_fields}} {{step_tables}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :from AND {{step_next}};

-- name: archive_add_step
INSERT INTO steps (tenant_id, run_id, number, thread_id, agent_id, at, step_number, action_type,
    action_data, messages_snapshot_id, messages_count, estimated_tokens, duration_ms, tool_name,
    tool_use_id, outcome, model, provider, input_tokens, output_tokens, cache_creation_input_tokens,
    cache_read_input_tokens, cost_pico, price_version, created_at, turn_id)
SELECT :tenant_id, :run_id, :number, r.thread_id, :agent_id, :at, :step_number, :action_type,
    :action_data, :messages_snapshot_id, :messages_count, :estimated_tokens, :duration_ms,
    :tool_name, :tool_use_id, :outcome, :model, :provider, :input_tokens, :output_tokens,
    :cache_creation_input_tokens, :cache_read_input_tokens, :cost_pico, :price_version, :created_at,
    :turn_id
FROM runs AS r WHERE r.tenant_id = :tenant_id AND r.id = :run_id;

-- name: archive_count_step
UPDATE runs SET step_count = :number
WHERE tenant_id = :tenant_id AND id = :run_id AND step_count < :number;

-- name: archive_add_agent
INSERT INTO agents (tenant_id, id, name, kind, is_active, description, metadata, created_at,
    updated_at, version)
VALUES (:tenant_id, :id, :name, coalesce(:kind, 'agent'), coalesce(:is_active, true),
    :description, :metadata, :created_at, :updated_at, :version);

-- name: archive_add_storage
INSERT INTO agent_storage (tenant_id, agent_id, key, content_type, value, bytes, size_bytes,
    created_at, updated_at, version)
VALUES (:tenant_id, :agent_id, :key, :content_type, :value, :bytes, :size_bytes, :created_at,
    :updated_at, :version);

-- name: archive_add_thread
INSERT INTO threads (tenant_id, id, key, status, title, agent, metadata, error, most_recent_run_id,
    run_policy, prune_on_completion, event_max_age_s, last_seq, pruned_seq, created_at, updated_at,
    version)
VALUES (:tenant_id, :id, :key, :status, :title, :agent, :metadata, :error, :most_recent_run_id,
    :run_policy, :prune_on_completion, :event_max_age_s, :last_seq, :pruned_seq, :created_at,
    :updated_at, :version);

-- name: archive_add_thread_documents
INSERT INTO thread_documents (tenant_id, thread_id, context, preferences, important_steps)
VALUES (:tenant_id, :id, :context, :preferences, :important_steps);

-- name: archive_add_participant
INSERT INTO participants (tenant_id, thread_id, id, role, principal, name, image, status,
    permission, active, barred, metadata, created_at, updated_at, version)
VALUES (:tenant_id, :thread_id, :id, :role, :principal, :name, :image, :status, :permission,
    :active, :barred, :metadata, :created_at, :updated_at, :version);

-- name: archive_add_run
INSERT INTO runs (tenant_id, thread_id, id, parent_run_id, depth, status, dispatch, paused_from,
    agent, ask_clarifications, fence, started_at, finished_at, created_at, updated_at, version,
    metadata, error,
    agent_id, agent_version, phase, model, provider, stop_reason, forked_from_run_id,
    forked_from_checkpoint_id, llm_calls, input_tokens, output_tokens,
    cache_creation_input_tokens, cache_read_input_tokens, cost_pico, unpriced_calls,
    total_llm_calls, total_input_tokens, total_output_tokens, total_cache_creation_input_tokens,
    total_cache_read_input_tokens, total_cost_pico, total_unpriced_calls)
VALUES (:tenant_id, :thread_id, :id, :parent_run_id, :depth, :status, :dispatch, :paused_from,
    :agent, :ask_clarifications, :fence, :started_at, :finished_at, :created_at, :updated_at,
    :version, :metadata, :error,
    :agent_id, :agent_version, :phase, :model, :provider, :stop_reason, :forked_from_run_id,
    :forked_from_checkpoint_id, coalesce(:llm_calls, 0), coalesce(:input_tokens, 0),
    coalesce(:output_tokens, 0), coalesce(:cache_creation_input_tokens, 0),
    coalesce(:cache_read_input_tokens, 0), coalesce(:cost_pico, 0), coalesce(:unpriced_calls, 0),
    coalesce(:total_llm_calls, 0), coalesce(:total_input_tokens, 0),
    coalesce(:total_output_tokens, 0), coalesce(:total_cache_creation_input_tokens, 0),
    coalesce(:total_cache_read_input_tokens, 0), coalesce(:total_cost_pico, 0),
    coalesce(:total_unpriced_calls, 0));

-- name: archive_add_run_documents
INSERT INTO run_documents (tenant_id, run_id, user_input, input, state, final_output, request,
    content, content_type, citations, metrics)
VALUES (:tenant_id, :id, :user_input, :input, :state, :final_output, :request,
    :content, :content_type, :citations, :metrics);

-- name: archive_add_undo
INSERT INTO run_undo (tenant_id, run_id, context, preferences, important_steps, metadata)
VALUES (:tenant_id, :run_id, :context, :preferences, :important_steps, :metadata);

-- The seq is the archive's, the id a new one.
-- name: archive_add_event
-- types: event_id int
INSERT INTO events (id, tenant_id, thread_id, seq, run_id, kind, text, payload, created_at, marks)
VALUES ({{sqlite: :event_id}}{{postgres: coalesce(:event_id, nextval('event_ids'))}}, :tenant_id,
    :thread_id, :seq, :run_id, :kind, :text, :payload, :created_at, :marks);

-- The sweep gives its words to the index.
-- name: archive_add_message
-- types: event_id int
INSERT INTO messages (event_id, tenant_id, thread_id, seq, id, sender_id, sender_role, type,
    content, content_type, metadata, filenames, run_id, responds_to, addressed_to, command,
    has_debug, deleted_at, created_at, updated_at, version)
VALUES ({{sqlite: :event_id}}{{postgres: coalesce(:event_id, nextval('event_ids'))}}, :tenant_id,
    :thread_id, :seq, :id, :sender_id, :sender_role, :type, :content, :content_type, :metadata,
    :filenames, :run_id, :responds_to, :addressed_to, :command, :has_debug, :deleted_at,
    :created_at, :updated_at, :version);

-- name: archive_add_debug
INSERT INTO message_debug (tenant_id, message_id, debug) VALUES (:tenant_id, :message_id, :debug);

-- name: archive_add_message_version
INSERT INTO message_versions (tenant_id, message_id, version, content, content_type, metadata,
    filenames, debug, created_at)
VALUES (:tenant_id, :message_id, :version, :content, :content_type, :metadata, :filenames, :debug,
    :created_at);

-- name: archive_add_file
INSERT INTO files (tenant_id, thread_id, id, name, last_version, current_version, metadata,
    revision, created_at, updated_at)
VALUES (:tenant_id, :thread_id, :id, :name, :last_version, :current_version, :metadata, :revision,
    :created_at, :updated_at);

-- name: archive_add_file_end
INSERT INTO file_ends (tenant_id, thread_id, name, last_version)
VALUES (:tenant_id, :thread_id, :name, :last_version);

-- name: archive_add_file_version
INSERT INTO file_versions (tenant_id, file_id, version, sha256, size_bytes, content_type,
    created_by, created_at, source_thread_id, source_name, source_version, restored_from)
VALUES (:tenant_id, :file_id, :version, :sha256, :size_bytes, :content_type, :created_by,
    :created_at, :source_thread_id, :source_name, :source_version, :restored_from);

-- name: archive_add_state
INSERT INTO state_documents (tenant_id, id, kind, agent_id, thread_id, name, created_at,
    updated_at, deleted_at, version)
VALUES (:tenant_id, :id, :kind, :agent_id, :thread_id, :name, :created_at, :updated_at,
    :deleted_at, :version);

-- name: archive_add_state_version
INSERT INTO state_versions (tenant_id, state_id, version, description, data, json_schema,
    ui_schema, created_by, created_at)
VALUES (:tenant_id, :state_id, :version, :description, :data, :json_schema, :ui_schema,
    :created_by, :created_at);

-- define value_bytes: {{sqlite: CAST(:value AS BLOB)}}
--   | {{postgres: convert_to(CAST(:value AS text), 'UTF8')}}

-- name: archive_add_item
INSERT INTO items (tenant_id, sha256, size_bytes, dictionary, bytes, created_at)
VALUES (:tenant_id, :sha256, length({{value_bytes}}), -1, {{value_bytes}}, :created_at)
ON CONFLICT (tenant_id, sha256)
{{sqlite: DO NOTHING}}{{postgres: DO UPDATE SET created_at = items.created_at}};

-- name: archive_add_snapshot
-- types: base_id uuid, manifest bytes, dropped_at int, rebase_at int
INSERT INTO snapshots (tenant_id, thread_id, id, base_id, depth, manifest, sha256, size_bytes,
    created_at, dropped_at, rebase_at)
VALUES (:tenant_id, :thread_id, :id, :base_id, :depth, :manifest, :sha256, :size_bytes,
    :created_at, :dropped_at, :rebase_at);

-- Who stands in the way of an import; each answers the id of one that is there already.

-- name: archive_taken_agent
SELECT id FROM agents WHERE tenant_id = :tenant_id AND (id = :id OR name = :name)
ORDER BY id = :id DESC LIMIT 1;

-- name: archive_taken_key
SELECT id FROM threads WHERE tenant_id = :tenant_id AND key = :key;

-- name: archive_taken_thread
SELECT id FROM threads WHERE tenant_id = :tenant_id AND id = :id;

-- name: archive_taken_snapshot
SELECT id FROM snapshots WHERE tenant_id = :tenant_id AND id = :id;

-- name: archive_taken_participant
SELECT id FROM participants
WHERE tenant_id = :tenant_id AND principal = :principal AND thread_id = :thread_id;

-- name: archive_taken_run
SELECT id FROM runs WHERE tenant_id = :tenant_id AND id = :id;

-- name: archive_taken_message
SELECT id FROM messages WHERE tenant_id = :tenant_id AND id = :id;

-- name: archive_taken_file
SELECT id FROM files WHERE tenant_id = :tenant_id
    AND (id = :id OR (thread_id = :thread_id AND name = :name)) LIMIT 1;

-- name: archive_taken_state
SELECT id FROM state_documents WHERE tenant_id = :tenant_id AND (id = :id OR (agent_id = :agent_id
    AND thread_id = :thread_id AND kind = :kind AND name = :name)) LIMIT 1;

-- name: archive_has_agent
SELECT id FROM agents WHERE tenant_id = :tenant_id AND id = :id;

-- A thread of this id was deleted here: its last event, and what was not removed yet, would be in
-- the way of the events that come.
-- name: archive_clear_events
DELETE FROM events WHERE tenant_id = :tenant_id AND thread_id = :id;

-- name: archive_clear_garbage
DELETE FROM event_garbage WHERE tenant_id = :tenant_id AND thread_id = :id;

-- --- Checkpoints ------------------------------------------------------------------------------

-- define checkpoint_fields: k.thread_id, k.sequence_num, k.namespace, k.id, k.parent_id, k.run_id,
--   | k.node, k.metadata, k.created_at, k.channel_versions, k.versions_seen, k.pending_sends,
--   | k.snapshot_id
-- define checkpoint_next: (k.thread_id, k.sequence_num) > (:after_1, :after_n)
--   | ORDER BY k.thread_id, k.sequence_num LIMIT :limit

-- name: archive_checkpoints_of_tenant
SELECT {{checkpoint_fields}} FROM checkpoints AS k
WHERE k.tenant_id = :tenant_id AND {{checkpoint_next}};

-- name: archive_checkpoints_of_thread
SELECT {{checkpoint_fields}} FROM checkpoints AS k
WHERE k.tenant_id = :tenant_id AND k.thread_id = :from AND {{checkpoint_next}};

-- define write_fields: k.thread_id, k.sequence_num, w.task_id, w.position, w.task_path, w.channel,
--   | w.value, w.created_at
-- define write_tables: FROM checkpoints AS k JOIN checkpoint_writes AS w
--   | ON w.tenant_id = k.tenant_id AND w.thread_id = k.thread_id AND w.namespace = k.namespace
--   | AND w.checkpoint_id = k.id
-- define write_next: (k.thread_id, k.sequence_num) >= (:after_1, :after_n)
--   | AND (k.thread_id <> :after_1 OR k.sequence_num <> :after_n
--   | OR (w.task_id, w.position) > (coalesce(:after_text, ''), :after_m))
--   | ORDER BY k.thread_id, k.sequence_num, w.task_id, w.position LIMIT :limit

-- Those of checkpoints that never came stay behind.
-- name: archive_writes_of_tenant
SELECT {{write_fields}} {{write_tables}} WHERE k.tenant_id = :tenant_id AND {{write_next}};

-- name: archive_writes_of_thread
SELECT {{write_fields}} {{write_tables}}
WHERE k.tenant_id = :tenant_id AND k.thread_id = :from AND {{write_next}};

-- name: archive_taken_checkpoint
SELECT k.id FROM checkpoints AS k WHERE k.tenant_id = :tenant_id AND k.thread_id = :thread_id
    AND k.namespace = :namespace AND k.id = :id;

-- A parent is one that came before.
-- name: archive_add_checkpoint
INSERT INTO checkpoints (tenant_id, thread_id, namespace, id, parent_id, run_id, sequence_num,
    snapshot_id, channel_versions, versions_seen, pending_sends, metadata, node, created_at)
VALUES (:tenant_id, :thread_id, :namespace, :id, (SELECT p.id FROM checkpoints AS p
        WHERE p.tenant_id = :tenant_id AND p.thread_id = :thread_id AND p.namespace = :namespace
            AND p.id = :parent_id), :run_id, :sequence_num, :snapshot_id, :channel_versions,
    :versions_seen, :pending_sends, :metadata, :node, :created_at);

-- name: archive_add_write
INSERT INTO checkpoint_writes (tenant_id, thread_id, namespace, checkpoint_id, task_id, position,
    task_path, channel, value, size_bytes, created_at)
SELECT k.tenant_id, k.thread_id, k.namespace, k.id, :task_id, :position, :task_path, :channel,
    :value, {{sqlite: length(CAST(:value AS BLOB))}}{{postgres: octet_length(:value::text)}},
    :created_at
FROM checkpoints AS k WHERE k.tenant_id = :tenant_id AND k.thread_id = :thread_id
    AND k.sequence_num = :sequence_num;
-- define resumption_fields: z.thread_id, z.agent_id, z.system_prompt, z.model,
--   | z.max_steps, z.thinking_tokens, z.max_tokens, z.container_id,
--   | z.messages_snapshot_id, z.tool_schemas, z.server_tools, z.beta_headers,
--   | z.api_kwargs, z.formatter, z.stream_meta_history_and_tool_results,
--   | z.compactor_type, z.memory_store_type, z.file_registry, z.extras, z.max_retries,
--   | z.base_delay_ms, z.last_known_input_tokens, z.last_known_output_tokens,
--   | z.current_step, z.history_snapshot_id, z.created_at, z.updated_at, z.version
-- define resumption_next: z.thread_id > :after_1 ORDER BY z.thread_id LIMIT :limit

-- name: archive_resumptions_of_tenant
SELECT {{resumption_fields}} FROM resumptions AS z
WHERE z.tenant_id = :tenant_id AND {{resumption_next}};

-- name: archive_resumptions_of_thread
SELECT {{resumption_fields}} FROM resumptions AS z
WHERE z.tenant_id = :tenant_id AND z.thread_id = :from AND {{resumption_next}};

-- name: archive_add_resumption
INSERT INTO resumptions (tenant_id, thread_id, agent_id, system_prompt, model, max_steps,
    thinking_tokens, max_tokens, container_id, messages_snapshot_id, tool_schemas,
    server_tools, beta_headers, api_kwargs, formatter, stream_meta_history_and_tool_results,
    compactor_type, memory_store_type, file_registry, extras, max_retries, base_delay_ms,
    last_known_input_tokens, last_known_output_tokens, current_step, history_snapshot_id,
    created_at, updated_at, version)
VALUES (:tenant_id, :thread_id, :agent_id, :system_prompt, :model, :max_steps,
    :thinking_tokens, :max_tokens, :container_id, :messages_snapshot_id, :tool_schemas,
    :server_tools, :beta_headers, :api_kwargs, :formatter,
    :stream_meta_history_and_tool_results, :compactor_type, :memory_store_type,
    :file_registry, :extras, :max_retries, :base_delay_ms, :last_known_input_tokens,
    :last_known_output_tokens, :current_step, :history_snapshot_id, :created_at,
    :updated_at, :version);

-- define awaited_tool_fields: r.thread_id, w.run_id, w.pause, w.position, w.tool_use_id,
--   | w.side, w.name, w.input, w.result,
--   | (w.is_error IS NOT NULL AND w.is_error) AS is_error, w.created_at, w.result_at,
--   | w.result_by
-- define awaited_tool_tables: FROM runs AS r
--   | JOIN awaited_tools AS w ON w.tenant_id = r.tenant_id AND w.run_id = r.id
-- define awaited_tool_next: (r.thread_id, r.id) >= (:after_1, :after_2)
--   | AND (r.thread_id, r.id, w.pause, w.position) > (:after_1, :after_2, :after_n, :after_m)
--   | ORDER BY r.thread_id, r.id, w.pause, w.position LIMIT :limit

-- name: archive_awaited_tools_of_tenant
SELECT {{awaited_tool_fields}} {{awaited_tool_tables}}
WHERE r.tenant_id = :tenant_id AND {{awaited_tool_next}};

-- name: archive_awaited_tools_of_thread
SELECT {{awaited_tool_fields}} {{awaited_tool_tables}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :from AND {{awaited_tool_next}};

-- name: archive_add_awaited_tool
INSERT INTO awaited_tools (tenant_id, run_id, pause, position, tool_use_id, side, name,
    input, result, is_error, created_at, result_at, result_by)
VALUES (:tenant_id, :run_id, :pause, :position, :tool_use_id, :side, :name, :input, :result,
    :is_error, :created_at, :result_at, :result_by);

-- define history_fields: h.thread_id, h.sequence_number, h.id, h.run_id, h.agent_id,
--   | h.started_at, h.completed_at, h.user_message, h.final_response,
--   | h.messages_snapshot_id, h.stop_reason, h.total_steps, h.input_tokens,
--   | h.output_tokens, h.cache_creation_input_tokens, h.cache_read_input_tokens, h.cost,
--   | h.generated_files, h.extras, h.created_at, h.updated_at, h.version
-- define history_next: (h.thread_id, h.sequence_number) > (:after_1, :after_n)
--   | ORDER BY h.thread_id, h.sequence_number LIMIT :limit

-- name: archive_history_of_tenant
SELECT {{history_fields}} FROM history_entries AS h
WHERE h.tenant_id = :tenant_id AND {{history_next}};

-- name: archive_history_of_thread
SELECT {{history_fields}} FROM history_entries AS h
WHERE h.tenant_id = :tenant_id AND h.thread_id = :from AND {{history_next}};

-- name: archive_add_history
INSERT INTO history_entries (tenant_id, thread_id, sequence_number, id, run_id, agent_id,
    started_at, completed_at, user_message, final_response, messages_snapshot_id,
    stop_reason, total_steps, input_tokens, output_tokens, cache_creation_input_tokens,
    cache_read_input_tokens, cost, generated_files, extras, created_at, updated_at, version)
VALUES (:tenant_id, :thread_id, :sequence_number, :id, :run_id, :agent_id, :started_at,
    :completed_at, :user_message, :final_response, :messages_snapshot_id, :stop_reason,
    :total_steps, :input_tokens, :output_tokens, :cache_creation_input_tokens,
    :cache_read_input_tokens, :cost, :generated_files, :extras, :created_at, :updated_at,
    :version);

-- name: archive_taken_history
SELECT id FROM history_entries WHERE tenant_id = :tenant_id AND id = :id;
