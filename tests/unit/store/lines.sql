-- SPDX-License-Identifier: Apache-2.0
-- Statements of test_postgres.c.
-- types: number int, text text, tenant_id uuid, key uuid, count int
-- types: uuid uuid, int int, bool bool, json json, bytes bytes

-- name: line_add
{{postgres: INSERT INTO lines (number, text) VALUES (:number, :text);}}

-- name: line_add_slowly
{{postgres: INSERT INTO lines (number, text) SELECT :number, :text FROM pg_sleep(0.05);}}

-- name: line_count
{{postgres: SELECT count(*) FROM lines;}}

-- name: limits_get
{{postgres: SELECT current_setting('statement_timeout'),
    current_setting('idle_in_transaction_session_timeout'),
    coalesce(current_setting('transaction_timeout', true), '0');}}

-- name: line_mark
{{postgres: INSERT INTO lines (number, text) VALUES (1000000, 'mark');}}

-- name: counter_advance
{{postgres: UPDATE counters SET last = last + :count WHERE tenant_id = :tenant_id AND key = :key
    RETURNING last;}}

-- name: counter_lock
{{postgres: SELECT 1 FROM counters WHERE key = :key AND tenant_id = :tenant_id FOR UPDATE;}}

-- name: types_echo
{{postgres: SELECT :uuid, :int, :bool, :text, :json, :bytes, NULL, 7::int;}}

-- name: tenant_set
{{postgres: SELECT current_setting('cairn.tenant', true);}}
