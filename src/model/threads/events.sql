-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, thread_id uuid, run_id uuid, key uuid, id int, seq int, count int
-- types: kind text, text text, payload json, marks int, now int, after int, through int, last int
-- types: lease_now int, limit int, events json, tenants json
-- types: principal text, owner_id uuid

-- define event_members: id, thread_id, seq, run_id, kind, text, payload, created_at
-- define event_columns: {{event_members}}, marks
-- reads event_read: struct event from {{event_members}}
-- define of_threads: {{sqlite: thread_events}}{{postgres: events}}
-- define log: {{sqlite: event_index}}{{postgres: events}}
-- define indexed_seq: coalesce((SELECT max(i.seq) FROM event_index AS i
--   | WHERE i.tenant_id = t.tenant_id AND i.thread_id = t.id), 0)
-- define recent_seq: coalesce((SELECT max(e.seq) FROM events AS e
--   | WHERE e.id > (SELECT f.indexed_id FROM event_floor AS f WHERE f.one = 1)
--   | AND e.tenant_id = t.tenant_id AND e.thread_id = t.id), 0)
-- define last_seq: {{sqlite: max(t.last_seq, {{indexed_seq}}, {{recent_seq}})}}{{postgres:
--   | t.last_seq}}
-- define not_pruned: NOT EXISTS (SELECT 1 FROM event_garbage AS g
--   | WHERE g.tenant_id = events.tenant_id AND g.thread_id = events.thread_id
--   | AND g.through_seq >= events.seq)

-- The last seq of a thread. SQLite's single writer counts in memory.
-- name: event_last_seq
{{sqlite:
SELECT {{last_seq}} FROM threads AS t WHERE t.tenant_id = :tenant_id AND t.id = :key;
}}

-- The same for a thread without events that the index does not have yet.
-- name: event_last_seq_indexed
{{sqlite:
SELECT max(t.last_seq, {{indexed_seq}}) FROM threads AS t
WHERE t.tenant_id = :tenant_id AND t.id = :key;
}}

-- The last event id. All sequences have the same parameters; event ids have only one counter.
-- name: event_last_id
{{sqlite:
SELECT max(f.id, coalesce((SELECT max(e.id) FROM events AS e), 0))
FROM event_floor AS f WHERE f.one = 1 AND :tenant_id IS NOT NULL AND :key IS NOT NULL;
}}

-- The last event id that the index has.
-- name: event_last_indexed
{{sqlite:
SELECT f.indexed_id FROM event_floor AS f
WHERE f.one = 1 AND :tenant_id IS NOT NULL AND :key IS NOT NULL;
}}

-- name: event_index_add
{{sqlite:
INSERT INTO event_index (tenant_id, thread_id, seq, id)
SELECT e.tenant_id, e.thread_id, e.seq, e.id FROM events AS e
WHERE e.id > :after AND e.id <= :through ORDER BY e.tenant_id, e.thread_id, e.seq;
}}

-- Of damaged events with the same seq, the first remains in the log of its thread.
-- name: event_index_add_undamaged
{{sqlite:
INSERT OR IGNORE INTO event_index (tenant_id, thread_id, seq, id)
SELECT e.tenant_id, e.thread_id, e.seq, e.id FROM events AS e
WHERE e.id > :after AND e.id <= :through ORDER BY e.tenant_id, e.thread_id, e.seq;
}}

-- Ids without events count too, and must not be used by later events.
-- name: event_index_mark
{{sqlite:
UPDATE event_floor SET indexed_id = :through, id = max(id, :through)
WHERE one = 1 AND indexed_id = :after;
}}

-- The bytes of recent events. All sequences have the same parameters.
-- name: event_recent_bytes
{{sqlite:
SELECT coalesce(sum(e.size_bytes), 0) FROM events AS e
WHERE e.id > (SELECT f.indexed_id FROM event_floor AS f WHERE f.one = 1)
    AND :tenant_id IS NOT NULL AND :key IS NOT NULL;
}}

