-- SPDX-License-Identifier: Apache-2.0
-- Steps that Cairn writes itself, with the start and the end of a run.
ALTER TABLE steps ADD COLUMN lifecycle {{bool}} NOT NULL DEFAULT false;
-- How many of the steps of the run Cairn has written.
ALTER TABLE runs ADD COLUMN lifecycle_steps {{int}} NOT NULL DEFAULT 0;

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
    {{show_id: s.tenant_id}} AS tenant_id,
    s.lifecycle
FROM steps AS s JOIN runs AS r ON r.tenant_id = s.tenant_id AND r.id = s.run_id
JOIN threads AS t ON t.tenant_id = s.tenant_id AND t.id = s.thread_id
WHERE {{of_tenants: s.tenant_id}};
