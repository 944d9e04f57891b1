-- SPDX-License-Identifier: Apache-2.0
-- The tables of the design that preceded Cairn, as far as an event needs them: JSONB, the id as the
-- cursor, and the index with which a WebSocket reads the events after a cursor.
CREATE TABLE workflows (
    id uuid PRIMARY KEY,
    status text NOT NULL DEFAULT 'active',
    context jsonb NOT NULL DEFAULT '{}',
    preferences jsonb NOT NULL DEFAULT '{}',
    important_steps jsonb NOT NULL DEFAULT '{}',
    most_recent_run_id uuid,
    error jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE workflow_runs (
    id uuid PRIMARY KEY,
    workflow_id uuid NOT NULL REFERENCES workflows (id) ON DELETE CASCADE
);
CREATE TABLE workflow_events (
    id bigserial PRIMARY KEY,
    workflow_id uuid NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
    run_id uuid REFERENCES workflow_runs (id) ON DELETE CASCADE,
    kind text NOT NULL,
    text text NOT NULL,
    payload jsonb,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX workflow_events_by_workflow ON workflow_events (workflow_id, id);
INSERT INTO workflows (id)
SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid
FROM generate_series(1, 64) AS n;
