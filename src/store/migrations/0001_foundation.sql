-- SPDX-License-Identifier: Apache-2.0
-- Tenants, keys, audit, threads, runs, events, idempotency.
-- Times are microseconds since 1970 (UTC). The tenant leads every key, so that the tables can be
-- distributed by it; tenants itself is small, and the same everywhere.
--
-- The rule for every migration: it runs in one transaction, and nodes that do not know it yet
-- continue to serve during and after it. A migration therefore adds (tables, columns with a
-- default, indexes), and removes or renames only what no version that may still run reads or
-- writes.

CREATE TABLE tenants (
    id {{uuid}} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- Events of this tenant up to this id may be missing from the tenant-wide stream.
    pruned_event_id {{int}} NOT NULL DEFAULT 0,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1
);

CREATE TABLE api_keys (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    name TEXT NOT NULL,
    secret_hash {{bytes}} NOT NULL,
    scopes {{json}} NOT NULL,
    rate_limit_per_minute {{int}},
    expires_at {{int}},
    revoked_at {{int}},
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE audit_log (
    tenant_id {{uuid}} NOT NULL,
    seq {{int}} NOT NULL,
    at {{int}} NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    object_type TEXT NOT NULL,
    object_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    detail {{json}} NOT NULL,
    hash {{bytes}} NOT NULL,
    PRIMARY KEY (tenant_id, seq)
);

CREATE TABLE idempotency_keys (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash {{bytes}} NOT NULL,
    status {{int}} NOT NULL,
    headers {{json}} NOT NULL,
    body TEXT NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE threads (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    status TEXT NOT NULL,
    title TEXT,
    agent TEXT,
    most_recent_run_id {{uuid}},
    run_policy TEXT NOT NULL,
    prune_on_completion {{bool}} NOT NULL,
    event_max_age_s {{int}},
    -- The last seq is the greater of this value and the greatest seq in events. PostgreSQL updates
    -- the column with every append; on SQLite the single writer keeps the count in memory and
    -- stores it only when it prunes.
    last_seq {{int}} NOT NULL DEFAULT 0,
    -- Events up to this one were pruned.
    pruned_seq {{int}} NOT NULL DEFAULT 0,
    -- The id of the last event that was pruned.
    pruned_event_id {{int}} NOT NULL DEFAULT 0,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    metadata {{json}} NOT NULL,
    error {{json}},
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX threads_with_event_age ON threads (tenant_id, id) WHERE event_max_age_s IS NOT NULL;
-- Finds how far the tenant's events were pruned. The row of the tenant has this only for deleted
-- threads; otherwise every pruning would have to wait for the previous one to commit.
{{postgres: CREATE INDEX threads_by_pruned ON threads (tenant_id, pruned_event_id)
    WHERE pruned_event_id > 0;}}

-- Large columns have a table of their own, so that a small change to a thread stays small.
CREATE TABLE thread_documents (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    context {{json}} NOT NULL,
    preferences {{json}} NOT NULL,
    important_steps {{json}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);

-- The scalar members of threads.metadata, for the equality filter.
CREATE TABLE thread_metadata (
    tenant_id {{uuid}} NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    thread_id {{uuid}} NOT NULL,
    PRIMARY KEY (tenant_id, key, value, thread_id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX thread_metadata_by_thread ON thread_metadata (tenant_id, thread_id);

CREATE TABLE runs (
    tenant_id {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    parent_run_id {{uuid}},
    -- The number of ancestors.
    depth {{int}} NOT NULL,
    status TEXT NOT NULL,
    -- How the run is dispatched when it becomes ready: 'queue' (a worker claims it) or 'direct'.
    dispatch TEXT NOT NULL,
    -- The status that a paused run returns to: 'waiting_for_input', or NULL for that of its
    -- dispatch.
    paused_from TEXT,
    agent TEXT,
    ask_clarifications {{bool}} NOT NULL,
    -- The lease: the worker, its expiry (lease time), and the fencing token, which is the seq of
    -- the event of the newest claim. A run without a lease has no worker.
    worker TEXT,
    lease_expires_at {{int}},
    lease_ms {{int}},
    fence {{int}} NOT NULL DEFAULT 0,
    started_at {{int}},
    finished_at {{int}},
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    metadata {{json}} NOT NULL,
    error {{json}},
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX runs_by_thread ON runs (tenant_id, thread_id, id);
CREATE INDEX runs_by_status ON runs (tenant_id, status, id);
CREATE INDEX runs_by_parent ON runs (tenant_id, parent_run_id, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_unfinished ON runs (tenant_id, thread_id, id)
    WHERE status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_by_lease ON runs (lease_expires_at) WHERE lease_expires_at IS NOT NULL;

CREATE TABLE run_documents (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    user_input TEXT,
    input {{json}},
    state {{json}} NOT NULL,
    final_output {{json}},
    PRIMARY KEY (tenant_id, run_id),
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);

-- The documents of a thread before the first change by the active run, for rollback.
CREATE TABLE run_undo (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    context {{json}} NOT NULL,
    preferences {{json}} NOT NULL,
    important_steps {{json}} NOT NULL,
    metadata {{json}} NOT NULL,
    PRIMARY KEY (tenant_id, run_id),
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);

-- No foreign key to threads: the event of a thread's deletion outlives the thread.
CREATE TABLE events (
    -- The order and the cursor of the tenant-wide stream. On SQLite, ids increase in commit order;
    -- on PostgreSQL a smaller id may become visible after a greater one: see event_horizon.
    {{sqlite: id INTEGER PRIMARY KEY NOT NULL,}}
    {{postgres: id bigint NOT NULL,}}
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- Gapless within the thread; the cursor of the thread's stream.
    seq {{int}} NOT NULL,
    run_id {{uuid}},
    kind TEXT NOT NULL,
    text TEXT,
    payload {{json}},
    created_at {{int}} NOT NULL
    {{postgres: , PRIMARY KEY (tenant_id, thread_id, seq)}}
);
{{sqlite: CREATE UNIQUE INDEX events_by_thread ON events (tenant_id, thread_id, seq);}}
CREATE INDEX events_by_tenant ON events (tenant_id, id);

-- Pruned events that are not deleted yet; the sweep deletes some at a time.
CREATE TABLE event_garbage (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    through_seq {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id)
);

-- Event ids are never reused. SQLite stores the greatest id that was ever pruned.
{{sqlite:
CREATE TABLE event_floor (
    one {{int}} NOT NULL PRIMARY KEY CHECK (one = 1),
    id {{int}} NOT NULL
);
INSERT INTO event_floor (one, id) VALUES (1, 0);
}}
{{postgres:
CREATE SEQUENCE event_ids;

-- A transaction registers before it allocates its first id: it takes a shared lock that names the
-- last id allocated before, and all its own ids are greater. The lock has the low 32 bits of the
-- id.
CREATE FUNCTION event_register() RETURNS void LANGUAGE plpgsql AS $$
DECLARE last bigint;
BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END INTO last FROM event_ids;
    PERFORM pg_advisory_xact_lock_shared(
        'event_ids'::regclass::oid::bigint::bit(32)::int, last::bit(32)::int);
END $$;

-- Every id up to the returned one is committed and visible to any snapshot taken after the call, or
-- will never exist. The order of the steps matters: a transaction that registers after the first
-- step allocates greater ids. A transaction that registers between the two steps may name an id
-- greater than the one read, and does not limit the result. A commit is visible before its locks
-- are released. A replica does not have the locks.
CREATE FUNCTION event_horizon() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    last bigint;
    behind bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'only the primary knows the horizon of event ids';
    END IF;
    SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END INTO last FROM event_ids;
    SELECT max(d) INTO behind FROM (SELECT (last - l.objid::bigint) & 4294967295 AS d
        FROM pg_locks AS l
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND l.classid = 'event_ids'::regclass::oid) AS registered
    WHERE d < 2147483648;
    RETURN last - coalesce(behind, 0);
END $$;
}}

-- The views of the Memoria schema: one conversation, one execution, one progress update.
{{sqlite:
CREATE VIEW workflows AS SELECT
    lower(substr(hex(t.id), 1, 8) || '-' || substr(hex(t.id), 9, 4)
        || '-' || substr(hex(t.id), 13, 4) || '-' || substr(hex(t.id), 17, 4)
        || '-' || substr(hex(t.id), 21)) AS id,
    t.status, d.context, d.preferences, d.important_steps,
    CASE WHEN t.most_recent_run_id IS NOT NULL THEN
        lower(substr(hex(t.most_recent_run_id), 1, 8)
        || '-' || substr(hex(t.most_recent_run_id), 9, 4)
        || '-' || substr(hex(t.most_recent_run_id), 13, 4)
        || '-' || substr(hex(t.most_recent_run_id), 17, 4)
        || '-' || substr(hex(t.most_recent_run_id), 21)) END AS most_recent_run_id,
    t.error,
    strftime('%Y-%m-%dT%H:%M:%fZ', t.created_at / 1000000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', t.updated_at / 1000000.0, 'unixepoch') AS updated_at
FROM threads AS t JOIN thread_documents AS d ON d.tenant_id = t.tenant_id AND d.thread_id = t.id;

CREATE VIEW workflow_runs AS SELECT
    lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4)
        || '-' || substr(hex(r.id), 13, 4) || '-' || substr(hex(r.id), 17, 4)
        || '-' || substr(hex(r.id), 21)) AS id,
    lower(substr(hex(r.thread_id), 1, 8) || '-' || substr(hex(r.thread_id), 9, 4)
        || '-' || substr(hex(r.thread_id), 13, 4) || '-' || substr(hex(r.thread_id), 17, 4)
        || '-' || substr(hex(r.thread_id), 21)) AS workflow_id,
    r.status, d.user_input, r.ask_clarifications, d.state, d.final_output, r.error,
    strftime('%Y-%m-%dT%H:%M:%fZ', r.created_at / 1000000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', r.updated_at / 1000000.0, 'unixepoch') AS updated_at
FROM runs AS r JOIN run_documents AS d ON d.tenant_id = r.tenant_id AND d.run_id = r.id;

CREATE VIEW workflow_events AS SELECT
    id,
    lower(substr(hex(thread_id), 1, 8) || '-' || substr(hex(thread_id), 9, 4)
        || '-' || substr(hex(thread_id), 13, 4) || '-' || substr(hex(thread_id), 17, 4)
        || '-' || substr(hex(thread_id), 21)) AS workflow_id,
    CASE WHEN run_id IS NOT NULL THEN
        lower(substr(hex(run_id), 1, 8) || '-' || substr(hex(run_id), 9, 4)
        || '-' || substr(hex(run_id), 13, 4) || '-' || substr(hex(run_id), 17, 4)
        || '-' || substr(hex(run_id), 21)) END AS run_id,
    kind, text, payload,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000000.0, 'unixepoch') AS created_at
FROM events WHERE NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = events.tenant_id AND g.thread_id = events.thread_id
        AND g.through_seq >= events.seq);
}}
{{postgres:
-- A number that PostgreSQL cannot represent (1e200000) is valid JSON. One such document must not
-- break the view for all others, and is shown as text.
CREATE FUNCTION as_jsonb(document json) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN document::jsonb;
EXCEPTION WHEN numeric_value_out_of_range OR program_limit_exceeded THEN
    RETURN to_jsonb(document::text);
END $$;

CREATE VIEW workflows AS SELECT
    t.id, t.status, as_jsonb(d.context) AS context, as_jsonb(d.preferences) AS preferences,
    as_jsonb(d.important_steps) AS important_steps, t.most_recent_run_id,
    as_jsonb(t.error) AS error, to_timestamp(t.created_at / 1000000.0) AS created_at,
    to_timestamp(t.updated_at / 1000000.0) AS updated_at
FROM threads AS t JOIN thread_documents AS d ON d.tenant_id = t.tenant_id AND d.thread_id = t.id;

CREATE VIEW workflow_runs AS SELECT
    r.id, r.thread_id AS workflow_id, r.status, d.user_input, r.ask_clarifications,
    as_jsonb(d.state) AS state, as_jsonb(d.final_output) AS final_output,
    as_jsonb(r.error) AS error, to_timestamp(r.created_at / 1000000.0) AS created_at,
    to_timestamp(r.updated_at / 1000000.0) AS updated_at
FROM runs AS r JOIN run_documents AS d ON d.tenant_id = r.tenant_id AND d.run_id = r.id;

CREATE VIEW workflow_events AS SELECT
    id, thread_id AS workflow_id, run_id, kind, text, as_jsonb(payload) AS payload,
    to_timestamp(created_at / 1000000.0) AS created_at
FROM events WHERE NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = events.tenant_id AND g.thread_id = events.thread_id
        AND g.through_seq >= events.seq);

-- Row-level security protects tenants in addition to the WHERE of every statement: a transaction
-- sees the rows of the tenant named in cairn.tenant, all rows if that is '*', and none if it is
-- empty. The policy applies to the owner of the tables too. (For coalesce the planner assumes that
-- half of the rows pass; for a comparison it assumes almost none, and then sorts where an index has
-- the order.)
DO $$
DECLARE
    name text;
    tenant text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenants', 'api_keys', 'audit_log', 'idempotency_keys', 'threads',
        'thread_documents', 'thread_metadata', 'runs', 'run_documents', 'run_undo', 'events',
        'event_garbage']
    LOOP
        tenant := CASE name WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_tenant ON %I USING '
            '(coalesce(current_setting(''cairn.tenant'', true) IN (%I::text, ''*''), false))',
            name, tenant);
    END LOOP;
END $$;
}}
