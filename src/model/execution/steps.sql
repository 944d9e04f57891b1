-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, run_id uuid, number int, thread_id uuid, agent_id uuid, turn_id uuid
-- types: at int, step_number int, action_type text, action_data json, messages_snapshot_id uuid
-- types: messages_count int, estimated_tokens int, duration_ms int, tool_name text
-- types: tool_use_id text, outcome text, model text, provider text, input_tokens int
-- types: output_tokens int, cache_creation_input_tokens int, cache_read_input_tokens int
-- types: cost_pico int, price_version int, lifecycle bool, now int, count int, after int
-- types: through int, from_at int, before_at int, before_id int, limit int, from_id int, skip int

-- define step_columns: s.log_id, s.run_id, s.number, s.thread_id, s.agent_id, s.turn_id, s.at,
--   | s.step_number, s.action_type, s.action_data, s.messages_snapshot_id AS snapshot_id,
--   | s.messages_count, s.estimated_tokens, s.duration_ms, s.tool_name, s.tool_use_id, s.outcome,
--   | s.model, s.provider, s.input_tokens, s.output_tokens, s.cache_creation_input_tokens,
--   | s.cache_read_input_tokens, s.cost_pico, s.price_version, s.lifecycle, s.created_at

-- define of_run: SELECT s.size_bytes, {{step_columns}}
--   | FROM steps AS s WHERE s.tenant_id = :tenant_id AND s.run_id = :run_id
--   | AND s.number > :after AND s.number <= :through
-- define in_order: ORDER BY s.number LIMIT :limit

-- define newest: SELECT s.size_bytes, {{step_columns}}
--   | FROM steps AS s WHERE s.tenant_id = :tenant_id
-- define position: SELECT s.at, s.log_id FROM steps AS s WHERE s.tenant_id = :tenant_id
-- define between: AND (s.at, s.log_id) >= (:from_at, :from_id)
--   | AND (s.at, s.log_id) < (:before_at, :before_id)
-- define others: {{between}}
--   | AND coalesce(s.thread_id = :thread_id, :thread_id IS NULL)
--   | AND coalesce(s.agent_id = :agent_id, :agent_id IS NULL)
--   | AND coalesce(s.action_type = :action_type, :action_type IS NULL)
--   | AND coalesce(s.outcome = :outcome, :outcome IS NULL)
--   | AND coalesce(s.tool_name = :tool_name, :tool_name IS NULL)
--   | AND coalesce(s.model = :model, :model IS NULL)
--   | ORDER BY s.at DESC, s.log_id DESC LIMIT :limit
-- define after_skipped: {{between}} ORDER BY s.at DESC, s.log_id DESC LIMIT 1 OFFSET :skip

-- define lifecycle_facts: r.step_count, r.step_count - r.lifecycle_steps AS own_count,
--   | (SELECT s.at FROM steps AS s WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id
--   | AND s.number = r.step_count) AS last_at, (SELECT max(s.step_number) FROM steps AS s
--   | WHERE s.tenant_id = r.tenant_id AND s.run_id = r.id AND s.number > r.step_count - 34
--   | AND NOT s.lifecycle) AS iteration, r.stop_reason, r.error, r.total_input_tokens AS
--   | input_tokens, r.total_output_tokens AS output_tokens

-- reads facts_read: struct lifecycle_facts from {{lifecycle_facts}}
-- reads step_read: struct step from {{step_columns}}
-- binds step_bind: struct step for step_insert

-- name: step_take_numbers
UPDATE runs SET step_count = step_count + :count WHERE tenant_id = :tenant_id AND id = :run_id;

