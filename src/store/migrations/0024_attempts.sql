-- SPDX-License-Identifier: Apache-2.0
-- When and how often a run is worked on, and its attempts: the claims of the run.
ALTER TABLE runs ADD COLUMN priority {{int}} NOT NULL DEFAULT 0;
-- Failed attempts after which the run fails; NULL: no maximum.
ALTER TABLE runs ADD COLUMN max_attempts {{int}};
-- The pause after a failed attempt; NULL: none.
ALTER TABLE runs ADD COLUMN backoff_initial_ms {{int}};
ALTER TABLE runs ADD COLUMN backoff_factor {{int}};
ALTER TABLE runs ADD COLUMN backoff_max_ms {{int}};
ALTER TABLE runs ADD COLUMN deadline {{int}};
-- The run is not claimed before this time.
ALTER TABLE runs ADD COLUMN not_before {{int}};
ALTER TABLE runs ADD COLUMN attempt_count {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN failed_attempts {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN retry_of_run_id {{uuid}};
-- The order of claims (claim_order in runs.sql). A claim passes over runs that are not due, or of
-- other agents, by the index alone.
CREATE INDEX runs_by_claim ON runs (tenant_id, status,
    ({{greatest}}(created_at, coalesce(not_before, created_at)) - 60000000 * priority), id,
    not_before, agent, agent_id, thread_id) WHERE status = 'queued' AND dispatch = 'queue';
CREATE INDEX runs_by_not_before ON runs (tenant_id, not_before)
    WHERE status = 'queued' AND not_before IS NOT NULL;
CREATE INDEX runs_by_deadline ON runs (deadline)
    WHERE deadline IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');

CREATE TABLE run_attempts (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    -- 1, 2, 3 within the run.
    number {{int}} NOT NULL,
    worker TEXT NOT NULL,
    fence {{int}} NOT NULL,
    started_at {{int}} NOT NULL,
    -- NULL: the worker has the lease.
    ended_at {{int}},
    outcome TEXT,
    -- The error with which the worker released the run.
    error {{json}},
    size_bytes {{int}} GENERATED ALWAYS AS ({{bytes_of: error}}) {{generated}},
    PRIMARY KEY (tenant_id, run_id, number),
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);
{{postgres:
SELECT fence_by_tenant('run_attempts');
}}
