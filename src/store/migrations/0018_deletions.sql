-- SPDX-License-Identifier: Apache-2.0
-- Deletions that take several transactions: of a thread, of an agent, or of the tenant itself
-- (id = tenant_id).
-- A row exists from the first transaction to the last. `touched_at` is the time of the last one.
CREATE TABLE deletions (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    touched_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX deletions_by_time ON deletions (touched_at);
{{postgres: SELECT fence_by_tenant('deletions');}}