-- name: step_insert
{{sqlite:
INSERT INTO steps (tenant_id, run_id, number, thread_id, agent_id, turn_id, at, step_number,
    action_type, action_data, messages_snapshot_id, messages_count, estimated_tokens, duration_ms,
    tool_name, tool_use_id, outcome, model, provider, input_tokens, output_tokens,
    cache_creation_input_tokens, cache_read_input_tokens, cost_pico, price_version, lifecycle,
    created_at)
VALUES (:tenant_id, :run_id, :number, :thread_id, :agent_id, :turn_id, :at, :step_number,
    :action_type, :action_data, :messages_snapshot_id, :messages_count, :estimated_tokens,
    :duration_ms, :tool_name, :tool_use_id, :outcome, :model, :provider, :input_tokens,
    :output_tokens, :cache_creation_input_tokens, :cache_read_input_tokens, :cost_pico,
    :price_version, :lifecycle, :now)
RETURNING log_id;
}}

-- Inserts any number of steps, in the order of their numbers.
-- name: step_insert_all
-- types: steps json
{{postgres:
INSERT INTO steps (tenant_id, run_id, number, thread_id, agent_id, turn_id, at, step_number,
    action_type, action_data, messages_snapshot_id, messages_count, estimated_tokens, duration_ms,
    tool_name, tool_use_id, outcome, model, provider, input_tokens, output_tokens,
    cache_creation_input_tokens, cache_read_input_tokens, cost_pico, price_version, lifecycle,
    created_at)
SELECT :tenant_id, :run_id, o.number, :thread_id, :agent_id, o.turn_id, o.at, o.step_number,
    o.action_type, o.action_data, o.messages_snapshot_id, o.messages_count, o.estimated_tokens,
    o.duration_ms, o.tool_name, o.tool_use_id, o.outcome, o.model, o.provider, o.input_tokens,
    o.output_tokens, o.cache_creation_input_tokens, o.cache_read_input_tokens, o.cost_pico,
    o.price_version, :lifecycle, :now
FROM (SELECT * FROM json_to_recordset(:steps) AS e (number bigint, turn_id uuid, at bigint,
    step_number bigint, action_type text, action_data json, messages_snapshot_id uuid,
    messages_count bigint, estimated_tokens bigint, duration_ms bigint, tool_name text,
    tool_use_id text, outcome text, model text, provider text, input_tokens bigint,
    output_tokens bigint, cache_creation_input_tokens bigint, cache_read_input_tokens bigint,
    cost_pico bigint, price_version bigint) ORDER BY e.number) AS o
RETURNING log_id, number;
}}

-- name: step_take_lifecycle_number
UPDATE runs SET step_count = step_count + 1, lifecycle_steps = lifecycle_steps + 1
WHERE tenant_id = :tenant_id AND id = :run_id;

-- The members of a run that Cairn's steps describe.
-- name: step_lifecycle_facts
SELECT {{lifecycle_facts}} FROM runs AS r WHERE r.tenant_id = :tenant_id AND r.id = :run_id;

-- name: step_user_message
SELECT user_input FROM run_documents WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- The start is the first step, unless a client logged steps before it.
-- name: step_move_start
UPDATE steps SET at = :at WHERE tenant_id = :tenant_id AND run_id = :run_id AND number = 1
    AND lifecycle AND action_type = {{ACTION_RUN_STARTED}};

-- name: step_last_time
SELECT at FROM steps WHERE tenant_id = :tenant_id AND run_id = :run_id AND number = :number;

-- name: step_is_turn_of_run
SELECT count(*) FROM turns WHERE tenant_id = :tenant_id AND id = :turn_id AND run_id = :run_id;

-- name: step_last_snapshot
SELECT messages_snapshot_id FROM steps
WHERE tenant_id = :tenant_id AND run_id = :run_id AND messages_snapshot_id IS NOT NULL
ORDER BY number DESC LIMIT 1;

-- The last step of a model call before this one: the start of the call, if it was logged.
-- name: step_call_before
SELECT {{step_columns}} FROM steps AS s
WHERE s.tenant_id = :tenant_id AND s.run_id = :run_id AND s.number < :number AND s.number >= :after
    AND s.action_type IN ({{ACTION_API_CALL_STARTED}}, {{ACTION_API_RESPONSE_RECEIVED}},
        {{ACTION_API_ERROR}})
ORDER BY s.number DESC LIMIT 1;

-- name: step_count
SELECT step_count FROM runs WHERE tenant_id = :tenant_id AND id = :run_id;

