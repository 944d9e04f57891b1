-- SPDX-License-Identifier: Apache-2.0
-- Agents, participants of threads, share links, and keys that act for one principal.
--
-- A principal is an actor: "user:NAME" (a name chosen by the application) or "agent:UUID". A key
-- with a principal can access the threads in which the principal participates; a key without one
-- can access its whole tenant.

{{postgres:
-- Row-level security for a table that has tenant_id: see 0001_foundation.sql.
CREATE FUNCTION fence_by_tenant(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_tenant ON %I USING '
        '(coalesce(current_setting(''cairn.tenant'', true) IN (tenant_id::text, ''*''), false))',
        name);
END $$;
}}

ALTER TABLE api_keys ADD COLUMN principal TEXT;

CREATE TABLE agents (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    metadata {{json}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX agents_by_name ON agents (tenant_id, name);

CREATE TABLE participants (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    -- 'user' or 'assistant'.
    role TEXT NOT NULL,
    principal TEXT NOT NULL,
    name TEXT NOT NULL,
    image TEXT,
    -- The current activity, as free text: "thinking…".
    status TEXT,
    -- 'read' or 'read_write'.
    permission TEXT NOT NULL,
    -- A participant that has left is inactive and has no access; its row remains the sender of
    -- messages.
    active {{bool}} NOT NULL,
    -- Another client removed the access: no share restores it, only an explicit grant does.
    barred {{bool}} NOT NULL DEFAULT false,
    -- The participant counts as online until this time (lease time); NULL: it is offline.
    online_until {{int}},
    metadata {{json}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, thread_id, id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX participants_by_principal ON participants (tenant_id, principal, thread_id);
CREATE INDEX participants_by_online ON participants (online_until) WHERE online_until IS NOT NULL;

CREATE TABLE shares (
    tenant_id {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- 'participate', or 'copy': a redemption creates a new thread.
    kind TEXT NOT NULL,
    permission TEXT NOT NULL,
    label TEXT,
    token_hash {{bytes}} NOT NULL,
    max_redemptions {{int}},
    redemptions {{int}} NOT NULL DEFAULT 0,
    expires_at {{int}},
    revoked_at {{int}},
    created_by TEXT,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX shares_by_thread ON shares (tenant_id, thread_id, id);

-- The effect of each redemption: revoking a share undoes exactly this.
CREATE TABLE share_redemptions (
    tenant_id {{uuid}} NOT NULL,
    share_id {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    principal TEXT NOT NULL,
    participant_id {{uuid}},
    -- The participant's previous permission; NULL: it was no participant, or inactive.
    previous_permission TEXT,
    -- The thread that a copy created.
    copied_thread_id {{uuid}},
    -- False after the participant was given access explicitly instead of by this redemption.
    active {{bool}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, share_id, id),
    FOREIGN KEY (tenant_id, share_id) REFERENCES shares (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX share_redemptions_by_participant ON share_redemptions (tenant_id, participant_id)
    WHERE participant_id IS NOT NULL;

-- To readers of Memoria, the creation and the deletion of a workflow are changes of status. Other
-- kinds of events that only Cairn has are hidden from them.
{{sqlite:
DROP VIEW workflow_events;
CREATE VIEW workflow_events AS SELECT
    id,
    lower(substr(hex(thread_id), 1, 8) || '-' || substr(hex(thread_id), 9, 4)
        || '-' || substr(hex(thread_id), 13, 4) || '-' || substr(hex(thread_id), 17, 4)
        || '-' || substr(hex(thread_id), 21)) AS workflow_id,
    CASE WHEN run_id IS NOT NULL THEN
        lower(substr(hex(run_id), 1, 8) || '-' || substr(hex(run_id), 9, 4)
        || '-' || substr(hex(run_id), 13, 4) || '-' || substr(hex(run_id), 17, 4)
        || '-' || substr(hex(run_id), 21)) END AS run_id,
    CASE WHEN kind IN ('conversation.created', 'conversation.deleted') THEN 'status'
        ELSE kind END AS kind,
    text, payload,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000000.0, 'unixepoch') AS created_at
FROM events WHERE NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = events.tenant_id AND g.thread_id = events.thread_id
        AND g.through_seq >= events.seq)
    AND (kind IN ('conversation.created', 'conversation.deleted')
        OR substr(kind, 1, instr(kind, '.')) NOT IN
            ('conversation.', 'participant.', 'message.', 'file.', 'assistant.'));
}}
{{postgres:
CREATE OR REPLACE VIEW workflow_events AS SELECT
    id, thread_id AS workflow_id, run_id,
    CASE WHEN kind IN ('conversation.created', 'conversation.deleted') THEN 'status'
        ELSE kind END AS kind,
    text, as_jsonb(payload) AS payload,
    to_timestamp(created_at / 1000000.0) AS created_at
FROM events WHERE NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = events.tenant_id AND g.thread_id = events.thread_id
        AND g.through_seq >= events.seq)
    AND (kind IN ('conversation.created', 'conversation.deleted')
        OR split_part(kind, '.', 1) || '.' NOT IN
            ('conversation.', 'participant.', 'message.', 'file.', 'assistant.'));
}}

{{postgres:
SELECT fence_by_tenant(name) FROM unnest(ARRAY['agents', 'participants', 'shares',
    'share_redemptions']) AS name;
}}
