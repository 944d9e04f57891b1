-- SPDX-License-Identifier: Apache-2.0
-- The runs of a thread from before Cairn, as the engine of the thread counted them, which
-- total_runs includes; and the view again (0023) with them.
ALTER TABLE resumptions ADD COLUMN earlier_runs {{int}} NOT NULL DEFAULT 0;

{{sqlite: DROP VIEW agent_config; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agent_config AS SELECT
    {{key: t.id}} AS agent_uuid,
    s.system_prompt, s.model, s.max_steps, s.thinking_tokens, s.max_tokens, s.container_id,
    CASE WHEN s.messages_snapshot_id IS NOT NULL THEN {{object}}(
        'snapshot_id', {{id_text: s.messages_snapshot_id}},
        'read', '/v1/threads/' || {{id_text: s.thread_id}} || '/resumption') END AS messages,
    {{show_json: s.tool_schemas}} AS tool_schemas,
    {{sqlite: (SELECT json_group_array(e.value ->> 'name') FROM json_each(s.tool_schemas) AS e)}}
    {{postgres: ARRAY(SELECT e ->> 'name' FROM json_array_elements(s.tool_schemas) AS e)}}
        AS tool_names,
    {{show_json: s.server_tools}} AS server_tools,
    {{sqlite: s.beta_headers}}
    {{postgres: ARRAY(SELECT json_array_elements_text(s.beta_headers))}} AS beta_headers,
    {{show_json: s.api_kwargs}} AS api_kwargs,
    s.formatter, s.stream_meta_history_and_tool_results, s.compactor_type, s.memory_store_type,
    {{show_json: s.file_registry}} AS file_registry,
    {{show_json: s.extras}} AS extras,
    s.max_retries,
    {{sqlite: s.base_delay_ms / 1000.0}}
    {{postgres: (s.base_delay_ms / 1000.0)::double precision}} AS base_delay,
    s.last_known_input_tokens, s.last_known_output_tokens,
    -- For unfinished runs that wait for tools: frontend tools without a result, and backend tools
    -- with one.
    (SELECT coalesce({{group_array}}({{nested: q.tool}}), {{empty_list}})
        FROM (SELECT {{object}}('tool_use_id', w.tool_use_id, 'name', w.name,
                'input', {{show_json: w.input}}) AS tool
            FROM awaited_tools AS w JOIN runs AS r ON r.tenant_id = w.tenant_id AND r.id = w.run_id
            WHERE r.tenant_id = s.tenant_id AND r.thread_id = s.thread_id
                AND r.status NOT IN ('completed', 'failed', 'cancelled')
                AND r.phase = 'awaiting_tool'
                AND w.side = 'frontend' AND w.result_at IS NULL
                AND w.pause = (SELECT max(o.pause) FROM awaited_tools AS o
                    WHERE o.tenant_id = w.tenant_id AND o.run_id = w.run_id
                        AND o.result_at IS NULL)
            ORDER BY w.run_id, w.position) AS q) AS pending_frontend_tools,
    (SELECT coalesce({{group_array}}({{nested: q.result}}), {{empty_list}})
        FROM (SELECT {{object}}('type', 'tool_result', 'tool_use_id', w.tool_use_id,
                'content', {{show_json: w.result}},
                'is_error', {{sqlite: json(CASE WHEN w.is_error THEN 'true' ELSE 'false' END)}}
                    {{postgres: coalesce(w.is_error, false)}}) AS result
            FROM awaited_tools AS w JOIN runs AS r ON r.tenant_id = w.tenant_id AND r.id = w.run_id
            WHERE r.tenant_id = s.tenant_id AND r.thread_id = s.thread_id
                AND r.status NOT IN ('completed', 'failed', 'cancelled')
                AND r.phase = 'awaiting_tool'
                AND w.side = 'backend' AND w.result_at IS NOT NULL
                AND w.pause = (SELECT max(o.pause) FROM awaited_tools AS o
                    WHERE o.tenant_id = w.tenant_id AND o.run_id = w.run_id
                        AND o.result_at IS NULL)
            ORDER BY w.run_id, w.position) AS q) AS pending_backend_results,
    EXISTS (SELECT 1 FROM awaited_tools AS w
        JOIN runs AS r ON r.tenant_id = w.tenant_id AND r.id = w.run_id
        WHERE r.tenant_id = s.tenant_id AND r.thread_id = s.thread_id
            AND r.status NOT IN ('completed', 'failed', 'cancelled')
            AND r.phase = 'awaiting_tool'
            AND w.side = 'frontend' AND w.result_at IS NULL
            AND w.pause = (SELECT max(o.pause) FROM awaited_tools AS o
                WHERE o.tenant_id = w.tenant_id AND o.run_id = w.run_id
                    AND o.result_at IS NULL)) AS awaiting_frontend_tools,
    s.current_step,
    CASE WHEN s.history_snapshot_id IS NOT NULL THEN {{object}}(
        'snapshot_id', {{id_text: s.history_snapshot_id}},
        'read', '/v1/threads/' || {{id_text: s.thread_id}} || '/resumption')
        ELSE {{empty_list}} END AS conversation_history,
    t.title,
    {{show_instant: s.created_at}} AS created_at,
    {{show_instant: s.updated_at}} AS updated_at,
    (SELECT {{show_instant: max(r.started_at)}} FROM runs AS r
        WHERE r.tenant_id = s.tenant_id AND r.thread_id = s.thread_id
            AND r.parent_run_id IS NULL) AS last_run_at,
    s.earlier_runs + (SELECT count(*) FROM runs AS r WHERE r.tenant_id = s.tenant_id
        AND r.thread_id = s.thread_id AND r.parent_run_id IS NULL) AS total_runs,
    {{show_id: s.tenant_id}} AS tenant_id
FROM resumptions AS s JOIN threads AS t ON t.tenant_id = s.tenant_id AND t.id = s.thread_id
{{postgres: WHERE {{of_tenants: s.tenant_id}}}};