-- name: event_recent_seqs
{{sqlite:
SELECT e.thread_id, max(e.seq) FROM events AS e
WHERE e.tenant_id = :tenant_id AND coalesce(e.thread_id = :thread_id, :thread_id IS NULL)
    AND e.id > (SELECT f.indexed_id FROM event_floor AS f WHERE f.one = 1)
GROUP BY e.thread_id;
}}

-- name: event_raise_floor
{{sqlite:
UPDATE event_floor SET id = :id WHERE one = 1 AND id < :id;
}}

-- name: event_insert
{{sqlite:
INSERT INTO events (id, tenant_id, thread_id, seq, run_id, kind, text, payload, created_at, marks)
VALUES (:id, :tenant_id, :thread_id, :seq, :run_id, :kind, :text, :payload, :now, :marks);
}}

-- Appends any number of events. The row of the thread is locked before the first id is allocated,
-- so ids increase with seq within a thread.
-- name: event_append_all
{{postgres:
WITH taken AS (UPDATE threads SET last_seq = last_seq + :count
    WHERE tenant_id = :tenant_id AND id = :thread_id RETURNING last_seq)
INSERT INTO events (id, tenant_id, thread_id, seq, run_id, kind, text, payload, created_at, marks)
SELECT nextval('event_ids'), :tenant_id, :thread_id, o.seq, o.run_id, o.kind, o.text, o.payload,
    :now, o.marks
FROM (SELECT taken.last_seq - :count + e.n AS seq, e.*
    FROM taken, ROWS FROM (json_to_recordset(:events) AS (run_id uuid, kind text, text text,
        payload json, marks bigint)) WITH ORDINALITY AS e (run_id, kind, text, payload, marks, n)
    ORDER BY e.n) AS o
RETURNING id, seq;
}}

-- name: event_append_one
{{postgres:
WITH taken AS (UPDATE threads SET last_seq = last_seq + 1
    WHERE tenant_id = :tenant_id AND id = :thread_id RETURNING last_seq)
INSERT INTO events (id, tenant_id, thread_id, seq, run_id, kind, text, payload, created_at, marks)
SELECT nextval('event_ids'), :tenant_id, :thread_id, taken.last_seq, :run_id, :kind, :text,
    :payload, :now, :marks
FROM taken
RETURNING id, seq;
}}

-- name: event_register
{{postgres:
SELECT event_register();
}}

-- Column 1: every id up to this one is visible or will never exist. With a single writer this holds
-- for all ids. Column 2: the last allocated id. Column 3: the start time of the server, because ids
-- may be allocated twice after a crash or a failover.
-- name: event_horizon
{{sqlite:
SELECT 9223372036854775807, 9223372036854775807, 0;
}}{{postgres:
SELECT event_horizon(), CASE WHEN is_called THEN last_value ELSE last_value - 1 END,
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
FROM event_ids;
}}

-- Excludes pruned events that are not deleted yet. The last event of a deleted thread is included.
-- name: event_list
-- page: seq
SELECT size_bytes, {{event_columns}} FROM {{of_threads}}
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND seq <= :through
    AND seq > (SELECT {{greatest}}(:after, coalesce(
        (SELECT t.pruned_seq FROM threads AS t
            WHERE t.tenant_id = :tenant_id AND t.id = :thread_id),
        (SELECT g.through_seq FROM event_garbage AS g
            WHERE g.tenant_id = :tenant_id AND g.thread_id = :thread_id), 0)))
    AND coalesce(run_id = :run_id, :run_id IS NULL) AND coalesce(kind = :kind, :kind IS NULL)
ORDER BY seq LIMIT :limit;

-- The events of the tenant; for a principal, those of the threads in which it participates now.
-- name: event_list_tenant
-- page: id
SELECT size_bytes, {{event_columns}} FROM events
WHERE tenant_id = :tenant_id AND id > :after AND id <= :through AND {{not_pruned}}
    AND (:principal IS NULL OR EXISTS (SELECT 1 FROM participants AS p
        WHERE p.tenant_id = events.tenant_id AND p.principal = :principal
            AND p.thread_id = events.thread_id AND p.active))
    AND coalesce(run_id = :run_id, :run_id IS NULL) AND coalesce(kind = :kind, :kind IS NULL)
