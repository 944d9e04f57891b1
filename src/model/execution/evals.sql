-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, before uuid, name text, eval_type text, agent_id uuid
-- types: agent_version text, run_id uuid, model text, provider text, evaluated_name text
-- types: eval_input json, eval_data json, score_micro int, has_passed bool, passed bool
-- types: metadata json, now int, limit int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define eval_before: id, name, eval_type, agent_id, agent_version, run_id, model, provider,
--   | evaluated_name
-- define eval_after: score_micro AS score, passed, metadata, created_at, updated_at, version
-- reads eval_read: struct eval from {{eval_before}}, eval_input, eval_data, {{eval_after}}
-- binds eval_bind: struct eval for eval_insert

-- define eval_heads: SELECT {{eval_before}}, NULL, NULL, {{eval_after}} FROM eval_runs
--   | WHERE tenant_id = :tenant_id AND id < {{before}}
-- define eval_rest: ORDER BY id DESC LIMIT :limit

-- name: eval_get
SELECT {{eval_before}}, eval_input, eval_data, {{eval_after}} FROM eval_runs
WHERE tenant_id = :tenant_id AND id = :id;

-- Locks a row before it is changed.
-- name: eval_lock
{{postgres:
SELECT 1 FROM eval_runs WHERE tenant_id = :tenant_id AND id = :id FOR NO KEY UPDATE;
}}

-- name: eval_list
{{eval_heads}} {{eval_rest}};

-- name: eval_list_of_agent
{{eval_heads}} AND agent_id = :agent_id
    AND coalesce(eval_type = :eval_type, :eval_type IS NULL) {{eval_rest}};

-- name: eval_list_of_type
{{eval_heads}} AND eval_type = :eval_type {{eval_rest}};

-- name: eval_list_of_run
{{eval_heads}} AND run_id = :run_id
    AND coalesce(eval_type = :eval_type, :eval_type IS NULL)
    AND coalesce(agent_id = :agent_id, :agent_id IS NULL) {{eval_rest}};

-- name: eval_insert
INSERT INTO eval_runs (tenant_id, id, name, eval_type, agent_id, agent_version, run_id, model,
    provider, evaluated_name, eval_input, eval_data, score_micro, passed, metadata, created_at,
    updated_at)
VALUES (:tenant_id, :id, :name, :eval_type, :agent_id, :agent_version, :run_id, :model, :provider,
    :evaluated_name, :eval_input, :eval_data, :score_micro,
    CASE WHEN :has_passed THEN :passed END, :metadata, :now, :now);

-- name: eval_update
UPDATE eval_runs SET name = :name, eval_type = :eval_type, agent_id = :agent_id,
    agent_version = :agent_version, run_id = :run_id, model = :model, provider = :provider,
    evaluated_name = :evaluated_name, eval_input = :eval_input, eval_data = :eval_data,
    score_micro = :score_micro, passed = CASE WHEN :has_passed THEN :passed END,
    metadata = :metadata, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: eval_delete
DELETE FROM eval_runs WHERE tenant_id = :tenant_id AND id = :id;

-- name: eval_has_run
SELECT count(*) FROM runs WHERE tenant_id = :tenant_id AND id = :id;
