-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, run_id uuid, number int, from_phase text, to_phase text, trigger text
-- types: detail json, now int, after int, limit int

-- name: run_phase_insert
INSERT INTO run_phases (tenant_id, run_id, number, from_phase, to_phase, trigger, detail,
    created_at)
VALUES (:tenant_id, :run_id, :number, :from_phase, :to_phase, :trigger, :detail, :now);

-- name: run_phase_list
-- page: number
SELECT size_bytes, number, from_phase, to_phase, trigger, detail, created_at FROM run_phases
WHERE tenant_id = :tenant_id AND run_id = :run_id AND number > :after
ORDER BY number LIMIT :limit;

-- Whether a request has changed the phase, other than by waiting for tools.
-- name: run_phase_find_moved
SELECT count(*) FROM (SELECT 1 FROM run_phases
    WHERE tenant_id = :tenant_id AND run_id = :run_id
        AND trigger NOT IN ({{TRIGGER_TOOL_CALL}}, {{TRIGGER_TOOL_RESULT}})
    LIMIT 1) AS moved;