ORDER BY id LIMIT :limit;

-- The id after the next :count events of the tenant.
-- name: event_scan_tenant
SELECT id FROM events WHERE tenant_id = :tenant_id AND id > :after
ORDER BY id LIMIT 1 OFFSET :count;

-- name: event_bounds
SELECT {{last_seq}}, t.pruned_seq, t.pruned_event_id
FROM threads AS t WHERE t.tenant_id = :tenant_id AND t.id = :thread_id;

-- define pruned_id: {{sqlite: t.pruned_event_id}}{{postgres: greatest(t.pruned_event_id,
--   | (SELECT max(p.pruned_event_id) FROM threads AS p
--   | WHERE p.tenant_id = t.id AND p.pruned_event_id > 0))}}

-- name: event_bounds_tenant
SELECT {{greatest}}({{pruned_id}}, coalesce((SELECT max(e.id) FROM events AS e
        WHERE e.tenant_id = t.id), 0)), {{pruned_id}}
FROM tenants AS t WHERE t.id = :tenant_id;

-- The cursor of the Memoria stream is an event id. Returns the last seq of the thread up to that
-- id. With the id in an index, SQLite would read the whole log of the tenant.
-- name: event_seq_at_id
SELECT seq FROM {{of_threads}}
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND {{sqlite: +}}id <= :id
ORDER BY seq DESC LIMIT 1;

-- The next three read the index of SQLite alone, which has all events (event_index_recent).
-- name: event_time_of
SELECT {{sqlite: e}}{{postgres: i}}.created_at
FROM {{log}} AS i {{sqlite: JOIN events AS e ON e.id = i.id}}
WHERE i.tenant_id = :tenant_id AND i.thread_id = :thread_id AND i.seq = :seq;

-- name: event_first_seq_of_unfinished
{{sqlite:
SELECT i.seq FROM event_index AS i JOIN events AS e ON e.id = i.id
JOIN runs AS r ON r.tenant_id = e.tenant_id AND r.id = e.run_id
WHERE i.tenant_id = :tenant_id AND i.thread_id = :thread_id AND i.seq > :after
    AND r.status NOT IN ({{FINAL_RUN_STATUSES}})
ORDER BY i.seq LIMIT 1;
}}{{postgres:
SELECT e.seq FROM events AS e JOIN runs AS r ON r.tenant_id = e.tenant_id AND r.id = e.run_id
WHERE e.tenant_id = :tenant_id AND e.thread_id = :thread_id AND e.seq > :after
    AND r.status NOT IN ({{FINAL_RUN_STATUSES}})
ORDER BY e.seq LIMIT 1;
}}

-- Within a thread, ids increase with seq.
-- name: event_max_id_through
SELECT id FROM {{log}}
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND seq <= :through
ORDER BY seq DESC LIMIT 1;

