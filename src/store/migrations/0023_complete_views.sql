-- SPDX-License-Identifier: Apache-2.0
-- The views of the seeds again (0001, 0008): complete sessions, times with microseconds, and an
-- index for every lookup by id.
--
-- PostgreSQL: a view that is read without a tenant reports that, because an empty result looks like
-- an empty database. `tenant_id = ANY (cairn_tenants())` also lets the planner use the indexes,
-- which all begin with the tenant; it cannot use the condition of row-level security for that.
--
-- SQLite: ids are shown as text, so a lookup needs an index of that text. Tables with few rows per
-- run have one. Steps and events have none, because each index makes an append slower: their views
-- join the thread and the run, whose texts have an index, and reach the rows by the id that they
-- found. The texts of the views and of the indexes must be equal: both are written as {{key: …}}.
{{postgres:
CREATE FUNCTION cairn_tenants() RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE tenant text := current_setting('cairn.tenant', true);
BEGIN
    IF coalesce(tenant, '') = '' THEN
        RAISE EXCEPTION 'no tenant is set' USING ERRCODE = 'insufficient_privilege',
            HINT = 'SET cairn.tenant to the id of a tenant; an asterisk means all tenants.';
    END IF;
    IF tenant = '*' THEN
        RETURN ARRAY(SELECT id FROM tenants);
    END IF;
    RETURN ARRAY[tenant::uuid];
END $$;

-- Stored, because the planner may compare only columns with the value of a query before row-level
-- security has removed the rows of other tenants, not results of functions.
ALTER TABLE threads ADD COLUMN session_id text GENERATED ALWAYS AS
    (coalesce(CASE WHEN key_owner IS NULL THEN key END, id::text)) STORED;
CREATE INDEX threads_by_session ON threads (tenant_id, session_id);
ALTER TABLE history_entries ADD COLUMN started_time timestamptz GENERATED ALWAYS AS
    (to_timestamp(started_at / 1000000.0)) STORED;
CREATE INDEX history_entries_by_time ON history_entries (tenant_id, started_time);
}}
{{sqlite:
CREATE INDEX threads_by_session ON threads
    (coalesce(CASE WHEN key_owner IS NULL THEN key END, {{key: id}}));
CREATE INDEX history_entries_by_time ON history_entries (tenant_id, {{show_instant: started_at}});
CREATE INDEX tenants_by_text ON tenants ({{key: id}});
CREATE INDEX api_keys_by_text ON api_keys ({{key: id}});
CREATE INDEX threads_by_text ON threads ({{key: id}});
CREATE INDEX runs_by_text ON runs ({{key: id}});
CREATE INDEX runs_by_agent_text ON runs ({{show_id: agent_id}});
CREATE INDEX agents_by_text ON agents ({{key: id}});
CREATE INDEX history_entries_by_text ON history_entries ({{key: id}});
CREATE INDEX history_entries_by_run_text ON history_entries ({{key: run_id}});
CREATE INDEX turns_by_text ON turns ({{key: id}});
CREATE INDEX checkpoints_by_text ON checkpoints ({{key: id}});
CREATE INDEX checkpoints_by_run_text ON checkpoints ({{show_id: run_id}});
CREATE INDEX eval_runs_by_text ON eval_runs ({{key: id}});
}}

-- --- Memoria --------------------------------------------------------------------------------

