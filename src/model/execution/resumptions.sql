-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, agent_id uuid, system_prompt text, model text
-- types: max_steps int, thinking_tokens int, max_tokens int, container_id text
-- types: messages_snapshot_id uuid, tool_schemas json, server_tools json, beta_headers json
-- types: api_kwargs json, formatter text, stream_meta bool, compactor_type text
-- types: memory_store_type text, file_registry json, extras json, max_retries int
-- types: base_delay_ms int, last_known_input_tokens int, last_known_output_tokens int
-- types: current_step int, history_snapshot_id uuid, earlier_runs int, now int

-- define resumption_columns: agent_id, system_prompt, model, max_steps, thinking_tokens,
--   | max_tokens, container_id, messages_snapshot_id AS messages_id, tool_schemas, server_tools,
--   | beta_headers, api_kwargs, formatter, stream_meta_history_and_tool_results AS stream_meta,
--   | compactor_type, memory_store_type, file_registry, extras, max_retries,
--   | base_delay_ms AS base_delay_pico, last_known_input_tokens, last_known_output_tokens,
--   | current_step, history_snapshot_id AS history_id, earlier_runs, created_at, updated_at,
--   | version
-- define resumption_place: messages_snapshot_id AS messages_id, history_snapshot_id AS history_id,
--   | current_step, version

-- reads resumption_read: struct resumption from {{resumption_columns}}
-- reads resumption_read_place: struct resumption from {{resumption_place}}
-- binds resumption_bind: struct resumption for resumption_insert
-- binds resumption_bind_place: struct resumption for resumption_set_place

-- name: resumption_get
SELECT {{resumption_columns}}
FROM resumptions WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: resumption_insert
INSERT INTO resumptions (tenant_id, thread_id, agent_id, system_prompt, model, max_steps,
    thinking_tokens, max_tokens, container_id, messages_snapshot_id, tool_schemas, server_tools,
    beta_headers, api_kwargs, formatter, stream_meta_history_and_tool_results, compactor_type,
    memory_store_type, file_registry, extras, max_retries, base_delay_ms, last_known_input_tokens,
    last_known_output_tokens, current_step, history_snapshot_id, earlier_runs, created_at,
    updated_at)
VALUES (:tenant_id, :thread_id, :agent_id, :system_prompt, :model, :max_steps, :thinking_tokens,
    :max_tokens, :container_id, :messages_snapshot_id, :tool_schemas, :server_tools, :beta_headers,
    :api_kwargs, :formatter, :stream_meta, :compactor_type, :memory_store_type, :file_registry,
    :extras, :max_retries, :base_delay_ms, :last_known_input_tokens, :last_known_output_tokens,
    :current_step, :history_snapshot_id, :earlier_runs, :now, :now);

-- name: resumption_update
UPDATE resumptions SET agent_id = :agent_id, system_prompt = :system_prompt, model = :model,
    max_steps = :max_steps, thinking_tokens = :thinking_tokens, max_tokens = :max_tokens,
    container_id = :container_id, messages_snapshot_id = :messages_snapshot_id,
    tool_schemas = :tool_schemas, server_tools = :server_tools, beta_headers = :beta_headers,
    api_kwargs = :api_kwargs, formatter = :formatter,
    stream_meta_history_and_tool_results = :stream_meta, compactor_type = :compactor_type,
    memory_store_type = :memory_store_type, file_registry = :file_registry, extras = :extras,
    max_retries = :max_retries, base_delay_ms = :base_delay_ms,
    last_known_input_tokens = :last_known_input_tokens,
    last_known_output_tokens = :last_known_output_tokens, current_step = :current_step,
    history_snapshot_id = :history_snapshot_id, earlier_runs = :earlier_runs, updated_at = :now,
    version = version + 1
WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- The columns that an append, a pause and the end of a run change.
-- name: resumption_set_place
UPDATE resumptions SET messages_snapshot_id = :messages_snapshot_id,
    history_snapshot_id = :history_snapshot_id, current_step = :current_step, updated_at = :now,
    version = version + 1
WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: resumption_place
SELECT {{resumption_place}} FROM resumptions
WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- Counts the runs without a parent.
-- name: resumption_runs
SELECT count(*), max(started_at) FROM runs
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND parent_run_id IS NULL;

-- The system prompt and the model of the agent version that the newest run uses.
-- name: resumption_definition
SELECT r.agent_id, coalesce(v.system_prompt, u.system_prompt),
    coalesce(v.llm_config, u.llm_config) FROM threads AS t
JOIN runs AS r ON r.tenant_id = t.tenant_id AND r.id = t.most_recent_run_id
LEFT JOIN agent_versions AS v ON v.tenant_id = r.tenant_id AND v.agent_id = r.agent_id
    AND v.version = r.agent_version
LEFT JOIN used_versions AS u ON u.tenant_id = r.tenant_id AND u.agent_id = r.agent_id
    AND u.version = r.agent_version
WHERE t.tenant_id = :tenant_id AND t.id = :thread_id AND r.agent_id IS NOT NULL;

-- The tools that runs requested in their current pause.
-- name: resumption_tools
SELECT a.tool_use_id, a.side, a.name, a.input, a.result, a.is_error, a.result_at FROM runs AS r
    {{sqlite: INDEXED BY runs_unfinished}}
JOIN awaited_tools AS a ON a.tenant_id = r.tenant_id AND a.run_id = r.id
WHERE r.tenant_id = :tenant_id AND r.thread_id = :thread_id
    AND r.status NOT IN ({{FINAL_RUN_STATUSES}}) AND r.phase = {{PHASE_AWAITING_TOOL}}
    AND a.pause = (SELECT max(o.pause) FROM awaited_tools AS o WHERE o.tenant_id = r.tenant_id
        AND o.run_id = r.id AND o.result_at IS NULL)
ORDER BY r.id, a.position;