-- Slices of events that are deleted (tenancy/deletions.h), oldest first. SQLite finds those of a
-- thread by event_index, which has all of them (event_index_recent), deletes them, and then deletes
-- their entries.
-- define of_owner: tenant_id = :tenant_id AND thread_id = :owner_id
-- define garbage_end: (SELECT g.through_seq FROM event_garbage AS g
--   | WHERE g.tenant_id = :tenant_id AND g.thread_id = :owner_id)
-- define left: WHERE {{of_owner}} ORDER BY seq LIMIT :limit
-- define pruned: WHERE {{of_owner}} AND seq <= {{garbage_end}} ORDER BY seq LIMIT :limit
-- define pruned_of_tenant: WHERE tenant_id = :tenant_id AND id <= {{garbage_end}}
--   | ORDER BY id LIMIT :limit
-- define these: {{sqlite: {{of_owner}} AND seq IN (SELECT seq}}{{postgres:
--   | ctid = ANY (ARRAY(SELECT ctid}}
-- define these_of_tenant: {{sqlite: rowid IN (SELECT rowid}}{{postgres:
--   | ctid = ANY (ARRAY(SELECT ctid}}
-- define end: {{sqlite: )}}{{postgres: ))}}

-- name: event_weigh_pruned
{{sqlite:
SELECT coalesce(e.size_bytes, 0) FROM (SELECT id, seq FROM event_index {{pruned}}) AS i
LEFT JOIN events AS e ON e.id = i.id ORDER BY i.seq;
}}{{postgres:
SELECT size_bytes FROM events {{pruned}};
}}

-- name: event_empty_pruned
{{sqlite:
DELETE FROM events WHERE id IN (SELECT id FROM event_index {{pruned}});
}}

-- name: event_delete_pruned
DELETE FROM {{log}} WHERE {{these}} FROM {{log}} {{pruned}}{{end}};

-- name: event_weigh_left
{{sqlite:
SELECT coalesce(e.size_bytes, 0) FROM (SELECT id, seq FROM event_index {{left}}) AS i
LEFT JOIN events AS e ON e.id = i.id ORDER BY i.seq;
}}{{postgres:
SELECT size_bytes FROM events {{left}};
}}

-- name: event_empty_left
{{sqlite:
DELETE FROM events WHERE id IN (SELECT id FROM event_index {{left}});
}}

-- name: event_delete_left
DELETE FROM {{log}} WHERE {{these}} FROM {{log}} {{left}}{{end}};

-- name: event_weigh_pruned_of_tenant
SELECT size_bytes FROM events {{pruned_of_tenant}};

-- name: event_unindex_pruned_of_tenant
{{sqlite:
DELETE FROM event_index WHERE (tenant_id, thread_id, seq) IN (SELECT tenant_id, thread_id, seq
    FROM events {{pruned_of_tenant}});
}}

-- name: event_delete_pruned_of_tenant
DELETE FROM events WHERE {{these_of_tenant}} FROM events {{pruned_of_tenant}}{{end}};

-- For one thread, up to a seq; with the nil id, for the whole tenant, up to an event id.
-- name: event_garbage_add
INSERT INTO event_garbage (tenant_id, thread_id, through_seq, added_at)
VALUES (:tenant_id, :thread_id, :through, :lease_now)
ON CONFLICT (tenant_id, thread_id) DO UPDATE SET through_seq = :through, added_at = :lease_now;

-- name: event_garbage_list
SELECT tenant_id, thread_id FROM event_garbage WHERE added_at <= :lease_now
ORDER BY added_at LIMIT :limit;

-- name: event_garbage_get
SELECT through_seq FROM event_garbage WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: event_garbage_drop
DELETE FROM event_garbage WHERE tenant_id = :tenant_id AND thread_id = :thread_id;

-- name: event_mark_pruned
UPDATE threads SET pruned_seq = {{greatest}}(pruned_seq, :through),
    last_seq = {{greatest}}(last_seq, :last), pruned_event_id = {{greatest}}(pruned_event_id, :id)
WHERE tenant_id = :tenant_id AND id = :thread_id;

-- name: event_mark_pruned_tenant
{{sqlite:
UPDATE tenants SET pruned_event_id = max(pruned_event_id, :id) WHERE id = :tenant_id;
}}

-- Runs before the thread is deleted.
-- name: event_keep_pruned
{{postgres:
UPDATE tenants SET pruned_event_id = greatest(pruned_event_id, (SELECT t.pruned_event_id
    FROM threads AS t WHERE t.tenant_id = :tenant_id AND t.id = :thread_id))
WHERE id = :tenant_id;
}}

-- The committed events of the tenants that have subscribers, in order.
-- name: event_tail
{{postgres:
SELECT {{event_columns}}, tenant_id FROM events
WHERE tenant_id = ANY (ARRAY(SELECT v::uuid FROM json_array_elements_text(:tenants) AS v))
    AND id > :after AND id <= :through
ORDER BY id;
}}
