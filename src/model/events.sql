-- define event_columns: id, thread_id, seq, run_id, kind, text, payload, created_at

-- The sequence of a thread: the last one taken.
-- name: event_last_seq
SELECT {{greatest}}(t.last_seq, coalesce((SELECT max(e.seq) FROM events AS e
    WHERE e.tenant_id = :tenant_id AND e.thread_id = :key), 0))
FROM threads AS t WHERE t.tenant_id = :tenant_id AND t.id = :key;

-- name: event_advance_seq
UPDATE threads SET last_seq = last_seq + :count
WHERE tenant_id = :tenant_id AND id = :key RETURNING last_seq;

-- The ids of all events. The parameters are those of every sequence; there is one counter.
-- name: event_last_id
SELECT {{greatest}}(f.id, coalesce((SELECT max(e.id) FROM events AS e), 0))
FROM event_floor AS f WHERE f.one = 1 AND :tenant_id IS NOT NULL AND :key IS NOT NULL;

-- name: event_advance_id
UPDATE event_floor SET id = id + :count
WHERE one = 1 AND :tenant_id IS NOT NULL AND :key IS NOT NULL RETURNING id;

-- name: event_raise_floor
UPDATE event_floor SET id = :id WHERE one = 1 AND id < :id;

-- name: event_insert
INSERT INTO events (id, tenant_id, thread_id, seq, run_id, kind, text, payload, created_at)
VALUES (:id, :tenant_id, :thread_id, :seq, :run_id, :kind, :text, :payload, :now);

-- Events that are pruned and not yet removed are not there. Of a deleted thread its last one is.
-- name: event_list
SELECT {{event_columns}} FROM events
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND seq <= :through
    AND seq > {{greatest}}(:after, coalesce(
        (SELECT t.pruned_seq FROM threads AS t
            WHERE t.tenant_id = :tenant_id AND t.id = :thread_id),
        (SELECT g.through_seq FROM event_garbage AS g
            WHERE g.tenant_id = :tenant_id AND g.thread_id = :thread_id), 0))
    AND (:run_id IS NULL OR run_id = :run_id) AND (:kind IS NULL OR kind = :kind)
ORDER BY seq LIMIT :limit;

-- name: event_list_tenant
SELECT {{event_columns}} FROM events
WHERE tenant_id = :tenant_id AND id > :after AND id <= :through
    AND NOT EXISTS (SELECT 1 FROM event_garbage AS g WHERE g.tenant_id = events.tenant_id
        AND g.thread_id = events.thread_id AND g.through_seq >= events.seq)
    AND (:run_id IS NULL OR run_id = :run_id) AND (:kind IS NULL OR kind = :kind)
ORDER BY id LIMIT :limit;

-- How far twenty thousand events of the tenant reach.
-- name: event_scan_tenant
SELECT id FROM events WHERE tenant_id = :tenant_id AND id > :after
ORDER BY id LIMIT 1 OFFSET :count;

-- name: event_bounds
SELECT {{greatest}}(t.last_seq, coalesce((SELECT max(e.seq) FROM events AS e
        WHERE e.tenant_id = t.tenant_id AND e.thread_id = t.id), 0)), t.pruned_seq
FROM threads AS t WHERE t.tenant_id = :tenant_id AND t.id = :thread_id;

-- name: event_bounds_tenant
SELECT {{greatest}}(t.pruned_event_id, coalesce((SELECT max(e.id) FROM events AS e
        WHERE e.tenant_id = t.id), 0)), t.pruned_event_id
FROM tenants AS t WHERE t.id = :tenant_id;

-- The cursor of the Memoria stream is an event's id: the last seq of the thread at or before it.
-- name: event_seq_at_id
SELECT seq FROM events
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND id <= :id
ORDER BY seq DESC LIMIT 1;

-- name: event_time_of
SELECT created_at FROM events
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND seq = :seq;

-- name: event_first_seq_of_unfinished
SELECT e.seq FROM events AS e JOIN runs AS r ON r.tenant_id = e.tenant_id AND r.id = e.run_id
WHERE e.tenant_id = :tenant_id AND e.thread_id = :thread_id AND e.seq > :after
    AND r.status NOT IN ('completed', 'failed', 'cancelled')
ORDER BY e.seq LIMIT 1;

-- Ids rise with seq within a thread.
-- name: event_max_id_through
SELECT id FROM events
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND seq <= :through
ORDER BY seq DESC LIMIT 1;

-- name: event_first_seq
SELECT seq FROM events WHERE tenant_id = :tenant_id AND thread_id = :thread_id
ORDER BY seq LIMIT 1;

-- name: event_delete_through
DELETE FROM events WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND seq <= :through;

-- name: event_first_id
SELECT id FROM events WHERE tenant_id = :tenant_id ORDER BY id LIMIT 1;

-- name: event_delete_through_id
DELETE FROM events WHERE tenant_id = :tenant_id AND id <= :through;

-- Of one thread, up to a seq; or, under the nil id, of the whole tenant, up to an event's id.
-- name: event_garbage_add
INSERT INTO event_garbage (tenant_id, thread_id, through_seq)
VALUES (:tenant_id, :thread_id, :through)
ON CONFLICT (tenant_id, thread_id) DO UPDATE SET through_seq = :through;

-- name: event_garbage_list
SELECT tenant_id, thread_id, through_seq FROM event_garbage LIMIT :limit;

-- name: event_garbage_drop
DELETE FROM event_garbage WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: event_mark_pruned
UPDATE threads SET pruned_seq = {{greatest}}(pruned_seq, :through),
    last_seq = {{greatest}}(last_seq, :last), pruned_event_id = {{greatest}}(pruned_event_id, :id)
WHERE tenant_id = :tenant_id AND id = :thread_id;

-- name: event_mark_pruned_tenant
UPDATE tenants SET pruned_event_id = {{greatest}}(pruned_event_id, :id) WHERE id = :tenant_id;

-- name: event_prune_due
SELECT tenant_id, id, event_max_age_s FROM threads
WHERE event_max_age_s IS NOT NULL AND (tenant_id, id) > (:after_tenant, :after_id)
ORDER BY tenant_id, id LIMIT :limit;
