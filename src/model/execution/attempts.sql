-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, run_id uuid, number int, worker text, fence int, now int, outcome text
-- types: error json, after int, limit int

-- define attempt_columns: number, worker, fence, started_at, ended_at, outcome, error

-- reads attempt_read: struct run_attempt from {{attempt_columns}}

-- name: attempt_insert
INSERT INTO run_attempts (tenant_id, run_id, number, worker, fence, started_at)
VALUES (:tenant_id, :run_id, :number, :worker, :fence, :now);

-- name: attempt_end
UPDATE run_attempts SET ended_at = :now, outcome = :outcome, error = :error
WHERE tenant_id = :tenant_id AND run_id = :run_id AND number = :number AND ended_at IS NULL;

-- name: attempt_list
-- page: number
SELECT size_bytes, {{attempt_columns}} FROM run_attempts
WHERE tenant_id = :tenant_id AND run_id = :run_id AND number > :after
ORDER BY number LIMIT :limit;
