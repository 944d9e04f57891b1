-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, run_id uuid, tool_use_id text, pause int, position int, side text
-- types: name text, input json, result json, is_error bool, now int, result_at int, result_by text
-- types: after_pause int, after_position int, open_only bool, limit int, deadline int
-- types: turn_id uuid, due_now int

-- define tool: tool_use_id, pause, position, side, name, input, result AS content, is_error,
--   | deadline, turn_id, created_at, result_at, result_by
-- define result_bytes: {{sqlite: length(CAST(result AS BLOB))}}
--   | {{postgres: octet_length(result::text)}}

-- reads awaited_tool_read: struct awaited_tool from {{tool}}

-- name: awaited_tool_insert
INSERT INTO awaited_tools (tenant_id, run_id, tool_use_id, pause, position, side, name, input,
    result, is_error, deadline, turn_id, created_at, result_at, result_by)
VALUES (:tenant_id, :run_id, :tool_use_id, :pause, :position, :side, :name, :input, :result,
    :is_error, :deadline, :turn_id, :now, :result_at, :result_by);

-- name: awaited_tool_get
SELECT {{tool}} FROM awaited_tools
WHERE tenant_id = :tenant_id AND run_id = :run_id AND tool_use_id = :tool_use_id;

-- name: awaited_tool_settle
UPDATE awaited_tools SET result = :result, is_error = :is_error, result_at = :now,
    result_by = :result_by
WHERE tenant_id = :tenant_id AND run_id = :run_id AND tool_use_id = :tool_use_id;

-- name: awaited_tool_last_pause
SELECT coalesce(max(pause), 0) FROM awaited_tools
WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- name: awaited_tool_count_open
SELECT count(*) FROM awaited_tools WHERE tenant_id = :tenant_id AND run_id = :run_id
    AND pause = :pause AND result_at IS NULL;

-- name: awaited_tool_result_bytes
SELECT coalesce(sum({{result_bytes}}), 0) FROM awaited_tools
WHERE tenant_id = :tenant_id AND run_id = :run_id AND pause = :pause AND result_at IS NOT NULL;

-- name: awaited_tool_results
SELECT tool_use_id, result, is_error FROM awaited_tools
WHERE tenant_id = :tenant_id AND run_id = :run_id AND pause = :pause AND result_at IS NOT NULL
ORDER BY position;

-- name: awaited_tool_list
-- page: pause, position
SELECT size_bytes, {{tool}} FROM awaited_tools
WHERE tenant_id = :tenant_id AND run_id = :run_id
    AND (pause, position) > (:after_pause, :after_position)
    AND (result_at IS NULL OR NOT :open_only)
    AND coalesce(turn_id = :turn_id, :turn_id IS NULL)
ORDER BY pause, position LIMIT :limit;

-- The first deadline of the tools without a result, after one of them has got its result.
-- name: awaited_tool_update_deadline
UPDATE runs SET tool_deadline = (SELECT min(w.deadline) FROM awaited_tools AS w
    WHERE w.tenant_id = :tenant_id AND w.run_id = :run_id AND w.pause = :pause
        AND w.result_at IS NULL)
WHERE tenant_id = :tenant_id AND id = :run_id;

-- name: awaited_tool_list_late
SELECT tool_use_id FROM awaited_tools
WHERE tenant_id = :tenant_id AND run_id = :run_id AND pause = :pause AND result_at IS NULL
    AND deadline <= :due_now
ORDER BY position;