-- name: step_get
SELECT {{step_columns}} FROM steps AS s
WHERE s.tenant_id = :tenant_id AND s.run_id = :run_id AND s.number = :number;

-- name: step_list_run
-- page: number
{{of_run}} AND coalesce(s.action_type = :action_type, :action_type IS NULL)
    AND coalesce(s.step_number = :step_number, :step_number IS NULL)
    AND s.at >= :from_at AND s.at < :before_at {{in_order}};

-- define of_turn: coalesce(s.turn_id = :turn_id, :turn_id IS NULL)

-- name: step_list_llm_calls
-- page: number
{{of_run}} AND s.action_type IN ({{ACTION_API_RESPONSE_RECEIVED}}, {{ACTION_API_ERROR}})
    AND {{of_turn}} {{in_order}};

-- An awaited tool with a result is listed itself (awaited_tool_list).
-- name: step_list_tool_calls
-- page: number
{{of_run}} AND s.action_type IN ({{ACTION_TOOL_EXECUTION}}, {{ACTION_TOOL_ERROR}})
    AND {{of_turn}}
    AND NOT EXISTS (SELECT 1 FROM awaited_tools AS w WHERE w.tenant_id = s.tenant_id
        AND w.run_id = s.run_id AND w.tool_use_id = s.tool_use_id AND w.result_at IS NOT NULL)
{{in_order}};

-- A list across runs uses the index of its narrowest filter. Each list has a second statement that
-- returns the position after a number of entries of the same index.
-- name: step_list
-- page: at DESC, log_id DESC
{{newest}} {{others}};

-- name: step_list_of_thread
-- page: at DESC, log_id DESC
{{newest}} AND s.thread_id = :thread_id {{others}};

-- name: step_list_of_errors
-- page: at DESC, log_id DESC
{{newest}} AND s.outcome = {{STEP_ERROR}} {{others}};

-- name: step_list_of_tool
-- page: at DESC, log_id DESC
{{newest}} AND s.tool_name = :tool_name {{others}};

-- name: step_list_of_model
-- page: at DESC, log_id DESC
{{newest}} AND s.model = :model {{others}};

-- name: step_list_of_agent
-- page: at DESC, log_id DESC
{{newest}} AND s.agent_id = :agent_id {{others}};

-- name: step_list_of_type
-- page: at DESC, log_id DESC
{{newest}} AND s.action_type = :action_type {{others}};

-- name: step_scan
{{position}} {{after_skipped}};

-- name: step_scan_of_thread
{{position}} AND s.thread_id = :thread_id {{after_skipped}};

-- name: step_scan_of_errors
{{position}} AND s.outcome = {{STEP_ERROR}} {{after_skipped}};

-- name: step_scan_of_tool
{{position}} AND s.tool_name = :tool_name {{after_skipped}};

-- name: step_scan_of_model
{{position}} AND s.model = :model {{after_skipped}};

-- name: step_scan_of_agent
{{position}} AND s.agent_id = :agent_id {{after_skipped}};

-- name: step_scan_of_type
{{position}} AND s.action_type = :action_type {{after_skipped}};

-- name: step_summary_run
SELECT action_type, count(*), sum(CASE WHEN outcome = {{STEP_ERROR}} THEN 1 ELSE 0 END),
    CAST(coalesce(sum(duration_ms), 0) AS {{int}}), min(at), max(at)
FROM steps {{sqlite: INDEXED BY steps_by_run}} WHERE tenant_id = :tenant_id AND run_id = :run_id
GROUP BY action_type ORDER BY action_type;

-- name: step_summary_thread
SELECT action_type, count(*), sum(CASE WHEN outcome = {{STEP_ERROR}} THEN 1 ELSE 0 END),
    CAST(coalesce(sum(duration_ms), 0) AS {{int}}), min(at), max(at)
FROM steps {{sqlite: INDEXED BY steps_by_thread}}
WHERE tenant_id = :tenant_id AND thread_id = :thread_id
GROUP BY action_type ORDER BY action_type;
