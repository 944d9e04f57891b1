-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, run_id uuid, after_tenant uuid, after_id uuid, after int
-- types: route text, key text, limit int

-- define last_seq: {{sqlite: (SELECT l.last_seq FROM thread_last_seqs AS l
--   | WHERE l.tenant_id = t.tenant_id AND l.thread_id = t.id)}}{{postgres: t.last_seq}}
-- define of_threads: {{sqlite: thread_events}}{{postgres: events}}
-- define next: > (:after_tenant, :after_id)

-- By how much the counters of threads and bytes differ from the rows.
-- name: fsck_tenants
SELECT t.id, CASE WHEN u.threads IS NULL THEN 0 ELSE u.threads -
        (SELECT count(*) FROM threads AS h WHERE h.tenant_id = t.id) END,
    CASE WHEN u.bytes IS NULL THEN 0 ELSE u.bytes - (SELECT CAST(coalesce(sum(b.size_bytes), 0)
        AS bigint) FROM blobs AS b WHERE b.tenant_id = t.id) END
FROM tenants AS t LEFT JOIN tenant_usage AS u ON u.tenant_id = t.id
WHERE t.id > :after_id ORDER BY t.id LIMIT :limit;

-- The last column is the last seq, which SQLite does not always store in the thread.
-- name: fsck_threads
SELECT t.tenant_id, t.id, t.status, t.run_policy, t.metadata, t.error, t.pruned_seq,
    t.most_recent_run_id, EXISTS (SELECT 1 FROM runs AS r
        WHERE r.tenant_id = t.tenant_id AND r.id = t.most_recent_run_id AND r.thread_id = t.id),
    {{last_seq}}
FROM threads AS t WHERE (t.tenant_id, t.id) {{next}}
ORDER BY t.tenant_id, t.id LIMIT :limit;

-- name: fsck_thread_documents
SELECT context, preferences, important_steps FROM thread_documents
WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: fsck_thread_metadata
SELECT key, value FROM thread_metadata
WHERE tenant_id = :tenant_id AND thread_id = :thread_id LIMIT :limit;

-- name: fsck_thread_bounds
SELECT count(*), coalesce(min(seq), 0), coalesce(max(seq), 0) FROM {{of_threads}}
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND seq > :after;

-- name: fsck_thread_events
SELECT e.id, e.seq, e.kind, e.payload, e.run_id IS NULL OR EXISTS (SELECT 1 FROM runs AS r
    WHERE r.tenant_id = e.tenant_id AND r.id = e.run_id AND r.thread_id = e.thread_id)
FROM {{of_threads}} AS e
WHERE e.tenant_id = :tenant_id AND e.thread_id = :thread_id AND e.seq > :after
ORDER BY e.seq LIMIT :limit;

-- name: fsck_runs
SELECT r.tenant_id, r.id, r.status, r.dispatch, r.paused_from, r.metadata, r.error, r.worker,
    r.lease_expires_at, r.lease_ms, r.fence, r.finished_at, r.depth, r.parent_run_id, p.depth,
    t.id, {{last_seq}}
FROM runs AS r LEFT JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id
LEFT JOIN runs AS p ON p.tenant_id = r.tenant_id AND p.id = r.parent_run_id
    AND p.thread_id = r.thread_id
WHERE (r.tenant_id, r.id) {{next}}
ORDER BY r.tenant_id, r.id LIMIT :limit;

-- name: fsck_run_documents
SELECT input, state, final_output FROM run_documents
WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- name: fsck_keys
SELECT tenant_id, id, scopes, secret_hash FROM api_keys
WHERE (tenant_id, id) {{next}} ORDER BY tenant_id, id LIMIT :limit;

-- name: fsck_answers
SELECT tenant_id, route, key, request_hash, status, headers FROM idempotency_keys
WHERE (tenant_id, route, key) > (:after_tenant, :route, :key)
ORDER BY tenant_id, route, key LIMIT :limit;

-- Audit logs outlive their tenants, so the ids are read from the logs.
-- name: fsck_audited
SELECT tenant_id FROM audit_log WHERE tenant_id > :after_tenant ORDER BY tenant_id LIMIT 1;

-- name: fsck_floor
SELECT {{sqlite: count(*) FROM event_floor}}{{postgres: 1}};
