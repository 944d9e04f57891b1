-- SPDX-License-Identifier: Apache-2.0
-- Calls of awaited tools, costs of runs without prices, and an index for further lookups by id in
-- the views of 0023.
--
-- No index is added for steps on PostgreSQL, nor for events: both are written most often.
-- docs/sql.md lists the columns without an index. On SQLite the ids of calls ascend, so that the
-- entry of a new call is written at the end of its index.
{{sqlite:
CREATE INDEX steps_by_tool_call_text ON steps ({{call_id: log_id}})
    WHERE action_type IN ('tool_execution', 'tool_error');
CREATE INDEX steps_by_llm_call_text ON steps ({{call_id: log_id}})
    WHERE action_type = 'api_response_received';
CREATE INDEX awaited_tools_by_text ON awaited_tools ({{awaited_id: run_id}});
CREATE INDEX checkpoints_by_parent_text ON checkpoints ({{show_id: parent_id}});
CREATE INDEX turns_by_checkpoint_text ON turns ({{show_id: checkpoint_id}})
    WHERE {{show_id: checkpoint_id}} IS NOT NULL;
CREATE INDEX threads_by_run_text ON threads ({{show_id: most_recent_run_id}})
    WHERE {{show_id: most_recent_run_id}} IS NOT NULL;
}}
{{postgres:
CREATE INDEX checkpoints_by_id ON checkpoints (tenant_id, id);
CREATE INDEX checkpoints_by_parent_id ON checkpoints (tenant_id, parent_id)
    WHERE parent_id IS NOT NULL;
CREATE INDEX turns_by_checkpoint ON turns (tenant_id, checkpoint_id)
    WHERE checkpoint_id IS NOT NULL;
CREATE INDEX threads_by_last_run ON threads (tenant_id, most_recent_run_id)
    WHERE most_recent_run_id IS NOT NULL;

-- Stored, like threads.session_id.
ALTER TABLE awaited_tools ADD COLUMN call_id uuid GENERATED ALWAYS AS
    ({{awaited_id: run_id}}) STORED;
CREATE INDEX awaited_tools_by_call ON awaited_tools (tenant_id, call_id);
ALTER TABLE agents ADD COLUMN id_text text GENERATED ALWAYS AS (id::text) STORED;
CREATE INDEX agents_by_text ON agents (tenant_id, id_text);
ALTER TABLE eval_runs ADD COLUMN id_text text GENERATED ALWAYS AS (id::text) STORED;
CREATE INDEX eval_runs_by_text ON eval_runs (tenant_id, id_text);
-- Only for threads whose session_id is their key: the row of a thread is written with every event,
-- and should not have the same text twice.
ALTER TABLE threads ADD COLUMN keyed_id_text text GENERATED ALWAYS AS
    (CASE WHEN key IS NOT NULL AND key_owner IS NULL THEN id::text END) STORED;
CREATE INDEX threads_by_text ON threads (tenant_id,
    (CASE WHEN keyed_id_text IS NOT NULL THEN keyed_id_text ELSE session_id END));
}}

