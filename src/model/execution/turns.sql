-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, run_id uuid, thread_id uuid, number int, after int, limit int
-- types: input json, output json, status text, latency_ms int, checkpoint_id uuid
-- types: finished_at int, now int

-- define turn_before: t.id, t.run_id, t.number
-- define turn_after: t.status, t.llm_calls, t.tokens_in AS input_tokens,
--   | t.tokens_out AS output_tokens, t.cost_pico, t.unpriced_calls, t.latency_ms,
--   | t.checkpoint_id, t.created_at, t.finished_at, t.version
-- define turn_head: {{turn_before}}, NULL AS input, NULL AS output, {{turn_after}}
-- define turn_whole: {{turn_before}}, t.input, t.output, {{turn_after}}

-- reads turn_read: struct turn from {{turn_whole}}
-- binds turn_bind: struct turn for turn_update

-- name: turn_insert
INSERT INTO turns (tenant_id, run_id, number, id, input, output, status, latency_ms, checkpoint_id,
    created_at, finished_at)
VALUES (:tenant_id, :run_id, :number, :id, :input, :output, :status, :latency_ms, :checkpoint_id,
    :now, :finished_at);

-- name: turn_count
UPDATE runs SET turn_count = :number WHERE tenant_id = :tenant_id AND id = :run_id;

-- name: turn_get
SELECT {{turn_whole}} FROM turns AS t
WHERE t.tenant_id = :tenant_id AND t.id = :id AND t.run_id = :run_id;

-- name: turn_by_number
SELECT {{turn_head}} FROM turns AS t
WHERE t.tenant_id = :tenant_id AND t.run_id = :run_id AND t.number = :number;

-- define turn_conditions: WHERE t.tenant_id = :tenant_id AND t.run_id = :run_id
--   | AND t.number > :after ORDER BY t.number LIMIT :limit
-- name: turn_list
-- page: number
SELECT 0 AS size_bytes, {{turn_head}} FROM turns AS t {{turn_conditions}};

-- name: turn_list_whole
-- page: number
SELECT t.size_bytes, {{turn_whole}} FROM turns AS t {{turn_conditions}};

-- name: turn_update
UPDATE turns SET output = :output, status = :status, latency_ms = :latency_ms,
    checkpoint_id = :checkpoint_id, finished_at = :finished_at, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: turn_end
UPDATE turns SET status = :status, finished_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: turn_find_checkpoint
SELECT count(*) FROM checkpoints
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id = :checkpoint_id;
