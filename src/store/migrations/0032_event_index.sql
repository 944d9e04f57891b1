-- SPDX-License-Identifier: Apache-2.0
-- On SQLite the index of events by thread is written after the events, many at a time (decision
-- 19). PostgreSQL keeps its primary key.
{{sqlite:
-- The events up to event_floor.indexed_id.
CREATE TABLE event_index (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    seq {{int}} NOT NULL,
    id {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id, seq)
) WITHOUT ROWID;
INSERT INTO event_index (tenant_id, thread_id, seq, id)
SELECT tenant_id, thread_id, seq, id FROM events ORDER BY tenant_id, thread_id, seq;
DROP INDEX events_by_thread;

ALTER TABLE event_floor ADD COLUMN indexed_id {{int}} NOT NULL DEFAULT 0;
UPDATE event_floor SET indexed_id = coalesce((SELECT max(id) FROM events), 0);

-- The events with both ways to find those of a thread: the index, and the few newest events of the
-- tenant, which are compared one by one. SQLite merges the two in the order of seq.
CREATE VIEW thread_events AS
SELECT i.id, i.tenant_id, i.thread_id, i.seq, e.run_id, e.kind, e.text, e.payload, e.created_at,
    e.marks, e.size_bytes
FROM event_index AS i JOIN events AS e ON e.id = i.id AND e.tenant_id = i.tenant_id
    AND e.thread_id = i.thread_id AND e.seq = i.seq
UNION ALL
SELECT e.id, e.tenant_id, e.thread_id, e.seq, e.run_id, e.kind, e.text, e.payload, e.created_at,
    e.marks, e.size_bytes
FROM events AS e WHERE e.id > (SELECT f.indexed_id FROM event_floor AS f WHERE f.one = 1);

-- The last seq of each thread: see threads.last_seq.
CREATE VIEW thread_last_seqs AS
SELECT t.tenant_id, t.id AS thread_id, max(t.last_seq,
    coalesce((SELECT max(i.seq) FROM event_index AS i
        WHERE i.tenant_id = t.tenant_id AND i.thread_id = t.id), 0),
    coalesce((SELECT max(e.seq) FROM events AS e
        WHERE e.id > (SELECT f.indexed_id FROM event_floor AS f WHERE f.one = 1)
            AND e.tenant_id = t.tenant_id AND e.thread_id = t.id), 0)) AS last_seq
FROM threads AS t;

DROP VIEW workflow_events;
CREATE VIEW workflow_events AS SELECT
    e.id, {{key: t.id}} AS workflow_id, {{show_id: e.run_id}} AS run_id,
    CASE WHEN e.kind IN ('conversation.created', 'conversation.deleted') THEN 'status'
        ELSE e.kind END AS kind,
    e.text, {{show_json: e.payload}} AS payload, {{show_instant: e.created_at}} AS created_at
FROM thread_events AS e
-- Without the likelihood SQLite would read the events of all threads after the cursor.
JOIN threads AS t ON t.tenant_id = e.tenant_id AND likelihood(e.thread_id = t.id, 0.00001)
WHERE NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = e.tenant_id AND g.thread_id = e.thread_id AND g.through_seq >= e.seq)
    AND (e.kind IN ('conversation.created', 'conversation.deleted')
        OR substr(e.kind, 1, instr(e.kind, '.')) NOT IN
            ('conversation.', 'participant.', 'message.', 'file.', 'assistant.',
                'run.', 'turn.', 'steps.', 'checkpoint.', 'tool.', 'resumption.', 'history.'));
}}
{{postgres:
-- Nothing changes.
SELECT 1;
}}