{{sqlite: DROP VIEW workflows; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW workflows AS SELECT
    {{key: t.id}} AS id, t.status,
    {{show_json: d.context}} AS context, {{show_json: d.preferences}} AS preferences,
    {{show_json: d.important_steps}} AS important_steps,
    {{show_id: t.most_recent_run_id}} AS most_recent_run_id, {{show_json: t.error}} AS error,
    {{show_instant: t.created_at}} AS created_at, {{show_instant: t.updated_at}} AS updated_at
FROM threads AS t JOIN thread_documents AS d ON d.tenant_id = t.tenant_id AND d.thread_id = t.id
{{postgres: WHERE {{of_tenants: t.tenant_id}}}};

{{sqlite: DROP VIEW workflow_runs; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW workflow_runs AS SELECT
    {{key: r.id}} AS id, {{key: t.id}} AS workflow_id,
    r.status, d.user_input, r.ask_clarifications, {{show_json: d.state}} AS state,
    {{show_json: d.final_output}} AS final_output, {{show_json: r.error}} AS error,
    {{show_instant: r.created_at}} AS created_at, {{show_instant: r.updated_at}} AS updated_at
FROM runs AS r JOIN run_documents AS d ON d.tenant_id = r.tenant_id AND d.run_id = r.id
JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id
{{postgres: WHERE {{of_tenants: r.tenant_id}}}};

{{sqlite: DROP VIEW workflow_events; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW workflow_events AS SELECT
    e.id, {{sqlite: {{key: t.id}}}}{{postgres: e.thread_id}} AS workflow_id,
    {{show_id: e.run_id}} AS run_id,
    CASE WHEN e.kind IN ('conversation.created', 'conversation.deleted') THEN 'status'
        ELSE e.kind END AS kind,
    e.text, {{show_json: e.payload}} AS payload, {{show_instant: e.created_at}} AS created_at
FROM events AS e
-- Without the likelihood SQLite would read the events of all threads after the cursor.
{{sqlite: JOIN threads AS t
    ON t.tenant_id = e.tenant_id AND likelihood(e.thread_id = t.id, 0.00001)}}
WHERE {{postgres: {{of_tenants: e.tenant_id}} AND}} NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = e.tenant_id AND g.thread_id = e.thread_id AND g.through_seq >= e.seq)
    AND (e.kind IN ('conversation.created', 'conversation.deleted')
        OR {{sqlite: substr(e.kind, 1, instr(e.kind, '.'))}}
            {{postgres: split_part(e.kind, '.', 1) || '.'}} NOT IN
            ('conversation.', 'participant.', 'message.', 'file.', 'assistant.',
                'run.', 'turn.', 'steps.', 'checkpoint.', 'tool.', 'resumption.', 'history.'));

-- --- The three tables of an agent that can be resumed ---------------------------------------

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
    (SELECT count(*) FROM runs AS r WHERE r.tenant_id = s.tenant_id
        AND r.thread_id = s.thread_id AND r.parent_run_id IS NULL) AS total_runs,
    {{show_id: s.tenant_id}} AS tenant_id
FROM resumptions AS s JOIN threads AS t ON t.tenant_id = s.tenant_id AND t.id = s.thread_id
{{postgres: WHERE {{of_tenants: s.tenant_id}}}};

{{sqlite: DROP VIEW conversation_history; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW conversation_history AS SELECT
    {{key: h.id}} AS conversation_id,
    {{key: t.id}} AS agent_uuid,
    {{key: h.run_id}} AS run_id,
    {{sqlite: {{show_instant: h.started_at}}}}{{postgres: h.started_time}} AS started_at,
    {{show_instant: h.completed_at}} AS completed_at,
    h.user_message, h.final_response,
    CASE WHEN h.messages_snapshot_id IS NOT NULL THEN {{object}}(
        'snapshot_id', {{id_text: h.messages_snapshot_id}},
        'read', '/v1/threads/' || {{id_text: h.thread_id}} || '/history/' || h.sequence_number)
        END AS messages,
    h.stop_reason, h.total_steps,
    {{object}}('input_tokens', h.input_tokens, 'output_tokens', h.output_tokens,
        'cache_creation_input_tokens', h.cache_creation_input_tokens,
        'cache_read_input_tokens', h.cache_read_input_tokens) AS usage,
    {{show_json: h.generated_files}} AS generated_files,
    {{show_json: h.cost}} AS cost,
    {{show_json: h.extras}} AS extras,
    h.sequence_number,
    {{show_instant: h.created_at}} AS created_at,
    h.input_tokens, h.output_tokens,
    {{show_id: h.tenant_id}} AS tenant_id
FROM history_entries AS h
JOIN threads AS t ON t.tenant_id = h.tenant_id AND t.id = h.thread_id
WHERE {{of_tenants: h.tenant_id}};

{{sqlite: DROP VIEW agent_runs; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW agent_runs AS SELECT
    s.log_id,
    {{key: t.id}} AS agent_uuid,
    {{key: r.id}} AS run_id,
    {{show_instant: s.at}} AS timestamp,
    s.step_number, s.action_type,
    {{show_json: s.action_data}} AS action_data,
    CASE WHEN s.messages_snapshot_id IS NOT NULL THEN {{object}}(
        'snapshot_id', {{id_text: s.messages_snapshot_id}},
        'read', '/v1/runs/' || {{id_text: s.run_id}} || '/steps/' || s.number)
        END AS messages_snapshot,
    s.messages_count, s.estimated_tokens, s.duration_ms,
    {{show_id: s.tenant_id}} AS tenant_id
FROM steps AS s JOIN runs AS r ON r.tenant_id = s.tenant_id AND r.id = s.run_id
JOIN threads AS t ON t.tenant_id = s.tenant_id AND t.id = s.thread_id
WHERE {{of_tenants: s.tenant_id}};

-- --- Sessions, components, metrics, evaluations ---------------------------------------------

{{sqlite: DROP VIEW agno_sessions; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agno_sessions AS SELECT
    {{session: t}} AS session_id,
    coalesce(a.kind, 'agent') AS session_type,
    CASE WHEN coalesce(a.kind, 'agent') = 'agent'
        THEN coalesce({{id_text: a.id}}, t.agent) END AS agent_id,
    CASE WHEN a.kind = 'team' THEN {{id_text: a.id}} END AS team_id,
    (SELECT substr(p.principal, 6) FROM participants AS p
        WHERE p.tenant_id = t.tenant_id AND p.thread_id = t.id AND p.principal LIKE 'user:%'
        ORDER BY p.created_at, p.id LIMIT 1) AS user_id,
    {{object}}('session_name', t.title, 'session_state', {{nested:
        {{sqlite: (SELECT json_group_object(q.name, json(q.value)) FROM (
            SELECT e.key AS name, CASE WHEN e.type IN ('true', 'false', 'null') THEN e.type
                WHEN e.type IN ('object', 'array') THEN e.value
                ELSE json_quote(e.value) END AS value
            FROM thread_documents AS x, json_each(x.context) AS e
            WHERE x.tenant_id = t.tenant_id AND x.thread_id = t.id AND e.key <> 'summary'
                AND NOT EXISTS (SELECT 1 FROM state_documents AS d
                    WHERE d.tenant_id = t.tenant_id AND d.thread_id = t.id AND d.kind = 'state'
                        AND d.agent_id = {{no_uuid}} AND d.name = e.key)
            UNION ALL
            SELECT d.name, v.data
            FROM state_documents AS d JOIN state_versions AS v
                ON v.tenant_id = d.tenant_id AND v.state_id = d.id AND v.version = d.version
            WHERE d.tenant_id = t.tenant_id AND d.thread_id = t.id AND d.kind = 'state'
                AND d.agent_id = {{no_uuid}}) AS q)}}
        {{postgres: (SELECT CASE WHEN jsonb_typeof(as_jsonb(x.context)) = 'object'
                THEN as_jsonb(x.context) - 'summary' ELSE jsonb_build_object() END
            || (SELECT coalesce(jsonb_object_agg(d.name, as_jsonb(v.data)), jsonb_build_object())
                FROM state_documents AS d JOIN state_versions AS v
                    ON v.tenant_id = d.tenant_id AND v.state_id = d.id AND v.version = d.version
                WHERE d.tenant_id = t.tenant_id AND d.thread_id = t.id AND d.kind = 'state'
                    AND d.agent_id = {{no_uuid}})
            FROM thread_documents AS x
            WHERE x.tenant_id = t.tenant_id AND x.thread_id = t.id)}}}}) AS session_data,
    CASE WHEN a.kind = 'agent' THEN {{object}}('agent_id', {{id_text: a.id}}, 'name', a.name,
        'description', a.description, 'version', a.active_version) END AS agent_data,
    CASE WHEN a.kind = 'team' THEN {{object}}('team_id', {{id_text: a.id}}, 'name', a.name,
        'description', a.description, 'version', a.active_version) END AS team_data,
    (SELECT coalesce({{group_array}}({{nested: q.run}}), {{empty_list}})
        FROM (SELECT {{object}}(
                'run_id', {{id_text: r.id}},
                'parent_run_id', {{id_text: r.parent_run_id}},
                'session_id', {{session: t}},
                'team_id', CASE WHEN b.kind = 'team' THEN {{id_text: b.id}} END,
                'team_name', CASE WHEN b.kind = 'team' THEN b.name END,
                'workflow_id', CASE WHEN b.kind = 'workflow' THEN {{id_text: b.id}} END,
                'workflow_name', CASE WHEN b.kind = 'workflow' THEN b.name END,
                'agent_id', CASE WHEN coalesce(b.kind, 'agent') = 'agent'
                    THEN coalesce({{id_text: b.id}}, r.agent) END,
                'agent_name', CASE WHEN coalesce(b.kind, 'agent') = 'agent'
                    THEN coalesce(b.name, r.agent) END,
                'status', upper(r.status),
                'input', CASE WHEN d.user_input IS NOT NULL OR d.request IS NOT NULL
                    THEN {{sqlite: json_object('input_content', coalesce(d.user_input,
                        CASE WHEN json_type(d.request) = 'object'
                            THEN d.request ->> 'message' END, d.request)) || ''}}
                    {{postgres: jsonb_build_object('input_content', coalesce(d.user_input,
                        CASE WHEN json_typeof(d.request) = 'object'
                            THEN d.request ->> 'message' END, d.request::text))::text}} END,
                'content', coalesce(d.content, {{sqlite: CASE
                    WHEN json_type(d.final_output) = 'text' THEN d.final_output ->> '$' END}}
                    {{postgres: CASE WHEN json_typeof(d.final_output) = 'string'
                        THEN d.final_output #>> ARRAY[]::text[] END}}),
                'content_type', d.content_type,
                'messages', {{nested: coalesce(
                    (SELECT {{object}}('snapshot_id', {{id_text: h.messages_snapshot_id}},
                            'read', '/v1/threads/' || {{id_text: h.thread_id}} || '/history/'
                                || h.sequence_number)
                        FROM history_entries AS h WHERE h.tenant_id = r.tenant_id
                            AND h.run_id = r.id AND h.messages_snapshot_id IS NOT NULL),
                    CASE WHEN d.messages_snapshot_id IS NOT NULL THEN {{object}}(
                        'snapshot_id', {{id_text: d.messages_snapshot_id}},
                        'read', '/v1/runs/' || {{id_text: r.id}} || '?include=messages') END,
                    (SELECT {{object}}('snapshot_id', {{id_text: x.messages_snapshot_id}},
                            'read', '/v1/runs/' || {{id_text: x.run_id}} || '/steps/' || x.number)
                        FROM steps AS x WHERE x.tenant_id = r.tenant_id AND x.run_id = r.id
                            AND x.messages_snapshot_id IS NOT NULL
                        ORDER BY x.number DESC LIMIT 1),
                    (SELECT {{group_array}}({{nested: m.message}})
                    FROM (SELECT {{object}}('id', {{id_text: x.id}}, 'role', x.sender_role,
                            'content', x.content, 'created_at', x.created_at / 1000000) AS message
                        FROM messages AS x WHERE x.tenant_id = r.tenant_id AND x.run_id = r.id
                            AND x.deleted_at IS NULL
                        ORDER BY x.seq) AS m),
                    {{empty_list}})}},
                'member_responses', {{nested: (SELECT
                        coalesce({{group_array}}({{nested: m.member}}), {{empty_list}})
                    FROM (SELECT {{object}}('run_id', {{id_text: x.id}},
                            'agent_id', coalesce({{id_text: x.agent_id}}, x.agent),
                            'agent_name', coalesce(y.name, x.agent),
                            'status', upper(x.status), 'content', z.content) AS member
                        FROM runs AS x
                        JOIN run_documents AS z ON z.tenant_id = x.tenant_id AND z.run_id = x.id
                        LEFT JOIN agents AS y ON y.tenant_id = x.tenant_id AND y.id = x.agent_id
                        WHERE x.tenant_id = r.tenant_id AND x.parent_run_id = r.id
                        ORDER BY x.id) AS m)}},
                'metrics', {{sqlite: json(json_patch(}}{{object}}(
                        'input_tokens', r.input_tokens, 'output_tokens', r.output_tokens,
                        'total_tokens', r.input_tokens + r.output_tokens,
                        'cache_write_tokens', r.cache_creation_input_tokens,
                        'cache_read_tokens', r.cache_read_input_tokens,
                        'llm_calls', r.llm_calls,
                        'cost_usd', r.cost_pico / 1000000000000.0,
                        'duration', (r.finished_at - r.started_at) / 1000000.0)
                    {{sqlite: , CASE WHEN json_type(d.metrics) = 'object' THEN d.metrics
                        ELSE json_object() END))}}
                    {{postgres: || CASE WHEN json_typeof(d.metrics) = 'object'
                        AND jsonb_typeof(as_jsonb(d.metrics)) = 'object'
                        THEN as_jsonb(d.metrics) ELSE jsonb_build_object() END}},
                'events', {{nested: (SELECT coalesce({{group_array}}({{nested: m.event}}),
                        {{empty_list}})
                    FROM (SELECT {{object}}('event', x.action_type, 'step_number', x.step_number,
                            'created_at', x.at / 1000000, 'duration_ms', x.duration_ms) AS event
                        FROM steps AS x WHERE x.tenant_id = r.tenant_id AND x.run_id = r.id
                        ORDER BY x.number) AS m)}},
                'model', r.model, 'model_provider', r.provider,
                'citations', {{show_json: d.citations}},
                'created_at', r.created_at / 1000000) AS run
            FROM runs AS r
            JOIN run_documents AS d ON d.tenant_id = r.tenant_id AND d.run_id = r.id
            LEFT JOIN agents AS b ON b.tenant_id = r.tenant_id AND b.id = r.agent_id
            WHERE r.tenant_id = t.tenant_id AND r.thread_id = t.id
            ORDER BY r.id) AS q) AS runs,
    (SELECT {{sqlite: CASE json_type(x.context, '$.summary')
            WHEN 'text' THEN json_object('summary', x.context ->> '$.summary')
            WHEN 'null' THEN NULL ELSE x.context -> '$.summary' END}}
            {{postgres: CASE json_typeof(x.context -> 'summary')
            WHEN 'string' THEN jsonb_build_object('summary', x.context ->> 'summary')
            WHEN 'null' THEN NULL ELSE as_jsonb(x.context -> 'summary') END}}
        FROM thread_documents AS x
        WHERE x.tenant_id = t.tenant_id AND x.thread_id = t.id) AS summary,
    t.created_at / 1000000 AS created_at,
    t.updated_at / 1000000 AS updated_at,
    CASE WHEN a.kind = 'workflow' THEN {{id_text: a.id}} END AS workflow_id,
    {{show_id: t.tenant_id}} AS tenant_id
FROM threads AS t
LEFT JOIN agents AS a ON a.tenant_id = t.tenant_id AND a.id = coalesce(
    (SELECT r.agent_id FROM runs AS r WHERE r.tenant_id = t.tenant_id AND r.thread_id = t.id
        AND r.parent_run_id IS NULL AND r.agent_id IS NOT NULL ORDER BY r.id DESC LIMIT 1),
    (SELECT s.agent_id FROM resumptions AS s
        WHERE s.tenant_id = t.tenant_id AND s.thread_id = t.id))
{{postgres: WHERE {{of_tenants: t.tenant_id}}}};

{{sqlite: DROP VIEW agno_components; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agno_components AS SELECT
    {{key_text: a.id}} AS component_id, a.kind AS component_type, a.name, a.description,
    (SELECT v.number FROM agent_versions AS v WHERE v.tenant_id = a.tenant_id
        AND v.agent_id = a.id AND v.version = a.active_version) AS current_version,
    {{show_json: a.metadata}} AS metadata,
    a.created_at / 1000000 AS created_at, a.updated_at / 1000000 AS updated_at,
    {{show_id: a.tenant_id}} AS tenant_id
FROM agents AS a
{{postgres: WHERE {{of_tenants: a.tenant_id}}}};

{{sqlite: DROP VIEW agno_component_configs; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agno_component_configs AS SELECT
    {{key_text: a.id}} AS component_id, v.number AS version, v.version AS label,
    CASE WHEN v.used_at IS NOT NULL OR v.version = a.active_version
        THEN 'published' ELSE 'draft' END AS stage,
    {{object}}('system_prompt', {{show_json: v.system_prompt}},
        'workflow_graph', {{show_json: v.workflow_graph}},
        'memory_config', {{show_json: v.memory_config}},
        'guardrail_config', {{show_json: v.guardrail_config}},
        'llm_config', {{show_json: v.llm_config}},
        'execution_config', {{show_json: v.execution_config}},
        'tools', {{show_json: v.tools}}) AS config,
    v.description AS notes,
    v.created_at / 1000000 AS created_at, v.updated_at / 1000000 AS updated_at,
    {{show_id: v.tenant_id}} AS tenant_id
FROM agent_versions AS v
JOIN agents AS a ON a.tenant_id = v.tenant_id AND a.id = v.agent_id
{{postgres: WHERE {{of_tenants: v.tenant_id}}}};

{{sqlite: DROP VIEW agno_component_links; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agno_component_links AS SELECT
    {{key_text: p.id}} AS parent_component_id, l.role AS link_kind,
    {{key_text: c.id}} AS child_component_id,
    (SELECT v.number FROM agent_versions AS v WHERE v.tenant_id = l.tenant_id
        AND v.agent_id = l.child_id AND v.version = l.child_version) AS child_version,
    l.position,
    {{show_json: l.metadata}} AS meta,
    l.created_at / 1000000 AS created_at, l.updated_at / 1000000 AS updated_at,
    {{show_id: l.tenant_id}} AS tenant_id
FROM agent_links AS l JOIN agents AS p ON p.tenant_id = l.tenant_id AND p.id = l.parent_id
JOIN agents AS c ON c.tenant_id = l.tenant_id AND c.id = l.child_id
{{postgres: WHERE {{of_tenants: l.tenant_id}}}};

-- Days are UTC days. Runs without an agent are counted like runs of an agent.
{{sqlite: DROP VIEW agno_metrics; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agno_metrics AS SELECT
    {{sqlite: date(u.day * 86400, 'unixepoch')}}
    {{postgres: DATE '1970-01-01' + u.day::int}} AS date,
    'daily' AS aggregation_period,
    sum(CASE WHEN coalesce(a.kind, 'agent') = 'agent' THEN u.runs_started ELSE 0 END)
        AS agent_runs_count,
    sum(CASE WHEN a.kind = 'team' THEN u.runs_started ELSE 0 END) AS team_runs_count,
    sum(CASE WHEN a.kind = 'workflow' THEN u.runs_started ELSE 0 END) AS workflow_runs_count,
    {{object}}('input_tokens', sum(u.input_tokens), 'output_tokens', sum(u.output_tokens),
        'total_tokens', sum(u.input_tokens) + sum(u.output_tokens),
        'cache_write_tokens', sum(u.cache_creation_input_tokens),
        'cache_read_tokens', sum(u.cache_read_input_tokens),
        'cost_usd', sum(u.cost_pico) / 1000000000000.0) AS token_metrics,
    (SELECT coalesce({{group_array}}({{nested: q.model}}), {{empty_list}})
        FROM (SELECT {{object}}('model_id', m.model, 'model_provider', nullif(m.provider, ''),
                'count', sum(m.llm_calls), 'input_tokens', sum(m.input_tokens),
                'output_tokens', sum(m.output_tokens)) AS model
            FROM usage_days AS m
            WHERE m.tenant_id = u.tenant_id AND m.day = u.day AND m.model <> ''
            GROUP BY m.model, m.provider ORDER BY m.model, m.provider) AS q) AS model_metrics,
    max(u.updated_at) / 1000000 AS updated_at,
    {{show_id: u.tenant_id}} AS tenant_id
FROM usage_days AS u LEFT JOIN agents AS a ON a.tenant_id = u.tenant_id AND a.id = u.agent_id
{{postgres: WHERE {{of_tenants: u.tenant_id}}}}
GROUP BY u.tenant_id, u.day;

{{sqlite: DROP VIEW agno_eval_runs; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agno_eval_runs AS SELECT
    {{key_text: e.id}} AS run_id, e.eval_type, e.name,
    CASE WHEN coalesce(a.kind, 'agent') = 'agent' THEN {{id_text: e.agent_id}} END AS agent_id,
    CASE WHEN a.kind = 'team' THEN {{id_text: e.agent_id}} END AS team_id,
    CASE WHEN a.kind = 'workflow' THEN {{id_text: e.agent_id}} END AS workflow_id,
    e.model AS model_id, e.provider AS model_provider,
    coalesce(e.evaluated_name, a.name) AS evaluated_component_name,
    {{show_json: e.eval_input}} AS eval_input,
    {{show_json: e.eval_data}} AS eval_data,
    e.score_micro / 1000000.0 AS score, e.passed,
    {{id_text: e.run_id}} AS evaluated_run_id,
    e.created_at / 1000000 AS created_at, e.updated_at / 1000000 AS updated_at,
    {{show_id: e.tenant_id}} AS tenant_id
FROM eval_runs AS e LEFT JOIN agents AS a ON a.tenant_id = e.tenant_id AND a.id = e.agent_id
{{postgres: WHERE {{of_tenants: e.tenant_id}}}};

-- For the whole database: no tenant has a schema of its own.
{{sqlite: DROP VIEW agno_schema_versions; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agno_schema_versions AS SELECT
    name AS table_name, {{sqlite: version || ''}}{{postgres: version::text}} AS version,
    {{show_instant: applied_at}} AS created_at, {{show_instant: applied_at}} AS updated_at
FROM schema_versions;

-- --- Notebooks ------------------------------------------------------------------------------

{{sqlite: DROP VIEW notebooks; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW notebooks AS SELECT
    number AS id, title{{postgres: ::varchar(255) AS title}}, description,
    instructions,
    {{show_instant: created_at}} AS created_at,
    {{show_instant: updated_at}} AS updated_at,
    {{show_id: tenant_id}} AS tenant_id
FROM notebook_records WHERE {{of_tenants: tenant_id}};

{{sqlite: DROP VIEW notebook_sessions; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW notebook_sessions AS SELECT
    s.number AS id, n.number AS notebook_id,
    {{session: t}} AS session_id,
    {{show_instant: s.created_at}} AS created_at,
    {{show_id: s.tenant_id}} AS tenant_id
FROM notebook_threads AS s
JOIN notebook_records AS n ON n.tenant_id = s.tenant_id AND n.id = s.notebook_id
JOIN threads AS t ON t.tenant_id = s.tenant_id AND t.id = s.thread_id
WHERE {{of_tenants: n.tenant_id}};

-- --- The platform ---------------------------------------------------------------------------

{{sqlite: DROP VIEW tenant; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW tenant AS SELECT
    {{key: id}} AS id, name, plan_tier,
    {{show_json: settings}} AS settings,
    {{show_instant: created_at}} AS created_at
FROM tenants {{postgres: WHERE {{of_tenants: id}}}};

-- The hash of a secret is not shown.
{{sqlite: DROP VIEW api_key; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW api_key AS SELECT
    {{key: id}} AS id, {{show_id: tenant_id}} AS tenant_id,
    {{sqlite: NULL}}{{postgres: NULL::text}} AS key_hash,
    {{sqlite: scopes}}{{postgres: ARRAY(SELECT json_array_elements_text(scopes))}} AS scopes,
    {{show_instant: expires_at}} AS expires_at,
    {{show_instant: created_at}} AS created_at,
    {{show_instant: revoked_at}} AS revoked_at
FROM api_keys {{postgres: WHERE {{of_tenants: tenant_id}}}};

-- Each agent with its active version; agno_component_configs has all of them.
{{sqlite: DROP VIEW agent_definition; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agent_definition AS SELECT
    {{key: a.id}} AS id, {{show_id: a.tenant_id}} AS tenant_id, a.name, v.version,
    {{show_json: v.system_prompt}} AS system_prompt,
    {{show_json: v.workflow_graph}} AS workflow_graph,
    {{show_json: v.memory_config}} AS memory_config,
    {{show_json: v.guardrail_config}} AS guardrail_config,
    {{show_json: v.llm_config}} AS llm_config,
    {{show_json: v.execution_config}} AS execution_config,
    a.is_active,
    {{show_instant: a.created_at}} AS created_at,
    {{show_instant: a.updated_at}} AS updated_at
FROM agents AS a LEFT JOIN agent_versions AS v
    ON v.tenant_id = a.tenant_id AND v.agent_id = a.id AND v.version = a.active_version
{{postgres: WHERE {{of_tenants: a.tenant_id}}}};

{{sqlite: DROP VIEW tool_binding; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW tool_binding AS SELECT
    {{id_text: v.agent_id}} || '/' || b.key AS id,
    {{key: a.id}} AS definition_id,
    b.value ->> 'tool' AS tool_id,
    {{sqlite: b.value -> 'config_overrides'}}
    {{postgres: as_jsonb(b.value -> 'config_overrides')}} AS config_overrides,
    {{sqlite: coalesce(b.value ->> 'is_enabled', 1)}}
    {{postgres: coalesce((b.value ->> 'is_enabled')::boolean, true)}} AS is_enabled,
    {{show_id: v.tenant_id}} AS tenant_id
FROM agents AS a JOIN agent_versions AS v
    ON v.tenant_id = a.tenant_id AND v.agent_id = a.id AND v.version = a.active_version
{{sqlite: JOIN json_each(v.tools) AS b}}
{{postgres: CROSS JOIN LATERAL (SELECT ordinality - 1 AS key, value
    FROM json_array_elements(v.tools) WITH ORDINALITY) AS b WHERE {{of_tenants: a.tenant_id}}}};

{{sqlite: DROP VIEW agent_instance; CREATE}}{{postgres: CREATE OR REPLACE}}
VIEW agent_instance AS SELECT
    {{key: r.id}} AS id, {{show_id: r.agent_id}} AS definition_id,
    {{key_text: t.id}} AS thread_id,
    upper(coalesce(r.phase, r.status)) AS status,
    {{show_json: r.metadata}} AS metadata,
    {{show_instant: r.started_at}} AS started_at,
    {{show_instant: r.finished_at}} AS completed_at,
    {{show_instant: r.created_at}} AS created_at,
    {{show_id: r.tenant_id}} AS tenant_id
FROM runs AS r JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id
{{postgres: WHERE {{of_tenants: r.tenant_id}}}};

{{sqlite: DROP VIEW checkpoint; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW checkpoint AS SELECT
    {{key: c.id}} AS id, {{show_id: c.run_id}} AS instance_id,
    {{show_id: c.parent_id}} AS parent_id, c.sequence_num,
    {{object}}('snapshot_id', {{id_text: c.snapshot_id}},
        'read', '/v1/threads/' || {{id_text: c.thread_id}} || '/checkpoints/' || {{id_text: c.id}})
        AS channel_values,
    {{show_json: c.channel_versions}} AS channel_versions,
    {{show_json: c.pending_sends}} AS pending_sends,
    {{sqlite: NULL}}{{postgres: NULL::bytea}} AS state_snapshot,
    {{show_json: c.metadata}} AS metadata,
    {{show_instant: c.created_at}} AS created_at,
    {{key_text: t.id}} AS thread_id, c.namespace, c.node,
    {{show_id: c.tenant_id}} AS tenant_id
FROM checkpoints AS c JOIN threads AS t ON t.tenant_id = c.tenant_id AND t.id = c.thread_id
{{postgres: WHERE {{of_tenants: c.tenant_id}}}};

{{sqlite: DROP VIEW turn; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW turn AS SELECT
    {{key: t.id}} AS id, {{key: r.id}} AS instance_id,
    {{show_id: t.checkpoint_id}} AS checkpoint_id, t.number AS turn_number,
    {{show_json: t.input}} AS input,
    {{show_json: t.output}} AS output,
    t.status, t.tokens_in, t.tokens_out, t.latency_ms,
    {{show_instant: t.created_at}} AS created_at,
    {{show_id: t.tenant_id}} AS tenant_id
FROM turns AS t JOIN runs AS r ON r.tenant_id = t.tenant_id AND r.id = t.run_id
{{postgres: WHERE {{of_tenants: t.tenant_id}}}};

-- A call needs a UUID, but steps have numbers: the number is shown as a UUID (version 8, "custom").
{{sqlite: DROP VIEW tool_call; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW tool_call AS SELECT
    {{sqlite: printf('00000000-0000-8000-8000-%012x', s.log_id)}}
    {{postgres: ('00000000-0000-8000-8000-' || lpad(to_hex(s.log_id), 12, '0'))::uuid}} AS id,
    {{show_id: s.turn_id}} AS turn_id,
    s.tool_name,
    {{sqlite: s.action_data -> 'input'}}
    {{postgres: as_jsonb(s.action_data -> 'input')}} AS input,
    {{sqlite: coalesce(s.action_data -> 'result', s.action_data -> 'output',
        s.action_data -> 'error')}}
    {{postgres: as_jsonb(coalesce(s.action_data -> 'result', s.action_data -> 'output',
        s.action_data -> 'error'))}} AS output,
    s.outcome AS status, s.duration_ms AS latency_ms,
    {{show_instant: s.at}} AS created_at,
    s.tool_use_id, {{key: r.id}} AS run_id, s.log_id,
    {{show_id: s.tenant_id}} AS tenant_id
FROM steps AS s JOIN runs AS r ON r.tenant_id = s.tenant_id AND r.id = s.run_id
WHERE {{of_tenants: s.tenant_id}} AND s.action_type IN ('tool_execution', 'tool_error');

{{sqlite: DROP VIEW llm_call; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW llm_call AS SELECT
    {{sqlite: printf('00000000-0000-8000-8000-%012x', s.log_id)}}
    {{postgres: ('00000000-0000-8000-8000-' || lpad(to_hex(s.log_id), 12, '0'))::uuid}} AS id,
    {{show_id: s.turn_id}} AS turn_id,
    s.model, s.provider,
    CASE WHEN s.messages_snapshot_id IS NOT NULL THEN {{object}}(
        'snapshot_id', {{id_text: s.messages_snapshot_id}},
        'read', '/v1/runs/' || {{id_text: s.run_id}} || '/steps/' || s.number) END AS messages,
    {{show_json: s.action_data}} AS response,
    s.input_tokens AS tokens_in, s.output_tokens AS tokens_out, s.duration_ms AS latency_ms,
    {{sqlite: s.cost_pico / 1000000000000.0}}
    {{postgres: (s.cost_pico / 1000000000000.0)::double precision}} AS cost_usd,
    {{show_instant: s.at}} AS created_at,
    {{key: r.id}} AS run_id, s.log_id,
    {{show_id: s.tenant_id}} AS tenant_id
FROM steps AS s JOIN runs AS r ON r.tenant_id = s.tenant_id AND r.id = s.run_id
WHERE {{of_tenants: s.tenant_id}} AND s.action_type = 'api_response_received';

{{postgres:
-- --- Lists of messages ----------------------------------------------------------------------

-- A number of a manifest (LEB128, see manifest_format.h), and the position after it.
CREATE FUNCTION manifest_number(bytes bytea, at int, OUT number bigint, OUT next int)
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    byte int;
    shift int := 0;
BEGIN
    number := 0;
    next := at;
    LOOP
        byte := get_byte(bytes, next);
        number := number | ((byte & 127)::bigint << shift);
        next := next + 1;
        shift := shift + 7;
        EXIT WHEN byte < 128;
    END LOOP;
END $$;

-- The pieces of the list in {"messages": [...]}: the text of a piece, or an asterisk and the hash
-- of an item. A manifest that is the difference from another one changes the pieces of that one.
-- NULL: the document is another one.
CREATE FUNCTION manifest_messages(base text[], bytes bytea) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    body int := get_byte(bytes, 1);
    edit int := 1;
    at int := 3;
    at_start bigint := 0;
    at_end bigint := 0;
    n bigint;
    head bigint;
    pieces text[] := ARRAY[]::text[];
BEGIN
    IF base IS NULL OR get_byte(bytes, 0) <> 1 OR body NOT IN (2, 4) OR get_byte(bytes, 2) <> 1 THEN
        RETURN NULL;
    END IF;
    IF body = 4 THEN
        edit := get_byte(bytes, 3);
        at := 4;
    END IF;
    IF edit = 0 THEN
        RETURN base;
    ELSIF edit = 2 THEN
        SELECT number, next INTO at_start, at FROM manifest_number(bytes, at + 1);
        SELECT number, next INTO at_end, at FROM manifest_number(bytes, at);
    ELSIF substr(bytes, at + 1, 12) = '\x0a226d657373616765732201' THEN
        at := at + 12;
    ELSE
        RETURN NULL;
    END IF;
    SELECT number, next INTO n, at FROM manifest_number(bytes, at);
    FOR i IN 1..n LOOP
        SELECT number, next INTO head, at FROM manifest_number(bytes, at);
        IF head & 1 = 1 THEN
            pieces := array_append(pieces, '*' || encode(substr(bytes, at + 1, 32), 'hex'));
            at := at + 32;
        ELSE
            pieces := array_append(pieces,
                convert_from(substr(bytes, at + 1, (head >> 1)::int), 'UTF8'));
            at := at + (head >> 1)::int;
        END IF;
    END LOOP;
    RETURN base[1:at_start::int] || pieces || base[cardinality(base) - at_end::int + 1:];
END $$;

-- The list of messages that a reference of a view names ({"snapshot_id", "read"}). A list with
-- compressed items is not readable in SQL: then the reference is returned, with their number. Any
-- other value is returned unchanged.
CREATE FUNCTION cairn_document(reference jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    manifest bytea;
    tenant uuid;
    pieces text[] := ARRAY[]::text[];
    compressed bigint;
    document text;
BEGIN
    IF jsonb_typeof(reference) <> 'object' OR reference ->> 'snapshot_id' IS NULL
            OR reference ->> 'read' LIKE '%/checkpoints/%' THEN
        RETURN reference;
    END IF;
    FOR tenant, manifest IN WITH RECURSIVE chain AS (
            SELECT s.tenant_id, s.base_id, s.manifest, 0 AS back FROM snapshots AS s
            WHERE s.tenant_id = ANY (cairn_tenants())
                AND s.id = (reference ->> 'snapshot_id')::uuid
            UNION ALL
            SELECT s.tenant_id, s.base_id, s.manifest, chain.back + 1 FROM chain
            JOIN snapshots AS s ON s.tenant_id = chain.tenant_id AND s.id = chain.base_id
            WHERE chain.back < 64)
        SELECT chain.tenant_id, chain.manifest FROM chain ORDER BY back DESC
    LOOP
        pieces := manifest_messages(pieces, manifest);
    END LOOP;
    IF tenant IS NULL OR pieces IS NULL THEN
        RETURN reference;
    END IF;
    SELECT count(*) FILTER (WHERE i.dictionary NOT IN (-1, -2)),
        '[' || coalesce(string_agg(CASE WHEN p.piece NOT LIKE '*%' THEN p.piece
            WHEN i.dictionary IN (-1, -2) THEN convert_from(i.bytes, 'UTF8') END,
            ',' ORDER BY p.position), '') || ']'
    INTO compressed, document
    FROM unnest(pieces) WITH ORDINALITY AS p (piece, position)
    LEFT JOIN items AS i ON p.piece LIKE '*%' AND i.tenant_id = tenant
        AND i.sha256 = CASE WHEN p.piece LIKE '*%' THEN decode(substr(p.piece, 2), 'hex') END;
    IF compressed > 0 THEN
        RETURN reference || jsonb_build_object('compressed_items', compressed);
    END IF;
    RETURN as_jsonb(document::json);
END $$;
}}
