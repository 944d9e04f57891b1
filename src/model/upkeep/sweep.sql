-- SPDX-License-Identifier: Apache-2.0
-- types: after_tenant uuid, after_id uuid, now int, limit int

-- The newest id of each kind in each tenant; the id of the tenant if it has none.
-- name: sweep_newest_ids
SELECT t.id,
    coalesce((SELECT o.id FROM threads AS o WHERE o.tenant_id = t.id ORDER BY o.id DESC LIMIT 1),
        t.id),
    coalesce((SELECT o.id FROM runs AS o WHERE o.tenant_id = t.id ORDER BY o.id DESC LIMIT 1),
        t.id),
    coalesce((SELECT o.id FROM api_keys AS o WHERE o.tenant_id = t.id ORDER BY o.id DESC LIMIT 1),
        t.id)
FROM tenants AS t;

-- Only one node at a time lists the work that is due.
-- name: sweep_lock
SELECT {{sqlite: 1}}{{postgres: pg_try_advisory_xact_lock(
    'tenants'::regclass::oid::bigint::bit(32)::int, 1)}};

-- The next threads with an age limit, and whether the first event of each is older than the limit.
-- name: sweep_aged_threads
SELECT t.tenant_id, t.id, EXISTS (SELECT 1
    FROM {{sqlite: event_index AS i JOIN events AS e ON e.id = i.id}}{{postgres: events AS i}}
    WHERE i.tenant_id = t.tenant_id AND i.thread_id = t.id AND i.seq = t.pruned_seq + 1
        AND {{sqlite: e}}{{postgres: i}}.created_at < :now - t.event_max_age_s * 1000000)
FROM threads AS t
WHERE t.event_max_age_s IS NOT NULL AND (t.tenant_id, t.id) > (:after_tenant, :after_id)
ORDER BY t.tenant_id, t.id LIMIT :limit;
