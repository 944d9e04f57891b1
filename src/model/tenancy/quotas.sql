-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, limit int, day int, count int

-- define count_of_threads: SELECT count(*) FROM threads WHERE tenant_id = :tenant_id
-- define sum_of_bytes: SELECT CAST(coalesce(sum(size_bytes), 0) AS bigint) FROM blobs
--   | WHERE tenant_id = :tenant_id

-- The counter, or the count if nothing is counted: see 0020_usage_counters.sql.
-- name: quota_threads
SELECT coalesce((SELECT threads FROM tenant_usage WHERE tenant_id = :tenant_id),
    ({{count_of_threads}}));

-- name: quota_running
SELECT count(*) FROM runs WHERE tenant_id = :tenant_id AND status = {{RUN_RUNNING}};

-- name: quota_bytes
SELECT coalesce((SELECT bytes FROM tenant_usage WHERE tenant_id = :tenant_id), ({{sum_of_bytes}}));

-- Waits for all transactions that have added threads or content of the tenant, or deleted some.
-- name: quota_lock_stored
{{postgres:
SELECT 1 FROM tenants WHERE id = :tenant_id FOR UPDATE;
}}

-- name: quota_count_stored
INSERT INTO tenant_usage (tenant_id, threads, bytes)
SELECT id, CASE WHEN max_threads IS NOT NULL THEN ({{count_of_threads}}) END,
    CASE WHEN max_bytes IS NOT NULL THEN ({{sum_of_bytes}}) END
FROM tenants WHERE id = :tenant_id
ON CONFLICT (tenant_id) DO UPDATE SET threads = excluded.threads, bytes = excluded.bytes;

-- name: quota_uncounted
SELECT t.id FROM tenants AS t LEFT JOIN tenant_usage AS u ON u.tenant_id = t.id
WHERE (t.max_threads IS NOT NULL AND u.threads IS NULL)
    OR (t.max_bytes IS NOT NULL AND u.bytes IS NULL)
LIMIT :limit;

-- Returns no row, and changes nothing, if the events would exceed the limit of the day.
-- name: quota_count_events
INSERT INTO tenant_usage (tenant_id, day, events) VALUES (:tenant_id, :day, :count)
ON CONFLICT (tenant_id) DO UPDATE SET day = {{greatest}}(tenant_usage.day, :day),
    events = :count + CASE WHEN tenant_usage.day < :day THEN 0 ELSE tenant_usage.events END
WHERE tenant_usage.day < :day OR tenant_usage.events + :count <= :limit
RETURNING events;

-- name: quota_events
SELECT day, events FROM tenant_usage WHERE tenant_id = :tenant_id;