-- A call needs a UUID (version 8, "custom"): the number of its step, or for an awaited tool its
-- place in the run and the id of the run. The turn is joined, so that its steps are found by its
-- run. An awaited tool is a call of its own unless a step has its tool_use_id.
{{sqlite: DROP VIEW tool_call; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW tool_call AS SELECT
    {{call_id: s.log_id}} AS id,
    {{key: u.id}} AS turn_id,
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
JOIN turns AS u ON u.tenant_id = s.tenant_id AND u.run_id = s.run_id AND u.id = s.turn_id
WHERE {{of_tenants: s.tenant_id}} AND s.action_type IN ('tool_execution', 'tool_error')
    {{postgres: AND {{of_tenants: u.tenant_id}}}}
UNION ALL SELECT
    {{call_id: s.log_id}} AS id,
    {{sqlite: NULL}}{{postgres: NULL::uuid}} AS turn_id,
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
WHERE {{of_tenants: s.tenant_id}} AND s.action_type IN ('tool_execution', 'tool_error')
    AND s.turn_id IS NULL
UNION ALL SELECT
    {{sqlite: {{awaited_id: w.run_id}}}}{{postgres: w.call_id}} AS id,
    {{key: u.id}} AS turn_id,
    w.name AS tool_name,
    {{show_json: w.input}} AS input, {{show_json: w.result}} AS output,
    {{awaited_status: w}} AS status,
    (w.result_at - w.created_at) / 1000 AS latency_ms,
    {{show_instant: coalesce(w.result_at, w.created_at)}} AS created_at,
    w.tool_use_id {{postgres: COLLATE "default"}}, {{key: r.id}} AS run_id,
    {{sqlite: NULL}}{{postgres: NULL::bigint}} AS log_id,
    {{show_id: w.tenant_id}} AS tenant_id
FROM awaited_tools AS w JOIN runs AS r ON r.tenant_id = w.tenant_id AND r.id = w.run_id
JOIN turns AS u ON u.tenant_id = w.tenant_id AND u.run_id = w.run_id AND u.id = w.turn_id
WHERE {{of_tenants: w.tenant_id}}
    {{postgres: AND {{of_tenants: u.tenant_id}}}}
    AND NOT EXISTS (SELECT 1 FROM steps AS s WHERE s.tenant_id = w.tenant_id
        AND s.run_id = w.run_id AND s.tool_use_id = w.tool_use_id
        AND s.action_type IN ('tool_execution', 'tool_error'))
UNION ALL SELECT
    {{sqlite: {{awaited_id: w.run_id}}}}{{postgres: w.call_id}} AS id,
    {{sqlite: NULL}}{{postgres: NULL::uuid}} AS turn_id,
    w.name AS tool_name,
    {{show_json: w.input}} AS input, {{show_json: w.result}} AS output,
    {{awaited_status: w}} AS status,
    (w.result_at - w.created_at) / 1000 AS latency_ms,
    {{show_instant: coalesce(w.result_at, w.created_at)}} AS created_at,
    w.tool_use_id {{postgres: COLLATE "default"}}, {{key: r.id}} AS run_id,
    {{sqlite: NULL}}{{postgres: NULL::bigint}} AS log_id,
    {{show_id: w.tenant_id}} AS tenant_id
FROM awaited_tools AS w JOIN runs AS r ON r.tenant_id = w.tenant_id AND r.id = w.run_id
WHERE {{of_tenants: w.tenant_id}} AND w.turn_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM steps AS s WHERE s.tenant_id = w.tenant_id
        AND s.run_id = w.run_id AND s.tool_use_id = w.tool_use_id
        AND s.action_type IN ('tool_execution', 'tool_error'));

{{sqlite: DROP VIEW llm_call; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW llm_call AS SELECT
    {{call_id: s.log_id}} AS id,
    {{key: u.id}} AS turn_id,
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
JOIN turns AS u ON u.tenant_id = s.tenant_id AND u.run_id = s.run_id AND u.id = s.turn_id
WHERE {{of_tenants: s.tenant_id}} AND s.action_type = 'api_response_received'
    {{postgres: AND {{of_tenants: u.tenant_id}}}}
UNION ALL SELECT
    {{call_id: s.log_id}} AS id,
    {{sqlite: NULL}}{{postgres: NULL::uuid}} AS turn_id,
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
WHERE {{of_tenants: s.tenant_id}} AND s.action_type = 'api_response_received'
    AND s.turn_id IS NULL;

-- The cost of a run or a day is unknown if none of its calls has a price.
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
                        'cost_usd', CASE WHEN r.unpriced_calls = 0
                            OR r.llm_calls > r.unpriced_calls
                            THEN r.cost_pico / 1000000000000.0 END,
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
        'cost_usd', CASE WHEN sum(u.unpriced_calls) = 0
            OR sum(u.llm_calls) > sum(u.unpriced_calls)
            THEN sum(u.cost_pico) / 1000000000000.0 END) AS token_metrics,
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

{{postgres:
CREATE OR REPLACE VIEW agno_components AS SELECT
    a.id_text AS component_id, a.kind AS component_type, a.name, a.description,
    (SELECT v.number FROM agent_versions AS v WHERE v.tenant_id = a.tenant_id
        AND v.agent_id = a.id AND v.version = a.active_version) AS current_version,
    {{show_json: a.metadata}} AS metadata,
    a.created_at / 1000000 AS created_at, a.updated_at / 1000000 AS updated_at,
    {{show_id: a.tenant_id}} AS tenant_id
FROM agents AS a
WHERE {{of_tenants: a.tenant_id}};

CREATE OR REPLACE VIEW agno_component_configs AS SELECT
    a.id_text AS component_id, v.number AS version, v.version AS label,
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
WHERE {{of_tenants: a.tenant_id}};

CREATE OR REPLACE VIEW agno_component_links AS SELECT
    p.id_text AS parent_component_id, l.role AS link_kind,
    c.id_text AS child_component_id,
    (SELECT v.number FROM agent_versions AS v WHERE v.tenant_id = l.tenant_id
        AND v.agent_id = l.child_id AND v.version = l.child_version) AS child_version,
    l.position,
    {{show_json: l.metadata}} AS meta,
    l.created_at / 1000000 AS created_at, l.updated_at / 1000000 AS updated_at,
    {{show_id: l.tenant_id}} AS tenant_id
FROM agent_links AS l JOIN agents AS p ON p.tenant_id = l.tenant_id AND p.id = l.parent_id
JOIN agents AS c ON c.tenant_id = l.tenant_id AND c.id = l.child_id
WHERE {{of_tenants: p.tenant_id}} AND {{of_tenants: c.tenant_id}};

CREATE OR REPLACE VIEW agno_eval_runs AS SELECT
    e.id_text AS run_id, e.eval_type, e.name,
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
WHERE {{of_tenants: e.tenant_id}};

CREATE OR REPLACE VIEW agent_instance AS SELECT
    {{key: r.id}} AS id, {{show_id: r.agent_id}} AS definition_id,
    CASE WHEN t.keyed_id_text IS NOT NULL THEN t.keyed_id_text
        ELSE t.session_id END AS thread_id,
    upper(coalesce(r.phase, r.status)) AS status,
    {{show_json: r.metadata}} AS metadata,
    {{show_instant: r.started_at}} AS started_at,
    {{show_instant: r.finished_at}} AS completed_at,
    {{show_instant: r.created_at}} AS created_at,
    {{show_id: r.tenant_id}} AS tenant_id
FROM runs AS r JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id
WHERE {{of_tenants: r.tenant_id}} AND {{of_tenants: t.tenant_id}};

CREATE OR REPLACE VIEW checkpoint AS SELECT
    {{key: c.id}} AS id, {{show_id: c.run_id}} AS instance_id,
    {{show_id: c.parent_id}} AS parent_id, c.sequence_num,
    {{object}}('snapshot_id', {{id_text: c.snapshot_id}},
        'read', '/v1/threads/' || {{id_text: c.thread_id}} || '/checkpoints/' || {{id_text: c.id}})
        AS channel_values,
    {{show_json: c.channel_versions}} AS channel_versions,
    {{show_json: c.pending_sends}} AS pending_sends,
    NULL::bytea AS state_snapshot,
    {{show_json: c.metadata}} AS metadata,
    {{show_instant: c.created_at}} AS created_at,
    CASE WHEN t.keyed_id_text IS NOT NULL THEN t.keyed_id_text
        ELSE t.session_id END AS thread_id, c.namespace, c.node,
    {{show_id: c.tenant_id}} AS tenant_id
FROM checkpoints AS c JOIN threads AS t ON t.tenant_id = c.tenant_id AND t.id = c.thread_id
WHERE {{of_tenants: c.tenant_id}} AND {{of_tenants: t.tenant_id}};
}}
